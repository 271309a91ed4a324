"""What a catalog holds about one server, as values."""

from typing import NamedTuple

from thrall_py.catalog.recipe import Recipe
from thrall_py.errors import ServerError
from thrall_py.protocol import canonical, mcp
from thrall_py.protocol.jsontext import Json, JsonError, Value, string
from thrall_py.visible import Quoter


class Pin(NamedTuple):
    """One tool as it was pinned: everything the server sent about it, members in order."""

    digest: str
    definition: dict[str, Json]


class Entry(NamedTuple):
    """One server: how it is started, what it said of itself, and its tools by name."""

    recipe: Recipe
    server: mcp.Server
    tools: dict[str, Pin]


class Offer(NamedTuple):
    """The tools a server offers now, and what was odd about the list itself."""

    tools: dict[str, Pin]
    oddities: list[str]


def offer(listed: list[Value], quote: Quoter) -> Offer:
    """Take a server's list as the definitions to pin.

    Raises:
        ServerError: an entry is no tool, cannot be kept exactly, or contradicts another.

    """
    tools: dict[str, Pin] = {}
    oddities = []
    for place, item in enumerate(listed, 1):
        name = _name(item)
        if name is None:
            raise ServerError(f"entry {place} of the server's list of tools has no name")
        try:
            pin = pinned(item.load())
        except JsonError as problem:
            why = quote.words(str(problem))
            raise ServerError(f"the definition of {quote(name)} cannot be kept: {why}") from None
        if name in tools and tools[name].digest != pin.digest:
            raise ServerError(f"the server defines {quote(name)} twice, and differently")
        if name in tools:
            oddities.append(f"{quote(name)} is listed twice")
        tools[name] = pin
    return Offer(dict(sorted(tools.items())), oddities)


def pinned(definition: Json) -> Pin:
    """Pin a definition.

    Raises:
        JsonError: it is nested too deeply.

    """
    tidy = canonical.ordered(definition)
    assert isinstance(tidy, dict), "checked by the callers"
    return Pin(canonical.digest(tidy), tidy)


def _name(item: Value) -> str | None:
    name = item.members().get("name")
    return string(name) if name else None
