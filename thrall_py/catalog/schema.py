"""What changed between two JSON Schemas, and which way.

A change that lets fewer values through narrows, one that lets more through widens. What narrows an
input breaks the caller; what widens an output breaks the reader. Where a change may be either, it
counts as breaking. (JSON Schema 2020-12; older keywords where they mean the same.)
"""

from collections.abc import Iterable, Iterator

from thrall_py.catalog import limits
from thrall_py.catalog.change import (
    ADDITIVE,
    BREAKING,
    COSMETIC,
    TEXT,
    Change,
    Slot,
    same,
    slot,
    told,
)
from thrall_py.catalog.limits import NARROWS, WIDENS, Path, Rule, appeared, missing
from thrall_py.protocol.jsontext import Json

INPUT, OUTPUT = limits.INPUT, limits.OUTPUT  # what `flow` may be

_READ = ("$comment", "description", "examples", "title")
_HINTS = ("default", "deprecated", "readOnly", "writeOnly")
_LOWER = ("exclusiveMinimum", "minItems", "minLength", "minProperties", "minimum")
_UPPER = ("exclusiveMaximum", "maxContains", "maxItems", "maxLength", "maxProperties", "maximum")
_OTHER_LIMITS = ("const", "dependentRequired", "format", "multipleOf", "pattern", "uniqueItems")
# What a change of these does cannot be told from them alone.
_OPAQUE = ("minContains", "$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$ref", "$schema")
_OPEN = ("additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties")
_CONDITIONS = ("contains", "else", "if", "not", "propertyNames", "then")
_CONDITION_MAPS = ("dependentSchemas", "patternProperties")


def compare(path: Path, before: Slot | None, after: Slot | None, flow: str) -> Iterator[Change]:
    """Find what changed between two schemas of values that go in, or come out (`flow`).

    A missing schema lets everything through, as `true` does.
    """
    if same(before, after):
        return
    if before is None or after is None:
        yield appeared(path, before, after, flow)
        return
    old, new = before.value, after.value
    if not isinstance(old, dict) or not isinstance(new, dict):
        yield from _boolean(path, before, after, flow)
        return
    for name in sorted(old.keys() | new.keys()):
        here = (*path, name)
        one, other = slot(old, name), slot(new, name)
        if same(one, other):
            continue
        if name == "properties":
            changes = _properties(here, old, new, flow)
        else:
            changes = _RULES.get(name, limits.nobody_knows)(here, one, other, flow)
        yield from told(changes, here, one, other)


def _properties(
    path: Path, old: dict[str, Json], new: dict[str, Json], flow: str
) -> Iterator[Change]:
    before, after = old.get("properties", {}), new.get("properties", {})
    if not isinstance(before, dict) or not isinstance(after, dict):
        yield Change(path, BREAKING, slot(old, "properties"), slot(new, "properties"))
        return
    required = new.get("required")
    for name in sorted(before.keys() | after.keys()):
        here, one, other = (*path, name), slot(before, name), slot(after, name)
        if one is None:
            needed = isinstance(required, list) and name in required
            yield Change(here, BREAKING if needed and flow == INPUT else ADDITIVE, one, other)
        elif other is None:
            yield Change(here, BREAKING, one, other)
        else:
            yield from compare(here, one, other, flow)


def _open(path: Path, before: Slot | None, after: Slot | None, flow: str) -> Iterator[Change]:
    """What may stand beside what is named: anything, if nothing is said of it."""
    one, other = before or Slot(value=True), after or Slot(value=True)
    if same(one, other):
        yield Change(path, COSMETIC, before, after)
    for change in compare(path, one, other, flow):
        yield change._replace(before=before, after=after) if change.path == path else change


def _alternatives(*, fewer_is_narrower: bool) -> Rule:
    @limits.of_lists
    def rule(path: Path, old: list[Json], new: list[Json], flow: str) -> Iterator[Change]:
        gone, added = missing(old, new), missing(new, old)
        if len(old) == len(new) and gone:
            for place, (one, other) in enumerate(zip(old, new, strict=True)):
                yield from compare((*path, str(place)), Slot(one), Slot(other), flow)
            return
        kind = COSMETIC
        if gone and added:
            kind = BREAKING
        elif gone or added:
            kind = (NARROWS if bool(gone) is fewer_is_narrower else WIDENS)[flow]
        yield Change(path, kind, Slot(old), Slot(new))

    return rule


