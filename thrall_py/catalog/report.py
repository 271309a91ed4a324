"""Differences in words a person can review. Pure; everything a server said is made visible."""

from collections.abc import Iterator
from typing import NamedTuple

from thrall_py.catalog.change import COSMETIC, Change, Slot
from thrall_py.catalog.drift import Difference
from thrall_py.protocol import canonical
from thrall_py.redact import Redactor
from thrall_py.visible import visible

_BRIEFLY = 5  # differences named in one sentence
_TOOL = 128  # characters of a tool's name
_PATH = 500  # characters of a path


class Report(NamedTuple):
    """What is to be said of one server of a catalog.

    Attributes:
        catalog: the path of the catalog, as it was given.
        server: its name in the catalog.
        tools: the names of its tools, pinned or new.
        differences: all of them, the allowed ones included.
        allowed: the classes that pass.
        notes: sentences that are no drift.
        failure: why it could not be checked; then there are no differences.
        status: the exit status that the failure earns.
        redact: makes its words fit to be repeated.

    """

    catalog: str
    server: str
    tools: tuple[str, ...]
    differences: list[Difference]
    allowed: frozenset[str]
    notes: list[str]
    failure: str | None
    status: int
    redact: Redactor

    def fails(self, difference: Difference) -> bool:
        """Whether a difference is drift, and not allowed."""
        return difference.change.kind not in self.allowed | {COSMETIC}

    @property
    def has_drifted(self) -> bool:
        """Whether a difference fails."""
        return any(map(self.fails, self.differences))


def describe(report: Report, *, with_catalog: bool = False) -> Iterator[str]:
    """One line for a server, one for each place that changed, and both sides of it in full."""
    if report.failure is not None:
        return
    count = len(report.differences)
    found = "as pinned" if not count else "1 difference" if count == 1 else f"{count} differences"
    catalog = f"{visible(report.catalog)}: " if with_catalog else ""
    yield f"{catalog}{visible(report.server)}: {found}"
    yield from describe_differences(report)


def describe_differences(report: Report) -> Iterator[str]:
    """The lines of `describe` without the first."""
    for difference in report.differences:
        change = difference.change
        allowed = "" if report.fails(difference) or change.kind == COSMETIC else ", allowed"
        yield f"  {place(difference, report.redact)}: {change.kind}, {verb(change)}{allowed}"
        for sign, held in (("-", change.before), ("+", change.after)):
            if held is not None:
                yield f"    {sign} {shown(held, report.redact)}"


def summarize(differences: list[Difference], redact: Redactor) -> str:
    """The places alone, in one sentence."""
    places = [f"{path(d.change, redact)} {verb(d.change)}" for d in differences[:_BRIEFLY]]
    more = len(differences) - _BRIEFLY
    return ", ".join(places) + (f", and {more} more" if more > 0 else "")


def place(difference: Difference, redact: Redactor) -> str:
    """The tool and the path of a difference, for a person."""
    where = path(difference.change, redact)
    if difference.tool is None:
        return where
    tool = redact.plain(difference.tool, _TOOL)
    return f"{tool}: {where}" if difference.change.path else tool


def path(change: Change, redact: Redactor) -> str:
    """The way to the place that changed."""
    return redact.plain(pointer(change, redact) or "the tool", _PATH)


def pointer(change: Change, redact: Redactor) -> str:
    """The same whole, in the manner of RFC 6901; secrets are masked before anything is escaped."""
    steps = map(redact.mask, change.path)
    return "/".join(step.replace("~", "~0").replace("/", "~1") for step in steps)


def verb(change: Change) -> str:
    """What happened there, in one word."""
    if change.before is None:
        return "added"
    return "removed" if change.after is None else "changed"


def shown(held: Slot, redact: Redactor) -> str:
    """What stands in a place, as JSON in ASCII: nothing in it acts on a terminal, nothing hides."""
    return redact.mask(canonical.compact(held.value))
