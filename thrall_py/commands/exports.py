"""What `show` writes for other programs: tools in their shapes, an agent's configuration."""

import os
import shlex
import sys
from collections.abc import Iterator

from thrall_py.catalog import formats
from thrall_py.catalog.entry import Entry
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.formats import Tool
from thrall_py.catalog.launch import ExecSpec, UrlSpec
from thrall_py.commands.invocation import Invocation
from thrall_py.protocol import canonical
from thrall_py.protocol.jsontext import Json
from thrall_py.transport.environment import variable_names
from thrall_py.visible import visible

# What stands in an agent's configuration for a variable of the agent's own environment.
_FILLED_IN = "${{{}}}"
_FILLED_IN_BY = {"cursor": "${{env:{}}}", "vscode": "${{env:{}}}", "claude-desktop": ""}


def tools(chosen: list[Tool], format_: str, path: str) -> Iterator[str]:
    """Write tools of the catalog at `path` in one of formats.FORMATS."""
    call = [sys.executable, "-m", "thrall_py", "call", "NAME", "--catalog", os.path.abspath(path)]
    yield _spelled(formats.FORMATS[format_](chosen, call))


def servers(invocation: Invocation, catalog: Catalog) -> Iterator[str]:
    """Write how an agent starts the servers itself, and tell what is left out."""
    for name in formats.commands(catalog):
        invocation.note("left out: a plain command is no server", name)
    yield _spelled(formats.as_servers(catalog))


def gateway(
    invocation: Invocation, path: str, catalog: Catalog, agent: str | None
) -> Iterator[str]:
    """Write what has an agent start `thrall serve` as its one server; tell what that needs.

    All paths are absolute: an agent starts its servers wherever it likes.

    Args:
        invocation: tells a person.
        path: of the catalog.
        catalog: what is in it.
        agent: claude-code (a command to run), vscode, or any other, which takes `mcpServers`.
            What the catalog takes from the environment is passed on as it spells that: names,
            never values.

    """
    argv = [*_program(), "serve", os.path.abspath(path)]
    names = sorted({name for entry in catalog.servers.values() for name in _variables(entry)})
    for note in _notes(catalog, names, agent):
        invocation.note(note)
    if agent == "claude-code":
        passed_on = " ".join(f'-e {name}="${name}" ' for name in names)  # by the shell
        yield f"claude mcp add {formats.GATEWAY} {passed_on}-- {shlex.join(argv)}"
        return
    spelling = _FILLED_IN_BY.get(agent or "", _FILLED_IN)
    shape = formats.as_vscode_gateway if agent == "vscode" else formats.as_gateway
    yield _spelled(shape(argv, {name: spelling.format(name) for name in names}))


def _notes(catalog: Catalog, names: list[str], agent: str | None) -> Iterator[str]:
    """Tell what the servers need that an agent may not have: variables, and a PATH."""
    told = ", ".join(names)
    if names and agent == "claude-code":
        yield f"run it where these are set, Claude Code keeps their values: {told}"
    elif names and agent == "claude-desktop":
        yield f"it fills in nothing, so write the values into the env: {told}"
    elif names:
        yield f"the agent has to have what the env passes on, or their values there: {told}"
    entries = catalog.servers.values()
    programs = sorted({visible(entry.launch.shown) for entry in entries if _is_bare(entry)})
    if programs:
        yield (
            "a program without a path is looked for in the PATH of the agent, which at a desktop is"
            f" often a short one: pin it absolute, or give the env a PATH: {', '.join(programs)}"
        )


def _is_bare(entry: Entry) -> bool:
    return not isinstance(entry.launch, UrlSpec) and "/" not in entry.launch.shown


def _spelled(value: Json) -> str:
    return canonical.indented(value).rstrip("\n")


def _program() -> list[str]:
    """Our own program, as it is found without a PATH: beside the interpreter."""
    script = os.path.join(os.path.dirname(sys.executable), "thrall")
    return [script] if os.access(script, os.X_OK) else [sys.executable, "-m", "thrall_py"]


def _variables(entry: Entry) -> Iterator[str]:
    """The variables that the words of an entry name."""
    spec = entry.launch.run if isinstance(entry.launch, ExecSpec) else entry.launch
    if isinstance(spec, UrlSpec):
        words = [spec.url, *spec.headers.values()]
    else:
        words = [*spec.command, *spec.env.values()]
    for word in words:
        yield from variable_names(word)
