"""The names in a catalog, for completion: read fast, a key was pressed and somebody waits.

`file` reads strictly and compares every digest, which takes several times as long. Nothing here is
relied on: whatever is done with a name goes through `file` again.
"""

import json
import os
import stat
from typing import NamedTuple

from thrall_py.protocol.jsontext import Json
from thrall_py.protocol.numbers import number

_LARGEST = 1 << 26  # bytes


class Outline(NamedTuple):
    """What a catalog names."""

    servers: tuple[str, ...] = ()
    tools: dict[str, dict[str, Json]] = {}  # noqa: RUF012 - definitions, by what they are called by


def read(path: str) -> Outline:
    """Read the names in a catalog; none if it is no catalog that can be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            about = os.fstat(descriptor)
            if not stat.S_ISREG(about.st_mode) or about.st_size > _LARGEST:
                return Outline()
            root: Json = json.loads(file.read(), parse_float=number)
    except (OSError, ValueError, RecursionError):
        return Outline()
    servers = _members(_members(root).get("servers"))
    tools = {
        _text(_members(entry).get("prefix")) + name: _members(_members(item).get("definition"))
        for entry in servers.values()
        for name, item in _members(_members(entry).get("tools")).items()
    }
    return Outline(tuple(servers), tools)


def _members(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
