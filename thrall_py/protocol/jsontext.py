r"""Strict JSON, by place: which stretch of a message is which value.

A message is kept as Latin-1 text: one character for each of its bytes, whatever the script, so
50 MB stay 50 MB, a position in the text is a position in the message, and a value can be passed
on exactly as it came. Strings of any size are walked by a regular expression and decoded piece
by piece; json.loads sees only what is small or wanted whole.

Strict means RFC 8259, and of I-JSON (RFC 7493) that no name stands twice in one object. Numbers
keep their exact value (numbers.py).
"""

import contextlib
import functools
import json
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple, cast

from thrall_py.protocol.numbers import ExactNumber, number

Json = dict[str, "Json"] | list["Json"] | str | int | ExactNumber | bool | None

# Which parts of a message are looked into: names, or EACH for the elements of an array (and for
# the members of an object that have no shape of their own).
Shape = dict[str, "Shape"]
EACH = "*"

_BOM = b"\xef\xbb\xbf"
_SPACE = re.compile(r"[ \t\r\n]*")
# Possessive (*+): no memory of where to go back to, so a string may have any length. Said by what
# is in it, in Latin-1, and with an escape between two stretches, it is walked twice as fast.
_PLAIN = r"[ !#-\[\]-\xff]*+"
_STRING_BODY = rf'{_PLAIN}(?:\\(?:u[0-9a-fA-F]{{4}}|["\\/bfnrt]){_PLAIN})*+'
# A string; the group begins where an escape stands that is none in a bytes literal (`\/`, `\u`).
_STRING = rf'"{_PLAIN}(?:\\["\\bfnrt]{_PLAIN})*+({_STRING_BODY})"'
_MEMBER = f'[ \t\r\n]*"({_STRING_BODY})"[ \t\r\n]*:[ \t\r\n]*'


@functools.cache
def _compiled(expression: str) -> re.Pattern[str]:
    """Compile once, and not when this is loaded: a server is started before that."""
    return re.compile(expression)


def prepare() -> None:
    """Compile what walks a message, for 1 ms, while its sender is not ready yet."""
    for expression in (_STRING, _MEMBER):
        _compiled(expression)


class JsonError(ValueError):
    """Not JSON in the strict sense; the message says where and why."""


class Value(NamedTuple):
    """A value where it stands in its message; `children` is filled as far as the shape asked."""

    source: str
    start: int
    end: int
    children: "dict[str, Value] | list[Value] | None" = None
    is_simple: bool = False  # a string that a bytes literal could hold as it is

    @property
    def text(self) -> str:
        """The value as it was written, in Latin-1 (see above)."""
        return self.source[self.start : self.end]

    @property
    def first(self) -> str:
        """The first character: `{`, `[`, `"`, `t`, `f`, `n`, or that of a number."""
        return self.source[self.start]

    def members(self) -> "dict[str, Value]":
        """The members of an object that was looked into; none for any other value."""
        return self.children if isinstance(self.children, dict) else {}

    def member(self, name: str) -> "Value | None":
        """One of `members`, if it is there."""
        return self.members().get(name)

    def member_string(self, name: str) -> str | None:
        """The text of a member that is a string; None if it is not there, or no string."""
        member = self.member(name)
        return member.string() if member else None

    def load(self) -> Json:
        """The value itself.

        Raises:
            JsonError: it holds a number of absurd length, or a name twice in two spellings.

        """
        return load(decode(self.text))

    def string(self) -> str | None:
        """The text of a string; None for any other value."""
        if self.first != '"':
            return None
        return _unescape(self.source[self.start + 1 : self.end - 1])

    def pieces(self) -> Iterator[str]:
        """The text of a string, 64 KiB at a time."""
        from thrall_py.protocol.pieces import stretches

        return map(_unescape, stretches(self.source, self.start + 1, self.end - 1))

    def encoded(self) -> Iterator[bytes]:
        """The text of a string in UTF-8, 64 KiB at a time; half a surrogate pair as its escape."""
        from thrall_py.protocol.pieces import stretches, unescaped

        if self.is_simple:
            return map(unescaped, stretches(self.source, self.start + 1, self.end - 1))
        return (text.encode("utf-8", "backslashreplace") for text in self.pieces())


def latin1(message: bytes | bytearray) -> str:
    """The text of a message, checked to be UTF-8, less one byte order mark in front.

    Raises:
        JsonError: it is not UTF-8.

    """
    text = message.decode("latin-1")
    if text.isascii():
        return text
    from thrall_py.protocol.pieces import check_utf8

    try:
        check_utf8(message)
    except UnicodeDecodeError as problem:
        raise JsonError(f"not UTF-8 ({problem.reason})") from None
    return text[len(_BOM) :] if message.startswith(_BOM) else text


