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
        limit: bytes of one event.
        deliver: gets each message.

    Attributes:
        is_awaited: whether the server has said neither yes nor no.

    """

    def __init__(
        self, connection: Connection, limit: int, deliver: Callable[[bytearray], None]
    ) -> None:
        self.is_awaited = True
        self._connection: Connection | None = connection
        self._events = EventStream(limit)
        self._deliver = deliver

    def fileno(self) -> int:
        """The descriptor that is readable when something has come; -1 when it is closed."""
        return self._connection.fileno() if self._connection else -1

    def take(self) -> bool:
        """Take what has come, without waiting; whether there was a message in it."""
        delivered = False
        try:
            while self._connection and (piece := self._connection.take()) is not None:
                delivered |= self._take(self._connection, piece)
        except (Unanswered, MessageTooLarge):
            self.close()
        return delivered

    def close(self) -> None:
        """Close it."""
        self.is_awaited = False
        if self._connection:
            self._connection.close()
            self._connection = None

    def _take(self, connection: Connection, piece: Head | bytes) -> bool:
        if isinstance(piece, Head):
            self.is_awaited = False
            reply = Reply(connection, piece)
            if reply.status != _OK or reply.media_type != _EVENTS or reply.is_compressed:
                self.close()
            return False
        if not piece:
            self.close()
        delivered = False
        for event in self._events.feed(piece):
            if event.type == b"message" and event.data:
                self._deliver(event.data)
                delivered = True
        return delivered
