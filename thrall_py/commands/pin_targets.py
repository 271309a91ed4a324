"""Which servers `pin` asks: the one behind `--`, those of a file, or those of the catalog.

Or which plain commands it takes, which are not asked.
"""

from typing import NamedTuple

from thrall_py.catalog import configured, entry, file, filing
from thrall_py.catalog.choice import Choice
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.launch import ExecSpec, LaunchSpec
from thrall_py.commands import pin_command
from thrall_py.commands.invocation import Invocation
from thrall_py.commands.pin_command import CommandOptions
from thrall_py.errors import CatalogError, InputError, UsageError
from thrall_py.options import NO_SERVER_OPTIONS, ServerOptions
from thrall_py.protocol import mcp
from thrall_py.protocol.jsontext import JsonError
from thrall_py.verbs import arguments
from thrall_py.verbs.pin import Failed, Target
from thrall_py.visible import visible

_LARGEST = 1 << 24  # bytes of a configuration file
_LEFT_ALONE = "left alone: a plain command cannot be asked; --exec pins it again"


class PinOptions(NamedTuple):
    """What the command line says of a pin."""

    catalog: str
    names: tuple[str, ...]
    source: str | None  # a configuration file
    update: bool
    yes: bool
    dry_run: bool
    name: str | None
    prefix: str | None
    only: tuple[str, ...]
    leave_out: tuple[str, ...]
    surface: tuple[str, ...]
    elicitation: bool
    allow_literal: bool
    jobs: int
    server: ServerOptions
    command: CommandOptions


def choose(
    invocation: Invocation, wanted: PinOptions, catalog: Catalog
) -> tuple[list[Target], list[Failed]]:
    """Find the servers to be asked, and those of a file that cannot be.

    Raises:
        UsageError: the options do not fit together.
        CatalogError, InputError: a file or a name in it is of no use.

    """
    pin_command.check(wanted.command, invocation.server)
    _refuse_contradictions(invocation, wanted)
    for word in _words(wanted):
        arguments.decode_argument(word)  # what is not UTF-8 cannot be stored
    if wanted.update:
        return _of_catalog(invocation, wanted, catalog), []
    if wanted.source is not None:
        return _of_file(invocation, wanted, catalog)
    server = wanted.server
    for word in (*(invocation.server or ()), server.cwd or "", server.url or "", *server.header):
        arguments.decode_argument(word)
    spec = server.spec(invocation.server)
    if wanted.command.tool is not None:
        assert isinstance(spec, LaunchSpec), "--url was refused"
        definition = pin_command.define(wanted.command)
        found = configured.Configured(ExecSpec(spec), server.given, definition=definition)
        return [_target(found, wanted.name or wanted.command.tool, wanted, catalog)], []
    found = configured.Configured(spec, server.given)
    return [_target(found, wanted.name, wanted, catalog)], []


def _words(wanted: PinOptions) -> tuple[str, ...]:
    """The words of options that are stored."""
    about = (wanted.name, wanted.prefix, wanted.command.tool, wanted.command.description)
    return (*(word or "" for word in about), *wanted.only, *wanted.leave_out)


def _refuse_contradictions(invocation: Invocation, wanted: PinOptions) -> None:
    given = [
        name
        for name, is_given in (
            ("a server behind --", invocation.server is not None),
            ("--url", wanted.server.url is not None),
            ("--from", wanted.source is not None),
            ("--update", wanted.update),
        )
        if is_given
    ]
    if len(given) > 1:
        raise UsageError(f"{given[0]} and {given[1]} exclude each other")
    if (wanted.name or "").startswith("-"):
        raise UsageError("--name may not begin with a dash: no command line could name the server")
    if not given:
        raise UsageError("no server is given: write it behind --, or give a --url or a --from FILE")
    if wanted.update and wanted.catalog == file.STDOUT:
        raise UsageError("--update needs a catalog that is there")
    if invocation.server is not None or wanted.server.url is not None:
        if wanted.names:
            raise UsageError(f"{visible(wanted.names[0])} is too much: one server is given")
        return
    if wanted.server != NO_SERVER_OPTIONS:
        raise UsageError(f"with {given[0]}, --env, --cwd, --header and the like are of no use")
    if wanted.name is not None or (wanted.prefix is not None and len(wanted.names) != 1):
        raise UsageError(f"with {given[0]}, --prefix needs one NAME, and --name is of no use")


def _target(
    server: configured.Configured, name: str | None, wanted: PinOptions, catalog: Catalog
) -> Target:
    if server.definition is not None:
        if wanted.only or wanted.leave_out or wanted.surface:
            raise UsageError("--only, --except and --surface are about what a server offers")
        wishes = filing.Wishes(name, wanted.prefix)
        return Target(
            server.launch,
            server.given,
            wishes,
            allow_literal=wanted.allow_literal,
            name=name,
            definition=server.definition,
        )
    choice = Choice(wanted.only, wanted.leave_out) if wanted.only or wanted.leave_out else None
    surface = None
    if wanted.surface:
        surface = tuple(part for part in entry.SURFACE if part in (*wanted.surface, "tools"))
    wishes = filing.Wishes(name, wanted.prefix, choice, surface)
    earlier = filing.earlier_name(catalog, server.launch, name)
    kept = catalog.servers.get(earlier) if earlier is not None else None
    modes = kept.modes if kept else ()
    return Target(
        server.launch,
        server.given,
        wishes,
        surface or (kept.surface if kept else entry.SURFACE),
        wanted.allow_literal,
        name=earlier or name,
        modes=mcp.MODES if wanted.elicitation else modes,
        source=wanted.source,
    )


def _of_catalog(invocation: Invocation, wanted: PinOptions, catalog: Catalog) -> list[Target]:
    names = wanted.names or tuple(catalog.servers)
    if not names:
        raise CatalogError(f"{visible(wanted.catalog)} has no servers, so there is nothing to pin")
    targets = []
    for name in names:
        pinned = file.entry_of(catalog, name)
        if isinstance(pinned.launch, ExecSpec):
            invocation.note(_LEFT_ALONE, name)
            continue
        target = _target(configured.Configured(pinned.launch, {}), name, wanted, catalog)
        targets.append(target._replace(remembered=_newest_of_its_era(pinned.server.revision)))
    return targets


def _newest_of_its_era(revision: str) -> str:
    """The revision to begin with: the era is remembered, and in it a server may have moved on."""
    return revision if revision == mcp.MODERN else mcp.LEGACY[0]


def _of_file(
    invocation: Invocation, wanted: PinOptions, catalog: Catalog
) -> tuple[list[Target], list[Failed]]:
    path = visible(wanted.source or "")
    data = arguments.read_file(wanted.source or "", path, _LARGEST)
    try:
        servers = configured.read(data)
    except JsonError as problem:
        raise InputError(f"{path} cannot be used: {visible(str(problem))}") from None
    unknown = [name for name in wanted.names if name not in servers]
    if unknown:
        raise InputError(
            f"{path} has no server {visible(unknown[0])}; it has {', '.join(map(visible, servers))}"
        )
    targets, failed = [], []
    for name, server in servers.items():
        if wanted.names and name not in wanted.names:
            continue
        if server.is_disabled and not wanted.names:
            invocation.note(f"left out: it is disabled in {path}", name)
        elif isinstance(server, configured.Unusable):
            failed.append(Failed(name, visible(server.why), InputError.exit_status))
        else:
            targets.append(_target(server, name, wanted, catalog))
    if not targets and not failed:
        raise InputError(f"{path} names no server to pin")
    return targets, failed
