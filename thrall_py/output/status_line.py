r"""One line at the terminal that says what is waited for.

It stands only while a wait lasts, so whoever prints something finds the terminal as it was left.
The server writes to the same terminal whenever it likes. So the line is drawn below the cursor,
which comes back to where it was: what the server writes goes where it would have gone, and what
its line ends push into ours is cleared with the next drawing. Several lines of the server at once
can run into what is left of ours; nothing worse.
"""

import math
import os
import time
from collections.abc import Callable, Collection

from thrall_py.protocol.jsontext import Value
from thrall_py.protocol.mcp import TOOLS_CALL, ServerInfo
from thrall_py.protocol.watcher import Watcher
from thrall_py.redact import Redactor
from thrall_py.visible import visible

_PATIENCE = 1.0  # seconds before a person wonders
_INTERVAL = 0.5  # seconds between two drawings
_SHORTEST = 0.1  # seconds between two drawings, however fast a server makes progress
_NEVER = float("inf")
_HANDSHAKE = ("server/discover", "initialize")
_NAME = 64  # characters of a tool's, or a server's name
_MESSAGE = 160  # characters of the server's words; the terminal may have room for less
_DIGITS = 40  # of a number in them

# DEC's codes, which every terminal obeys that is not dumb. IND makes sure that a line below is
# there, and moves straight down where a line feed would go to the first column, too.
_ERASE = "\x1b[J"  # from the cursor to the end of the screen
_DOWN, _UP = "\x1bD", "\x1b[A"
_SAVE, _RESTORE = "\x1b7", "\x1b8"


class StatusLine(Watcher):
    """Follows one conversation, or waits for several servers.

    Args:
        write: takes what is drawn.
        clock: the time in seconds.

    """

    progress_token = "thrall-progress"  # noqa: S105 - a word of the protocol

    def __init__(
        self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._write = write
        self._clock = clock
        self._redact = Redactor()
        self._subject = ""
        self._stage = ""  # empty while nothing is waited for
        self._is_starting = False
        self._since = 0.0  # the stage has lasted
        self._patient_until = _NEVER
        self._next = 0.0  # moment of the next drawing
        self._drawn = -_NEVER
        self._stands = False
        self._message = ""
        self._progress: tuple[float, float | None] | None = None  # so much, of so much

    def follow(self, subject: str, redact: Redactor) -> Watcher:
        """Turn to the next conversation, about a server or a tool."""
        self._subject, self._redact = redact.plain(subject, _NAME), redact
        self._patient_until = self._clock() + _PATIENCE
        return self

    def asking(self, names: Collection[str]) -> None:
        """Say which servers are waited for; none of them: say nothing."""
        if not names:
            self.closing()
            return
        if not self._stage:
            self._patient_until = self._clock() + _PATIENCE
            self._since = self._clock()
        count = f"{len(names)} servers: " if len(names) > 1 else ""
        self._stage = f"asking {count}{', '.join(visible(name)[:_NAME] for name in names)}"

    def tick(self) -> float:
        """Draw if it is time to; the moment on the clock to come again."""
        if not self._stage:
            return _NEVER
        now = self._clock()
        due = max(self._patient_until, self._next)
        if now < due:
            return due
        self._draw(now)
        self._drawn, self._next = now, now + _INTERVAL
        return self._next

    # -- as a watcher --------------------------------------------------------------------------

    def spawned(self, program: str) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """A server is on its way."""
        self._enter(f"starting {visible(program)[:_NAME]}")
        self._is_starting = True

    def running(self) -> None:  # type: ignore[explicit-override]  # likewise
        """A plain command has no handshake: it is called already."""
        self._enter(f"calling {self._subject}")

    def sent(self, method: str) -> None:  # type: ignore[explicit-override]  # likewise
        """Enter another stage, unless it is one more page, or one more round of a call.

        A server that was started has to answer something first.
        """
        stage = f"waiting for the answer to {method}"
        if method in _HANDSHAKE:
            stage = "shaking hands"
        elif method == TOOLS_CALL:
            stage = f"calling {self._subject}"
        elif method.endswith("/list"):
            stage = f"listing {method.removesuffix('/list')}"
        if stage != self._stage and not self._is_starting:
            self._enter(stage)

    def answered(self) -> None:  # type: ignore[explicit-override]  # likewise
        """It has started."""
        self._is_starting = False

    def agreed(self, server: ServerInfo) -> None:  # type: ignore[explicit-override]  # noqa: ARG002
        """It has, even if it never answered the probe."""
        self._is_starting = False

    def progressed(self, params: Value) -> None:  # type: ignore[explicit-override]  # likewise
        """What the server says goes into the next drawing, which is soon."""
        message = params.member_string("message")
        self._message = self._redact.plain(message, _MESSAGE) if message else ""
        done, total = _number(params.member("progress")), _number(params.member("total"))
        self._progress = None if done is None else (done, total)
        self._next = min(self._next, self._drawn + _SHORTEST)

    def waiting(self, what: str) -> None:  # type: ignore[explicit-override]  # likewise
        """Enter a stage that is no request."""
        self._enter(what)

    def resumed(self) -> None:  # type: ignore[explicit-override]  # likewise
        """Go without a trace; when the wait goes on it is drawn anew."""
        if self._stands:
            self._write(_ERASE)
            self._stands = False
            self._next = self._drawn + _SHORTEST

    def closing(self) -> None:  # type: ignore[explicit-override]  # likewise
        """Go for good; what remains is short, and what comes after it is another wait."""
        self.resumed()
        self._stage = ""
        self._is_starting = False
        self._patient_until = self._clock() + _PATIENCE

    # -- the line ------------------------------------------------------------------------------

    def _enter(self, stage: str) -> None:
        self._stage, self._since = stage, self._clock()
        self._message, self._progress = "", None

    def _draw(self, now: float) -> None:
        from thrall_py.output import pretty

        line = pretty.status_line(self._stage, now - self._since, self._progress, self._message)
        self._write(f"{_ERASE}{_DOWN}{_UP}{_SAVE}\r\n{line}{_RESTORE}")
        self._stands = True


def is_welcome() -> bool:
    """Whether stderr is a terminal with a person before it, who has not sent us to the background.

    No line of ours belongs into the log of a CI job, even of one with a terminal.
    """
    return (
        os.isatty(2)
        and os.environ.get("TERM", "dumb") != "dumb"
        and not os.environ.get("CI")
        and not _is_in_background()
    )


def _is_in_background() -> bool:
    try:
        return os.tcgetpgrp(2) != os.getpgrp()
    except OSError:  # it is not the terminal that we were started from
        return False


def _number(value: Value | None) -> float | None:
    """Read a JSON number that is good for a bar."""
    if value is None or value.first not in "-0123456789" or len(value.text) > _DIGITS:
        return None
    number = float(value.text)
    return number if math.isfinite(number) else None
