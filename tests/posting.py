"""A gateway for the tests of its HTTP front: an ASGI client, and a service that does as it is told."""

import asyncio
import json
from typing import NamedTuple

from thrall_py.catalog.file import Catalog
from thrall_py.gateway.caller import Refused
from thrall_py.gateway.core import answering as core
from thrall_py.gateway.core import envelope, offer
from thrall_py.gateway.front import gate
from thrall_py.gateway.front.asgi import Application, Bounds
from thrall_py.gateway.front.posts import Posts

META = "io.modelcontextprotocol/"
MODERN = "2026-07-28"
ENVELOPE = {
    f"{META}protocolVersion": MODERN,
    f"{META}clientCapabilities": {},
    f"{META}clientInfo": {"name": "tester", "version": "1"},
}
JSON = {
    "host": "localhost:80",
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
}
EMPTY = offer.make(Catalog({}))


class Service:
    """Answers from an empty catalog; for a tool it does what the name says."""

    offer = EMPTY
    states = {}  # noqa: RUF012 - nobody writes to it

    def __init__(self):
        self.callers = []
        self.cancelled = []
        self.open = asyncio.Event()  # somebody waits
        self.go = asyncio.Event()  # it may go on

    async def handle(self, request, caller):
        if request.method != "tools/call":
            answered = core.answer(request, caller.facts, self.offer)
            if answered.facts:
                caller.become(answered.facts)
            return answered.outcome
        self.callers.append(caller)
        try:
            return await TOOLS[request.params.member_string("name")](self, request.params, caller)
        except asyncio.CancelledError:
            self.cancelled.append(request.id)
            raise


async def _echo(_service, params, _caller):
    return f'"result":{{"echoed":{params.member("arguments").text}}}'


async def _wait(service, _params, caller):
    service.open.set()
    await service.go.wait()
    caller.notify("notifications/progress", '{"progress":9}')
    return '"result":{"waited":true}'


async def _tell(_service, _params, caller):
    caller.notify("notifications/progress", '{"progress":1}')
    caller.notify("notifications/message", '{"data":"é"}'.encode().decode("latin-1"))
    return '"result":{"told":true}'


async def _flood(_service, _params, caller):
    for number in range(200):
        caller.notify("notifications/message", f'{{"data":"{number} {"x" * 50000}"}}')
    return '"result":{"flooded":true}'


async def _large(_service, _params, _caller):
    return f'"result":{{"large":"{"x" * 1_000_000}"}}'


async def _ask(_service, _params, caller):
    try:
        answer = await caller.ask("roots/list", "{}")
    except Refused as refused:
        return f'"error":{refused.error}'
    return f'"result":{{"answered":{answer.text}}}'


async def _bug(_service, _params, _caller):
    raise ZeroDivisionError


async def _fail(_service, _params, _caller):
    return envelope.error(-32601, "no such thing")


TOOLS = {"echo": _echo, "wait": _wait, "tell": _tell, "flood": _flood, "large": _large, "ask": _ask,
         "bug": _bug, "fail": _fail}  # fmt: skip


def application(service, token="", max_message=1 << 20, states=None, **allowed):
    rules = gate.rules("127.0.0.1", 80, token, **allowed)
    posts = Posts(service.offer, service.handle)
    return Application(posts, states or {}, Bounds(rules, max_message)), posts


class Answer(NamedTuple):
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def events(self):
        assert self.headers["content-type"] == "text/event-stream"
        blocks = self.body.decode().removesuffix("\n\n").split("\n\n")
        return [
            json.loads(block.removeprefix("data: "))
            for block in blocks
            if not block.startswith(":")
        ]


class Exchange:
    """One request to an ASGI application, which a client may leave."""

    def __init__(self, app, method="POST", path="/mcp", headers=None, body=b"", pieces=None):
        pairs = headers if headers is not None else JSON
        pairs = list(pairs.items()) if isinstance(pairs, dict) else pairs
        scope = {
            "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b"",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in pairs],
            "client": ("127.0.0.1", 5000), "server": ("127.0.0.1", 80), "scheme": "http", "http_version": "1.1",
        }  # fmt: skip
        self.arriving = asyncio.Queue()
        for piece in pieces or []:
            self.arriving.put_nowait({"type": "http.request", "body": piece, "more_body": True})
        if pieces is None:
            self.arriving.put_nowait({"type": "http.request", "body": body, "more_body": False})
        self.sent = []
        self.progress = asyncio.Event()
        self.task = asyncio.create_task(app(scope, self.arriving.get, self._send))

    async def _send(self, message):
        self.sent.append(message)
        self.progress.set()

    def leave(self):
        self.arriving.put_nowait({"type": "http.disconnect"})

    async def seen(self, text):
        """Wait until `text` was sent."""
        while text not in b"".join(message.get("body", b"") for message in self.sent).decode():
            self.progress.clear()
            await self.progress.wait()

    async def answer(self):
        await self.task
        start, *rest = self.sent
        assert not rest[-1].get("more_body", False)
        headers = {name.decode(): value.decode() for name, value in start["headers"]}
        return Answer(
            start["status"], headers, b"".join(message.get("body", b"") for message in rest)
        )


def message(method, id_=1, modern=False, **params):
    if modern:
        params["_meta"] = ENVELOPE
    body = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(body if id_ is None else {**body, "id": id_}).encode()


def modern(method, name=None, **more):
    headers = {**JSON, "mcp-protocol-version": MODERN, "mcp-method": method, **more}
    return {**headers, "mcp-name": name} if name else headers


def call_modern(app, tool, id_=1, **arguments):
    body = message("tools/call", id_, modern=True, name=tool, arguments=arguments)
    return Exchange(app, headers=modern("tools/call", tool), body=body)


async def begin(app, revision="2025-11-25", capabilities=None):
    """Open a session; the headers of its messages."""
    body = message("initialize", 0, protocolVersion=revision, capabilities=capabilities or {}, clientInfo={"name": "t", "version": "1"})  # fmt: skip
    answer = await Exchange(app, body=body).answer()
    assert answer.status == 200
    assert answer.json["result"]["protocolVersion"] == revision
    return {
        **JSON,
        "mcp-session-id": answer.headers["mcp-session-id"],
        "mcp-protocol-version": revision,
    }


def call(app, headers, tool, id_=1, **arguments):
    return Exchange(
        app, headers=headers, body=message("tools/call", id_, name=tool, arguments=arguments)
    )


def within(seconds, make):
    """Run a test's coroutine function; a hang is a failure."""

    async def bounded():
        async with asyncio.timeout(seconds):
            await make()

    asyncio.run(bounded())
