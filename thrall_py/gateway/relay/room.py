"""How much may wait: in all, and of one client, so that none shuts others out.

A call keeps what its client sent until it ends: while a server starts, or does not read, and for
minutes while a person is asked.
"""

import contextlib
from collections import Counter
from collections.abc import Iterator

from thrall_py.gateway.caller import Refused
from thrall_py.gateway.core.envelope import INTERNAL_ERROR

_EACH = 1 << 14  # what one costs on top of its text: tasks, timers, a place


class Room:
    """What waits at the moment.

    Args:
        most: characters of JSON text, each of which is a byte, in all.
        share: of one client.
        words: what is told to who finds none, and what to do.

    """

    def __init__(self, most: int, share: int, words: str) -> None:
        self._most = most
        self._share = share
        self._words = words
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
        if self._held[owner] + size > self._share or self._held.total() + size > self._most:
            raise Refused.because(INTERNAL_ERROR, self._words)
        self._held[owner] += size
        try:
            yield
        finally:
            self._held[owner] -= size
            if not self._held[owner]:
                del self._held[owner]


def for_questions() -> Room:
    """Make the room of calls whose clients are asked: 64 MiB, a quarter of it for each."""
    words = "too much waits for answers of this client, or of all: answer first, or send less"
    return Room(64 << 20, 16 << 20, words)


def for_requests(largest: int) -> Room:
    """Make the room of all that is open: 256 MiB, or four of the largest; half of it for each.

    Args:
        largest: bytes that one message may have.

    """
    words = "too much is open of this client, or of all: wait for an answer, or send less"
    share = max(128 << 20, 2 * largest)
    return Room(2 * share, share, words)
