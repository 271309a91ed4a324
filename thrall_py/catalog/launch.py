"""How a server is started, as a catalog says it: apart, so that a plain call reads no catalog."""

from typing import NamedTuple

from thrall_py.protocol.jsontext import Json, JsonError


class LaunchSpec(NamedTuple):
    """A command and its surroundings. `${NAME}` in them is filled in at the start only."""

    command: tuple[str, ...]
    env: dict[str, str]
    clean_env: bool = False
    cwd: str | None = None


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


def as_variable(name: str) -> str:
    """Take a name as that of a variable of an environment.

    Raises:
        JsonError: it is none.

    """
    if not as_word(name, '"env"') or "=" in name:
        raise JsonError('"env" has a name that no variable can have')
    return name
