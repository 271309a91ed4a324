"""The event-stream algorithm of HTML (html.spec.whatwg.org, 9.2.6), no more and no less. Pure.

Bytes in any portions become events. Data stays bytes, since it holds messages and a message is
checked to be UTF-8 by who reads it; for the algorithm only line ends and colons matter, which no
other character's bytes contain.
"""

import re
from typing import NamedTuple

from thrall_py.protocol.channel import MessageTooLarge

_LINE_END = re.compile(rb"\r\n?|\n")
_BOM = b"\xef\xbb\xbf"


class Event(NamedTuple):
    """One dispatched event."""

    type: bytes
    data: bytearray


class EventStream:
    """Turns one stream into events.

    Args:
        limit: bytes that one event, or one line, may take.
        last_id: the id to start with, when an earlier stream is resumed.

    Attributes:
        last_id: of the last event that was complete; empty without one.
        retry: seconds to wait before the stream is resumed; None if the server did not say.

    """

    def __init__(self, limit: int, last_id: bytes = b"") -> None:
        self.last_id = last_id
        self.retry: float | None = None
        self._limit = limit
        self._line = bytearray()  # that has not ended yet
        self._at_start = True  # of the stream, where a byte order mark may stand
        self._after_cr = False  # a line feed now belongs to the line end before it
        self._type = b""
        self._data = bytearray()
        self._id = last_id

    def feed(self, chunk: bytes) -> list[Event]:
        """Take the next bytes of the stream.

        Returns:
            The events that are complete with them.

        Raises:
            MessageTooLarge: an event, or a line, is larger than allowed.

        """
        events: list[Event] = []
        at = int(self._after_cr and chunk.startswith(b"\n"))
        self._after_cr = chunk.endswith(b"\r") if chunk else self._after_cr
        for end in _LINE_END.finditer(chunk, at):
            self._line += memoryview(chunk)[at : end.start()]
            at = end.end()
            self._finish_line(events)
        self._line += memoryview(chunk)[at:]
        self._check(len(self._line) + len(self._data))
        return events

    def _finish_line(self, events: list[Event]) -> None:
        line, self._line = self._line, bytearray()
        self._check(len(line) + len(self._data))
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if line:
            self._take_field(line)
            return
        self.last_id = self._id
        if self._data:
            del self._data[-1:]  # the line feed behind the last line
            events.append(Event(self._type or b"message", self._data))
            self._data = bytearray()
        self._type = b""

    def _take_field(self, line: bytearray) -> None:
        """Take note of a line; one that starts with a colon is a comment and names no field."""
        colon = line.find(b":")
        name = bytes(line if colon < 0 else line[:colon])
        start = len(line) if colon < 0 else colon + 1
        start += line.startswith(b" ", start)
        value = memoryview(line)[start:]
        if name == b"data":
            self._data += value
            self._data += b"\n"
        elif name == b"event":
            self._type = bytes(value)
        elif name == b"id" and b"\0" not in bytes(value):
            self._id = bytes(value)
        elif name == b"retry" and bytes(value).isdigit():
            self.retry = float(bytes(value)) / 1000

    def _check(self, size: int) -> None:
        if size > self._limit:
            raise MessageTooLarge(self._limit, "event")
