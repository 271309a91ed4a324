"""One conversation over one link: requests of many under ids of our own, matched by id.

What `protocol/session.py` is for one request at a time, this is for many at once.
"""

import asyncio
import itertools
import json
from collections.abc import Callable, Iterator

from thrall_py.errors import ServerError, ServerGoneError, ThrallError
from thrall_py.gateway.core import envelope, incoming
from thrall_py.gateway.core.notices import look_into, severity
from thrall_py.gateway.listener import Listener
from thrall_py.gateway.upstream.failures import Failures
from thrall_py.gateway.upstream.links import Link, LinkEnded
from thrall_py.gateway.upstream.owed import Owed, our_id
from thrall_py.gateway.upstream.pausing import Pausing
from thrall_py.gateway.upstream.questions import ASKABLE, Questions
from thrall_py.gateway.upstream.request import Request
from thrall_py.gateway.upstream.unanswered import Unanswered
from thrall_py.protocol import matching, mcp, wire
from thrall_py.protocol.bounded import scan_bounded
from thrall_py.protocol.channel import Label, MessageTooLarge
from thrall_py.protocol.jsontext import JsonError, Value
from thrall_py.redact import Redactor
from thrall_py.verbs.keeping import FIRST_ID

_REPLIES_LIMIT = 1 << 20  # bytes of replies to a server that asks more than it reads
_AT_A_TIME = 64  # lines taken before others have a turn


