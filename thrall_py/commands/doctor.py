"""`thrall doctor` on the command line: its options. `examining` does the rest."""

import functools

import click

from thrall_py import options
from thrall_py.commands.invocation import Invocation
from thrall_py.options import ServerOptions, WatchOptions
from thrall_py.verbs.connect import ConnectionOptions, prepare

_FORMATS = ("text", "json")


@click.command(short_help="Examine a server, step by step.")
@click.option(
    "--format",
    "format_",
    envvar="THRALL_DOCTOR_FORMAT",
    type=click.Choice(_FORMATS),
    default="text",
    metavar="FORMAT",
    help="text or json (text).",
)
@options.server_options
@functools.partial(options.connection, start_timeout="30", timeout="10")
@options.watching
@click.pass_obj
def doctor(
    invocation: Invocation,
    *,
    format_: str,
    server_options: ServerOptions,
    connection: ConnectionOptions,
    watch: WatchOptions,
) -> int:
    """Start a server, or reach one, and tell what works and what to do about the rest.

    \b
    thrall doctor -- SERVER [ARG]...
    thrall doctor --url URL
    It is asked what every server has to know; no tool that it has is called.
    """  # noqa: D301 - click's mark against wrapping
    from thrall_py.commands import examining, watching

    files = (server_options.header_file,)
    connection = watching.begin(invocation, watch, connection, files=files)
    invocation.need_stdout()
    spec = server_options.spec(invocation.server)
    server = prepare(spec, server_options.given, fill_in=False)
    return examining.run(invocation, spec, server, connection, as_json=format_ == "json")
