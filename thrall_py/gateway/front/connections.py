"""One connection of a client, cut when it costs more than it may.

uvicorn reads HTTP with h11 and waits as long as a client pleases: for the head of a request, and
until a reply is read. Both end here, as does the number of connections.
"""

import asyncio
import resource

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from thrall_py.gateway.front import head

_HEAD = 60  # seconds for the head of a request, and between two requests
_LEAVING = 2  # seconds for the replies to a client that has closed its side
_UNREAD = 30  # seconds in which a client reads nothing of what it is sent
_MOST = 2048  # connections at once, if the system has as many descriptors and as many again
_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\n"
    b"content-length: 0\r\nretry-after: 1\r\nconnection: close\r\n\r\n"
)


class Connection(H11Protocol):
    """A connection with deadlines. What it cuts it aborts: closing would wait until all is read.

    Attributes:
        most: how many there may be at once.

    """

    # typing.override, which mypy asks for, is there from Python 3.12 on.

    most = _MOST
    _head: asyncio.TimerHandle | None = None
    _leaving: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override, explicit-override]
        """Begin to wait for a request, or send the client away if there are too many."""
        super().connection_made(transport)
        self._head = self.loop.call_later(_HEAD, transport.abort)
        if len(self.connections) > self.most:
            transport.write(_BUSY)
            transport.close()

    def handle_events(self) -> None:  # type: ignore[explicit-override]
        """Look at what has come; wait for a request if there is none now."""
        if self.conn.their_state is h11.IDLE and head.is_ambiguous(self.conn.trailing_data[0]):
            self.send_400_response(
                "Send one Content-Length, or chunks; fold no header; end lines with CR LF."
            )
            return
        super().handle_events()
        # Before the first request there is none, whatever uvicorn's type says.
        if self.cycle is not None and not self.cycle.response_complete:  # type: ignore[redundant-expr]
            _stop(self._head)
            self._head = None
        elif self._leaving:
            self.transport.close()
        elif self._head is None:
            self._head = self.loop.call_later(_HEAD, self.transport.abort)

    def eof_received(self) -> bool:  # type: ignore[override, explicit-override]
        """Have what is asked answered when the client sends no more; true to stay open for that.

        It may still read, or be gone altogether, which cancels the calls of 2026-07-28 ("Streamable
        HTTP"): which it is only time can tell.
        """
        _stop(self._leaving)  # who reads on behind the end is told of it again
        self._leaving = self.loop.call_later(_LEAVING, self.transport.close)
        # As above.
        return self.cycle is not None and not self.cycle.response_complete  # type: ignore[redundant-expr]

    def pause_writing(self) -> None:  # type: ignore[explicit-override]
        """Begin to wait for the client to read."""
        super().pause_writing()
        self._unread = self.loop.call_later(_UNREAD, self.transport.abort)

    def resume_writing(self) -> None:  # type: ignore[explicit-override]
        """The client has read enough to be sent more."""
        super().resume_writing()
        _stop(self._unread)
        self._unread = None

    def connection_lost(self, exc: Exception | None) -> None:  # type: ignore[explicit-override]
        """Wait for nothing more."""
        for timer in (self._head, self._leaving, self._unread):
            _stop(timer)
        super().connection_lost(exc)


def make_room() -> None:
    """Let this process have as many descriptors as all connections and their servers may need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * _MOST if hard == resource.RLIM_INFINITY else min(2 * _MOST, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    Connection.most = min(_MOST, max(soft, wanted) // 2)


def _stop(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
