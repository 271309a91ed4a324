"""Servers as agents' configuration files name them: `mcpServers`, or VS Code's `servers`. Pure.

A tool document is taken as well: each of its tools is a plain command.

Such a file is JSON, with comments in some programs, and often holds secrets in clear; what looks
like one leaves here as the name of a variable, its value apart.
"""

import re
from typing import NamedTuple

from thrall_py.catalog import credentials, tool_document
from thrall_py.catalog.launch import (
    EntrySpec,
    LaunchSpec,
    UrlSpec,
    as_headers,
    as_variable,
    as_word,
)
from thrall_py.protocol import jsontext
from thrall_py.protocol.jsontext import Json, JsonError
from thrall_py.redact import holds_secret

# What does not end is matched to the end of the file, so that nothing is looked at twice.
_TOKEN = re.compile(
    r'(?P<text>"(?:[^"\\]|\\.)*+"?)|(?P<blank>//[^\n]*+|/\*.*?(?:\*/|\Z)|\s++)|[^"/,\s]++|.',
    re.DOTALL,
)
_VARIABLE = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
_ASKED = re.compile(r"\$\{input:[^}]*\}")  # VS Code asks for it
_FOREIGN = re.compile(
    r"\$\{(?:[A-Za-z]+:(?!-)[^}]*|(?:workspace|file|relativeFile|user|path)(?:[A-Z][A-Za-z]*)?"
    r"|cwd|execPath|lineNumber|selectedText|/)\}"
)
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_ADDRESSES = ("url", "serverUrl", "httpUrl")  # as various programs call it
_KINDS = {  # as various programs call them, and whether such a server is started
    "stdio": True, "local": True, "http": False, "sse": False, "remote": False,
    "streamable-http": False, "streamableHttp": False, "streamable_http": False,
}  # fmt: skip
_HARMLESS = re.compile(r"[0-9]*|[./~].*|true|false", re.DOTALL | re.IGNORECASE)


class Configured(NamedTuple):
    """A server of such a file: how it is started or reached, and values that stay apart.

    Or a plain command, and the definition of its tool.
    """

    launch: EntrySpec
    given: dict[str, str]
    is_disabled: bool = False
    definition: dict[str, Json] | None = None


class Unusable(NamedTuple):
    """One that cannot be pinned, and why."""

    why: str
    is_disabled: bool


def read(data: bytes) -> dict[str, Configured | Unusable]:
    """Read the servers of a file by their names.

    Raises:
        JsonError: it is no such file; the message says why.

    """
    root = jsontext.load(_plain(jsontext.decode(jsontext.latin1(data))))
    if isinstance(root, list):
        return {name: _command(tool) for name, tool in tool_document.by_name(root).items()}
    found: dict[str, dict[str, Json]] = {}
    for path in (("mcpServers",), ("servers",), ("mcp", "mcpServers"), ("mcp", "servers")):
        servers: Json = root
        for step in path:
            servers = servers.get(step) if isinstance(servers, dict) else None
        if isinstance(servers, dict):
            found[f'"{".".join(path)}"'] = servers
    if not found:
        raise JsonError('it has neither "mcpServers" nor "servers", and is no array of tools')
    # Each program reads one of them; which one was meant here, nobody can know.
    filled = [place for place, servers in found.items() if servers]
    if len(filled) > 1:
        raise JsonError(f"it has servers in {filled[0]} and in {filled[1]}: leave one of them out")
    servers = found[filled[0]] if filled else {}
    return {name: _configured(name, value) for name, value in servers.items()}


def _plain(text: str) -> str:
    """JSON without comments, and without the commas before a closing bracket."""
    words: list[str] = []
    comma = -1  # where the last one stands, if nothing has come since
    for found in _TOKEN.finditer(text):
        if found["blank"]:
            words.append(" ")
            continue
        if found[0][0] in "]}" and comma >= 0:
            words[comma] = " "
        comma = len(words) if found[0] == "," else -1
        words.append(found[0])
    return "".join(words)


def _configured(key: str, value: Json) -> Configured | Unusable:
    disabled = value.get("disabled") if isinstance(value, dict) else None
    is_disabled = disabled is True
    try:
        _refuse_name(key)
        if not (disabled is None or isinstance(disabled, bool)):
            raise JsonError('"disabled" should be true or false')  # noqa: TRY301 - one way to say no
        return _server(key, value)._replace(is_disabled=is_disabled)
    except JsonError as problem:
        return Unusable(str(problem), is_disabled)


