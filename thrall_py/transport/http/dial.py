"""Makes a connection to a server: name, address, proxy, TLS."""

import contextlib
import errno
import os
import socket
import ssl
import time
from collections.abc import Iterator

from thrall_py.errors import ServerError
from thrall_py.protocol.channel import ReceiveTimeout, Unanswered
from thrall_py.transport.http.connection import Connection, Request
from thrall_py.transport.http.link import Link, TcpLink, TlsLink
from thrall_py.transport.http.url import Url
from thrall_py.transport.http.waiting import WRITABLE, Waiting
from thrall_py.visible import visible

_ATTEMPT = 5.0  # seconds for one address of a host, while it has others
_FORBIDDEN_BY_PROXY = (401, 403, 407)


def dial(url: Url, proxy: Url | None, waiting: Waiting, deadline: float) -> Link:
    """Connect to the server of a URL, through a proxy if there is one.

    Raises:
        ServerError: it cannot be reached, or is not who it should be; nothing was sent.
        ReceiveTimeout, Interrupted: as `waiting` says.

    """
    with contextlib.ExitStack() as unless_made:
        link = _connect(proxy or url, waiting, deadline)
        unless_made.callback(link.close)
        if proxy and proxy.scheme == "https":
            link = _secured(link, proxy, deadline)
        if url.scheme == "https":
            if proxy:
                _open_tunnel(link, url, proxy, deadline)
            link = _secured(link, url, deadline)
        unless_made.pop_all()
    return link


def _connect(url: Url, waiting: Waiting, deadline: float) -> Link:
    """Try the addresses of a host one after the other."""
    why = ""
    addresses = list(_addresses(url))
    for place, (family, address) in enumerate(addresses, 1):
        own = deadline if place == len(addresses) else min(deadline, time.monotonic() + _ATTEMPT)
        try:
            return TcpLink(_connected(family, address, waiting, own), waiting)
        except OSError as problem:
            why = problem.strerror or str(problem)
        except ReceiveTimeout:
            if own == deadline:
                raise
            why = os.strerror(errno.ETIMEDOUT)
    raise ServerError(f"cannot connect to {visible(url.origin)}: {why}")


def _addresses(url: Url) -> Iterator[tuple[int, tuple[str, int]]]:
    """Look up a host. The one wait that neither a deadline nor a signal ends: the C library's."""
    try:
        found = socket.getaddrinfo(url.host, url.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as problem:  # a label that is too long is no name for a codec
        why = getattr(problem, "strerror", None) or "no such name"
        raise ServerError(f"cannot find {visible(url.host)}: {why}") from None
    for family, _, _, _, address in found:
        yield family, (str(address[0]), int(address[1]))


def _connected(
    family: int, address: tuple[str, int], waiting: Waiting, deadline: float
) -> socket.socket:
    with contextlib.ExitStack() as unless_connected:
        connecting = unless_connected.enter_context(socket.socket(family, socket.SOCK_STREAM))
        connecting.settimeout(0)
        status = connecting.connect_ex(address)
        if status == errno.EINPROGRESS:
            waiting.until(deadline, connecting.fileno(), WRITABLE)
            status = connecting.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if status:
            raise OSError(status, os.strerror(status))
        # A request goes out in pieces; waiting for company would cost 40 ms each.
        connecting.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        unless_connected.pop_all()
    return connecting


def _open_tunnel(link: Link, url: Url, proxy: Url, deadline: float) -> None:
    """Ask a proxy for a connection to the server (RFC 9110, 9.3.6)."""
    headers = [("Host", f"{url.host}:{url.port}")]
    if proxy.credentials:
        headers.append(("Proxy-Authorization", proxy.credentials))
    asked = Request("CONNECT", f"{url.host}:{url.port}", headers)
    try:
        reply = Connection(link).exchange(asked, deadline)
    except Unanswered as problem:
        raise ServerError(f"the proxy {visible(proxy.origin)} {problem.what}") from None
    if not reply.is_success:
        raise ServerError(
            f"the proxy {visible(proxy.origin)} answered with status {reply.status}"
            " when asked for a connection to the server"
        )


def _secured(link: Link, url: Url, deadline: float) -> Link:
    try:
        return TlsLink(link, url.host, deadline)
    except ssl.SSLCertVerificationError as problem:
        raise ServerError(
            f"the certificate of {visible(url.origin)} is not trusted:"
            f" {visible(problem.verify_message)} (SSL_CERT_FILE names other authorities)"
        ) from None
    except OSError as problem:
        why = visible(getattr(problem, "reason", None) or problem.strerror or str(problem))
        raise ServerError(f"no TLS with {visible(url.origin)}: {why}") from None
