"""Contact with one server on a URL: what the two transports have in common."""

import contextlib
import time
from collections.abc import Callable
from typing import NamedTuple

from thrall_py.errors import ServerError, ThrallError
from thrall_py.protocol.channel import MessageTooLarge, ReceiveTimeout, Unanswered
from thrall_py.protocol.watcher import NOBODY, Watcher
from thrall_py.redact import Redactor
from thrall_py.transport.endpoint import Endpoint
from thrall_py.transport.http.connection import Request
from thrall_py.transport.http.origin import Origin
from thrall_py.transport.http.reader import Reader
from thrall_py.transport.http.reply import Reply
from thrall_py.transport.http.waiting import Waiting
from thrall_py.transport.interrupts import Interrupts
from thrall_py.transport.sse import EventStream

POSTED = (("Accept", "application/json, text/event-stream"), ("Content-Type", "application/json"))
_PATIENCE = 2.0  # seconds for an answer of ours to be taken
_GOODBYE = 2.0  # seconds at most for each of the last words to a server
_SHORTEST_GOODBYE = 0.2  # seconds, also with no grace: a session that nobody ends lives on


class Stream(NamedTuple):
    """A reply that is a stream, and the events in it."""

    reply: Reply
    events: EventStream


class Elsewhere:
    """A server on a URL, as far as a Channel asks: it has no end that could be seen."""

    def has_ended(self) -> bool:
        """Say no; the next request will tell."""
        return False


class Contact:
    """One server on a URL.

    Args:
        endpoint: where it is.
        interrupts: the signals that end the waiting; entered by the caller.
        redact: makes the server's words fit to be repeated.
        watcher: is told of every connection and every byte.
        grace: seconds for the last words to it, at most.
        limit: bytes of one body or event.

    Attributes:
        waiting: how to wait.
        origin: where requests go.
        reader: what reads the replies.
        limit: as above.

    Raises:
        InputError: the URL, or that of a proxy, is none.

    """

    def __init__(  # noqa: PLR0913 - what is spoken to, and all that surrounds it
        self,
        endpoint: Endpoint,
        interrupts: Interrupts,
        redact: Redactor,
        watcher: Watcher = NOBODY,
        *,
        grace: float,
        limit: int,
    ) -> None:
        self.waiting = Waiting(interrupts)
        self.origin = Origin(endpoint, self.waiting, redact, watcher)
        self.reader = Reader(endpoint, redact, limit)
        self.limit = limit
        self._grace = grace
        self._is_deaf = False  # it lets our answers hang

    def read(self, reply: Reply, deadline: float) -> bytearray:
        """Read the body of a reply and have done with it; raises as `Reader.read_body`."""
        try:
            return self.reader.read_body(reply, deadline)
        finally:
            self.origin.release(reply)

    def tell(self, request: Request, deadline: float) -> int:
        """Send what brings no message; its status, or 0: the next request will tell as well."""
        try:
            reply = self.origin.request(request, deadline)
        except (ServerError, Unanswered):
            return 0
        self.origin.release(reply)
        return reply.status

    def answer(self, request: Request, deadline: float) -> None:
        """Send an answer of ours to the server, which may not keep its own answer waiting."""
        if self._is_deaf:
            return
        try:
            self.tell(request, min(deadline, time.monotonic() + _PATIENCE))
        except ReceiveTimeout:
            self._is_deaf = True

    def leave(self, *goodbyes: Callable[[float], None]) -> str:
        """Let last words be said, each until a deadline of its own, then close all connections."""
        self.waiting.leaving = True
        patience = max(_SHORTEST_GOODBYE, min(self._grace, _GOODBYE))
        for say in goodbyes:
            # Nothing of it is owed, and a server that does not listen is not waited for.
            with contextlib.suppress(ThrallError, Unanswered, ReceiveTimeout, MessageTooLarge):
                say(time.monotonic() + patience)
        self.origin.close()
        return "was left"
