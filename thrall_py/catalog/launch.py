"""How a server is started or reached, as a catalog says it: apart, for calls without a catalog."""

from typing import NamedTuple


class LaunchSpec(NamedTuple):
    """A command and its surroundings. `${NAME}` in them is filled in at the start only."""

    command: tuple[str, ...]
    env: dict[str, str]
    clean_env: bool = False
    cwd: str | None = None


class UrlSpec(NamedTuple):
    """An address, and headers by name. `${NAME}` in them is filled in when it is connected to."""

    url: str
    headers: dict[str, str]
