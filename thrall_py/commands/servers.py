"""How the tools of servers are shown: a line each in a pipe, tables at a terminal."""

from collections.abc import Sequence

from thrall_py.commands.invocation import is_styled
from thrall_py.output import usage
from thrall_py.output.usage import Shown
from thrall_py.transport import stdio
from thrall_py.transport.interrupts import Interrupts


def show(servers: Sequence[Shown], interrupts: Interrupts) -> None:
    """Print the tools of all of them to stdout, server by server.

    Raises:
        OutputError, Interrupted: as `stdio.write`.

    """
    if is_styled(1):
        usage.print_tables(servers)
        return
    lines = (line for server in servers for line in usage.tool_lines(server))
    stdio.write((f"{line}\n".encode("utf-8", "backslashreplace") for line in lines), interrupts)
