"""Differences in words a person can review. Pure; everything a server said is made visible."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from thrall_py.catalog.change import CLASSES, COSMETIC, Change, Slot
from thrall_py.catalog.drift import Difference
from thrall_py.protocol import canonical, mcp
from thrall_py.protocol.jsontext import Json
from thrall_py.redact import Redactor
from thrall_py.visible import tag_text, visible

_BRIEFLY = 5  # differences named in one sentence
_TOOL = 128  # characters of a tool's name
_PATH = 500  # characters of a path
_HIDDEN = 1000  # characters of what tag characters spell
_CONTEXT = 60  # characters before what differs
_SUMMARY = 200  # characters
_MANY = 20  # differences, above which they are counted by tool first
_MOST_TOOLS = 40  # that are counted

_MEMBERS = frozenset((kind.member,) for kind in mcp.KINDS)
_BY_ADDRESS = frozenset(kind.member for kind in (mcp.RESOURCES, mcp.TEMPLATES))

_NO_SECRETS = Redactor()


class Report(NamedTuple):
    """What is to be said of one server of a catalog.

    Attributes:
        catalog: the path of the catalog, as it was given.
        server: its name in the catalog.
        tools: the names of its tools, pinned or new.
        differences: all of them, the allowed ones included.
        allowed: the classes that pass.
        notes: sentences that are no drift.
        relaunch: what is new about how it is started or reached, in lines; of a new pin only.
        failure: why it could not be checked; then there are no differences.
        status: the exit status that the failure earns.
        redact: makes its words fit to be repeated.

    """

    catalog: str
    server: str
    tools: tuple[str, ...] = ()
    differences: Sequence[Difference] = ()
    allowed: frozenset[str] = frozenset()
    notes: Sequence[str] = ()
    failure: str | None = None
    status: int = 0
    redact: Redactor = _NO_SECRETS
    relaunch: Sequence[str] = ()

    def fails(self, difference: Difference) -> bool:
        """Whether a difference is drift, and not allowed."""
        return difference.change.kind not in self.allowed | {COSMETIC}

    @property
    def has_drifted(self) -> bool:
        """Whether a difference fails."""
        return any(map(self.fails, self.differences))

    def remark(self, difference: Difference) -> str:
        """What to add to a difference that would fail and is allowed."""
        is_drift = difference.change.kind != COSMETIC
        return ", allowed" if is_drift and not self.fails(difference) else ""


def heading(report: Report, *, with_catalog: bool = False) -> str:
    """The line for a server as a whole."""
    found = counted(report.differences, is_relaunched=bool(report.relaunch)) or "as pinned"
    catalog = f"{visible(report.catalog)}: " if with_catalog else ""
    return f"{catalog}{visible(report.server)}: {found}"


def counted(differences: Sequence[Difference], *, is_relaunched: bool) -> str:
    """The same without names: empty if nothing changed."""
    told = [tally(differences)] if differences else []
    return ", ".join([*told, *(["started or reached in another way"] if is_relaunched else [])])


def tally(differences: Sequence[Difference]) -> str:
    """How many there are, and how many of each class, the worst first."""
    kinds = [each.change.kind for each in differences]
    classes = [f"{kinds.count(kind)} {kind}" for kind in CLASSES if kind in kinds]
    count = "1 difference" if len(kinds) == 1 else f"{len(kinds)} differences"
    return f"{count} ({', '.join(classes)})"


def overview(report: Report) -> Iterator[str]:
    """One line for each tool, if there are so many differences that nobody sees them at once."""
    by_tool: dict[str, list[Difference]] = {}
    for each in sorted(report.differences, key=lambda each: each.tool or ""):
        name = "the server itself" if each.tool is None else report.redact.plain(each.tool, _TOOL)
        by_tool.setdefault(name, []).append(each)
    if len(report.differences) <= _MANY or len(by_tool) == 1:
        return
    for name, found in list(by_tool.items())[:_MOST_TOOLS]:
        yield f"  {name}: {tally(found)}"
    if len(by_tool) > _MOST_TOOLS:
        yield f"  and {len(by_tool) - _MOST_TOOLS} more tools"


def describe(report: Report, limit: int | None = None) -> Iterator[str]:
    """One line for each place that changed, and both sides of it; many are counted first.

    Args:
        report: what is told.
        limit: characters of a side, from shortly before what differs on; None for all.

    """
    yield from (f"  {line}" for line in report.relaunch)
    yield from overview(report)
    for difference in report.differences:
        change = difference.change
        where = place(difference, report.redact)
        yield f"  {where}: {change.kind}, {verb(change)}{report.remark(difference)}"
        sides = [("-", change.before), ("+", change.after)]
        texts = [shown(held, report.redact) for _, held in sides if held is not None]
        start = max(0, _common(*texts) - _CONTEXT) if limit and texts[1:] else 0
        for sign, held in sides:
            if held is not None:
                yield f"    {sign} {_window(shown(held, report.redact), start, limit)}"
        hidden = hidden_words(change, report.redact)
        if hidden:
            yield f"    {hidden}"


def hidden_words(change: Change, redact: Redactor) -> str:
    """Say what tag characters spell in what is new and in its path; empty if there are none."""
    held: list[Json] = [*change.path, change.after.value if change.after else None]
    words = " ".join(_tag_texts(held))
    told = f"in tag characters, which only a model reads: {redact.quoted(words, _HIDDEN)}"
    return told if words else ""


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
    """The way to the place that changed; the address of a resource stands there as it is."""
    member, *steps = change.path or ("",)
    if steps and member in _BY_ADDRESS:
        inside = pointer(change._replace(path=tuple(steps[1:])), redact)
        told = f"{member} {redact.mask(steps[0])}" + (f": {inside}" if inside else "")
    else:
        told = pointer(change, redact) or "the tool"
    return redact.plain(told, _PATH)


def is_whole(change: Change) -> bool:
    """Whether a tool, a prompt or a resource came or went, and not a part of one."""
    inside = change.path[2:] if change.path[:1] in _MEMBERS else change.path
    return not inside and (change.before is None or change.after is None)


def summary(held: Slot, redact: Redactor) -> str:
    """The first line of what a whole definition says of itself; empty if it says nothing."""
    said = held.value.get("description") if isinstance(held.value, dict) else None
    line = said.strip().partition("\n")[0] if isinstance(said, str) else ""
    return redact.plain(line, _SUMMARY)


def pointer(change: Change, redact: Redactor) -> str:
    """The same whole, in the manner of RFC 6901; secrets are masked before anything is escaped."""
    steps = map(redact.mask, change.path)
    return "/".join(step.replace("~", "~0").replace("/", "~1") for step in steps)


def verb(change: Change) -> str:
    """What happened there, in one word."""
    if change.before is None:
        return "added"
    return "removed" if change.after is None else "changed"


def _common(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _window(text: str, start: int, limit: int | None) -> str:
    if limit is None or len(text) <= limit:
        return text
    end = start + limit
    return ("..." if start else "") + text[start:end] + ("..." if end < len(text) else "")


def _tag_texts(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield from tag_text(value)
        case dict():
            for name, member in value.items():
                yield from tag_text(name)
                yield from _tag_texts(member)
        case list():
            for item in value:
                yield from _tag_texts(item)
        case _:
            pass


def shown(held: Slot, redact: Redactor) -> str:
    """What stands in a place, as JSON in ASCII: nothing in it acts on a terminal, nothing hides."""
    return redact.mask(canonical.compact(held.value))
