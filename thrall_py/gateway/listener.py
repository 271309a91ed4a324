"""The seam to who waits for the outcome of a request that went upstream."""

from typing import Protocol

from thrall_py.protocol.jsontext import Value


class Listener(Protocol):
    """Whoever made a request, as an upstream sees it."""

    @property
    def client(self) -> str:
        """Tells clients apart (`Caller.client`)."""

    @property
    def capabilities(self) -> str:
        """What the upstream may ask for, as the JSON text of ClientCapabilities."""

    @property
    def wants_progress(self) -> bool:
        """Whether the upstream is asked to tell its progress."""

    @property
    def log_level(self) -> str:
        """The least severe log message that is wanted; empty for none."""

    def progressed(self, params: Value) -> None:
        """Take a progress notification; its token is the upstream's."""

    def logged(self, params: Value) -> None:
        """Take a log message, which may be less severe than is wanted."""

    async def asked(self, method: str, params: Value | None) -> str:
        """Answer a request of a legacy upstream.

        Returns:
            A `"result"` or `"error"` member as JSON text in Latin-1, as all that a client said.

        """
