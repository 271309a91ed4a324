"""Tools for a person: a line each, or a page about one. Everything in it is visible."""

import shlex
from collections.abc import Iterator

from thrall_py.catalog import review
from thrall_py.catalog.entry import PinnedItem
from thrall_py.protocol import canonical
from thrall_py.protocol.jsontext import Json
from thrall_py.visible import visible, visible_text

_SUMMARY = 200  # characters

Row = tuple[str, str, str]  # a name, its arguments, what it does


def row(name: str, item: PinnedItem) -> Row:
    """Make the line of a tool: arguments as `name:type`, with `!` if required, `=` its default."""
    arguments = " ".join(
        _short(argument, schema, needed) for argument, schema, needed in _arguments(item)
    )
    return visible(name), visible(arguments), visible(item.summary[:_SUMMARY])


def lines(tools: list[tuple[str, PinnedItem]]) -> Iterator[str]:
    """Make a line for each tool."""
    return ("  ".join(row(*tool)).rstrip() for tool in tools)


def print_table(tools: list[tuple[str, PinnedItem]]) -> None:
    """Print the lines as a table on a terminal."""
    from thrall_py.output import pretty

    rows = (row(*tool) for tool in tools)
    pretty.print_table(("tool", "arguments", "summary"), rows, stderr=False)


def page(name: str, item: PinnedItem, catalog: str) -> Iterator[str]:
    """Describe one tool: what it does, its arguments, and a line that calls it."""
    title = item.text("title")
    yield visible(name) + (f" - {visible(title)}" if title else "")
    yield f"hints (the server's own word): {review.describe_annotations(item)}"
    description = visible_text(item.text("description").strip())
    if description:
        yield ""
        yield from (f"  {line}" for line in description.split("\n"))
    arguments = list(_arguments(item))
    if arguments:
        yield ""
        yield "arguments:"
    for argument, schema, needed in arguments:
        yield f"  {visible(_short(argument, schema, needed))}"
        about = visible_text(_text(schema.get("description")).strip())
        yield from (f"      {line}" for line in about.split("\n") if line)
    yield ""
    yield "example:"
    words = [_example(argument, schema) for argument, schema, needed in arguments if needed]
    call = ["thrall", "call", name, *words, "--catalog", catalog]
    yield "  " + visible(shlex.join(call)) + ("" if words else " </dev/null" if arguments else "")


def _arguments(item: PinnedItem) -> Iterator[tuple[str, dict[str, Json], bool]]:
    schema = item.definition.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    required = schema.get("required") if isinstance(schema, dict) else None
    for name, member in properties.items() if isinstance(properties, dict) else ():
        needed = isinstance(required, list) and name in required
        yield name, member if isinstance(member, dict) else {}, needed


def _short(name: str, schema: dict[str, Json], needed: bool) -> str:  # noqa: FBT001 - a column
    default = f"={canonical.compact(schema['default'])}" if "default" in schema else ""
    return f"{name}:{_type(schema)}{'!' if needed else ''}{default}"


def _type(schema: dict[str, Json]) -> str:
    if isinstance(schema.get("enum"), list):
        return "|".join(canonical.compact(value) for value in _list(schema["enum"]))
    names = schema.get("type")
    return "|".join(str(name) for name in (_list(names) or [names])) if names else "any"


def _example(name: str, schema: dict[str, Json]) -> str:
    if schema.get("type") == "string":
        return f"{name}=..."
    return f"{name}:=..."


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
