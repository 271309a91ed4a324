"""The two ways to open a session, and what the answers on the way say of the server.

2026-07-28 has no handshake; `server/discover` tells whether the server speaks it ("Versioning").
The revisions before it begin with `initialize` (2025-11-25, "Lifecycle"). Which one to try, and
what becomes of a refusal, differs with what carries the session: see `handshake` and
`http_handshake`.
"""

from collections.abc import Callable
from enum import Enum

from thrall_py.errors import (
    NoCommonVersionError,
    ServerGoneError,
    ThrallError,
    TimedOutError,
    UnauthorizedError,
)
from thrall_py.protocol import mcp
from thrall_py.protocol.jsontext import Value
from thrall_py.protocol.matching import Response
from thrall_py.protocol.session import Session


class Verdict(Enum):
    """What a response to the probe says about the server."""

    MODERN = "modern"
    AGAIN = "modern, but the probe has to be sent once more"
    LEGACY = "legacy"


class Opening:
    """Opens a session with a server, however many fresh starts that takes.

    Args:
        start: makes contact with the server, afresh.
        seconds: from now to the end of the handshake.

    Attributes:
        session: the last one that was started; open once a method has returned.
        detour: what the server did when it was probed, if it was not simply an answer, as words
            after "the server".
        has_restarted: whether that took a fresh start.
        said: the result that opened the session; None while it is only remembered.

    """

    def __init__(self, start: Callable[[], Session], seconds: float) -> None:
        self._start = start
        self._seconds = seconds
        self.detour = ""
        self.has_restarted = False
        self.said: Value | None = None
        self.session = start()
        self._since = self.session.clock()

    def negotiate(self) -> None:
        """Find out the era, and open: differently for each of what carries the session.

        Raises:
            ServerError, JsonRpcError, TimedOutError: the server does not open in any era.
            UnauthorizedError: it does not let us in; that says nothing about the era.

        """

    def reopen(self, revision: str) -> None:
        """Open as it worked when the server was pinned; if it refuses or dies of it, find out anew.

        Raises:
            ServerError, JsonRpcError, TimedOutError, UnauthorizedError: as `negotiate`.

        """
        try:
            self._open(revision)
        except (TimedOutError, UnauthorizedError):
            raise
        except ThrallError as problem:
            if isinstance(problem, ServerGoneError) and not problem.has_read:
                raise  # it would not live any longer in another era
            self._restart()
            self.negotiate()

    def open_with(self, revision: str) -> None:
        """Open in the one revision that was asked for.

        Raises:
            ServerError, JsonRpcError, TimedOutError: the server does not speak it.

        """
        self._open(revision)
        theirs = self.session.server.revision
        if theirs != revision:
            raise self._no_common_version(theirs, revision)

    def initialize(self) -> None:
        """Open as a client does that knows nothing of 2026-07-28, in whatever revision it takes.

        A server that refuses and names 2026-07-28 is asked the modern way behind it.

        Raises:
            ServerError, JsonRpcError, TimedOutError: the server does not open.

        """
        self._initialize(mcp.LEGACY[0])

    def _open(self, revision: str) -> None:
        if revision == mcp.MODERN:
            self._discover()
        else:
            self._initialize(revision)

    def _restart(self) -> None:
        self.session.end()
        self.has_restarted = True
        self.session = self._start()

    # -- the modern era ------------------------------------------------------------------------

    def _discover(self) -> None:
        response = self._probe()
        self._accept_discovery(
            self._probe() if self._judge(response) is Verdict.AGAIN else response
        )

    def _probe(self) -> Response:
        return self._ask("server/discover", mcp.request_params(mcp.MODERN))

    def _judge(self, response: Response) -> Verdict:
        """Read the outcome of the probe (2026-07-28, "Versioning").

        Raises:
            JsonRpcError: a modern server refuses.
            ServerError: there is no common version.

        """
        error = response.error
        if error is None:
            modern = response.result and mcp.parse_discover_result(response.result)
            return Verdict.MODERN if modern else Verdict.LEGACY
        if error.code in mcp.MODERN_ONLY_CODES:
            raise self.session.refused(error)
        if error.code != mcp.UNSUPPORTED_PROTOCOL_VERSION:
            return Verdict.LEGACY
        if mcp.MODERN in error.supported:
            return Verdict.AGAIN
        if error.supported and not set(error.supported) & set(mcp.LEGACY):
            raise self._no_common_version(", ".join(error.supported))
        return Verdict.LEGACY

    def _accept_discovery(self, response: Response) -> None:
        server = mcp.parse_discover_result(response.result) if response.result else None
        if server is None:
            if response.error and mcp.MODERN in response.error.supported:
                raise self.session.failed(f"refused {mcp.MODERN}, which it says it supports,")
            raise self._no_common_version("an older one", mcp.MODERN)
        self.said = response.result
        self.session.complete_handshake(server)

    # -- the legacy era ------------------------------------------------------------------------

    def _initialize(self, revision: str) -> None:
        """Open with `initialize`, or the modern way if the server says that it speaks no other."""
        response = self._ask("initialize", self._offer(revision))
        error = response.error
        if error is None:
            self._accept_initialize(response)
        elif mcp.MODERN in error.supported:
            self._discover()
        elif error.supported:
            raise self._no_common_version(", ".join(error.supported))
        else:
            raise self.session.refused(error)

    def _offer(self, revision: str) -> str:
        return mcp.initialize_params(revision, self.session.user.modes)

    def _accept_initialize(self, response: Response) -> None:
        server = mcp.parse_initialize_result(response.result) if response.result else None
        if server is None:
            raise self.session.failed("answered initialize without a protocol version")
        if server.is_modern:
            raise self.session.failed(f"answered initialize with {mcp.MODERN}, which has none,")
        if server.revision not in mcp.LEGACY:
            raise self._no_common_version(server.revision)
        self.said = response.result
        self.session.complete_handshake(server)
        self.session.notify("notifications/initialized")

    def _ask(self, method: str, params: str) -> Response:
        return self.session.ask(method, params, self._seconds, self._since)

    def _no_common_version(
        self, theirs: str, ours: str = ", ".join(mcp.REVISIONS)
    ) -> NoCommonVersionError:
        words = self.session.redact.plain(theirs)
        return NoCommonVersionError(
            f"no common protocol version: the server speaks {words}, thrall asked for {ours}"
        )
