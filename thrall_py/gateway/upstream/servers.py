"""A server of the catalog, as those see it who relay requests to it."""

import asyncio
import contextlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from thrall_py.catalog.entry import Entry
from thrall_py.catalog.launch import ExecSpec, UrlSpec
from thrall_py.errors import SessionLostError, ThrallError
from thrall_py.gateway import audit
from thrall_py.gateway.audit import Log
from thrall_py.gateway.core.answering import Forward
from thrall_py.gateway.listener import Listener
from thrall_py.gateway.server import Drifted
from thrall_py.gateway.upstream import starting
from thrall_py.gateway.upstream.background import Background
from thrall_py.gateway.upstream.command import PlainCommand
from thrall_py.gateway.upstream.definitions import Definitions
from thrall_py.gateway.upstream.links import CarrierLink, PipeLink
from thrall_py.gateway.upstream.masking import masked
from thrall_py.gateway.upstream.multiplexer import Conversation
from thrall_py.gateway.upstream.pool import Pool
from thrall_py.gateway.upstream.request import Request
from thrall_py.gateway.upstream.sources import Fresh, Held, Source, Warm
from thrall_py.protocol import mcp, mirror, wire
from thrall_py.protocol.jsontext import Value, decode, scan
from thrall_py.redact import Redactor
from thrall_py.verbs.carrier import Journey, Ticket
from thrall_py.verbs.connect import ConnectionOptions, prepare

_UNTOLD = 60.0  # seconds after which definitions are compared again, where nobody tells of changes
_ALWAYS = float("inf")


class Settings(NamedTuple):
    """How servers are kept.

    Attributes:
        connection: deadlines, limits, and the protocol revision.
        idle: seconds without a request after which a server is ended.
        isolate: whether each request gets a server of its own.
        eager: whether servers are started before they are needed.
        log: is told of processes that start, fail to, and end.

    """

    connection: ConnectionOptions
    idle: float
    isolate: bool = False
    eager: bool = False
    log: Log | None = None


class Upstream:
    """One server.

    Args:
        name: in the catalog.
        entry: what the catalog holds about it.
        settings: how it is kept.

    Attributes:
        is_modern: whether it is spoken to in 2026-07-28; None before it was.
        settled: is set while it is not being started.

    """

    def __init__(self, name: str, entry: Entry, settings: Settings) -> None:
        assert not isinstance(entry.launch, ExecSpec), "a plain command is another matter"
        self.name = name
        self.entry = entry
        self._launch = entry.launch
        self.is_modern: bool | None = None
        self.settled = asyncio.Event()
        self.settled.set()
        self._starts = 0  # that go on
        self._settings = settings
        self._source = self._make_source()

    async def start(self) -> None:
        """Start it before it is needed, and compare its tools with what was pinned.

        Raises:
            ThrallError: it does not start, or a list cannot be had; the log was told.

        """
        async with self._source.lease(self._settings.connection.timeout) as held:
            tool = next(iter(self.entry.tools), None)
            if tool is not None:
                with self._beginning(), contextlib.suppress(Drifted):  # who calls it will be told
                    await held.definitions.verify(mcp.TOOLS, tool, held.conversation)

    async def request(self, forward: Forward, listener: Listener, extra: str = "") -> wire.Message:
        """Make a request, and wait for the response.

        A request that was certainly not run is made once more: the server forgot the session, or
        found that the headers do not fit. What is asked for is compared again before.

        Args:
            forward: what is asked.
            listener: who asks.
            extra: more members of the params, as JSON text without braces; of 2026-07-28 alone.

        Returns:
            The message with the result, or the error.

        Raises:
            Drifted: what is asked for is not as pinned.
            ThrallError: there is no response.

        """
        try:
            message = await self._request(forward, listener, extra)
        except SessionLostError:
            return await self._request(forward, listener, extra)
        if _is_mismatch(message) and self.is_modern:
            return await self._request(forward, listener, extra, afresh=True)
        return message

    async def close(self) -> None:
        """End it."""
        await self._source.close()

    async def _request(
        self, forward: Forward, listener: Listener, extra: str, *, afresh: bool = False
    ) -> wire.Message:
        seconds = self._settings.connection.timeout
        async with self._source.lease(seconds) as held:
            conversation = held.conversation
            if afresh:
                held.definitions.forget(forward.kind)
            marks = await held.definitions.verify(forward.kind, forward.name, conversation)
            mirrored = _mirrored(forward, marks) if conversation.mirrors else {}
            if not conversation.server.is_modern:
                extra = ""  # what it asks, it asks by requests
            request = Request(forward.method, forward.members, seconds, listener, mirrored, extra)
            return masked(await conversation.request(request), conversation.redact)

    # -- how it is kept ------------------------------------------------------------------------

    def _make_source(self) -> Source:
        is_url = isinstance(self._launch, UrlSpec)
        if self._settings.isolate:
            return Fresh(self._start_alone if is_url else self._start_process)
        if is_url:
            return Pool(self._start_carrier, self._defined, self._settings.idle)
        return Warm(self._start_process, self._settings.idle)

    async def _start_process(self) -> Held:
        with self._beginning():
            server = prepare(self._launch, {}, fill_in=True)
            remembered = self.entry.server.revision
            link = await starting.start_process(server, self._settings.connection, remembered)
        self.is_modern = link.server.is_modern
        self._tell_of(link)
        definitions = self._defined()
        return Held(Conversation(link, server.redact, definitions.note_change), definitions)

    @contextlib.contextmanager
    def _beginning(self) -> Iterator[None]:
        """Count a start, and tell why it fails: here, once for all who wait or are told later."""
        self._starts += 1
        self.settled.clear()
        try:
            with audit.failures(self._settings.log, self.name):
                yield
        finally:
            self._starts -= 1
            if not self._starts:
                self.settled.set()

    def _tell_of(self, link: PipeLink) -> None:
        log, name = self._settings.log, self.name
        if log:
            log.tell("started", server=name, revision=link.server.revision)
            link.gone.add_done_callback(lambda _: log.tell("ended", server=name))

    async def _start_alone(self) -> Held:
        link, redact = await self._carrier(Journey(self._remembered(), alone=True))
        definitions = self._defined()
        return Held(Conversation(link, redact, definitions.note_change), definitions)

    async def _start_carrier(self, ticket: Ticket | None) -> tuple[CarrierLink, Redactor]:
        return await self._carrier(Journey(self._remembered(), ticket))

    async def _carrier(self, journey: Journey) -> tuple[CarrierLink, Redactor]:
        with self._beginning():
            server = prepare(self._launch, {}, fill_in=True)
            link = await starting.start_carrier(server, self._settings.connection, journey)
        self.is_modern = link.server.is_modern
        return link, server.redact

    def _remembered(self) -> str | None:
        """Name the revision to begin with; 2026-07-28 begins without a word, so it is asked for."""
        revision = self.entry.server.revision
        return None if revision == mcp.MODERN else revision

    def _defined(self) -> Definitions:
        # On a URL nobody listens meanwhile, and since 2026-07-28 who did not subscribe is not told.
        is_told = not isinstance(self._launch, UrlSpec) and not self.is_modern
        return Definitions(self.entry, self._settings.connection, _ALWAYS if is_told else _UNTOLD)


