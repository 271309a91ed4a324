"""The terminal that stdout is: what it says of itself, and its size in pixels."""

import contextlib
import fcntl
import os
import re
import select
import struct
import termios
import time
from collections.abc import Iterator

from thrall_py.transport.interrupts import Interrupts

# Primary device attributes, as in DEC STD 070 and xterm's ctlseqs: `CSI c` asks, and nearly every
# terminal answers at once. A multiplexer answers for itself.
_QUESTION = b"\x1b[c"
_ANSWER = re.compile(rb"\x1b\[\?([\d;]*)c")
_SIXEL = b"4"
# Seconds for the answer: what comes later would be typed into the shell, so a slow link has time.
_PATIENCE = 1.0
_CHUNK = 4096
_UNKNOWN = (800, 600)  # pixels, if the terminal does not tell


def shows_sixel(interrupts: Interrupts) -> bool:
    """Ask the terminal whether it shows sixel.

    It is not asked if what it answers could be somebody else's to read: if we are in the
    background, or what was typed meanwhile waits to be read.

    Raises:
        Interrupted: a signal came instead of an answer.

    """
    if os.environ.get("TERM", "dumb") == "dumb":
        return False
    try:
        terminal = os.open(os.ttyname(1), os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        if os.tcgetpgrp(terminal) != os.getpgrp():
            return False
        # The first number is the terminal's class, whatever it is.
        return _SIXEL in _attributes(terminal, interrupts)[1:]
    except (OSError, termios.error):  # not the one we were started from; stopped by ^S; or gone
        return False
    finally:
        os.close(terminal)


def size() -> tuple[int, int]:
    """Width and height of the terminal in pixels, or a guess if it does not tell."""
    try:
        told = fcntl.ioctl(1, termios.TIOCGWINSZ, bytes(8))
    except OSError:
        return _UNKNOWN
    _, _, width, height = struct.unpack("4H", told)
    return (width, height) if width and height else _UNKNOWN


def _attributes(terminal: int, interrupts: Interrupts) -> list[bytes]:
    """Ask, and read the numbers of the answer; none if none comes."""
    poll = select.poll()
    poll.register(terminal, select.POLLIN)
    with _unbuffered(terminal):
        if poll.poll(0):
            return []
        os.write(terminal, _QUESTION)
        poll.register(interrupts.fileno(), select.POLLIN)
        deadline = time.monotonic() + _PATIENCE
        said = b""
        while (left := deadline - time.monotonic()) > 0:
            if any(fd == terminal for fd, _ in poll.poll(left * 1000)):
                chunk = os.read(terminal, _CHUNK)
                said += chunk
                if (answer := _ANSWER.search(said)) or not chunk:
                    return answer[1].split(b";") if answer else []
            interrupts.poll()
            interrupts.check()
    return []


@contextlib.contextmanager
def _unbuffered(terminal: int) -> Iterator[None]:
    """Let input come byte by byte and unseen; ^C stays a signal."""
    before = termios.tcgetattr(terminal)
    during = [*before[:3], before[3] & ~(termios.ICANON | termios.ECHO), *before[4:]]
    termios.tcsetattr(terminal, termios.TCSANOW, during)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)
