"""One gateway: what a client asks is answered from the catalog, or by a server; every call is told.

Knows no transport: what brings requests in makes a `Caller` of each, and bytes of the outcome.
"""

import asyncio
import time
import traceback

from thrall_py.gateway import audit
from thrall_py.gateway.caller import Caller, Facts
from thrall_py.gateway.core import answering as core
from thrall_py.gateway.core import digest, envelope
from thrall_py.gateway.core.answering import Forward
from thrall_py.gateway.core.incoming import Request
from thrall_py.gateway.core.offer import Offer
from thrall_py.gateway.relay import outcome
from thrall_py.gateway.relay.outcome import Ended
from thrall_py.gateway.relay.relay import Relay
from thrall_py.protocol import jsontext, mcp
from thrall_py.protocol.jsontext import JsonError, Value

_SHOWN = 400  # characters of a traceback: its end says most
_UNUSED = "unused"
_BUG = "bug"  # the verdict of a request that ran into one of ours


class Service:
    """Answers requests.

    Args:
        offer: what there is.
        relay: the way to the servers.
        log: is told of clients and of calls.

    Attributes:
        states: what became of the last request to each server, by name: `unused`, `ok`, `failed`
            or `drift`.

    """

    def __init__(self, offer: Offer, relay: Relay, log: audit.Log) -> None:
        self.offer = offer
        self.log = log
        self._relay = relay
        offered = (each for kind in offer.items.values() for each in kind.values())
        self.states = dict.fromkeys((each.server for each in offered), _UNUSED)

    async def handle(self, request: Request, caller: Caller) -> str:
        """Answer a request; when it is cancelled, so is what it waits for.

        Returns:
            A `"result"` or `"error"` member as JSON text, in Latin-1.

        """
        try:
            answered = core.answer(request, caller.facts, self.offer)
            if isinstance(answered, Forward):
                return await self._forwarded(request, answered, caller)
            if answered.facts:
                self._became(request, caller, answered.facts)
        except Exception:  # noqa: BLE001 - one request must not end the gateway for all
            self.log.tell(_BUG, method=request.method, traceback=traceback.format_exc()[-_SHOWN:])
            return envelope.error(envelope.INTERNAL_ERROR, "a bug in thrall; its log says more")
        return answered.outcome

    async def started(self) -> bool:
        """Wait until no server is being started; whether one was."""
        return await self._relay.started()

    async def close(self) -> None:
        """Give up the calls that wait for their clients."""
        await self._relay.close()

    def _became(self, request: Request, caller: Caller, facts: Facts) -> None:
        if request.method != "initialize":
            caller.become(facts)
            return
        name = _name(request, facts)
        caller.become(facts._replace(name=name))
        self.log.tell("client", name=name, revision=facts.revision)

    async def _forwarded(self, request: Request, forward: Forward, caller: Caller) -> str:
        began, ended = time.monotonic(), Ended("", _BUG)
        try:
            ended = await self._relay.run(request, forward, caller)
            if ended.verdict not in {outcome.REFUSED, outcome.ASKS}:  # then it may not be started
                is_bad = ended.verdict in {outcome.FAILED, outcome.DRIFT}
                self.states[forward.server] = ended.verdict if is_bad else outcome.OK
        except asyncio.CancelledError:
            ended = Ended("", outcome.CANCELLED)
            raise
        finally:
            self._tell(request, forward, caller, ended, time.monotonic() - began)
        return ended.outcome

    def _tell(
        self, request: Request, forward: Forward, caller: Caller, ended: Ended, seconds: float
    ) -> None:
        """Write the audit line of a request that went to a server, or should have."""
        facts: dict[str, audit.Fact] = {"server": forward.server, "method": forward.method}
        if forward.method == mcp.TOOLS_CALL:
            params = request.params
            name = (params and params.member_string("name")) or ""
            arguments = params.member("arguments") if params else None
            facts = {
                "tool": name,
                "server": forward.server,
                "definition": self.offer.tools[name].item.digest,
                "arguments": digest.of(arguments.text if arguments else "{}"),
            }
        self.log.tell(
            "call",
            **facts,
            outcome=ended.verdict,
            why=ended.why,
            ms=round(seconds * 1000),
            client=_name(request, caller.facts),
        )


def _name(request: Request, facts: Facts) -> str:
    """What the client calls itself: in the request, or before."""
    params = request.params
    meta = params.member("_meta") if params else None
    info = (meta and meta.member(f"{mcp.META}clientInfo")) or (
        params and params.member("clientInfo")
    )
    return (info and _member(info, "name")) or facts.name


def _member(value: Value, name: str) -> str:
    try:
        return jsontext.scan(value.text, {}).member_string(name) or ""
    except JsonError:
        return ""
