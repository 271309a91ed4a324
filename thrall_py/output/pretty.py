"""For a person at a terminal: the only importer of rich, itself imported only there."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text


def print_tools(rows: Iterable[tuple[str, str, str]]) -> None:
    """Print tools (name, hints, summary: each already visible) as a table on stderr."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("tool", style="cyan", overflow="fold")
    table.add_column("hints (unverified)", overflow="fold")
    table.add_column("summary", overflow="ellipsis", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(stderr=True, highlight=False).print(table)
