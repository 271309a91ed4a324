"""HTTP+SSE, the transport of 2024-11-05: one long stream of events, and POSTs to another address.

2024-11-05, "Transports". Later revisions are spoken over it, too.
"""

import time
from collections import deque

from thrall_py.errors import ServerError
from thrall_py.protocol.channel import Label, ReceiveTimeout, Unanswered
from thrall_py.transport.http.connection import Connection, Head, Request
from thrall_py.transport.http.contact import POSTED, Contact, Elsewhere, Stream
from thrall_py.transport.http.url import resolve
from thrall_py.transport.http.waiting import Woken
from thrall_py.transport.sse import Event, EventStream

_LAST_EVENTS = 2.0  # seconds for the answer to a request whose own connection was closed
_ENDPOINT_WAIT = 5.0  # seconds for the first event; a stream of another kind may never bring one


class _Posted:
    """A request whose reply is not heard yet; it is watched beside the stream."""

    def __init__(self, connection: Connection, request: Request) -> None:
        self.connection = connection
        self.request = request
        self.head: Head | None = None
        self.problem: Unanswered | None = None  # there is none

    def fileno(self) -> int:
        """The descriptor that is readable when something has come."""
        return self.connection.fileno()

    def take(self) -> bool:
        """Take the head of the reply, if it has come, or why there will be none."""
        try:
            head = self.connection.take()
        except Unanswered as problem:
            self.problem = problem
        else:
            self.head = head if isinstance(head, Head) else None
        return bool(self.head or self.problem)


class HttpSse(Elsewhere):
    """A Channel over HTTP+SSE.

    The stream is read while the reply to a POST is due: some servers give it only when the tool has
    run, and want their own requests answered meanwhile.
    """

    has_headers = False

    def __init__(self, contact: Contact) -> None:
        self._contact = contact
        self._url = contact.origin.url
        self._outgoing: deque[tuple[bytes, Label]] = deque()
        self._incoming: deque[bytearray] = deque()
        self._stream: Stream | None = None
        self._posted: _Posted | None = None
        self._lost: tuple[float, Unanswered] | None = None  # when to give up, and why
        self._unsent = 0  # bytes of a request for which there is no connection yet
        self._target = ""  # where messages are posted; empty until the server has said it

    def send(self, message: bytes, label: Label, /) -> None:
        """Queue a message; it is posted while `receive` waits."""
        self._outgoing.append((message, label))

    def receive(self, deadline: float) -> bytearray:
        """Post what is queued, and wait for one message, as the Channel says."""
        stream = self._stream or self._open(deadline)
        while not self._incoming:
            if self._outgoing:
                self._post(*self._outgoing.popleft(), deadline)
            else:
                self._listen(stream, deadline)
        return self._incoming.popleft()

    def settle(self) -> None:
        """Go on listening: the stream is for everything."""

    def flush(self, deadline: float) -> None:
        """Post what is queued but for requests."""
        while self._target and self._outgoing and not self._outgoing[0][1].is_request:
            message, _ = self._outgoing.popleft()
            self._contact.tell(Request("POST", self._target, POSTED, message), deadline)

    def unread_by_server(self) -> int:
        """Count what is not on its way; of the rest nobody can know."""
        return self._unsent + sum(len(message) for message, _ in self._outgoing)

    def close(self) -> str:
        """Cancel what is open, and close the stream, which ends the session."""
        self._forget_posted()
        how = self._contact.leave(self.flush)
        if self._stream:
            self._stream.reply.connection.close()
            self._stream = None
        return how

    def _open(self, deadline: float) -> Stream:
        """Open the stream and wait for the address that messages are posted to."""
        opening = Request("GET", self._url.target, (("Accept", "text/event-stream"),))
        patience = min(deadline, time.monotonic() + _ENDPOINT_WAIT)
        try:
            reply = self._contact.origin.request(opening, patience)
            if not self._contact.reader.is_stream(reply):
                self._contact.read(reply, patience)
                what = f"opened no stream of events (status {reply.status})"
                raise Unanswered(what, reply.status)
            self._stream = Stream(reply, EventStream(self._contact.limit))
            while not self._target:
                for event in self._events(self._stream, patience):
                    if event.type == b"endpoint":
                        self._target = self._endpoint(event)
        except ReceiveTimeout:
            if patience == deadline:
                raise
            raise Unanswered("named no endpoint of HTTP+SSE", 200) from None
        return self._stream

    def _endpoint(self, event: Event) -> str:
        found = resolve(self._url, event.data.decode("utf-8", "replace"))
        if found is None or found.origin != self._url.origin:
            raise ServerError("the server names an endpoint that is not of its own origin")
        return found.target

    def _events(self, stream: Stream, deadline: float) -> list[Event]:
        chunk = stream.reply.read(deadline)
        if not chunk:
            raise Unanswered("ended its stream of events")
        return stream.events.feed(chunk)

    def _post(self, message: bytes, label: Label, deadline: float) -> None:
        """Post a message; the reply to it says only that it came, the answer is an event."""
        request = Request("POST", self._target, POSTED, message)
        if label.is_request:
            self._forget_posted()
            self._unsent = len(message)
            self._posted = _Posted(self._contact.origin.start(request, deadline), request)
            self._unsent = 0
        else:
            self._contact.answer(request, deadline)

    def _listen(self, stream: Stream, deadline: float) -> None:
        """Wait for some of the stream, or for the reply to what was posted."""
        patience = min(deadline, self._lost[0]) if self._lost else deadline
        try:
            with self._contact.waiting.watching(self._posted):
                events = self._events(stream, patience)
        except Woken:
            assert self._posted, "nothing else is watched"
            self._hear(self._posted, deadline)
            return
        except ReceiveTimeout:
            if self._lost and patience < deadline:
                raise self._lost[1] from None
            raise
        for event in events:
            if event.type == b"message" and event.data:
                self._incoming.append(event.data)

    def _hear(self, posted: _Posted, deadline: float) -> None:
        """Take the reply to what was posted, or wait a little longer for the answer without one."""
        self._posted = None
        if posted.problem:
            posted.connection.close()
            self._lost = time.monotonic() + _LAST_EVENTS, posted.problem
        if posted.head:
            contact = self._contact
            heard = contact.origin.heard(posted.connection, posted.head)
            reply = contact.origin.finish(heard, posted.request, deadline)
            if reply.is_success:
                contact.origin.release(reply)
            else:
                self._incoming.append(contact.reader.message(reply, contact.read(reply, deadline)))

    def _forget_posted(self) -> None:
        if self._posted:
            self._posted.connection.close()
        self._posted = self._lost = None
