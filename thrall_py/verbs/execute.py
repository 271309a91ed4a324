"""Runs a plain command for a call: JSON on its stdin, text on its stdout, a status as verdict."""

import json
import time
from typing import NamedTuple

from thrall_py.catalog.entry import Entry
from thrall_py.catalog.launch import ExecSpec
from thrall_py.errors import (
    ServerError,
    TimedOutError,
)
from thrall_py.output import render
from thrall_py.protocol.channel import MessageTooLarge, ReceiveTimeout
from thrall_py.protocol.jsontext import EACH, Shape, scan
from thrall_py.redact import Redactor
from thrall_py.transport import spawn
from thrall_py.transport.endpoint import Command
from thrall_py.transport.filter import Filter
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs.call import Call, OnResult
from thrall_py.verbs.connect import ConnectionOptions, prepare

TOOL = "THRALL_TOOL"  # the variable that tells a command which of its tools is called
_RESULT: Shape = {
    "content": {EACH: {"type": {}, "text": {}}},
    "isError": {},
}  # where an answer is looked into


class Executed(NamedTuple):
    """What a command said, and whether that is an error."""

    text: str
    is_error: bool

    def result(self) -> str:
        """Make the result of a tools/call (all revisions, "Tools") as JSON text in ASCII."""
        failed = ',"isError":true' if self.is_error else ""
        return f'{{"content":[{{"type":"text","text":{json.dumps(self.text)}}}]{failed}}}'


class Runnable(NamedTuple):
    """A command filled in, and what must not be repeated of what it says."""

    command: Command
    redact: Redactor


def fill_in(spec: ExecSpec, tool: str) -> Runnable:
    """Fill in a command from our environment, for a call of one of its tools.

    Raises:
        InputError: a variable that it needs is not set.

    """
    command, redact, _ = prepare(spec.run, {}, fill_in=True)
    assert isinstance(command, Command), "it is no address"
    return Runnable(command._replace(environment=command.environment | {TOOL: tool}), redact)


def run(
    spec: ExecSpec,
    tool: str,
    arguments: str,
    connection: ConnectionOptions,
    interrupts: Interrupts,
) -> Executed:
    """Run a command once, and end all that it started.

    Args:
        spec: the command.
        tool: which of its tools is called, by its own name.
        arguments: the JSON text that is its input, byte for byte.
        connection: the timeout in seconds, from its start to its end; the bytes of its output.
        interrupts: the signals that stop it.

    Returns:
        What it wrote, less one newline at the end; an error if its status is not 0. Where it
        failed and wrote nothing, how it ended.

    Raises:
        ProgramNotFoundError, CannotExecuteError: it cannot be started.
        InputError: a variable is not set, or its directory is not there.
        TimedOutError: it did not end in time.
        ServerError: it wrote too much, or no text.

    """
    command, redact = fill_in(spec, tool)
    watcher = connection.audience.follow(connection.subject, redact)
    limit = connection.max_message
    # Its input ends anyway, so that says nothing: what has to be ended gets SIGTERM at once.
    started = Filter(command, interrupts, grace=0.0, limit=limit, watcher=watcher)
    watcher.running()
    try:
        output = started.finish(arguments.encode(), time.monotonic() + connection.timeout)
    except ReceiveTimeout as problem:
        unread = ", and did not read all of its input" if problem.unsent else ""
        raise TimedOutError(
            f"the command did not end in {connection.timeout:g} s (--timeout){unread};"
            " the tool may have run"
        ) from None
    except MessageTooLarge as problem:
        raise ServerError(
            f"the command {problem.what} (--max-message); the tool may have run"
        ) from None
    finally:
        watcher.closing()
        how = started.close()
        watcher.closed(how)
    try:
        text = output.decode().removesuffix("\n")
    except UnicodeDecodeError as problem:
        why = f"byte {problem.start + 1} of its output is not UTF-8"
        raise ServerError(
            f"the command did not answer with text: {why}; the tool has run"
        ) from None
    failed = started.status != 0
    if failed and not text:
        text = f"the command {how} and wrote nothing"
    return Executed(text, failed)


def call_command(
    call: Call,
    pinned: Entry,
    connection: ConnectionOptions,
    interrupts: Interrupts,
    on_result: OnResult,
) -> render.Rendered:
    """Call a pinned tool that is a plain command: nobody could define it otherwise by now.

    Args:
        call: what is called, by its name with the prefix.
        pinned: the command's entry.
        connection: how long it may take, and how much it may say.
        interrupts: the signals that stop it.
        on_result: gets the answer.

    Raises:
        ThrallError: as `run`.

    """
    assert isinstance(pinned.launch, ExecSpec), "the caller has looked"
    tool = call.tool.removeprefix(pinned.prefix)
    executed = run(pinned.launch, tool, call.arguments, connection, interrupts)
    rendered = render.read_result(scan(executed.result(), _RESULT))
    on_result(rendered)
    return rendered


def look_for(spec: ExecSpec) -> Redactor:
    """See whether a command could be started: its variables, its directory and its program.

    Returns:
        What must not be repeated of its words.

    Raises:
        InputError: a variable is not set, or the directory is not there.
        ProgramNotFoundError, CannotExecuteError: as the shell's 127 and 126.

    """
    command, redact = fill_in(spec, "")
    spawn.look_for(command)
    return redact
