"""Plain commands as the tool documents of executors name them: an array, a command for each. Pure.

An element has `name`, `description`, `input_schema` and `command`; `thrall show --format thrall`
writes the same.
"""

import re
from typing import NamedTuple

from thrall_py.catalog.launch import ExecSpec, LaunchSpec, as_word
from thrall_py.protocol.jsontext import Json, JsonError

_MEMBERS = ("name", "description", "input_schema", "command")
_VARIABLE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?\}")  # what a catalog would fill in


class Tool(NamedTuple):
    """A tool: the command that is it, and its definition as MCP has it."""

    command: ExecSpec
    definition: dict[str, Json]


def define(
    name: str, description: str | None, schema: dict[str, Json], *, read_only: bool = False
) -> dict[str, Json]:
    """Make the definition of a tool (revision 2025-11-25, "Tools"); `read_only` is a hint."""
    about: dict[str, Json] = {} if description is None else {"description": description}
    hints: dict[str, Json] = {"annotations": {"readOnlyHint": True}} if read_only else {}
    return {"name": name, **about, "inputSchema": schema, **hints}


def by_name(document: list[Json]) -> dict[str, dict[str, Json]]:
    """Tell the tools of a document apart.

    Raises:
        JsonError: one has no name, or that of another.

    """
    tools: dict[str, dict[str, Json]] = {}
    for place, value in enumerate(document, 1):
        name = value.get("name") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(name, str) or not name:
            raise JsonError(f'tool {place} of it has no "name"')
        if name in tools:
            raise JsonError(f"it has the tool {name!a} twice")
        tools[name] = value
    return tools


def read_tool(value: dict[str, Json]) -> Tool:
    """Read a tool that has a name. Its command is taken word for word: nothing is filled in.

    Raises:
        JsonError: it is none; the message says why.

    """
    unknown = sorted(value.keys() - set(_MEMBERS))
    if unknown:
        raise JsonError(f"it has the unknown member {unknown[0]!a}")
    name = as_word(value["name"], '"name"')
    description, schema, command = (value.get(member) for member in _MEMBERS[1:])
    if not isinstance(schema, dict):
        raise JsonError('"input_schema" should be an object')
    if not isinstance(command, list) or not command:
        raise JsonError('"command" should be a list of words')
    words = tuple(_literal(as_word(word, 'each word of "command"')) for word in command)
    about = None if description is None else as_word(description, '"description"')
    return Tool(ExecSpec(LaunchSpec(words, {})), define(name, about, schema))


def _literal(word: str) -> str:
    """Spell a word so that a catalog means it as it is."""
    return _VARIABLE.sub(r"$\g<0>", word)
