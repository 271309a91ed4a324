"""The vocabulary of expectations: what has to be said of a server that plays a case.

A difference is written `CLASS PLACE`, with the place as in edits.py; CLASS may name several that are
right, as in `text|behaviour`. Without any, each edit of a case is one difference of its class.
"""

from typing import NamedTuple

from drift.edits import Edit

BREAKING, TEXT, BEHAVIOUR, ADDITIVE, COSMETIC = CLASSES = (
    "breaking",
    "text",
    "behaviour",
    "additive",
    "cosmetic",
)
KNOWN_TO_NOBODY = "text|behaviour|breaking"
UNTOUCHED = "ring_bell"
NEW = (2, 3, 6)  # statuses of calling a tool that was never pinned


class Case(NamedTuple):
    """What a server does differently, and what has to be said of it."""

    about: str
    edits: tuple[Edit, ...]
    check: tuple[int, ...]  # statuses that are right
    finds: tuple[str, ...]  # all differences, when the status is 0 or 1
    calls: dict[str, tuple[int, ...]]  # per tool, the statuses that are right
    may_find: tuple[str, ...] = ()  # differences that may be told as well
    pin: tuple[int, ...] = (0,)  # statuses of another pin; empty: not tried
    same_bytes: bool = False  # another pin writes the catalog that is there
    shows: tuple[str, ...] = ()  # words in the report, in JSON, and in what the pin says
    escapes: str = ""  # characters that the report shows escaped
    says: tuple[str, ...] = ()  # words on stderr of `check`
    no_line: tuple[str, ...] = ()  # lines that nobody may read in a report
    in_catalog: tuple[str, ...] = ()  # words in the catalog that was pinned again
    era: str = "dual"  # what the server speaks when it is pinned
    era_later: str = ""  # and afterwards, if something else
    options: tuple[str, ...] = ()  # of every later run
    short: bool = False  # no other tool is called, and nothing is checked after the pin


def drift(kind, about, *edits, finds=(), calls=None, check=(1,), **more):
    """Make the case of a change that fails the check, and the call of the tools that changed.

    `calls` says otherwise for some tools, or None: they are not called.
    """
    finds = finds or tuple(f"{kind} {edit.place}" for edit in edits)
    refused = {tool_of(find): (6,) for find in finds if tool_of(find)}
    others = {} if more.get("short") else {UNTOUCHED: (0,)}
    calls = {**refused, **others, **(calls or {})}
    calls = {tool: statuses for tool, statuses in calls.items() if statuses}
    return Case(about, edits, check, finds, calls, **more)


def briefly(kind, about, *edits, **more):
    """Make the same case with fewer runs: see `short`."""
    return drift(kind, about, *edits, short=True, **more)


def cosmetic(about, *edits, finds=(), **more):
    """Make the case of a change that is shown and passes; its tool may be called or refused."""
    finds = finds or tuple(f"{COSMETIC} {edit.place}" for edit in edits)
    either = {tool_of(find): (0, 6) for find in finds if tool_of(find)}
    return Case(about, edits, (0,), finds, either, **more)


def quiet(about, *edits, same_bytes=True, **more):
    """Make the case of what is no change at all."""
    calls = {"book_berth": (0,)}
    return Case(about, edits, (0,), (), calls, same_bytes=same_bytes, **more)


def unchecked(about, *edits, check=(4,), calls=(4,), pin=(4, 5), **more):
    """Make the case of a server that cannot be asked; `calls` are the statuses of any call."""
    return Case(about, edits, check, (), {UNTOUCHED: calls}, pin=pin, **more)


def tool_of(find):
    """Name the tool that a difference is about; None if it is about no tool."""
    member, _, rest = find.partition(" ")[2].partition("/")
    return rest.partition("/")[0] if member == "tools" else None
