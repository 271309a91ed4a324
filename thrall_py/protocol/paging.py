"""The pages of a list, taken one by one: all of them or none. Pure."""

from thrall_py.protocol import mcp, wire
from thrall_py.protocol.jsontext import JsonError, Value
from thrall_py.redact import Redactor

_MOST_PAGES = 1000  # a server with a new cursor for ever is stopped here
_WHOLE = (None, "complete")  # what the type of a whole result may be
_SHOWN = 40  # characters of a cursor


class Unlistable(Exception):  # noqa: N818 - an outcome
    """A page cannot be used, or they do not end; what the server did stands after "the server"."""


class Pages:
    """Collects the pages of one list.

    Args:
        kind: of what is listed.
        limit: bytes that all definitions together may take.
        redact: makes the server's words fit to be repeated.

    Attributes:
        items: what has been listed so far.
        cursor: of the page that comes next; None before the first.

    """

    def __init__(self, kind: mcp.Kind, limit: int, redact: Redactor) -> None:
        self.items: list[Value] = []
        self.cursor: str | None = None
        self._kind = kind
        self._limit = limit
        self._redact = redact
        self._cursors: set[str] = set()
        self._size = 0
        self._count = 0

    def take(self, result: Value, *, is_modern: bool) -> bool:
        """Take a page; whether there is another one.

        Raises:
            Unlistable: it cannot be used.

        """
        kind = self._kind.member
        if is_modern and wire.load_or_none(result.member("resultType")) not in _WHOLE:
            raise Unlistable(f"sent a list of {kind} that is not complete")
        try:
            page = mcp.parse_page(result, self._kind)
        except JsonError as problem:
            raise Unlistable(f"sent a page that cannot be used ({problem})") from None
        if self.cursor == "" and not page.cursor and self._brings_nothing(page):
            return False  # for some servers the empty cursor means the end (2026-07-28 says not)
        self.items += page.items
        self._size += sum(item.end - item.start for item in page.items)
        self._count += 1
        if self._size > self._limit:
            raise Unlistable(f"listed more than {self._limit} bytes of {kind}")
        if page.cursor is None:
            return False
        if page.cursor in self._cursors:
            shown = self._redact.quoted(page.cursor, _SHOWN)
            raise Unlistable(f"named the page {shown} a second time")
        if self._count == _MOST_PAGES:
            raise Unlistable(f"still had more {kind} after {_MOST_PAGES} pages")
        self.cursor = page.cursor
        self._cursors.add(page.cursor)
        return True

    def _brings_nothing(self, page: mcp.Page) -> bool:
        known = {item.text for item in self.items}
        return all(item.text in known for item in page.items)
