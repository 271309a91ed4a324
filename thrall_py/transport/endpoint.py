"""A server on a URL, ready to be spoken to: apart, so that a plain call loads no HTTP."""

from typing import NamedTuple


class Endpoint(NamedTuple):
    """Where a server is, and the headers that every request to its origin carries.

    `credentials` says in words which headers those are and where each came from, no value among
    them: for a server that does not let us in.
    """

    url: str
    headers: dict[str, str]
    credentials: str = ""
