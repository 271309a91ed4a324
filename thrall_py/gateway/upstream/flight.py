"""One run of something for all who want its result meanwhile."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Generic, TypeVar

from thrall_py.errors import ServerError

_Result = TypeVar("_Result")


class Flight(Generic[_Result]):
    """Runs something once at a time; whoever is cancelled does not take the others with it.

    Args:
        run: what is run.

    """

    def __init__(self, run: Callable[[], Coroutine[None, None, _Result]]) -> None:
        self._run = run
        self._task: asyncio.Task[_Result] | None = None

    async def join(self) -> _Result:
        """Wait for the run that goes on, or for a new one.

        Raises:
            ServerError: it was stopped; and whatever the run raises.

        """
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
            self._task.add_done_callback(_looked_at)
        try:
            return await asyncio.shield(self._task)
        except asyncio.CancelledError:
            if self._task.cancelled() and not _is_being_cancelled():
                raise ServerError("the server is being ended") from None
            raise

    async def cancel(self) -> None:
        """Stop it, and wait until it has."""
        if self._task and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])


def _is_being_cancelled() -> bool:
    """Tell whether who waits is; its task has no name there, where how it ends would hold it."""
    task = asyncio.current_task()
    return bool(task and task.cancelling())


def _looked_at(task: asyncio.Task[_Result]) -> None:
    """Nobody may have waited for its failure; those who did were told."""
    if not task.cancelled():
        task.exception()
