"""What a POST has to be before anything runs: step by step, the first fault counts. Pure.

2026-07-28, "Streamable HTTP"; for the revisions before it little is asked.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from thrall_py.gateway.core import answering as core
from thrall_py.gateway.core import envelope, incoming
from thrall_py.gateway.core.incoming import Incoming, Malformed, Notification, Request, Response
from thrall_py.gateway.core.offer import Offer
from thrall_py.protocol import mcp, mirror
from thrall_py.protocol.jsontext import JsonError, scan
from thrall_py.redact import Redactor

Headers = Sequence[tuple[bytes, bytes]]
Told = Mapping[str, list[str]]  # the values of headers, by name in lower case

_VERSION, _METHOD, _NAME = "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"
_BATCHES = "2025-03-26"  # the one revision that has them
_EMPTY = "the body is empty: send one JSON-RPC message"
_OK, _BAD, _NOT_FOUND, _NO_METHOD, _NOT_ACCEPTABLE, _NO_TYPE = 200, 400, 404, 405, 406, 415
# 2026-07-28, "Streamable HTTP": the status of an error that is the whole reply, by its code.
_STATUSES = {
    str(incoming.PARSE_ERROR): _BAD,
    str(incoming.INVALID_REQUEST): _BAD,
    str(mcp.INVALID_PARAMS): _BAD,
    str(mcp.METHOD_NOT_FOUND): _NOT_FOUND,
    str(mcp.HEADER_MISMATCH): _BAD,
    str(mcp.MISSING_CLIENT_CAPABILITY): _BAD,
    str(mcp.UNSUPPORTED_PROTOCOL_VERSION): _BAD,
}


class Refusal(NamedTuple):
    """What is replied at once.

    Attributes:
        status: of HTTP.
        outcome: an `"error"` member as JSON text.
        id: of the response, as JSON text.
        headers: more of them, for the reply.

    """

    status: int
    outcome: str
    id: str = incoming.NO_ID
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Posted(NamedTuple):
    """What a POST brought.

    Attributes:
        messages: one, or those of a batch (2025-03-26), some of them `Malformed`.
        is_modern: whether it is of 2026-07-28, and so of no session.

    """

    messages: list[Incoming]
    is_modern: bool


def refuse_method(method: str, headers: Headers) -> Refusal | None:
    """Refuse a method of HTTP.

    DELETE is of sessions, and so of the revisions before 2026-07-28. GET is so too, for what
    belongs to no request; a gateway has nothing of the kind to say.
    """
    is_modern = _names_modern(_by_name(headers))
    allowed = ("POST",) if is_modern else ("POST", "DELETE")
    if method in allowed:
        return None
    outcome = envelope.error(incoming.INVALID_REQUEST, f"send {' or '.join(allowed)}")
    return Refusal(_NO_METHOD, outcome, headers=((b"allow", ", ".join(allowed).encode()),))


def read_post(headers: Headers, body: bytes | bytearray, offer: Offer) -> Refusal | Posted:
    """Read the messages of a POST, or refuse it."""
    told = _by_name(headers)
    refused = _refuse_types(told)
    if refused:
        return refused
    messages = incoming.read(body)
    if incoming.is_batch(body):
        return _read_batch(messages, told)
    message = messages[0] if messages else Malformed("null", incoming.PARSE_ERROR, _EMPTY)
    if isinstance(message, Malformed):
        outcome = envelope.error(message.code, message.message)
        return Refusal(_BAD, outcome, message.id)
    return _read_one(message, told, offer)


def status(outcome: str) -> int:
    """The status of a reply in JSON to a request of 2026-07-28; before, it is always 200."""
    if not outcome.startswith('"error"'):
        return _OK
    error = scan(f"{{{outcome}}}", {"error": {}}).members()["error"]
    code = error.member("code")
    return _STATUSES.get(code.text, _OK) if code else _OK


def _read_one(
    message: Request | Notification | Response, told: Told, offer: Offer
) -> Refusal | Posted:
    is_modern, version = _names_modern(told), told.get(_VERSION.lower(), [])
    if isinstance(message, Request):
        opens = message.method == "initialize"
        is_modern = envelope.has_envelope(message) or (is_modern and not opens)
        outcome = _modern_fault(message, told, offer) if is_modern else None
        if outcome:
            return Refusal(status(outcome), outcome, message.id)
        if opens:  # with whatever version of an attempt before it
            return Posted([message], is_modern=False)
    elif isinstance(message, Response) and is_modern:
        return _invalid("nothing is asked of a client, so there is nothing to respond to")
    if len(version) > 1:
        return _invalid(f"the header {_VERSION} stands there twice")
    return Posted([message], is_modern)


def _read_batch(messages: list[Incoming], told: Told) -> Refusal | Posted:
    """Take a batch, unless it is of another revision than the one that has them."""
    version = told.get(_VERSION.lower(), [])
    requests = (each for each in messages if isinstance(each, Request))
    if version not in ([], [_BATCHES]) or any(map(envelope.has_envelope, requests)):
        return _invalid(f"send one message, no array: only {_BATCHES} has them")
    if isinstance(messages[0], Malformed) and len(messages) == 1:
        return Refusal(_BAD, envelope.error(messages[0].code, messages[0].message), messages[0].id)
    return Posted(messages, is_modern=False)


def _refuse_types(told: Told) -> Refusal | None:
    kinds = [_media_type(value) for value in told.get("content-type", [])]
    if kinds != ["application/json"]:
        return _invalid("send the header Content-Type: application/json", _NO_TYPE)
    ranges = [
        _media_type(each) for value in told.get("accept", ["*/*"]) for each in value.split(",")
    ]
    for kind in ("application/json", "text/event-stream"):
        if not {kind, kind.partition("/")[0] + "/*", "*/*"}.intersection(ranges):
            words = "send the header Accept: application/json, text/event-stream"
            return _invalid(words, _NOT_ACCEPTABLE)
    return None


def _modern_fault(request: Request, told: Told, offer: Offer) -> str | None:
    """The error for the first fault of a request of 2026-07-28; None without any.

    Headers come before the version: one that differs from the body is told, whatever it names.
    """
    return (
        _repeated(told)
        or envelope.incomplete(request)
        or _unlike(request, told)
        or envelope.unsupported(request)
        or _unlike_parameters(request, told, offer)
        or (None if core.is_known(request.method) else core.unknown_method(request))
    )


def _repeated(told: Told) -> str | None:
    for name in (_VERSION, _METHOD, _NAME):
        if len(told.get(name.lower(), [])) > 1:
            return envelope.error(mcp.HEADER_MISMATCH, f"the header {name} stands there twice")
    return None


def _unlike(request: Request, told: Told) -> str | None:
    """The error for a header that is missing, or says something else than the body."""
    facts = envelope.facts_of(request)
    for header, text in ((_VERSION, facts.revision), (_METHOD, request.method)):
        if told.get(header.lower()) != [text]:
            return _mismatch(header)
    if request.method not in mirror.NAMED_BY:
        return None
    name = request.params.member_string(mirror.NAMED_BY[request.method]) if request.params else None
    given = told.get(_NAME.lower(), [])
    if name is None and not given:  # the fault of the body, which its handler tells
        return None
    return None if [mirror.decode(each) for each in given] == [name] else _mismatch(_NAME)


def _unlike_parameters(request: Request, told: Told, offer: Offer) -> str | None:
    """The error for a marked argument of a tool that its header does not repeat."""
    params = request.params.members() if request.params else {}
    name, arguments = params.get("name"), params.get("arguments")
    tool = offer.tools.get((name.string() or "") if name else "")
    marks = tool.marks if tool and request.method == mcp.TOOLS_CALL else ()
    if not marks or isinstance(marks, mirror.WrongMark):
        return None
    try:
        header = mirror.mismatch(marks, arguments.load() if arguments else None, told)
    except JsonError as problem:
        why = Redactor().plain(str(problem))
        return envelope.error(mcp.INVALID_PARAMS, f'"arguments" cannot be read: {why}')
    return _mismatch(header) if header else None


def _mismatch(header: str) -> str:
    words = f"the header {header} is missing, or does not say what the body says"
    return envelope.error(mcp.HEADER_MISMATCH, words)


def _invalid(words: str, status_: int = _BAD) -> Refusal:
    return Refusal(status_, envelope.error(incoming.INVALID_REQUEST, words))


def _names_modern(told: Told) -> bool:
    """Whether the header names a version that is not one of those before 2026-07-28."""
    return any(value not in mcp.LEGACY for value in told.get(_VERSION.lower(), []))


def _media_type(value: str) -> str:
    return value.partition(";")[0].strip().lower()


def _by_name(headers: Headers) -> Told:
    told: dict[str, list[str]] = {}
    for name, value in headers:
        told.setdefault(name.decode("latin-1").lower(), []).append(
            value.decode("latin-1").strip(" \t")
        )
    return told
