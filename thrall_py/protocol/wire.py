"""Bytes to JSON-RPC messages and back (JSON-RPC 2.0; MCP "Base Protocol", all revisions).

A message that is not an answer we wait for is no error: servers print banners and stray JSON.
What to make of a message is the session's business.
"""

import json
import re
from collections.abc import Callable, Container, Iterable
from typing import NamedTuple

from thrall_py.protocol.jsontext import (
    EACH,
    Json,
    JsonError,
    Shape,
    Value,
    decode,
    latin1,
    scan,
)

# How deep a message is looked into: the text of a content part, each item of a list.
_RESULT: Shape = {
    "tools": {},
    "prompts": {},
    "resources": {},
    "resourceTemplates": {},
    "inputRequests": {EACH: {"params": {}}},
    "_meta": {},
}
MESSAGE: Shape = {"result": {"content": {EACH: {"resource": {}}}, **_RESULT}, "error": {}}
RELAYED: Shape = {"result": _RESULT, "error": {}}

_BREAKS = bytes.maketrans(b"\r\n", b"  ")
_ANY_ID = r'"id"[ \t\r]*:[ \t\r]*"?([0-9]{1,18})(?:\.0)?"?[ \t\r]*[,}]'
_OUTCOME = '"(?:result|error)"[ \t\r]*:'
# What a server of the legacy era may ask of a client ("Client Features", all revisions). No other
# method counts: a line of a log, cut somewhere, may name any, above all those that we send.
_ASKING = (
    r'"method"[ \t\r]*:[ \t\r]*"'
    r'(?:ping|roots/list|sampling/createMessage|elicitation/create)"'
)
_ID = '"id"[ \t\r]*:'


class Message(NamedTuple):
    """The members of one JSON-RPC message, as far as they are there."""

    declared: bool  # it has the member "jsonrpc", which is not insisted on
    id: Value | None
    method: str | None
    result: Value | None
    error: Value | None
    params: Value | None = None

    @property
    def is_answer(self) -> bool:
        """Whether it has a result or an error (`"error": null` beside a result is none)."""
        return self.result is not None or self.error is not None


def read(
    line: bytes | bytearray,
    shape: Shape = MESSAGE,
    scanned: Callable[[str, Shape], Value] = scan,
) -> list[Message]:
    """Take one line apart: the messages in it, none if it is JSON but no object.

    Args:
        line: as it came.
        shape: how deep a message is looked into.
        scanned: finds the places in it.

    Raises:
        JsonError: it is not JSON in UTF-8, or `scanned` says so.

    """
    text = latin1(line)
    # An array is a batch: the revision 2025-03-26 allows it, and servers send it in all the others.
    root = scanned(text, {EACH: shape} if text.lstrip(" \t\r").startswith("[") else shape)
    items = root.children if isinstance(root.children, list) else [root]
    return [_message(item) for item in items if item.first == "{"]


def request(id_: int | str, method: str, params: str) -> bytes:
    """Make a request from the JSON text of its params."""
    head = f'{{"jsonrpc":"2.0","id":{json.dumps(id_)},"method":"{method}"'
    return f'{head},"params":{params}}}\n'.encode()


def notification(method: str, params: str = "{}") -> bytes:
    """Make a notification from the JSON text of its params."""
    return f'{{"jsonrpc":"2.0","method":"{method}","params":{params}}}\n'.encode()


def error(code: int, message: str, data: str = "") -> str:
    """Make the member of a reply that refuses; `data` is JSON text."""
    more = f',"data":{data}' if data else ""
    return f'"error":{{"code":{code},"message":{json.dumps(message)}{more}}}'


def reply(id_: Value, outcome: str) -> bytes:
    """Answer a server's request, its id repeated as it came; `outcome` is a member in JSON."""
    return f'{{"jsonrpc":"2.0","id":{decode(id_.text)},{outcome}}}\n'.encode()


def is_broken_answer(line: bytes | bytearray, ids: Iterable[int | str]) -> bool:
    """Tell whether a line that `read` refused was meant as the answer to one of `ids`."""
    text = _object(line)
    return bool(re.search(_OUTCOME, text)) and any(_id_member(id_).search(text) for id_ in ids)


def is_broken_request(line: bytes | bytearray) -> bool:
    """Tell whether a line that `read` refused was meant as a request of the server's."""
    text = _object(line)
    return bool(re.search(_ASKING, text) and re.search(_ID, text))


def one_line(message: bytes) -> bytes:
    """Take the line breaks out that a message may have between its tokens; no string has one."""
    return message[:-1].translate(_BREAKS) + b"\n"


def broken_answers(line: bytes | bytearray, ids: Container[int | str]) -> set[int]:
    """Find those of `ids` that a line which `read` refused was meant to answer."""
    text = line.decode("latin-1")
    if not text.lstrip("\xef\xbb\xbf \t").startswith("{") or not re.search(_OUTCOME, text):
        return set()
    return {found for each in re.finditer(_ANY_ID, text) if (found := int(each[1])) in ids}


def same_id(value: Json, id_: int | str) -> bool:
    """Tell whether an answer's id is `id_`, by value: 2, 2.0 and "2" are one number."""
    if isinstance(value, bool):
        return False
    return value == id_ or (isinstance(value, str) and value == str(id_))


def load_or_none(value: Value | None) -> Json:
    """Load what a small value means; None when it is not there or cannot be loaded."""
    try:
        return value.load() if value else None
    except JsonError:
        return None


def _object(line: bytes | bytearray) -> str:
    """Take a line that may be a broken object as text; nothing of any other."""
    text = line.decode("latin-1")
    return text if text.lstrip("\xef\xbb\xbf \t").startswith("{") else ""


def _id_member(id_: int | str) -> re.Pattern[str]:
    # Anywhere in the line: where the top level ends cannot be told of what is no JSON.
    return re.compile(rf'"id"[ \t\r]*:[ \t\r]*"?{re.escape(str(id_))}(?:\.0)?"?[ \t\r]*[,}}]')


def _message(item: Value) -> Message:
    error, id_ = item.member("error"), item.member("id")
    return Message(
        declared=item.member("jsonrpc") is not None,
        id=None if id_ is None or id_.first == "n" else id_,
        method=item.member_string("method"),
        result=item.member("result"),
        error=None if error is None or error.first == "n" else error,
        params=item.member("params"),
    )
