"""`thrall show` on the command line."""

import os
import sys

import click

from thrall_py import errors
from thrall_py.commands.invocation import Invocation
from thrall_py.errors import UsageError
from thrall_py.transport import stdio
from thrall_py.visible import visible

_FORMATS = ("text", "names", "servers", "json", "thrall", "openai", "anthropic", "mcp", "mcp-json")
_STDIN = "-"


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
    help="text, names, servers, json, thrall, openai, anthropic, mcp or mcp-json (text).",
)
@click.pass_obj
def show(invocation: Invocation, *, catalog: str, tool: str | None, format_: str) -> int:
    """Show the tools of CATALOG (- for stdin), or how to call TOOL; nothing is started.

    Arguments are written name:type, with ! if required and = before a default.
    """
    from thrall_py.catalog import file, formats
    from thrall_py.commands import servers
    from thrall_py.output import usage
    from thrall_py.protocol import canonical

    if invocation.server is not None:
        raise UsageError("show starts no server")
    invocation.need_stdout()
    is_stdin = catalog == _STDIN
    pinned = file.loads(stdio.read(), "stdin") if is_stdin else file.read(catalog)
    held, tools = pinned.servers, formats.offered(pinned)
    if tool is not None:
        invocation.subject = tool
        entry = file.entry_offering(pinned, tool)  # refused if there is none, or several
        held = {name: each for name, each in held.items() if each is entry}
        tools = [each for each in tools if each[0] == tool]
    shown = [usage.Shown(*each) for each in sorted(held.items())]
    if format_ == "text" and tool is None:
        with invocation.interrupts as interrupts:
            servers.show(shown, interrupts)
        return errors.ANSWERED
    if format_ == "text":
        lines = usage.page(*tools[0], "CATALOG" if is_stdin else catalog)
    elif format_ == "names":
        lines = iter(visible(name) for name, _ in tools)
    elif format_ == "servers":
        lines = map(usage.server_line, shown)
    elif format_ == "mcp-json":
        lines = iter([canonical.indented(formats.as_servers(pinned)).rstrip("\n")])
    else:
        if format_ == "thrall" and is_stdin:
            raise UsageError("the commands of --format thrall need a catalog in a file, not stdin")
        call = [sys.executable, "-m", "thrall_py", "call", "NAME"]
        call += ["--catalog", os.path.abspath(catalog)]
        lines = iter([canonical.indented(formats.FORMATS[format_](tools, call)).rstrip("\n")])
    with invocation.interrupts as interrupts:
        text = "".join(f"{line}\n" for line in lines)
        stdio.write([text.encode("utf-8", "backslashreplace")], interrupts)
    return errors.ANSWERED
