"""The tools of a catalog in the shapes of other programs. Pure."""

from collections.abc import Callable, Mapping, Sequence

from thrall_py.catalog.entry import PinnedItem
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.launch import ExecSpec, LaunchSpec, ServerSpec, UrlSpec
from thrall_py.protocol.jsontext import Json

_NO_SCHEMA: dict[str, Json] = {"type": "object"}

GATEWAY = "thrall"  # what an agent knows the one server by that serves a catalog

Tool = tuple[str, PinnedItem]  # by the name it is called by


def offered(catalog: Catalog) -> list[Tool]:
    """List the tools of all servers by the names they are called by, in order."""
    return sorted(tool for entry in catalog.servers.values() for tool in entry.offered.items())


def as_json(tools: list[Tool], _: Sequence[str]) -> Json:
    """An array of definitions, each under the name it is called by."""
    return [{**item.definition, "name": name} for name, item in tools]


def as_mcp(tools: list[Tool], _: Sequence[str]) -> Json:
    """The result of tools/list, as the servers sent it but for prefixes."""
    return {"tools": as_json(tools, ())}


def as_thrall(tools: list[Tool], call: Sequence[str]) -> Json:
    """The tool document of executors that start a command per call: JSON in, text out.

    `call` is the argv that calls a tool, with NAME in the place of its name.
    """
    return [
        {
            "name": name,
            "description": item.text("description"),
            "input_schema": _schema(item),
            "command": [name if word == "NAME" else word for word in call],
        }
        for name, item in tools
    ]


def as_openai(tools: list[Tool], _: Sequence[str]) -> Json:
    """The functions of OpenAI's API."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": item.text("description"),
                "parameters": _schema(item),
            },
        }
        for name, item in tools
    ]


def as_anthropic(tools: list[Tool], _: Sequence[str]) -> Json:
    """The tools of Anthropic's API."""
    return [
        {"name": name, "description": item.text("description"), "input_schema": _schema(item)}
        for name, item in tools
    ]


def as_servers(catalog: Catalog) -> Json:
    """An `mcpServers` file: how the servers are started, `${NAME}` as it stands in the catalog.

    A plain command is no server, and left out.
    """
    servers: dict[str, Json] = {}
    for name, entry in sorted(catalog.servers.items()):
        if not isinstance(entry.launch, ExecSpec):
            servers[name] = _server(entry.launch)
    return {"mcpServers": servers}


def commands(catalog: Catalog) -> list[str]:
    """List the entries that are plain commands."""
    servers = sorted(catalog.servers.items())
    return [name for name, entry in servers if isinstance(entry.launch, ExecSpec)]


def _server(spec: ServerSpec) -> dict[str, Json]:
    if isinstance(spec, UrlSpec):
        server: dict[str, Json] = {"type": "http", "url": spec.url}
        if spec.headers:
            server["headers"] = {**spec.headers}
        return server
    server = {"command": spec.command[0], "args": [*spec.command[1:]]}
    if spec.env:
        server["env"] = {**spec.env}
    if spec.cwd is not None:
        server["cwd"] = spec.cwd
    return server


def as_gateway(argv: Sequence[str], env: Mapping[str, str]) -> Json:
    """An `mcpServers` file with one server: Claude Code, Claude Desktop and Cursor read it."""
    return {"mcpServers": {GATEWAY: _server(LaunchSpec(tuple(argv), {**env}))}}


def as_vscode_gateway(argv: Sequence[str], env: Mapping[str, str]) -> Json:
    """The same as VS Code's `mcp.json` has it."""
    return {"servers": {GATEWAY: {"type": "stdio", **_server(LaunchSpec(tuple(argv), {**env}))}}}


FORMATS: dict[str, Callable[[list[Tool], Sequence[str]], Json]] = {
    "json": as_json,
    "thrall": as_thrall,
    "openai": as_openai,
    "anthropic": as_anthropic,
    "mcp": as_mcp,
}


def _schema(item: PinnedItem) -> Json:
    schema = item.definition.get("inputSchema")
    return schema if isinstance(schema, dict) else _NO_SCHEMA
