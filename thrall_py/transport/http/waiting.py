"""Waits that end: by what is waited for, by a deadline, or by a signal."""

import contextlib
import select
import time

from thrall_py.protocol.channel import ReceiveTimeout
from thrall_py.transport.interrupts import Interrupts

READABLE = select.POLLIN
WRITABLE = select.POLLOUT
_LONGEST_POLL = 3600.0  # seconds; poll(2) takes its milliseconds as a C int


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

    def until(self, deadline: float, descriptor: int = -1, event: int = READABLE) -> None:
        """Wait for an event on a descriptor; without one, until the deadline and no longer.

        The clock is looked at first: something happens all the time when a server floods us.

        Raises:
            ReceiveTimeout: the deadline passed.
            Interrupted: a signal asks thrall to stop.

        """
        poll = select.poll()
        poll.register(self._interrupts.fileno(), select.POLLIN)
        if descriptor >= 0:
            poll.register(descriptor, event)
        ready = False
        while not ready:
            left = deadline - time.monotonic()
            if self._is_told_to_stop() or left <= 0:
                raise ReceiveTimeout(b"", unsent=event == WRITABLE)
            happened = poll.poll(min(left, _LONGEST_POLL) * 1000)
            ready = any(fd == descriptor for fd, _ in happened)

    def sleep(self, end: float) -> None:
        """Let time pass until `end`.

        Raises:
            Interrupted: a signal asks thrall to stop.

        """
        with contextlib.suppress(ReceiveTimeout):
            self.until(end)

    def _is_told_to_stop(self) -> bool:
        came = self._interrupts.poll()
        if not self.leaving:
            self._interrupts.check()
        return came and self.leaving
