"""Requests to one origin: configured headers, proxies, redirects, and a connection that is kept."""

import os

from thrall_py import __version__
from thrall_py.protocol.channel import Unanswered
from thrall_py.protocol.watcher import NOBODY, Watcher
from thrall_py.redact import Redactor
from thrall_py.transport.endpoint import Endpoint
from thrall_py.transport.http import heads
from thrall_py.transport.http.connection import Connection, Head, Request
from thrall_py.transport.http.proxy import proxy_for
from thrall_py.transport.http.reply import Reply
from thrall_py.transport.http.route import Route
from thrall_py.transport.http.url import parse, resolve
from thrall_py.transport.http.waiting import Waiting

_MOST_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
_SAME_REQUEST = (307, 308)  # those that keep the method and the body (RFC 9110, 15.4)


class Origin:
    """The origin of an endpoint's URL; no request goes anywhere else.

    Args:
        endpoint: the URL, and the headers that every request carries.
        waiting: how to wait.
        redact: makes the server's words fit to be repeated.
        watcher: is told of every connection and every byte.

    Raises:
        InputError: the URL, or that of a proxy, is none.

    """

    def __init__(
        self, endpoint: Endpoint, waiting: Waiting, redact: Redactor, watcher: Watcher = NOBODY
    ) -> None:
        self.url = parse(endpoint.url)
        self._redact = redact
        self._watcher = watcher
        self._secret_headers = heads.secret_names(endpoint.headers)
        self._route = Route(self.url, proxy_for(self.url, os.environ), waiting, watcher)
        self._headers = self._standing_headers(endpoint)
        self._idle: Connection | None = None
        self._moved: dict[str, str] = {}  # targets that were redirected

    def request(
        self,
        request: Request,
        deadline: float,
        *,
        runs: bool = False,
        redirects: int = _MOST_REDIRECTS,
    ) -> Reply:
        """Send a request and wait for the head of its reply, redirects followed.

        Args:
            request: as the transport makes it.
            deadline: on the monotonic clock, in seconds.
            runs: whether it runs something. Then it gets a connection of its own: on one that was
                used before, its loss could not be told from a server that had closed it meanwhile,
                and only what runs nothing may be sent again.
            redirects: how many are followed, at most.

        Raises:
            ServerError: the server is not reached.
            Unanswered: it sends us where no header may go.
            Unanswered, ReceiveTimeout, Interrupted: as `Connection` says.

        """
        status = 0
        for _ in range(redirects):
            connection = None if runs else self._take_idle()
            reply = self._exchange(connection, self._moved_on(request), deadline)
            if not self._follow(reply, request):
                return reply
            status = reply.status
        raise Unanswered(f"redirects without end ({_MOST_REDIRECTS} times)", status)

    def start(self, request: Request, deadline: float) -> Connection:
        """Send a request on a connection of its own, on which the head of its reply will come.

        Raises:
            ServerError: the server is not reached.
            ReceiveTimeout, Interrupted: as `Connection` says.

        """
        connection = self._connected(deadline)
        try:
            connection.begin(self._dressed(self._moved_on(request)), deadline)
        except BaseException:
            connection.close()
            raise
        return connection

    def heard(self, connection: Connection, head: Head) -> Reply:
        """Take a head for the beginning of a reply, and tell who follows the bytes."""
        lines = None
        if self._watcher.wants_bytes:
            self._watcher.from_server(heads.reply(head, self._secret_headers), "")
            lines = heads.Lines(self._watcher)
        try:
            return Reply(connection, head, lines)
        except Unanswered:
            connection.close()
            raise

    def finish(self, reply: Reply, request: Request, deadline: float) -> Reply:
        """Take the reply to a request that was started; redirects are followed as by `request`."""
        if self._follow(reply, request):
            return self.request(request, deadline, runs=True, redirects=_MOST_REDIRECTS - 1)
        return reply

    def release(self, reply: Reply) -> None:
        """Have done with a reply; its connection is kept if that costs no waiting."""
        reply.leave()
        connection = reply.connection
        if self._idle is None and connection.make_ready():
            self._idle = connection
        else:
            connection.close()

    def close(self) -> None:
        """Close what is kept."""
        if self._idle:
            self._idle.close()
            self._idle = None

    def _exchange(self, idle: Connection | None, request: Request, deadline: float) -> Reply:
        if idle:
            try:
                return self._exchange_on(idle, request, deadline)
            except Unanswered:
                if not idle.is_stale:
                    raise
        return self._exchange_on(self._connected(deadline), request, deadline)

    def _connected(self, deadline: float) -> Connection:
        connection = Connection(self._route.connect(deadline))
        self._watcher.connected(self.url.origin)
        return connection

    def _exchange_on(self, connection: Connection, request: Request, deadline: float) -> Reply:
        try:
            return self.heard(connection, connection.exchange(self._dressed(request), deadline))
        except BaseException:
            connection.close()
            raise

    def _take_idle(self) -> Connection | None:
        connection, self._idle = self._idle, None
        if connection and not connection.is_open():
            connection.close()
            return None
        return connection

    def _standing_headers(self, endpoint: Endpoint) -> list[tuple[str, str | bytes]]:
        given = {name.lower() for name in endpoint.headers}
        headers: list[tuple[str, str | bytes]] = [("Host", self.url.authority)]
        if "user-agent" not in given:
            headers.append(("User-Agent", f"thrall/{__version__}"))
        # Compression would gain little and lose time: some servers hold back events to fill blocks.
        headers.append(("Accept-Encoding", "identity"))
        if self.url.credentials and "authorization" not in given:
            headers.append(("Authorization", self.url.credentials))
        headers += [(name, value.encode()) for name, value in endpoint.headers.items()]
        proxy = self._route.forwarded_by
        if proxy and proxy.credentials:
            headers.append(("Proxy-Authorization", proxy.credentials))
        return headers

    def _dressed(self, request: Request) -> Request:
        """Add what every request to the origin has, and tell who follows the bytes."""
        method, target, own, body = request
        headers = [*self._headers, *own]
        if method == "POST":
            headers.append(("Content-Length", str(len(body))))
        prefix = self.url.origin if self._route.forwarded_by else ""
        dressed = Request(method, prefix + target, headers, body)
        if self._watcher.wants_bytes:
            self._watcher.to_server(heads.request(dressed, self._secret_headers) + body)
        return dressed

    def _moved_on(self, request: Request) -> Request:
        return request._replace(target=self._moved.get(request.target, request.target))

    def _follow(self, reply: Reply, request: Request) -> bool:
        """Whether a reply sends us elsewhere; where to is then remembered."""
        if reply.status not in _REDIRECTS:
            return False
        self.release(reply)
        self._moved[request.target] = self._redirected(reply, self._moved_on(request).target)
        return True

    def _redirected(self, reply: Reply, target: str) -> str:
        """Find where a redirect leads, if it may be followed."""
        location = reply.header("location")
        to = resolve(self.url._replace(target=target), location)
        same_origin = to is not None and to.origin == self.url.origin
        if to and location and same_origin and reply.status in _SAME_REQUEST:
            return to.target
        shown = self._redact.plain(to.shown) if to and location else "nowhere"
        raise Unanswered(
            f"redirects (status {reply.status}) to {shown}, which is not followed"
            " (if that is right, give it as the URL),",
            reply.status,
        )
