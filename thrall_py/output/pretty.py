"""For a person at a terminal: the only importer of rich, itself imported only there."""

import locale
from collections.abc import Iterable

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from thrall_py.catalog import report
from thrall_py.catalog.report import Report
from thrall_py.output import checkup, worddiff
from thrall_py.output.checkup import Check, Outcome

_OUTCOMES = {
    Outcome.OK: ("\N{CHECK MARK}", "green"),
    Outcome.WARNING: ("!", "bold yellow"),
    Outcome.FAILED: ("\N{BALLOT X}", "bold red"),
    Outcome.SKIPPED: ("-", "dim"),
}
_STYLES = {worddiff.REMOVED: "red strike", worddiff.ADDED: "green bold", worddiff.SAME: ""}
_MARKS = {worddiff.REMOVED: ("[-", "-]"), worddiff.ADDED: ("{+", "+}"), worddiff.SAME: ("", "")}
_CLASSES = {"breaking": "red", "text": "yellow", "behaviour": "yellow", "cosmetic": "dim"}


def print_table(
    columns: tuple[str, str, str], rows: Iterable[tuple[str, str, str]], *, stderr: bool
) -> None:
    """Print rows whose cells are already visible; the last column is cut to fit."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    first, second, last = columns
    table.add_column(first, style="cyan", overflow="fold")
    table.add_column(second, overflow="fold")
    table.add_column(last, overflow="ellipsis", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    _console(stderr=stderr).print(table)


def print_differences(told: Report, heading: str, *, stderr: bool) -> None:
    """Print what changed, word by word; `heading` is visible already, or empty."""
    console = _console(stderr=stderr)
    is_plain = console.color_system is None or console.no_color
    if heading:
        console.print(Text(heading, style="bold"))
    for difference in told.differences:
        kind = difference.change.kind
        console.print(
            Text.assemble(
                "  ",
                (report.place(difference, told.redact), "cyan"),
                ": ",
                (kind, _CLASSES.get(kind, "green")),
                f", {report.verb(difference.change)}{told.remark(difference)}",
            )
        )
        changed = Text()
        for piece in worddiff.pieces(difference.change, told.redact):
            before, after = _MARKS[piece.sign] if is_plain else _MARKS[worddiff.SAME]
            changed.append(f"{before}{piece.text}{after}", _STYLES[piece.sign])
        console.print(Padding(changed, (0, 0, 0, 4)))
        hidden = report.hidden_words(difference.change, told.redact)
        if hidden:
            console.print(Padding(Text(hidden, style="red"), (0, 0, 0, 4)))


def print_check(check: Check) -> None:
    """Print one step of an examination, its words beside its name; advice stands below."""
    console = _console(stderr=False)
    # Not the encoding of stdout: Python writes UTF-8 in the C locale, too.
    is_plain = console.is_dumb_terminal or locale.getencoding().lower() != "utf-8"
    mark, style = _OUTCOMES[check.outcome]
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=checkup.OUTCOME_WIDTH if is_plain else 1)
    grid.add_column(width=checkup.NAME_WIDTH)
    grid.add_column(ratio=1, overflow="fold")
    said = Text(check.timed_words, style="dim" if check.outcome is Outcome.SKIPPED else "")
    grid.add_row(Text(check.outcome.value if is_plain else mark, style), Text(check.name), said)
    if check.advice:
        grid.add_row("", "", Text(f"advice: {check.advice}", style="cyan"))
    console.print(grid)


def _console(*, stderr: bool) -> Console:
    return Console(stderr=stderr, highlight=False)
