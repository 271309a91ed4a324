"""`thrall pin`: what a server offers now, as a catalog to be reviewed and committed."""

from typing import NamedTuple

from thrall_py.catalog import drift, entry, file, review
from thrall_py.catalog.drift import Difference
from thrall_py.catalog.launch import LaunchSpec
from thrall_py.errors import CatalogError, ServerError
from thrall_py.protocol import canonical, mcp
from thrall_py.redact import Redactor
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs.connect import ConnectionOptions, PreparedServer, open_session
from thrall_py.verbs.survey import survey
from thrall_py.visible import visible


class Naming(NamedTuple):
    """What a server and its tools are called in the catalog."""

    name: str | None = None  # None: as the server calls itself
    prefix: str | None = None  # None: as in an earlier pin, if there is one


class PinResult(NamedTuple):
    """A server that was asked, and what a person should know before its pin is written."""

    name: str  # in the catalog
    naming: Naming
    entry: entry.Entry
    warnings: list[str]
    redact: Redactor


class Update(NamedTuple):
    """A catalog with a pin in it, and what that changes about the server's earlier pin."""

    text: str
    differences: list[Difference]


def pin_server(
    launch: LaunchSpec,
    naming: Naming,
    prepared: PreparedServer,
    connection: ConnectionOptions,
    interrupts: Interrupts,
) -> PinResult:
    """Ask a server for everything that is pinned; all of it or a failure.

    Args:
        launch: how the server is started, as the catalog will say it.
        naming: what it is called there.
        prepared: the launch filled in.
        connection: how it is spoken to.
        interrupts: the signals that stop it.

    Raises:
        ThrallError: the server does not open, or its lists cannot be pinned.

    """
    with open_session(prepared, connection, interrupts) as session:
        live = survey(session, entry.SURFACE, connection, prepared.redact)
    found = entry.Entry(launch, live.server, live.items, entry.SURFACE)
    _refuse_secrets(found, prepared.redact)
    warnings = [
        *live.oddities,
        *review.instructions_warnings(live.server.instructions),
        *(
            warning
            for member, items in live.items.items()
            for warning in review.item_warnings(
                items, prepared.redact, is_tools=member == mcp.TOOLS.member
            )
        ),
    ]
    if not found.tools:
        warnings.append("the server offers no tools: the pin is empty")
    own = live.server.name or launch.command[0].rpartition("/")[2]
    return PinResult(naming.name or own, naming, found, warnings, prepared.redact)


def update(path: str, pinned: PinResult) -> Update:
    """Put the pin into the catalog at `path`, in memory.

    Raises:
        CatalogError: the file is no catalog, or two of its servers would collide.

    """
    catalog = file.read_for_update(path)
    name, found = pinned.name, pinned.entry
    if pinned.naming.name is None:  # the same command is renewed, whatever it calls itself now
        same = (key for key, entry in catalog.servers.items() if entry.launch == found.launch)
        name = next(same, name)
    earlier = catalog.servers.get(name)
    by_program = not (pinned.naming.name or found.server.name)  # as others may be filed, too
    if earlier and by_program and earlier.launch.command != found.launch.command:
        raise CatalogError(f"{visible(name)} is another server: give this one a --name")
    prefix = pinned.naming.prefix
    if prefix is None:
        prefix = earlier.prefix if earlier else ""
    catalog.servers[name] = found._replace(prefix=prefix)
    file.refuse_collisions(catalog, path)
    live = entry.Live(pinned.entry.server, pinned.entry.items, [])
    differences = drift.compare_server(earlier, live) if earlier else []
    return Update(file.dumps(catalog), differences)


def _refuse_secrets(found: entry.Entry, redact: Redactor) -> None:
    """Let no secret into the file that the server repeats in what it says of itself."""
    for items in found.items.values():
        for name, item in items.items():
            if redact.leaks(canonical.compact(item.definition)):
                shown = redact.quoted(name)
                raise ServerError(f"the definition of {shown} repeats a secret of its environment")
    said = f"{found.server.name} {found.server.version} {found.server.instructions or ''}"
    if redact.leaks(said):
        raise ServerError(
            "the server repeats a secret of its environment in what it says of itself"
        )
