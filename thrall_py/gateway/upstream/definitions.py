"""What a server defines its tools, prompts and resources as now, against what was pinned."""

import asyncio
import json

from thrall_py.catalog import drift, entry
from thrall_py.catalog.change import COSMETIC
from thrall_py.catalog.entry import Entry, Items
from thrall_py.errors import JsonRpcError, ServerError, TimedOutError
from thrall_py.gateway.server import Drifted
from thrall_py.gateway.upstream.multiplexer import Conversation
from thrall_py.gateway.upstream.request import Request
from thrall_py.protocol import mcp, mirror, refusal
from thrall_py.protocol.jsontext import Value
from thrall_py.protocol.paging import Pages, Unlistable
from thrall_py.verbs.connect import ConnectionOptions

_NEVER = float("-inf")


class Definitions:
    """What one session with a server offers, as the server listed it last.

    Each kind is listed when something of it is first needed, and on its own.

    Args:
        pinned: what the catalog holds.
        connection: seconds for all pages together, and bytes for all definitions of a kind.
        lasting: seconds after which they are listed again, though nobody said that they changed.

    """

    def __init__(self, pinned: Entry, connection: ConnectionOptions, lasting: float) -> None:
        self._pinned = pinned.items
        self._listings = {kind: _Listing(kind, connection, lasting) for kind in mcp.KINDS}

    def note_change(self, method: str) -> None:
        """Take note that the server says that a list of its own changed.

        Args:
            method: by which it says so; resources and templates have one (all revisions).

        """
        for kind, listing in self._listings.items():
            if method == f"notifications/{kind.capability}{mcp.LIST_CHANGED}":
                listing.changes += 1

    def forget(self, kind: mcp.Kind) -> None:
        """Have a kind listed again before the next use."""
        self._listings[kind].forget()

    async def verify(
        self, kind: mcp.Kind, name: str, conversation: Conversation
    ) -> tuple[mirror.Mark, ...]:
        """Compare one thing with its pin, listing all of its kind first if that is due.

        Args:
            kind: of what it is.
            name: that its server has for it, or its address.
            conversation: with its server.

        Returns:
            Which parameters of a tool are mirrored in headers, where any are.

        Raises:
            Drifted: it is not as pinned.
            ServerError: it is a tool that cannot be called; or the list cannot be had.
            TimedOutError, ThrallError: as the conversation says.

        """
        listing = self._listings[kind]
        await listing.refresh(conversation)
        marks = listing.marks.get(name, ())
        if isinstance(marks, mirror.WrongMark):
            why = conversation.redact.plain(marks.reason)
            raise ServerError(f"the server defines the tool so that nobody can call it: {why}")
        before, after = self._pinned.get(kind.member, {}).get(name), listing.items.get(name)
        found = drift.compare_item(kind, name, before, after)
        differences = [each for each in found if each.change.kind != COSMETIC]
        if differences:
            raise Drifted(differences, conversation.redact)
        return marks


class _Listing:
    """All of one kind, as it was listed last.

    Attributes:
        items: the definitions.
        marks: of tools, where parameters are mirrored in headers.
        changes: how often the server told that the list changed.

    """

    def __init__(self, kind: mcp.Kind, connection: ConnectionOptions, lasting: float) -> None:
        self.items: Items = {}
        self.marks: dict[str, mirror.Marks] = {}
        self.changes = 0
        self._kind = kind
        self._connection = connection
        self._lasting = lasting
        self._at = _NEVER  # when it was listed, on the loop's clock
        self._seen = 0  # changes before the last listing
        self._lock = asyncio.Lock()

    def forget(self) -> None:
        self._at = _NEVER

    async def refresh(self, conversation: Conversation) -> None:
        """List everything again if that is due; who comes meanwhile waits for the same list."""
        seconds = self._connection.timeout
        try:
            async with asyncio.timeout(seconds), self._lock:
                if not self._is_fresh():
                    await self._list_again(conversation)
        except TimeoutError:
            kind = self._kind.member
            raise TimedOutError(f"no list of the {kind} in {seconds:g} s (--timeout)") from None

    def _is_fresh(self) -> bool:
        age = asyncio.get_running_loop().time() - self._at
        return self._seen == self.changes and age < self._lasting

    async def _list_again(self, conversation: Conversation) -> None:
        """List everything; once more if the server says meanwhile that it changes."""
        seen = self.changes
        listed = await self._list(conversation)
        if seen != self.changes:
            seen = self.changes
            listed = await self._list(conversation)
        self.items, _ = entry.read_items(self._kind, listed, conversation.redact)
        if self._kind is mcp.TOOLS and conversation.mirrors:
            self.marks = {mcp.key_of(each, self._kind) or "": mirror.marks(each) for each in listed}
        self._seen, self._at = seen, asyncio.get_running_loop().time()

    async def _list(self, conversation: Conversation) -> list[Value]:
        """List all pages. Who has tools has a list; of anything else no list is an empty one."""
        is_declared = self._kind.capability in conversation.server.capabilities
        if self._kind is mcp.TOOLS:
            if not is_declared:
                raise ServerError("the server offers no tools: it declares no such capability")
            return await self._pages(conversation)
        try:
            return await self._pages(conversation) if is_declared else []
        except JsonRpcError as problem:
            if problem.code != mcp.METHOD_NOT_FOUND:
                raise
            return []

    async def _pages(self, conversation: Conversation) -> list[Value]:
        pages = Pages(self._kind, self._connection.max_message, conversation.redact)
        try:
            while pages.take(
                await self._page(conversation, pages.cursor),
                is_modern=conversation.server.is_modern,
            ):
                pass
        except Unlistable as problem:
            raise ServerError(f"the server {problem} during {self._kind.method}") from None
        return pages.items

    async def _page(self, conversation: Conversation, cursor: str | None) -> Value:
        method = self._kind.method
        members = "" if cursor is None else f'"cursor":{json.dumps(cursor)}'
        message = await conversation.request(Request(method, members, self._connection.timeout))
        if message.error:
            problem = refusal.refused(mcp.parse_error(message.error), method, conversation.redact)
            if cursor is None:
                raise problem
            raise ServerError(f"{problem}, in the middle of the list")
        assert message.result, "an answer has one of the two"
        return message.result
