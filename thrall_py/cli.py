"""The command line: parse, run a verb, print, exit. The only module that does any of these."""

import contextlib
import errno
import functools
import io
import os
import sys
import traceback
from collections.abc import Sequence

import click

from thrall_py import __version__, errors, options
from thrall_py.errors import Interrupted, OutputError, ThrallError, UsageError
from thrall_py.options import ServerOptions
from thrall_py.output.render import Rendered
from thrall_py.transport import stdio
from thrall_py.transport.interrupts import SIGPIPE, Interrupts, die_by_signal
from thrall_py.verbs.connect import ConnectionOptions
from thrall_py.visible import visible

_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
_NAME = 64  # characters of a name in front of a sentence


class Invocation:
    """What click does not see: the words behind `--`, and whom a failure's sentence is about."""

    def __init__(self, server: tuple[str, ...] | None) -> None:
        self.server = server  # None without a `--`
        self.closed_fds = stdio.open_missing()  # which of our own descriptors the caller had closed
        self.subject = ""
        self.interrupts = Interrupts()

    def need_stdout(self) -> None:
        """Refuse to start anything whose answer has no place to go."""
        if 1 in self.closed_fds:
            raise OutputError("stdout is closed, so there is no place for an answer")

    def server_argv(self) -> tuple[str, ...]:
        """The server's argv."""
        if not self.server:
            raise UsageError("no server is given: write it behind --, as in -- uvx mcp-server-time")
        return self.server


def run(words: Sequence[str]) -> int:
    """Run the program with the words of its command line; its exit status.

    A signal, or a reader of stdout that went away, ends the process by that signal instead.
    """
    ours, server = _split(words)
    invocation = Invocation(server)
    if sys.stderr is None:  # it is closed, and print() would take stdout in its place
        sys.stderr = io.StringIO()
    try:
        status = _invoke(ours, invocation)
    except Interrupted as interrupted:
        return die_by_signal(interrupted.signum)
    except BrokenPipeError:
        return die_by_signal(SIGPIPE)
    if invocation.interrupts.signum is not None:  # during the teardown
        return die_by_signal(invocation.interrupts.signum)
    return status


def say(sentence: str, about: str = "") -> None:
    """Tell a person on stderr; nobody can be told that this failed."""
    subject = f"{visible(about)[:_NAME]}: " if about else ""
    with contextlib.suppress(OSError):
        print(f"thrall: {subject}{sentence}", file=sys.stderr, flush=True)  # noqa: T201 - prints


def _split(words: Sequence[str]) -> tuple[list[str], tuple[str, ...] | None]:
    """Cut at the first `--`: click would read the server's options, and eat a `--` of its own."""
    if "--" not in words:
        return list(words), None
    at = words.index("--")
    return list(words[:at]), tuple(words[at + 1 :])


def _invoke(ours: list[str], invocation: Invocation) -> int:
    """Run click, and turn every failure into its sentence and status."""
    try:
        return _click(ours, invocation)
    except ThrallError as problem:
        say(str(problem), invocation.subject)
        return problem.exit_status
    except BrokenPipeError:
        raise
    except Exception as problem:  # noqa: BLE001 - the one place where a bug is told from a failure
        if isinstance(problem, OSError) and problem.errno in _UNWRITABLE:
            say(f"cannot write to stdout: {problem.strerror}")  # the help, or the version
            return OutputError.exit_status
        traceback.print_exc()
        return errors.BUG


def _click(ours: list[str], invocation: Invocation) -> int:
    """Parse and run; click's own main() would turn ^C and EPIPE into statuses of its own."""
    try:
        context = thrall.make_context("thrall", ours, obj=invocation, auto_envvar_prefix="THRALL")
        with context:
            return int(thrall.invoke(context))
    except click.exceptions.Exit as problem:  # after the help, or the version
        invocation.need_stdout()
        return problem.exit_code
    except click.exceptions.NoArgsIsHelpError as problem:
        with contextlib.suppress(OSError):
            problem.show()
        return problem.exit_code
    except click.UsageError as problem:
        verb = f" {ours[0]}" if ours and ours[0] in thrall.commands else ""
        raise UsageError(f"{visible(problem.format_message())} (see thrall{verb} --help)") from None


