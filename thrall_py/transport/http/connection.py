"""HTTP/1.1 on one connection: a request, the head of its reply, its body piece by piece."""

import contextlib
from collections.abc import Sequence
from typing import NamedTuple

import h11

from thrall_py.protocol.channel import Unanswered
from thrall_py.transport.http.link import Link

_HEAD_LIMIT = 1 << 16  # bytes of a status line and headers
_SUCCESSES = range(200, 300)
_SPARE_READS = 16  # chunks of a reply that are worth reading to keep a connection

Headers = Sequence[tuple[str, str | bytes]]


class Request(NamedTuple):
    """One request; `target` is its path and query, or what else its first line names."""

    method: str
    target: str
    headers: Headers = ()
    body: bytes = b""


class Head(NamedTuple):
    """The beginning of a reply; the names of its headers are in lower case."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]

    @property
    def is_success(self) -> bool:
        """Whether the status is one of success."""
        return self.status in _SUCCESSES


class Connection:
    """Speaks HTTP over a link: one exchange at a time, the next when the reply has been read."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEAD_LIMIT)
        self._exchanges = 0
        self._heard = False  # something of the reply has come
        self._ended = False  # the server will say no more

    @property
    def is_stale(self) -> bool:
        """Whether the server had closed it idle, it seems: it said nothing to a later request."""
        return self._exchanges > 1 and not self._heard

    def exchange(self, request: Request, deadline: float) -> Head:
        """Send a request and wait for the head of its reply; raises as `head`."""
        self.begin(request, deadline)
        return self.head(deadline)

    def begin(self, request: Request, deadline: float) -> None:
        """Send a request.

        Raises:
            ReceiveTimeout, Interrupted: as the link says.

        """
        self._exchanges += 1
        self._heard = False
        with contextlib.suppress(OSError):  # what it says against the request may have come before
            self._send(request, deadline)

    def head(self, deadline: float) -> Head:
        """Wait for the head of a reply; after Woken it can be waited for again.

        Raises:
            Unanswered: there is none, or what came is no HTTP.
            ReceiveTimeout, Interrupted, Woken: as the link says.

        """
        event = self._next_event(deadline)
        while isinstance(event, h11.InformationalResponse):
            event = self._next_event(deadline)
        return _head(event)

    def read(self, deadline: float) -> bytes:
        """Wait for some of the reply's body; none at its end.

        Raises:
            Unanswered: it breaks off, or is no HTTP.
            ReceiveTimeout, Interrupted, Woken: as the link says.

        """
        if self._http.their_state is not h11.SEND_BODY:
            return b""
        event = self._next_event(deadline)
        return bytes(event.data) if isinstance(event, h11.Data) else b""

    def take(self) -> Head | bytes | None:
        """Take the head of a reply, or some of its body, if that has come; no bytes at its end.

        Raises:
            Unanswered: it breaks off, or is no HTTP.

        """
        while (event := self._event()) is h11.NEED_DATA:
            try:
                chunk = self._link.receive_now()
            except OSError:
                chunk = b""
            if chunk is None:
                return None
            self._feed(chunk)
        if isinstance(event, h11.Response):
            return _head(event)
        return bytes(event.data) if isinstance(event, h11.Data) else b""

    def fileno(self) -> int:
        """The descriptor that is readable when there may be something to take."""
        return self._link.fileno()

    def make_ready(self) -> bool:
        """Prepare for another exchange, without waiting; whether that is possible."""
        try:
            for _ in range(_SPARE_READS):
                if self._http.next_event() is not h11.NEED_DATA:
                    continue
                chunk = self._link.receive_now()
                if chunk is None:
                    break
                self._http.receive_data(chunk)
            self._http.start_next_cycle()
        except (OSError, h11.ProtocolError):  # it goes on, or one of us has said to close
            return False
        return not self._http.trailing_data[0]  # more than the reply

    def is_open(self) -> bool:
        """Whether an idle connection is still there, as far as can be told."""
        try:
            return self._link.receive_now() is None
        except OSError:
            return False

    def close(self) -> None:
        """Close it."""
        self._link.close()

    def _send(self, request: Request, deadline: float) -> None:
        headers = [
            (name.encode(), value if isinstance(value, bytes) else value.encode())
            for name, value in request.headers
        ]
        head = h11.Request(method=request.method, target=request.target, headers=headers)
        self._link.send(self._http.send(head) or b"", deadline)
        if request.body:
            self._link.send(self._http.send(h11.Data(data=request.body)) or b"", deadline)
        self._link.send(self._http.send(h11.EndOfMessage()) or b"", deadline)

    def _next_event(self, deadline: float) -> h11.Event:
        while not isinstance(event := self._event(), h11.Event):
            try:
                chunk = self._link.receive(deadline)
            except OSError:
                chunk = b""
            self._feed(chunk)
        return event

    def _event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        try:
            return self._http.next_event()
        except h11.RemoteProtocolError:
            raise Unanswered(self._failure()) from None

    def _feed(self, chunk: bytes) -> None:
        self._heard |= bool(chunk)
        self._ended |= not chunk
        self._http.receive_data(chunk)

    def _failure(self) -> str:
        if not self._ended:
            return "sent what is no HTTP/1.1"
        if self._http.their_state is h11.SEND_BODY or self._heard:
            return "closed the connection in the middle of its answer"
        return "closed the connection without an answer"


def _head(event: h11.Event) -> Head:
    assert isinstance(event, h11.Response), "h11 lets nothing else come first"
    return Head(event.status_code, tuple(event.headers))
