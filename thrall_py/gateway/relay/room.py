"""How much may wait while clients are asked: in all, and of one client, so none shuts others out.

A call that waits for a person keeps what its client sent for minutes.
"""

import contextlib
from collections import Counter
from collections.abc import Iterator

from thrall_py.gateway.caller import Refused
from thrall_py.gateway.core.envelope import INTERNAL_ERROR

_MOST = 64 << 20  # characters of JSON text, each of which is a byte
_SHARE = _MOST // 4  # of one client
_EACH = 1 << 14  # what one costs on top of its text: tasks, timers, a place


class Room:
    """What waits at the moment."""

    def __init__(self) -> None:
        self._held: Counter[str] = Counter()  # by owner

    @contextlib.contextmanager
    def holding(self, owner: str, size: int) -> Iterator[None]:
        """Have room for as long as something waits.

        Args:
            owner: whose it is (`Caller.owner`).
            size: of it, in characters.

        Raises:
            Refused: there is none.

        """
        size += _EACH
        if self._held[owner] + size > _SHARE or self._held.total() + size > _MOST:
            raise Refused.because(
                INTERNAL_ERROR,
                "too much waits for answers of this client, or of all: answer first, or send less",
            )
        self._held[owner] += size
        try:
            yield
        finally:
            self._held[owner] -= size
            if not self._held[owner]:
                del self._held[owner]
