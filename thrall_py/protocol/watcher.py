"""Who follows a conversation: the seam to what a person, or a file, is told of it."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from thrall_py.redact import Redactor

if TYPE_CHECKING:  # nobody is told of a server before it has started
    from thrall_py.protocol.jsontext import Value
    from thrall_py.protocol.mcp import ServerInfo


class Watcher:
    """Is told what happens in one conversation, while it happens; this one takes no notice.

    Attributes:
        wants_bytes: whether all bytes both ways are of interest.
        progress_token: what the progress of a call is asked for with; empty if nobody looks at it.

    """

    wants_bytes = False
    progress_token = ""

    def spawned(self, program: str) -> None:
        """Take note that the server was started; of its argv this is the first word."""

    def running(self) -> None:
        """Take note that what was started is a plain command: what follows is the call itself."""

    def connected(self, origin: str) -> None:
        """Take note of a new connection to the server."""

    def to_server(self, data: bytes) -> None:
        """Take note of whole lines, or a head of HTTP and its body, that are sent."""

    def from_server(self, data: bytes | bytearray, end: str | None = "\n") -> None:
        """Take note of a line that came, or of something else up to its `end`.

        None for what breaks off: half a secret may stand there, which no mask finds.
        """

    def sent(self, method: str) -> None:
        """Take note of a request of ours."""

    def answered(self) -> None:
        """Take note that no request is open any more."""

    def agreed(self, server: "ServerInfo") -> None:
        """Take note of what the server is, once that is known."""

    def listed(self, what: str, count: int) -> None:
        """Take note of a whole list."""

    def progressed(self, params: "Value") -> None:
        """Take note of progress ("Progress", all revisions), as the server tells it."""

    def waiting(self, what: str) -> None:
        """Take note of a wait that is for no answer, in words that are safe to look at."""

    def resumed(self) -> None:
        """Take note that a wait is over: whoever waited may print now."""

    def closing(self) -> None:
        """Take note that the server is about to be left."""

    def signalled(self, name: str) -> None:
        """Take note of a signal to the server's group."""

    def closed(self, how: str) -> None:
        """Take note of how the server ended, in words after "the server"."""


class Audience:
    """Who follows the conversations of one run of the program; this one is nobody."""

    def follow(self, subject: str, redact: Redactor) -> Watcher:  # noqa: ARG002 - of no interest
        """Provide a watcher for one conversation.

        Args:
            subject: what it is about: a server's name, or a tool.
            redact: makes the server's words fit to be repeated.

        """
        return NOBODY

    def asking(self, names: Collection[str]) -> None:
        """Take note which servers are waited for side by side; none when something is printed."""


NOBODY = Watcher()
NO_AUDIENCE = Audience()
