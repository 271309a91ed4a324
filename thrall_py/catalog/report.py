"""Differences in words a person can review. Pure; everything a server said is made visible."""

from collections.abc import Iterator

from thrall_py.catalog.drift import Difference, Slot
from thrall_py.protocol import canonical
from thrall_py.redact import Redactor

_BRIEFLY = 5  # differences named in one sentence


def describe_server(name: str, differences: list[Difference], redact: Redactor) -> Iterator[str]:
    """One line for a server (`name`: visible), one for each place that changed, and both sides."""
    count = len(differences)
    found = "as pinned" if not count else "1 difference" if count == 1 else f"{count} differences"
    yield f"{name}: {found}"
    for difference in differences:
        yield f"  {_place(difference, redact)}: {_what(difference)}"
        for sign, held in (("-", difference.before), ("+", difference.after)):
            if held is not None:
                yield f"    {sign} {_shown(held, redact)}"


def summarize(differences: list[Difference], redact: Redactor) -> str:
    """The places alone, in one sentence."""
    places = [f"{_inside(d, redact)} {_what(d)}" for d in differences[:_BRIEFLY]]
    more = len(differences) - _BRIEFLY
    return ", ".join(places) + (f", and {more} more" if more > 0 else "")


def _place(difference: Difference, redact: Redactor) -> str:
    if difference.tool is None:
        return _inside(difference, redact)
    tool = redact.plain(difference.tool, 128)
    return f"{tool}: {_inside(difference, redact)}" if difference.path else tool


def _inside(difference: Difference, redact: Redactor) -> str:
    return redact.plain("/".join(difference.path) or "the tool", 500)


def _what(difference: Difference) -> str:
    if difference.before is None:
        return "added"
    return "removed" if difference.after is None else "changed"


def _shown(held: Slot, redact: Redactor) -> str:
    # JSON in ASCII: nothing in it acts on a terminal, and nothing hides.
    return redact.mask(canonical.compact(held.value))
