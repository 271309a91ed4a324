"""`thrall show` on the command line."""

from collections.abc import Iterator

import click

from thrall_py import errors
from thrall_py.commands.invocation import Invocation
from thrall_py.errors import UsageError
from thrall_py.transport import stdio
from thrall_py.visible import visible

_FORMATS = ("text", "names", "servers", "json", "thrall", "openai", "anthropic", "mcp", "mcp-json")
_AGENTS = ("claude-code", "claude-desktop", "cursor", "vscode")
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
@click.option("--serve", is_flag=True, help="With mcp-json: thrall serve as the one server.")
@click.option("--for", "agent", type=click.Choice(_AGENTS), metavar="AGENT",
              help="As claude-code, claude-desktop, cursor or vscode take it.")  # fmt: skip
@click.pass_obj
def show(  # noqa: PLR0913 - one for each option of its own
    invocation: Invocation,
    *,
    catalog: str,
    tool: str | None,
    format_: str,
    serve: bool,
    agent: str | None,
) -> int:
    """Show the tools of CATALOG (- for stdin), or how to call TOOL; nothing is started.

    Arguments are written name:type, with ! if required and = before a default.
    """
    from thrall_py.catalog import file, formats
    from thrall_py.commands import exports, servers
    from thrall_py.output import usage

    if invocation.server is not None:
        raise UsageError("show starts no server")
    is_stdin = catalog == _STDIN
    _refuse_contradictions(format_, tool, is_stdin=is_stdin, serve=serve, agent=agent)
    invocation.need_stdout()
    pinned = file.loads(stdio.read(), "stdin") if is_stdin else file.read(catalog)
    held, tools = pinned.servers, formats.offered(pinned)
    if tool is not None:
        invocation.subject = tool
        described = [] if tool in dict(tools) else [*usage.others(held, tool)]
        if described and format_ == "text":
            _print(iter(described), invocation)
            return errors.ANSWERED
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
    elif serve:
        lines = exports.gateway(invocation, catalog, pinned, agent)
    elif format_ == "mcp-json":
        lines = exports.servers(invocation, pinned)
    else:
        lines = exports.tools(tools, format_, catalog)
    _print(lines, invocation)
    return errors.ANSWERED


def _refuse_contradictions(
    format_: str, tool: str | None, *, is_stdin: bool, serve: bool, agent: str | None
) -> None:
    if agent is not None and not serve:
        raise UsageError("--for is about the configuration of an agent: it needs --serve")
    if serve and (format_ != "mcp-json" or tool is not None):
        raise UsageError(
            "--serve is about a whole catalog: it needs --format mcp-json, and no tool"
        )
    if is_stdin and (serve or format_ == "thrall"):
        what = "--serve" if serve else "--format thrall"
        raise UsageError(f"the commands of {what} need a catalog in a file, not stdin")


def _print(lines: Iterator[str], invocation: Invocation) -> None:
    with invocation.interrupts as interrupts:
        text = "".join(f"{line}\n" for line in lines)
        stdio.write([text.encode("utf-8", "backslashreplace")], interrupts)
