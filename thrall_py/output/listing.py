"""What `pin` tells a person about the tools it found: bounded, whatever a server offers."""

from collections.abc import Callable

from thrall_py.catalog import review
from thrall_py.catalog.entry import Entry, PinnedItem
from thrall_py.redact import Redactor

_MOST_TOOLS = 40  # lines
_MOST_WARNINGS = 30  # lines
_NAME = 40  # characters
_SUMMARY = 200  # characters

Row = tuple[str, str, str]


def tell(
    entry: Entry,
    warnings: list[str],
    redact: Redactor,
    say: Callable[[str], None],
    *,
    terminal: bool,
) -> None:
    """Tell what was pinned through `say`, line by line; on a terminal the tools are a table."""
    count = len(entry.tools)
    tools = "1 tool" if count == 1 else f"{count} tools"
    say(f"{tools} pinned; hints are the server's own word, nobody has verified them")
    rows = [_row(name, pin, redact) for name, pin in list(entry.tools.items())[:_MOST_TOOLS]]
    if terminal:
        from thrall_py.output import pretty

        pretty.print_table(("tool", "hints (unverified)", "summary"), rows, stderr=True)
    else:
        for name, hints, _ in rows:
            say(f"  {name}  ({hints})")
    if count > _MOST_TOOLS:
        say(f"  and {count - _MOST_TOOLS} more tools")
    for warning in warnings[:_MOST_WARNINGS]:
        say(f"warning: {warning}")
    if len(warnings) > _MOST_WARNINGS:
        say(f"and {len(warnings) - _MOST_WARNINGS} more warnings")


def _row(name: str, pin: PinnedItem, redact: Redactor) -> Row:
    description = pin.definition.get("description")
    first = description.strip().partition("\n")[0] if isinstance(description, str) else ""
    return (
        redact.plain(name, _NAME),
        review.describe_annotations(pin),
        redact.plain(first, _SUMMARY),
    )
