"""Waits that end: by what is waited for, by a deadline, or by a signal."""

import contextlib
import select
import time
from collections.abc import Iterator
from typing import Protocol

from thrall_py.protocol.channel import ReceiveTimeout
from thrall_py.transport.interrupts import Interrupts

READABLE = select.POLLIN
WRITABLE = select.POLLOUT
_LONGEST_POLL = 3600.0  # seconds; poll(2) takes its milliseconds as a C int


class Woken(Exception):  # noqa: N818 - an outcome
    """Something came beside what is waited for, which can be waited for again."""


class Beside(Protocol):
    """Something that is watched beside what is waited for."""

    def fileno(self) -> int:
        """The descriptor that is readable when something has come; below 0 when nothing will."""

    def take(self) -> bool:
        """Take what has come; whether that is worth waking for."""


class Waiting:
    """Waits on one descriptor at a time, and always on the signals.

    Args:
        interrupts: the signals that end the waiting; entered by the caller.

    Attributes:
        leaving: goodbyes are being said: a signal that came before is known, and a further one
            ends the waiting as the deadline does.

    """

    def __init__(self, interrupts: Interrupts) -> None:
        self.leaving = False
        self._interrupts = interrupts
        self._beside: Beside | None = None

    def until(self, deadline: float, descriptor: int = -1, event: int = READABLE) -> None:
        """Wait for an event on a descriptor; without one, until the deadline and no longer.

        The clock is looked at first: something happens all the time when a server floods us.

        Raises:
            ReceiveTimeout: the deadline passed.
            Interrupted: a signal asks thrall to stop.
            Woken: something came beside, where that is watched.

        """
        poll = select.poll()
        poll.register(self._interrupts.fileno(), select.POLLIN)
        if descriptor >= 0:
            poll.register(descriptor, event)
        ready = False
        while not ready:
            beside = self._register_beside(poll)
            if self._is_told_to_stop() or time.monotonic() >= deadline:
                raise ReceiveTimeout(b"", unsent=event == WRITABLE)
            left = min(deadline, self._interrupts.idle()) - time.monotonic()
            happened = poll.poll(min(max(0.0, left), _LONGEST_POLL) * 1000)
            ready = any(fd == descriptor for fd, _ in happened)
            if self._beside and any(fd == beside for fd, _ in happened):
                poll.unregister(beside)
                if self._beside.take():
                    raise Woken

    @contextlib.contextmanager
    def watching(self, beside: Beside | None) -> Iterator[None]:
        """Watch something else beside all that is waited for."""
        self._beside = beside
        try:
            yield
        finally:
            self._beside = None

    def sleep(self, end: float) -> None:
        """Let time pass until `end`.

        Raises:
            Interrupted: a signal asks thrall to stop.

        """
        with contextlib.suppress(ReceiveTimeout):
            self.until(end)

    def _register_beside(self, poll: select.poll) -> int:
        descriptor = self._beside.fileno() if self._beside else -1
        if descriptor >= 0:
            poll.register(descriptor, READABLE)
        return descriptor

    def _is_told_to_stop(self) -> bool:
        came = self._interrupts.poll()
        if not self.leaving:
            self._interrupts.check()
        return came and self.leaving
