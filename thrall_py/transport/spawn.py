"""Starts one server: its argv as given, two pipes, a session and a group of its own."""

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import sys
from typing import IO, NamedTuple

from thrall_py.errors import CannotExecuteError, InputError, ProgramNotFoundError
from thrall_py.transport.endpoint import Command
from thrall_py.visible import visible

_PIPE_SIZE = 1 << 20  # bytes; the most that Linux gives everyone, for fewer turns per message


class Child(NamedTuple):
    """A started process: its ends of the pipes, and a descriptor that is readable once it exits."""

    process: subprocess.Popen[bytes]
    input: IO[bytes]
    output: IO[bytes]
    exit: int


class Loan(NamedTuple):
    """The pipes of a server, for somebody else to speak to it.

    Attributes:
        input: the descriptor of its input.
        output: that of its output.
        read: what has come of its output that nobody has taken.
        unsent: what has still to be written to its input.

    """

    input: int
    output: int
    read: bytes
    unsent: bytes


def spawn(command: Command) -> Child:
    """Start the server; its stderr is ours, and no descriptor above 2 is inherited.

    Raises:
        ProgramNotFoundError, CannotExecuteError: as the shell's 127 and 126.
        InputError: the directory to start it in is not there.

    """
    program = visible(command.shown or command.argv[0])
    if not command.argv[0]:
        raise ProgramNotFoundError("the program has no name")
    try:
        process = subprocess.Popen(
            command.argv,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=command.environment,
            cwd=command.cwd,
            start_new_session=True,
        )
    except (FileNotFoundError, NotADirectoryError) as problem:
        if command.cwd is not None and problem.filename == command.cwd:
            raise InputError(f"there is no directory {visible(command.cwd)}") from None
        if "/" in command.argv[0] and os.path.exists(
            os.path.join(command.cwd or "", command.argv[0])
        ):
            raise CannotExecuteError(f"the interpreter of {program} was not found") from None
        # A whole command line in one word: a habit from programs that hand it to a shell.
        apart = "; there is no shell, so write its words apart" if " " in program else ""
        where = _looked_in(command)
        raise ProgramNotFoundError(f"the program {program} was not found{where}{apart}") from None
    except UnicodeEncodeError:
        raise CannotExecuteError(f"cannot execute {program}: not in this locale") from None
    except OSError as problem:
        if command.cwd is not None and problem.filename == command.cwd:
            why = f"cannot start in {visible(command.cwd)}: {problem.strerror}"
            raise InputError(why) from None
        raise CannotExecuteError(f"cannot execute {program}: {problem.strerror}") from None
    assert process.stdin, "asked for above"
    assert process.stdout, "asked for above"
    for pipe in (process.stdin, process.stdout):
        os.set_blocking(pipe.fileno(), False)
        _widen(pipe.fileno())
    try:
        descriptor = exit_descriptor(process.pid)
    except OSError as problem:  # too many are open
        with process:
            process.kill()
        raise CannotExecuteError(f"cannot watch {program}: {problem.strerror}") from None
    return Child(process, process.stdin, process.stdout, descriptor)


def _looked_in(command: Command) -> str:
    """Say where a program was looked for that is named by a path from some directory on."""
    program = command.argv[0]
    if "/" not in program or program.startswith("/"):
        return ""
    try:
        return f" from the directory {visible(os.path.abspath(command.cwd or os.curdir))}"
    except OSError:  # our own directory is gone
        return " from a directory that is gone"


def failed(child: Child) -> bool:
    """Tell whether a process that has exited did so with a failure, without reaping it."""
    if sys.platform == "darwin":  # pragma: no cover - macOS has no waitid(2) before Python 3.13
        return False
    seen = os.waitid(os.P_PID, child.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return seen is not None and seen.si_status != 0


def ending(child: Child) -> str:
    """How a process that has been reaped ended, as words after "the server"."""
    status = child.process.returncode
    if status is None:
        return "could not be ended"
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


def _widen(pipe: int) -> None:
    if sys.platform == "linux":  # pragma: no branch - macOS sizes its pipes by itself
        with contextlib.suppress(OSError):  # the user has too many wide pipes already
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)


def exit_descriptor(pid: int) -> int:
    """Make a descriptor that is readable once a child has exited."""
    if sys.platform == "darwin":  # pragma: no cover - macOS has no pidfd, but a queue of events
        queue = select.kqueue()
        exits = select.kevent(
            pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, fflags=select.KQ_NOTE_EXIT
        )
        queue.control([exits], 0)
        return os.dup(queue.fileno())
    return os.pidfd_open(pid)
