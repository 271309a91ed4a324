"""What `--verbose` tells of a conversation: its stages and how long they took, in sentences."""

import time
from collections.abc import Callable

from thrall_py.protocol.mcp import ServerInfo
from thrall_py.protocol.watcher import Watcher
from thrall_py.redact import Redactor
from thrall_py.visible import visible

_WORDS = 80  # characters of a name or a version


class Narrator(Watcher):
    """Tells of one conversation.

    Args:
        say: takes a sentence.
        redact: makes the server's words fit to be repeated.
        clock: the time in seconds.

    """

    def __init__(
        self,
        say: Callable[[str], None],
        redact: Redactor,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._say = say
        self._redact = redact
        self._clock = clock
        self._began = clock()
        self._asked = self._began  # the last request
        self._left = self._began
        self._pages = 0  # of the list that is being read
        self._has_probed = False

    def spawned(self, program: str) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """Tell it."""
        self._tell(f"started {visible(program)}")

    def connected(self, origin: str) -> None:  # type: ignore[explicit-override]  # likewise
        """Tell it."""
        self._tell(f"connected to {visible(origin)}")

    def sent(self, method: str) -> None:  # type: ignore[explicit-override]  # likewise
        """Tell it."""
        self._asked = self._clock()
        self._pages += method.endswith("/list")
        is_probe = method == "server/discover"
        self._has_probed |= is_probe
        probe = " (the probe)" if is_probe else ""
        self._tell(f"sent {method}{probe}")

    def answered(self) -> None:  # type: ignore[explicit-override]  # likewise
        """Tell it."""
        self._tell(f"answered in {self._since(self._asked)}")

    def agreed(self, server: ServerInfo) -> None:  # type: ignore[explicit-override]  # likewise
        """Tell it; some servers of the legacy era log errors, or a traceback, at the probe."""
        name = self._redact.quoted(server.name, _WORDS)
        version = self._redact.plain(server.version, _WORDS)
        self._tell(f"speaks {server.revision}; it is {name} {version}".rstrip())
        if self._has_probed and not server.is_modern:
            advice = f"--protocol {server.revision} leaves the probe out"
            self._tell(f"if it logged errors: {advice}")

    def listed(self, what: str, count: int) -> None:  # type: ignore[explicit-override]  # likewise
        """Tell it."""
        pages = "1 page" if self._pages == 1 else f"{self._pages} pages"
        self._tell(f"listed {count} {what if count != 1 else what.removesuffix('s')} in {pages}")
        self._pages = 0

    def waiting(self, what: str) -> None:  # type: ignore[explicit-override]  # likewise
        """Tell it."""
        self._tell(what)

    def signalled(self, name: str) -> None:  # type: ignore[explicit-override]  # likewise
        """Tell it."""
        self._tell(f"sent {name}")

    def closing(self) -> None:  # type: ignore[explicit-override]  # likewise
        """Tell it."""
        self._left = self._clock()
        self._tell("leaving the server")

    def closed(self, how: str) -> None:  # type: ignore[explicit-override]  # likewise
        """Tell it."""
        self._tell(f"the server {how}, after {self._since(self._left)}")

    def _tell(self, words: str) -> None:
        self._say(f"{self._since(self._began):>8}  {words}")

    def _since(self, moment: float) -> str:
        return f"{(self._clock() - moment) * 1000:.0f} ms"
