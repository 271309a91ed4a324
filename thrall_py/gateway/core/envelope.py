"""What the requests of 2026-07-28 carry in `_meta`, and what its results have to. Pure.

Also outcomes: the `"result"` or `"error"` member of a response, as JSON text in Latin-1.
"""

import json

from thrall_py import __version__
from thrall_py.gateway.caller import Facts
from thrall_py.gateway.core.incoming import Request, id_text, verbatim
from thrall_py.protocol import mcp, wire
from thrall_py.protocol.jsontext import Value
from thrall_py.redact import Redactor

INTERNAL_ERROR = -32603  # JSON-RPC 2.0, section 5.1
RESOURCE_NOT_FOUND = -32002  # before 2026-07-28, which has -32602 for it ("Resources")
# Of log messages, the least severe first (RFC 5424; "Logging", all revisions).
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
SERVER_INFO = json.dumps({"name": "thrall", "version": __version__}, separators=(",", ":"))

_VERSION = mcp.META + "protocolVersion"
_CAPABILITIES = mcp.META + "clientCapabilities"
_LOG_LEVEL = mcp.META + "logLevel"
_INFO = f'"{mcp.META}serverInfo":{SERVER_INFO}'
META = f'"_meta":{{{_INFO}}}'  # of a result of our own
_COMPLETE = '"resultType":"complete"'
_KINDS = ("complete", "input_required")  # of results; more are of extensions, none of them declared
# Milliseconds for which a list may be kept: the catalog is read once, but a gateway may be started
# again with another. What servers answer may change at any time.
_LIST_TTL = 60_000
_CACHE = {"ttlMs": "0", "cacheScope": '"private"'}
_MODERN_ONLY = {"resultType", *_CACHE}

error = wire.error  # makes the outcome of a request that is refused


def is_modern(request: Request) -> bool:
    """Tell whether a request has the envelope of 2026-07-28, complete or not.

    `initialize` opens a session of the revisions before it, whatever it carries.
    """
    return request.method != "initialize" and has_envelope(request)


def has_envelope(request: Request) -> bool:
    """Tell whether a request names its version in `_meta`."""
    return _meta(request, _VERSION) is not None


def facts_of(request: Request) -> Facts:
    """Read what the envelope says of the client, as far as it is well-formed."""
    capabilities, level = _meta(request, _CAPABILITIES), _text(_meta(request, _LOG_LEVEL))
    return Facts(
        _text(_meta(request, _VERSION)),
        verbatim(capabilities) if capabilities and capabilities.first == "{" else "{}",
        level if level in LEVELS else "",
    )


def progress_token(request: Request) -> str:
    """The JSON text of the token under which progress is wanted; empty for none."""
    return id_text(_meta(request, "progressToken"))


def incomplete(request: Request) -> str | None:
    """Find what is wrong with an envelope, and make the error (2026-07-28, "Base Protocol")."""
    version, level = _meta(request, _VERSION), _meta(request, _LOG_LEVEL)
    capabilities = _meta(request, _CAPABILITIES)
    if version is None or version.first != '"':
        words = f'params._meta should have the text "{_VERSION}"'
    elif capabilities is None or capabilities.first != "{":
        words = f'params._meta should have the object "{_CAPABILITIES}"'
    elif level and level.string() not in LEVELS:
        words = f'"{_LOG_LEVEL}" should be one of {", ".join(LEVELS)}'
    else:
        return None
    return error(mcp.INVALID_PARAMS, words)


def unsupported(request: Request) -> str | None:
    """Make the error for an envelope of another version than 2026-07-28."""
    version = facts_of(request).revision
    if version == mcp.MODERN:
        return None
    data = json.dumps({"supported": [mcp.MODERN], "requested": version})
    words = f"unsupported protocol version: send {mcp.MODERN}, or open a session with initialize"
    return error(mcp.UNSUPPORTED_PROTOCOL_VERSION, words, data)


def result(members: str, facts: Facts) -> str:
    """Make the outcome of a request from the members of its result, JSON text without braces."""
    if facts.revision != mcp.MODERN:
        return f'"result":{{{members}}}'
    more = f",{members}" if members else ""
    return f'"result":{{{_COMPLETE}{more},{META}}}'


