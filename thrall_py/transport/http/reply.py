"""The reply to one request: its head, and its body without any compression."""

from thrall_py.protocol.channel import MessageTooLarge, Unanswered
from thrall_py.transport.http.connection import Connection, Head
from thrall_py.transport.http.heads import Lines
from thrall_py.transport.http.unpacking import Unpacking

_ENCODINGS = ("", "identity")


class Reply:
    """A reply whose head has come.

    Args:
        connection: what it comes on.
        head: its head.
        lines: takes the lines of the body, if somebody follows it.

    Raises:
        Unanswered: it is compressed in a way that nobody asked for.

    """

    def __init__(self, connection: Connection, head: Head, lines: Lines | None = None) -> None:
        self.connection = connection
        self.status = head.status
        self._head = head
        self._lines = lines
        self._unpacking: Unpacking | None = None
        encoding = self.header("content-encoding").lower()
        if encoding in ("gzip", "x-gzip"):
            self._unpacking = Unpacking()
        elif encoding not in _ENCODINGS:
            raise Unanswered("compressed its answer in a way that was not asked for", head.status)

    @property
    def is_success(self) -> bool:
        """Whether the status is one of success."""
        return self._head.is_success

    @property
    def is_compressed(self) -> bool:
        """Whether the body has to be unpacked."""
        return self._unpacking is not None

    @property
    def media_type(self) -> str:
        """What the body is said to be, without parameters; empty if nothing is said."""
        return self.header("content-type").partition(";")[0].strip().lower()

    def header(self, name: str) -> str:
        """The value of a header, by its name in lower case; empty if it is not there."""
        wanted = name.encode()
        return ", ".join(
            value.decode("latin-1") for key, value in self._head.headers if key == wanted
        )

    def read(self, deadline: float) -> bytes:
        """Wait for some of the body; none at its end.

        Raises:
            Unanswered: it breaks off, or is damaged.
            ReceiveTimeout, Interrupted: as the link says.

        """
        piece = self._read(deadline)
        if self._lines:
            self._lines.take(piece)
        return piece

    def take(self) -> bytes | None:
        """Take some of a body that is not compressed, if that has come; no bytes at its end.

        Raises:
            Unanswered: it breaks off.

        """
        piece = self.connection.take()
        assert not isinstance(piece, Head), "the head has come"
        if piece is not None and self._lines:
            self._lines.take(piece)
        return piece

    def leave(self) -> None:
        """Take note that no more of it is read."""
        if self._lines:
            self._lines.end()

    def _read(self, deadline: float) -> bytes:
        if self._unpacking is None:
            return self.connection.read(deadline)
        while not (piece := self._unpacking.take()):
            chunk = self.connection.read(deadline)
            if not chunk:
                self._unpacking.finish()
                return b""
            self._unpacking.feed(chunk)
        return piece

    def read_all(self, limit: int, deadline: float) -> bytearray:
        """Wait for the whole body.

        Raises:
            MessageTooLarge: it has more bytes than the limit.
            Unanswered, ReceiveTimeout, Interrupted: as `read`.

        """
        body = bytearray()
        while piece := self.read(deadline):
            body += piece
            if len(body) > limit:
                raise MessageTooLarge(limit, "body")
        return body
