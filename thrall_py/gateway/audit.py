"""What a gateway does, one line each on stderr: for a person, or as JSON.

Never in the way of a call: when nobody reads stderr lines are dropped, and counted.
"""

import contextlib
import json
import time
from collections.abc import Iterator
from typing import Protocol

from thrall_py.errors import ThrallError
from thrall_py.redact import Redactor

TEXT, JSON = FORMATS = "text", "json"

_MOST_WAITING = 1 << 18  # bytes of lines that are not read
_SHOWN = 500  # characters of one fact

Fact = str | int


class Sink(Protocol):
    """Where lines go, without a wait (`Outlet`)."""

    @property
    def waiting(self) -> int:
        """How many bytes have not been written yet."""

    def write(self, data: bytes) -> None:
        """Take one line."""


class Log:
    """The log of one gateway.

    Args:
        sink: where the lines go.
        style: one of FORMATS.
        redact: knows the secrets that must stand in no line.

    """

    def __init__(self, sink: Sink, style: str, redact: Redactor) -> None:
        self._sink = sink
        self._written = _json if style == JSON else _text
        self._redact = redact
        self._dropped = 0

    def tell(self, event: str, **facts: Fact) -> None:
        """Tell of an event; facts that are an empty text are left out."""
        if self._sink.waiting > _MOST_WAITING:
            self._dropped += 1
            return
        if self._dropped:
            dropped, self._dropped = self._dropped, 0
            self.tell("dropped", lines=dropped)
        shown = {
            name: self._redact.plain(fact, _SHOWN) if isinstance(fact, str) else fact
            for name, fact in facts.items()
            if fact != ""
        }
        self._sink.write(self._written({"time": _now(), "event": event, **shown}).encode())


@contextlib.contextmanager
def failures(log: Log | None, server: str) -> Iterator[None]:
    """Tell why a server cannot be used, if it turns out so; the failure goes on."""
    try:
        yield
    except ThrallError as problem:
        if log:
            log.tell("failed", server=server, why=str(problem))
        raise


def _json(facts: dict[str, Fact]) -> str:
    return json.dumps(facts, separators=(",", ":")) + "\n"


def _text(facts: dict[str, Fact]) -> str:
    """Write `thrall: EVENT name=fact ...`; a fact of several words stands in quotation marks."""
    told = [f"{name}={_word(fact)}" for name, fact in facts.items() if name not in _UNNAMED]
    return " ".join(["thrall:", *(str(facts[name]) for name in _UNNAMED), *told]) + "\n"


def _word(fact: Fact) -> str:
    word = str(fact)
    return json.dumps(word, ensure_ascii=False) if set(word) & set(' "=') else word


def _now() -> str:
    """The time in UTC, to the millisecond (RFC 3339)."""
    seconds, thousandths = divmod(time.time_ns() // 1_000_000, 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{thousandths:03}Z"


_UNNAMED = ("time", "event")
