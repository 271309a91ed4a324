"""TLS over another connection; apart, because `ssl` is 5 ms that plain http does without."""

import functools
import os
import re
import ssl
from collections.abc import Callable
from typing import TypeVar

from thrall_py.errors import InputError, TlsError
from thrall_py.transport.http.link import CHUNK, Link
from thrall_py.transport.http.url import Url
from thrall_py.visible import visible

_Result = TypeVar("_Result")
# What Python puts around OpenSSL's words: its library before, and a line of its own source behind.
_PYTHONS_OWN = re.compile(r"^\[[^]]*\] | \(_ssl\.c:\d+\)$")


class Trust:
    """The system's authorities, or those of SSL_CERT_FILE. Loading them is 28 ms: once for all.

    Raises:
        InputError: that file cannot be used.

    """

    def __init__(self) -> None:
        file, folder = (os.environ.get(name) or None for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"))
        try:
            self._context = ssl.create_default_context(cafile=file, capath=folder)
        except OSError as problem:
            why = _why(problem)
            raise InputError(f"SSL_CERT_FILE and SSL_CERT_DIR cannot be used: {why}") from None
        self._context.set_alpn_protocols(["http/1.1"])

    def secure(self, link: Link, url: Url, deadline: float) -> Link:
        """Put TLS on a connection to the host of a URL.

        Raises:
            TlsError: it is not who it should be, or speaks no TLS that we do.

        """
        try:
            return TlsLink(link, self._context, url.host, deadline)
        except ssl.SSLCertVerificationError as problem:
            raise TlsError(
                f"the certificate of {visible(url.origin)} is not trusted:"
                f" {visible(problem.verify_message)} (SSL_CERT_FILE names other authorities)"
            ) from None
        except OSError as problem:
            raise TlsError(f"no TLS with {visible(url.origin)}: {_why(problem)}") from None


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
            for at in range(0, len(view), CHUNK):  # a write into memory is never partial
                write = functools.partial(self._tls.write, view[at : at + CHUNK])
                self._complete(write, deadline)

    def receive(self, deadline: float) -> bytes:
        """Wait for some bytes; none at the end."""
        try:
            return self._complete(lambda: self._tls.read(CHUNK), deadline)
        except ssl.SSLEOFError:
            return b""  # HTTP says by itself whether that is too early

    def receive_now(self) -> bytes | None:
        """Take what has come."""
        records = self._link.receive_now()
        if records is not None:
            self._take(records)
        try:
            return self._tls.read(CHUNK)
        except ssl.SSLWantReadError:
            return None
        except ssl.SSLEOFError:
            return b""

    def fileno(self) -> int:
        """The descriptor of the link below."""
        return self._link.fileno()

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


def _why(problem: OSError) -> str:
    """Say what went wrong in OpenSSL's own words, or in those of the system."""
    return visible(_PYTHONS_OWN.sub("", problem.strerror or str(problem)))
