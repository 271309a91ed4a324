"""JSON that others wait for while it is read: what it may be made of is bounded.

One loop serves all, and a flood of tiny parts costs a multiple of its size in time and memory,
whatever its size may be.
"""

import re

from thrall_py.protocol.jsontext import JsonError, Shape, Value, scan

_MOST_INDEXED = 1 << 18  # values, at 3 microseconds each
_MOST_NESTED = 1 << 20  # arrays and objects, at 0.3 microseconds and 64 bytes each
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"')


def scan_bounded(source: str, shape: Shape) -> Value:
    """Find places as `jsontext.scan` does, in about a second at most for 64 MiB.

    Raises:
        JsonError: it is not one JSON value, or it has too many parts.

    """
    if _nested(source) > _MOST_NESTED and _nested(_without_strings(source)) > _MOST_NESTED:
        raise JsonError(f"made of more than {_MOST_NESTED} arrays and objects")
    return scan(source, shape, _MOST_INDEXED)


def _nested(text: str) -> int:
    return text.count("[") + text.count("{")


def _without_strings(text: str) -> str:
    """Leave out the strings, or so many of them that the time for it is bounded."""
    return _STRING.sub("", text, _MOST_NESTED)
