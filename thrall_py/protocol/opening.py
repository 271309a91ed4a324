"""How a conversation opens: which era the server speaks, and the handshake of that era.

2026-07-28 has no handshake; `server/discover` tells whether the server speaks it, and every other
outcome of that probe means `initialize`. A legacy server may die of the probe or go deaf: then a
fresh process gets `initialize` alone. The rules and what real servers do are in DESIGN.md, "The
wire"; the specification's own are in 2026-07-28, "Versioning", and 2025-11-25, "Lifecycle".
"""

from collections.abc import Callable
from enum import Enum

from thrall_py.errors import ServerError, ThrallError, TimedOutError
from thrall_py.protocol import mcp, wire
from thrall_py.protocol.channel import Hangup, Silence
from thrall_py.protocol.session import Answer, Session

PROBE_WAIT = 5.0  # seconds for the answer to the probe, and for a second thought after it
_PROBE_ID = "thrall-probe"  # no other request has a string, so a late answer is told apart


class Verdict(Enum):
    """What an answer to the probe says about the server."""

    MODERN = "modern"
    LEGACY = "legacy"
    AGAIN = "modern, but the probe has to be sent once more"


class Opening:
    """Opens a session with a server, however many processes that takes.

    `start` starts a fresh server. All of it happens within `seconds` from now.
    """

    def __init__(self, start: Callable[[], Session], seconds: float) -> None:
        self._start = start
        self._seconds = seconds
        self.session = start()
        self._deadline = self.session.clock() + seconds

    def automatic(self) -> None:
        """Find out the era, and open.

        Raises:
            ServerError, RefusedError, TimedOutError: the server does not open in any era.

        """
        session = self.session
        patience = min(PROBE_WAIT, self._seconds / 3)
        session.send("server/discover", mcp.params(mcp.MODERN), _PROBE_ID)
        try:
            answer = session.wait(session.clock() + patience)
        except Silence:
            self._after_silence(patience)
        except Hangup as hangup:
            if session.channel.unread():  # it never read the probe, so it did not die of it
                raise session.hung_up(hangup) from None
            self._afresh()
        else:
            self._after_probe(answer)

    def fixed(self, revision: str) -> None:
        """Open in the one revision that was asked for.

        Raises:
            ServerError, RefusedError, TimedOutError: the server does not speak it.

        """
        self._open(revision)
        theirs = self.session.server.revision
        if theirs != revision:
            raise self._no_common(theirs, revision)

    def remembered(self, revision: str) -> None:
        """Open as it worked when the server was pinned; find the era anew if it does not any more.

        Raises:
            ServerError, RefusedError, TimedOutError: the server does not open in any era.

        """
        try:
            self._open(revision)
        except TimedOutError:
            raise
        except ThrallError:
            self._respawn()
            self.automatic()

    def _open(self, revision: str) -> None:
        if revision == mcp.MODERN:
            self._discover()
        else:
            self._initialize(revision)

    # -- the modern era ------------------------------------------------------------------------

    def _discover(self) -> None:
        """Send the probe to a server that is known to be modern."""
        answer = self._probe()
        self._modern(self._probe() if self._judge(answer) is Verdict.AGAIN else answer)

    def _probe(self) -> Answer:
        return self._ask("server/discover", mcp.params(mcp.MODERN))

    def _modern(self, answer: Answer) -> None:
        server = mcp.discovery(answer.result) if answer.result else None
        if server is None:
            if answer.refusal and mcp.MODERN in answer.refusal.supported:
                raise self.session.failed(f"refused {mcp.MODERN}, which it says it supports,")
            raise self._no_common("an older one", mcp.MODERN)
        self.session.settle(server)

    def _judge(self, answer: Answer) -> Verdict:
        """Read the outcome of the probe (2026-07-28, "Versioning": the era table)."""
        refusal = answer.refusal
        if refusal is None:
            modern = answer.result and mcp.discovery(answer.result)
            return Verdict.MODERN if modern else Verdict.LEGACY
        if refusal.code in mcp.MODERN_ONLY_CODES:
            raise self.session.refused(refusal)
        if refusal.code != mcp.UNSUPPORTED_VERSION:
            return Verdict.LEGACY
        if mcp.MODERN in refusal.supported:
            return Verdict.AGAIN
        if refusal.supported and not set(refusal.supported) & set(mcp.LEGACY):
            raise self._no_common(", ".join(refusal.supported))
        return Verdict.LEGACY

    # -- after the probe -----------------------------------------------------------------------

    def _after_probe(self, answer: Answer) -> None:
        verdict = self._judge(answer)
        if verdict is Verdict.LEGACY:
            try:
                answer = self._ask("initialize", mcp.initialize_params(mcp.LEGACY[0]))
            except ServerError:
                self._afresh()
            else:
                self._greeted_or_afresh(answer)
        else:
            self._modern(self._probe() if verdict is Verdict.AGAIN else answer)

    def _greeted_or_afresh(self, answer: Answer) -> None:
        if answer.refusal:  # the probe may have spoilt this process
            self._afresh()
        else:
            self._greeted(answer)

    def _after_silence(self, patience: float) -> None:
        """Send `initialize` behind the unanswered probe; what is answered to it decides.

        A late answer to the probe alone decides only if `initialize` stays without one: servers
        that answer both have gone back to the legacy era with the second.
        """
        session = self.session
        offer = mcp.initialize_params(mcp.LEGACY[0])
        id_ = session.send("initialize", offer)
        behind_the_probe = len(wire.request(id_, "initialize", offer))
        late: Answer | None = None
        answer: Answer | None = None
        while answer is None:
            # A server that has not read the probe yet is still starting, and gets all the time.
            starting = session.channel.unread() > behind_the_probe
            deadline = min(self._deadline, session.clock() + patience)
            try:
                answer = session.wait(deadline)
            except Silence as silence:
                if late:
                    return self._after_probe(late)
                if deadline == self._deadline:
                    raise session.timed_out(silence, self._seconds) from None
                if not starting:
                    return self._afresh()
            except Hangup:
                return self._afresh()
            if answer and answer.id == _PROBE_ID:
                late = None if self._judge(answer) is Verdict.LEGACY else answer
                answer = None
        if answer.refusal:  # a modern server, slow to start, refuses `initialize`
            return self._after_probe(self._probe())
        return self._greeted(answer)

    def _afresh(self) -> None:
        """Open the legacy way with a process that has not seen the probe."""
        self._respawn()
        self._initialize(mcp.LEGACY[0])

    def _respawn(self) -> None:
        self.session.end()
        self.session = self._start()

    # -- the legacy era ------------------------------------------------------------------------

    def _initialize(self, revision: str) -> None:
        answer = self._ask("initialize", mcp.initialize_params(revision))
        refusal = answer.refusal
        if refusal is None:
            self._greeted(answer)
        elif mcp.MODERN in refusal.supported:
            self._discover()
        elif refusal.supported:
            raise self._no_common(", ".join(refusal.supported))
        else:
            raise self.session.refused(refusal)

    def _greeted(self, answer: Answer) -> None:
        server = mcp.greeting(answer.result) if answer.result else None
        if server is None:
            raise self.session.failed("answered initialize without a protocol version")
        if server.revision not in mcp.LEGACY:
            raise self._no_common(server.revision)
        self.session.settle(server)
        self.session.notify("notifications/initialized")

    def _ask(self, method: str, params: str) -> Answer:
        session = self.session
        session.send(method, params)
        try:
            return session.wait(self._deadline)
        except Silence as silence:
            raise session.timed_out(silence, self._seconds) from None
        except Hangup as hangup:
            raise session.hung_up(hangup) from None

    def _no_common(self, theirs: str, ours: str = ", ".join(mcp.REVISIONS)) -> ServerError:
        return ServerError(
            f"no common protocol version: the server speaks {self.session.quote.words(theirs)},"
            f" thrall asked for {ours}"
        )
