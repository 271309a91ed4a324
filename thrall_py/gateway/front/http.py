"""Serves the application with uvicorn, until a signal comes."""

import asyncio
import contextlib
import functools
import logging
from collections.abc import Awaitable, Callable, Iterator

import uvicorn

from thrall_py.gateway.front import address, connections, gate
from thrall_py.gateway.front.address import Door, Listening
from thrall_py.gateway.front.asgi import PATH, Application, Bounds
from thrall_py.gateway.front.posts import MOST_UNREAD, Posts
from thrall_py.gateway.front.stopping import signalled
from thrall_py.gateway.service import Service

_HEAD = 1 << 16  # bytes that the head of a request may have
_IDLE = 60  # seconds that a connection is kept between two requests
_FAREWELL = 1  # seconds for replies to end when the gateway does


def listen(door: Door) -> Callable[[Service], Awaitable[int]]:
    """Take an address now, to serve on it later.

    Raises:
        InputError: the address cannot be had.
        UsageError: it is none, or everybody could call the tools.

    """
    gate.check(door.hosts, door.origins)
    connections.make_room()
    wanted = address.parse(door.address)
    listening = address.bind(wanted, has_token=bool(door.token))
    port = address.of(listening[0]).port
    rules = gate.rules(wanted.host, port, door.token, door.hosts, door.origins)
    bounds = Bounds(rules, door.max_message)
    return functools.partial(serve, listening=listening, bounds=bounds)


async def serve(service: Service, listening: Listening, bounds: Bounds) -> int:
    """Serve until a signal comes: what runs is cancelled then, and replies end.

    Args:
        service: who answers; its log is told the address first.
        listening: from `address.bind`; they are closed at the end.
        bounds: for what comes in.

    Returns:
        The signal.

    """
    posts = Posts(service.offer, service.handle, max(MOST_UNREAD, 2 * bounds.max_message))
    server = _Server(_config(Application(posts, service.states, bounds)))
    with signalled() as signum:
        service.log.tell("listening", url=f"http://{address.of(listening[0]).netloc}{PATH}")
        serving = asyncio.create_task(server.serve(listening))
        await asyncio.wait((signum, serving), return_when=asyncio.FIRST_COMPLETED)
        server.should_exit = True
        await posts.close()
        await serving
        server.abort()
        return signum.result()


class _Server(uvicorn.Server):
    """uvicorn, which leaves the signals to us."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:  # type: ignore[explicit-override]
        """Capture none."""
        yield

    def abort(self) -> None:
        """Cut the connections that outlived the farewell."""
        for connection in list(self.server_state.connections):
            connection.transport.abort()


def _config(application: Application) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        http=connections.Connection,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        log_level=logging.ERROR,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=_IDLE,
        timeout_graceful_shutdown=_FAREWELL,
        h11_max_incomplete_event_size=_HEAD,
        # So many are accepted before one is looked at: with those that there may be, and with what
        # the servers need, they must not be more than there are descriptors.
        backlog=connections.Connection.most // 2,
    )
