"""Lines on a server's output that were nobody's answer: how many, the first, and a hint."""

import re

from thrall_py.redact import Redactor

_KEPT = 4096  # bytes of the first line that are kept, more than is shown

# What a line tells those who know: a pattern, and what to do next.
_DIAGNOSES = (
    (r"(?i)^content-length:", "looks like Content-Length framing; MCP wants one message per line"),
    (r"^[\[{]\s*$", "looks like a message printed over several lines; MCP wants each on one line"),
    (r"(?i)ok to proceed|need to install", "asks for installation: add -y"),
    (r'^\{.*"method":"(?:initialize|server/discover)"', "repeats what it reads: no MCP server"),
    (r"^\x00|\x00.\x00", "looks like UTF-16; MCP wants UTF-8"),
    (
        r"(?i)^(?:usage:|unknown (?:option|command))",
        "looks like a usage message: check the arguments",
    ),
)
# The first id counts, without another try, so that a hostile line costs no more than its length.
_STRAY_ANSWER = r'^\{(?>.*?"id":)\s*("[^"]*"|[-\d.]+),.*"(?:result|error)":'


class SkippedLines:
    """A tally of skipped lines.

    Only the first is kept, and not more of it than is shown; of the others what the first telling
    one hints at, because a banner often stands before it.
    """

    def __init__(self, redact: Redactor) -> None:
        self._redact = redact
        self._count = 0
        self._first = ""
        self._partial = ""
        self._hint = ""

    def add(self, line: bytes | bytearray) -> None:
        """Count one more line."""
        self._count += 1
        if self._hint:
            return
        text = self._beginning(line)
        hint = _diagnosis(text) or self._stray(text)
        if self._count == 1:
            self._first, self._hint = text, hint
        elif hint:
            self._hint = f"a later one {hint}"

    def add_partial(self, line: bytes | bytearray) -> None:
        """Take note of a line that never ended."""
        self._partial = self._beginning(line)

    def sentence(self) -> str:
        """The trace they leave at the end of a failure's sentence; nothing if there were none."""
        said = ""
        if self._count:
            lines = "1 line: " if self._count == 1 else f"{self._count} lines, the first: "
            said = f"; skipped {lines}{self._redact.quoted(self._first)}"
        if self._partial:
            said += f"; a line did not end: {self._redact.quoted(self._partial)}"
        hint = self._hint or _diagnosis(self._partial)
        return said + (f" ({hint})" if hint else "")

    def _beginning(self, line: bytes | bytearray) -> str:
        text = bytes(line[:_KEPT]).decode("utf-8", "replace")
        if len(line) > _KEPT:  # half a secret may stand at the cut, where no mask finds it
            text = self._redact.mask(text)
            text = text[: len(text) - self._redact.longest]
        return text.strip("\r\n")

    def _stray(self, text: str) -> str:
        """What an answer says that answers nothing; half a line may be anything."""
        stray = re.search(_STRAY_ANSWER, text)
        if not stray:
            return ""
        return f"is an answer with id {self._redact.plain(stray[1], 40)}, which nobody asked with"


def _diagnosis(text: str) -> str:
    return next((hint for pattern, hint in _DIAGNOSES if re.search(pattern, text)), "")
