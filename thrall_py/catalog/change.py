"""One change between a pin and what is offered, and how much it matters.

breaking    what worked with the pin may not work any more
text        what a model reads is different, whether a person can see it or not
behaviour   what the server says the tool does is different
additive    there is more than before, and nothing else changed
cosmetic    nothing that a model or a caller depends on
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from thrall_py.protocol.jsontext import Json

BREAKING, TEXT, BEHAVIOUR, ADDITIVE, COSMETIC = CLASSES = (
    "breaking",
    "text",
    "behaviour",
    "additive",
    "cosmetic",
)
FAILING = CLASSES[:-1]


class Slot(NamedTuple):
    """What stands in a place; a wrapper, because null may stand there too."""

    value: Json


class Change(NamedTuple):
    """A place that changed; `before` or `after` is None where there was, or is, nothing."""

    path: tuple[str, ...]
    kind: str  # one of CLASSES
    before: Slot | None
    after: Slot | None


def slot(holder: dict[str, Json], name: str) -> Slot | None:
    """What stands under `name`, if anything does."""
    return Slot(holder[name]) if name in holder else None


def same(one: Slot | None, other: Slot | None) -> bool:
    """Whether the same stands in both places, by value: true is not 1."""
    if one is None or other is None:
        return one is other
    return _same(one.value, other.value)


def unknown(path: tuple[str, ...], before: Slot | None, after: Slot | None) -> Change:
    """The change of something nobody knows: a model may read it, or a client obey it."""
    kind = TEXT if _holds_text(before) or _holds_text(after) else BEHAVIOUR
    return Change(path, kind, before, after)


def told(
    changes: Iterable[Change], path: tuple[str, ...], before: Slot | None, after: Slot | None
) -> Iterator[Change]:
    """Take changes, and let no member appear or go unseen that means as much as none."""
    nothing = True
    for change in changes:
        nothing = False
        yield change
    if nothing and (before is None or after is None):
        yield Change(path, COSMETIC, before, after)


def _same(one: Json, other: Json) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other


def _holds_text(held: Slot | None) -> bool:
    match held and held.value:
        case str():
            return True
        case dict() as members:
            return bool(members)
        case list() as items:
            return any(_holds_text(Slot(item)) for item in items)
        case _:
            return False
