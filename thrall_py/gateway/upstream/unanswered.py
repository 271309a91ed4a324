"""The requests of one conversation that have no response yet, under ids of our own."""

import asyncio
from collections.abc import Iterator
from typing import NamedTuple

from thrall_py.errors import ThrallError
from thrall_py.gateway.listener import Listener
from thrall_py.gateway.upstream.request import Request
from thrall_py.protocol import matching, wire


class _Open(NamedTuple):
    listener: Listener | None
    response: asyncio.Future[wire.Message]


class Unanswered:
    """The requests that are open.

    Args:
        ids: for requests. Who shares a session shares them: one that was used is never used again
            (revisions before 2026-07-28, "Base Protocol").

    Attributes:
        methods: of those without a response, by their ids.

    """

    def __init__(self, ids: Iterator[int]) -> None:
        self.methods: dict[matching.Id, str] = {}
        self._ids = ids
        self._last_id = 0
        self._open: dict[matching.Id, _Open] = {}

    def begin(self, request: Request) -> tuple[int, asyncio.Future[wire.Message]]:
        """Open a request: its id, and what its response will be."""
        id_ = self._last_id = next(self._ids)
        response: asyncio.Future[wire.Message] = asyncio.get_running_loop().create_future()
        self.methods[id_] = request.method
        self._open[id_] = _Open(request.listener, response)
        return id_, response

    def end(self, id_: int) -> None:
        """Take note that nobody waits for the response any more."""
        self.methods.pop(id_, None)
        response = self._open.pop(id_).response
        if not response.cancel() and not response.cancelled():
            response.exception()  # somebody has looked at it, or is not there any more

    def respond(self, id_: matching.Id, outcome: wire.Message | ThrallError) -> None:
        """Hand over the response, or why there is none."""
        del self.methods[id_]
        response = self._open[id_].response
        if response.done():
            return  # its request is being given up
        if isinstance(outcome, ThrallError):
            # Who has raised it until now is of no interest, and would be kept by it.
            response.set_exception(outcome.with_traceback(None))
        else:
            response.set_result(outcome)

    def has_used(self, id_: int) -> bool:
        """Tell whether an id may be that of a request that is over."""
        return id_ <= self._last_id

    def listener(self, id_: object) -> Listener | None:
        """Find who made a request that has no response."""
        return self._open[id_].listener if isinstance(id_, int) and id_ in self.methods else None

    def listeners(self) -> list[Listener]:
        """All who made such requests; none for those of our own."""
        found = [self._open[id_].listener for id_ in self.methods]
        return [listener for listener in found if listener]
