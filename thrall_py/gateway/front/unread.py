"""How much of all replies waits for clients that do not read. Pure."""

_SMALL = 1 << 16  # characters of a reply for which there is always room


class Unread:
    """What waits in all replies at the moment, in characters of JSON text (each is a byte).

    Args:
        most: how much there may be.

    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0

    @property
    def is_full(self) -> bool:
        """Whether what may be lost has to be."""
        return self._size > self._most

    def has_room(self, size: int) -> bool:
        """Tell whether a response may wait too.

        A small one always may: of these there are no more than connections.
        """
        return size <= _SMALL or self._size + size <= self._most

    def add(self, size: int) -> None:
        """More waits, or less if `size` is negative."""
        self._size += size
