"""`thrall serve` on the command line: its options. `serving` says what they mean."""

import click

from thrall_py import options
from thrall_py.commands.invocation import Invocation
from thrall_py.verbs.connect import ConnectionOptions

# gateway.audit has the same names; importing it for every verb is too slow.
_STYLES = ("text", "json")


@click.command(short_help="Serve a catalog as one MCP server.")
@click.argument("catalog")
@click.option("--http", metavar="HOST:PORT", help="Serve over HTTP, not on stdin and stdout.")
@click.option(
    "--token-env",
    callback=options.variable,
    metavar="VAR",
    help="Have HTTP clients show the token in VAR.",
)
@click.option(
    "--allow-origin",
    multiple=True,
    metavar="ORIGIN",
    help="Let pages of ORIGIN call, with --http; repeatable.",
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="HOST",
    help="Answer to the name HOST, with --http; repeatable.",
)
@click.option("--read-only", is_flag=True, help="Offer only tools pinned with readOnlyHint.")
@click.option("--ask", is_flag=True, help="Have the user approve each call of the others.")
@click.option("--eager", is_flag=True, help="Start all servers at once, not at first use.")
@click.option(
    "--idle",
    callback=options.seconds(0),
    default="0",
    metavar="SECONDS",
    help="End a server without a call for so long; 0 for never (0).",
)
@click.option("--isolate", is_flag=True, help="Start a fresh server for each call.")
@click.option(
    "--log",
    "style",
    envvar="THRALL_SERVE_LOG",
    type=click.Choice(_STYLES),
    default="text",
    metavar="FORMAT",
    help="text or json, on stderr (text).",
)
@options.connection
@click.pass_obj
def serve(  # noqa: PLR0913 - one for each option of its own
    invocation: Invocation,
    *,
    catalog: str,
    http: str | None,
    token_env: str | None,
    allow_origin: tuple[str, ...],
    allow_host: tuple[str, ...],
    read_only: bool,
    ask: bool,
    eager: bool,
    idle: float,
    isolate: bool,
    style: str,
    connection: ConnectionOptions,
) -> int:
    """Be one MCP server that offers what CATALOG holds, on stdin and stdout.

    Servers are started when they are needed. A tool that is not as it was pinned is
    listed as pinned, and its calls are refused.
    """
    from thrall_py.commands import serving
    from thrall_py.commands.serving import HttpOptions, ServeOptions

    wanted = ServeOptions(
        catalog=catalog,
        http=HttpOptions(address=http, token_env=token_env, origins=allow_origin, hosts=allow_host),
        read_only=read_only,
        ask=ask,
        eager=eager,
        idle=idle,
        isolate=isolate,
        style=style,
    )
    return serving.run(invocation, wanted, connection)
