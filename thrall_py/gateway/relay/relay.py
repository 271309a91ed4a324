"""Hands requests to the servers, and bridges the eras: who can be asked how, and who comes back."""

import asyncio
import shlex
from typing import NamedTuple

from thrall_py.catalog import report
from thrall_py.gateway.caller import Caller, Refused
from thrall_py.gateway.core import envelope
from thrall_py.gateway.core.answering import Forward
from thrall_py.gateway.core.incoming import Request
from thrall_py.gateway.core.offer import Offer
from thrall_py.gateway.relay import outcome, room
from thrall_py.gateway.relay.call import Call, Terms
from thrall_py.gateway.relay.outcome import Ended
from thrall_py.gateway.relay.pending import EXPIRY, Pending
from thrall_py.gateway.relay.sealing import Seals
from thrall_py.gateway.server import Drifted, Servers
from thrall_py.protocol import mcp
from thrall_py.protocol.jsontext import Value
from thrall_py.visible import visible

_UNKNOWN_STATE = (
    "requestState is not one of this client's for this request, or it was used or has expired:"
    " call again without it"
)


class Relay:
    """All requests that servers answer.

    Args:
        servers: by their names in the catalog.
        offer: which of their tools need an approval for each call.
        catalog: what they were made from: a path from anywhere, as a word for a shell.
        expiry: seconds that a modern client may take to answer.
        max_message: bytes that one message may have.

    """

    def __init__(
        self,
        servers: Servers,
        offer: Offer,
        catalog: str,
        *,
        expiry: float = EXPIRY,
        max_message: int = 1 << 26,
    ) -> None:
        self._servers = servers
        self._offer = offer
        self._catalog = catalog
        self._pending: Pending[_Running] = Pending(expiry)
        self._seals = Seals(expiry)
        self._asked = room.for_questions()
        self._open = room.for_requests(max_message)
        self._tasks: set[asyncio.Task[Ended]] = set()

    async def run(self, request: Request, forward: Forward, caller: Caller) -> Ended:
        """Bring a request to its end, or to where its client is asked.

        When it is cancelled, so is what it waits for.
        """
        server = self._servers[forward.server]
        terms = Terms(self._asks_first(forward), self._seals, self._asked)
        call = Call(request, forward, caller, server, terms)
        if not call.is_modern:
            return await self._end(call)
        if forward.method in outcome.ASKING and request.params:
            fault = _fault(request.params)
            if fault:
                return _invalid(fault)
            state = request.params.member_string("requestState")
            if state is not None:
                return await self._resumed(state, call, request, caller)
        return await self._until_asked(self._start(call))

    async def started(self) -> bool:
        """Wait until no server is being started; whether one was."""
        return await self._servers.started()

    async def close(self) -> None:
        """Give up what waits for a client that has not come back."""
        self._pending.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _asks_first(self, forward: Forward) -> bool:
        is_call = forward.method == mcp.TOOLS_CALL
        return is_call and self._offer.needs_approval(forward.server, forward.name)

    def _start(self, call: Call) -> "_Running":
        task = asyncio.create_task(self._end(call))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return _Running(call, task)

    async def _resumed(self, state: str, call: Call, request: Request, caller: Caller) -> Ended:
        """Go on with a call that waits here, or with one whose state its server keeps."""
        binding = call.binding
        waiting = self._pending.resume(state, binding)
        if waiting:
            waiting.call.rejoin(request, caller)
            return await self._until_asked(waiting)
        opened = self._seals.open(state, binding)
        if opened is None:
            return _invalid(_UNKNOWN_STATE)
        call.state = opened
        return await self._until_asked(self._start(call))

    async def _until_asked(self, running: "_Running") -> Ended:
        """Wait for the outcome of a modern client's request, or for what the client is asked."""
        call, task = running
        while not (task.done() or call.unanswered):
            call.asking.clear()
            asking = asyncio.create_task(call.asking.wait())
            try:
                await asyncio.wait((task, asking), return_when=asyncio.FIRST_COMPLETED)
            except asyncio.CancelledError:
                task.cancel()
                raise
            finally:
                asking.cancel()
        if task.done():
            return task.result()
        if not self._pending.has_place(call.owner):
            task.cancel()
            sentence = "too many calls wait for answers: try again later"
            return outcome.failed(call.forward.method, sentence, call.facts)
        call.leave()
        return outcome.input_required(call.unanswered, self._pending.suspend(running))

    async def _end(self, call: Call) -> Ended:
        try:
            with self._open.holding(call.owner, call.size):
                return await call.end()
        except Refused as refused:
            return Ended(f'"error":{refused.error}', f"error {envelope.INTERNAL_ERROR}")
        except Drifted as drifted:
            return self._drifted(call, drifted)

    def _drifted(self, call: Call, drifted: Drifted) -> Ended:
        """Tell what changed, and what to do: the catalog is read at the start, and not again."""
        forward = call.forward
        changed = report.summarize(drifted.differences, drifted.redact)
        used = "called" if forward.kind is mcp.TOOLS else "asked for"
        sentence = (
            f"{visible(call.name)} is not as it was pinned, so it was not {used}: {changed};"
            f" a person has to review it with: thrall check {self._catalog}, pin it again at a"
            f" terminal with: thrall pin {self._catalog} --update {shlex.quote(forward.server)},"
            " and then start thrall serve again"
        )
        return outcome.failed(forward.method, sentence, call.facts, outcome.DRIFT)


class _Running(NamedTuple):
    """A request, and the task that brings it to its end while its client is away."""

    call: Call
    task: asyncio.Task[Ended]

    @property
    def owner(self) -> str:
        """Whose it is."""
        return self.call.owner

    @property
    def binding(self) -> str:
        """Of which client's and which request's it is."""
        return self.call.binding

    def abandon(self) -> None:
        """Cancel it."""
        self.task.cancel()


def _fault(params: Value) -> str:
    """What is wrong with the members by which a client comes back; empty if nothing is."""
    state, given = params.member("requestState"), params.member("inputResponses")
    if state and state.first != '"':
        return '"requestState" should be a text, the one that came with the questions'
    if given and given.first != "{":
        return '"inputResponses" should be an object'
    return ""


def _invalid(words: str) -> Ended:
    return Ended(envelope.error(mcp.INVALID_PARAMS, words), f"error {mcp.INVALID_PARAMS}")
