"""Bytes as they come, cut into lines of a bounded size. Pure."""

from collections.abc import Iterator

TOO_LONG = None  # in the place of a line that is longer than may be


class Lines:
    """Cuts at line feeds; what is too long is thrown away as it comes.

    Args:
        limit: bytes of a line.

    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._begun: list[bytes] = []  # joined once, or a long line would be copied again and again
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        """Take more; the lines that are complete now, each without its end."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._add(end)
            yield self._taken()
        self._add(rest)

    def end(self) -> Iterator[bytes | None]:
        """The line without an end at the end of all input, if there is one."""
        if self._size:
            yield self._taken()

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= self._limit:
            self._begun.append(piece)
        else:
            self._begun.clear()

    def _taken(self) -> bytes | None:
        line = b"".join(self._begun) if self._size <= self._limit else TOO_LONG
        self._begun.clear()
        self._size = 0
        return line
