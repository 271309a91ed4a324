"""Servers and tools for a person: a line each, or a page about a tool. All of it is visible."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from thrall_py.catalog import parameters, review, wording
from thrall_py.catalog.entry import WORDS, Entry, PinnedItem
from thrall_py.catalog.launch import ExecSpec
from thrall_py.catalog.parameters import Parameter
from thrall_py.protocol import canonical, mcp
from thrall_py.protocol.jsontext import Json
from thrall_py.redact import Redactor
from thrall_py.visible import visible, visible_text

_NAME = 1000  # characters of a name, which is not cut if somebody may use it
_ARGUMENTS = 4000  # characters of all arguments of a tool
_SUMMARY = 200  # characters

Row = tuple[str, str, str]  # a name, its arguments, what it does

_NO_SECRETS = Redactor()


class Shown(NamedTuple):
    """A server to be shown: its name in the catalog, its entry, and what is masked of its words."""

    name: str
    entry: Entry
    redact: Redactor = _NO_SECRETS

    @property
    def tools(self) -> list[Row]:
        """Make a row for each of its tools, in order."""
        return [row(*tool, self.redact) for tool in sorted(self.entry.offered.items())]

    @property
    def fields(self) -> tuple[str, ...]:
        """Its name, how it is started or where it is, its version, number of tools, and prefix."""
        entry = self.entry
        said = (self.name, entry.launch.shown, entry.server.version)
        count, prefix = str(len(entry.tools)), self.redact.plain(entry.prefix, _NAME)
        return *(self.redact.plain(each, _NAME) for each in said), count, prefix

    @property
    def heading(self) -> str:
        """The same in one sentence, and how much it has of what are no tools."""
        name, origin, version, _, prefix = self.fields
        is_command = isinstance(self.entry.launch, ExecSpec)
        without = "a plain command" if is_command else "no version"
        parts = [
            origin,
            f"version {version}" if version else without,
            self.entry.counted,
            *([f"prefix {prefix}"] if prefix else []),
        ]
        return f"{name}: {', '.join(parts)}"


def row(name: str, item: PinnedItem, redact: Redactor = _NO_SECRETS) -> Row:
    """Make the row of a tool: arguments as `name:type`, with `!` if required, `=` its default."""
    arguments = " ".join(map(_short, _parameters(item)))
    return (
        redact.plain(name, _NAME),
        redact.plain(arguments, _ARGUMENTS),
        redact.plain(item.summary, _SUMMARY),
    )


def tool_lines(server: Shown) -> Iterator[str]:
    """Make a line for each tool: its name, its server's, its arguments and what it does."""
    name = server.fields[0]
    return ("\t".join((tool, name, *rest)) for tool, *rest in server.tools)


def server_line(server: Shown) -> str:
    """Make a line of what there is to be said of a server."""
    return "\t".join(server.fields)


def print_tables(servers: Sequence[Shown]) -> None:
    """Print the tools of each server as a table on a terminal, below a heading."""
    from thrall_py.output import pretty

    columns = ("tool", "arguments", "summary")
    for place, server in enumerate(servers):
        heading = ("\n" if place else "") + server.heading
        pretty.print_table(columns, server.tools, heading=heading, stderr=False)


def help_page(name: str, item: PinnedItem, catalog: str) -> Iterator[str]:
    """Say how one tool is called, as the help of that call."""
    call = shlex.join(["thrall", "call", name, "--catalog", catalog])
    yield f"Usage: {visible(call)} [OPTIONS] [ITEM]..."
    yield ""
    yield from page(name, item, catalog)
    yield ""
    yield "Write name=text for a string, name:=JSON for anything else."
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
        yield from _described(parameter, _how_needed(parameter))
    answer = parameters.find(item.definition.get("outputSchema"))
    if answer:
        yield ""
        yield "answer (structured content, which --json prints):"
    for member in answer:
        yield from _described(member, "" if member.is_required else "may be missing")
    yield ""
    yield "example:"
    words = [_example(parameter) for parameter in known if parameter.is_required]
    call = ["thrall", "call", name, *(words or ["{}"]), "--catalog", catalog]
    yield "  " + visible(shlex.join(call))


def others(servers: Mapping[str, Entry], name: str) -> Iterator[str]:
    """Describe what has a name and is no tool: of which server it is, and what it says of itself.

    There is a page for each, and no line if there is none.
    """
    for server, entry in servers.items():
        for kind in mcp.KINDS[1:]:
            item = entry.named(kind).get(name)
            if item is not None:
                what = f"a {WORDS[kind]} of {visible(server)}, which thrall serve offers"
                yield f"{visible(name)}: {what}"
                about = visible_text(item.text("description").strip())
                yield from (f"  {line}" for line in about.split("\n") if line)
                yield from _prompt_arguments(item.definition.get("arguments"))


def _prompt_arguments(listed: Json) -> Iterator[str]:
    """Make the lines about the arguments of a prompt (revision 2025-11-25, "Prompts")."""
    known = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    if known:
        yield "arguments:"
    for each in known:
        needed = "required" if each.get("required") is True else "optional"
        about = each.get("description")
        yield visible(f"  {each.get('name')}: {needed}")
        if isinstance(about, str):
            yield f"      {visible(about)}"


def _described(parameter: Parameter, more: str) -> Iterator[str]:
    """Make the lines about a parameter, or a member of an answer: its kind, what it is for."""
    kind = wording.kind(parameter) + (f" ({more})" if more else "")
    yield visible(f"  {parameter.name}: {kind}")
    about = visible_text(parameter.description)
    yield from (f"      {line}" for line in about.split("\n") if line)


def _how_needed(parameter: Parameter) -> str:
    if parameter.is_required:
        return "required"
    if "default" in parameter.schema:
        return f"optional; {canonical.compact(parameter.schema['default'])} if it is not given"
    return "optional"


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
    """Write an ITEM for a parameter, with its first value if it takes only some."""
    if not parameter.choices:
        return f"{parameter.key}{'=' if parameter.types == ('string',) else ':='}..."
    value = parameter.choices[0]
    if isinstance(value, str) and not value.startswith("@"):  # which would name a file
        return f"{parameter.key}={value}"
    return f"{parameter.key}:={canonical.compact(value)}"