_any_of = _alternatives(fewer_is_narrower=True)


def _one_of(path: Path, before: Slot | None, after: Slot | None, flow: str) -> Iterator[Change]:
    """Exactly one has to fit, so one that fits more may take the place of another."""
    one, other = (sorted(map(limits.spelled, _list(held))) for held in (before, after))
    for change in _any_of(path, before, after, flow):
        same_set = change.path != path or one == other
        readable = change.kind == TEXT or (change.kind == COSMETIC and same_set)
        yield change if readable else change._replace(kind=BREAKING)


def _positions(path: Path, before: Slot | None, after: Slot | None, flow: str) -> Iterator[Change]:
    old, new = (held.value if held else [] for held in (before, after))
    if not isinstance(old, list) or not isinstance(new, list):
        yield Change(path, BREAKING, before, after)
        return
    for place in range(max(len(old), len(new))):
        here = (*path, str(place))
        one, other = (Slot(side[place]) if place < len(side) else None for side in (old, new))
        if one and other:
            yield from compare(here, one, other, flow)
        else:  # what `items` says held, or holds, there instead
            yield Change(here, BREAKING, one, other)


def _definitions(
    path: Path, before: Slot | None, after: Slot | None, flow: str
) -> Iterator[Change]:
    old, new = (held.value if held else {} for held in (before, after))
    if not isinstance(old, dict) or not isinstance(new, dict):
        yield Change(path, BREAKING, before, after)
        return
    for name in sorted(old.keys() | new.keys()):
        here, one, other = (*path, name), slot(old, name), slot(new, name)
        if one is None or other is None:
            yield Change(here, ADDITIVE if one is None else BREAKING, one, other)
        else:
            yield from compare(here, one, other, flow)


def _condition(path: Path, before: Slot | None, after: Slot | None, flow: str) -> Iterator[Change]:
    """A schema that decides about another."""
    yield from _either_way(compare(path, before, after, flow))


def _conditions(path: Path, before: Slot | None, after: Slot | None, flow: str) -> Iterator[Change]:
    yield from _either_way(_definitions(path, before, after, flow))


def _shared(path: Path, before: Slot | None, after: Slot | None, flow: str) -> Iterator[Change]:
    """Schemas that are used elsewhere, below `not` too; a new one is not used by what was there."""
    for change in _definitions(path, before, after, flow):
        is_new = change.before is None and len(change.path) == len(path) + 1
        yield from [change] if is_new else _either_way([change])


def _either_way(changes: Iterable[Change]) -> Iterator[Change]:
    """Changes of which cannot be told which way they work: breaking, but for what is only read."""
    for change in changes:
        readable = change.kind in (TEXT, COSMETIC)
        yield change if readable else change._replace(kind=BREAKING)


def _list(held: Slot | None) -> list[Json]:
    return held.value if held and isinstance(held.value, list) else []


def _boolean(path: Path, before: Slot, after: Slot, flow: str) -> Iterator[Change]:
    """Two schemas of which one is true, false, or none at all."""
    known = all(isinstance(held.value, (bool, dict)) for held in (before, after))
    if known and (before.value is True or after.value is False):
        yield Change(path, NARROWS[flow], before, after)
    elif known and (before.value is False or after.value is True):
        yield Change(path, WIDENS[flow], before, after)
    else:
        yield Change(path, BREAKING, before, after)


_RULES: dict[str, Rule] = {
    "required": limits.required,
    "type": limits.types,
    "enum": limits.enum,
    "items": compare,
    "allOf": _alternatives(fewer_is_narrower=False),
    "anyOf": _any_of,
    "oneOf": _one_of,
    "prefixItems": _positions,
    "$defs": _shared,
    "definitions": _shared,
    **dict.fromkeys(_READ, limits.read),
    **dict.fromkeys(_HINTS, limits.hint),
    **dict.fromkeys(_LOWER, limits.bound(rises=True)),
    **dict.fromkeys(_UPPER, limits.bound(rises=False)),
    **dict.fromkeys(_OTHER_LIMITS, limits.limit),
    **dict.fromkeys(_OPAQUE, limits.opaque),
    **dict.fromkeys(_OPEN, _open),
    **dict.fromkeys(_CONDITIONS, _condition),
    **dict.fromkeys(_CONDITION_MAPS, _conditions),
}
