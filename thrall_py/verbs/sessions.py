"""Opens a session with a server, for as long as a verb needs it."""

import contextlib
import time
from collections.abc import Iterator

from thrall_py.protocol.channel import Channel
from thrall_py.protocol.handshake import Handshake
from thrall_py.protocol.opening import Opening
from thrall_py.protocol.session import Session
from thrall_py.protocol.watcher import NOBODY, Watcher
from thrall_py.transport.endpoint import Endpoint
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs.connect import ConnectionOptions, PreparedServer


@contextlib.contextmanager
def open_session(
    server: PreparedServer,
    connection: ConnectionOptions,
    interrupts: Interrupts,
    remembered: str | None = None,
) -> Iterator[Session]:
    """Open a session; on every way out the server and all that it started is ended.

    Args:
        server: the server.
        connection: deadlines and limits, and the protocol revision unless it is to be found out.
        interrupts: the signals that stop it all.
        remembered: the revision that worked when the server was pinned.

    Raises:
        ThrallError: whatever keeps the server from starting or from opening.

    """
    if server.started:
        watcher = server.started.watcher
    else:
        watcher = connection.audience.follow(connection.subject, server.redact)
    handshake = begin(server, connection, interrupts, watcher)
    try:
        if connection.revision:
            handshake.open_with(connection.revision)
        elif remembered:
            handshake.reopen(remembered)
        else:
            handshake.negotiate()
        watcher.agreed(handshake.session.server)
        handshake.session.watcher = watcher
        yield handshake.session
    finally:
        handshake.session.end()


def begin(
    server: PreparedServer,
    connection: ConnectionOptions,
    interrupts: Interrupts,
    watcher: Watcher = NOBODY,
) -> Opening:
    """Start or make contact with a server; whoever calls ends the session of what is returned."""
    command, redact, started = server
    grace, limit = connection.grace, connection.max_message
    if isinstance(command, Endpoint):
        from thrall_py.transport.http.contact import Contact
        from thrall_py.verbs import reach

        return reach.begin(
            lambda: Contact(command, interrupts, redact, watcher, grace=grace, limit=limit),
            redact,
            lambda channel: _watched(channel, watcher),
            connection.start_timeout,
            connection.user,
        )

    from thrall_py.transport.process import Process

    ahead = [started.channel] if started else []

    def start() -> Session:
        if ahead:
            process = ahead.pop()
        else:
            process = Process(command, interrupts, grace=grace, limit=limit, watcher=watcher)
        watched = _watched(process, watcher)
        return Session(watched, time.monotonic, redact, connection.user)

    return Handshake(start, connection.start_timeout)


def _watched(channel: Channel, watcher: Watcher) -> Channel:
    if watcher is NOBODY:
        return channel
    from thrall_py.protocol.watched import WatchedChannel

    return WatchedChannel(channel, watcher)
