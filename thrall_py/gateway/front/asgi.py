"""The gateway as an ASGI application: one path for clients of both eras, and one for their keepers.

    POST /mcp       messages in Streamable HTTP (2025-03-26 and later); a client of 2024-11-05 may
                    send its messages here too, but the transport of that revision is not served
    DELETE /mcp     ends a legacy session
    GET /mcp        405: all that a gateway has to say belongs to a request
    GET /healthz    whether it is there; for who may call tools also how the servers are

No CORS header is ever sent, so a page on another origin may neither send JSON nor read a reply.
"""

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from thrall_py.gateway.front import gate, ladder
from thrall_py.gateway.front.posts import Posts, refusal

PATH = "/mcp"
HEALTH = "/healthz"
_BODY = 30.0  # seconds for a whole body
_BODIES = 4  # of the largest size may be arriving at the same time


class Bounds(NamedTuple):
    """Who may come in, and with how much.

    Attributes:
        rules: for headers.
        max_message: bytes that a body may have.

    """

    rules: gate.Rules
    max_message: int


class Application:
    """The ASGI application.

    Args:
        posts: takes what clients post.
        states: of each server, by name, how it is (`Service.states`).
        bounds: for what comes in.

    """

    def __init__(self, posts: Posts, states: Mapping[str, str], bounds: Bounds) -> None:
        self._posts = posts
        self._states = states
        self._bounds = bounds
        self._arriving = 0  # bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reply to one request."""
        try:
            reply = await self._reply(Request(scope, receive))
        except HTTPException as away:
            reply = PlainTextResponse(f"{away.detail}\n", away.status_code, away.headers)
        except ClientDisconnect:
            return
        await reply(scope, receive, send)

    async def _reply(self, request: Request) -> ASGIApp:
        path, headers = request.scope["path"], request.headers.raw
        turned_away = gate.refuse(headers, self._bounds.rules)
        if path == HEALTH and (turned_away is None or turned_away.status == gate.UNAUTHORIZED):
            return self._health(request, is_trusted=turned_away is None)
        if turned_away:
            told = {name.decode(): value.decode() for name, value in turned_away.headers}
            raise HTTPException(turned_away.status, turned_away.reason, told)
        if path != PATH:
            raise HTTPException(404, f"nothing is here: clients of MCP speak to {PATH}")
        refused = ladder.refuse_method(request.method, headers)
        if refused:
            return refusal(refused)
        if request.method == "DELETE":
            return await self._posts.end(headers)
        return await self._posts.reply(headers, await self._body(request))

    def _health(self, request: Request, *, is_trusted: bool) -> ASGIApp:
        """Reply to what keeps gateways running, which has no token."""
        if request.method not in {"GET", "HEAD"}:
            raise HTTPException(405, f"{HEALTH} takes GET", {"allow": "GET, HEAD"})
        servers = {"servers": dict(self._states)} if is_trusted else {}
        return JSONResponse({"status": "ok", **servers}, headers={"cache-control": "no-store"})

    async def _body(self, request: Request) -> bytes:
        """Read the body, and count: that its length is said to be a small one is not relied on.

        Raises:
            HTTPException: it is too large, or too slow, or others are before it.

        """
        most = self._bounds.max_message
        too_large = HTTPException(413, f"a body may have {most} bytes: see --max-message")
        # h11 has seen that it is a number, of 20 digits at most.
        if int(request.headers.get("content-length", 0)) > most:
            raise too_large
        body = bytearray()
        try:
            async with asyncio.timeout(_BODY):
                async for piece in request.stream():
                    body += piece
                    self._arriving += len(piece)
                    if len(body) > most:
                        raise too_large
                    if self._arriving > _BODIES * most:
                        words = "too many large bodies are arriving: send it again"
                        raise HTTPException(503, words, {"retry-after": "1"})
        except TimeoutError:
            words = f"a body has to be here within {_BODY:g} s"
            raise HTTPException(408, words, {"connection": "close"}) from None
        finally:
            self._arriving -= len(body)
        return bytes(body)
