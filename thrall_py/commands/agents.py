"""What an agent is configured with to be served a catalog: one server, `thrall serve`."""

import os
import shlex
import sys
from collections.abc import Iterator

from thrall_py.catalog import formats
from thrall_py.catalog.entry import Entry
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.launch import ExecSpec, UrlSpec
from thrall_py.commands.invocation import Invocation
from thrall_py.protocol import canonical
from thrall_py.transport.environment import variable_names
from thrall_py.visible import visible


def configuration(
    invocation: Invocation, path: str, catalog: Catalog, agent: str | None
) -> Iterator[str]:
    """Write what an agent takes, and tell which variables it has to have.

    All paths are absolute: an agent starts its servers wherever it likes.

    Args:
        invocation: tells a person.
        path: of the catalog.
        catalog: what is in it.
        agent: claude-code (a command to run), vscode, or any other, which takes `mcpServers`.

    """
    argv = [*_program(), "serve", os.path.abspath(path)]
    names = sorted({name for entry in catalog.servers.values() for name in _variables(entry)})
    if names:
        invocation.note(f"the agent has to pass these variables on: {visible(', '.join(names))}")
    if agent == "claude-code":
        yield shlex.join(["claude", "mcp", "add", formats.GATEWAY, "--", *argv])
        return
    shape = formats.as_vscode_gateway if agent == "vscode" else formats.as_gateway
    yield canonical.indented(shape(argv)).rstrip("\n")


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
