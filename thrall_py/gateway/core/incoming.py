"""What a client sent: one message, read as far as a gateway has to look into it. Pure.

JSON-RPC 2.0 as the "Base Protocol" of MCP narrows it (all revisions): ids are strings or integers,
params are objects. What a client wrote is kept in `Value`s, of which nothing is loaded here.

JSON text that passes through the gateway is Latin-1 wherever it is a `str`: a character for each
byte, as in `Value.text`.
"""

import itertools
import re
from typing import NamedTuple

from thrall_py.protocol import mcp
from thrall_py.protocol.bounded import scan_bounded
from thrall_py.protocol.jsontext import EACH, JsonError, Shape, Value, latin1, scan
from thrall_py.redact import Redactor

NO_ID = "null"
PARSE_ERROR = -32700  # this and the next: JSON-RPC 2.0, section 5.1
INVALID_REQUEST = -32600
MOST = 1000  # messages in one array

_DEEPEST = 200  # levels, as in a catalog: a server may have less of a stack than we have
_LONGEST_ID = 1000  # characters
_BLANK = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"
# What is looked into: of the params, what says how and what is asked, not what with.
_MESSAGE: Shape = {
    "params": {"_meta": {}, "ref": {}, "clientInfo": {}, "inputResponses": {}},
    "result": {},
    "error": {},
}
# An integer may be spelled with a fraction of nothing: 1.0 is one (JSON Schema, "integer").
_INTEGER = re.compile(r"-?\d+(?:\.0+)?")
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"')
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_NO_BRACKETS = bytes(set(range(256)) - _STEP.keys())


class Request(NamedTuple):
    """A request; `id` is its JSON text as it came, for the response to repeat."""

    id: str
    method: str
    params: Value | None


class Notification(NamedTuple):
    """A notification, to which nothing is answered."""

    method: str
    params: Value | None


class Response(NamedTuple):
    """A client's response to a request of ours; one of `result` and `error` is there, or neither.

    `id` is JSON text, `null` if it is none that we could have given.
    """

    id: str
    result: Value | None
    error: Value | None


class Malformed(NamedTuple):
    """No message; `id` is JSON text as well, `null` if none can be read."""

    id: str
    code: int
    message: str


Incoming = Request | Notification | Response | Malformed


def read(line: bytes | bytearray) -> list[Incoming]:
    """Take what a client sent apart: nothing if it is blank, several messages if it is an array.

    An array is a batch (2025-03-26); whether there may be one is for who knows the revision, see
    `is_batch`. Nothing is raised: what is no message is `Malformed`, with what to answer.
    """
    if not line.strip(_BLANK):
        return []
    try:
        text = latin1(line)
        return _batch(text) if is_batch(line) else [_message(scan_bounded(text, _MESSAGE))]
    except JsonError as problem:
        return [Malformed(NO_ID, PARSE_ERROR, Redactor().plain(str(problem)))]


def is_batch(line: bytes | bytearray) -> bool:
    """Tell whether a message, if it is one, is an array of them."""
    return line.removeprefix(_BOM).lstrip(_BLANK).startswith(b"[")


def verbatim(value: Value) -> str:
    """The text of a value as it was written, in Latin-1, but on one line.

    A line break stands between tokens only, where a space is as good, and what came in the body
    of a POST may go on over a pipe.
    """
    return value.text.replace("\r", " ").replace("\n", " ")


def id_text(value: Value | None) -> str:
    """The JSON text of an id, or of a token; empty for one that is missing, or may not be."""
    if value is None or value.end - value.start > _LONGEST_ID:
        return ""
    return value.text if value.first == '"' or _INTEGER.fullmatch(value.text) else ""


def _batch(text: str) -> list[Incoming]:
    items = scan_bounded(text, {EACH: _MESSAGE}).children
    assert isinstance(items, list), "it is an array"
    if not 0 < len(items) <= MOST:
        return [_invalid(f"an array holds 1 to {MOST} messages")]
    # Each has a text of its own: one that waits would keep the whole array.
    return [_message(scan(item.text, _MESSAGE), in_batch=True) for item in items]


def _message(item: Value, *, in_batch: bool = False) -> Incoming:
    if item.first != "{":
        return _invalid("a message is a JSON object")
    known = id_text(item.member("id"))
    if "method" not in item.members() and item.members().keys() & {"result", "error"}:
        return _response(known or NO_ID, item)
    fault = _fault(item, known, in_batch=in_batch)
    if fault:
        return _invalid(fault, known)
    method, params = item.member_string("method") or "", item.member("params")
    if params and params.first != "{":
        if not known:  # nothing is answered to a notification, whatever it is (JSON-RPC 2.0, 4.1)
            return Notification(method, None)
        return Malformed(known, mcp.INVALID_PARAMS, '"params" should be an object')
    return Request(known, method, params) if known else Notification(method, params)


def _fault(item: Value, known: str, *, in_batch: bool) -> str:
    """Why an object is no request and no notification; empty if it is one."""
    method = item.member_string("method")
    if "id" in item.members() and not known:
        return f"an id is a string or an integer, of at most {_LONGEST_ID} characters"
    if method is None or item.member_string("jsonrpc") != "2.0":
        return 'a request has "jsonrpc": "2.0" and a "method"'
    if in_batch and method == "initialize":  # 2025-03-26, "Lifecycle"
        return "initialize stands alone, not in an array"
    return f"nested deeper than {_DEEPEST} levels" if _is_deep(item.text) else ""


def _response(known: str, item: Value) -> Response:
    """Read a response leniently: to answer it with an error could go on for ever.

    One that is nested too deeply has neither result nor error.
    """
    if _is_deep(item.text):
        return Response(known, None, None)
    result, error = item.member("result"), item.member("error")
    if error and error.first != "n":
        return Response(known, None, error)
    return Response(known, result, None if result else error)


def _invalid(words: str, id_: str = "") -> Malformed:
    return Malformed(id_ or NO_ID, INVALID_REQUEST, words)


def _is_deep(text: str) -> bool:
    """Tell whether valid JSON is nested deeper than any client of good will would."""
    if text.count("[") + text.count("{") <= _DEEPEST:
        return False
    brackets = _STRING.sub("", text).encode("latin-1").translate(None, _NO_BRACKETS)
    return max(itertools.accumulate(_STEP[bracket] for bracket in brackets)) > _DEEPEST
