"""What changed between what was pinned and what is offered. Pure.

Not a change: the order of tools, of members and of `required`; the spelling of a number; the
server's version. Everything else is, whether a person can see it or not.
"""

from typing import NamedTuple

from thrall_py.catalog.entry import Entry, Offer, Pin
from thrall_py.protocol.jsontext import Json

# Below these keywords of JSON Schema stands data, in which an order means something.
_DATA = frozenset(("const", "default", "enum", "examples"))


class Difference(NamedTuple):
    """One place that changed; `before` or `after` is None where there was, or is, nothing."""

    tool: str | None  # None: the server itself
    path: tuple[str, ...]
    before: "Held | None"
    after: "Held | None"


class Held(NamedTuple):
    """What stands in a place; a wrapper, because null may stand there too."""

    value: Json


def of_server(entry: Entry, instructions: str | None, offer: Offer) -> list[Difference]:
    """Every difference between an entry and what its server says and offers now."""
    found = _compare(None, ("instructions",), _held(entry.server.instructions), _held(instructions))
    for name in sorted(entry.tools.keys() | offer.tools.keys()):
        found += of_tool(name, entry.tools.get(name), offer.tools.get(name))
    return found


def of_tool(name: str, before: Pin | None, after: Pin | None) -> list[Difference]:
    """Every difference between a tool as pinned and as offered; None where there is none."""
    if before and after and before.digest == after.digest:
        return []
    return _compare(
        name,
        (),
        before and Held(before.definition),
        after and Held(after.definition),
    )


def _held(text: str | None) -> Held | None:
    return None if text is None else Held(text)


def _compare(
    tool: str | None, path: tuple[str, ...], before: Held | None, after: Held | None
) -> list[Difference]:
    if before is None or after is None:
        return [] if before is after else [Difference(tool, path, before, after)]
    old, new = before.value, after.value
    if isinstance(old, dict) and isinstance(new, dict):
        found = []
        for name in sorted(old.keys() | new.keys()):
            inner = (Held(side[name]) if name in side else None for side in (old, new))
            found += _compare(tool, (*path, name), *inner)
        return found
    if isinstance(old, list) and isinstance(new, list):
        return _compare_lists(tool, path, old, new)
    same = type(old) is type(new) and old == new
    return [] if same else [Difference(tool, path, before, after)]


def _compare_lists(
    tool: str | None, path: tuple[str, ...], old: list[Json], new: list[Json]
) -> list[Difference]:
    names = [item for item in (*old, *new) if isinstance(item, str)]
    is_schema = path[-1:] == ("required",) and _DATA.isdisjoint(path)
    if is_schema and len(names) == len(old) + len(new):
        # A set of names: what is gone and what is new, at no place in particular.
        gone = [Difference(tool, (*path, str(n)), Held(n), None) for n in old if n not in new]
        return gone + [
            Difference(tool, (*path, str(n)), None, Held(n)) for n in new if n not in old
        ]
    found = []
    for place in range(max(len(old), len(new))):
        inner = (Held(side[place]) if place < len(side) else None for side in (old, new))
        found += _compare(tool, (*path, str(place)), *inner)
    return found
