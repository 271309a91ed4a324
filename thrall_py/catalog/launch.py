"""How a server is started, as a catalog says it: apart, so that a plain call reads no catalog."""

from typing import NamedTuple


class LaunchSpec(NamedTuple):
    """A command and its surroundings. `${NAME}` in them is filled in at the start only."""

    command: tuple[str, ...]
    env: dict[str, str]
    clean_env: bool = False
    cwd: str | None = None
