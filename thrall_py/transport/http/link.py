"""Connections that carry bytes, over TCP and over TLS, on which no call blocks for ever."""

import functools
import socket
import ssl
from collections.abc import Callable
from typing import Protocol, TypeVar

from thrall_py.transport.http.waiting import READABLE, WRITABLE, Waiting

_CHUNK = 1 << 18  # bytes moved at once

_Result = TypeVar("_Result")


class Link(Protocol):
    """One connection; it fails with an OSError, and waits as `Waiting` does."""

    def send(self, data: bytes, deadline: float) -> None:
        """Send all of it."""

    def receive(self, deadline: float) -> bytes:
        """Wait for some bytes; none at the end."""

    def receive_now(self) -> bytes | None:
        """Take what has come; None if nothing has, no bytes at the end."""

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
                at += self._socket.send(view[at : at + _CHUNK])

    def receive(self, deadline: float) -> bytes:
        """Wait for some bytes; none at the end."""
        self._waiting.until(deadline, self._socket.fileno(), READABLE)
        return self._socket.recv(_CHUNK)

    def receive_now(self) -> bytes | None:
        """Take what has come."""
        try:
            return self._socket.recv(_CHUNK)
        except BlockingIOError:
            return None

    def close(self) -> None:
        """Close it."""
        self._socket.close()


class TlsLink:
    """TLS over another link.

    Args:
        link: the link below.
        context: whom to trust.
        host: the name, or the address, that the certificate is for.
        deadline: of the TLS handshake.

    Raises:
        ssl.SSLError: the certificate is not good, or the server speaks no TLS that we do.

    """

    def __init__(self, link: Link, context: ssl.SSLContext, host: str, deadline: float) -> None:
        self._link = link
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self._complete(self._tls.do_handshake, deadline)

    def send(self, data: bytes, deadline: float) -> None:
        """Send all of it."""
        with memoryview(data) as view:
            for at in range(0, len(view), _CHUNK):  # a write into memory is never partial
                write = functools.partial(self._tls.write, view[at : at + _CHUNK])
                self._complete(write, deadline)

    def receive(self, deadline: float) -> bytes:
        """Wait for some bytes; none at the end."""
        try:
            return self._complete(lambda: self._tls.read(_CHUNK), deadline)
        except ssl.SSLEOFError:
            return b""  # HTTP says by itself whether that is too early

    def receive_now(self) -> bytes | None:
        """Take what has come."""
        records = self._link.receive_now()
        if records is not None:
            self._take(records)
        try:
            return self._tls.read(_CHUNK)
        except ssl.SSLWantReadError:
            return None
        except ssl.SSLEOFError:
            return b""

    def close(self) -> None:
        """Close it."""
        self._link.close()

    def _complete(self, step: Callable[[], _Result], deadline: float) -> _Result:
        """Take one step of TLS, moving records to and fro as it asks."""
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                self._link.send(self._outgoing.read(), deadline)
                self._take(self._link.receive(deadline))
            else:
                self._link.send(self._outgoing.read(), deadline)
                return result

    def _take(self, records: bytes) -> None:
        if records:
            self._incoming.write(records)
        else:
            self._incoming.write_eof()
