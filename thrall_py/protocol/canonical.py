"""One spelling for one value: the canonical form, its digest, and the form a catalog is written in.

In the manner of RFC 8785 (JSON Canonicalization Scheme): names in order, no white space. Unlike
it, numbers are exact (see numbers.py), names are ordered by code point, and everything outside
ASCII is escaped, so that a hidden character shows in a review.
"""

import hashlib
from collections.abc import Callable
from json.encoder import encode_basestring_ascii as quoted

from thrall_py.protocol.jsontext import Json, JsonError
from thrall_py.protocol.numbers import ExactNumber

_DEEPEST = 200  # levels; far beyond any schema, and within every Python's recursion limit
_INDENT = "  "


def sort_members(value: Json) -> Json:
    """Make the same value with the members of every object in order.

    Raises:
        JsonError: it is nested deeper than 200 levels.

    """
    return _sorted(value, _DEEPEST)


def _sorted(value: Json, levels: int) -> Json:
    if not levels:
        raise JsonError(f"nested deeper than {_DEEPEST} levels")
    match value:
        case dict():
            return {name: _sorted(value[name], levels - 1) for name in sorted(value)}
        case list():
            return [_sorted(item, levels - 1) for item in value]
        case _:
            return value


def compact(value: Json) -> str:
    """`value` in ASCII on one line, members as they stand."""
    written: list[str] = []
    _write(value, written.append, "", "")
    return "".join(written)


def indented(value: Json) -> str:
    """`value` in ASCII over several lines with a final newline, members as they stand."""
    written: list[str] = []
    _write(value, written.append, "\n", _INDENT)
    return "".join([*written, "\n"])


def digest(value: Json) -> str:
    """Make `sha256:` and the SHA-256, in hexadecimal, of a value whose members are in order."""
    return "sha256:" + hashlib.sha256(compact(value).encode()).hexdigest()


def _write(value: Json, write: Callable[[str], object], line: str, indent: str) -> None:
    """Write `value`; `line` starts a new line at its level ("" for the compact form)."""
    inner = line and line + indent
    match value:
        case str():
            write(quoted(value))
        case True | False | None:
            write("null" if value is None else "true" if value else "false")
        case int() | ExactNumber():
            write(str(value))
        case dict() if value:
            colon, before = ": " if line else ":", "{"
            for name, member in value.items():
                write(f"{before}{inner}{quoted(name)}{colon}")
                _write(member, write, inner, indent)
                before = ","
            write(line + "}")
        case list() if value:
            before = "["
            for item in value:
                write(before + inner)
                _write(item, write, inner, indent)
                before = ","
            write(line + "]")
        case _:
            write("{}" if isinstance(value, dict) else "[]")
