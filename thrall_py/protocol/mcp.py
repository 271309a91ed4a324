"""The protocol's words in both eras: what is asked, and what an answer means.

The facts are those of modelcontextprotocol.io/specification, revisions 2024-11-05 to 2026-07-28;
a rule of one revision alone names it.
"""

import json
from typing import NamedTuple, TypeGuard

from thrall_py import __version__
from thrall_py.protocol import wire
from thrall_py.protocol.jsontext import Json, JsonError, Value, decoded, string

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
REVISIONS = (MODERN, *LEGACY)

UNSUPPORTED_VERSION = -32022
MODERN_ONLY_CODES = (-32020, -32021)  # a modern server speaks: the request is wrong, not the era
METHOD_NOT_FOUND = -32601
URL_ELICITATION_REQUIRED = -32042  # 2025-11-25: the user has to visit a page first

_META = "io.modelcontextprotocol/"
_CLIENT = {"name": "thrall", "version": __version__}
# `_meta` of every request of the modern era (2026-07-28, "Base Protocol").
_ENVELOPE = json.dumps(
    {
        _META + "protocolVersion": MODERN,
        _META + "clientInfo": _CLIENT,
        _META + "clientCapabilities": {},
    },
    separators=(",", ":"),
)


class Server(NamedTuple):
    """What a server says of itself when the conversation opens."""

    revision: str
    name: str = ""
    version: str = ""
    instructions: str | None = None
    offers_tools: bool = True

    @property
    def is_modern(self) -> bool:
        """Whether requests carry the envelope and nothing is asked of the client."""
        return self.revision == MODERN


class Refusal(NamedTuple):
    """A JSON-RPC error, as far as it keeps to the form."""

    code: Json
    message: str
    data: Value | None

    @property
    def supported(self) -> list[str]:
        """The versions an UnsupportedProtocolVersion error names."""
        data = wire.load_or_none(self.data)
        versions = data.get("supported") if isinstance(data, dict) else None
        return [item for item in versions if isinstance(item, str)] if _is_list(versions) else []

    @property
    def urls(self) -> list[str]:
        """The pages a URLElicitationRequired error wants visited."""
        data = wire.load_or_none(self.data)
        asked = data.get("elicitations") if isinstance(data, dict) else None
        urls = (
            [item.get("url") for item in asked if isinstance(item, dict)] if _is_list(asked) else []
        )
        return [url for url in urls if isinstance(url, str)]


class Page(NamedTuple):
    """One page of tools/list."""

    tools: list[Value]
    cursor: str | None


def params(revision: str, members: str = "") -> str:
    """Params as JSON text: `members` (JSON text without braces), and the modern envelope."""
    if revision == MODERN:
        members = f'"_meta":{_ENVELOPE}' + ("," + members if members else "")
    return f"{{{members}}}"


def initialize_params(revision: str) -> str:
    """Params of `initialize`, the legacy handshake."""
    offer = {"protocolVersion": revision, "capabilities": {}, "clientInfo": _CLIENT}
    return json.dumps(offer, separators=(",", ":"))


def call_members(tool: str, arguments: str) -> str:
    """Members of the params of tools/call; `arguments` is the caller's own JSON text."""
    return f'"name":{json.dumps(tool)},"arguments":{arguments}'


def refusal(error: Value) -> Refusal:
    """Read a JSON-RPC error leniently: a string, or odd members, are shown all the same."""
    members = error.members()
    message = members.get("message")
    words = string(message) if message else None
    if words is None:
        words = string(error) or ("" if members.get("code") else decoded(error.text))
    return Refusal(wire.load_or_none(members.get("code")), words, members.get("data"))


def greeting(result: Value) -> Server | None:
    """Read the result of `initialize`; None without a protocol version."""
    members = result.members()
    revision = wire.load_or_none(members.get("protocolVersion"))
    if not isinstance(revision, str):
        return None
    return _server(revision, members, members.get("serverInfo"))


def discovery(result: Value) -> Server | None:
    """Read the result of `server/discover`; None unless it names the modern revision."""
    members = result.members()
    versions = wire.load_or_none(members.get("supportedVersions"))
    if not _is_list(versions) or MODERN not in versions:
        return None
    meta = members["_meta"].members() if "_meta" in members else {}
    # Drafts had it in the body; some servers still do.
    info = meta.get(_META + "serverInfo") or members.get("serverInfo")
    return _server(MODERN, members, info)


def page(result: Value) -> Page:
    """Read the result of tools/list.

    Raises:
        JsonError: it is not such a result; the message says why.

    """
    members = result.members()
    tools = members.get("tools")
    if tools is None or not isinstance(tools.inside, list):
        raise JsonError('it has no array "tools"')
    cursor = members.get("nextCursor")
    if cursor is None or cursor.kind == "n":
        return Page(tools.inside, None)
    following = string(cursor)
    if following is None:
        raise JsonError('its "nextCursor" is not a string')
    return Page(tools.inside, following)


def _server(revision: str, members: dict[str, Value], info: Value | None) -> Server:
    about = wire.load_or_none(info)
    about = about if isinstance(about, dict) else {}
    name, version = about.get("name"), about.get("version")
    capabilities = wire.load_or_none(members.get("capabilities"))
    return Server(
        revision,
        name if isinstance(name, str) else "",
        version if isinstance(version, str) else "",
        string(members["instructions"]) if "instructions" in members else None,
        not isinstance(capabilities, dict) or "tools" in capabilities,
    )


def _is_list(value: Json) -> TypeGuard[list[Json]]:
    return isinstance(value, list)
