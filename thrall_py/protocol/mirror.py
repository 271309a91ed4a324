"""What of a request is repeated in HTTP headers, so that gateways need not read the body. Pure.

2026-07-28, "Streamable HTTP": the name of the tool, and the arguments that a tool's input schema
marks with `x-mcp-header`. A tool that marks them wrongly is not to be used.
"""

import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from thrall_py.protocol.jsontext import Json, JsonError, Value, load, scan
from thrall_py.protocol.numbers import ExactNumber, number

_MARK = "x-mcp-header"
_NAME = "Mcp-Name"
_PARAMETER = "Mcp-Param-"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2
_PLAIN = re.compile(r"(?!=\?base64\?)(?:[!-~](?:[ -~]*[!-~])?)?")
_PRINTABLE = re.compile(r"[ -~]*")
_CODED = re.compile(r"=\?base64\?(.*)\?=")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,300})(?:\.[0-9]{1,300})?")
_TYPES = ("string", "integer", "boolean")
# Members of a schema whose members are schemas by any name, and those that hold no schema at all.
_BY_NAME = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_DATA = ("const", "default", "enum", "examples")


class Mark(NamedTuple):
    """A marked parameter: where it stands in the arguments, and the name it has among headers."""

    path: tuple[str, ...]
    name: str


class WrongMark(NamedTuple):
    """Why a tool marks its parameters wrongly; the words may hold the server's own."""

    reason: str


Marks = tuple[Mark, ...] | WrongMark


class _Node(NamedTuple):
    schema: Json
    path: tuple[str, ...]
    is_parameter: bool  # reached from the root by names of properties only


def marks(tool: Value) -> Marks:
    """Find the marks in the definition of a tool."""
    if _MARK not in tool.text:
        return ()
    try:
        schema = scan(tool.text, {}).member("inputSchema")
        return tuple(_checked(schema.load() if schema else None))
    except JsonError as problem:
        return WrongMark(str(problem))


def headers(tool: str, marked: tuple[Mark, ...], arguments: str) -> dict[str, str]:
    """Make the headers of a call from the tool's marks and the JSON text of the arguments."""
    mirrored = {_NAME: encode(tool)}
    values = load(arguments) if marked else None
    for mark in marked:
        text = _text(_argument(values, mark.path))
        if text is not None:
            mirrored[_PARAMETER + mark.name] = encode(text)
    return mirrored


def encode(text: str) -> str:
    """Write text as the value of a header: plain if nothing is lost, else in base64."""
    if _PLAIN.fullmatch(text):
        return text
    coded = binascii.b2a_base64(text.encode("utf-8", "surrogatepass"), newline=False)
    return f"=?base64?{coded.decode()}?="


def decode(header: str) -> str | None:
    """Read the value of a header, its inverse; None if it is not written as it should be.

    What only begins like base64, and does not end so, is plain text (conformance suite).
    """
    header = header.strip(" \t")
    coded = _CODED.fullmatch(header)
    if not coded:
        return header if _PRINTABLE.fullmatch(header) else None
    try:
        return binascii.a2b_base64(coded[1], strict_mode=True).decode()
    except ValueError:
        return None


def mismatch(
    marked: tuple[Mark, ...], arguments: Json, given: Mapping[str, Sequence[str]]
) -> str | None:
    """Find a header that does not repeat its argument; `given` is by names in lower case."""
    for mark in marked:
        name = _PARAMETER + mark.name
        if not _repeats(given.get(name.lower(), ()), _argument(arguments, mark.path)):
            return name
    return None


def _repeats(given: Sequence[str], value: Json) -> bool:
    """Whether a header stands there once and says the same; none if there is nothing to say."""
    text = _text(value)
    if text is None or len(given) != 1:
        return text is None and not given
    told = decode(given[0])
    if told is None or isinstance(value, (str, bool)) or not _NUMBER.fullmatch(told):
        return told == text
    return number(told) == value  # 42.0 is 42


def _checked(schema: Json) -> Iterator[Mark]:
    seen = set()
    for node in _nodes(schema):
        if not isinstance(node.schema, dict) or _MARK not in node.schema:
            continue
        name = node.schema[_MARK]
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise JsonError(f"{_MARK} holds no name that a header can have")
        if not node.is_parameter:
            raise JsonError(f'{_MARK} "{name}" marks what is no parameter')
        if node.schema.get("type") not in _TYPES:
            raise JsonError(f'{_MARK} "{name}" marks no string, integer or boolean')
        if name.lower() in seen:
            raise JsonError(f'{_MARK} "{name}" stands there twice')
        seen.add(name.lower())
        yield Mark(node.path, name)


def _nodes(schema: Json) -> Iterator[_Node]:
    """Every schema within a schema, itself first; however deep, so by a list of what is due."""
    due = [_Node(schema, (), is_parameter=False)]
    while due:
        node = due.pop()
        yield node
        if isinstance(node.schema, list):
            due += [_Node(item, (), is_parameter=False) for item in node.schema]
        if not isinstance(node.schema, dict):
            continue
        on_path = node.is_parameter or node.schema is schema
        for key, inner in node.schema.items():
            if key in _BY_NAME and isinstance(inner, dict):
                follows = on_path and key == "properties"
                due += [_Node(each, (*node.path, name), follows) for name, each in inner.items()]
            elif key not in _DATA:
                due.append(_Node(inner, (), is_parameter=False))


def _argument(value: Json, path: tuple[str, ...]) -> Json:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _text(value: Json) -> str | None:
    """The text of an argument; None for one that is absent, or that no header can repeat."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, ExactNumber)) else None
