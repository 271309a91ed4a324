"""A deadline that stands still while somebody is asked."""

import asyncio


class Pausing:
    """The deadline of one request; it may be stopped several times at once.

    Args:
        timeout: what ends the request.

    """

    def __init__(self, timeout: asyncio.Timeout) -> None:
        self._timeout = timeout
        self._stopped = 0
        self._left = 0.0  # seconds, while it stands still
        self._is_over = False

    def stop(self) -> None:
        """Let it stand still."""
        self._stopped += 1
        when = self._timeout.when()
        if self._stopped == 1 and when is not None and self._may_move():
            self._left = when - asyncio.get_running_loop().time()
            self._timeout.reschedule(None)

    def go_on(self, _: object = None) -> None:
        """Let it run again, once nobody wants it to stand still any more."""
        self._stopped -= 1
        if not self._stopped and self._may_move():
            self._timeout.reschedule(asyncio.get_running_loop().time() + self._left)

    def end(self) -> None:
        """Take note that the request is over."""
        self._is_over = True

    def _may_move(self) -> bool:
        return not self._is_over and not self._timeout.expired()
