"""What a catalog holds about one server, as values."""

from typing import NamedTuple

from thrall_py.catalog.launch import LaunchSpec
from thrall_py.errors import ServerError
from thrall_py.protocol import canonical, mcp
from thrall_py.protocol.jsontext import Json, JsonError, Value
from thrall_py.redact import Redactor


class PinnedTool(NamedTuple):
    """One tool as it was pinned: everything the server sent about it, members in order."""

    digest: str
    definition: dict[str, Json]


class Entry(NamedTuple):
    """One server: how it is started, what it said of itself, and its tools by name."""

    launch: LaunchSpec
    server: mcp.ServerInfo
    tools: dict[str, PinnedTool]


class LiveTools(NamedTuple):
    """The tools a server offers now, and what was odd about the list itself."""

    tools: dict[str, PinnedTool]
    oddities: list[str]


def read_tools(listed: list[Value], redact: Redactor) -> LiveTools:
    """Take the list that a server sent as definitions to pin.

    Raises:
        ServerError: an entry is no tool, cannot be kept exactly, or contradicts another.

    """
    tools: dict[str, PinnedTool] = {}
    oddities = []
    for place, item in enumerate(listed, 1):
        name = item.member_string("name")
        if name is None:
            raise ServerError(f"entry {place} of the server's list of tools has no name")
        shown = redact.quoted(name)
        try:
            definition = item.load()
            assert isinstance(definition, dict), "it has a member"
            tool = pin_tool(definition)
        except JsonError as problem:
            why = redact.plain(str(problem))
            raise ServerError(f"the definition of {shown} cannot be kept: {why}") from None
        if name in tools and tools[name].digest != tool.digest:
            raise ServerError(f"the server defines {shown} twice, and differently")
        if name in tools:
            oddities.append(f"{shown} is listed twice")
        tools[name] = tool
    return LiveTools(dict(sorted(tools.items())), oddities)


def pin_tool(definition: dict[str, Json]) -> PinnedTool:
    """Make the pin of a definition.

    Raises:
        JsonError: it is nested too deeply.

    """
    tidy = canonical.sort_members(definition)
    assert isinstance(tidy, dict), "sorting changes no type"
    return PinnedTool(canonical.digest(tidy), tidy)
