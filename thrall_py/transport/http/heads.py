"""What is told of an exchange to who follows it: heads without credentials, bodies line by line."""

from collections.abc import Collection, Iterable

from thrall_py.protocol.watcher import Watcher
from thrall_py.transport.http.connection import Head, Request

_MASK = "***"
# Whatever their values are, and however short.
_CREDENTIALS = ("authorization", "proxy-authorization", "cookie", "set-cookie")


def secret_names(configured: Iterable[str]) -> frozenset[str]:
    """Name, in lower case, the headers whose values are not repeated; `configured` are some."""
    return frozenset((*_CREDENTIALS, *map(str.lower, configured)))


def request(asked: Request, secret: Collection[str]) -> bytes:
    """Make the head of a request as it goes over the wire, but for the values of secret headers."""
    lines = [f"{asked.method} {asked.target} HTTP/1.1"]
    for name, value in asked.headers:
        shown = value if isinstance(value, str) else value.decode("latin-1")
        lines.append(f"{name}: {_MASK if name.lower() in secret else shown}")
    return _joined(lines)


def reply(head: Head, secret: Collection[str]) -> bytes:
    """Make the head of a reply, likewise."""
    lines = [f"HTTP/1.1 {head.status}"]
    for key, value in head.headers:
        name = key.decode("latin-1")
        lines.append(f"{name}: {_MASK if name in secret else value.decode('latin-1')}")
    return _joined(lines)


class Lines:
    """Hands on a body in whole lines, because a secret may stand across two pieces of it."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._partial = bytearray()

    def take(self, piece: bytes) -> None:
        """Take the next piece; none at the end of the body."""
        if not piece:
            self._flush("")
        first, *rest = piece.split(b"\n")
        self._partial += first
        for line in rest:
            self._watcher.from_server(self._partial)
            self._partial = bytearray(line)

    def end(self) -> None:
        """Take note that the rest is not read."""
        self._flush(None)

    def _flush(self, end: str | None) -> None:
        if self._partial:
            self._watcher.from_server(self._partial, end)
            self._partial = bytearray()


def _joined(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode("utf-8", "surrogateescape")
