"""The protocol's words in both eras: what is asked, and what an answer means.

The facts are those of modelcontextprotocol.io/specification, revisions 2024-11-05 to 2026-07-28;
a rule of one revision alone names it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeGuard

from thrall_py import __version__
from thrall_py.protocol import wire
from thrall_py.protocol.jsontext import Json, JsonError, Value, decode

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
REVISIONS = (MODERN, *LEGACY)

CANCELLED = "notifications/cancelled"
PROGRESS = "notifications/progress"
LOG = "notifications/message"
LIST_CHANGED = "/list_changed"  # the end of several methods

METHOD_NOT_FOUND = -32601  # this and the next: JSON-RPC 2.0, section 5.1
INVALID_PARAMS = -32602  # also for a tool that there is not (all revisions, "Tools")
HEADER_MISMATCH = -32020  # this and the next two: 2026-07-28, "Error Codes"
MISSING_CLIENT_CAPABILITY = -32021
UNSUPPORTED_PROTOCOL_VERSION = -32022
URL_ELICITATION_REQUIRED = -32042  # 2025-11-25, "Elicitation": the user has to visit a page first
# Only a modern server says these: the request is wrong, not the era.
MODERN_ONLY_CODES = (HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY)

ELICITATION = "elicitation/create"
FORM, PAGE = MODES = ("form", "url")  # of elicitation
SAMPLING = "sampling"  # beside them: that a model can be asked
_WITH_MODES = (MODERN, "2025-11-25")  # where a client says which modes of elicitation it has
_WITHOUT_ELICITATION = ("2025-03-26", "2024-11-05")

# An object with a plain name and a string in front.
_IN_FRONT = r'\{[ \t\r\n]*"(\w+)"[ \t\r\n]*:[ \t\r\n]*("(?:[^"\\]++|\\.)*+")'
_MEMBERS = json.JSONDecoder(parse_int=len, parse_float=len)  # a number may have any length

META = "io.modelcontextprotocol/"
CLIENT = {"name": "thrall", "version": __version__}


class Kind(NamedTuple):
    """One kind of thing that servers list: where, and what tells two of them apart."""

    member: str
    method: str
    key: str
    capability: str


TOOLS = Kind("tools", "tools/list", "name", "tools")
PROMPTS = Kind("prompts", "prompts/list", "name", "prompts")
RESOURCES = Kind("resources", "resources/list", "uri", "resources")
TEMPLATES = Kind("resourceTemplates", "resources/templates/list", "uriTemplate", "resources")
KINDS = (TOOLS, PROMPTS, RESOURCES, TEMPLATES)


class ServerInfo(NamedTuple):
    """What a server says of itself in the handshake, and the revision it is spoken to in."""

    revision: str
    name: str = ""
    version: str = ""
    instructions: str | None = None
    capabilities: frozenset[str] = frozenset(("tools",))  # by their names

    @property
    def is_modern(self) -> bool:
        """Whether requests carry the envelope and nothing is asked of the client."""
        return self.revision == MODERN


class ErrorObject(NamedTuple):
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

    @property
    def wanted_modes(self) -> frozenset[str]:
        """The modes of elicitation without which a request is refused, if nothing else is missing.

        A MissingRequiredClientCapability error names them, a form if it names none (2026-07-28,
        "Elicitation", "Capabilities").
        """
        data = wire.load_or_none(self.data)
        missing = data.get("requiredCapabilities") if isinstance(data, dict) else None
        if self.code != MISSING_CLIENT_CAPABILITY or not isinstance(missing, dict):
            return frozenset()
        modes = missing.get("elicitation")
        if len(missing) > 1 or not isinstance(modes, dict):
            return frozenset()
        return frozenset(modes or (FORM,))


class Asked(NamedTuple):
    """What a server asks of its client, by a request or in a result, as far as it is there."""

    method: str | None
    params: Value | None


class Page(NamedTuple):
    """One page of a list."""

    items: list[Value]
    cursor: str | None


def written_in(method: str, agreed: str) -> str:
    """Name the revision of a request; the two that open a session are written in their own."""
    return {"server/discover": MODERN, "initialize": ""}.get(method, agreed)


def request_params(
    revision: str, members: str = "", modes: Sequence[str] = (), progress_token: str = ""
) -> str:
    """Make params as JSON text from `members` (JSON text without braces), and the envelope.

    That is the `_meta` of every request of the modern era (2026-07-28, "Base Protocol"). `modes`
    are those of elicitation that may be used before this request is answered. With a token the
    server is asked to tell its progress ("Progress", all revisions).
    """
    meta: dict[str, object] = {}
    if revision == MODERN:
        meta = {
            META + "protocolVersion": MODERN,
            META + "clientInfo": CLIENT,
            META + "clientCapabilities": _capabilities(MODERN, modes),
        }
    if progress_token:
        meta["progressToken"] = progress_token
    if meta:
        members = f'"_meta":{_compact(meta)}' + ("," + members if members else "")
    return f"{{{members}}}"


def initialize_params(revision: str, modes: Sequence[str] = ()) -> str:
    """Make the params of `initialize`, the legacy handshake, as JSON text.

    `modes` are those of elicitation that can be answered, with SAMPLING if a model can be asked.
    """
    capabilities = _capabilities(revision, modes)
    return _compact(
        {"protocolVersion": revision, "capabilities": capabilities, "clientInfo": CLIENT}
    )


def elicitation_mode(asked: Asked) -> str:
    """Find the mode of an elicitation, a form if it does not say; empty for anything else."""
    if asked.method != ELICITATION:
        return ""
    params = wire.load_or_none(asked.params)
    mode = params.get("mode", FORM) if isinstance(params, dict) else FORM
    return mode if isinstance(mode, str) else ""


def call_members(tool: str, arguments: str) -> str:
    """Make the members of the params of tools/call; `arguments` is the caller's own JSON text."""
    return f'"name":{json.dumps(tool)},"arguments":{arguments}'


