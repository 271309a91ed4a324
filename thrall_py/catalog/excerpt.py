"""What a call of one tool needs of a catalog: read by place, without the other definitions.

The file is walked once. It has to be strict JSON as a whole, and all of its frame and its servers
as they should be; of the definitions only the one that is called is decoded and compared with its
digest, or a call would cost what `check` does. Where anything is not plainly good, `file` reads
everything and says what is wrong.
"""

from thrall_py.catalog import codec, file
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
        All servers. What they offer is not all there, unless no server or several have the tool.

    Raises:
        CatalogError: as `file.read`, but for what is wrong with definitions of other tools.

    """
    data = file.content(path)
    try:
        brief = _brief(jsontext.scan(jsontext.latin1(data), _SHAPE), tool)
        return file.decode(brief, path) if brief else file.loads(data, path)
    except (CatalogError, JsonError):
        return file.loads(data, path)


def _brief(root: Value, tool: str) -> dict[str, Json]:
    """The JSON of the same catalog with this tool alone; empty unless one server has it."""
    servers = root.member(_SERVERS)
    entries = servers.members() if servers else {}
    owners = [name for name, entry in entries.items() if _own_name(entry, tool) is not None]
    if len(owners) != 1:
        return {}
    frame = {name: value.load() for name, value in root.members().items() if name != _SERVERS}
    return frame | {_SERVERS: {name: _server(entry, tool) for name, entry in entries.items()}}


def _own_name(entry: Value, tool: str) -> str | None:
    """What a server itself calls the tool; None if it does not have it."""
    prefix, tools = entry.member_string("prefix") or "", entry.member(_TOOLS)
    own = tool.removeprefix(prefix)
    return own if tools and tool.startswith(prefix) and own in tools.members() else None


def _server(entry: Value, tool: str) -> Json:
    """The JSON of an entry with this tool at most; as it is if it is no object."""
    members = entry.members()
    plain = {name: {} if _is_held(name, value) else value.load() for name, value in members.items()}
    held = members[_TOOLS].members() if _TOOLS in members else {}
    own = _own_name(entry, tool)
    if own is None and codec.KIND in members:
        own = next(iter(held), None)  # a plain command without any tool is none
    if own is not None:
        plain[_TOOLS] = {own: held[own].load()}
    return plain if entry.first == "{" else entry.load()


def _is_held(name: str, value: Value) -> bool:
    """Whether a member of an entry holds definitions by their names."""
    return name in _DEFINED and value.first == "{"
