"""Starts one server: its argv as given, two pipes, a session and a group of its own."""

import contextlib
import errno
import fcntl
import os
import select
import signal
import sys
from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple

from thrall_py.errors import CannotExecuteError, InputError, ProgramNotFoundError, ThrallError
from thrall_py.transport.endpoint import Command
from thrall_py.visible import visible

_STDERR = 2
_PIPE_SIZE = 1 << 20  # bytes; the most that Linux gives everyone, for fewer turns per message


class Child(NamedTuple):
    """A started process: our ends of its pipes, and a descriptor that is readable once it exits."""

    pid: int
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
    with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
        with _directory(command.cwd), _told(command):
            stdin, given = _pipe(theirs, ours)
            said, stdout = _pipe(ours, theirs)
            pid = _start(command, stdin.fileno(), stdout.fileno())
        for pipe in (given, said):
            os.set_blocking(pipe.fileno(), False)
            _widen(pipe.fileno())
        try:
            descriptor = exit_descriptor(pid)
        except OSError as problem:  # too many are open
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            why = f"cannot watch {_name(command)}: {problem.strerror}"
            raise CannotExecuteError(why) from None
        ours.pop_all()
        return Child(pid, given, said, descriptor)


def look_for(command: Command) -> None:
    """See whether a program could be started, and start nothing.

    Raises:
        ProgramNotFoundError, CannotExecuteError, InputError: as `spawn`.

    """
    with _directory(command.cwd), _told(command):
        path = _places(command)[0]
        os.stat(path)
        if not _is_executable(path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@contextlib.contextmanager
def _told(command: Command) -> Iterator[None]:
    """Say in our words what the system says of a start."""
    if not command.argv[0]:
        raise ProgramNotFoundError("the program has no name")
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise _not_found(command) from None
    except UnicodeEncodeError:
        raise CannotExecuteError(f"cannot execute {_name(command)}: not in this locale") from None
    except OSError as problem:
        raise CannotExecuteError(f"cannot execute {_name(command)}: {problem.strerror}") from None


def _name(command: Command) -> str:
    return visible(command.shown or command.argv[0])


def _pipe(
    readers: contextlib.ExitStack, writers: contextlib.ExitStack
) -> tuple[IO[bytes], IO[bytes]]:
    """Make a pipe, and have each of its ends closed by one of the two."""
    read, write = os.pipe()
    return (
        readers.enter_context(open(read, "rb", buffering=0)),
        writers.enter_context(open(write, "wb", buffering=0)),
    )


@contextlib.contextmanager
def _directory(path: str | None) -> Iterator[None]:
    """Be in a directory for a moment: a process starts where its parent is.

    Raises:
        InputError: it cannot be entered.

    """
    if path is None:
        yield
        return
    with contextlib.ExitStack() as back:
        with contextlib.suppress(PermissionError):  # one that may not be entered is of no use to us
            # A descriptor that needs no right to read the directory, where there is such a thing.
            here = os.open(os.curdir, getattr(os, "O_PATH", os.O_RDONLY))
            back.callback(os.close, here)
            back.callback(os.fchdir, here)
        _enter(path)
        yield


def _enter(path: str) -> None:
    try:
        os.chdir(path)
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"there is no directory {visible(path)}") from None
    except OSError as problem:
        raise InputError(f"cannot start in {visible(path)}: {problem.strerror}") from None


def _start(command: Command, stdin: int, stdout: int) -> int:
    """Start the program as posix_spawn(3) does; its number.

    By hand: to import `subprocess` takes as many instructions as a tenth of what click does.
    """
    for descriptor in _descriptors():
        if descriptor > _STDERR:
            with contextlib.suppress(OSError):  # the one by which they were listed
                os.set_inheritable(descriptor, False)  # noqa: FBT003 - takes no names

    def start(path: str) -> int:
        return os.posix_spawn(
            path,
            command.argv,
            command.environment,
            file_actions=((os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, stdout, 1)),
            setsid=True,
            setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),  # which Python ignores
        )

    *others, last = _places(command)
    for path in others:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):  # its interpreter
            return start(path)
    return start(last)


def _descriptors() -> Iterable[int]:
    try:
        return map(int, os.listdir("/dev/fd"))
    except OSError:  # nothing is mounted there
        return range(os.sysconf("SC_OPEN_MAX"))


def _places(command: Command) -> list[str]:
    """Where the program may be, as execvp(3) looks by the PATH of its own environment.

    Without one that can be executed it is one that fails with the reason, and at last one that is
    not there: the bare name would be taken for a file in the directory.
    """
    name = command.argv[0]
    if "/" in name:
        return [name]
    there = [os.path.join(place, name) for place in os.get_exec_path(command.environment)]
    return [*filter(_is_executable, there)] or [*filter(os.path.exists, there), there[-1]][:1]


def _is_executable(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _not_found(command: Command) -> ThrallError:
    """Say what is not there: a program, or the interpreter of one that is."""
    program = _name(command)
    if any(map(os.path.exists, _places(command))):
        return CannotExecuteError(f"the interpreter of {program} was not found")
    # A whole command line in one word: a habit from programs that hand it to a shell.
    apart = "; there is no shell, so write its words apart" if " " in program else ""
    return ProgramNotFoundError(f"the program {program} was not found{_looked_in(command)}{apart}")


def _looked_in(command: Command) -> str:
    """Say where a program was looked for that is named by a path from some directory on."""
    program = command.argv[0]
    if "/" not in program or program.startswith("/"):
        return ""
    try:
        return f" from the directory {visible(os.getcwd())}"
    except OSError:  # our own directory is gone
        return " from a directory that is gone"


def failed(child: Child) -> bool:
    """Tell whether a process that has exited did so with a failure, without reaping it."""
    if sys.platform == "darwin":  # pragma: no cover - macOS has no waitid(2) before Python 3.13
        return False
    seen = os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return seen is not None and seen.si_status != 0


def reap(child: Child) -> int | None:
    """Free the number of a process that has exited: its status, or minus its signal.

    None if it has not.
    """
    pid, status = os.waitpid(child.pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if pid else None


def ending(status: int | None) -> str:
    """How a process ended, from what `reap` says, as words after "the server"."""
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
