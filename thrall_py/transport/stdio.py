"""Our own three descriptors: there in any case, and written to without losing a signal."""

import contextlib
import os
import select
import stat
import sys
import termios
from collections.abc import Iterable

from thrall_py.errors import InputError, OutputError
from thrall_py.transport.interrupts import Interrupts

# What a pipe that poll(2) calls writable takes without blocking (PIPE_BUF on Linux), so that a
# reader who stopped reading cannot keep a signal waiting.
_AT_ONCE = 4096
_CHUNK = 1 << 20  # bytes read at once
_LARGEST = 1 << 29  # bytes of input; it is held three times over


def open_missing() -> frozenset[int]:
    """Open what of 0, 1 and 2 the caller has closed, so that no pipe of ours gets its number.

    What takes the place of stdout cannot be written to, so nothing seems to succeed.
    """
    closed = set()
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_WRONLY if fd == 2 else os.O_RDONLY)  # noqa: PLR2004 - stderr
            os.set_inheritable(fd, True)  # noqa: FBT003 - or a server would start without it
            closed.add(fd)
    return frozenset(closed)


def read() -> bytes:
    """Read stdin to its end.

    Raises:
        InputError: it cannot be read.

    """
    chunks, size = [], 0
    poll = select.poll()
    poll.register(0, select.POLLIN)
    try:
        while True:
            try:
                chunk = os.read(0, _CHUNK)
            except BlockingIOError:  # somebody else made it so, and it is theirs too
                poll.poll()
                continue
            chunks.append(chunk)
            size += len(chunk)
            if not chunk:
                return b"".join(chunks)
            if size > _LARGEST:
                raise InputError(f"the input is larger than {_LARGEST} bytes")
    except OSError as problem:
        raise InputError(f"cannot read stdin: {problem.strerror}") from None


def write(pieces: Iterable[bytes], interrupts: Interrupts) -> None:
    """Write to stdout.

    Raises:
        BrokenPipeError: nobody reads it any more.
        OutputError: it cannot be written for another reason.
        Interrupted: a signal came while nobody was reading.

    """
    poll = select.poll()
    poll.register(1, select.POLLOUT)
    poll.register(interrupts.fileno(), select.POLLIN)
    try:
        is_file = stat.S_ISREG(os.fstat(1).st_mode)
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                _wait(poll, interrupts, 1)
                rest = rest[os.write(1, rest) if is_file else _put(rest) :]
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise OutputError(f"cannot write to stdout: {problem.strerror}") from None


def _put(rest: memoryview) -> int:
    """Write what stdout takes without blocking, now that it takes something; the bytes written.

    It is the caller's too, so it cannot be made non-blocking: this one write is, where the kernel
    can do that (Linux, for pipes since 6.5).
    """
    if sys.platform == "linux":  # pragma: no branch - others have no such write
        with contextlib.suppress(OSError):  # if it cannot be written at all, the next one tells
            return os.pwritev(1, [rest], -1, os.RWF_NOWAIT)
    return os.write(1, rest[:_AT_ONCE])


def ask(question: str, interrupts: Interrupts) -> bool:
    """Ask the person at the terminal; anything but y or yes is no, and so is what was typed before.

    Raises:
        Interrupted: a signal came instead of an answer.

    """
    forget_typed()
    line = ask_line(f"{question} [y/N] ", interrupts) or b""
    return line.strip().lower() in {b"y", b"yes"}


def forget_typed() -> None:
    """Discard what was typed and not read yet: nobody answers a question that was not there.

    It is called before the question is shown, so what is typed at the sight of it counts. Nothing
    is kept on our side of the terminal: `ask_line` reads one line, and a terminal gives no more.
    """
    with contextlib.suppress(termios.error):  # no terminal, or it is gone
        termios.tcflush(0, termios.TCIFLUSH)


def ask_line(prompt: str, interrupts: Interrupts) -> bytes | None:
    """Ask the person at the terminal for one line; None for the end of input instead of one.

    Raises:
        Interrupted: a signal came instead of an answer.

    """
    tell(prompt)
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(interrupts.fileno(), select.POLLIN)
    line = b""
    while not line.endswith(b"\n"):
        _wait(poll, interrupts, 0)
        try:
            chunk = os.read(0, _AT_ONCE)
        except OSError:  # the terminal is gone
            chunk = b""
        if not chunk:
            return line or None
        line += chunk
    return line


def tell(text: str) -> None:
    """Write to stderr what a person is asked; nobody can be told that this failed."""
    with contextlib.suppress(OSError):
        os.write(2, text.encode())


def _wait(poll: select.poll, interrupts: Interrupts, descriptor: int) -> None:
    while not any(fd == descriptor for fd, _ in poll.poll()):
        interrupts.poll()
        interrupts.check()
