"""What changed between what was pinned and what is offered. Pure.

Not a change: the order of tools, of members and of the names in `required`; the spelling of a
number; the server's version. Everything else is, whether a person can see it or not.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from thrall_py.catalog import schema
from thrall_py.catalog.change import (
    ADDITIVE,
    BEHAVIOUR,
    BREAKING,
    CLASSES,
    COSMETIC,
    TEXT,
    Change,
    Slot,
    same,
    slot,
    told,
    unknown,
)
from thrall_py.catalog.entry import Entry, Live, PinnedItem
from thrall_py.protocol import mcp
from thrall_py.protocol.jsontext import Json

# Revision 2025-11-25, "Tools": what a hint means where it is not given.
_HINT_DEFAULTS: dict[str, Json] = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": False,
    "openWorldHint": True,
}


Path = tuple[str, ...]


class Difference(NamedTuple):
    """A change, and the tool it is about; None for the server itself and what is no tool."""

    tool: str | None
    change: Change


def rank(difference: Difference) -> tuple[int, str, Path]:
    """Order differences for a reader: the worst class first, then by tool and by place."""
    change = difference.change
    return CLASSES.index(change.kind), difference.tool or "", change.path


def compare_server(entry: Entry, live: Live) -> list[Difference]:
    """Find every difference between an entry and what its server says and offers now."""
    found = []
    if live.server.name != entry.server.name:
        names = (Slot(server.name) for server in (entry.server, live.server))
        found.append(Difference(None, Change(("server", "name"), TEXT, *names)))
    before, after = _text(entry.server.instructions), _text(live.server.instructions)
    if "instructions" in entry.surface and not same(before, after):
        found.append(Difference(None, Change(("instructions",), TEXT, before, after)))
    for kind in mcp.KINDS:
        if kind.member in entry.surface:
            found += _compare_items(kind, entry, live)
    return found


def compare_tool(
    name: str, before: PinnedItem | None, after: PinnedItem | None
) -> list[Difference]:
    """Find every difference between a tool as pinned and as offered; None where there is none."""
    return [Difference(name, change) for change in _item(mcp.TOOLS, (), before, after)]


def compare_item(
    kind: mcp.Kind, name: str, before: PinnedItem | None, after: PinnedItem | None
) -> list[Difference]:
    """Find every difference between something as pinned and as offered, of whichever kind."""
    if kind is mcp.TOOLS:
        return compare_tool(name, before, after)
    return [Difference(None, change) for change in _item(kind, (kind.member, name), before, after)]


def _compare_items(kind: mcp.Kind, entry: Entry, live: Live) -> Iterator[Difference]:
    pinned, offered = entry.items.get(kind.member, {}), live.items.get(kind.member, {})
    for name in sorted(pinned.keys() | offered.keys()):
        if kind is not mcp.TOOLS or entry.choice.takes(name):
            yield from compare_item(kind, name, pinned.get(name), offered.get(name))


def _item(
    kind: mcp.Kind, path: Path, before: PinnedItem | None, after: PinnedItem | None
) -> Iterator[Change]:
    if before and after:
        if before.digest != after.digest:
            yield from _members(_RULES[kind.member], path, before.definition, after.definition)
    elif before:
        yield Change(path, BREAKING, Slot(before.definition), None)
    elif after:
        yield Change(path, ADDITIVE, None, Slot(after.definition))


def _members(
    rules: "_Rules", path: Path, old: dict[str, Json], new: dict[str, Json]
) -> Iterator[Change]:
    for name in sorted(old.keys() | new.keys()):
        here, before, after = (*path, name), slot(old, name), slot(new, name)
        if not same(before, after):
            rule = rules.get(name)
            if rule is None:
                yield unknown(here, before, after)
            elif isinstance(rule, str):
                yield Change(here, rule, before, after)
            else:
                yield from told(rule(here, before, after), here, before, after)


def _input(path: Path, before: Slot | None, after: Slot | None) -> Iterator[Change]:
    if before and after:
        yield from schema.compare(path, before, after, schema.INPUT)
    else:  # without it nobody knows what goes in
        yield Change(path, BREAKING, before, after)


def _output(path: Path, before: Slot | None, after: Slot | None) -> Iterator[Change]:
    if before and after:
        yield from schema.compare(path, before, after, schema.OUTPUT)
    else:  # a promise that is new, or not kept any more
        yield Change(path, ADDITIVE if after else BREAKING, before, after)


def _annotations(path: Path, before: Slot | None, after: Slot | None) -> Iterator[Change]:
    old, new = (held.value if held else {} for held in (before, after))
    if not isinstance(old, dict) or not isinstance(new, dict):
        yield Change(path, BEHAVIOUR, before, after)
        return
    for name in sorted(old.keys() | new.keys()):
        here, one, other = (*path, name), slot(old, name), slot(new, name)
        if same(one, other):
            continue
        if name == "title":
            yield Change(here, TEXT, one, other)
        elif name in _HINT_DEFAULTS:
            default = Slot(_HINT_DEFAULTS[name])
            kind = COSMETIC if same(one or default, other or default) else BEHAVIOUR
            yield Change(here, kind, one, other)
        else:
            yield unknown(here, one, other)


def _arguments(path: Path, before: Slot | None, after: Slot | None) -> Iterator[Change]:
    """The arguments of a prompt: objects with a name, in an order that means nothing."""
    old, new = _by_name(before), _by_name(after)
    if old is None or new is None:
        yield Change(path, BREAKING, before, after)
        return
    for name in sorted(old.keys() | new.keys()):
        here, one, other = (*path, name), old.get(name), new.get(name)
        if one is None or other is None:
            needed = bool(other and other.get("required") is True)
            kind = ADDITIVE if one is None and not needed else BREAKING
            sides = (None if side is None else Slot(side) for side in (one, other))
            yield Change(here, kind, *sides)
            continue
        yield from _members(_ARGUMENT, here, one, other)
    if list(old) != list(new) and old == new:
        yield Change(path, COSMETIC, before, after)


def _required(path: Path, before: Slot | None, after: Slot | None) -> Iterator[Change]:
    """Whether a prompt's argument has to be given; it need not be, if nothing is said."""
    default = Slot(value=False)
    one, other = before or default, after or default
    if same(one, other):
        yield Change(path, COSMETIC, before, after)
    else:
        yield Change(path, ADDITIVE if same(other, default) else BREAKING, before, after)


