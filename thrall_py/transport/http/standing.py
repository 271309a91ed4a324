"""The stream of a GET, on which a legacy server sends what belongs to no request of ours.

2025-03-26 to 2025-11-25, "Listening for Messages from the Server". A server need not have one, so
nothing is ever waited for: what goes wrong with it only closes it.
"""

from collections.abc import Callable

from thrall_py.protocol.channel import MessageTooLarge, Unanswered
from thrall_py.transport.http.connection import Connection, Head
from thrall_py.transport.http.reply import Reply
from thrall_py.transport.sse import EventStream

_OK = 200
_EVENTS = "text/event-stream"


class Standing:
    """Takes messages from a stream that was asked for.

    Args:
        connection: on which it was asked for.
        heard: makes the reply of its head, and tells who follows.
        limit: bytes of one event.
        deliver: gets each message.

    Attributes:
        is_awaited: whether the server has said neither yes nor no.

    """

    def __init__(
        self,
        connection: Connection,
        heard: Callable[[Connection, Head], Reply],
        limit: int,
        deliver: Callable[[bytearray], None],
    ) -> None:
        self.is_awaited = True
        self._connection: Connection | None = connection
        self._heard = heard
        self._reply: Reply | None = None
        self._events = EventStream(limit)
        self._deliver = deliver

    def fileno(self) -> int:
        """The descriptor that is readable when something has come; -1 when it is closed."""
        return self._connection.fileno() if self._connection else -1

    def take(self) -> bool:
        """Take what has come, without waiting; whether there was a message in it."""
        delivered = False
        try:
            if self._connection and not self._reply:
                self._begin(self._connection)
            while self._reply and (piece := self._reply.take()) is not None:
                delivered |= self._take(piece)
        except (Unanswered, MessageTooLarge):
            self.close()
        return delivered

    def close(self) -> None:
        """Close it."""
        self.is_awaited = False
        if self._reply:
            self._reply.leave()
            self._reply = None
        if self._connection:
            self._connection.close()
            self._connection = None

    def _begin(self, connection: Connection) -> None:
        """Take the head, if it has come."""
        head = connection.take()
        if not isinstance(head, Head):
            return
        self.is_awaited = False
        self._reply = reply = self._heard(connection, head)
        if reply.status != _OK or reply.media_type != _EVENTS or reply.is_compressed:
            self.close()

    def _take(self, piece: bytes) -> bool:
        if not piece:
            self.close()
        delivered = False
        for event in self._events.feed(piece):
            if event.type == b"message" and event.data:
                self._deliver(event.data)
                delivered = True
        return delivered
