"""The calls that were given up and that a server has not answered yet: it may still be at work.

What it asks or tells meanwhile may be about one of them, so it is not the next client's. Most of
them are never answered (all revisions, "Cancellation": the receiver SHOULD NOT), so for questions
they count as long as the server lives, and for what is only told some minutes.
"""

import asyncio
import itertools
import re

from thrall_py.protocol.jsontext import Value

_RECENT = 300.0  # seconds after which a server is taken to say nothing more about a call
_MOST = 256  # calls of one server; of more it is only known that there are more
_MORE = 0  # no id is
_ANYBODY = ""  # no client is called that
# By value, as `wire.same_id` has it: 2, 2.0 and "2" are one number.
_OUR_ID = re.compile(r'"?([1-9][0-9]{0,17})(?:\.0)?"?')


class Owed:
    """The answers that are owed to calls that nobody waits for.

    Attributes:
        has_hindered: because of one of them another client was not asked.

    """

    def __init__(self) -> None:
        self.has_hindered = False
        self._held: dict[int, tuple[str, float]] = {}  # client, and since when, by the call's id
        self._foreign = itertools.count(-1, -1)

    def add(self, id_: int, client: str) -> None:
        """Take note that a client has given up a call."""
        if len(self._held) >= _MOST:
            id_, client = _MORE, _ANYBODY
        self._held[id_] = client, asyncio.get_running_loop().time()

    def settle(self, id_: int) -> None:
        """Take note that the call was answered."""
        self._held.pop(id_, None)
        self.has_hindered &= bool(self._held)

    def take_over(self, other: "Owed") -> None:
        """Have what is owed on a conversation that is over, where no answer will come any more."""
        for client in other.clients():
            self.add(next(self._foreign), client)

    def clients(self) -> set[str]:
        """Tell whose calls they are; one more that nobody is, if there are too many to tell."""
        return {client for client, _ in self._held.values()}

    def recent(self) -> set[str]:
        """Tell whose calls of the last minutes they are."""
        began = asyncio.get_running_loop().time() - _RECENT
        return {client for client, since in self._held.values() if since > began}


def our_id(value: Value | None) -> int | None:
    """Read the id of an answer as one of ours; None if we make no such ids."""
    found = _OUR_ID.fullmatch(value.text) if value else None
    return int(found[1]) if found else None
