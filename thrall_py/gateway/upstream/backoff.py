"""How long to wait before something that failed is tried again."""

import asyncio

from thrall_py.errors import ThrallError

_SHORTEST, _LONGEST = 0.1, 30.0  # seconds
# Nobody waits longer than this, in seconds: a model that calls is better told what is wrong.
_PATIENCE = 2.0


class Backoff:
    """Waits longer after each failure, up to half a minute."""

    def __init__(self) -> None:
        self._delay = 0.0
        self._until = 0.0  # on the loop's clock
        self._problem: ThrallError | None = None

    def failed(self, problem: ThrallError) -> None:
        """Take note of a failure; during a pause it is of what was begun before it, and no more."""
        now = asyncio.get_running_loop().time()
        if now >= self._until:
            self._delay = min(max(2 * self._delay, _SHORTEST), _LONGEST)
            self._until = now + self._delay
        self._problem = problem

    def succeeded(self) -> None:
        """Begin anew."""
        self._delay = self._until = 0.0
        self._problem = None

    async def wait(self, seconds: float) -> None:
        """Wait until it may be tried again.

        Raises:
            ThrallError: that is more than `seconds`, or 2 s, from now; it is the last failure.

        """
        left = self._until - asyncio.get_running_loop().time()
        if self._problem and left > min(seconds, _PATIENCE):
            raise self._problem.with_traceback(None)
        if self._problem and left > 0:
            await asyncio.sleep(left)
