"""Streamable HTTP: every message a POST, the answer in JSON or as a stream of events.

2025-03-26 to 2026-07-28, "Transports". The legacy revisions have sessions, and streams that are
resumed; in 2026-07-28 there is neither, and to close the reply is to cancel the request.
"""

import contextlib
import re
import time
from collections import deque

from thrall_py.errors import ServerError, UnauthorizedError
from thrall_py.protocol import mcp
from thrall_py.protocol.channel import Label, ReceiveTimeout, Unanswered
from thrall_py.transport.http.connection import Connection, Headers, Request
from thrall_py.transport.http.contact import POSTED, Contact, Elsewhere, Stream
from thrall_py.transport.http.reader import forgets_session
from thrall_py.transport.http.reply import Reply
from thrall_py.transport.http.standing import Standing
from thrall_py.transport.http.waiting import Woken
from thrall_py.transport.sse import EventStream

_RETRY = 1.0  # seconds before a broken stream is resumed, if the server does not say
_SHORTEST_RETRY = 0.1  # seconds, whatever the server says
_STANDING_WAIT = 0.3  # seconds for the stream of a GET to begin; it may never
_MOST_RESUMPTIONS = 3  # of a stream, without an event in between
_HEADER_VALUE = re.compile(rb"[!-~\x80-\xff](?:[ -~\x80-\xff]*[!-~\x80-\xff])?")
_SESSION_ID = re.compile(rb"[!-~]+")  # 2025-11-25, "Session Management"


