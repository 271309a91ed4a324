"""What a person should look at before a pin is committed: certain signs, no verdict. Pure.

Hidden characters and escape sequences anywhere in a definition, names that break a shell or a
model's interface, and schemas of no use.
"""

import re
from collections.abc import Iterator

from thrall_py.catalog.entry import PinnedItem
from thrall_py.protocol.jsontext import Json
from thrall_py.redact import Redactor
from thrall_py.visible import hidden_characters

# Revision 2025-11-25, "Tools": the names a server should give.
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_SHOWN_KINDS = 5  # of hidden characters in one warning
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


def item_warnings(
    items: dict[str, PinnedItem], redact: Redactor, *, is_tools: bool
) -> Iterator[str]:
    """One sentence for each oddity of each tool, prompt or resource."""
    for name, pin in items.items():
        shown = redact.quoted(name, 40)
        if is_tools and not _NAME.fullmatch(name):
            yield f"{shown}: an odd name, outside 1 to 128 of A-Z a-z 0-9 _ . -"
        for place, characters in _hidden(pin.definition, ""):
            kinds = " ".join(characters[:_SHOWN_KINDS])
            more = " and more" if len(characters) > _SHOWN_KINDS else ""
            yield f"{shown}: hidden characters in {redact.plain(place, 64)}: {kinds}{more}"
        oddity = _schema_oddity(pin.definition) if is_tools else None
        if oddity:
            yield f"{shown}: {oddity}"


def instructions_warnings(text: str | None) -> Iterator[str]:
    """One sentence if the server's instructions hide something."""
    characters = hidden_characters(text or "")
    if characters:
        kinds = " ".join(characters[:_SHOWN_KINDS])
        yield f"hidden characters in the server's instructions: {kinds}"


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


def _schema_oddity(definition: dict[str, Json]) -> str | None:
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
