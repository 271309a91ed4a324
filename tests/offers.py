"""A catalog to offer, and requests to it: what the tests of the pure gateway share."""

import json

from thrall_py.catalog.entry import Entry, pin_item
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.launch import LaunchSpec
from thrall_py.gateway.caller import Facts
from thrall_py.gateway.core import incoming, offer
from thrall_py.protocol import mcp

META = "io.modelcontextprotocol/"
ENVELOPE = {f"{META}protocolVersion": mcp.MODERN, f"{META}clientCapabilities": {}}
LEGACY = Facts("2025-11-25")
MODERN = Facts(mcp.MODERN)


def entry(prefix="", instructions=None, tools=(), prompts=(), resources=(), templates=()):
    """An entry; each item is a name, or a whole definition."""
    given = {
        "tools": tools,
        "prompts": prompts,
        "resources": resources,
        "resourceTemplates": templates,
    }
    items = {kind.member: _pins(kind.key, given[kind.member]) for kind in mcp.KINDS}
    server = mcp.ServerInfo("2025-11-25", instructions=instructions)
    return Entry(LaunchSpec(("server",), {}), server, items, prefix=prefix)


def _pins(key, items):
    definitions = [item if isinstance(item, dict) else {key: item} for item in items]
    return {definition[key]: pin_item(definition) for definition in definitions}


def tool(name, schema=None, **annotations):
    return {"name": name, "inputSchema": schema or {"type": "object"}, "annotations": annotations}


MARKED = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"},
                                           "n": {"type": "integer", "x-mcp-header": "N"}}}  # fmt: skip
SERVERS = {
    "files": entry(
        tools=[tool("read", readOnlyHint=True), tool("remove")],
        prompts=["review"],
        resources=["file:///a"],
        templates=["file:///docs/{name}"],
        instructions="Read first.",
    ),
    "web": entry(prefix="web_", tools=[tool("fetch", MARKED)], prompts=["sum up"]),
}


def offered(servers=None, **options):
    return offer.make(Catalog(SERVERS if servers is None else servers), **options)


def request(method, modern=None, id_=1, **params):
    """A request; with an envelope if `modern`, which may hold more or other members for it."""
    if modern is not None:
        params["_meta"] = {**ENVELOPE, **modern}
    message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
    [read] = incoming.read(json.dumps(message).encode())
    assert isinstance(read, incoming.Request)
    return read


def loaded(outcome):
    """The result or the error object of an outcome."""
    [content] = json.loads(f"{{{outcome}}}".encode("latin-1")).values()
    return content
