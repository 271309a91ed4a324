"""`thrall pin` on the command line: its options. `pin_targets` and `pinning` say what they mean."""

import click

from thrall_py import options
from thrall_py.commands import watching
from thrall_py.commands.invocation import Invocation
from thrall_py.options import ServerOptions, WatchOptions
from thrall_py.verbs.connect import ConnectionOptions

# catalog.entry has the same names; importing it for every verb is too slow.
_SURFACE = ("instructions", "tools", "prompts", "resources", "resourceTemplates")


@click.command(short_help="Write what servers offer to a catalog.")
@click.argument("catalog")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--from", "source", metavar="FILE", help="Pin the servers of an mcpServers file.")
@click.option("--update", is_flag=True, help="Pin again what is in the catalog, and ask.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show what would change; write nothing.")
@click.option("--exec", "tool", metavar="NAME", help="Pin the command behind -- as the tool NAME.")
@click.option("--schema", metavar="FILE", help="The JSON Schema of its input (- for stdin).")
@click.option("--description", metavar="TEXT", help="What a model is told of it.")
@click.option("--read-only", is_flag=True, help="Say that it changes nothing.")
@click.option("--name", metavar="NAME", help="File the server under NAME, not its own.")
@click.option("--prefix", metavar="PREFIX", help="Call its tools by PREFIX and name.")
@click.option("--only", multiple=True, metavar="GLOB", help="Pin these tools alone; repeatable.")
@click.option("--except", "leave_out", multiple=True, metavar="GLOB", help="Leave these tools out.")
@click.option("--surface", multiple=True, type=click.Choice(_SURFACE), metavar="PART",
              help="Pin tools and PART, not everything.")  # fmt: skip
@click.option("--elicitation", is_flag=True, help="Say that the server may ask the user things.")
@click.option("--allow-literal", is_flag=True, help="Store words that look like credentials.")
@options.jobs
@options.server_options
@options.connection
@options.watching
@click.pass_obj
def pin(  # noqa: PLR0913 - one for each option of its own
    invocation: Invocation,
    *,
    catalog: str,
    names: tuple[str, ...],
    source: str | None,
    update: bool,
    yes: bool,
    dry_run: bool,
    tool: str | None,
    schema: str | None,
    description: str | None,
    read_only: bool,
    name: str | None,
    prefix: str | None,
    only: tuple[str, ...],
    leave_out: tuple[str, ...],
    surface: tuple[str, ...],
    elicitation: bool,
    allow_literal: bool,
    jobs: int,
    server_options: ServerOptions,
    connection: ConnectionOptions,
    watch: WatchOptions,
) -> int:
    """Ask servers for what they offer and write that to CATALOG (- for stdout).

    \b
    thrall pin CATALOG -- SERVER [ARG]...    thrall pin CATALOG --url URL
    thrall pin CATALOG --from FILE [NAME]... thrall pin CATALOG --update [NAME]...
    """  # noqa: D301 - click's mark against wrapping
    from thrall_py.commands import pinning
    from thrall_py.commands.pin_command import CommandOptions
    from thrall_py.commands.pin_targets import PinOptions

    wanted = PinOptions(
        catalog, names, source, update, yes, dry_run, name, prefix, only, leave_out, surface,
        elicitation, allow_literal, jobs, server_options,
        CommandOptions(tool, schema, description, read_only),
    )  # fmt: skip
    files = (catalog, source, server_options.header_file)
    connection = watching.begin(invocation, watch, connection, files=files)
    return pinning.run(invocation, wanted, connection)
