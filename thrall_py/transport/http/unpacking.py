"""A compressed body piece by piece: what a few bytes can grow into never exists at once."""

import zlib

from thrall_py.protocol.channel import Unanswered

_PIECE = 1 << 18  # bytes
_GZIP = 16 + zlib.MAX_WBITS  # how zlib is told
_MAGIC = b"\x1f\x8b"


class Unpacking:
    """Unpacks gzip (RFC 1952).

    A body that only says to be gzip passes as it is: some proxies unpack it and leave the header.
    """

    def __init__(self) -> None:
        self._packed = b""
        self._begun = False
        self._is_plain = False
        self._member = zlib.decompressobj(_GZIP)

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the body."""
        self._packed += chunk

    def take(self) -> bytes:
        """Take the next piece, unpacked; none if more has to be fed first.

        Raises:
            Unanswered: it is damaged.

        """
        if not self._begun and len(self._packed) >= len(_MAGIC):
            self._begun, self._is_plain = True, not self._packed.startswith(_MAGIC)
        if not self._begun:
            return b""
        if self._is_plain:
            piece, self._packed = self._packed, b""
            return piece
        return self._inflate()

    def finish(self) -> None:
        """Take note that the body has ended.

        Raises:
            Unanswered: too early.

        """
        if self._begun and not self._is_plain and not self._member.eof:
            raise Unanswered("sent a gzip body that breaks off")

    def _inflate(self) -> bytes:
        while self._packed or not self._member.eof:
            if self._member.eof:  # gzip may have several members
                self._member = zlib.decompressobj(_GZIP)
            try:
                piece = self._member.decompress(self._packed, _PIECE)
            except zlib.error:
                raise Unanswered("sent a gzip body that cannot be unpacked") from None
            self._packed = self._member.unconsumed_tail or self._member.unused_data
            if piece or not self._packed:
                return piece
        return b""
