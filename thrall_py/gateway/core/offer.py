"""What the gateway offers: the pinned tools, prompts and resources of many servers as one. Pure.

Made from a catalog once. The definitions are those of the catalog, but for the prefix in a name.
"""

import json
from collections.abc import Iterator
from typing import NamedTuple

from thrall_py.catalog import collisions
from thrall_py.catalog.entry import PREFIXED, PinnedItem
from thrall_py.catalog.file import Catalog
from thrall_py.errors import CatalogError
from thrall_py.gateway.core import uri
from thrall_py.protocol import canonical, mcp, mirror
from thrall_py.protocol.jsontext import scan
from thrall_py.visible import visible

_PAGE = 1 << 19  # characters of definitions; some clients take no event above 1 MiB


class Offered(NamedTuple):
    """One tool, prompt, resource or template.

    Attributes:
        server: who has it, by the name in the catalog.
        kind: which of them it is.
        name: what its server calls it; of a resource the address.
        item: its pin.
        text: its definition under the name that it is offered by, as JSON text.

    """

    server: str
    kind: mcp.Kind
    name: str
    item: PinnedItem
    text: str

    @property
    def is_read_only(self) -> bool:
        """Whether its server hints that it changes nothing: a hint, no promise."""
        hints = self.item.definition.get("annotations")
        return isinstance(hints, dict) and hints.get("readOnlyHint") is True

    @property
    def marks(self) -> mirror.Marks:
        """Which arguments are repeated in headers."""
        return mirror.marks(scan(self.text, {"inputSchema": {}}))


Offering = dict[str, Offered]  # by the names for clients, in their order


class Offer(NamedTuple):
    """All that is offered.

    Attributes:
        items: by kind (mcp.Kind.member) and name.
        pages: by kind, each page as members of a result in JSON text.
        instructions: those of the servers, pinned as well; empty for none.
        guarded: the tools that are called only when the user agrees: server and own name.

    """

    items: dict[str, Offering]
    pages: dict[str, tuple[str, ...]]
    instructions: str
    guarded: frozenset[tuple[str, str]]

    @property
    def tools(self) -> Offering:
        """The tools by the names they are called by."""
        return self.items[mcp.TOOLS.member]

    @property
    def prompts(self) -> Offering:
        """The prompts by the names they are got by."""
        return self.items[mcp.PROMPTS.member]

    @property
    def templates(self) -> Offering:
        """The templates of resources."""
        return self.items[mcp.TEMPLATES.member]

    def resource(self, address: str) -> Offered | None:
        """Find the resource of an address, or the first template that makes it."""
        found = self.items[mcp.RESOURCES.member].get(address)
        made = (each for name, each in self.templates.items() if uri.matches(name, address))
        return found or next(made, None)

    def page(self, kind: mcp.Kind, cursor: str | None) -> str | None:
        """Find a page of a list, the first one without a cursor; None for a cursor of no page."""
        pages = self.pages[kind.member]
        if cursor is None:
            return pages[0]
        return {str(place): page for place, page in enumerate(pages) if place}.get(cursor)

    def needs_approval(self, server: str, tool: str) -> bool:
        """Tell whether the user has to agree to a call of a tool, by its own name."""
        return (server, tool) in self.guarded


def make(catalog: Catalog, *, read_only: bool = False, ask: bool = False) -> Offer:
    """Make the offer of a catalog.

    Args:
        catalog: what is pinned.
        read_only: leave out the tools that are not pinned with `readOnlyHint`.
        ask: let the user agree to each call of such a tool.

    Raises:
        CatalogError: two servers have a tool, a prompt or a resource of one name.

    """
    items = {kind.member: _merged(catalog, kind) for kind in mcp.KINDS}
    tools = items[mcp.TOOLS.member]
    if read_only:
        tools = {name: each for name, each in tools.items() if each.is_read_only}
        items[mcp.TOOLS.member] = tools
    return Offer(
        items,
        {kind: tuple(_pages(kind, offering)) for kind, offering in items.items()},
        _instructions(catalog),
        frozenset((t.server, t.name) for t in tools.values() if ask and not t.is_read_only),
    )


def _merged(catalog: Catalog, kind: mcp.Kind) -> Offering:
    """All items of a kind, by server and name: always in the same order."""
    merged: Offering = {}
    for server, entry in sorted(catalog.servers.items()):
        prefix = entry.prefix if kind in PREFIXED else ""
        for name, item in sorted(entry.items.get(kind.member, {}).items()):
            public = prefix + name
            if public in merged:
                raise _collision(catalog, kind, public, merged[public].server, server)
            text = canonical.compact({**item.definition, kind.key: public})
            merged[public] = Offered(server, kind, name, item, text)
    return merged


def _collision(catalog: Catalog, kind: mcp.Kind, name: str, one: str, other: str) -> CatalogError:
    way = collisions.remedy(other, catalog.servers[other], catalog.servers[one])
    return CatalogError(
        f"the servers {visible(one)} and {visible(other)} both have {visible(name)} among their"
        f" {kind.member}: pin one of them again, as with: {way}"
    )


def _pages(kind: str, offering: Offering) -> Iterator[str]:
    """The pages of a list: one, unless it is huge; the cursor of a page is its number."""
    page: list[str] = []
    size, number = 0, 1
    for each in offering.values():
        if page and size + len(each.text) > _PAGE:
            yield f'"{kind}":[{",".join(page)}],"nextCursor":"{number}"'
            page, size, number = [], 0, number + 1
        page.append(each.text)
        size += len(each.text)
    yield f'"{kind}":[{",".join(page)}]'


def _instructions(catalog: Catalog) -> str:
    """What the servers tell a model, as JSON text; of several, each under its name."""
    told = {
        name: entry.server.instructions
        for name, entry in sorted(catalog.servers.items())
        if entry.server.instructions
    }
    if not told:
        return ""
    if len(catalog.servers) == 1:
        return json.dumps(next(iter(told.values())))
    return json.dumps("\n\n".join(f"# {name}\n\n{words}" for name, words in told.items()))
