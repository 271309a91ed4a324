"""What a call of one tool needs of a catalog: read by place, without the rest.

The file is walked once and has to be strict JSON as a whole. Of its servers all names of tools are
looked at, and of the one that offers the tool all but its other definitions: to compare all digests
is what `check` is for. Where this is not plainly good, `file` reads everything and says why.
"""

from thrall_py.catalog import file
from thrall_py.catalog.file import Catalog
from thrall_py.errors import CatalogError
from thrall_py.protocol import jsontext, mcp
from thrall_py.protocol.jsontext import EACH, Json, JsonError, Shape, Value

_SERVERS = "servers"
_TOOLS = mcp.TOOLS.member
_DEFINED = tuple(kind.member for kind in mcp.KINDS)
_SHAPE: Shape = {_SERVERS: {EACH: {_TOOLS: {}}}}


def read(path: str, tool: str) -> Catalog:
    """Read a catalog for one tool, by its name with the prefix.

    Returns:
        The one server that offers it, with this tool; all of the catalog if none does, or several.

    Raises:
        CatalogError: as `file.read`, but for what is wrong with other servers and definitions.

    """
    data = file.content(path)
    try:
        brief = _brief(jsontext.scan(jsontext.latin1(data), _SHAPE), tool)
        return file.decode(brief, path) if brief else file.loads(data, path)
    except (CatalogError, JsonError):
        return file.loads(data, path)


def _brief(root: Value, tool: str) -> dict[str, Json]:
    """The JSON of a catalog that has the server of this tool alone; empty if it is not one."""
    servers = root.member(_SERVERS)
    entries = servers.members() if servers else {}
    names = {server: _own_name(entry, tool) for server, entry in entries.items()}
    owners = [(server, own) for server, own in names.items() if own is not None]
    if len(owners) != 1:
        return {}
    ((server, own),) = owners
    plain = {name: value.load() for name, value in root.members().items() if name != _SERVERS}
    return {**plain, _SERVERS: {server: _entry(entries[server], own)}}


def _own_name(entry: Value, tool: str) -> str | None:
    """What a server itself calls the tool; None if it does not have it."""
    prefix, tools = entry.member_string("prefix") or "", entry.member(_TOOLS)
    own = tool.removeprefix(prefix)
    return own if tools and tool.startswith(prefix) and own in tools.members() else None


def _entry(entry: Value, own: str) -> dict[str, Json]:
    """The JSON of an entry with one of its tools, and no other definition."""
    plain = {
        name: {} if name in _DEFINED and value.first == "{" else value.load()
        for name, value in entry.members().items()
    }
    return {**plain, _TOOLS: {own: entry.members()[_TOOLS].members()[own].load()}}
