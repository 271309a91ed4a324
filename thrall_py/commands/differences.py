"""How differences are shown: in full as text, or word by word at a terminal."""

import shlex
from collections.abc import Iterable

from thrall_py.catalog import report
from thrall_py.catalog.report import Report
from thrall_py.commands.invocation import is_styled, say
from thrall_py.transport import stdio
from thrall_py.transport.interrupts import Interrupts
from thrall_py.visible import visible

_MOST = 20  # differences told on stderr
_SIDE = 1000  # characters of each side of one


def show(told: Report, heading: str, interrupts: Interrupts) -> None:
    """Print all of them to stdout below a heading, if there is one."""
    if told.failure is not None:
        return
    if is_styled(1):
        from thrall_py.output import pretty

        pretty.print_differences(told, heading, stderr=False)
        return
    lines = [heading] if heading else []
    lines += report.describe(told)
    stdio.write((f"{line}\n".encode() for line in lines), interrupts)


def advice(catalog: str, servers: Iterable[str]) -> str:
    """Say what a person does about drift."""
    again = shlex.join(["thrall", "pin", catalog, "--update", *servers])
    return f"review, then re-pin: {visible(again)}"


def tell(told: Report, about: str) -> None:
    """Tell the first of them on stderr."""
    first = told._replace(differences=told.differences[:_MOST])
    if is_styled(2):
        from thrall_py.output import pretty

        pretty.print_differences(first, "", stderr=True)
    else:
        for line in report.describe(first, _SIDE):
            say(line, about)
    more = len(told.differences) - _MOST
    if more > 0:
        say(f"  and {more} more differences", about)
