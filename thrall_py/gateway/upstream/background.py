"""Tasks that nobody waits for now, and everybody at the end."""

import asyncio
from collections.abc import Coroutine


class Background:
    """Runs tasks, and holds them until they are done."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def run(self, work: Coroutine[None, None, None]) -> None:
        """Begin with something."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def cancel(self) -> None:
        """Stop all of it, and wait until it has."""
        for task in self._tasks:
            task.cancel()
        await self.finish()

    async def finish(self) -> None:
        """Wait until all of it is done."""
        while self._tasks:
            await asyncio.wait(self._tasks)
