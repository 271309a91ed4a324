"""How a session opens: which era the server speaks, and the handshake of that era.

2026-07-28 has no handshake; `server/discover` tells whether the server speaks it, and every other
outcome of that probe means `initialize`. A legacy server may die of the probe or go deaf: then a
fresh process gets `initialize` alone. The rules and what real servers do are in DESIGN.md, "The
wire"; the specification's own are in 2026-07-28, "Versioning", and 2025-11-25, "Lifecycle".
"""

from collections.abc import Callable
from enum import Enum

from thrall_py.errors import ServerError, ThrallError, TimedOutError
from thrall_py.protocol import mcp, wire
from thrall_py.protocol.channel import ChannelClosed, ReceiveTimeout
from thrall_py.protocol.session import Response, Session

_PROBE_WAIT = 5.0  # seconds for the answer to the probe, and once more for `initialize` behind it
_PROBE_ID = "thrall-probe"  # no other request has a string, so a late answer is told apart


class Verdict(Enum):
    """What a response to the probe says about the server."""

    MODERN = "modern"
    AGAIN = "modern, but the probe has to be sent once more"
    LEGACY = "legacy"


class Handshake:
    """Opens a session with a server, however many processes that takes.

    Args:
        start: starts a fresh server.
        seconds: from now to the end of the handshake.

    Attributes:
        session: with the last server that was started; open once a method has returned.

    """

    def __init__(self, start: Callable[[], Session], seconds: float) -> None:
        self._start = start
        self._seconds = seconds
        self.session = start()
        self._since = self.session.clock()

    def negotiate(self) -> None:
        """Find out the era, and open.

        Raises:
            ServerError, JsonRpcError, TimedOutError: the server does not open in any era.

        """
        session = self.session
        patience = min(_PROBE_WAIT, self._seconds / 3)
        session.send("server/discover", mcp.request_params(mcp.MODERN), _PROBE_ID)
        try:
            response = session.wait(session.clock() + patience)
        except ReceiveTimeout:
            self._after_silence(patience)
        except ChannelClosed as problem:
            if session.channel.unread_by_server():  # it has not seen the probe, nor died of it
                raise session.closed(problem) from None
            self._initialize_afresh()
        else:
            self._after_probe(response)

    def open_with(self, revision: str) -> None:
        """Open in the one revision that was asked for.

        Raises:
            ServerError, JsonRpcError, TimedOutError: the server does not speak it.

        """
        self._open(revision)
        theirs = self.session.server.revision
        if theirs != revision:
            raise self._no_common_version(theirs, revision)

    def reopen(self, revision: str) -> None:
        """Open as it worked when the server was pinned; if it refuses or dies, find out anew.

        Raises:
            ServerError, JsonRpcError, TimedOutError: the server does not open in any era.

        """
        try:
            self._open(revision)
        except TimedOutError:
            raise
        except ThrallError:
            self._respawn()
            self.negotiate()

    def _open(self, revision: str) -> None:
        if revision == mcp.MODERN:
            self._discover()
        else:
            self._initialize(revision)

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
        self.session.complete_handshake(server)

    # -- after the probe -----------------------------------------------------------------------

    def _after_probe(self, response: Response) -> None:
        verdict = self._judge(response)
        if verdict is not Verdict.LEGACY:
            self._accept_discovery(self._probe() if verdict is Verdict.AGAIN else response)
            return
        try:
            response = self._ask("initialize", mcp.initialize_params(mcp.LEGACY[0]))
        except ServerError:
            self._initialize_afresh()
            return
        if response.error:  # the probe may have spoilt this process
            self._initialize_afresh()
        else:
            self._accept_initialize(response)

    def _after_silence(self, patience: float) -> None:
        """Send `initialize` behind the unanswered probe; the answer to it decides.

        A late answer to the probe alone decides only if `initialize` stays without one: servers
        that answer both have gone back to the legacy era with the second.
        """
        offer = mcp.initialize_params(mcp.LEGACY[0])
        size = len(wire.request(self.session.send("initialize", offer), "initialize", offer))
        response, late = self._wait_behind_probe(patience, size)
        if response is None and late is None:
            self._initialize_afresh()
        elif response is None:
            assert late, "see above"
            self._after_probe(late)
        elif response.error:  # a modern server, slow to start, refuses `initialize`
            self._after_probe(self._probe())
        else:
            self._accept_initialize(response)

    def _wait_behind_probe(
        self, patience: float, size: int
    ) -> tuple[Response | None, Response | None]:
        """Wait for the answer to `initialize`, `size` bytes behind the probe.

        Returns:
            That answer, and a late one to the probe that is not a legacy server's; None for
            what does not come.

        """
        session, late = self.session, None
        end = self._since + self._seconds
        while True:
            # A server that has not read the probe yet is still starting, and gets all the time.
            starting = session.channel.unread_by_server() > size
            deadline = min(end, session.clock() + patience)
            try:
                response = session.wait(deadline)
            except ReceiveTimeout as problem:
                if deadline == end and not late:
                    raise session.timed_out(problem, self._seconds) from None
                if late or not starting:
                    return None, late
            except ChannelClosed:
                return None, None
            else:
                if response.id != _PROBE_ID:
                    return response, late
                late = None if self._judge(response) is Verdict.LEGACY else response

    def _initialize_afresh(self) -> None:
        """Open with `initialize` in a process that has not seen the probe."""
        self._respawn()
        self._initialize(mcp.LEGACY[0])

    def _respawn(self) -> None:
        self.session.end()
        self.session = self._start()

    # -- the legacy era ------------------------------------------------------------------------

    def _initialize(self, revision: str) -> None:
        """Open with `initialize`, or the modern way if the server says that it speaks no other."""
        response = self._ask("initialize", mcp.initialize_params(revision))
        error = response.error
        if error is None:
            self._accept_initialize(response)
        elif mcp.MODERN in error.supported:
            self._discover()
        elif error.supported:
            raise self._no_common_version(", ".join(error.supported))
        else:
            raise self.session.refused(error)

    def _accept_initialize(self, response: Response) -> None:
        server = mcp.parse_initialize_result(response.result) if response.result else None
        if server is None:
            raise self.session.failed("answered initialize without a protocol version")
        if server.is_modern:
            raise self.session.failed(f"answered initialize with {mcp.MODERN}, which has none,")
        if server.revision not in mcp.LEGACY:
            raise self._no_common_version(server.revision)
        self.session.complete_handshake(server)
        self.session.notify("notifications/initialized")

    def _ask(self, method: str, params: str) -> Response:
        return self.session.ask(method, params, self._seconds, self._since)

    def _no_common_version(self, theirs: str, ours: str = ", ".join(mcp.REVISIONS)) -> ServerError:
        words = self.session.redact.plain(theirs)
        return ServerError(
            f"no common protocol version: the server speaks {words}, thrall asked for {ours}"
        )
