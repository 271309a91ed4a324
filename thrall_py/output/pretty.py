"""For a person at a terminal: the only importer of rich, itself imported only there."""

import locale
import os
from collections.abc import Iterable

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from thrall_py.catalog import report
from thrall_py.catalog.change import Change
from thrall_py.catalog.report import Report
from thrall_py.output import checkup, worddiff
from thrall_py.output.checkup import Check, Outcome
from thrall_py.redact import Redactor

_OUTCOMES = {
    Outcome.OK: ("\N{CHECK MARK}", "green"),
    Outcome.WARNING: ("!", "bold yellow"),
    Outcome.FAILED: ("\N{BALLOT X}", "bold red"),
    Outcome.SKIPPED: ("-", "dim"),
}
_STYLES = {worddiff.REMOVED: "red strike", worddiff.ADDED: "green bold", worddiff.SAME: ""}
_MARKS = {worddiff.REMOVED: ("[-", "-]"), worddiff.ADDED: ("{+", "+}"), worddiff.SAME: ("", "")}
_FOLD = 10  # lines of a whole definition
_GAP = 2  # columns between two of a table
_BAR = 20  # columns
_BARS = {True: ("━", "─"), False: ("#", ".")}  # what is done and what is not, without colour, too
_CLASSES = {"breaking": "red", "text": "yellow", "behaviour": "yellow", "cosmetic": "dim"}


def print_table(
    columns: tuple[str, str, str],
    rows: Iterable[tuple[str, str, str]],
    *,
    heading: str = "",
    stderr: bool,
) -> None:
    """Print rows whose cells are already visible, as is `heading`; the last column is cut to fit.

    However narrow the terminal is, each of the others has a third of it, if it needs so much.
    """
    console = _console(stderr=stderr)
    table = Table(box=None, pad_edge=False, header_style="bold")
    cells = [tuple(map(Text, row)) for row in rows]
    left = console.width
    for place, style in enumerate(("cyan", "")):
        needed = max([len(columns[place]), *(row[place].cell_len for row in cells)])
        width = max(1, min(needed, console.width // 3))
        table.add_column(columns[place], style=style, overflow="fold", width=width)
        left -= width + _GAP
    table.add_column(columns[2], overflow="ellipsis", no_wrap=True, max_width=max(left, 1))
    for row in cells:
        table.add_row(*row)
    if heading:
        console.print(Text(heading, style="bold"))
    if cells:
        console.print(table)


def print_differences(told: Report, heading: str, *, stderr: bool) -> None:
    """Print what changed, word by word; `heading` is visible already, or empty."""
    console = _console(stderr=stderr)
    is_plain = console.color_system is None or console.no_color
    if heading:
        console.print(Text(heading, style="bold"))
    for line in (*(f"  {line}" for line in told.relaunch), *report.overview(told)):
        console.print(Text(line))
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
        changed = _words(difference.change, told.redact, console.width * _FOLD, is_plain=is_plain)
        console.print(Padding(changed, (0, 0, 0, 4), expand=False))
        hidden = report.hidden_words(difference.change, told.redact)
        if hidden:
            console.print(Padding(Text(hidden, style="red"), (0, 0, 0, 4), expand=False))


def _words(change: Change, redact: Redactor, most: int, *, is_plain: bool) -> Text:
    """Lay out the words of both sides; of what came or went whole `most` characters at most."""
    changed = Text()
    if report.is_whole(change):
        held = change.before or change.after
        said = report.summary(held, redact) if held else ""
        if change.after is None:  # the definition is in the catalog
            return changed.append(said or "no description", _STYLES[worddiff.REMOVED])
        changed.append(f"{said}\n" if said else "")
    sign = worddiff.SAME
    for piece in worddiff.pieces(change, redact):
        if not is_plain and {sign, piece.sign} == {worddiff.REMOVED, worddiff.ADDED}:
            changed.append(" ")  # in what is copied there are no colours to tell them apart
        sign = piece.sign
        before, after = _MARKS[sign] if is_plain else _MARKS[worddiff.SAME]
        text, more = piece.text, 0
        if report.is_whole(change):
            text, more = text[:most], len(text[most:])
        changed.append(f"{before}{text}{after}", _STYLES[sign])
        changed.append(f"\nand {more} more characters, which a pipe shows: | less" if more else "")
    return changed


def status_line(
    stage: str, seconds: float, progress: tuple[float, float | None] | None, message: str
) -> str:
    """Make one line that fits the terminal; its words are visible already."""
    console = _console(stderr=True)
    line = Text(stage).append(f"  {seconds:.0f} s", "cyan")
    if progress is not None:
        done, total = progress
        if total is not None and total > 0:
            share = min(max(done / total, 0.0), 1.0)
            width = min(_BAR, console.width // 4)
            full, rest = _BARS[console.encoding.startswith("utf")]
            filled = int(share * width)
            line.append("  ").append(full * filled, "green").append(rest * (width - filled), "dim")
            line.append(f" {share:4.0%}", "cyan")
        else:
            line.append(f"  {done:g}", "cyan")
    line.append(f"  {message}" if message else "", "dim")
    line.truncate(console.width - 1, overflow="ellipsis")
    with console.capture() as captured:
        console.print(line, end="", soft_wrap=True)
    return captured.get()


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
    width, height = _dumb_size(2 if stderr else 1)
    return Console(stderr=stderr, highlight=False, width=width, height=height)


def _dumb_size(descriptor: int) -> tuple[int, int] | tuple[None, None]:
    """Measure a dumb terminal, which rich takes for one of 80 columns; it knows all others."""
    if os.environ.get("TERM") not in ("dumb", "unknown"):
        return None, None
    try:
        columns, lines = os.get_terminal_size(descriptor)
    except OSError:
        return None, None
    return columns or 80, lines or 25
