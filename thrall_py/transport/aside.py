"""A process of its own for a part of the gateway, and the socket between the two.

The gateway runs an event loop and cannot wait; who keeps a server has to, and has to be the parent
of all that the server starts. What they tell each other are values, pickled: both are the same
program, and no server gets hold of the socket.
"""

import contextlib
import gc
import itertools
import os
import pickle
import select
import signal
import socket
import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

from thrall_py.transport import descendants
from thrall_py.transport.forking import fork, live
from thrall_py.transport.interrupts import Interrupts
from thrall_py.transport.spawn import exit_descriptor

_CHUNK = 1 << 18  # bytes moved at once
_SIZE = struct.Struct("!Q")  # stands before each value
_MOST_DESCRIPTORS = 2  # the pipes of a server
_FIRST = 3  # the lowest descriptor that is none of stdin, stdout and stderr


class Aside(NamedTuple):
    """A process aside, as the gateway has it.

    Attributes:
        pid: its id, until it is reaped.
        socket: our end, which does not block.
        exit: a descriptor that is readable once the process has exited.

    """

    pid: int
    socket: socket.socket
    exit: int


class Values:
    """Takes apart what came over a socket."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, data: bytes) -> Iterator[object]:
        """Take some more; the values that are complete now."""
        self._held += data
        while len(self._held) >= _SIZE.size:
            (size,) = _SIZE.unpack_from(self._held)
            end = _SIZE.size + size
            if len(self._held) < end:
                return
            with memoryview(self._held) as view:
                value = pickle.loads(view[_SIZE.size : end])  # noqa: S301 - a copy of us wrote it
            del self._held[:end]
            yield value


class Line:
    """The end of the socket in the process aside: it waits.

    Args:
        end: the socket.
        interrupts: the signals that end the waiting.

    """

    def __init__(self, end: socket.socket, interrupts: Interrupts) -> None:
        self._end = end
        self._interrupts = interrupts
        self._values = Values()
        self._come: list[object] = []

    def fileno(self) -> int:
        """The descriptor that is readable when the gateway says something, or is gone."""
        return self._end.fileno()

    def tell(self, value: object, descriptors: tuple[int, ...] = ()) -> None:
        """Hand a value to the gateway, and descriptors with it.

        Raises:
            ConnectionError: it is gone.

        """
        data = packed(value)
        sent = socket.send_fds(self._end, [data[:1]], descriptors) if descriptors else 0
        self._end.sendall(memoryview(data)[sent:])

    def hear(self) -> object | None:
        """Wait for a value from the gateway; None when there will be no more.

        Raises:
            Interrupted: a signal asks to stop.

        """
        poll = select.poll()
        for fd in (self._end.fileno(), self._interrupts.fileno()):
            poll.register(fd, select.POLLIN)
        while not self._come:
            happened = dict(poll.poll())
            self._interrupts.poll()
            self._interrupts.check()
            if self._end.fileno() in happened:
                chunk = self._end.recv(_CHUNK)
                if not chunk:
                    return None
                self._come += self._values.feed(chunk)
        return self._come.pop(0)


Task = Callable[[Line, Interrupts], None]


def packed(value: object) -> bytes:
    """Make of a value what goes over the socket."""
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return _SIZE.pack(len(data)) + data


def take(end: socket.socket) -> tuple[bytes, list[int]]:
    """Take what has come on a socket that does not block, and the descriptors that came with it.

    Raises:
        BlockingIOError: nothing has.

    """
    data, descriptors, _, _ = socket.recv_fds(end, _CHUNK, _MOST_DESCRIPTORS)
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - its only name
    return data, descriptors


def start(task: Task) -> Aside:
    """Start a process that does a task and ends.

    It has our stderr, which the server inherits, and nothing else of ours: whatever else is open
    would stay open as long as it lives.

    Raises:
        OSError: there are too many processes or descriptors.

    """
    ours, theirs = socket.socketpair()
    ours.setblocking(False)  # noqa: FBT003 - likewise
    parent = os.getpid()
    try:
        with theirs:
            pid = fork(lambda: live(lambda come: be(task, theirs, parent, come)))
            return Aside(pid, ours, _watched(pid))
    except OSError:
        ours.close()
        raise


def hang_up(aside: Aside) -> None:
    """Say nothing more to a process, which will hear that."""
    with contextlib.suppress(OSError):  # it has gone before
        aside.socket.shutdown(socket.SHUT_WR)


def stop(aside: Aside) -> None:
    """Have a process that is not reaped stop what it does, and end."""
    os.kill(aside.pid, signal.SIGTERM)


def kill(aside: Aside) -> None:
    """End a process that is not reaped."""
    os.kill(aside.pid, signal.SIGKILL)


def reap(aside: Aside) -> None:
    """Have done with a process that has exited."""
    os.waitpid(aside.pid, 0)
    os.close(aside.exit)


def be(task: Task, end: socket.socket, parent: int, interrupts: Interrupts) -> None:
    """Do a task as a process aside.

    Raises:
        Interrupted: a signal asks to stop, or the parent is gone.

    """
    gc.freeze()  # what is garbage by now is the parent's, and may hold numbers of descriptors
    keep = {0, 1, 2, end.fileno(), *interrupts.descriptors}
    close_all_but(keep)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    if null >= _FIRST:
        os.close(null)
    descendants.follow(parent)
    task(Line(end, interrupts), interrupts)


def close_all_but(keep: set[int]) -> None:
    """Close every descriptor but these."""
    borders = [-1, *sorted(keep), os.sysconf("SC_OPEN_MAX")]
    for before, after in itertools.pairwise(borders):
        if before + 1 < after:  # else Python asks the kernel for all there are
            os.closerange(before + 1, after)


def _watched(pid: int) -> int:
    try:
        return exit_descriptor(pid)
    except OSError:  # too many are open
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
