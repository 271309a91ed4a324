"""Lines on a server's output that were nobody's answer: how many, the first, and its hint."""

import re

from thrall_py.redact import Redactor

_KEPT = 4096  # bytes of the first line that are kept, more than is shown

# What a first line tells those who know: a pattern, and what to do next.
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
_STRAY_ANSWER = re.compile(r'^\{.*"id":\s*("[^"]*"|[-\d.]+),.*"(?:result|error)":')


class SkippedLines:
    """A tally of skipped lines. Only the first is kept, and not more of it than is shown."""

    def __init__(self, redact: Redactor) -> None:
        self._redact = redact
        self._count = 0
        self._first = ""
        self._partial = ""

    def add(self, line: bytes | bytearray) -> None:
        """Count one more line."""
        if not self._count:
            self._first = self._beginning(line)
        self._count += 1

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
        return said + self._hint()

    def _beginning(self, line: bytes | bytearray) -> str:
        text = bytes(line[:_KEPT]).decode("utf-8", "replace")
        if len(line) > _KEPT:  # half a secret may stand at the cut, where no mask finds it
            text = self._redact.mask(text)
            text = text[: len(text) - self._redact.longest]
        return text.strip("\r\n")

    def _hint(self) -> str:
        for pattern, hint in _DIAGNOSES:
            if re.search(pattern, self._first) or re.search(pattern, self._partial):
                return f" ({hint})"
        stray = _STRAY_ANSWER.search(self._first)
        return (
            f" (an answer with id {self._redact.plain(stray[1], 40)}, which nobody asked with)"
            if stray
            else ""
        )
