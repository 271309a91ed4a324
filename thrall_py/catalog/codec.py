"""An entry of a catalog as JSON and back: thrall-catalog(5), member by member."""

from collections.abc import Collection, Iterator

from thrall_py.catalog.change import FAILING
from thrall_py.catalog.choice import Choice
from thrall_py.catalog.entry import (
    SURFACE,
    Entry,
    Items,
    PinnedItem,
    command_entry,
)
from thrall_py.catalog.launch import (
    ExecSpec,
    LaunchSpec,
    ServerSpec,
    UrlSpec,
    as_headers,
    as_variable,
    as_word,
)
from thrall_py.protocol import canonical, mcp
from thrall_py.protocol.jsontext import Json, JsonError

KIND = "kind"
EXEC = "exec"  # the one kind that has a name: an entry without one is a server
EXEC_MEMBERS = (KIND, "command", "cwd", "env", "cleanEnv", "prefix", mcp.TOOLS.member)
ENTRY_MEMBERS = (
    KIND,
    "url",
    "headers",
    "command",
    "cwd",
    "env",
    "cleanEnv",
    "prefix",
    "only",
    "except",
    "protocol",
    "clientCapabilities",
    "surface",
    "server",
    "instructions",
    *(kind.member for kind in mcp.KINDS),
)


def encode_entry(entry: Entry) -> Json:
    """Make the JSON of an entry, its members in the order of the page."""
    if isinstance(entry.launch, ExecSpec):
        return _encode_exec(entry.launch, entry)
    server = entry.server
    plain = _encode_spec(entry.launch)
    if entry.prefix:
        plain["prefix"] = entry.prefix
    if entry.choice.only:
        plain["only"] = list[Json](entry.choice.only)
    if entry.choice.leave_out:
        plain["except"] = list[Json](entry.choice.leave_out)
    plain["protocol"] = server.revision
    plain["clientCapabilities"] = _encode_modes(entry.modes)
    plain["surface"] = list(entry.surface)
    plain["server"] = {"name": server.name, "version": server.version}
    if server.instructions is not None:
        plain["instructions"] = server.instructions
    for kind in mcp.KINDS:
        if kind.member in entry.surface:
            plain[kind.member] = _encode_items(entry.items.get(kind.member, {}))
    return plain


def decode_entry(value: Json) -> Entry:
    """Read the JSON of an entry. Whether a definition has its digest is left to `edited`.

    Raises:
        JsonError: it is not one; the message says why.

    """
    if isinstance(value, dict) and KIND in value:
        return _decode_exec(value)
    members = _object(value, "a server", ENTRY_MEMBERS)
    about = _object(members.get("server", {}), '"server"', ("name", "version"))
    instructions = members.get("instructions")
    server = mcp.ServerInfo(
        _text(members.get("protocol"), '"protocol"'),
        _text(about.get("name", ""), '"name"'),
        _text(about.get("version", ""), '"version"'),
        None if instructions is None else _text(instructions, '"instructions"'),
    )
    if server.revision not in mcp.REVISIONS:
        raise JsonError(f"it names the unknown protocol {server.revision!a}")
    modes = _decode_modes(members.get("clientCapabilities", {}))
    surface = _surface(members.get("surface"))
    items = {kind.member: _decode_items(kind, members, surface) for kind in mcp.KINDS}
    prefix = _text(members.get("prefix", ""), '"prefix"')
    choice = Choice(_texts(members.get("only", []), '"only"'),
                    _texts(members.get("except", []), '"except"'))  # fmt: skip
    unwanted = [name for name in items[mcp.TOOLS.member] if not choice.takes(name)]
    if unwanted:
        raise JsonError(f'it has {unwanted[0]!a}, which its "only" and "except" leave out')
    return Entry(_decode_spec(members), server, items, surface, prefix, choice, modes)


def edited(entry: Entry) -> Iterator[str]:
    """Name the definitions of an entry that do not have their digests: somebody wrote there."""
    for items in entry.items.values():
        for name, item in items.items():
            if canonical.digest(item.definition) != item.digest:
                yield name


def refuse_edited(entry: Entry) -> None:
    """Take an entry only as it was pinned.

    Raises:
        JsonError: a definition was edited.

    """
    for name in edited(entry):
        raise JsonError(
            f"the definition of {name!a} does not have its digest: it was edited; take that back,"
            " or pin the server again"
        )


def _encode_modes(modes: tuple[str, ...]) -> Json:
    """Make what is declared of them, as 2025-11-25 writes it ("Elicitation", "Capabilities")."""
    return {"elicitation": {mode: {} for mode in modes}} if modes else {}


def _decode_modes(value: Json) -> tuple[str, ...]:
    named = value.get("elicitation") if isinstance(value, dict) else None
    modes = tuple(mode for mode in mcp.MODES if isinstance(named, dict) and mode in named)
    if value != _encode_modes(modes):
        raise JsonError("it names client capabilities that this thrall does not have")
    return modes


