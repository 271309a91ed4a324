"""What is asked of a server, before it has an id."""

from collections.abc import Mapping
from typing import NamedTuple

from thrall_py.gateway.listener import Listener
from thrall_py.protocol.channel import NO_HEADERS


class Request(NamedTuple):
    """What is asked of a server.

    Attributes:
        method: its method.
        members: of its params, as JSON text without braces and `_meta`.
        seconds: how long to wait for the response.
        listener: who made it; None for a request of our own.
        mirrored: what is repeated in headers.

    """

    method: str
    members: str
    seconds: float
    listener: Listener | None = None
    mirrored: Mapping[str, str] = NO_HEADERS
