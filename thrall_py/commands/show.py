"""`thrall show` on the command line."""

import os
import sys

import click

from thrall_py import errors
from thrall_py.commands.invocation import Invocation, is_styled
from thrall_py.errors import UsageError
from thrall_py.transport import stdio
from thrall_py.visible import visible

_FORMATS = ("text", "names", "json", "thrall", "openai", "anthropic", "mcp", "mcp-json")


@click.command(short_help="Show a catalog, or one of its tools.")
@click.argument("catalog")
@click.argument("tool", required=False)
@click.option(
    "--format",
    "format_",
    envvar="THRALL_SHOW_FORMAT",
    type=click.Choice(_FORMATS),
    default="text",
    metavar="FORMAT",
    help="text, names, json, thrall, openai, anthropic, mcp or mcp-json (text).",
)
@click.pass_obj
def show(invocation: Invocation, *, catalog: str, tool: str | None, format_: str) -> int:
    """Show the tools of CATALOG, or how to call TOOL; nothing is started.

    Arguments are written name:type, with ! if required and = before a default.
    """
    from thrall_py.catalog import file, formats
    from thrall_py.output import usage
    from thrall_py.protocol import canonical

    if invocation.server is not None:
        raise UsageError("show starts no server")
    invocation.need_stdout()
    pinned = file.read(catalog)
    tools = formats.offered(pinned)
    if tool is not None:
        invocation.subject = tool
        file.entry_offering(pinned, tool)  # refused if there is none, or several
        tools = [each for each in tools if each[0] == tool]
    if format_ == "text" and tool is None and is_styled(1):
        usage.print_table(tools)
        return errors.ANSWERED
    if format_ == "text":
        lines = usage.lines(tools) if tool is None else usage.page(*tools[0], catalog)
    elif format_ == "names":
        lines = iter(visible(name) for name, _ in tools)
    elif format_ == "mcp-json":
        lines = iter([canonical.indented(formats.as_servers(pinned)).rstrip("\n")])
    else:
        call = [sys.executable, "-m", "thrall_py", "call", "NAME"]
        call += ["--catalog", os.path.abspath(catalog)]
        lines = iter([canonical.indented(formats.FORMATS[format_](tools, call)).rstrip("\n")])
    with invocation.interrupts as interrupts:
        text = "".join(f"{line}\n" for line in lines)
        stdio.write([text.encode("utf-8", "backslashreplace")], interrupts)
    return errors.ANSWERED