class Upstreams:
    """All servers of a catalog, by their names in it.

    Args:
        entries: what it holds about each.
        settings: how they are kept.

    """

    def __init__(self, entries: Mapping[str, Entry], settings: Settings) -> None:
        self._held = {name: _make(name, each, settings) for name, each in entries.items()}
        self._settings = settings
        self._starting = Background()

    def __getitem__(self, name: str) -> Upstream | PlainCommand:
        return self._held[name]

    def begin(self) -> None:
        """Have all of them started, if that is wanted; nobody waits for one that hangs."""
        for each in self._held.values() if self._settings.eager else ():
            self._starting.run(_start(each))

    async def started(self) -> bool:
        """Wait until none is being started, which takes `--start-timeout` at most.

        Returns:
            Whether one was.

        """
        own = [each for each in self._held.values() if isinstance(each, Upstream)]
        starting_ = [each.settled.wait() for each in own if not each.settled.is_set()]
        await asyncio.gather(*starting_)
        return bool(starting_)

    async def close(self) -> None:
        """End all of them, and those that are still being started."""
        await self._starting.cancel()
        await asyncio.gather(*(each.close() for each in self._held.values()))


async def _start(upstream: Upstream | PlainCommand) -> None:
    with contextlib.suppress(ThrallError):  # the log was told
        await upstream.start()


def _make(name: str, entry: Entry, settings: Settings) -> Upstream | PlainCommand:
    if isinstance(entry.launch, ExecSpec):
        return PlainCommand(name, entry, settings.connection, settings.log)
    return Upstream(name, entry, settings)


def _is_mismatch(message: wire.Message) -> bool:
    error = message.error
    return error is not None and mcp.parse_error(error).code == mcp.HEADER_MISMATCH


def _mirrored(forward: Forward, marks: tuple[mirror.Mark, ...]) -> dict[str, str]:
    """Make the headers of a request, from its params (2026-07-28, "Streamable HTTP")."""
    params = scan(f"{{{forward.members}}}", {})
    if forward.method == mcp.TOOLS_CALL:
        arguments = params.member("arguments")
        return mirror.headers(forward.name, marks, _text(arguments))
    named = params.member_string(mirror.NAMED_BY.get(forward.method, ""))
    return {} if named is None else mirror.headers(named, (), "{}")


def _text(arguments: Value | None) -> str:
    return decode(arguments.text) if arguments else "{}"
