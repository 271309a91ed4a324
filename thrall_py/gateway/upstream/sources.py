"""Where a conversation with a server comes from: one server for all, or one for each request."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import NamedTuple, Protocol

from thrall_py.errors import ServerGoneError, ThrallError
from thrall_py.gateway.upstream.background import Background
from thrall_py.gateway.upstream.backoff import Backoff
from thrall_py.gateway.upstream.definitions import Definitions
from thrall_py.gateway.upstream.flight import Flight
from thrall_py.gateway.upstream.multiplexer import Conversation

_MOST_ISOLATED = 64  # servers of one entry at a time; further calls wait
_LIVED = 10.0  # seconds after which a server that ends has not failed to start


class Held(NamedTuple):
    """A conversation, and what its server defines."""

    conversation: Conversation
    definitions: Definitions


Start = Callable[[], Awaitable[Held]]


class Source(Protocol):
    """Has conversations with one server."""

    def lease(self, seconds: float) -> contextlib.AbstractAsyncContextManager[Held]:
        """Provide a conversation for as long as a request takes.

        Args:
            seconds: how long it may take until a server that failed can be started again.

        Raises:
            ThrallError: there is none to be had.

        """

    async def close(self) -> None:
        """End them all."""


class Warm:
    """One server for all, started when it is needed and ended when it was not for a while.

    One that can ask nobody any more is replaced: it ends with the last call that it has.

    Args:
        start: starts it.
        idle: seconds without a request after which it is ended.

    """

    def __init__(self, start: Start, idle: float) -> None:
        self._start = start
        self._idle = idle
        self._held: Held | None = None
        self._since = 0.0  # on the loop's clock
        self._users = 0  # who wait for the server too
        self._uses: Counter[Held] = Counter()
        self._timer: asyncio.TimerHandle | None = None
        self._starting = Flight(self._begin)
        self._backoff = Backoff()
        self._background = Background()

    @contextlib.asynccontextmanager
    async def lease(self, seconds: float) -> AsyncIterator[Held]:
        """Provide the one conversation, as the Source says."""
        self._users += 1
        if self._timer:
            self._timer.cancel()
        try:
            held = self._usable()
            if held is None:
                await self._backoff.wait(seconds)
                held = self._usable() or await self._starting.join()
            with self._used(held):
                yield held
            self._backoff.succeeded()
        finally:
            self._users -= 1
            if not self._users:
                self._timer = asyncio.get_running_loop().call_later(self._idle, self._let_go)

    async def close(self) -> None:
        """End the server, and those that were replaced."""
        if self._timer:
            self._timer.cancel()
        await self._starting.cancel()
        self._let_go()
        for held in self._uses:
            self._end(held)
        await self._background.finish()

    @contextlib.contextmanager
    def _used(self, held: Held) -> Iterator[None]:
        """Count a use of the server; the last one of a server that was replaced ends it."""
        self._uses[held] += 1
        try:
            yield
        finally:
            self._uses[held] -= 1
            if not self._uses[held]:
                del self._uses[held]
                if held is not self._held:
                    self._end(held)

    def _usable(self) -> Held | None:
        """Tell whether the server is there; one that did not last has failed."""
        held = self._held
        if held and held.conversation.is_over:
            lived = asyncio.get_running_loop().time() - self._since
            if not held.conversation.has_answered and lived < _LIVED:
                self._backoff.failed(ServerGoneError("the server ended as soon as it was started"))
            self._let_go()
        elif held and held.conversation.owed.has_hindered:
            self._held = None
            if held not in self._uses:
                self._end(held)
        return self._held

    async def _begin(self) -> Held:
        try:
            self._held = held = await self._start()
        except ThrallError as problem:
            self._backoff.failed(problem)
            raise
        self._since = asyncio.get_running_loop().time()
        return held

    def _let_go(self) -> None:
        if self._held:
            self._end(self._held)
            self._held = None

    def _end(self, held: Held) -> None:
        self._background.run(held.conversation.close())


class Fresh:
    """A server of its own for each request.

    Args:
        start: starts one.

    """

    def __init__(self, start: Start) -> None:
        self._start = start
        self._room = asyncio.Semaphore(_MOST_ISOLATED)
        self._backoff = Backoff()
        self._background = Background()

    @contextlib.asynccontextmanager
    async def lease(self, seconds: float) -> AsyncIterator[Held]:
        """Start a server; it is ended afterwards, and nobody waits for that."""
        await self._room.acquire()
        try:
            await self._backoff.wait(seconds)
            held = await self._begin()
        except BaseException:
            self._room.release()
            raise
        try:
            yield held
            self._backoff.succeeded()
        finally:
            self._background.run(self._end(held))

    async def close(self) -> None:
        """Wait until every server is ended."""
        await self._background.finish()

    async def _begin(self) -> Held:
        try:
            return await self._start()
        except ThrallError as problem:
            self._backoff.failed(problem)
            raise

    async def _end(self, held: Held) -> None:
        try:
            await held.conversation.close()
        finally:
            self._room.release()
