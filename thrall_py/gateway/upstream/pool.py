"""Carriers to a server on a URL: one for each request that is open, in one session if possible."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable

from thrall_py.errors import SessionLostError, ThrallError
from thrall_py.gateway.upstream.background import Background
from thrall_py.gateway.upstream.backoff import Backoff
from thrall_py.gateway.upstream.definitions import Definitions
from thrall_py.gateway.upstream.flight import Flight
from thrall_py.gateway.upstream.links import CarrierLink
from thrall_py.gateway.upstream.multiplexer import Conversation
from thrall_py.gateway.upstream.owed import Owed
from thrall_py.gateway.upstream.sources import Held
from thrall_py.redact import Redactor
from thrall_py.verbs.carrier import Ticket
from thrall_py.verbs.keeping import FIRST_ID

_MOST = 16  # carriers; further requests wait

Start = Callable[[Ticket | None], Awaitable[tuple[CarrierLink, Redactor]]]


class Pool:
    """Conversations with a server on a URL, one request at a time in each.

    Args:
        start: starts a carrier, with the ticket for a session if there is one.
        defined: makes what holds the definitions of a session.
        idle: seconds without a request after which a carrier is ended; with the last one, the
            session.

    """

    def __init__(self, start: Start, defined: Callable[[], Definitions], idle: float) -> None:
        self._start = start
        self._defined = defined
        self._idle = idle
        self._definitions = defined()
        self._ticket: Ticket | None = None
        self._can_share = True
        self._free: list[_Carried] = []
        self._leased: list[_Carried] = []
        self._owed = Owed()  # by the server, to calls whose carriers are gone
        self._ids = itertools.count(FIRST_ID)  # who shares a session must not use one twice
        self._room = asyncio.Semaphore(_MOST)
        self._opening = Flight(self._open)
        self._backoff = Backoff()
        self._background = Background()

    @contextlib.asynccontextmanager
    async def lease(self, seconds: float) -> AsyncIterator[Held]:
        """Provide a conversation that nobody else uses, as the Source says."""
        async with self._room:
            carried = await self._take(seconds)
            self._leased.append(carried)
            try:
                yield Held(carried.conversation, carried.definitions)
            except SessionLostError:
                if carried.ticket is self._ticket:
                    self._forget_session()
                raise
            finally:
                self._leased.remove(carried)
                self._give_back(carried)

    async def close(self) -> None:
        """End all carriers, and the session."""
        await self._opening.cancel()
        await self._end_session()
        await self._background.finish()

    async def _take(self, seconds: float) -> "_Carried":
        if self._can_share and not self._ticket:
            await self._backoff.wait(seconds)
            if not self._ticket:
                await self._opening.join()
        while self._free:
            carried = self._free.pop()
            carried.stop_waiting()
            if not carried.conversation.is_over:
                return carried
            self._background.run(carried.conversation.close())
        await self._backoff.wait(seconds)
        return await self._carried(self._ticket)

    async def _open(self) -> None:
        """Open the session, or find out that there is none to be shared."""
        carried = await self._carried(None)
        self._can_share = carried.link.session is not None
        if carried.link.session is not None:
            self._ticket = Ticket(carried.link.server, carried.link.session)
        carried.ticket = self._ticket
        self._give_back(carried)

    async def _carried(self, ticket: Ticket | None) -> "_Carried":
        try:
            link, redact = await self._start(ticket)
        except ThrallError as problem:
            self._backoff.failed(problem)
            raise
        self._backoff.succeeded()
        definitions = self._definitions
        # Who opened the session has its stream of a GET, too, where anybody's question may come.
        bystanders = set if ticket else self._clients
        conversation = Conversation(link, redact, definitions.note_change, bystanders, self._ids)
        return _Carried(link, conversation, definitions, ticket)

    def _clients(self) -> set[str]:
        open_ = (carried.conversation.clients() for carried in self._leased)
        return self._owed.recent().union(*open_)

    def _give_back(self, carried: "_Carried") -> None:
        if self._ticket and carried.ticket is self._ticket:
            self._owed.take_over(carried.conversation.owed)
        if carried.conversation.is_over or carried.ticket is not self._ticket:
            self._background.run(carried.conversation.close())
            return
        self._free.append(carried)
        loop = asyncio.get_running_loop()
        carried.timer = loop.call_later(self._idle, self._expire, carried)

    def _expire(self, carried: "_Carried") -> None:
        """End a carrier that nobody has needed for a while, and the session with the last one."""
        if self._leased or len(self._free) > 1:
            self._free.remove(carried)
            self._background.run(carried.conversation.close())
        else:
            self._background.run(self._end_session())

    def _forget_session(self) -> None:
        """Begin with a new session next time: the server does not know this one any more."""
        self._ticket = None
        self._owed = Owed()
        self._definitions = self._defined()
        for carried in self._free:
            carried.stop_waiting()
            self._background.run(carried.conversation.close())
        self._free.clear()

    async def _end_session(self) -> None:
        """End the session, with a carrier that is there or with one more."""
        ticket, free = self._ticket, [each for each in self._free if not each.conversation.is_over]
        self._forget_session()
        if not ticket or not ticket.session:
            return
        with contextlib.suppress(ThrallError):  # nothing is owed to a server that is not there
            link = free[0].link if free else (await self._start(ticket))[0]
            link.end_session()
            if not free:
                await link.close()


class _Carried:
    """A carrier in the pool."""

    def __init__(
        self,
        link: CarrierLink,
        conversation: Conversation,
        definitions: Definitions,
        ticket: Ticket | None,
    ) -> None:
        self.link = link
        self.conversation = conversation
        self.definitions = definitions
        self.ticket = ticket
        self.timer: asyncio.TimerHandle | None = None

    def stop_waiting(self) -> None:
        """Take note that it is needed, or over."""
        assert self.timer, "it was given back"
        self.timer.cancel()
