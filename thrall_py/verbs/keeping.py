"""What the gateway and those who keep its servers tell each other; both load it.

A *guard* starts a server, lends its pipes to the gateway and ends it. A *carrier* posts the
requests of the gateway to a URL, one at a time.
"""

from collections.abc import Mapping
from typing import NamedTuple

from thrall_py.errors import ThrallError
from thrall_py.protocol import elicitation, mcp
from thrall_py.protocol.channel import Label
from thrall_py.protocol.user import HasEnded
from thrall_py.redact import Redactor

# Of the gateway's requests. Who opens a session begins with 1, and needs fewer; none is to be used
# twice in a session (revisions before 2026-07-28, "Base Protocol").
FIRST_ID = 101


class Opened(NamedTuple):
    """A session is open. The descriptors of the server's input and output come with it, if lent.

    Attributes:
        server: what the server said of itself.
        read: what has come of its output behind the handshake.
        unsent: what has still to be written to its input.
        session: the id that others can join the session with; None if nobody else can.

    """

    server: mcp.ServerInfo
    read: bytes = b""
    unsent: bytes = b""
    session: bytes | None = None


class Failed(NamedTuple):
    """The session does not open, a request of it has no answer, or a plain command has none."""

    problem: ThrallError


class Gone(NamedTuple):
    """The server was ended; `how` stands after "the server"."""

    how: str


class Post(NamedTuple):
    """A message of the gateway's; `id` and a label that says so if it is a request."""

    message: bytes
    label: Label
    id: int = 0


class Came(NamedTuple):
    """A message of the server's, and whether the carrier is free again."""

    message: bytes
    is_last: bool


class Leave(NamedTuple):
    """End, and the session with it: nobody else is in it."""


class Elsewhere:
    """A user whom the gateway asks: declared here, and declined where nobody listens yet."""

    modes: tuple[str, ...] = (mcp.FORM, mcp.PAGE, mcp.SAMPLING)
    unused: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.refusals: list[str] = []  # nobody reads them

    def answer(
        self, requests: Mapping[str, mcp.Asked], _: Redactor, __: HasEnded, /
    ) -> dict[str, str]:
        """Decline everything."""
        return dict.fromkeys(requests, elicitation.DECLINE)
