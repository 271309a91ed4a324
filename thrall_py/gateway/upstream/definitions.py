"""What a server defines its tools as now, against what was pinned."""

import asyncio
import json

from thrall_py.catalog import drift, entry
from thrall_py.catalog.change import COSMETIC
from thrall_py.catalog.drift import Difference
from thrall_py.catalog.entry import Entry, Items
from thrall_py.errors import ServerError, TimedOutError
from thrall_py.gateway.upstream.multiplexer import Conversation
from thrall_py.gateway.upstream.request import Request
from thrall_py.protocol import mcp, mirror, refusal
from thrall_py.protocol.jsontext import Value
from thrall_py.protocol.paging import Pages, Unlistable
from thrall_py.redact import Redactor
from thrall_py.verbs.connect import ConnectionOptions

_NEVER = float("-inf")


class Drifted(Exception):  # noqa: N818 - an outcome
    """A tool is not as pinned; nothing was called.

    Attributes:
        differences: what changed.
        redact: makes the server's words in them fit to be repeated.

    """

    def __init__(self, differences: list[Difference], redact: Redactor) -> None:
        super().__init__(differences)
        self.differences = differences
        self.redact = redact


class Definitions:
    """The tools of one session with a server, as it listed them last.

    Args:
        pinned: what the catalog holds.
        connection: seconds for all pages together, and bytes for all definitions.
        lasting: seconds after which they are listed again, though nobody said that they changed.

    """

    def __init__(self, pinned: Entry, connection: ConnectionOptions, lasting: float) -> None:
        self._pinned = pinned.tools
        self._connection = connection
        self._lasting = lasting
        self._items: Items = {}
        self._marks: dict[str, mirror.Marks] = {}
        self._at = _NEVER  # when they were listed, on the loop's clock
        self._changes = 0  # of which the server told
        self._seen = 0  # how many there were before the last listing
        self._lock = asyncio.Lock()

    def note_change(self) -> None:
        """Take note that the server says that a list of its own changed."""
        self._changes += 1

    def forget(self) -> None:
        """Have them listed again before the next call."""
        self._at = _NEVER

    async def verify(self, tool: str, conversation: Conversation) -> tuple[mirror.Mark, ...]:
        """Compare a tool with its pin, listing all of them first if that is due.

        Returns:
            Which of its parameters are mirrored in headers, where any are.

        Raises:
            Drifted: it is not as pinned.
            ServerError: it cannot be called; or the list cannot be had.
            TimedOutError, ThrallError: as the conversation says.

        """
        seconds = self._connection.timeout
        try:
            async with asyncio.timeout(seconds), self._lock:
                if not self._are_fresh():
                    await self._list_again(conversation)
        except TimeoutError:
            raise TimedOutError(f"no list of the tools in {seconds:g} s (--timeout)") from None
        marks = self._marks.get(tool, ())
        if isinstance(marks, mirror.WrongMark):
            why = conversation.redact.plain(marks.reason)
            raise ServerError(f"the server defines the tool so that nobody can call it: {why}")
        found = drift.compare_tool(tool, self._pinned.get(tool), self._items.get(tool))
        differences = [each for each in found if each.change.kind != COSMETIC]
        if differences:
            raise Drifted(differences, conversation.redact)
        return marks

    def _are_fresh(self) -> bool:
        age = asyncio.get_running_loop().time() - self._at
        return self._seen == self._changes and age < self._lasting

    async def _list_again(self, conversation: Conversation) -> None:
        """List all tools; once more if the server says meanwhile that they change."""
        if mcp.TOOLS.capability not in conversation.server.capabilities:
            raise ServerError("the server offers no tools: it declares no such capability")
        seen = self._changes
        listed = await self._list(conversation)
        if seen != self._changes:
            seen = self._changes
            listed = await self._list(conversation)
        self._items, _ = entry.read_items(mcp.TOOLS, listed, conversation.redact)
        if conversation.mirrors:
            self._marks = {mcp.key_of(each, mcp.TOOLS) or "": mirror.marks(each) for each in listed}
        self._seen, self._at = seen, asyncio.get_running_loop().time()

    async def _list(self, conversation: Conversation) -> list[Value]:
        pages = Pages(mcp.TOOLS, self._connection.max_message, conversation.redact)
        try:
            while pages.take(
                await self._page(conversation, pages.cursor),
                is_modern=conversation.server.is_modern,
            ):
                pass
        except Unlistable as problem:
            raise ServerError(f"the server {problem} during {mcp.TOOLS.method}") from None
        return pages.items

    async def _page(self, conversation: Conversation, cursor: str | None) -> Value:
        method = mcp.TOOLS.method
        members = "" if cursor is None else f'"cursor":{json.dumps(cursor)}'
        message = await conversation.request(Request(method, members, self._connection.timeout))
        if message.error:
            raise refusal.refused(mcp.parse_error(message.error), method, conversation.redact)
        assert message.result, "an answer has one of the two"
        return message.result
