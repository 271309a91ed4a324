"""The state of a modern server, sealed: good for one client, one request and a while, and no other.

A modern server that asks gives the client a `requestState` to come back with (2026-07-28, "Multi
Round-Trip Requests"). Behind one gateway stand many servers, some of which may take any state for
their own. So the client gets the server's state inside of one of ours. Nothing is kept for it.
"""

import hmac
import os
import time
from collections.abc import Callable

from thrall_py.gateway.relay.pending import EXPIRY, MARK
from thrall_py.protocol import canonical

_KEY = 32  # bytes
_PARTS = 3


class Seals:
    """Seals states with a key that no other process has.

    Args:
        expiry: seconds for which a seal is good.
        clock: tells the time in seconds.

    """

    def __init__(self, expiry: float = EXPIRY, clock: Callable[[], float] = time.monotonic) -> None:
        self._key = os.urandom(_KEY)
        self._expiry = expiry
        self._clock = clock

    def seal(self, state: str, binding: str) -> str:
        """Make the state for the client, of characters that need no escape in JSON.

        Args:
            state: of the server, as JSON text in Latin-1.
            binding: of which client's and which request's it is.

        """
        until, inside = f"{self._clock() + self._expiry:.0f}", state.encode("latin-1").hex()
        return f"{MARK}{self._mac(until, inside, binding)}.{until}.{inside}"

    def open(self, sealed: str, binding: str) -> str | None:
        """Take the server's state out; None unless it was sealed here, for this, and lately."""
        parts = sealed.removeprefix(MARK).split(".")
        if len(parts) != _PARTS or not sealed.isascii():
            return None
        mac, until, inside = parts
        if not hmac.compare_digest(mac, self._mac(until, inside, binding)):
            return None
        return bytes.fromhex(inside).decode("latin-1") if self._clock() <= float(until) else None

    def _mac(self, until: str, inside: str, binding: str) -> str:
        text = canonical.compact([until, binding, inside])
        return hmac.digest(self._key, text.encode(), "sha256").hex()
