"""The seam to one server of the catalog, as the relay sees it."""

from typing import Protocol

from thrall_py.catalog.drift import Difference
from thrall_py.gateway.core.answering import Forward
from thrall_py.gateway.listener import Listener
from thrall_py.protocol.wire import Message
from thrall_py.redact import Redactor


class Drifted(Exception):  # noqa: N818 - an outcome
    """A tool, prompt, resource or template is not as pinned; nothing was asked of its server.

    Attributes:
        differences: what changed.
        redact: makes the server's words in them fit to be repeated.

    """

    def __init__(self, differences: list[Difference], redact: Redactor) -> None:
        super().__init__(differences)
        self.differences = differences
        self.redact = redact


class Server(Protocol):
    """One server, which is started when it is needed."""

    async def request(self, forward: Forward, listener: Listener, extra: str = "") -> Message:
        """Make a request in the server's era, and wait for the message that answers it.

        Args:
            forward: the request.
            listener: who made it.
            extra: more members of its params (`inputResponses`, `requestState`) as JSON text
                without braces.

        Raises:
            Drifted: what is asked for is not as pinned.
            ThrallError: there is no answer.

        """


class Servers(Protocol):
    """All servers of a catalog."""

    def __getitem__(self, name: str, /) -> Server:
        """Find one by its name."""

    async def started(self) -> bool:
        """Wait until none is being started; whether one was."""

    async def close(self) -> None:
        """End all that run."""
