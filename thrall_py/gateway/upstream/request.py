"""What is asked of a server, before it has an id."""

from collections.abc import Mapping
from typing import NamedTuple

from thrall_py.gateway.listener import Listener
from thrall_py.protocol.channel import NO_HEADERS
from thrall_py.protocol.jsontext import decode


class Request(NamedTuple):
    """What is asked of a server.

    Attributes:
        method: its method.
        members: of its params, as JSON text in Latin-1 without braces and `_meta`.
        seconds: how long to wait for the response.
        listener: who made it; None for a request of our own.
        mirrored: what is repeated in headers.
        extra: more members, likewise.

    """

    method: str
    members: str
    seconds: float
    listener: Listener | None = None
    mirrored: Mapping[str, str] = NO_HEADERS
    extra: str = ""

    @property
    def text(self) -> str:
        """All members, as they are sent: made for who sends them, and not kept."""
        return decode(",".join(each for each in (self.members, self.extra) if each))
