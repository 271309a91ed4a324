"""Starts or reaches a server and opens a session with it, for as long as a verb needs it."""

import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from thrall_py.catalog.launch import LaunchSpec, UrlSpec
from thrall_py.protocol.channel import Channel
from thrall_py.protocol.handshake import Handshake
from thrall_py.protocol.opening import Opening
from thrall_py.protocol.session import Session
from thrall_py.protocol.user import User
from thrall_py.protocol.watcher import NO_AUDIENCE, NOBODY, Audience, Watcher
from thrall_py.redact import Redactor, holds_secret
from thrall_py.transport.endpoint import Command, Endpoint
from thrall_py.transport.environment import expand, inherited_environment, variable_names
from thrall_py.transport.interrupts import Interrupts


class ConnectionOptions(NamedTuple):
    """How a server is spoken to: seconds, bytes of one message, and the one revision to speak.

    Attributes:
        user: answers what the server asks of its user; None if nobody does.
        audience: who follows the conversation, and
        subject: what it is about, as they name it: the server, or a tool.

    """

    timeout: float
    start_timeout: float
    grace: float
    max_message: int
    revision: str | None = None
    user: User | None = None
    audience: Audience = NO_AUDIENCE
    subject: str = ""


class PreparedServer(NamedTuple):
    """A server ready to be started or reached, and what must not be repeated of what it says."""

    command: Command | Endpoint
    redact: Redactor


def prepare(
    spec: LaunchSpec | UrlSpec, given: Mapping[str, str], *, fill_in: bool
) -> PreparedServer:
    """Fill in a launch specification, or an address, from our environment.

    Args:
        spec: how the server is started or reached.
        given: values by name from the command line, which go before those of our environment.
        fill_in: whether `${NAME}` in the words of a command is filled in; in an address always.

    Raises:
        InputError: a variable that it needs is not set, or a header cannot be sent.

    """
    values = {**os.environ, **given}
    known = [value for name, value in values.items() if holds_secret(name, value)]
    if isinstance(spec, UrlSpec):
        from thrall_py.verbs import reach

        endpoint, secrets = reach.fill_in(spec, values)
        return PreparedServer(endpoint, Redactor([*secrets, *known]))
    env = {name: expand(word, values) for name, word in spec.env.items()}
    argv, secrets = spec.command, [*env.values()]
    if fill_in:
        argv = tuple(expand(word, values) for word in spec.command)
        names = {name for word in spec.command for name in variable_names(word)}
        secrets += [values[name] for name in names if name in values]
    environment = inherited_environment(values, clean=spec.clean_env) | env
    command = Command(argv, environment, spec.cwd, spec.command[0])
    return PreparedServer(command, Redactor([*secrets, *known]))


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
    command, redact = server
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

    def start() -> Session:
        process = Process(command, interrupts, grace=grace, limit=limit, watcher=watcher)
        watched = _watched(process, watcher)
        return Session(watched, time.monotonic, redact, connection.user)

    return Handshake(start, connection.start_timeout)


def _watched(channel: Channel, watcher: Watcher) -> Channel:
    if watcher is NOBODY:
        return channel
    from thrall_py.protocol.watched import WatchedChannel

    return WatchedChannel(channel, watcher)
