"""A server ready to be started, or to be spoken to: apart, so that neither way loads the other."""

from typing import NamedTuple


class Command(NamedTuple):
    """How a server is started: what execve(2) gets, and where."""

    argv: tuple[str, ...]
    environment: dict[str, str]
    cwd: str | None = None
    shown: str = ""  # the program as a person wrote it, before a secret was filled in


class Endpoint(NamedTuple):
    """Where a server is, and the headers that every request to its origin carries.

    `credentials` says in words which headers those are and where each came from, no value among
    them: for a server that does not let us in.
    """

    url: str
    headers: dict[str, str]
    credentials: str = ""
