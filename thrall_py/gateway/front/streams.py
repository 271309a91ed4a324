"""The reply to one POST: JSON if the outcome comes first, an event stream otherwise.

A client has to accept both (Streamable HTTP, "Sending Messages to the Server", all revisions), so
what to send is decided late: at the first message that stands before the outcome, or when the
silence has lasted so long that something between us and the client could give up. From there on
the status is 200 whatever comes.
"""

import asyncio
import contextlib
import functools
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from starlette.types import Receive, Scope, Send

from thrall_py.gateway.core import envelope
from thrall_py.gateway.core.incoming import Malformed, Request
from thrall_py.gateway.front import ladder
from thrall_py.gateway.front.clients import Client
from thrall_py.gateway.front.unread import Unread

_SILENCE = 2.0  # seconds before the reply becomes an event stream
_HEARTBEAT = 15.0  # seconds between two signs of life in it
_UNREAD = 4 << 20  # characters that wait for a client that does not read
_PIECE = 1 << 18  # bytes that are handed over at a time; each has the client's whole patience

_JSON = [(b"content-type", b"application/json")]
_EVENTS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),  # nginx would hold events back
]
_ALIVE = ": working\n\n"
_TOO_MUCH = envelope.error(
    envelope.INTERNAL_ERROR,
    "the answer is too large while so many replies are not read: read them, and call again",
)


class Outgoing:
    """What goes out in one reply, in order; nothing more once it is closed.

    Args:
        unread: what waits in all replies.

    Attributes:
        is_closed: the requests are answered, or the client is gone.
        is_stream: something stands before the responses.

    """

    def __init__(self, unread: Unread) -> None:
        self.is_closed = False
        self.is_stream = False
        self._unread = unread
        self._counted = 0  # of what is counted there, what is ours
        self._waiting: list[str] = []
        self._size = 0
        self._news = asyncio.Event()
        self._decided = asyncio.Event()

    def put(self, message: str) -> None:
        """Send a notification or a request; it is lost if the client does not read, or is gone."""
        if self.is_closed or self._size > _UNREAD or self._unread.is_full:
            return
        self.is_stream = True
        self._decided.set()
        self._add(message)

    def respond(self, id_: str, outcome: str) -> None:
        """Send a response; `outcome` is its `"result"` or `"error"` member."""
        if not self.is_closed:
            told = outcome if self._unread.has_room(len(outcome)) else _TOO_MUCH
            self._add(f'{{"jsonrpc":"2.0","id":{id_},{told}}}')

    def close(self) -> None:
        """Take nothing more."""
        self.is_closed = True
        self._decided.set()
        self._news.set()

    def take(self) -> list[str]:
        """What has come since the last time."""
        taken, self._waiting, self._size = self._waiting, [], 0
        if not self.is_closed:
            self._news.clear()
        return taken

    def sent(self) -> None:
        """What was taken is on its way, so that it need not be counted any more."""
        self._unread.add(self._size - self._counted)
        self._counted = self._size

    def drop(self) -> None:
        """Close, and forget what waits."""
        self.close()
        self.take()
        self.sent()

    async def decided(self) -> None:
        """Wait until it is known what kind of reply this is, at most as long as is wise."""
        await _within(_SILENCE, self._decided)

    async def news(self) -> None:
        """Wait until there is something to take, or time for a sign of life."""
        await _within(_HEARTBEAT, self._news)

    def _add(self, message: str) -> None:
        self._waiting.append(message)
        self._size += len(message)
        self._counted += len(message)
        self._unread.add(len(message))
        self._news.set()


Answering = Callable[[Request, Outgoing], Awaitable[str]]


class Manner(NamedTuple):
    """How a revision wants the reply.

    Attributes:
        status: the HTTP status that goes with a reply in JSON, from its outcome.
        is_batch: the POST was an array, and so is a reply in JSON.
        ends_with_client: a client that closes the reply cancels.

    """

    status: Callable[[str], int]
    is_batch: bool = False
    ends_with_client: bool = False


def _always_ok(_: str) -> int:
    return 200


# In the revisions with sessions "disconnection SHOULD NOT be interpreted as the client cancelling".
LEGACY = Manner(_always_ok)
BATCH = Manner(_always_ok, is_batch=True)  # 2025-03-26
MODERN = Manner(ladder.status, ends_with_client=True)  # 2026-07-28


class Reply:
    """Runs the requests of one POST, and replies with what becomes of them. An ASGI application.

    Args:
        client: whose requests they are.
        outgoing: the way to the client.
        requests: at least one; what is malformed among them is told so.
        answer: makes the outcome of one: a `"result"` or `"error"` member as JSON text; what the
            client is to see before goes to the `Outgoing`. It is cancelled when the client wants.
        manner: of the reply.

    """

    def __init__(
        self,
        client: Client,
        outgoing: Outgoing,
        requests: Sequence[Request | Malformed],
        answer: Answering,
        manner: Manner,
    ) -> None:
        self._client = client
        self._requests = requests
        self._answer = answer
        self._manner = manner
        self._outgoing = outgoing
        self._status: int | None = None  # of the first response

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI
        """Reply, until everything is sent or the client is gone."""
        working = asyncio.create_task(self._work())
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.ensure_future(receive())  # the body was read: what comes now is the end
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._outgoing.drop()
            for task in (working, sending, leaving):
                task.cancel()
            if self._manner.ends_with_client:
                await self._client.close()
            await asyncio.wait({working, sending, leaving})
        if not sending.cancelled():
            sending.result()

    async def _work(self) -> None:
        """Start work on the requests, and wait for it; it goes on if the wait is cancelled."""
        tasks: list[asyncio.Task[None]] = []

        def start(request: Request) -> asyncio.Task[None]:
            tasks.append(asyncio.create_task(self._run(request)))
            return tasks[-1]

        for request in self._requests:
            if isinstance(request, Malformed):
                self._respond(request.id, envelope.error(request.code, request.message))
                continue
            refused = self._client.begin(request, functools.partial(start, request))
            if refused:
                self._respond(request.id, f'"error":{refused.error}')
        if tasks:
            await asyncio.wait(tasks)
        self._outgoing.close()

    async def _run(self, request: Request) -> None:
        self._respond(request.id, await self._answer(request, self._outgoing))

    def _respond(self, id_: str, outcome: str) -> None:
        if self._status is None:
            self._status = self._manner.status(outcome)
        self._outgoing.respond(id_, outcome)

    async def _send(self, send: Send) -> None:
        await self._outgoing.decided()
        if self._outgoing.is_stream or not self._outgoing.is_closed or self._status is None:
            await self._send_events(send)
        else:
            await self._send_json(send, self._status)

    async def _send_json(self, send: Send, status: int) -> None:
        messages = ",".join(self._outgoing.take())
        body = f"[{messages}]" if self._manner.is_batch else messages
        length = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": _JSON + length})
        await _send_pieces(send, body)
        await send({"type": "http.response.body"})

    async def _send_events(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": _EVENTS})
        is_last = False
        while not is_last:
            await self._outgoing.news()
            is_last = self._outgoing.is_closed
            events = "".join(f"data: {message}\n\n" for message in self._outgoing.take())
            await _send_pieces(send, events or ("" if is_last else _ALIVE))
            self._outgoing.sent()
        await send({"type": "http.response.body"})


async def _send_pieces(send: Send, text: str) -> None:
    for at in range(0, len(text), _PIECE):
        piece = text[at : at + _PIECE].encode("latin-1")  # the whole is not copied once more
        await send({"type": "http.response.body", "body": piece, "more_body": True})


async def _within(seconds: float, event: asyncio.Event) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
