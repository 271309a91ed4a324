"""The sessions of legacy clients over HTTP: who they are, and for how long.

"Session Management" of Streamable HTTP, 2025-03-26 to 2025-11-25; 2026-07-28 has none. There is one
token for the whole gateway, so whoever comes past the gate holds the credential of them all; a
session's id is unguessable on top of it.
"""

import asyncio
import os
from collections.abc import Callable

from thrall_py.gateway.front.clients import Client

_MOST = 1000  # sessions; a client that loses its own begins another
_IDLE = 1800.0  # seconds without a message


class Sessions:
    """The sessions that are open.

    Args:
        clock: tells the time in seconds.

    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._clients: dict[str, tuple[Client, float]] = {}  # the longest idle first

    async def begin(self, client: Client) -> str:
        """Give a client a session; if there are too many, one that is idle ends.

        Returns:
            Its id: 32 hexadecimal digits.

        """
        await self._expire()
        while len(self._clients) >= _MOST:
            await self.end(min(self._clients, key=self._worth))
        id_ = os.urandom(16).hex()
        self._clients[id_] = client, self._clock()
        return id_

    async def find(self, id_: str) -> Client | None:
        """The client with this session; None if there is none, or none any more."""
        await self._expire()
        if id_ not in self._clients:
            return None
        client, _ = self._clients.pop(id_)
        self._clients[id_] = client, self._clock()
        return client

    async def end(self, id_: str) -> bool:
        """End a session, and what its client has open; whether there was one."""
        client, _ = self._clients.pop(id_, (None, 0.0))
        if client:
            await client.close()
        return client is not None

    async def close(self) -> None:
        """End them all."""
        await asyncio.gather(*map(self.end, list(self._clients)))

    async def _expire(self) -> None:
        past = self._clock() - _IDLE
        for id_, (client, seen) in list(self._clients.items()):
            if seen > past:
                break
            if not client.is_busy:
                await self.end(id_)

    def _worth(self, id_: str) -> tuple[bool, float]:
        client, seen = self._clients[id_]
        return client.is_busy, seen
