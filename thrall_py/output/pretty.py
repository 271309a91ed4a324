"""For a person at a terminal: the only importer of rich, itself imported only there."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text


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
    Console(stderr=stderr, highlight=False).print(table)