def _by_name(held: Slot | None) -> dict[str, dict[str, Json]] | None:
    items = held.value if held else []
    if not isinstance(items, list):
        return None
    named: dict[str, dict[str, Json]] = {}
    for item in items:
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(name, str) or name in named:
            return None
        named[name] = item
    return named


def _text(text: str | None) -> Slot | None:
    return None if text is None else Slot(text)


_Rules = dict[str, str | Callable[[Path, Slot | None, Slot | None], Iterator[Change]]]
_ARGUMENT: _Rules = {**dict.fromkeys(("description", "name", "title"), TEXT), "required": _required}
_ANY: _Rules = {
    **dict.fromkeys(("description", "name", "title"), TEXT),
    **dict.fromkeys(("_meta", "icons"), COSMETIC),
}
_RESOURCE: _Rules = {
    **_ANY,
    **dict.fromkeys(("uri", "uriTemplate"), TEXT),
    **dict.fromkeys(("annotations", "mimeType", "size"), BEHAVIOUR),
}
_RULES: dict[str, _Rules] = {
    "tools": {
        **_ANY,
        "execution": BEHAVIOUR,
        "inputSchema": _input,
        "outputSchema": _output,
        "annotations": _annotations,
    },
    "prompts": {**_ANY, "arguments": _arguments},
    "resources": _RESOURCE,
    "resourceTemplates": _RESOURCE,
}