def _encode_spec(spec: ServerSpec) -> dict[str, Json]:
    if isinstance(spec, UrlSpec):
        plain: dict[str, Json] = {"url": spec.url}
        if spec.headers:
            plain["headers"] = {name: spec.headers[name] for name in sorted(spec.headers)}
        return plain
    return _encode_launch(spec)


def _encode_launch(spec: LaunchSpec) -> dict[str, Json]:
    plain: dict[str, Json] = {"command": list(spec.command)}
    if spec.cwd is not None:
        plain["cwd"] = spec.cwd
    if spec.env:
        plain["env"] = {name: spec.env[name] for name in sorted(spec.env)}
    if spec.clean_env:
        plain["cleanEnv"] = True
    return plain


def _decode_spec(members: dict[str, Json]) -> ServerSpec:
    others = {"command", "cwd", "env", "cleanEnv"} if "url" in members else {"headers"}
    if others & members.keys():
        raise JsonError('a server has either "url" and "headers" or "command" and its surroundings')
    if "url" in members:
        return UrlSpec(as_word(members["url"], '"url"'), as_headers(members.get("headers", {})))
    return _decode_launch(members, 'a server has no "command" and no "url"')


def _decode_launch(members: dict[str, Json], otherwise: str) -> LaunchSpec:
    """The command and its surroundings; `otherwise` is what is wrong if there is none."""
    command = members.get("command")
    if not isinstance(command, list) or not command:
        raise JsonError(otherwise)
    cwd = members.get("cwd")
    env = _object(members.get("env", {}), '"env"')
    return LaunchSpec(
        tuple(as_word(item, '"command"') for item in command),
        {as_variable(name): as_word(word, '"env"') for name, word in env.items()},
        _flag(members.get("cleanEnv", False), '"cleanEnv"'),
        None if cwd is None else as_word(cwd, '"cwd"'),
    )


def _encode_exec(spec: ExecSpec, entry: Entry) -> Json:
    plain: dict[str, Json] = {KIND: EXEC, **_encode_launch(spec.run)}
    if entry.prefix:
        plain["prefix"] = entry.prefix
    return {**plain, mcp.TOOLS.member: _encode_items(entry.tools)}


def _decode_exec(value: dict[str, Json]) -> Entry:
    if value[KIND] != EXEC:
        raise JsonError(f'"{KIND}" should be "{EXEC}", or not be there')
    members = _object(value, "a plain command", EXEC_MEMBERS)
    tools = _decode_items(mcp.TOOLS, members, (mcp.TOOLS.member,))
    if not tools:
        raise JsonError("a plain command has no tool")
    command = ExecSpec(_decode_launch(members, 'a plain command has no "command"'))
    return command_entry(command, tools, _text(members.get("prefix", ""), '"prefix"'))


def decode_policy(value: Json) -> tuple[str, ...]:
    """Read the policy of a catalog: the classes of drift that pass.

    Raises:
        JsonError: it is not one.

    """
    names = _object(value, '"policy"', ("allow",)).get("allow", [])
    chosen = tuple(name for name in FAILING if isinstance(names, list) and name in names)
    if not isinstance(names, list) or len(chosen) != len(names):
        raise JsonError(f'"allow" should name some of {", ".join(FAILING)}')
    return chosen


def _surface(value: Json) -> tuple[str, ...]:
    names = value if isinstance(value, list) else [None]
    chosen = tuple(name for name in SURFACE if name in names)
    if len(chosen) != len(names):
        raise JsonError(f'"surface" should name some of {", ".join(SURFACE)}')
    return chosen


def _encode_items(items: Items) -> Json:
    return {
        name: {"digest": item.digest, "definition": item.definition}
        for name, item in sorted(items.items())
    }


def _decode_items(kind: mcp.Kind, members: dict[str, Json], surface: Collection[str]) -> Items:
    what = f'"{kind.member}"'
    if kind.member not in surface and kind.member in members:
        raise JsonError(f"it has {what}, which its surface does not name")
    held = members.get(kind.member) if kind.member in surface else {}
    return {name: _item(kind, name, item) for name, item in _object(held, what).items()}


def _item(kind: mcp.Kind, name: str, value: Json) -> PinnedItem:
    members = _object(value, f"{name!a}", ("digest", "definition"))
    tidy = canonical.sort_members(members.get("definition"))
    definition = _object(tidy, f"the definition of {name!a}")
    if definition.get(kind.key) != name:
        raise JsonError(f"the definition of {name!a} has another {kind.key}")
    return PinnedItem(_text(members.get("digest", ""), '"digest"'), definition)


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


def _texts(value: Json, what: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise JsonError(f"{what} should be a list")
    return tuple(_text(item, what) for item in value)
