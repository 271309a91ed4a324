"""Writes to a descriptor that is not ours alone, and never waits for who reads it."""

import asyncio
import contextlib
import os

# What a pipe that is said to be writable takes without blocking (PIPE_BUF on Linux). The descriptor
# stays a blocking one, because it is shared: with a shell, or with every server.
_AT_ONCE = 4096


class Outlet:
    """Bytes on their way to a descriptor.

    Attributes:
        failure: why nothing can be written any more; None as long as it can.

    """

    def __init__(self, descriptor: int) -> None:
        self.failure: OSError | None = None
        self._fd = descriptor
        self._loop = asyncio.get_running_loop()
        self._left = bytearray()
        self._is_watched = False
        self._moved = asyncio.Event()

    @property
    def waiting(self) -> int:
        """How many bytes have not been written yet."""
        return len(self._left)

    def write(self, data: bytes) -> None:
        """Let `data` be written as soon as it is taken; after a failure it is dropped."""
        if self.failure:
            return
        self._left += data
        if self._is_watched:
            return
        try:
            self._loop.add_writer(self._fd, self._write)
            self._is_watched = True
        except PermissionError:  # a file is not watched: it is always ready
            while self._left:
                self._write()

    async def broken(self) -> None:
        """Wait until nothing can be written any more."""
        while not self.failure:
            self._moved.clear()
            await self._moved.wait()

    async def room(self, most: int = 0) -> None:
        """Wait until no more than `most` bytes wait, or nothing can be written any more."""
        while self.waiting > most and not self.failure:
            self._moved.clear()
            await self._moved.wait()

    async def close(self, patience: float) -> None:
        """Write what waits, for some seconds at most, and watch the descriptor no more."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self.room()
        self._rest()

    def _write(self) -> None:
        try:
            del self._left[: os.write(self._fd, self._left[:_AT_ONCE])]
        except BlockingIOError:  # somebody else made it so, and was faster
            return
        except OSError as problem:
            self.failure = problem
            self._left.clear()
        self._moved.set()
        if not self._left:
            self._rest()

    def _rest(self) -> None:
        if self._is_watched:
            self._loop.remove_writer(self._fd)
            self._is_watched = False
