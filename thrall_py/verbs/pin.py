"""`thrall pin`: what a server offers now, as a catalog to be reviewed and committed."""

from typing import NamedTuple

from thrall_py.catalog import entry, file, review
from thrall_py.catalog.launch import LaunchSpec
from thrall_py.errors import ServerError
from thrall_py.protocol import canonical, mcp, tools
from thrall_py.redact import Redactor
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs.connect import ConnectionOptions, PreparedServer, open_session


class PinResult(NamedTuple):
    """A server that was asked, and what a person should know before its pin is written."""

    name: str
    entry: entry.Entry
    warnings: list[str]
    redact: Redactor


def pin_server(
    launch: LaunchSpec,
    prepared: PreparedServer,
    connection: ConnectionOptions,
    interrupts: Interrupts,
) -> PinResult:
    """Ask a server for everything that is pinned; all of it or a failure.

    Args:
        launch: how the server is started, as the catalog will say it.
        prepared: the same, filled in.
        connection: how it is spoken to.
        interrupts: the signals that stop it.

    Raises:
        ThrallError: the server does not open, or its list cannot be pinned.

    """
    with open_session(prepared, connection, interrupts) as session:
        listed = tools.list_all(session, connection.timeout, connection.max_message)
        server = session.server
    live = entry.read_tools(listed, prepared.redact)
    found = entry.Entry(launch, server, live.tools)
    _refuse_secrets(found, prepared.redact)
    warnings = [
        *live.oddities,
        *review.instructions_warnings(server.instructions),
        *review.tool_warnings(live.tools, prepared.redact),
    ]
    if not live.tools:
        warnings.append("the server offers no tools: the pin is empty")
    return PinResult(_name(server, launch), found, warnings, prepared.redact)


def write_catalog(path: str, pinned: PinResult) -> str:
    """Put the pin into the catalog at `path`, new or not.

    Returns:
        The text of the catalog; for standard output that is all that is done.

    Raises:
        CatalogError: the file is no catalog, or cannot be written.

    """
    catalog = file.read_for_update(path)
    catalog[pinned.name] = pinned.entry
    text = file.dumps(catalog)
    if path != file.STDOUT:
        file.write(path, text)
    return text


def _name(server: mcp.ServerInfo, launch: LaunchSpec) -> str:
    return server.name or launch.command[0].rpartition("/")[2]


def _refuse_secrets(found: entry.Entry, redact: Redactor) -> None:
    """Let no secret into the file that the server repeats in what it says of itself."""
    for name, pin in found.tools.items():
        if redact.leaks(canonical.compact(pin.definition)):
            raise ServerError(
                f"the definition of {redact.quoted(name)} repeats a secret of its environment"
            )
    said = f"{found.server.name} {found.server.version} {found.server.instructions or ''}"
    if redact.leaks(said):
        raise ServerError(
            "the server repeats a secret of its environment in what it says of itself"
        )
