"""What a legacy server asks while calls are open, and whose call that can be.

On a shared pipe a request of the server's does not say which call it belongs to. If all that are
open, or were given up and may still be worked on, are one client's, it is that client's; otherwise
nobody is asked. A form that one client's call needs is never shown to another.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from thrall_py.gateway.core.envelope import INTERNAL_ERROR, LEVELS, error
from thrall_py.gateway.listener import Listener
from thrall_py.gateway.upstream.pausing import Pausing
from thrall_py.protocol import mcp, wire
from thrall_py.protocol.jsontext import JsonError, Value, decode, scan

ASKABLE = (mcp.ELICITATION, "sampling/createMessage")  # roots are not declared
_UNCLEAR = (
    "calls of several clients may be meant, so nobody is asked: call again, or serve with --isolate"
)
_MOST_ASKED = 16  # questions of one server that are open at once
_LARGEST = 1 << 20  # bytes of a notification, or a question, that is looked into


class _Asked(NamedTuple):
    id: Value
    listener: Listener
    task: asyncio.Task[None]


class Questions:
    """The requests of one server that are open.

    Args:
        reply: sends a reply: the id as it came, and a member as JSON text.

    """

    def __init__(self, reply: Callable[[Value, str], None]) -> None:
        self._reply = reply
        self._asked: dict[str, _Asked] = {}

    def take(
        self, message: wire.Message, listener: Listener | None, clocks: Sequence[Pausing]
    ) -> None:
        """Answer a request of the server's, or have its client answer it.

        Args:
            message: the request.
            listener: who can be asked; None if that is not clear.
            clocks: those of the calls that are open.

        """
        assert message.id, "a request has one"
        if message.method == "ping":
            self._reply(message.id, '"result":{}')
        elif message.method not in ASKABLE or not clocks:
            self._reply(message.id, error(mcp.METHOD_NOT_FOUND, "Method not found"))
        elif listener is None:
            self._reply(message.id, error(INTERNAL_ERROR, _UNCLEAR))
        elif len(self._asked) >= _MOST_ASKED or message.id.text in self._asked:
            self._reply(message.id, error(INTERNAL_ERROR, "too many requests are open"))
        else:
            task = asyncio.create_task(self._ask(listener, message))
            self._asked[message.id.text] = _Asked(message.id, listener, task)
            for clock in clocks:
                clock.stop()
                task.add_done_callback(clock.go_on)

    def withdraw(self, id_: Value | None) -> None:
        """Take note that the server does not want to know any more ("Cancellation")."""
        if id_ and id_.text in self._asked:
            self._asked.pop(id_.text).task.cancel()

    def forget(self, listener: Listener) -> None:
        """Ask a client nothing more whose call is over."""
        for asked in list(self._asked.values()):
            if asked.listener is listener:
                asked.task.cancel()
                self._end(asked.id, error(INTERNAL_ERROR, "the call is over"))

    def close(self) -> None:
        """Ask nobody anything more."""
        for asked in self._asked.values():
            asked.task.cancel()
        self._asked.clear()

    async def _ask(self, listener: Listener, message: wire.Message) -> None:
        assert message.id, "see above"
        assert message.method, "see above"
        try:
            outcome = await listener.asked(message.method, message.params)
        except Exception:  # a fault of ours; the server waits for a reply all the same
            self._end(message.id, error(INTERNAL_ERROR, "the client could not be asked"))
            raise
        self._end(message.id, decode(outcome))

    def _end(self, id_: Value, outcome: str) -> None:
        del self._asked[id_.text]
        self._reply(id_, outcome)


def look_into(params: Value | None) -> Value | None:
    """Look into the params of a notification; None if they are no object, or too large for one."""
    if params is None or params.first != "{" or params.end - params.start > _LARGEST:
        return None
    try:
        return scan(params.text, {})
    except JsonError:
        return None


def severity(level: str) -> int:
    """Rank a log level; what is none ranks above all of them."""
    return LEVELS.index(level) if level in LEVELS else len(LEVELS)
