"""A process aside, a guard or a carrier, as the event loop sees it."""

import asyncio
import os
from collections import deque

from thrall_py.errors import ServerError
from thrall_py.gateway.upstream.waits import Outgoing, Readable
from thrall_py.transport import aside
from thrall_py.transport.aside import Task


class Keeper:
    """Talks with a process aside, and sees it to its end.

    Args:
        task: what it does.

    Attributes:
        descriptors: what came with its values, and nobody has taken.

    Raises:
        ServerError: there are too many processes.

    """

    def __init__(self, task: Task) -> None:
        try:
            self._aside = aside.start(task)
        except OSError as problem:
            raise ServerError(f"no process can be started for it: {problem.strerror}") from None
        self.descriptors: list[int] = []
        self._exited = asyncio.Event()
        self._values = aside.Values()
        self._come: deque[object] = deque()
        self._readable = Readable(self._aside.socket.fileno())
        self._outgoing = Outgoing(self._aside.socket.fileno(), lambda: None)
        asyncio.get_running_loop().add_reader(self._aside.exit, self._note_exit)

    async def hear(self) -> object | None:
        """Wait for its next value; None when there will be no more."""
        while not self._come:
            await self._readable.wait()
            try:
                data, descriptors = aside.take(self._aside.socket)
            except BlockingIOError:
                continue
            except ConnectionError:
                return None
            self.descriptors += descriptors
            if not data:
                return None
            self._come.extend(self._values.feed(data))
        return self._come.popleft()

    async def say(self, value: object) -> None:
        """Tell it something, once what was said before has gone out."""
        await self._outgoing.room()
        self.tell(value)

    def tell(self, value: object) -> None:
        """Tell it something, at once."""
        self._outgoing.put(aside.packed(value))

    def hang_up(self) -> None:
        """Let it know that nothing more will be said."""
        aside.hang_up(self._aside)

    def stop(self) -> None:
        """Have it stop what it does, and end."""
        if not self._exited.is_set():
            aside.stop(self._aside)

    async def gone(self, patience: float) -> None:
        """Wait until it is gone, `patience` seconds at most before it is killed."""
        try:
            async with asyncio.timeout(patience):
                await self._exited.wait()
        except TimeoutError:
            aside.kill(self._aside)
            await self._exited.wait()

    def _note_exit(self) -> None:
        asyncio.get_running_loop().remove_reader(self._aside.exit)
        aside.reap(self._aside)
        self._exited.set()

    def close(self) -> None:
        """Close the socket, and what came with it and nobody wants."""
        self._outgoing.close()
        self._aside.socket.close()
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors.clear()
