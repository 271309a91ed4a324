"""How a server is started or reached, as a catalog says it: apart, for calls without a catalog."""

import re
from typing import NamedTuple

from thrall_py.protocol.jsontext import Json, JsonError

_ADDRESS = (
    r"(?P<scheme>https?://)(?:[^/?#]*@)?(?P<host>\[[^\]]*\]|(?:\$\{[^}]*\}|[^/:?#])+)(?P<port>:\d+)?"
    r"(?P<path>/[^?#]*)?"
)


class LaunchSpec(NamedTuple):
    """A command and its surroundings. `${NAME}` in them is filled in at the start only."""

    command: tuple[str, ...]
    env: dict[str, str]
    clean_env: bool = False
    cwd: str | None = None

    @property
    def program(self) -> str:
        """What the server is called if it says nothing itself."""
        return self.command[0].rpartition("/")[2]

    @property
    def shown(self) -> str:
        """As much of how it is started as may be repeated: the first word."""
        return self.command[0]

    def is_same(self, other: "EntrySpec") -> bool:
        """Whether it is the same server, whatever its surroundings."""
        return isinstance(other, LaunchSpec) and self.command == other.command


class UrlSpec(NamedTuple):
    """An address, and headers by name. `${NAME}` in them is filled in when it is connected to."""

    url: str
    headers: dict[str, str]

    @property
    def program(self) -> str:
        """What the server is called if it says nothing itself: its host."""
        found = re.match(_ADDRESS, self.url)
        return found["host"] if found else "server"

    @property
    def shown(self) -> str:
        """As much of its address as may be repeated: neither userinfo nor query."""
        found = re.match(_ADDRESS, self.url)
        if not found:
            return "a URL"
        return "".join(found[part] or "" for part in ("scheme", "host", "port", "path"))

    def is_same(self, other: "EntrySpec") -> bool:
        """Whether it is the same server, whatever is sent along."""
        return isinstance(other, UrlSpec) and self.url == other.url


class ExecSpec(NamedTuple):
    """A plain command, which is no server: it runs once for each call.

    It holds a LaunchSpec and is none, so nobody takes the one for the other.
    """

    run: LaunchSpec

    @property
    def program(self) -> str:
        """What it is called."""
        return self.run.program

    @property
    def shown(self) -> str:
        """As much of how it is started as may be repeated: the first word."""
        return self.run.shown

    def is_same(self, other: "EntrySpec") -> bool:
        """Whether it is the same command, whatever its surroundings."""
        return isinstance(other, ExecSpec) and self.run.is_same(other.run)


ServerSpec = LaunchSpec | UrlSpec
EntrySpec = ServerSpec | ExecSpec  # what an entry of a catalog is about


def as_word(value: Json, what: str) -> str:
    """Take a value as a word that execve(2) can take.

    Raises:
        JsonError: it is none; `what` says in the sentence what it should have been.

    """
    if not isinstance(value, str):
        raise JsonError(f"{what} should be text")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise JsonError(f"{what} holds what no argument can")
    return value


def as_headers(value: Json) -> dict[str, str]:
    """Take a value as headers by their names, of which none is there twice.

    Raises:
        JsonError: it is none.

    """
    if not isinstance(value, dict):
        raise JsonError('"headers" should be an object')
    headers = {as_word(name, '"headers"'): as_word(v, '"headers"') for name, v in value.items()}
    if len(set(map(str.lower, headers))) < len(headers):
        raise JsonError('"headers" has a name twice')
    return headers


def as_variable(name: str) -> str:
    """Take a name as that of a variable of an environment.

    Raises:
        JsonError: it is none.

    """
    if not as_word(name, '"env"') or "=" in name:
        raise JsonError('"env" has a name that no variable can have')
    return name