def cancel_params(revision: str, id_: str | int, reason: str) -> str:
    """Make the params with which a request is given up ("Cancellation", all revisions)."""
    return request_params(revision, f'"requestId":{json.dumps(id_)},"reason":"{reason}"')


def parse_error(error: Value) -> ErrorObject:
    """Read a JSON-RPC error leniently: a string, or odd members, are shown all the same."""
    code, words = error.member("code"), error.member_string("message")
    if words is None:
        words = error.string() or ("" if code else decode(error.text))
    return ErrorObject(wire.load_or_none(code), words, error.member("data"))


def parse_initialize_result(result: Value) -> ServerInfo | None:
    """Read the result of `initialize`; None without a protocol version."""
    revision = wire.load_or_none(result.member("protocolVersion"))
    if not isinstance(revision, str):
        return None
    return _server_info(revision, result, server_info(result))


def parse_discover_result(result: Value) -> ServerInfo | None:
    """Read the result of `server/discover`; None unless it names the modern revision."""
    versions = wire.load_or_none(result.member("supportedVersions"))
    if not _is_list(versions) or MODERN not in versions:
        return None
    return _server_info(MODERN, result, server_info(result))


def server_info(result: Value) -> Value | None:
    """Find what a result says of the server, in the place of either era."""
    meta = result.member("_meta")
    # Drafts of 2026-07-28 had it in the body; some servers still do.
    return (meta and meta.member(META + "serverInfo")) or result.member("serverInfo")


def parse_page(result: Value, kind: Kind) -> Page:
    """Read the result of tools/list, or of another list.

    Raises:
        JsonError: it is not such a result; the message says why.

    """
    items = result.member(kind.member)
    if items is None or not isinstance(items.children, list):
        raise JsonError(f'it has no array "{kind.member}"')
    cursor = result.member("nextCursor")
    if cursor is None or cursor.first == "n":
        return Page(items.children, None)
    following = cursor.string()
    if following is None:
        raise JsonError('its "nextCursor" is not a string')
    return Page(items.children, following)


def key_of(item: Value, kind: Kind) -> str | None:
    """Find what tells an item of a list apart; None if it has nothing of that kind.

    Nothing else is asked of most of thousands, so it is taken from where it usually stands: in
    front. It was seen to be JSON in which no name stands twice, so that is the one.
    """
    found = re.compile(_IN_FRONT).match(item.source, item.start)
    if found and found[1] == kind.key:
        return Value(item.source, *found.span(2)).string()
    members: Json = _MEMBERS.decode(decode(item.text))
    key = members.get(kind.key) if isinstance(members, dict) else None
    return key if isinstance(key, str) else None


def parse_requests(requests: Value | None) -> dict[str, Asked] | None:
    """Read the `inputRequests` of a result, by name; None if one of them is no request."""
    if requests is None or requests.first == "n":
        return {}
    if requests.first != "{" or any(each.first != "{" for each in requests.members().values()):
        return None
    return {
        name: Asked(each.member_string("method"), each.member("params"))
        for name, each in requests.members().items()
    }


def _capabilities(revision: str, modes: Sequence[str]) -> dict[str, object]:
    """Declare what a server may ask for: a form alone is all there is before 2025-11-25."""
    declared: dict[str, object] = {SAMPLING: {}} if SAMPLING in modes else {}
    forms: dict[str, object] = {mode: {} for mode in modes if mode != SAMPLING}
    if forms and revision not in _WITHOUT_ELICITATION:
        declared["elicitation"] = forms if revision in _WITH_MODES else {}
    return declared


def _compact(members: Mapping[str, object]) -> str:
    return json.dumps(members, separators=(",", ":"))


def _server_info(revision: str, result: Value, info: Value | None) -> ServerInfo:
    about = wire.load_or_none(info)
    about = about if isinstance(about, dict) else {}
    name, version = about.get("name"), about.get("version")
    capabilities = wire.load_or_none(result.member("capabilities"))
    return ServerInfo(
        revision,
        name if isinstance(name, str) else "",
        version if isinstance(version, str) else "",
        result.member_string("instructions"),
        # A server that says nothing of the sort is taken for one of tools.
        frozenset(capabilities if isinstance(capabilities, dict) else ("tools",)),
    )


def _is_list(value: Json) -> TypeGuard[list[Json]]:
    return isinstance(value, list)
