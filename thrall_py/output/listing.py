"""What `pin` tells a person about the tools it found: bounded, whatever a server offers."""

from collections.abc import Callable
from enum import Enum

from thrall_py.catalog import review
from thrall_py.catalog.entry import PinnedItem
from thrall_py.catalog.filing import Filed
from thrall_py.redact import Redactor

_MOST_TOOLS = 40  # lines
_MOST_WARNINGS = 30  # lines
_NAME = 40  # characters
_SUMMARY = 200  # characters

Row = tuple[str, str, str]


class Occasion(Enum):
    """What is told of, in the words around what there is; they are named for a pin alone.

    A pin is held while a person is asked about another one.
    """

    PIN = "{} pinned; hints are the server's own word, nobody has verified them"
    HELD = "{}, to be pinned; hints are the server's own word, nobody has verified them"
    COMMAND = "{} pinned, a plain command"
    UPDATE = "{}"
    DRY_RUN = "would pin {}; nothing was written"


def tell(
    filed: Filed,
    redact: Redactor,
    say: Callable[[str], None],
    *,
    occasion: Occasion,
    terminal: bool,
) -> None:
    """Tell what was pinned, or would be, line by line; on a terminal the tools are a table.

    Args:
        filed: the pin in its catalog.
        redact: makes the server's words fit to be repeated.
        say: takes a line.
        occasion: what is told of.
        terminal: whether a person reads it at a terminal.

    """
    tools = filed.entry.offered
    say(occasion.value.format(filed.entry.counted))
    rows = _MOST_TOOLS if occasion in (Occasion.PIN, Occasion.HELD) else 0
    shown = [_row(name, item, redact) for name, item in list(tools.items())[:rows]]
    if terminal and shown:
        from thrall_py.output import pretty

        pretty.print_table(("tool", "hints (unverified)", "summary"), shown, stderr=True)
    else:
        for name, hints, _ in shown:
            say(f"  {name}  ({hints})")
    if 0 < rows < len(tools):
        say(f"  and {len(tools) - rows} more tools")
    if filed.left_out:
        names = [redact.plain(name, _NAME) for name in filed.left_out[:_MOST_TOOLS]]
        more = len(filed.left_out) - len(names)
        say(f"left out: {', '.join(names)}" + (f", and {more} more" if more else ""))
    for warning in filed.warnings[:_MOST_WARNINGS]:
        say(f"warning: {warning}")
    if len(filed.warnings) > _MOST_WARNINGS:
        say(f"and {len(filed.warnings) - _MOST_WARNINGS} more warnings")


def _row(name: str, pin: PinnedItem, redact: Redactor) -> Row:
    return (
        redact.plain(name, _NAME),
        review.describe_annotations(pin),
        redact.plain(pin.summary, _SUMMARY),
    )
