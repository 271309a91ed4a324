"""What stands around a gateway in tests: a catalog, servers without a process, a client without a pipe."""

import asyncio
import json

from thrall_py.catalog.entry import Entry, pin_item
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.launch import LaunchSpec
from thrall_py.gateway.caller import Facts
from thrall_py.gateway.core import incoming, offer
from thrall_py.gateway.front.clients import Client, Exchange
from thrall_py.gateway.relay.relay import Relay
from thrall_py.protocol import mcp, wire
from thrall_py.protocol.jsontext import Value, scan

CATALOG = "/c.json"
EVERYTHING = '{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{},"tasks":{}}'
TOOLS = {
    "echo": {"name": "echo", "inputSchema": {"type": "object"}},
    "look": {"name": "look", "inputSchema": {}, "annotations": {"readOnlyHint": True}},
}
FORM = '{"message":"who?","requestedSchema":{"type":"object"}}'


def run(coroutine, patience=20):
    """Run a coroutine to its end; a test that hangs fails."""

    async def bounded():
        async with asyncio.timeout(patience):
            return await coroutine

    return asyncio.run(bounded())


def until(condition):
    """Wait until something is the case, which the event loop brings about."""

    async def look():
        while not condition():  # noqa: ASYNC110 - of anything, not of an event
            await asyncio.sleep(0)

    return look()


def catalog(revision="2025-11-25"):
    tools = {name: pin_item(definition) for name, definition in TOOLS.items()}
    prompts = {"hello": pin_item({"name": "hello"})}
    items = {"tools": tools, "prompts": prompts}
    return Catalog({"a": Entry(LaunchSpec(("x",), {}), mcp.ServerInfo(revision), items)})


def answer(outcome):
    """The message of a server with `outcome`, a member of it."""
    return wire.read(f'{{"jsonrpc":"2.0","id":1,{outcome}}}'.encode("latin-1"))[0]


class FakeServer:
    """Does what it is given: steps are outcomes, exceptions, or functions of forward and listener."""

    def __init__(self, *steps):
        self.steps = list(steps)
        self.made = []  # the members of each request, and what was added

    async def request(self, forward, listener, extra=""):
        self.made.append((forward.members, extra))
        step = self.steps.pop(0)
        if callable(step):
            step = await step(forward, listener)
        if isinstance(step, Exception):
            raise step
        return answer(step)


class FakeServers(dict):
    """Servers by name, which note that they were closed."""

    closed = False
    starting = None  # an event, while one is being started

    async def started(self):
        event, self.starting = self.starting, None
        if event:
            await event.wait()
        return event is not None

    async def close(self):
        self.closed = True


def made(*steps, ask=False, **options):
    """A relay before one server of these steps, and the server."""
    server = FakeServer(*steps)
    offered = offer.make(catalog(), ask=ask)
    return Relay(FakeServers(a=server), offered, CATALOG, **options), server


def request(method="tools/call", id_="1", **params):
    """What a client sends, read; arguments that end in _ are JSON text."""
    members = [
        f'"{name.rstrip("_")}":{value if name.endswith("_") else json.dumps(value)}'
        for name, value in params.items()
    ]
    text = f'{{"jsonrpc":"2.0","id":{id_},"method":"{method}","params":{{{",".join(members)}}}}}'
    (read,) = incoming.read(text.encode())
    return read


def envelope(capabilities=EVERYTHING, **more):
    """The `_meta` of a request of 2026-07-28."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": mcp.MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "modern"},
        "io.modelcontextprotocol/clientCapabilities": json.loads(capabilities),
    }
    return {**meta, **{key.replace("__", "/"): value for key, value in more.items()}}


class FakeClient:
    """A client, what it was sent, and how it answers what it is asked."""

    def __init__(self, revision="2025-11-25", capabilities=EVERYTHING, level="", name="me"):
        self.facts = Facts(revision, capabilities, level)
        self.client = Client(name)
        self.client.facts = self.facts
        self.sent = []
        self.answers = []  # a member of a response for each question

    def exchange(self):
        modern = self.facts.revision == mcp.MODERN
        return Exchange(self.client, self.facts if modern else None, self.take)

    def take(self, message):
        told = json.loads(message)
        self.sent.append(told)
        if "id" in told and self.answers:
            text = f'{{"jsonrpc":"2.0","id":{told["id"]},{self.answers.pop(0)}}}'
            self.client.answered(incoming.read(text.encode())[0])


def result(ended):
    """The result in an outcome."""
    return json.loads(f"{{{ended if isinstance(ended, str) else ended.outcome}}}")["result"]


def error(ended):
    """The error in an outcome."""
    return json.loads(f"{{{ended if isinstance(ended, str) else ended.outcome}}}")["error"]


def value(text):
    """JSON text as a value, its members looked at."""
    return scan(text, {"*": {}})


def raw(text):
    """JSON text as a value that nobody has looked into."""
    return Value(text, 0, len(text))
