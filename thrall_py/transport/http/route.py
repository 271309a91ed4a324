"""The way to an origin: its address, perhaps a proxy, TLS."""

import contextlib
import errno
import functools
import os
import socket
import time
from collections.abc import Callable

from thrall_py.errors import ServerError
from thrall_py.protocol.channel import ReceiveTimeout, Unanswered
from thrall_py.protocol.watcher import NOBODY, Watcher
from thrall_py.transport.http import heads
from thrall_py.transport.http.connection import Connection, Request
from thrall_py.transport.http.link import Link, TcpLink
from thrall_py.transport.http.url import Url
from thrall_py.transport.http.waiting import WRITABLE, Waiting
from thrall_py.visible import visible

_ATTEMPT = 5.0  # seconds for one address of a host, while it has others

_SECRET_HEADERS = heads.secret_names(())

_Address = tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]


class Route:
    """Makes connections to the server of a URL.

    Args:
        url: of the server.
        proxy: what stands before it, if anything.
        waiting: how to wait.
        watcher: is told of a tunnel, and of what is said to open it.

    """

    def __init__(
        self, url: Url, proxy: Url | None, waiting: Waiting, watcher: Watcher = NOBODY
    ) -> None:
        self._url = url
        self._proxy = proxy
        self._waiting = waiting
        self._watcher = watcher
        self._addresses: list[tuple[int, _Address]] = []  # looked up once

    @property
    def forwarded_by(self) -> Url | None:
        """The proxy that reads the requests, and is to be told the whole URL."""
        return self._proxy if self._url.scheme == "http" else None

    def connect(self, deadline: float) -> Link:
        """Make a connection.

        Raises:
            ServerError: the server cannot be reached, or is not who it should be.
            ReceiveTimeout, Interrupted: as `waiting` says; nothing of a request was sent.

        """
        with contextlib.ExitStack() as unless_made:
            try:
                link = self._reach(self._proxy or self._url, deadline)
                unless_made.callback(link.close)
                link = self._dressed(link, deadline)
            except ReceiveTimeout:
                raise ReceiveTimeout(b"", unsent=True) from None
            unless_made.pop_all()
        return link

    def _dressed(self, link: Link, deadline: float) -> Link:
        """Put on a bare connection what the schemes of proxy and server ask for."""
        if self._proxy and self._proxy.scheme == "https":
            link = self._secure(link, self._proxy, deadline)
        if self._url.scheme == "https":
            if self._proxy:
                self._open_tunnel(link, self._proxy, deadline)
            link = self._secure(link, self._url, deadline)
        return link

    def _reach(self, url: Url, deadline: float) -> Link:
        """Try the addresses of a host one after the other."""
        if not self._addresses:
            self._addresses = self._look_up(url)
        why: str | None = None
        for place, (family, address) in enumerate(self._addresses, 1):
            is_last = place == len(self._addresses)
            own = deadline if is_last else min(deadline, time.monotonic() + _ATTEMPT)
            try:
                return TcpLink(self._connected(family, address, own), self._waiting)
            except OSError as problem:
                why = problem.strerror
            except ReceiveTimeout:
                if own == deadline:
                    raise
                why = os.strerror(errno.ETIMEDOUT)
        raise ServerError(f"cannot connect to {self._shown(url)}: {why}")

    def _look_up(self, url: Url) -> list[tuple[int, _Address]]:
        """Find the addresses of a host: the one wait that ends when the C library likes."""
        try:
            found = socket.getaddrinfo(url.host, url.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as problem:  # a label that is too long fails as a codec does
            why = getattr(problem, "strerror", None) or "no such name"
            raise ServerError(f"cannot find {self._shown(url)}: {why}") from None
        return [(family, address) for family, _, _, _, address in found]

    def _shown(self, url: Url) -> str:
        return visible(f"the proxy {url.origin}" if url is self._proxy else url.origin)

    def _connected(self, family: int, address: _Address, deadline: float) -> socket.socket:
        with contextlib.ExitStack() as unless_connected:
            connecting = unless_connected.enter_context(socket.socket(family, socket.SOCK_STREAM))
            connecting.settimeout(0)
            status = connecting.connect_ex(address)
            if status == errno.EINPROGRESS:
                self._waiting.until(deadline, connecting.fileno(), WRITABLE)
                status = connecting.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if status:
                raise OSError(status, os.strerror(status))
            # A request goes out in pieces; waiting for company would cost 40 ms each.
            connecting.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            unless_connected.pop_all()
        return connecting

    def _open_tunnel(self, link: Link, proxy: Url, deadline: float) -> None:
        """Ask a proxy for a connection to the server (RFC 9110, 9.3.6)."""
        target = self._url.address
        headers = [("Host", target)]
        if proxy.credentials:
            headers.append(("Proxy-Authorization", proxy.credentials))
        request = Request("CONNECT", target, headers)
        self._watcher.connected(proxy.origin)
        if self._watcher.wants_bytes:
            self._watcher.to_server(heads.request(request, _SECRET_HEADERS))
        try:
            head = Connection(link).exchange(request, deadline)
        except Unanswered as problem:
            raise ServerError(f"the proxy {visible(proxy.origin)} {problem.what}") from None
        if self._watcher.wants_bytes:
            self._watcher.from_server(heads.reply(head, _SECRET_HEADERS), "")
        if not head.is_success:
            refusal = f"answered with status {head.status} when asked for {visible(target)}"
            raise ServerError(f"the proxy {visible(proxy.origin)} {refusal}")

    @functools.cached_property
    def _secure(self) -> Callable[[Link, Url, float], Link]:
        from thrall_py.transport.http.tls import Trust  # plain http does without

        return Trust().secure
