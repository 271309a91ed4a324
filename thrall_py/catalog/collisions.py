"""Names that two servers of a catalog share: `thrall serve` could not tell them apart. Pure."""

import shlex
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from thrall_py.catalog.entry import PREFIXED, Entry
from thrall_py.protocol import mcp
from thrall_py.redact import Redactor
from thrall_py.visible import visible


class Collision(NamedTuple):
    """A name that both have, as clients know it, and what bears it."""

    kind: mcp.Kind
    name: str


def find(one: Entry, other: Entry) -> Iterator[Collision]:
    """Find what two servers cannot both be served with: the first name of each kind."""
    for kind in mcp.KINDS:
        both = one.named(kind).keys() & other.named(kind).keys()
        if both:
            yield Collision(kind, min(both))


def warnings(servers: Mapping[str, Entry], name: str, redact: Redactor) -> Iterator[str]:
    """One sentence for each server with which `name` cannot be served.

    Of tools there are none: a pin with the tool of another server is refused.
    """
    entry = servers[name]
    for other, its in servers.items():
        found = next(find(its, entry), None) if other != name else None
        if found:
            yield (
                f"{redact.quoted(found.name)} is among the {found.kind.member} of {visible(other)},"
                " too, so thrall serve refuses the catalog: pin one of them again, as with:"
                f" {remedy(name, entry, its)}"
            )


def remedy(name: str, entry: Entry, other: Entry) -> str:
    """Say how the server `name` is pinned again so that it shares nothing with another one."""
    kinds = [each.kind for each in find(entry, other)]
    words = ["thrall", "pin", "CATALOG", "--update", name]
    if any(kind in PREFIXED for kind in kinds):
        words += ["--prefix", "PREFIX"]
    shared = {kind.member for kind in kinds if kind not in PREFIXED}
    if shared:  # tools are always kept, and named only where nothing else is
        kept = [part for part in entry.surface if part not in {*shared, mcp.TOOLS.member}]
        words += [f"--surface={part}" for part in kept or [mcp.TOOLS.member]]
    return visible(shlex.join(words))