class Streamable(Elsewhere):
    """A Channel over Streamable HTTP.

    Args:
        contact: the server.
        may_ask: whether it may ask the user something, which it may do on a stream of its own.

    Attributes:
        session_id: what the server handed out; empty without a session.
        is_shared: others are in the session as well, so it is not ended.
        farewell: the status of the reply to DELETE, which ends a session; None before, and without.

    """

    has_headers = True

    def __init__(self, contact: Contact, *, may_ask: bool = False) -> None:
        self._contact = contact
        self._may_ask = may_ask
        self._standing: Standing | None = None
        self._unheard: tuple[Connection, Request] | None = None  # whose reply has not begun
        self._outgoing: deque[tuple[bytes, Label]] = deque()
        self._incoming: deque[bytearray] = deque()
        self._stream: Stream | None = None  # of the reply that is being read
        self._label = Label("", "")  # of the last request
        self._is_due = False  # a response to it
        self._has_begun = False  # the server has, to answer it
        self.session_id = b""
        self.is_shared = False
        self._resumptions = 0  # since the last event
        self._posted = b""  # the last request
        self._unsent = 0  # bytes of a call for which there is no connection yet
        self.farewell: int | None = None

    def join(self, session_id: bytes, revision: str) -> None:
        """Go on in a session that somebody else has opened."""
        self.session_id, self._label = session_id, Label("", revision)

    def send(self, message: bytes, label: Label, /) -> None:
        """Queue a message; it is posted while `receive` waits.

        In 2026-07-28 a client has nothing to notify a server of: to cancel is to close.
        """
        if label.is_request or label.revision != mcp.MODERN:
            self._outgoing.append((message, label))

    def receive(self, deadline: float) -> bytearray:
        """Post what is queued, and wait for one message, as the Channel says."""
        try:
            while not self._incoming:
                if self._outgoing:
                    self._post(*self._outgoing.popleft(), deadline)
                else:
                    self._wait(deadline)
        except ReceiveTimeout as problem:
            raise ReceiveTimeout(b"", unsent=problem.unsent and not self._has_begun) from None
        return self._incoming.popleft()

    def _wait(self, deadline: float) -> None:
        """Wait for something to come, of the reply or on the standing stream."""
        with contextlib.suppress(Woken):
            if self._unheard:
                self._hear(*self._unheard, deadline)
            elif self._stream:
                self._listen(self._stream, deadline)
            elif self._is_due:
                raise Unanswered("answered without a response", 200)
            else:
                with self._watching():
                    self._contact.waiting.until(deadline)

    def settle(self) -> None:
        """Have done with the stream that brought the response."""
        self._is_due = False
        self._end_stream()

    def unread_by_server(self) -> int:
        """Count what is not on its way; of the rest nobody can know."""
        return self._unsent + sum(len(message) for message, _ in self._outgoing)

    def flush(self, deadline: float) -> None:
        """Post what is queued but for requests, whose replies `receive` waits for."""
        while self._outgoing and not self._outgoing[0][1].is_request:
            message, label = self._outgoing.popleft()
            post = self._contact.tell if label.method else self._contact.answer
            post(self._told(message, label), deadline)
            if self._may_ask and label.method == "notifications/initialized":
                self._open_standing(label, deadline)

    def close(self) -> str:
        """Cancel what is open, end the session, and close all connections."""
        self._end_stream()
        self._end_standing()
        return self._contact.leave(self.flush, self._end_session)

    def _end_session(self, deadline: float) -> None:
        if self.session_id and not self.is_shared:
            headers = self._headers(self._label)
            self.session_id = b""
            goodbye = Request("DELETE", self._contact.origin.url.target, headers)
            self.farewell = self._contact.tell(goodbye, deadline)

    # -- one request ---------------------------------------------------------------------------

    def _post(self, message: bytes, label: Label, deadline: float) -> None:
        if not label.is_request:
            self._contact.answer(self._told(message, label), deadline)
            return
        self._end_stream()
        self._posted = message
        self._label, self._is_due, self._has_begun = label, True, False
        if label.method == "initialize":
            self.session_id = b""
        origin = self._contact.origin
        headers = (*POSTED, *self._headers(label))
        request = Request("POST", origin.url.target, headers, message)
        if label.method == mcp.TOOLS_CALL:
            self._unsent = len(message)
            self._unheard = origin.start(request, deadline), request
            self._unsent = 0
            return
        reply = origin.request(request, deadline)
        self._has_begun = True
        self._take(reply, deadline)

    def _hear(self, connection: Connection, request: Request, deadline: float) -> None:
        """Wait for the reply to what runs a tool; meanwhile the server may ask something."""
        with self._watching():
            head = connection.head(deadline)
        self._unheard = None
        self._has_begun = True
        origin = self._contact.origin
        self._take(origin.finish(origin.heard(connection, head), request, deadline), deadline)

    def _told(self, message: bytes, label: Label) -> Request:
        """The POST of what brings no message."""
        headers = (*POSTED, *self._headers(label))
        return Request("POST", self._contact.origin.url.target, headers, message)

    def _take(self, reply: Reply, deadline: float) -> None:
        """Take the reply to a request."""
        if self._label.method == "initialize" and reply.is_success:
            given = reply.header("mcp-session-id").encode("latin-1")
            self.session_id = given if _SESSION_ID.fullmatch(given) else b""
        reader = self._contact.reader
        if reader.is_stream(reply):
            self._resumptions = 0
            self._stream = Stream(reply, EventStream(self._contact.limit))
            return
        body = self._contact.read(reply, deadline)
        if self.session_id and forgets_session(reply, body, self._posted):
            self.session_id = b""
            what = f"does not know the session any more (status {reply.status})"
            raise Unanswered(what, reply.status, session_lost=True)
        self._incoming.append(reader.message(reply, body))

    def _headers(self, label: Label) -> Headers:
        headers: list[tuple[str, str | bytes]] = []
        if label.revision:
            headers.append(("MCP-Protocol-Version", label.revision))
        if label.revision == mcp.MODERN:
            headers += [("Mcp-Method", label.method), *label.mirrored.items()]
        elif self.session_id:
            headers.append(("Mcp-Session-Id", self.session_id))
        return headers

    # -- a stream of events --------------------------------------------------------------------

    def _listen(self, stream: Stream, deadline: float) -> None:
        """Wait for some more of a stream; one that ends too early is resumed, if that is possible.

        What is no message is an event for other programs, or primes the client with an id.
        """
        try:
            with self._watching():
                chunk = stream.reply.read(deadline)
        except Unanswered as problem:
            self._resume(stream, problem, deadline)
            return
        if not chunk:
            early = Unanswered("ended its stream of events without a response", 200)
            self._resume(stream, early, deadline)
        for event in stream.events.feed(chunk):
            self._resumptions = 0
            if event.type == b"message" and event.data:
                self._incoming.append(event.data)

    def _resume(self, stream: Stream, why: Unanswered, deadline: float) -> None:
        """Go on with a stream behind its last event (2025-11-25, "Resumability and Redelivery")."""
        self._end_stream()
        events = stream.events
        if self._label.revision == mcp.MODERN or not _HEADER_VALUE.fullmatch(events.last_id):
            raise why
        reply = self._reply_to_resumption(events, why, deadline)
        if not self._contact.reader.is_stream(reply):
            try:
                self._contact.read(reply, deadline)
            except UnauthorizedError as problem:
                raise UnauthorizedError(str(problem), is_late=True) from None
            what = f"does not let its stream of events be resumed (status {reply.status})"
            raise Unanswered(what, reply.status)
        self._stream = Stream(reply, EventStream(self._contact.limit, events.last_id))
        self._stream.events.retry = events.retry

    def _reply_to_resumption(self, events: EventStream, why: Unanswered, deadline: float) -> Reply:
        origin, waiting = self._contact.origin, self._contact.waiting
        headers = (("Accept", "text/event-stream"), ("Last-Event-ID", events.last_id))
        resuming = Request("GET", origin.url.target, (*headers, *self._headers(self._label)))
        retry = _RETRY if events.retry is None else max(events.retry, _SHORTEST_RETRY)
        while self._resumptions < _MOST_RESUMPTIONS:
            self._resumptions += 1
            waiting.sleep(min(deadline, time.monotonic() + retry))
            with contextlib.suppress(ServerError, Unanswered):  # perhaps it is just restarting
                return origin.request(resuming, deadline)
        raise why

    def _end_stream(self) -> None:
        if self._unheard:
            self._unheard[0].close()
            self._unheard = None
        if self._stream:
            self._contact.origin.release(self._stream.reply)
            self._stream = None

    # -- the standing stream -------------------------------------------------------------------

    def _open_standing(self, label: Label, deadline: float) -> None:
        """Ask for the stream; a moment passes for it to stand: what is sent before may be lost."""
        self._end_standing()
        contact = self._contact
        origin, limit = contact.origin, contact.limit
        headers = (("Accept", "text/event-stream"), *self._headers(label))
        patience = min(deadline, time.monotonic() + _STANDING_WAIT)
        with contextlib.suppress(ServerError, ReceiveTimeout):
            connection = origin.start(Request("GET", origin.url.target, headers), patience)
            self._standing = Standing(connection, origin.heard, limit, self._incoming.append)
            while self._standing.is_awaited:
                contact.waiting.until(patience, self._standing.fileno())
                self._standing.take()

    def _end_standing(self) -> None:
        if self._standing:
            self._standing.close()
            self._standing = None

    def _watching(self) -> contextlib.AbstractContextManager[None]:
        return self._contact.waiting.watching(self._standing)
