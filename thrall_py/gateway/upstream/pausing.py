"""A deadline that stands still while somebody is asked."""

import asyncio
from types import TracebackType
from typing import Self


class Pausing:
    """The deadline of one request; it may be stopped several times at once.

    An asynchronous context manager: what goes on in it ends when the deadline has passed, and
    nothing is raised. So no failure can hold what the request was made of.

    Args:
        seconds: how long it is.

    """

    def __init__(self, seconds: float) -> None:
        self._timeout: asyncio.Timeout | None = asyncio.timeout(seconds)
        self._stopped = 0
        self._left = 0.0  # seconds, while it stands still

    async def __aenter__(self) -> Self:
        """Let it begin."""
        assert self._timeout, "it is used once"
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """End it; true if it had passed."""
        assert self._timeout, "it has begun"
        try:
            await self._timeout.__aexit__(kind, problem, trace)
        except TimeoutError:
            return True
        finally:
            # It knows the task, that how it ended, and that the frame in which we have a name: what
            # the request holds would be kept until somebody looks for garbage.
            self._timeout = None
        return False

    @property
    def has_passed(self) -> bool:
        """Whether it is the reason for which the request is cancelled now."""
        return self._timeout is not None and self._timeout.expired()

    def stop(self) -> None:
        """Let it stand still."""
        self._stopped += 1
        when = self._timeout.when() if self._timeout else None
        if self._stopped == 1 and self._timeout and when is not None and not self.has_passed:
            self._left = when - asyncio.get_running_loop().time()
            self._timeout.reschedule(None)

    def go_on(self, _: object = None) -> None:
        """Let it run again, once nobody wants it to stand still any more."""
        self._stopped -= 1
        if not self._stopped and self._timeout and not self.has_passed:
            self._timeout.reschedule(asyncio.get_running_loop().time() + self._left)