class Conversation:
    """A conversation with one server.

    Args:
        link: what carries it; it is closed with the conversation.
        redact: makes the server's words fit to be repeated.
        on_list_changed: is called with the method that tells that a list of the server's changed.
        bystanders: the clients of calls elsewhere, where what comes here may be about those.
        ids: for requests, of a session that several conversations share.

    Attributes:
        server: what the server said of itself.
        is_over: nothing can be asked any more.
        has_answered: it has answered a request.
        owed: what was given up and is not answered yet.
        pump: reads what comes, until there will be no more.

    """

    def __init__(
        self,
        link: Link,
        redact: Redactor,
        on_list_changed: Callable[[str], None],
        bystanders: Callable[[], set[str]] = set,
        ids: Iterator[int] | None = None,
    ) -> None:
        self.server = link.server
        self.is_over = False
        self.has_answered = False
        self.owed = Owed()
        self._on_list_changed = on_list_changed
        self._bystanders = bystanders
        self.redact = redact
        self._link = link
        self._unanswered = Unanswered(ids or itertools.count(FIRST_ID))
        self._clocks: set[Pausing] = set()  # of all who wait, to send a request or for a response
        self._questions = Questions(self._reply)
        self._failures = Failures(redact)
        self._log_level = ""  # what a legacy server was told
        self._replied = 0  # bytes of replies since the server has last read everything
        self.pump = asyncio.create_task(self._run())

    @property
    def mirrors(self) -> bool:
        """Whether parts of a request are repeated in headers."""
        return self.server.is_modern and self._link.has_headers

    async def request(self, request: Request) -> wire.Message:
        """Ask, and wait for the response, whichever it is.

        Raises:
            ServerError: the server ended, or sent what cannot be used.
            TimedOutError: there was no response in time. The server has been told.
            ThrallError: as the link says.

        """
        await self._set_log_level(request)
        is_sent = False
        clock = Pausing(request.seconds)
        try:
            async with clock:
                self._clocks.add(clock)
                await self._link.room()
                if self.is_over:
                    raise ServerGoneError("the server is gone, and was not asked")
                is_sent = True
                return await self._answered(request, clock)
        finally:
            self._clocks.discard(clock)
        late = self._failures.timed_out if is_sent else self._failures.unsent
        raise late(request.method, request.seconds)

    async def _answered(self, request: Request, clock: Pausing) -> wire.Message:
        id_, response = self._unanswered.begin(request)
        try:
            await self._send(id_, request)
            return await response
        except (asyncio.CancelledError, ServerError):
            self._abandon(id_, "timeout" if clock.has_passed else "cancelled")
            raise
        finally:
            self._unanswered.end(id_)
            if request.listener:
                self._questions.forget(request.listener)
            # A failure holds this frame, and by this name it would hold itself.
            del response

    def clients(self) -> set[str]:
        """Tell whose requests are open."""
        return {each.client for each in self._unanswered.listeners()}

    async def close(self) -> None:
        """End the server, or what carries the conversation."""
        if self.is_over:
            await asyncio.wait([self.pump])  # which closes the link
            return
        self._fail(self._failures.did("was ended"))
        self.pump.cancel()
        await asyncio.wait([self.pump])
        await self._link.close()

    # -- what goes out -------------------------------------------------------------------------

    async def _send(self, id_: int, request: Request) -> None:
        label = Label(
            request.method, self.server.revision, is_request=True, mirrored=request.mirrored
        )
        await self._link.send(self._written(id_, request), label, id_)

    def _written(self, id_: int, request: Request) -> bytes:
        listener = request.listener
        params = envelope.relayed_params(
            self.server.revision,
            request.text,
            listener.capabilities if listener else "{}",
            id_ if listener and listener.wants_progress else None,
            listener.log_level if listener else "",
        )
        return wire.one_line(wire.request(id_, request.method, params))

    async def _set_log_level(self, request: Request) -> None:
        """Ask a legacy server for the messages that are wanted, and for no fewer than before."""
        level = request.listener.log_level if request.listener else ""
        wanted = level and severity(level) < severity(self._log_level)
        if wanted and not self.server.is_modern and "logging" in self.server.capabilities:
            self._log_level = level
            members = f'"level":{json.dumps(level)}'
            await self.request(Request("logging/setLevel", members, request.seconds))

    def _reply(self, id_: Value, outcome: str) -> None:
        message = wire.one_line(wire.reply(id_, outcome))
        self._replied = self._replied + len(message) if self._link.unsent else 0
        self._link.post(message, Label("", self.server.revision))

    def _abandon(self, id_: int, reason: str) -> None:
        """Tell the server to stop working ("Cancellation", all revisions)."""
        if self.is_over:
            return
        if listener := self._unanswered.listener(id_):
            self.owed.add(id_, listener.client)
        if not self._link.is_shared:
            self._fail(self._failures.did("was left"))
            self._link.abandon()
        elif id_ in self._unanswered.methods:
            params = mcp.cancel_params(self.server.revision, id_, reason)
            label = Label(mcp.CANCELLED, self.server.revision)
            self._link.post(wire.notification(mcp.CANCELLED, params), label)

    # -- what came -----------------------------------------------------------------------------

    async def _run(self) -> None:
        """Take what comes, until nothing does; then every open request fails."""
        try:
            await self._take_all()
        except LinkEnded:
            self.is_over = True
            self._fail(self._failures.did(await self._link.close(), ServerGoneError))
            return
        except MessageTooLarge as problem:
            self._fail(self._failures.did(problem.what))
        except ThrallError as problem:
            told = problem
            self._fail(lambda _: told)
        except Exception:
            self._fail(self._failures.did("was left"))
            await self._link.close()
            raise
        await self._link.close()

    async def _take_all(self) -> None:
        while True:
            for _ in range(_AT_A_TIME):
                self._take(await self._link.receive())
                if self._replied > _REPLIES_LIMIT:
                    failed = self._failures.did("sends more requests than it reads replies")
                    raise failed("the session")
            await asyncio.sleep(0)

    def _take(self, line: bytes | bytearray) -> None:
        try:
            messages = wire.read(line, wire.RELAYED, scan_bounded)
        except JsonError as problem:
            for id_ in wire.broken_answers(line, self._unanswered.methods):
                self._refuse(id_, f"sent an answer that is {self.redact.plain(str(problem))}")
            messages = []
        if 0 < len(messages) <= incoming.MOST:
            for message in messages:
                self._dispatch(message, line)
        elif line.strip():
            self._failures.skipped.add(line)

    def _dispatch(self, message: wire.Message, line: bytes | bytearray) -> None:
        id_ = matching.answered_by(message, self._unanswered.methods)
        if id_ is not None and message.id is None and self.owed.recent():
            id_ = None  # an error without an id may be the answer to what was given up
        if id_ is not None and message.is_answer:
            self.has_answered = True
            self._unanswered.respond(id_, message)
        elif id_ is not None:
            self._refuse(id_, "sent an answer with neither a result nor an error")
        elif matching.asks(message, self._unanswered.methods):
            if not self.server.is_modern:  # 2026-07-28: nothing is asked of a client
                self._ask(message)
        elif message.method is None or message.is_answer or message.id is not None:
            self._pass_over(message, line)
        else:
            self._note(message.method, look_into(message.params))

    def _ask(self, message: wire.Message) -> None:
        """Have a request of the server's answered, by the client for whose call it is."""
        own, owed = self.clients(), self.owed.clients()
        listener = self._whose(owed)
        if message.method in ASKABLE and own and not listener and owed - own:
            self.owed.has_hindered = True
        self._questions.take(message, listener, [*self._clocks])

    def _pass_over(self, message: wire.Message, line: bytes | bytearray) -> None:
        """Count what answers nothing; a late or a repeated answer is known, and says nothing."""
        id_ = our_id(message.id)
        if message.is_answer and id_ is not None and self._unanswered.has_used(id_):
            self.owed.settle(id_)
        else:
            self._failures.skipped.add(line)

    def _note(self, method: str, params: Value | None) -> None:
        """Take a notification to whom it belongs."""
        if method.endswith(mcp.LIST_CHANGED):
            self._on_list_changed(method)
        elif params and method == mcp.PROGRESS:
            token = wire.load_or_none(params.member("progressToken"))
            listener = self._unanswered.listener(token)
            if listener and listener.wants_progress:
                listener.progressed(params)
        elif params and method == mcp.LOG:
            if listener := self._whose(self.owed.recent()):
                listener.logged(params)
        elif params and method == mcp.CANCELLED:
            self._questions.withdraw(params.member("requestId"))

    def _whose(self, owed: set[str]) -> Listener | None:
        """Find whose requests are open, if no other client is among those who gave some up."""
        own = self._unanswered.listeners()
        clients = self.clients() | owed | self._bystanders()
        return own[0] if own and len(clients) == 1 else None

    # -- failures ------------------------------------------------------------------------------

    def _refuse(self, id_: matching.Id, what: str) -> None:
        """Let a request fail in whose response the server did `what`."""
        self._unanswered.respond(id_, self._failures.did(what)(self._unanswered.methods[id_]))

    def _fail(self, end: Callable[[str], ThrallError]) -> None:
        """Let every open request fail, and those that follow."""
        self.is_over = True
        self._questions.close()
        for id_, method in list(self._unanswered.methods.items()):
            self._unanswered.respond(id_, end(method))