def _version(context: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001
    if wanted:
        click.echo(f"thrall {__version__}")
        context.exit()


_STATUSES = "\n".join(f"  {row.code:<6} {row.meaning}" for row in errors.STATUSES)


@click.group(
    epilog=f"\b\nExit status:\n{_STATUSES}\n\nThe pages are thrall(1) and thrall-VERB(1).",
    context_settings={"help_option_names": ["--help"], "max_content_width": 80},
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version,
              allow_from_autoenv=False,
              help="Print the version.")  # fmt: skip
def thrall() -> None:
    """Call MCP tools as Unix commands, and pin what their servers offer."""


@thrall.command(short_help="Call one tool of a server.")
@click.argument("tool")
@click.argument("items", nargs=-1, metavar="[ITEM]...")
@click.option("--catalog", metavar="CATALOG", help="Call the pinned tool, if it is as pinned.")
@click.option("--json", is_flag=True, help="Print the whole result, verbatim.")
@click.option("--save", metavar="DIR", help="Write parts that are not text to files in DIR.")
@options.server_options
@options.connection
@click.pass_obj
def call(  # noqa: PLR0913 - one for each option of its own
    invocation: Invocation,
    *,
    tool: str,
    items: tuple[str, ...],
    catalog: str | None,
    json: bool,
    save: str | None,
    server_options: ServerOptions,
    connection: ConnectionOptions,
) -> int:
    """Call TOOL once: JSON arguments on stdin, or as ITEMs; its answer on stdout.

    \b
    thrall call TOOL [ITEM]... -- SERVER [ARG]...
    thrall call TOOL [ITEM]... --catalog CATALOG
    ITEM is key=text, key:=JSON, key=@file (text) or key:=@file (JSON).
    """  # noqa: D301 - click's mark against wrapping
    from thrall_py.output import saving
    from thrall_py.verbs import arguments
    from thrall_py.verbs import call as verb

    invocation.subject = tool
    _refuse_two_servers(invocation, catalog, server_options)
    if not items and os.isatty(0):
        say("reading the arguments from the terminal, a JSON object; end with ^D", tool)
    text = arguments.from_items(items) if items else arguments.from_input(stdio.read())
    invocation.need_stdout()
    if save is not None:
        saving.check_directory(save)

    def on_result(rendered: Rendered) -> None:
        _print(rendered, invocation, as_json=json, save=save)

    wanted = verb.Call(arguments.decode_argument(tool), text)
    with invocation.interrupts as interrupts:
        if catalog is None:
            server = server_options.prepare(invocation.server_argv(), fill_in=False)
            rendered = verb.call_server(wanted, server, connection, interrupts, on_result)
        else:
            rendered = verb.call_pinned(wanted, catalog, connection, interrupts, on_result)
    return errors.ANSWER_IS_NO if rendered.is_error else errors.ANSWERED


@thrall.command(short_help="Write a server's tools to a catalog.")
@click.argument("catalog")
@options.server_options
@options.connection
@click.pass_obj
def pin(
    invocation: Invocation,
    *,
    catalog: str,
    server_options: ServerOptions,
    connection: ConnectionOptions,
) -> int:
    """Ask a server for its tools and write them to CATALOG (- for stdout).

    \b
    thrall pin CATALOG -- SERVER [ARG]...
    ${NAME} in the server's words is filled in from the environment, and stays
    ${NAME} in the catalog.
    """  # noqa: D301 - click's mark against wrapping
    from thrall_py.catalog import file
    from thrall_py.output import listing
    from thrall_py.verbs import pin as verb

    command = invocation.server_argv()
    if catalog == file.STDOUT:
        invocation.need_stdout()
    file.read_for_update(catalog)  # what cannot be written is refused before anything is started
    start = server_options.prepare(command, fill_in=True)
    invocation.subject = catalog
    with invocation.interrupts as interrupts:
        pinned = verb.pin_server(server_options.launch_spec(command), start, connection, interrupts)
        interrupts.poll()
        interrupts.check()  # a signal during the teardown: nothing is written then
        text = verb.write_catalog(catalog, pinned)
        tell = functools.partial(say, about=pinned.name)
        listing.tell(pinned.entry, pinned.warnings, pinned.redact, tell, terminal=os.isatty(2))
        if catalog == file.STDOUT:
            stdio.write([text.encode()], interrupts)
    return errors.ANSWERED


@thrall.command(short_help="Compare a catalog with what its servers offer now.")
@click.argument("catalog")
@options.connection
@click.pass_obj
def check(invocation: Invocation, *, catalog: str, connection: ConnectionOptions) -> int:
    """Ask every server in CATALOG again, and print what is not as it was pinned.

    The status is 0 without a difference, 1 with one, and that of the failure
    (4, 124, ...) when a server could not be asked.
    """
    from thrall_py.catalog import file, report
    from thrall_py.verbs import check as verb

    if invocation.server is not None:
        raise UsageError("check starts the servers that the catalog names, and no other")
    invocation.need_stdout()
    pinned = file.read(catalog)
    drifted, failures = False, []
    with invocation.interrupts as interrupts:
        for name, entry in pinned.items():
            try:
                checked = verb.check_server(entry, connection, interrupts)
            except ThrallError as problem:
                say(str(problem), name)
                failures.append(problem.exit_status)
                continue
            finally:
                interrupts.poll()
                interrupts.check()  # a signal during the teardown: no other server is started
            for note in checked.notes:
                say(note, name)
            lines = report.describe_server(visible(name), checked.differences, checked.redact)
            stdio.write((f"{line}\n".encode() for line in lines), interrupts)
            drifted = drifted or bool(checked.differences)
    if failures:  # "could not check" goes before any verdict on the rest
        return failures[0]
    return errors.ANSWER_IS_NO if drifted else errors.ANSWERED


def _refuse_two_servers(
    invocation: Invocation, catalog: str | None, server_options: ServerOptions
) -> None:
    if catalog is None:
        invocation.server_argv()
    elif invocation.server is not None:
        raise UsageError("a server and --catalog exclude each other")
    elif server_options != options.NO_SERVER_OPTIONS:
        raise UsageError("--env, --clean-env and --cwd come from the catalog")


def _print(rendered: Rendered, invocation: Invocation, *, as_json: bool, save: str | None) -> None:
    """Write the answer, whole; files first, because it names them."""
    from thrall_py.output import render, saving

    saved = {} if save is None else saving.save(rendered, save)
    terminal = os.isatty(1)
    if as_json:
        pieces = render.verbatim(rendered.result, terminal=terminal)
        if saved:
            say(f"saved {', '.join(saved.values())}", invocation.subject)
    else:
        pieces = rendered.lines(saved, terminal=terminal)
        if rendered.is_empty:
            say("the answer is empty", invocation.subject)
    stdio.write(pieces, invocation.interrupts)
