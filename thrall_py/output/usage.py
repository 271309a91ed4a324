"""Tools for a person: a line each, or a page about one. Everything in it is visible."""

import shlex
from collections.abc import Iterator

from thrall_py.catalog import parameters, review
from thrall_py.catalog.entry import PinnedItem
from thrall_py.catalog.parameters import Parameter
from thrall_py.protocol import canonical
from thrall_py.visible import visible, visible_text

_SUMMARY = 200  # characters

Row = tuple[str, str, str]  # a name, its arguments, what it does


def row(name: str, item: PinnedItem) -> Row:
    """Make the line of a tool: arguments as `name:type`, with `!` if required, `=` its default."""
    arguments = " ".join(map(_short, _parameters(item)))
    return visible(name), visible(arguments), visible(item.summary[:_SUMMARY])


def lines(tools: list[tuple[str, PinnedItem]]) -> Iterator[str]:
    """Make a line for each tool."""
    return ("  ".join(row(*tool)).rstrip() for tool in tools)


def print_table(tools: list[tuple[str, PinnedItem]]) -> None:
    """Print the lines as a table on a terminal."""
    from thrall_py.output import pretty

    rows = (row(*tool) for tool in tools)
    pretty.print_table(("tool", "arguments", "summary"), rows, stderr=False)


def help_page(name: str, item: PinnedItem, catalog: str) -> Iterator[str]:
    """Say how one tool is called, as the help of that call."""
    call = shlex.join(["thrall", "call", name, "--catalog", catalog])
    yield f"Usage: {visible(call)} [OPTIONS] [ITEM]..."
    yield ""
    yield from page(name, item, catalog)
    yield ""
    yield "An argument is shown as name:type, with ! if it has to be given and = before its"
    yield "default. Write name=text for a string, name:=JSON for anything else."
    yield "The options are those of thrall call --help."


def page(name: str, item: PinnedItem, catalog: str) -> Iterator[str]:
    """Describe one tool: what it does, its arguments, and a line that calls it."""
    title = item.text("title")
    yield visible(name) + (f" - {visible(title)}" if title else "")
    yield f"hints (the server's own word): {review.describe_annotations(item)}"
    description = visible_text(item.text("description").strip())
    if description:
        yield ""
        yield from (f"  {line}" for line in description.split("\n"))
    known = _parameters(item)
    if known:
        yield ""
        yield "arguments:"
    for parameter in known:
        yield f"  {visible(_short(parameter))}"
        about = visible_text(parameter.description)
        yield from (f"      {line}" for line in about.split("\n") if line)
    yield ""
    yield "example:"
    words = [_example(parameter) for parameter in known if parameter.is_required]
    call = ["thrall", "call", name, *(words or ["{}"]), "--catalog", catalog]
    yield "  " + visible(shlex.join(call))


def _parameters(item: PinnedItem) -> list[Parameter]:
    return parameters.find(item.definition.get("inputSchema"))


def _short(parameter: Parameter) -> str:
    schema = parameter.schema
    default = f"={canonical.compact(schema['default'])}" if "default" in schema else ""
    return f"{parameter.name}:{_type(parameter)}{'!' if parameter.is_required else ''}{default}"


def _type(parameter: Parameter) -> str:
    if isinstance(parameter.schema.get("enum"), list):
        return "|".join(canonical.compact(value) for value in parameter.choices)
    return "|".join(parameter.types) or "any"


def _example(parameter: Parameter) -> str:
    return f"{parameter.key}{'=' if parameter.types == ('string',) else ':='}..."
