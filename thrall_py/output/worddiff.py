"""What changed within a place, word by word. Pure; what comes out is safe to look at."""

import difflib
import re
from typing import NamedTuple

from thrall_py.catalog import report
from thrall_py.catalog.change import Change, Slot
from thrall_py.redact import Redactor
from thrall_py.visible import visible

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_MOST = 2000  # words on one side; comparing takes the product of both
_CONTEXT = 120  # characters that stay the same, around what does not

SAME, REMOVED, ADDED = " ", "-", "+"


class Piece(NamedTuple):
    """Some words, and whether they stay the same, are removed, or are added."""

    sign: str
    text: str


def pieces(change: Change, redact: Redactor) -> list[Piece]:
    """Cut both sides of a change into what stays and what does not."""
    if change.before is None or change.after is None:
        one = [(REMOVED, change.before), (ADDED, change.after)]
        return [Piece(sign, _spelled(held, redact)) for sign, held in one if held is not None]
    sides = [_spelled(held, redact) for held in (change.before, change.after)]
    if sides[0] == sides[1]:  # "5" and 5, or a character and the text of its escape
        sides = [report.shown(held, redact) for held in (change.before, change.after)]
    before, after = map(_WORD.findall, sides)
    if max(len(before), len(after)) > _MOST:
        return [Piece(REMOVED, "".join(before)), Piece(ADDED, "".join(after))]
    found = []
    blocks = difflib.SequenceMatcher(None, before, after).get_opcodes()
    for _, start, end, other_start, other_end in blocks:
        old, new = "".join(before[start:end]), "".join(after[other_start:other_end])
        if old == new:
            found.append(Piece(SAME, _shortened(old)))
        else:
            found += [Piece(sign, text) for sign, text in ((REMOVED, old), (ADDED, new)) if text]
    return found


def _spelled(held: Slot, redact: Redactor) -> str:
    """A text without quotation marks, anything else as JSON; nothing hides in either."""
    value = held.value
    if isinstance(value, str):
        return visible(redact.mask(value))
    return report.shown(held, redact)


def _shortened(text: str) -> str:
    if len(text) <= 2 * _CONTEXT:
        return text
    return f"{text[:_CONTEXT]} ... {text[-_CONTEXT:]}"
