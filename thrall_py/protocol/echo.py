"""Programs that repeat what they are sent, as cat does: no MCP server. Pure."""

import math

_PATIENCE = 5.0  # seconds; servers that print what they read, and answer it then, are not that slow


class Echo:
    """Watches whether the last request of the handshake came back, byte for byte.

    A terminal in front of a server repeats as well, but with a carriage return, and gives no hint
    of how long the server takes to start. After the handshake nothing is watched: a tool may take
    its time.

    Attributes:
        until: the time on the clock when an answer is given up; never, as long as nothing came.

    """

    def __init__(self) -> None:
        self.until = math.inf
        self._request = b""

    @property
    def came(self) -> bool:
        """Whether the request came back."""
        return self.until < math.inf

    def expect(self, request: bytes) -> None:
        """Watch for this request from now on; for none if it is empty."""
        self.until = math.inf
        self._request = request.rstrip(b"\n")

    def look(self, line: bytes | bytearray, now: float) -> None:
        """Look at a line that came at this time on the clock."""
        if self._request and line == self._request:
            self.until = min(self.until, now + _PATIENCE)
