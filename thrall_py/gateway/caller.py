"""The seam to who calls: a client, for as long as one of its requests is open."""

from typing import NamedTuple, Protocol, Self

from thrall_py.protocol import canonical
from thrall_py.protocol.jsontext import Value


class Facts(NamedTuple):
    """What a client says of itself: in its handshake, or with each request (2026-07-28).

    Attributes:
        revision: of the protocol that it speaks; empty before a handshake.
        capabilities: its ClientCapabilities as JSON text.
        log_level: the least severe log message that it wants; empty for none.
        name: what it calls itself in its handshake; for the log, nobody checks it.

    """

    revision: str = ""
    capabilities: str = "{}"
    log_level: str = ""
    name: str = ""


class Refused(Exception):  # noqa: N818 - an outcome
    """The client cannot be asked, or answered with an error: `error`, the object as JSON text."""

    def __init__(self, error: str) -> None:
        super().__init__(error)
        self.error = error

    @classmethod
    def because(cls, code: int, message: str) -> Self:
        """Make one of ours, rather than the client's."""
        return cls(canonical.compact({"code": code, "message": message}))


class Caller(Protocol):
    """A client, and one open request of it."""

    @property
    def client(self) -> str:
        """Tells clients apart: the same for all requests of one connection or session."""

    @property
    def owner(self) -> str:
        """Whose a call is that waits for answers: who comes back with them has to be the same."""

    @property
    def facts(self) -> Facts:
        """What the client says of itself."""

    def become(self, facts: Facts) -> None:
        """Let the client be this from now on: after a handshake, or another log level."""

    def notify(self, method: str, params: str) -> None:
        """Send a notification that belongs to the request; params as JSON text.

        It is dropped if there is no way for it (a reply in JSON has begun, the client is gone).
        """

    async def ask(self, method: str, params: str) -> Value:
        """Ask a legacy client something, and wait for the result.

        Raises:
            Refused: it answered with an error, or can be asked nothing.

        """
