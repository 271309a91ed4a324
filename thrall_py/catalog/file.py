"""The catalog file: one format, one reader, one atomic writer (thrall-catalog(5)).

Made to be reviewed in a pull request: ASCII, so that a hidden character shows; whole definitions,
so that a difference can be shown and not just announced; one order and one spelling, so that the
same server makes the same bytes.
"""

import contextlib
import os
import secrets
import stat
from collections.abc import Collection

from thrall_py.catalog.entry import Entry, PinnedTool, pin_tool
from thrall_py.catalog.launch import LaunchSpec
from thrall_py.errors import CatalogError
from thrall_py.protocol import canonical, jsontext, mcp
from thrall_py.protocol.jsontext import Json, JsonError
from thrall_py.visible import visible

FORMAT = 1
_SHOWN = 300  # characters of what is wrong
STDOUT = "-"

Catalog = dict[str, Entry]

ENTRY_MEMBERS = ("command", "cwd", "env", "cleanEnv", "protocol", "server", "instructions", "tools")


def read(path: str) -> Catalog:
    """Read a catalog, whole and checked.

    Raises:
        CatalogError: it is missing, damaged, of another format, or edited so that a digest does
            not fit its definition.

    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as problem:
        raise CatalogError(f"cannot read {visible(path)}: {problem.strerror}") from None
    return loads(data, path)


def read_for_update(path: str) -> Catalog:
    """Read the catalog that is to be written: an empty one if there is none yet.

    Raises:
        CatalogError: what is there is no catalog, or no file could be put there.

    """
    if path == STDOUT:
        return {}
    folder, target = _place(path)
    if not os.path.isdir(folder):
        raise CatalogError(f"cannot write {visible(path)}: there is no directory {visible(folder)}")
    if not os.access(folder, os.W_OK):
        raise CatalogError(f"cannot write {visible(path)}: the directory does not allow it")
    if not os.path.lexists(target):
        return {}
    if not os.path.isfile(target):
        raise CatalogError(f"cannot write {visible(path)}: it is not a file")
    return read(path) if os.path.getsize(target) else {}


def entry_offering(catalog: Catalog, tool: str) -> Entry:
    """Find the one server that offers `tool`.

    Raises:
        CatalogError: none does, or several do.

    """
    owners = [name for name, entry in catalog.items() if tool in entry.tools]
    if not owners:
        raise CatalogError("the catalog does not have this tool")
    if len(owners) > 1:
        raise CatalogError(f"several servers have this tool: {', '.join(map(visible, owners))}")
    return catalog[owners[0]]


def loads(data: bytes, path: str) -> Catalog:
    """Read a catalog from its bytes; `path` is for the sentences.

    Raises:
        CatalogError: as `read`.

    """
    try:
        root = jsontext.load(jsontext.decode(jsontext.latin1(data)))
    except JsonError as problem:
        raise _broken(path, str(problem)) from None
    if not isinstance(root, dict) or "thrall" not in root:
        raise _broken(path, 'it has no member "thrall"')
    if root["thrall"] != FORMAT or isinstance(root["thrall"], bool):
        raise CatalogError(
            f"{visible(path)} is of another format than {FORMAT}: it needs another thrall"
        )
    servers = root.get("servers")
    if set(root) != {"thrall", "servers"} or not isinstance(servers, dict):
        raise _broken(path, 'it should have "thrall" and "servers" and nothing else')
    try:
        return {name: _entry(value) for name, value in servers.items()}
    except JsonError as problem:
        raise _broken(path, str(problem)) from None


def dumps(catalog: Catalog) -> str:
    """Write a catalog as text, always the same for the same content."""
    servers: dict[str, Json] = {name: _plain(catalog[name]) for name in sorted(catalog)}
    return canonical.indented({"thrall": FORMAT, "servers": servers})


def write(path: str, text: str) -> None:
    """Put `text` in the place of the file in one step: a reader sees the old one or the new one.

    Raises:
        CatalogError: it cannot be written; the old file is as it was.

    """
    folder, target = _place(path)
    temporary = os.path.join(folder, f".{os.path.basename(target)}.{secrets.token_hex(4)}")
    try:
        mode = stat.S_IMODE(os.stat(target).st_mode) if os.path.exists(target) else None
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with open(descriptor, "w", encoding="ascii") as file:
            if mode is not None:
                os.fchmod(descriptor, mode)
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary, target)
    except OSError as problem:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise CatalogError(f"cannot write {visible(path)}: {problem.strerror}") from None


def _place(path: str) -> tuple[str, str]:
    """The directory and the file itself, behind symbolic links."""
    try:
        target = os.path.realpath(path)
    except OSError as problem:  # the working directory is gone
        raise CatalogError(f"cannot write {visible(path)}: {problem.strerror}") from None
    return os.path.dirname(target), target


# -- an entry as JSON and back -----------------------------------------------------------------


def _plain(entry: Entry) -> Json:
    launch, server = entry.launch, entry.server
    plain: dict[str, Json] = {"command": list(launch.command)}
    if launch.cwd is not None:
        plain["cwd"] = launch.cwd
    if launch.env:
        plain["env"] = {name: launch.env[name] for name in sorted(launch.env)}
    if launch.clean_env:
        plain["cleanEnv"] = True
    plain["protocol"] = server.revision
    plain["server"] = {"name": server.name, "version": server.version}
    if server.instructions is not None:
        plain["instructions"] = server.instructions
    plain["tools"] = {
        name: {"digest": pin.digest, "definition": pin.definition}
        for name, pin in sorted(entry.tools.items())
    }
    return plain


def _entry(value: Json) -> Entry:
    members = _object(value, "a server", ENTRY_MEMBERS)
    command = members.get("command")
    if not isinstance(command, list) or not command:
        raise JsonError('a server has no "command"')
    about = _object(members.get("server", {}), '"server"', ("name", "version"))
    instructions = members.get("instructions")
    cwd = members.get("cwd")
    env = _object(members.get("env", {}), '"env"')
    launch = LaunchSpec(
        tuple(_word(item, '"command"') for item in command),
        {_variable(name): _word(value, '"env"') for name, value in env.items()},
        _flag(members.get("cleanEnv", False), '"cleanEnv"'),
        None if cwd is None else _word(cwd, '"cwd"'),
    )
    server = mcp.ServerInfo(
        _text(members.get("protocol"), '"protocol"'),
        _text(about.get("name", ""), '"name"'),
        _text(about.get("version", ""), '"version"'),
        None if instructions is None else _text(instructions, '"instructions"'),
    )
    if server.revision not in mcp.REVISIONS:
        raise JsonError(f"it names the unknown protocol {server.revision!a}")
    tools = _object(members.get("tools"), '"tools"')
    return Entry(launch, server, {name: _pin(name, pin) for name, pin in tools.items()})


def _pin(name: str, value: Json) -> PinnedTool:
    members = _object(value, f"the tool {name!a}", ("digest", "definition"))
    pin = pin_tool(_object(members.get("definition"), f"the definition of {name!a}"))
    if pin.definition.get("name") != name:
        raise JsonError(f"the definition of {name!a} has another name")
    if members.get("digest") != pin.digest:
        raise JsonError(
            f"the definition of {name!a} does not have its digest: it was edited, pin it again"
        )
    return pin


def _object(value: Json, what: str, known: Collection[str] | None = None) -> dict[str, Json]:
    """An object, of whose members none is unknown if the known ones are given."""
    if not isinstance(value, dict):
        raise JsonError(f"{what} should be an object")
    unknown = sorted(set(value).difference(known)) if known is not None else []
    if unknown:
        raise JsonError(f"{what} has the unknown member {unknown[0]!a}")
    return value


def _flag(value: Json, what: str) -> bool:
    if not isinstance(value, bool):
        raise JsonError(f"{what} should be true or false")
    return value


def _text(value: Json, what: str) -> str:
    if not isinstance(value, str):
        raise JsonError(f"{what} should be text")
    return value


def _variable(value: str) -> str:
    name = _word(value, '"env"')
    if not name or "=" in name:
        raise JsonError('"env" has a name that no variable can have')
    return name


def _word(value: Json, what: str) -> str:
    """A word that execve(2) can take."""
    text = _text(value, what)
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise JsonError(f"{what} holds what no argument can")
    return text


def _broken(path: str, why: str) -> CatalogError:
    return CatalogError(f"{visible(path)} is no usable catalog: {visible(why)[:_SHOWN]}")
