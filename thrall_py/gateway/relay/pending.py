"""Calls of modern clients that wait for their answers, each under a state that nobody can guess.

A modern server asks by a result, `input_required`, and the client calls again with its answers
(2026-07-28, "Multi Round-Trip Requests"); what waits meanwhile is a call of a legacy server.
"""

import asyncio
import os
from typing import Generic, NamedTuple, Protocol, TypeVar

MARK = "thrall-"  # what every state of ours begins with, so that none is taken for a server's
_RANDOM = 32  # bytes
EXPIRY = 300.0  # seconds that a client may take to answer
_MOST = 256  # calls
_SHARE = 64  # calls of one client


class Suspended(Protocol):
    """A call that waits."""

    @property
    def owner(self) -> str:
        """Whose it is (`Caller.owner`)."""

    @property
    def binding(self) -> str:
        """Of which client's and which request's it is: its state is good for no other."""

    def abandon(self) -> None:
        """Cancel it: nobody will come back for it."""


_Call = TypeVar("_Call", bound=Suspended)


class _Place(NamedTuple, Generic[_Call]):
    call: _Call
    expiry: asyncio.TimerHandle


class Pending(Generic[_Call]):
    """All that wait.

    Args:
        expiry: seconds after which a call is abandoned.

    """

    def __init__(self, expiry: float = EXPIRY) -> None:
        self._expiry = expiry
        self._places: dict[str, _Place[_Call]] = {}

    def has_place(self, owner: str) -> bool:
        """Tell whether one more of a client may wait."""
        of_owner = sum(place.call.owner == owner for place in self._places.values())
        return len(self._places) < _MOST and of_owner < _SHARE

    def suspend(self, call: _Call) -> str:
        """Let a call wait; the state under which its client will come back."""
        state = MARK + os.urandom(_RANDOM).hex()
        loop = asyncio.get_running_loop()
        self._places[state] = _Place(call, loop.call_later(self._expiry, self._expire, state))
        return state

    def resume(self, state: str, binding: str) -> _Call | None:
        """Hand a call back, once; None if the state is not that of this client and request."""
        place = self._places.get(state)
        if place is None or place.call.binding != binding:
            return None
        place.expiry.cancel()
        del self._places[state]
        return place.call

    def close(self) -> None:
        """Abandon all."""
        for state in list(self._places):
            self._expire(state)

    def _expire(self, state: str) -> None:
        place = self._places.pop(state)
        place.expiry.cancel()
        place.call.abandon()
