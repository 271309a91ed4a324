"""Rules for single keywords of a JSON Schema: which way a change of a limit works."""

from collections.abc import Callable, Iterator
from fractions import Fraction

from thrall_py.catalog.change import (
    ADDITIVE,
    BEHAVIOUR,
    BREAKING,
    COSMETIC,
    TEXT,
    Change,
    Slot,
    unknown,
)
from thrall_py.protocol import canonical
from thrall_py.protocol.jsontext import Json
from thrall_py.protocol.numbers import ExactNumber

INPUT, OUTPUT = "input", "output"
NARROWS = {INPUT: BREAKING, OUTPUT: ADDITIVE}
WIDENS = {INPUT: ADDITIVE, OUTPUT: BREAKING}

_TYPES = {"array", "boolean", "integer", "null", "number", "object", "string"}

Path = tuple[str, ...]
# The place, what stood and what stands there, and whether the values go in or come out.
Rule = Callable[[Path, Slot | None, Slot | None, str], Iterator[Change]]
ListRule = Callable[[Path, list[Json], list[Json], str], Iterator[Change]]


def required(path: Path, before: Slot | None, after: Slot | None, flow: str) -> Iterator[Change]:
    """Compare the names that have to be there."""
    old, new = _names(before), _names(after)
    if old is None or new is None:
        yield Change(path, BREAKING, before, after)
        return
    for name in sorted(set(old) ^ set(new)):
        added = name in new
        kind = (NARROWS if added else WIDENS)[flow]
        held = Slot(name)
        yield Change((*path, name), kind, None if added else held, held if added else None)
    if set(old) == set(new) and old != new:  # one of them is there twice
        yield Change(path, COSMETIC, before, after)


def types(path: Path, before: Slot | None, after: Slot | None, flow: str) -> Iterator[Change]:
    """Compare the types that are let through."""
    if before is None or after is None:
        yield appeared(path, before, after, flow)
        return
    old, new = _type_names(before), _type_names(after)
    if old is None or new is None:
        yield Change(path, BREAKING, before, after)
    elif old == new:
        yield Change(path, COSMETIC, before, after)
    elif new < old:
        yield Change(path, NARROWS[flow], before, after)
    elif old < new:
        yield Change(path, WIDENS[flow], before, after)
    else:
        yield Change(path, BREAKING, before, after)


def of_lists(compare: ListRule) -> Rule:
    """Make a rule out of one for two lists: where one is missing, or is none, that decides."""

    def rule(path: Path, before: Slot | None, after: Slot | None, flow: str) -> Iterator[Change]:
        if before is None or after is None:
            yield appeared(path, before, after, flow)
        elif not isinstance(before.value, list) or not isinstance(after.value, list):
            yield Change(path, BREAKING, before, after)
        else:
            yield from compare(path, before.value, after.value, flow)

    return rule


@of_lists
def enum(path: Path, old: list[Json], new: list[Json], flow: str) -> Iterator[Change]:
    """Compare the values that are let through, in any order."""
    gone, added = missing(old, new), missing(new, old)
    kind = COSMETIC
    if gone and added:
        kind = BREAKING
    elif gone or added:
        kind = (NARROWS if gone else WIDENS)[flow]
    yield Change(path, kind, Slot(old), Slot(new))


def bound(*, rises: bool) -> Rule:
    """Make the rule for a bound that is narrower when it rises, or when it falls."""

    def rule(path: Path, before: Slot | None, after: Slot | None, flow: str) -> Iterator[Change]:
        if before is None or after is None:
            yield appeared(path, before, after, flow)
            return
        old, new = _fraction(before.value), _fraction(after.value)
        if old is None or new is None:
            yield Change(path, BREAKING, before, after)
        else:
            yield Change(path, (NARROWS if (new > old) is rises else WIDENS)[flow], before, after)

    return rule


def limit(path: Path, before: Slot | None, after: Slot | None, flow: str) -> Iterator[Change]:
    """Compare a limit: it is new, gone, or another."""
    yield appeared(path, before, after, flow)


def opaque(path: Path, before: Slot | None, after: Slot | None, _: str) -> Iterator[Change]:
    """Compare what cannot be understood from here."""
    yield Change(path, BREAKING, before, after)


def read(path: Path, before: Slot | None, after: Slot | None, _: str) -> Iterator[Change]:
    """Compare what a model reads."""
    yield Change(path, TEXT, before, after)


def hint(path: Path, before: Slot | None, after: Slot | None, _: str) -> Iterator[Change]:
    """Compare what is said of a value, but not checked."""
    yield Change(path, BEHAVIOUR, before, after)


def nobody_knows(path: Path, before: Slot | None, after: Slot | None, _: str) -> Iterator[Change]:
    """Compare a keyword of no specification."""
    yield unknown(path, before, after)


def appeared(path: Path, before: Slot | None, after: Slot | None, flow: str) -> Change:
    """A limit that is new, or gone; one that became another counts as breaking."""
    if before is not None and after is not None:
        return Change(path, BREAKING, before, after)
    return Change(path, (NARROWS if before is None else WIDENS)[flow], before, after)


def _names(held: Slot | None) -> list[str] | None:
    """The names of a list, in order; None if it is no list of names."""
    names = held.value if held else []
    if not isinstance(names, list):
        return None
    found = [name for name in names if isinstance(name, str)]
    return sorted(found) if len(found) == len(names) else None


def _type_names(held: Slot) -> set[str] | None:
    """The types, if they are some that exist; nobody knows what others mean."""
    names = held.value if isinstance(held.value, list) else [held.value]
    found = {name for name in names if isinstance(name, str)}
    if len(found) != len(names) or not found <= _TYPES:
        return None
    return found | {"integer"} if "number" in found else found


def missing(items: list[Json], among: list[Json]) -> list[Json]:
    """List the items that are not among the others, by value."""
    there = set(map(spelled, among))
    return [item for item in items if spelled(item) not in there]


def spelled(value: Json) -> str:
    """Spell a value so that the same value has the same text."""
    return canonical.compact(canonical.sort_members(value))


def _fraction(value: Json) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, (int, ExactNumber)):
        return None
    spelling = str(value)
    if len(spelling.partition("e")[2]) > 4:  # noqa: PLR2004 - an exponent that would fill the memory
        return None
    return Fraction(spelling)
