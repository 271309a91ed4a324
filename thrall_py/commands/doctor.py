"""`thrall doctor` on the command line: its options. `examining` does the rest."""

import functools

import click

from thrall_py import options
from thrall_py.catalog.launch import EntrySpec, ExecSpec, ServerSpec
from thrall_py.commands.invocation import Invocation
from thrall_py.errors import CatalogError, UsageError
from thrall_py.options import ServerOptions, WatchOptions
from thrall_py.verbs.connect import ConnectionOptions, prepare
from thrall_py.visible import visible

_FORMATS = ("text", "json")


@click.command(short_help="Examine a server, step by step.")
@click.argument("name", required=False)
@click.option("--catalog", metavar="CATALOG", help="Examine the pinned server NAME.")
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
def doctor(  # noqa: PLR0913 - one for each option of its own
    invocation: Invocation,
    *,
    name: str | None,
    catalog: str | None,
    format_: str,
    server_options: ServerOptions,
    connection: ConnectionOptions,
    watch: WatchOptions,
) -> int:
    """Start a server, or reach one, and tell what works and what to do about the rest.

    \b
    thrall doctor -- SERVER [ARG]...
    thrall doctor --url URL
    thrall doctor --catalog CATALOG [NAME]
    It is asked what every server has to know; no tool that it has is called.
    """  # noqa: D301 - click's mark against wrapping
    from thrall_py.commands import examining, watching

    files = (server_options.header_file,)
    connection = watching.begin(invocation, watch, connection, files=files)
    invocation.need_stdout()
    if catalog is None:
        if name is not None:
            raise UsageError("a NAME is of a server in a --catalog; any other is written behind --")
        spec, given = server_options.spec(invocation.server), server_options.given
    else:
        options.refuse_two_servers(invocation.server, server_options)
        spec, given = _pinned(catalog, name), {}
    server = prepare(spec, given, fill_in=catalog is not None)
    return examining.run(invocation, spec, server, connection, as_json=format_ == "json")


def _pinned(path: str, name: str | None) -> ServerSpec:
    """Find how a pinned server is started or reached.

    Raises:
        CatalogError: the catalog is of no use, or has no such server.
        UsageError: it has several, and none of them is named.

    """
    from thrall_py.catalog import file

    catalog = file.read(path)
    if name is not None:
        return _server(file.entry_of(catalog, name).launch, name)
    if not catalog.servers:
        raise CatalogError(f"{visible(path)} has no servers, so there is nothing to examine")
    (name, entry), *others = catalog.servers.items()
    if others:
        named = ", ".join(map(visible, catalog.servers))
        raise UsageError(f"{visible(path)} has several servers: name one of {named}")
    return _server(entry.launch, name)


def _server(launch: EntrySpec, name: str) -> ServerSpec:
    if isinstance(launch, ExecSpec):
        raise UsageError(f"{visible(name)} is a plain command, so there is no server to examine")
    return launch
