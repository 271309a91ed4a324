"""Puts a pin into a catalog: under which name, with which of its tools, and beside whom. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from thrall_py.catalog import codec, collisions, drift, relaunch, review
from thrall_py.catalog.change import COSMETIC
from thrall_py.catalog.choice import EVERYTHING, Choice
from thrall_py.catalog.drift import Difference
from thrall_py.catalog.entry import INSTRUCTIONS, SURFACE, Entry, Live
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.launch import EntrySpec, ExecSpec
from thrall_py.errors import CatalogError, InputError, ServerError
from thrall_py.protocol import canonical, mcp
from thrall_py.redact import Redactor
from thrall_py.visible import visible

_SHOWN = 20  # names of tools, where none matches


class Wishes(NamedTuple):
    """How a pin is to be filed; what is None stays as in an earlier pin, if there is one."""

    name: str | None = None  # then as the server calls itself
    prefix: str | None = None
    choice: Choice | None = None
    surface: tuple[str, ...] | None = None


class Filed(NamedTuple):
    """A pin in its place, and what a person should know of it."""

    name: str  # in the catalog
    entry: Entry
    differences: list[Difference]  # from the earlier pin, if there was one
    left_out: list[str]  # tools that are offered and not wanted
    warnings: list[str]
    is_new: bool  # there was no earlier pin
    relaunch: Sequence[str] = ()  # what is new about how it is started or reached, in lines

    @property
    def is_changed(self) -> bool:
        """Whether an earlier pin is changed at all."""
        return bool(self.relaunch or self.differences)

    @property
    def matters(self) -> bool:
        """Whether an earlier pin is changed by anything but what nobody depends on."""
        return bool(self.relaunch) or any(each.change.kind != COSMETIC for each in self.differences)


def earlier_name(catalog: Catalog, launch: EntrySpec, name: str | None) -> str | None:
    """Find the name of an earlier pin: the given one, or that of the same command."""
    if name is not None:
        return name if name in catalog.servers else None
    return next((key for key, entry in catalog.servers.items() if entry.launch == launch), None)


def add(catalog: Catalog, found: Entry, wishes: Wishes, redact: Redactor) -> Filed:
    """Put into `catalog` what was found at a server.

    Args:
        catalog: gets the entry.
        found: all that the server offers of the surface that was asked for.
        wishes: how it is filed.
        redact: makes its words fit to be repeated.

    Raises:
        CatalogError: another server is in its place, or has a tool of one of its names.
        InputError: a wish cannot be fulfilled.
        ServerError: a definition repeats a secret.

    """
    name, earlier = _place(catalog, found, wishes)
    entry = _as_wished(found, wishes, earlier)
    useless = entry.choice.useless(found.tools)
    if useless and wishes.choice is not None:
        offered = ", ".join(redact.plain(tool, 40) for tool in list(found.tools)[:_SHOWN])
        more = len(found.tools) - _SHOWN
        offered += f", and {more} more" if more > 0 else ""
        raise InputError(
            f"no tool matches {redact.quoted(useless[0])}; the server has {offered or 'none'}"
        )
    _refuse_secrets(entry, redact)
    _refuse_collisions(catalog, name, entry, wishes)
    catalog.servers[name] = entry
    warnings = [
        *(_undone(edited, redact) for edited in (codec.edited(earlier) if earlier else ())),
        *(f"no tool matches {redact.quoted(pattern)} any more" for pattern in useless),
        *review.entry_warnings(entry, redact),
        *collisions.warnings(catalog.servers, name, redact),
        *review.look_alikes(catalog.servers, name, redact),
    ]
    left_out = [tool for tool in found.tools if tool not in entry.tools]
    again = list(relaunch.describe(earlier, entry, redact)) if earlier else []
    return Filed(name, entry, _changes(earlier, entry), left_out, warnings, earlier is None, again)


def _undone(edited: str, redact: Redactor) -> str:
    return f"the definition of {redact.quoted(edited)} was edited in the catalog: this undoes it"


def _place(catalog: Catalog, found: Entry, wishes: Wishes) -> tuple[str, Entry | None]:
    """The name of the server in the catalog, and what stands there so far."""
    own = found.server.name or found.launch.program
    name = earlier_name(catalog, found.launch, wishes.name) or wishes.name or own
    earlier = catalog.servers.get(name)
    if earlier and isinstance(earlier.launch, ExecSpec) != isinstance(found.launch, ExecSpec):
        what = "a plain command" if isinstance(earlier.launch, ExecSpec) else "a server"
        raise CatalogError(f"{visible(name)} is {what}: give this one a --name, or unpin that one")
    if earlier is None and name.startswith("-"):
        raise InputError(f"{visible(name)} begins with a dash, as options do: give it a --name")
    by_program = not (wishes.name or found.server.name)  # as others may be filed, too
    if earlier and by_program and not earlier.launch.is_same(found.launch):
        raise CatalogError(f"{visible(name)} is another server: give this one a --name")
    return name, earlier


def _as_wished(found: Entry, wishes: Wishes, earlier: Entry | None) -> Entry:
    """Take the part that is wanted of what was found: now, or by the earlier pin."""
    kept = earlier or found
    choice = kept.choice if wishes.choice is None else wishes.choice
    surface = kept.surface if wishes.surface is None else wishes.surface
    tools = {name: item for name, item in found.tools.items() if choice.takes(name)}
    items = {**found.items, mcp.TOOLS.member: tools}
    server = found.server
    if INSTRUCTIONS not in surface:
        server = server._replace(instructions=None)
    return Entry(
        found.launch,
        server,
        {member: held for member, held in items.items() if member in surface},
        surface,
        kept.prefix if wishes.prefix is None else wishes.prefix,
        choice,
        found.modes,
    )


def _changes(earlier: Entry | None, entry: Entry) -> list[Difference]:
    """What a new pin changes about an earlier one, also where that looked at less."""
    if earlier is None:
        return []
    everything = earlier._replace(choice=EVERYTHING, surface=SURFACE)
    found = drift.compare_server(everything, Live(entry.server, entry.items, []))
    return sorted(found, key=drift.rank)


def _refuse_collisions(catalog: Catalog, name: str, entry: Entry, wishes: Wishes) -> None:
    """Let no tool have the name of another server's: nobody could tell which is called."""
    for other, its in catalog.servers.items():
        both = [] if other == name else sorted(its.offered.keys() & entry.offered.keys())
        if not both:
            continue
        ways = f"give one of them a --prefix, or unpin {visible(other)} if this one replaces it"
        if its.launch.is_same(entry.launch):  # in other surroundings, or under another name
            replace = f"unpin {visible(other)}" if wishes.name else f"say --name {visible(other)}"
            ways = f"{replace} if they are the same server, or give one of them a --prefix"
        raise CatalogError(
            f"{visible(other)} and {visible(name)} both have the tool {visible(both[0])}: {ways}"
        )


def _refuse_secrets(entry: Entry, redact: Redactor) -> None:
    """Let no secret into the file that the server repeats in what it says of itself."""
    for items in entry.items.values():
        for name, item in items.items():
            if redact.leaks(canonical.compact(item.definition)):
                shown = redact.quoted(name)
                raise ServerError(f"the definition of {shown} repeats a secret of its environment")
    said = f"{entry.server.name} {entry.server.version} {entry.server.instructions or ''}"
    if redact.leaks(said):
        raise ServerError(
            "the server repeats a secret of its environment in what it says of itself"
        )