def listed(members: str, facts: Facts) -> str:
    """Make the outcome of a list, or of server/discover: a modern one may be kept for a while."""
    if facts.revision == mcp.MODERN:
        members += f',"ttlMs":{_LIST_TTL},"cacheScope":{_CACHE["cacheScope"]}'
    return result(members, facts)


def finish(answered: wire.Message, facts: Facts) -> str:
    """Make the outcome for a client of what its server answered.

    What the revision of the client wants is added, what it does not know is left out; the rest
    is the server's own text.
    """
    if answered.error:
        return _refused(answered.error, facts)
    value = answered.result
    if value is None or value.first != "{":
        return error(INTERNAL_ERROR, "the server's answer is no result: it should be an object")
    kind = value.member("resultType")
    if facts.revision == mcp.MODERN and kind and kind.string() not in _KINDS:
        return error(INTERNAL_ERROR, "the server's answer is of a resultType that is none")
    if facts.revision == mcp.MODERN:
        return f'"result":{_completed(value)}'
    if value.members().keys() & _MODERN_ONLY:
        return f'"result":{_stripped(value)}'
    return f'"result":{verbatim(value)}'


def _refused(value: Value, facts: Facts) -> str:
    told = mcp.parse_error(value)
    if (
        isinstance(told.code, bool)
        or not isinstance(told.code, int)
        or value.member_string("message") is None
    ):
        shown = Redactor().quoted(told.message)
        return error(INTERNAL_ERROR, f"the server refused in a form that is no error: {shown}")
    if told.code == RESOURCE_NOT_FOUND and facts.revision == mcp.MODERN:
        data = verbatim(told.data) if told.data else ""
        return error(mcp.INVALID_PARAMS, told.message, data)
    return f'"error":{verbatim(value)}'


def _completed(value: Value) -> str:
    """A result with what 2026-07-28 requires of it, spliced in where it is missing."""
    members = value.members()
    added = [] if "resultType" in members else [_COMPLETE]
    if "contents" in members:  # of resources/read, which has to say how long it may be kept
        added += [f'"{name}":{text}' for name, text in _CACHE.items() if name not in members]
    meta = members.get("_meta")
    if meta is None:
        added.append(META)
    text = verbatim(value if meta is None else _introduced(value, meta))
    front = ",".join(added)
    return f"{{{front}{',' if front and members else ''}{text[1:]}"


def _introduced(value: Value, meta: Value) -> Value:
    """The same result with the server's name in its `_meta`."""
    if meta.first != "{" or meta.member(mcp.META + "serverInfo"):
        return value
    inside = meta.start + 1
    info = _INFO + ("," if meta.members() else "")
    text = value.source[value.start : inside] + info + value.source[inside : value.end]
    return Value(text, 0, len(text))


def _stripped(value: Value) -> str:
    kept = (
        f"{json.dumps(name)}:{verbatim(member)}"
        for name, member in value.members().items()
        if name not in _MODERN_ONLY
    )
    return f"{{{','.join(kept)}}}"


def _meta(request: Request, name: str) -> Value | None:
    meta = request.params.member("_meta") if request.params else None
    return meta.member(name) if meta else None


def _text(value: Value | None) -> str:
    return (value.string() or "") if value else ""


def relayed_params(
    revision: str, members: str, capabilities: str, token: int | None, log_level: str
) -> str:
    """Make the params of a request that is relayed, with the words of who made it.

    Args:
        revision: in which it is written; before 2026-07-28 there is no envelope.
        members: of the params, as JSON text without braces and `_meta`.
        capabilities: what its client may be asked, a ClientCapabilities as JSON text.
        token: what progress is told with; None if nobody wants to know.
        log_level: the least severe log message that is wanted; empty for none.

    """
    meta = []
    if revision == mcp.MODERN:
        meta.append(f'"{mcp.META}protocolVersion":"{mcp.MODERN}"')
        meta.append(f'"{mcp.META}clientInfo":{json.dumps(mcp.CLIENT, separators=(",", ":"))}')
        meta.append(f'"{mcp.META}clientCapabilities":{capabilities}')
        meta += [f'"{mcp.META}logLevel":{json.dumps(log_level)}'] if log_level else []
    meta += [] if token is None else [f'"progressToken":{token}']
    envelope = [f'"_meta":{{{",".join(meta)}}}'] if meta else []
    return f"{{{','.join([*envelope, *([members] if members else [])])}}}"
