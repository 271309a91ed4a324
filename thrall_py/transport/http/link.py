"""Connections that carry bytes, on which no call blocks for ever; this one is TCP."""

import socket
from typing import Protocol

from thrall_py.transport.http.waiting import READABLE, WRITABLE, Waiting

CHUNK = 1 << 18  # bytes moved at once


class Link(Protocol):
    """One connection; it fails with an OSError, and waits as `Waiting` does."""

    def send(self, data: bytes, deadline: float) -> None:
        """Send all of it."""

    def receive(self, deadline: float) -> bytes:
        """Wait for some bytes; none at the end."""

    def receive_now(self) -> bytes | None:
        """Take what has come; None if nothing has, no bytes at the end."""

    def fileno(self) -> int:
        """The descriptor that is readable when something has come."""

    def close(self) -> None:
        """Close it."""


class TcpLink:
    """A connected socket."""

    def __init__(self, connected: socket.socket, waiting: Waiting) -> None:
        self._socket = connected
        self._waiting = waiting

    def send(self, data: bytes, deadline: float) -> None:
        """Send all of it."""
        with memoryview(data) as view:
            at = 0
            while at < len(view):
                self._waiting.until(deadline, self._socket.fileno(), WRITABLE)
                at += self._socket.send(view[at : at + CHUNK])

    def receive(self, deadline: float) -> bytes:
        """Wait for some bytes; none at the end."""
        self._waiting.until(deadline, self._socket.fileno(), READABLE)
        return self._socket.recv(CHUNK)

    def receive_now(self) -> bytes | None:
        """Take what has come."""
        try:
            return self._socket.recv(CHUNK)
        except BlockingIOError:
            return None

    def fileno(self) -> int:
        """The descriptor of the socket."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close it."""
        self._socket.close()
