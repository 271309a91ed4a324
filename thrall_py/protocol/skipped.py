"""Lines on a server's output that were nobody's answer: how many, the first, and a hint."""

import re
from typing import NamedTuple

from thrall_py.redact import Redactor

_KEPT = 4096  # bytes of the first line that are kept, more than is shown


class Hint(NamedTuple):
    """What a line tells those who know: words after "the line", and what to do next."""

    words: str
    advice: str


_NO_HINT = Hint("", "")
_SEVERAL_LINES = Hint(
    "looks like a message printed over several lines; MCP wants each on one line",
    "write each message on one line, without indentation, and flush it",
)
_USAGE = Hint(
    "looks like a usage message: check the arguments",
    "see that the program takes the words behind --, and what it wants to serve on stdio",
)
_DIAGNOSES = (
    (
        r"(?i)^content-length:",
        Hint(
            "looks like Content-Length framing; MCP wants one message per line",
            "write each message on a line of its own, without headers before it",
        ),
    ),
    (r"^[\[{]\s*$", _SEVERAL_LINES),
    (
        r"(?i)ok to proceed|need to install",
        Hint("asks for installation: add -y", "install it beforehand, or add -y behind npx"),
    ),
    (
        r'^\{.*"method":"(?:initialize|server/discover)"',
        Hint(
            "repeats what it reads: no MCP server",
            "see that the words behind -- start the server",
        ),
    ),
    (
        r"^\x00|\x00.\x00",
        Hint("looks like UTF-16; MCP wants UTF-8", "write messages in UTF-8, whatever the locale"),
    ),
    (r"(?i)^(?:usage:|unknown (?:option|command))", _USAGE),
)
_ANSWER_THE_ID = "answer with the id of the request, as it was sent: the same value, the same type"
# The first id counts, without another try, so that a hostile line costs no more than its length.
_STRAY_ANSWER = r'^\{(?>.*?"id":)\s*("[^"]*"|[-\d.]+),.*"(?:result|error)":'


class SkippedLines:
    """A tally of skipped lines.

    Only the first is kept, and not more of it than is shown; of the others what the first telling
    one hints at, because a banner often stands before it.

    Args:
        redact: makes the server's words fit to be repeated.
        quoting: whether they may be. Not where several clients share a server: a line may hold
            what one of them said, and the failure is another's.

    """

    def __init__(self, redact: Redactor, *, quoting: bool = True) -> None:
        self._redact = redact
        self._quoting = quoting
        self._count = 0
        self._first = ""
        self._partial = ""
        self._hint = _NO_HINT

    def add(self, line: bytes | bytearray) -> None:
        """Count one more line."""
        self._count += 1
        if self._hint.words:
            return
        text = self._beginning(line)
        hint = _diagnosis(text)
        if not hint.words:
            hint = self._stray(text)
        if self._count == 1:
            self._first, self._hint = text, hint
        elif hint.words:
            self._hint = hint._replace(words=f"a later one {hint.words}")

    def add_partial(self, line: bytes | bytearray) -> None:
        """Take note of a line that never ended."""
        self._partial = self._beginning(line)

    def sentence(self) -> str:
        """The trace they leave at the end of a failure's sentence; nothing if there were none."""
        said = ""
        if self._count:
            lines, first = ("line", "") if self._count == 1 else ("lines", ", the first")
            said = f"; skipped {self._count} {lines}{self._quoted(self._first, first)}"
        if self._partial:
            said += f"; a line did not end{self._quoted(self._partial)}"
        hint = self._told().words
        return said + (f" ({hint})" if hint else "")

    @property
    def advice(self) -> str:
        """What to do about them, if one of them tells; else empty."""
        return self._told().advice

    def _quoted(self, text: str, what: str = "") -> str:
        return f"{what}: {self._redact.quoted(text)}" if self._quoting else ""

    def _told(self) -> Hint:
        return self._hint if self._hint.words else _diagnosis(self._partial)

    def _beginning(self, line: bytes | bytearray) -> str:
        text = bytes(line[:_KEPT]).decode("utf-8", "replace")
        if len(line) > _KEPT:
            text = self._redact.mask_cut(text)
        return text.strip("\r\n")

    def _stray(self, text: str) -> Hint:
        """What an answer says that answers nothing; half a line may be anything."""
        stray = re.search(_STRAY_ANSWER, text)
        if not stray:
            return _NO_HINT
        id_ = f"id {self._redact.plain(stray[1], 40)}," if self._quoting else "an id"
        return Hint(f"is an answer with {id_} which nobody asked with", _ANSWER_THE_ID)


def _diagnosis(text: str) -> Hint:
    return next((hint for pattern, hint in _DIAGNOSES if re.search(pattern, text)), _NO_HINT)
