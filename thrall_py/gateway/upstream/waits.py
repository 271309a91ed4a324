"""Descriptors that do not block, in an event loop: waited for, and written to in order."""

import asyncio
import os
from collections import deque
from collections.abc import Callable

_CHUNK = 1 << 18  # bytes moved at once
_HIGH = 1 << 20  # bytes that wait to be written before who sends has to wait, too


class Readable:
    """Waits until a descriptor is readable; one task at a time.

    Args:
        descriptor: which one; it stays open as long as it is waited for.

    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._woken: asyncio.Future[None] | None = None

    async def wait(self) -> None:
        """Wait until it is, or until `wake`."""
        loop = asyncio.get_running_loop()
        self._woken = loop.create_future()
        loop.add_reader(self._descriptor, self.wake)
        try:
            await self._woken
        finally:
            loop.remove_reader(self._descriptor)
            self._woken = None

    def wake(self) -> None:
        """Let who waits have a look."""
        if self._woken and not self._woken.done():
            self._woken.set_result(None)


class Outgoing:
    """What is written to a descriptor: each message whole and in order, whoever is cancelled.

    Args:
        descriptor: which one.
        on_broken: is called when nobody reads any more, once.

    Attributes:
        size: bytes that have not been written yet.

    """

    def __init__(self, descriptor: int, on_broken: Callable[[], None]) -> None:
        self.size = 0
        self._descriptor = descriptor
        self._on_broken = on_broken
        self._queue: deque[memoryview] = deque()
        self._waiting: set[asyncio.Future[None]] = set()
        self._is_closed = False

    async def room(self) -> None:
        """Wait until a message may be put into the queue, or will be dropped."""
        while self.size > _HIGH and not self._is_closed:
            room = asyncio.get_running_loop().create_future()
            self._waiting.add(room)
            try:
                await room
            finally:
                self._waiting.discard(room)

    def put(self, data: bytes) -> None:
        """Put a message into the queue, at once; it is dropped if nobody reads any more."""
        if not self._is_closed and data:
            self._queue.append(memoryview(data))
            self.size += len(data)
            if len(self._queue) == 1:
                self._write()

    def close(self) -> None:
        """Write nothing more; the descriptor is free to be closed."""
        if not self._is_closed:
            self._is_closed = True
            asyncio.get_running_loop().remove_writer(self._descriptor)
            self._queue.clear()
            self._wake()

    def _write(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._queue:
                written = os.write(self._descriptor, self._queue[0][:_CHUNK])
                self._queue[0] = self._queue[0][written:]
                self.size -= written
                if not self._queue[0]:
                    self._queue.popleft()
        except BlockingIOError:
            loop.add_writer(self._descriptor, self._write)
        except OSError:
            self.close()
            self._on_broken()
        else:
            loop.remove_writer(self._descriptor)
        if self.size <= _HIGH:
            self._wake()

    def _wake(self) -> None:
        for each in self._waiting:
            if not each.done():
                each.set_result(None)