def decode(text: str) -> str:
    """Turn a stretch of Latin-1 text into what it means."""
    return text if text.isascii() else text.encode("latin-1").decode("utf-8")


def scan(source: str, shape: Shape, most: int = sys.maxsize) -> Value:
    """Find the places in the one JSON value that `source` holds, as deep as `shape` asks.

    Raises:
        JsonError: it is not one JSON value, or has more than `most` places that are asked for.

    """
    with _told():
        value = _walk(source, _skip_space(source, 0), shape, iter(range(most)))
        end = _skip_space(source, value.end)
        if end != len(source):
            raise _SyntaxError(end)
        return value


def load(text: str) -> Json:
    """Load what one JSON text means, strictly.

    Raises:
        JsonError: it is not one JSON value.

    """
    with _told():
        # cast: what a decoder without hooks for objects other than these returns
        return cast("Json", _LOADER.decode(text))


def validate(text: str) -> str:
    """Check that `text` is one JSON value, whatever its size.

    Returns:
        The first character of the value.

    Raises:
        JsonError: it is not.

    """
    with _told():
        _CHECKER.decode(text)
        return text[_skip_space(text, 0)]


class _SyntaxError(ValueError):
    def __init__(self, at: int) -> None:
        super().__init__(f"unexpected at character {at}")


@contextlib.contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except RecursionError:
        raise JsonError("nested too deeply") from None
    except ValueError as problem:
        raise JsonError(f"not JSON: {problem}") from None


def _walk(source: str, at: int, shape: Shape | None, room: Iterator[int]) -> Value:
    if next(room, None) is None:
        raise ValueError("more parts than are looked into")
    first = source[at : at + 1]
    if first == '"':
        found = _compiled(_STRING).match(source, at)
        if not found:
            raise _SyntaxError(at)
        return Value(source, at, found.end(), is_simple=found.start(1) == found.end(1))
    if shape is None or first not in ("{", "["):
        return Value(source, at, _CHECKER.raw_decode(source, at)[1])
    return (_walk_object if first == "{" else _walk_array)(source, at, shape, room)


def _walk_object(source: str, start: int, shape: Shape, room: Iterator[int]) -> Value:
    children: dict[str, Value] = {}
    at = _skip_space(source, start + 1)
    if source[at : at + 1] == "}":
        return Value(source, start, at + 1, children)
    while True:
        member = _compiled(_MEMBER).match(source, at)
        if not member:
            raise _SyntaxError(at)
        name = _unescape(member[1])
        if name in children:
            raise _twice(name)
        deeper = shape.get(name, shape.get(EACH))
        children[name] = value = _walk(source, member.end(), deeper, room)
        at, more = _after(source, value.end, "}")
        if not more:
            return Value(source, start, at, children)


def _walk_array(source: str, start: int, shape: Shape, room: Iterator[int]) -> Value:
    children: list[Value] = []
    at = _skip_space(source, start + 1)
    if source[at : at + 1] == "]":
        return Value(source, start, at + 1, children)
    while True:
        value = _walk(source, _skip_space(source, at), shape.get(EACH), room)
        children.append(value)
        at, more = _after(source, value.end, "]")
        if not more:
            return Value(source, start, at, children)


def _unescape(body: str) -> str:
    """Turn what stands between two quotation marks into what it means."""
    text = decode(body)
    return cast("str", json.loads(f'"{text}"')) if "\\" in text else text


def _after(source: str, at: int, closing: str) -> tuple[int, bool]:
    """Behind the comma or the closing bracket at `at`, and whether it was a comma."""
    at = _skip_space(source, at)
    if source[at : at + 1] not in (",", closing):
        raise _SyntaxError(at)
    return at + 1, source[at] == ","


def _skip_space(source: str, at: int) -> int:
    found = _SPACE.match(source, at)
    assert found, "matches the empty text too"
    return found.end()


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members: dict[str, Json] = {}
    for name, value in pairs:
        if name in members:
            raise _twice(name)
        members[name] = value
    return members


def _unique_names(pairs: list[tuple[str, object]]) -> None:
    """Check an object, and keep nothing of it."""
    if len(dict(pairs)) != len(pairs):
        _unique(cast("list[tuple[str, Json]]", pairs))


def _twice(name: str) -> ValueError:
    # Whole: who shows it masks secrets first, and then cuts.
    return ValueError(f"the name '{name}' stands twice in one object")


def _refuse_constant(word: str) -> Json:
    raise ValueError(f"{word} is not a JSON value")


_LOADER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_int=number, parse_float=number
)
# Only to see that it is JSON, and where it ends: of an object nothing is kept, and a number is
# measured, not read, so it may have any length. In Latin-1 text names are compared undecoded: one
# that stands twice in two spellings is found by `load`.
_CHECKER = json.JSONDecoder(
    object_pairs_hook=_unique_names, parse_constant=_refuse_constant, parse_int=len, parse_float=len
)
