"""How a session opens with a process: which era the server speaks, and the handshake of that era.

`server/discover` is the probe, and every outcome of it that is not modern means `initialize`. A
legacy server may die of the probe or go deaf: then a fresh process gets `initialize` alone. The
rules and what real servers do are in DESIGN.md, "The wire".
"""

from thrall_py.errors import ServerError
from thrall_py.protocol import mcp, wire
from thrall_py.protocol.channel import ChannelClosed, ReceiveTimeout
from thrall_py.protocol.matching import Response
from thrall_py.protocol.opening import Opening, Verdict

_PROBE_WAIT = 5.0  # seconds for the answer to the probe, and once more for `initialize` behind it
_PROBE_ID = "thrall-probe"  # no other request has a string, so a late answer is told apart


class Handshake(Opening):
    """Opens a session with a process that `start` starts."""

    def negotiate(self) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
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
            self._initialize_afresh("exited")
        else:
            self._after_probe(response)

    # -- after the probe -----------------------------------------------------------------------

    def _after_probe(self, response: Response) -> None:
        verdict = self._judge(response)
        if verdict is not Verdict.LEGACY:
            self._accept_discovery(self._probe() if verdict is Verdict.AGAIN else response)
            return
        try:
            response = self._ask("initialize", self._offer(mcp.LEGACY[0]))
        except ServerError:
            self._initialize_afresh("refused it, and failed at the initialize that followed")
            return
        if response.error:  # the probe may have spoilt this process
            self._initialize_afresh("refused it, and then initialize as well")
        else:
            self._accept_initialize(response)

    def _after_silence(self, patience: float) -> None:
        """Send `initialize` behind the unanswered probe; the answer to it decides.

        A late answer to the probe alone decides only if `initialize` stays without one: servers
        that answer both have gone back to the legacy era with the second.
        """
        self.detour = "did not answer it"
        offer = self._offer(mcp.LEGACY[0])
        size = len(wire.request(self.session.send("initialize", offer), "initialize", offer))
        response, late = self._wait_behind_probe(patience, size)
        if response is None and late is None:
            self._initialize_afresh("answered neither it nor the initialize that followed")
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
                if not late and (deadline == end or session.echo.came):
                    raise session.timed_out(problem, self._seconds) from None
                if late or not starting:
                    return None, late
            except ChannelClosed:
                return None, None
            else:
                if response.id != _PROBE_ID:
                    return response, late
                self.detour = ""
                late = None if self._judge(response) is Verdict.LEGACY else response

    def _initialize_afresh(self, detour: str) -> None:
        """Open with `initialize` in a process that has not seen the probe."""
        self.detour = detour
        self._restart()
        self._initialize(mcp.LEGACY[0])
