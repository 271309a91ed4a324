"""What changed between what was pinned and what is offered. Pure.

Not a change: the order of tools, of members and of `required`; the spelling of a number; the
server's version. Everything else is, whether a person can see it or not.
"""

from typing import NamedTuple

from thrall_py.catalog.entry import Entry, LiveTools, PinnedTool
from thrall_py.protocol.jsontext import Json

# Below these keywords of JSON Schema stands data, in which an order means something.
_DATA = frozenset(("const", "default", "enum", "examples"))


class Difference(NamedTuple):
    """One place that changed; `before` or `after` is None where there was, or is, nothing."""

    tool: str | None  # None: the server itself
    path: tuple[str, ...]
    before: "Slot | None"
    after: "Slot | None"


class Slot(NamedTuple):
    """What stands in a place; a wrapper, because null may stand there too."""

    value: Json


def compare_server(entry: Entry, instructions: str | None, live: LiveTools) -> list[Difference]:
    """Every difference between an entry and what its server says and offers now."""
    found = _compare(None, ("instructions",), _held(entry.server.instructions), _held(instructions))
    for name in sorted(entry.tools.keys() | live.tools.keys()):
        found += compare_tool(name, entry.tools.get(name), live.tools.get(name))
    return found


def compare_tool(
    name: str, before: PinnedTool | None, after: PinnedTool | None
) -> list[Difference]:
    """Every difference between a tool as pinned and as offered; None where there is none."""
    if before and after and before.digest == after.digest:
        return []
    return _compare(
        name,
        (),
        before and Slot(before.definition),
        after and Slot(after.definition),
    )


def _held(text: str | None) -> Slot | None:
    return None if text is None else Slot(text)


def _compare(
    tool: str | None, path: tuple[str, ...], before: Slot | None, after: Slot | None
) -> list[Difference]:
    if before is None or after is None:
        return [] if before is after else [Difference(tool, path, before, after)]
    old, new = before.value, after.value
    if isinstance(old, dict) and isinstance(new, dict):
        found = []
        for name in sorted(old.keys() | new.keys()):
            inner = (Slot(side[name]) if name in side else None for side in (old, new))
            found += _compare(tool, (*path, name), *inner)
        return found
    if isinstance(old, list) and isinstance(new, list):
        return _compare_lists(tool, path, old, new)
    same = type(old) is type(new) and old == new
    return [] if same else [Difference(tool, path, before, after)]


def _compare_lists(
    tool: str | None, path: tuple[str, ...], old: list[Json], new: list[Json]
) -> list[Difference]:
    if path[-1:] == ("required",) and _DATA.isdisjoint(path) and _is_set(old) and _is_set(new):
        # What is gone and what is new, at no place in particular.
        gone = [Difference(tool, (*path, str(n)), Slot(n), None) for n in old if n not in new]
        added = [Difference(tool, (*path, str(n)), None, Slot(n)) for n in new if n not in old]
        return gone + added
    found = []
    for place in range(max(len(old), len(new))):
        inner = (Slot(side[place]) if place < len(side) else None for side in (old, new))
        found += _compare(tool, (*path, str(place)), *inner)
    return found


def _is_set(items: list[Json]) -> bool:
    """Whether `items` are names, each of them once."""
    names = [item for item in items if isinstance(item, str)]
    return len(set(names)) == len(items)