def _command(value: dict[str, Json]) -> Configured | Unusable:
    try:
        command, definition = tool_document.read_tool(value)
    except JsonError as problem:
        return Unusable(str(problem), is_disabled=False)
    return Configured(command, {}, definition=definition)


def _refuse_name(name: str) -> None:
    """Refuse a name that no command line could give."""
    if not name or name.startswith("-"):
        raise JsonError(
            "the name of a server is empty, or begins with a dash: rename it in the file"
        )


def _server(key: str, value: Json) -> Configured:
    if not isinstance(value, dict):
        raise JsonError("it should be an object")
    if "envFile" in value:
        raise JsonError('its "envFile" is not read: set the variables, and name them in "env"')
    ways = [member for member in ("command", *_ADDRESSES) if member in value]
    if not ways:
        raise JsonError('it has neither "command" nor "url"')
    if len(ways) > 1:
        raise JsonError(f'it has both "{ways[0]}" and "{ways[1]}": leave one of them out')
    _refuse_kind(value.get("type"), ways[0])
    if ways[0] != "command":
        url, headers = as_word(value[ways[0]], f'"{ways[0]}"'), value.get("headers", {})
        return _reached(key, _filled(url), as_headers(headers))
    args = value.get("args", [])
    if not isinstance(args, list):
        raise JsonError('"args" should be a list')
    words = (as_word(word, '"command" and each of "args"') for word in (value["command"], *args))
    cwd = value.get("cwd")
    env, given = _variables(value.get("env", {}))
    where = None if cwd is None else _filled(as_word(cwd, '"cwd"'))
    return Configured(LaunchSpec(tuple(map(_filled, words)), env, cwd=where), given)


def _refuse_kind(kind: Json, way: str) -> None:
    """Refuse a type that nobody knows, or of servers that are reached in another way."""
    if kind is None:
        return
    if not isinstance(kind, str) or kind not in _KINDS:
        raise JsonError('"type" should be "stdio", "http" or "sse"')
    if _KINDS[kind] != (way == "command"):
        raise JsonError(f'its "type" says "{kind}", which does not go with "{way}"')


def _reached(key: str, url: str, headers: dict[str, str]) -> Configured:
    """A server on a URL. A secret that it is sent has no name but that of server and header.

    Not that of the header alone: two servers of a file have an Authorization each.
    """
    words = {name: _filled(word) for name, word in headers.items()}
    given = {}
    for name, spelling in credentials.find_in_headers(words):
        word, scheme = words[name], spelling.partition("${")[0]
        if credentials.literal_part(word) == word and word.startswith(scheme):
            variable = credentials.variable(f"{key}_{name}")
            words[name], given[variable] = f"{scheme}${{{variable}}}", word.removeprefix(scheme)
    return Configured(UrlSpec(url, words), given)


def _variables(value: Json) -> tuple[dict[str, str], dict[str, str]]:
    """Split what is set for a server into what may be stored and the values that may not."""
    if not isinstance(value, dict):
        raise JsonError('"env" should be an object')
    env, given = {}, {}
    for name, held in value.items():
        text = as_word(held, f"the variable {as_variable(name)}")
        literal = credentials.literal_part(text)
        defaults = credentials.defaults(text)
        if _ASKED.fullmatch(text):
            env[name] = _stand_in(name)
        elif defaults is None and _is_secret(name, literal):
            env[name] = _stand_in(name)
            given[name] = literal
        elif defaults is None:
            env[name] = _filled(text)
        elif any(_is_secret(name, default) for default in defaults):
            raise JsonError(f"the variable {name} has a secret as a default: leave the default out")
        elif _holds_credential(name, literal):
            raise JsonError(f"the variable {name} holds more than a secret: name one for all of it")
        else:
            env[name] = _filled(text)
    return env, given


def _stand_in(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise JsonError(f"the variable {name} holds a secret, and ${{{name}}} cannot stand for it")
    return f"${{{name}}}"


def _is_secret(name: str, value: str) -> bool:
    by_name = holds_secret(name, value) and not _HARMLESS.fullmatch(value)
    return by_name or _holds_credential(name, value)


def _holds_credential(name: str, value: str) -> bool:
    return any(credentials.find([f"{name}={value}"]))


def _filled(text: str) -> str:
    """The text with variables as a catalog writes them."""
    text = _VARIABLE.sub(r"${\1}", text)
    foreign = _FOREIGN.search(text)
    if foreign:
        raise JsonError(f"{foreign[0]} means nothing here: write it out, or name a variable")
    return text
