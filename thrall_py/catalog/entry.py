"""What a catalog holds about one server, as values."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from thrall_py.catalog.choice import EVERYTHING, Choice
from thrall_py.catalog.launch import EntrySpec, ExecSpec
from thrall_py.errors import ServerError
from thrall_py.protocol import canonical, mcp
from thrall_py.protocol.jsontext import Json, JsonError, Value
from thrall_py.redact import Redactor

INSTRUCTIONS = "instructions"
SURFACE = (INSTRUCTIONS, *(kind.member for kind in mcp.KINDS))  # everything that can be pinned
PREFIXED = (mcp.TOOLS, mcp.PROMPTS)  # an address is what it is
WORDS = dict(
    zip(mcp.KINDS, ("tool", "prompt", "resource", "resource template"), strict=True)
)  # for one of them
_LONG = 1000  # characters; a number is refused that has more


class PinnedItem(NamedTuple):
    """One tool, prompt or resource: everything the server sent about it, members in order."""

    digest: str
    definition: dict[str, Json]

    def text(self, member: str) -> str:
        """What it says under a name such as `description`; empty if that is no text."""
        value = self.definition.get(member)
        return value if isinstance(value, str) else ""

    @property
    def summary(self) -> str:
        """The first line of its description."""
        return self.text("description").strip().partition("\n")[0]


Items = dict[str, PinnedItem]  # by name, or by address


class Entry(NamedTuple):
    """One server: how it is started or reached, what it said of itself, and what it offered.

    `items` has a mapping for each kind (mcp.Kind.member); `surface` and `choice` say what was
    looked at, `modes` which modes of elicitation were declared to it (mcp.MODES). Or a plain
    command, which says nothing and has the tools that it was given.
    """

    launch: EntrySpec
    server: mcp.ServerInfo
    items: dict[str, Items]
    surface: tuple[str, ...] = SURFACE
    prefix: str = ""  # in front of the names of its tools, for the caller
    choice: Choice = EVERYTHING  # of its tools
    modes: tuple[str, ...] = ()

    @property
    def tools(self) -> Items:
        """The tools, by their own names."""
        return self.items.get(mcp.TOOLS.member, {})

    @property
    def offered(self) -> Items:
        """The tools, by the names they are called by."""
        return self.named(mcp.TOOLS)

    def named(self, kind: mcp.Kind) -> Items:
        """What it has of a kind, by the names for clients."""
        prefix = self.prefix if kind in PREFIXED else ""
        return {prefix + name: item for name, item in self.items.get(kind.member, {}).items()}

    @property
    def counted(self) -> str:
        """How much it has of each kind, in words; of tools in any case."""
        counts = {kind: len(self.items.get(kind.member, {})) for kind in mcp.KINDS}
        return ", ".join(
            f"{count} {WORDS[kind]}{'' if count == 1 else 's'}"
            for kind, count in counts.items()
            if count or kind is mcp.TOOLS
        )


def command_entry(command: ExecSpec, tools: Items, prefix: str = "") -> Entry:
    """Make the entry of a plain command: nobody speaks a protocol, or can be asked for more."""
    member = mcp.TOOLS.member
    return Entry(command, mcp.ServerInfo(""), {member: tools}, (member,), prefix)


class Live(NamedTuple):
    """What a server says of itself and offers now, and what was odd about its lists."""

    server: mcp.ServerInfo
    items: dict[str, Items]
    oddities: list[str]


def read_items(kind: mcp.Kind, listed: list[Value], redact: Redactor) -> tuple[Items, list[str]]:
    """Take the list that a server sent as definitions to pin.

    Returns:
        The definitions in order, and a sentence for each that is listed twice.

    Raises:
        ServerError: an item cannot be told apart, cannot be kept exactly, or contradicts another.

    """
    items: Items = {}
    oddities = []
    for name, value in _named(kind, listed):
        shown = redact.quoted(name)
        try:
            definition = value.load()
            assert isinstance(definition, dict), "it has a member"
            item = pin_item(definition)
        except JsonError as problem:
            why = redact.plain(str(problem))
            raise ServerError(f"the definition of {shown} cannot be kept: {why}") from None
        if name in items and items[name].digest != item.digest:
            raise ServerError(f"the server defines {shown} twice, and differently")
        if name in items:
            oddities.append(f"{shown} is listed twice")
        items[name] = item
    return dict(sorted(items.items())), oddities


def read_item(
    kind: mcp.Kind, listed: list[Value], wanted: str, redact: Redactor
) -> PinnedItem | None:
    """Take one definition out of a list, which has to be of use as a whole all the same.

    Of the others only those are loaded that could be refused: of 10,000 it would take most of the
    time.

    Raises:
        ServerError: as `read_items`, but for the depth of others.

    """
    by_name = list(_named(kind, listed))
    times = Counter(name for name, _ in by_name)
    needed = [
        value
        for name, value in by_name
        if name == wanted or times[name] > 1 or _may_be_refused(value)
    ]
    return read_items(kind, needed, redact)[0].get(wanted)


def _may_be_refused(value: Value) -> bool:
    """Whether JSON that was walked could still not be loaded: see `Value.load`.

    A number of more than 1,000 characters has a third of them in one row of digits; and a name can
    only be spelled twice, unseen, by an escape here and as it is there.
    """
    text = value.text
    if len(text) > _LONG and re.search("[0-9]{300}", text):
        return True
    return "\\u" in text and not text.isascii()


def _named(kind: mcp.Kind, listed: list[Value]) -> Iterator[tuple[str, Value]]:
    """Go through a list by name, or by address.

    Raises:
        ServerError: an item cannot be told apart.

    """
    for place, value in enumerate(listed, 1):
        name = mcp.key_of(value, kind)
        if name is None:
            raise ServerError(f"entry {place} of the server's {kind.member} has no {kind.key}")
        yield name, value


def pin_item(definition: dict[str, Json]) -> PinnedItem:
    """Make the pin of a definition.

    Raises:
        JsonError: it is nested too deeply.

    """
    tidy = canonical.sort_members(definition)
    assert isinstance(tidy, dict), "sorting changes no type"
    return PinnedItem(canonical.digest(tidy), tidy)
