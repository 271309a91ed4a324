"""What carries messages between the event loop and one server."""

import asyncio
import contextlib
import os
from collections import deque
from typing import Protocol

from thrall_py.gateway.upstream.keeper import Keeper
from thrall_py.gateway.upstream.waits import Outgoing, Readable
from thrall_py.protocol.channel import Label, MessageTooLarge
from thrall_py.protocol.mcp import ServerInfo
from thrall_py.verbs.keeping import Came, Failed, Gone, Leave, Opened, Post

_CHUNK = 1 << 18  # bytes read at once
_OWN_EXIT = 0.2  # seconds for a server that closed its input to say why
_TEARDOWN = 12.0  # seconds for a keeper on top of the grace; it needs 11 if the kernel is stuck


class LinkEnded(Exception):  # noqa: N818 - an outcome
    """Nothing more will come; why is for `close` to say."""


class Link(Protocol):
    """Carries messages to one server and back."""

    @property
    def server(self) -> ServerInfo:
        """What the server said of itself."""

    @property
    def is_shared(self) -> bool:
        """Whether several requests may be open at once."""

    @property
    def has_headers(self) -> bool:
        """Whether it makes use of what a label mirrors."""

    @property
    def unsent(self) -> int:
        """Count the bytes that wait to be written."""

    async def room(self) -> None:
        """Wait until there is room for a request: until then nothing of it is sent."""

    async def send(self, message: bytes, label: Label, id_: int) -> None:
        """Send a request, at once if there is room."""

    def post(self, message: bytes, label: Label) -> None:
        """Send a notification or a reply, at once."""

    async def receive(self) -> bytes | bytearray:
        """Wait for the next message, without its line end.

        Raises:
            LinkEnded: nothing more will come.
            MessageTooLarge: the message is larger than allowed.
            ThrallError: there will be no response, and nothing else.

        """

    def abandon(self) -> None:
        """Have the request that is open given up, and the link with it, if it is not shared."""

    async def close(self) -> str:
        """End it, and the server if nobody else needs it; how, as words after "the server"."""


class PipeLink:
    """The pipes of a server that a guard has lent.

    Args:
        keeper: the guard.
        opened: what it said; the descriptors of the pipes came with it.
        limit: bytes of one line.
        grace: seconds that the server has to go.

    Attributes:
        gone: is done when the server is, and all that it started.

    """

    is_shared = True
    has_headers = False

    def __init__(self, keeper: Keeper, opened: Opened, *, limit: int, grace: float) -> None:
        self.server = opened.server
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._keeper = keeper
        self._limit = limit
        self._patience = grace + _TEARDOWN
        self._input, self._output = keeper.descriptors
        keeper.descriptors.clear()
        self._readable = Readable(self._output)
        self._lines: deque[bytearray] = deque()
        self._partial = bytearray()
        self._is_over = False
        self._how = ""  # what the server did before it was ended
        self._outgoing = Outgoing(self._input, self._close_soon)
        self._cut(opened.read)
        self._outgoing.put(opened.unsent)

    @property
    def unsent(self) -> int:
        """Count the bytes that wait to be written."""
        return self._outgoing.size

    async def room(self) -> None:
        """Wait until the server has read most of what it was sent."""
        await self._outgoing.room()

    async def send(self, message: bytes, label: Label, _id: int) -> None:
        """Send a request."""
        self.post(message, label)

    def post(self, message: bytes, _: Label) -> None:
        """Send a notification or a reply, at once."""
        self._outgoing.put(message)

    async def receive(self) -> bytearray:
        """Wait for the next line, as the Link says."""
        while not self._lines:
            if len(self._partial) > self._limit:
                raise MessageTooLarge(self._limit)
            if self._is_over:
                raise LinkEnded
            await self._readable.wait()
            self._read()
        line = self._lines.popleft()
        if len(line) > self._limit:
            raise MessageTooLarge(self._limit)
        return line

    def abandon(self) -> None:
        """Do nothing: others have requests open on the pipe."""

    async def close(self) -> str:
        """Let the pipes go: the server sees the end of its input, and the guard does the rest."""
        self._is_over = True
        self._readable.wake()
        self._outgoing.close()
        os.close(self._input)
        os.close(self._output)
        self._keeper.hang_up()
        how = self._how or "was ended"
        try:
            with contextlib.suppress(TimeoutError):  # one that says nothing more is killed below
                async with asyncio.timeout(self._patience):
                    while (said := await self._keeper.hear()) is not None:
                        how = said.how if isinstance(said, Gone) and not self._how else how
        finally:
            await self._keeper.gone(self._patience)
            self._keeper.close()
            self.gone.set_result(None)
        return how

    def _read(self) -> None:
        try:
            chunk = os.read(self._output, _CHUNK)
        except BlockingIOError:
            return
        if chunk:
            self._cut(chunk)
        else:
            self._is_over = True
            if self._partial.strip():  # a complete message counts without a line end, too
                self._lines.append(self._partial)
                self._partial = bytearray()

    def _cut(self, chunk: bytes) -> None:
        first, *rest = chunk.split(b"\n")
        self._partial += first
        for line in rest:
            self._lines.append(self._partial)
            self._partial = bytearray(line)

    def _close_soon(self) -> None:
        """Read on for a moment when the server has closed its input; it may be about to go."""
        asyncio.get_running_loop().call_later(_OWN_EXIT, self._give_up)

    def _give_up(self) -> None:
        self._is_over = True
        self._how = "closed its input"
        self._readable.wake()


class CarrierLink:
    """A carrier, with one request at a time.

    Args:
        keeper: the carrier.
        opened: what it said.
        grace: seconds for the last words to the server.

    Attributes:
        session: the id that other carriers can join the session with; None if none can.
        has_headers: whether the server wants parts of requests mirrored.

    """

    is_shared = False
    unsent = 0

    def __init__(self, keeper: Keeper, opened: Opened, *, grace: float) -> None:
        self.server = opened.server
        self.session = opened.session
        self.has_headers = opened.server.is_modern
        self._keeper = keeper
        self._patience = grace + _TEARDOWN
        self._is_busy = False

    async def room(self) -> None:
        """Return at once: no other request is open."""

    async def send(self, message: bytes, label: Label, id_: int) -> None:
        """Send a request."""
        self._is_busy = True
        await self._keeper.say(Post(message, _plain(label), id_))

    def post(self, message: bytes, label: Label) -> None:
        """Send a reply, at once."""
        self._keeper.tell(Post(message, _plain(label)))

    async def receive(self) -> bytes:
        """Wait for the next message, as the Link says."""
        said = await self._keeper.hear()
        if isinstance(said, Failed):
            raise said.problem
        if not isinstance(said, Came):
            raise LinkEnded
        self._is_busy = not said.is_last
        return said.message

    def abandon(self) -> None:
        """Have the request cancelled; that ends the carrier."""
        self._keeper.stop()

    def end_session(self) -> None:
        """Have the session ended with the carrier, when nobody else is in it."""
        self._keeper.tell(Leave())

    async def close(self) -> str:
        """Let the carrier end, whatever it does."""
        if self._is_busy:
            self._keeper.stop()
        self._keeper.hang_up()
        try:
            await self._keeper.gone(self._patience)
        finally:
            self._keeper.close()
        return "was left"


def _plain(label: Label) -> Label:
    return label._replace(mirrored=dict(label.mirrored))  # a view of a dict cannot be sent
