"""What a person should look at before a pin is committed: certain signs, no verdict. Pure.

Hidden characters and escape sequences anywhere in a definition, names that break a shell or a
model's interface, and schemas of no use.
"""

import re
import unicodedata
from collections.abc import Iterator

from thrall_py.catalog.entry import Entry, PinnedItem
from thrall_py.catalog.launch import ExecSpec
from thrall_py.protocol import mcp
from thrall_py.protocol.jsontext import Json
from thrall_py.redact import Redactor
from thrall_py.visible import hidden_characters

# Revision 2025-11-25, "Tools": the names a server should give.
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
# What is taken for a Latin letter in a name: letters of other scripts (Cyrillic, Greek) and Latin
# ones that are hard to tell, two digits, and i for l. After case folding.
_LOOKS_LIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d"
    "\u043a\u043c\u0442\u043d\u0432"
    "\u03b1\u03b5\u03b9\u03bf\u03c1\u03c5\u03bd\u03ba"
    "\u0131\u0261\u0269i01",
    "aeopcyxljshdqw" + "kmthb" + "aelopuvk" + "lgllol",
)
_SHOWN_KINDS = 5  # of hidden characters, or of names, in one warning
_SHOWN_NAME = 40  # characters
_HINTS = (
    ("readOnlyHint", "read-only", "may write"),
    ("destructiveHint", "destructive", "not destructive"),
    ("idempotentHint", "idempotent", "not idempotent"),
    ("openWorldHint", "open world", "closed world"),
)


def describe_annotations(pin: PinnedItem) -> str:
    """What the server says of a tool's behaviour, in words; nobody has verified it."""
    annotations = pin.definition.get("annotations")
    if not isinstance(annotations, dict):
        return "no hints"
    said = [
        yes if annotations[key] is True else no
        for key, yes, no in _HINTS
        if isinstance(annotations.get(key), bool)
    ]
    return ", ".join(said) or "no hints"


def entry_warnings(entry: Entry, redact: Redactor) -> Iterator[str]:
    """One sentence for each oddity of what a server says of itself and offers."""
    characters = hidden_characters(entry.server.instructions or "")
    if characters:
        yield f"hidden characters in the server's instructions: {_kinds(characters)}"
    for member, items in entry.items.items():
        for name, item in items.items():
            shown = redact.quoted(name, 40)
            is_tool = member == mcp.TOOLS.member
            if is_tool and not _NAME.fullmatch(name):
                yield f"{shown}: an odd name, outside 1 to 128 of A-Z a-z 0-9 _ . -"
            for place, found in _hidden(item.definition, ""):
                hidden = f"{redact.plain(place, 64)}: {_kinds(found)}"
                yield f"{shown}: hidden characters in {hidden}"
            oddity = schema_oddity(item.definition) if is_tool else None
            if oddity:
                yield f"{shown}: {oddity}"
            if isinstance(entry.launch, ExecSpec) and not item.summary:
                yield f"{shown}: no description, so a model has to guess what it is for"
    if not entry.tools:
        yield "no tools: the pin is empty"


def look_alikes(servers: dict[str, Entry], name: str, redact: Redactor) -> Iterator[str]:
    """One sentence for each set of names that look alike, if the server `name` has one of them."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for server, entry in servers.items():
        for tool in entry.offered:
            groups.setdefault(_skeleton(tool), []).append((server, tool))
    for group in groups.values():
        if len(group) > 1 and any(server == name for server, _ in group):
            shown = [
                f"{redact.quoted(tool, _SHOWN_NAME)} of {redact.plain(server, _SHOWN_NAME)}"
                for server, tool in group[:_SHOWN_KINDS]
            ]
            more = f", and {len(group) - _SHOWN_KINDS} more" if len(group) > _SHOWN_KINDS else ""
            yield f"names that look alike: {', '.join(shown)}{more}"


def _skeleton(name: str) -> str:
    """What a name looks like at a glance: in the manner of UTS #39, for the letters of names."""
    plain = unicodedata.normalize("NFKD", name).casefold().translate(_LOOKS_LIKE)
    return "".join(filter(str.isalnum, plain)).replace("rn", "m")


def _kinds(characters: list[str]) -> str:
    more = " and more" if len(characters) > _SHOWN_KINDS else ""
    return " ".join(characters[:_SHOWN_KINDS]) + more


def _hidden(value: Json, place: str) -> Iterator[tuple[str, list[str]]]:
    match value:
        case str():
            characters = hidden_characters(value)
            if characters:
                yield place, characters
        case dict():
            for name, member in value.items():
                inner = f"{place}/{name}" if place else name
                if hidden_characters(name):
                    yield f"the name {inner}", hidden_characters(name)
                yield from _hidden(member, inner)
        case list():
            for index, item in enumerate(value):
                yield from _hidden(item, f"{place}/{index}")
        case _:
            pass


def schema_oddity(definition: dict[str, Json]) -> str | None:
    """What is wrong with a tool's inputSchema, if it is of no use."""
    if "inputSchema" not in definition:
        return "no inputSchema"
    schema = definition["inputSchema"]
    if not isinstance(schema, dict):
        return "its inputSchema is not an object"
    if schema.get("type") != "object":
        return 'its inputSchema is not of "type": "object"'
    if not isinstance(schema.get("properties", {}), dict):
        return '"properties" in its inputSchema is not an object'
    if not isinstance(schema.get("required", []), list):
        return '"required" in its inputSchema is not a list'
    return None
