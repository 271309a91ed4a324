"""Signals as data: a signal is a byte in a pipe that the same poll watches as the server's output.

No exception between two bytecodes, so from the first moment after the spawn to the last of the
teardown nothing can be left half done. A signal that was ignored on entry (nohup) stays ignored.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Self

from thrall_py.errors import Interrupted

SIGPIPE = signal.SIGPIPE

_Handler = Callable[[int, FrameType | None], object] | int | None

_PAUSE = 0.01  # seconds
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Interrupts:
    """While it is entered, signals that ask thrall to stop are noted and nothing else happens.

    Every wait minds them, and so it does what is to be done while thrall waits.

    Attributes:
        signum: the first that came.
        idle: is called when a wait begins, and again when the time comes that it returned, on the
            monotonic clock in seconds.

    """

    def __init__(self) -> None:
        self.signum: int | None = None
        self.idle: Callable[[], float] = _never
        self._previous: dict[int, _Handler] = {}
        self._previous_fd = -1
        self._reading = self._writing = -1

    def __enter__(self) -> Self:
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._reading, False)
        os.set_blocking(self._writing, False)
        self._previous_fd = signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        for signum in _STOPPING:
            if signal.getsignal(signum) is not signal.SIG_IGN:
                self._previous[signum] = signal.signal(signum, _noted)
        # Where it is ignored the kernel reaps by itself, and takes the exit status with it.
        self._previous[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for signum, handler in self._previous.items():
            signal.signal(signum, handler)
        self.poll()  # now, so that none falls between this and the handlers before
        signal.set_wakeup_fd(self._previous_fd)
        os.close(self._reading)
        os.close(self._writing)

    def fileno(self) -> int:
        """A descriptor that is readable when a signal has come and `poll` has not seen it."""
        return self._reading

    @property
    def descriptors(self) -> tuple[int, int]:
        """The ends of the pipe, which have to stay open."""
        return self._reading, self._writing

    def check(self) -> None:
        """Raise what a signal asks for, once one was seen.

        Raises:
            Interrupted: one was.

        """
        if self.signum is not None:
            raise Interrupted(self.signum)

    def poll(self) -> bool:
        """See which signals have come; whether another one has since the last time."""
        try:
            came = [number for number in os.read(self._reading, 512) if number in _STOPPING]
        except BlockingIOError:
            return False
        if came and self.signum is None:
            self.signum = came[0]
        return bool(came)

    def pause(self) -> None:
        """Let a moment pass, for what is tried again and again.

        Raises:
            Interrupted: a signal asks to stop.

        """
        self.idle()
        time.sleep(_PAUSE)
        self.poll()
        self.check()


@contextlib.contextmanager
def blocked() -> Iterator[None]:
    """Keep the signals that ask thrall to stop waiting for a moment."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def forget() -> None:
    """In a copy of a process: note nothing for the process that this is a copy of."""
    signal.set_wakeup_fd(-1)
    for signum in _STOPPING:
        if signal.getsignal(signum) is not signal.SIG_IGN:
            signal.signal(signum, signal.SIG_DFL)


def unblock() -> None:
    """Let them come, and those that have waited."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)


def die_by_signal(signum: int) -> int:
    """End this process by `signum`, so that the caller sees what it was asked for.

    Returns the status that a shell would show only if the signal is not delivered at once.
    """
    signal.signal(signum, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signum])
    os.kill(os.getpid(), signum)
    return 128 + signum


def _never() -> float:
    return float("inf")


def _noted(signum: int, frame: FrameType | None) -> None:
    """Do nothing: the byte in the pipe says it all."""
