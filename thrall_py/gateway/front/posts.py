"""What clients post, in both eras: who they are, and which reply becomes of it."""

import asyncio
import functools
import itertools
import weakref
from collections.abc import Awaitable, Callable

from starlette.responses import Response
from starlette.types import ASGIApp

from thrall_py.gateway.caller import Facts
from thrall_py.gateway.core import envelope, incoming
from thrall_py.gateway.core.incoming import Incoming, Malformed
from thrall_py.gateway.core.offer import Offer
from thrall_py.gateway.front import ladder
from thrall_py.gateway.front.clients import Client, Exchange
from thrall_py.gateway.front.ladder import Posted, Refusal
from thrall_py.gateway.front.sessions import Sessions
from thrall_py.gateway.front.streams import BATCH, LEGACY, MODERN, Outgoing, Reply
from thrall_py.gateway.front.unread import Unread
from thrall_py.protocol import mcp

_SESSION = "mcp-session-id"
# Of no specification; the official servers answer with these, and their clients know them.
_NO_SESSION, _UNKNOWN_SESSION = -32000, -32001
_HOW_TO_BEGIN = (
    "no session: send initialize, and then the Mcp-Session-Id that its reply carries; or have each"
    f" request say that it is of {mcp.MODERN}, which has no sessions: see the examples in"
    " thrall-serve(1)"
)
MOST_UNREAD = 128 << 20  # bytes of all replies that may wait to be read
_SHOWN = 1000  # characters of what a modern client says of itself

Handle = Callable[[incoming.Request, Exchange], Awaitable[str]]


class Posts:
    """Takes what clients post.

    Args:
        offer: what is served.
        handle: makes the outcome of a request: a `"result"` or `"error"` member as JSON text.
        most_unread: bytes of all replies that may wait to be read.

    """

    def __init__(self, offer: Offer, handle: Handle, most_unread: int = MOST_UNREAD) -> None:
        self._unread = Unread(most_unread)
        self._offer = offer
        self._handle = handle
        self._sessions = Sessions(asyncio.get_running_loop().time)
        self._modern: weakref.WeakSet[Client] = weakref.WeakSet()  # one for each of their POSTs
        self._numbers = itertools.count(1)

    async def reply(self, headers: ladder.Headers, body: bytes) -> ASGIApp:
        """Take one POST, and make the reply to it.

        Args:
            headers: of the POST.
            body: of the POST.

        """
        posted = ladder.read_post(headers, body, self._offer)
        if isinstance(posted, Refusal):
            return refusal(posted)
        first = posted.messages[0]
        if posted.is_modern:
            return self._modern_reply(first)
        if isinstance(first, incoming.Request) and first.method == "initialize":
            return await self._begin(first)
        client = await self._sessions.find(_session(headers))
        if client is None:
            return refusal(_no_session(headers, _id(posted.messages)))
        return self._legacy_reply(client, posted, is_batch=incoming.is_batch(body))

    async def end(self, headers: ladder.Headers) -> ASGIApp:
        """Take a DELETE, which ends a session; what it has open is cancelled."""
        ended = await self._sessions.end(_session(headers))
        return Response() if ended else refusal(_no_session(headers))

    async def close(self) -> None:
        """Cancel what clients have open; their replies end."""
        await asyncio.gather(self._sessions.close(), *(each.close() for each in self._modern))

    async def _begin(self, request: incoming.Request) -> ASGIApp:
        """Answer a handshake, and begin a session if it succeeds."""
        client = Client(f"session {next(self._numbers)}")
        outcome = await self._answer(client, None, request, Outgoing(self._unread))
        reply = _json(200, request.id, outcome)
        if outcome.startswith('"result"'):
            reply.headers[_SESSION] = await self._sessions.begin(client)
        return reply

    def _legacy_reply(self, client: Client, posted: Posted, *, is_batch: bool) -> ASGIApp:
        requests: list[incoming.Request | Malformed] = []
        for message in posted.messages:
            match message:
                case incoming.Notification():
                    client.take(message)
                case incoming.Response():
                    client.answered(message)
                case _:
                    requests.append(message)
        if not requests:
            return Response(status_code=202)
        answer = functools.partial(self._answer, client, None)
        return Reply(
            client, Outgoing(self._unread), requests, answer, BATCH if is_batch else LEGACY
        )

    def _modern_reply(self, message: Incoming) -> ASGIApp:
        if not isinstance(message, incoming.Request):
            return Response(status_code=202)
        # Nothing tells whether two POSTs are one client's (a proxy makes one address of many), and
        # what is asked during one call is for nobody else. So each is a client of its own.
        client = Client(f"post {next(self._numbers)}", _told_of_itself(message) or "post")
        self._modern.add(client)
        answer = functools.partial(self._answer, client, envelope.facts_of(message))
        return Reply(client, Outgoing(self._unread), [message], answer, MODERN)

    async def _answer(
        self, client: Client, facts: Facts | None, request: incoming.Request, outgoing: Outgoing
    ) -> str:
        exchange = Exchange(client, facts, outgoing.put)
        try:
            return await self._handle(request, exchange)
        finally:
            exchange.end()


def refusal(refused: Refusal) -> Response:
    """Make the reply to what is refused, with the error as a message."""
    reply = _json(refused.status, refused.id, refused.outcome)
    reply.raw_headers.extend(refused.headers)
    return reply


def _json(status: int, id_: str, outcome: str) -> Response:
    body = f'{{"jsonrpc":"2.0","id":{id_},{outcome}}}'.encode("latin-1")
    return Response(body, status, media_type="application/json")


def _id(messages: list[Incoming]) -> str:
    """The id of the request that a POST is; of several there is none for one reply to all."""
    match messages:
        case [incoming.Request() as request]:
            return request.id
        case _:
            return incoming.NO_ID


def _session(headers: ladder.Headers) -> str:
    """The session that the headers name; empty unless they name one."""
    ids = [value.decode("latin-1") for name, value in headers if name == _SESSION.encode()]
    return ids[0] if len(ids) == 1 else ""


def _no_session(headers: ladder.Headers, id_: str = incoming.NO_ID) -> Refusal:
    """Refuse a message of no session, or of one that is over ("Session Management")."""
    if not _session(headers):
        return Refusal(400, envelope.error(_NO_SESSION, _HOW_TO_BEGIN), id_)
    words = "the session is over: send initialize"
    return Refusal(404, envelope.error(_UNKNOWN_SESSION, words), id_)


def _told_of_itself(request: incoming.Request) -> str:
    """What a modern client says of itself, which it has to repeat with its answers."""
    meta = request.params.member("_meta") if request.params else None
    info = meta.member(f"{mcp.META}clientInfo") if meta else None
    return info.text[:_SHOWN] if info else ""
