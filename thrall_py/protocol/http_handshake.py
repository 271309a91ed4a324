"""How a session opens with a server on a URL: which era, and which of the two transports.

Every exchange has its own answer, so the probe cannot spoil what follows, and silence is a failure
of the transport, no hint at the era. The rules are in DESIGN.md, "Servers on a URL"; the
specification's own are in 2026-07-28 and 2025-11-25, "Transports", each under "Backwards
Compatibility".
"""

from collections.abc import Callable

from thrall_py.errors import HttpStatusError
from thrall_py.protocol import mcp
from thrall_py.protocol.channel import Channel, ReceiveTimeout
from thrall_py.protocol.opening import Opening, Verdict
from thrall_py.protocol.session import HANDSHAKE, Session

_NO_ERA = (407, 408, 421, 425, 429)  # statuses of the way to the server, or of its load
_OLD_TRANSPORT = (400, 404, 405)  # statuses for `initialize` where there is only HTTP+SSE
_CLIENT_ERRORS = range(400, 500)
_SUCCESSES = range(200, 300)


class HttpHandshake(Opening):
    """Opens a session with a server on a URL.

    Args:
        start: begins anew over Streamable HTTP.
        old_transport: makes a channel over HTTP+SSE, the transport of 2024-11-05.
        seconds: from now to the end of the handshake.

    """

    def __init__(
        self, start: Callable[[], Session], old_transport: Callable[[], Channel], seconds: float
    ) -> None:
        super().__init__(start, seconds)
        self._old_transport = old_transport

    def negotiate(self) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """Find out the era, and open.

        Raises:
            ServerError, JsonRpcError, TimedOutError: the server does not open in any era.
            UnauthorizedError: it does not let us in; that says nothing about the era.

        """
        try:
            response = self._probe()
        except HttpStatusError as problem:
            if not _may_be_legacy(problem.status):
                raise
            self._initialize(mcp.LEGACY[0])
            return
        verdict = self._judge(response)
        if verdict is Verdict.LEGACY:
            self._initialize(mcp.LEGACY[0])
        else:
            self._accept_discovery(self._probe() if verdict is Verdict.AGAIN else response)

    def reopen(self, revision: str) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """Open as it worked when the server was pinned, in 2026-07-28 without a word.

        Nothing has to be agreed there, so the first list shows whether it is still so.
        """
        if revision != mcp.MODERN:
            super().reopen(revision)
            return
        self.session.complete_handshake(mcp.ServerInfo(revision))
        self.session.find_out = self._find_out

    def _find_out(self) -> None:
        self.session.find_out = None
        self._begin_again()
        self.negotiate()

    def _initialize(self, revision: str) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """Open with `initialize`, over HTTP+SSE if the server refuses it over Streamable HTTP."""
        try:
            super()._initialize(revision)
        except HttpStatusError as refusal:
            if refusal.status not in _OLD_TRANSPORT:
                raise
            self._initialize_old(revision, refusal)
        else:
            self._flush()
            self.session.renew = self._renew

    def _initialize_old(self, revision: str, refusal: HttpStatusError) -> None:
        self.session.channel.close()
        self.session.channel = self._old_transport()
        try:
            super()._initialize(revision)
        except HttpStatusError:
            raise refusal from None  # neither: the failure of the newer transport tells more

    def _renew(self) -> None:
        """Begin a new session with a server that forgot the one before."""
        self._begin_again()
        super()._initialize(self.session.server.revision)
        self._flush()

    def _flush(self) -> None:
        """Have the end of the handshake taken before anything else is asked."""
        try:
            self.session.channel.flush(self._since + self._seconds)
        except ReceiveTimeout as problem:
            raise self.session.timed_out(problem, self._seconds) from None

    def _begin_again(self) -> None:
        self._since = self.session.clock()
        self.session.stage = HANDSHAKE


def _may_be_legacy(status: int) -> bool:
    """Whether a reply to the probe that is no message may be that of a legacy server."""
    return status in _SUCCESSES or (status in _CLIENT_ERRORS and status not in _NO_ERA)
