"""How a server is spoken to, and a server made ready: all that is loaded before one is started."""

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from thrall_py.catalog.launch import LaunchSpec, UrlSpec
from thrall_py.protocol.channel import Channel
from thrall_py.protocol.watcher import NO_AUDIENCE, Audience, Watcher
from thrall_py.redact import Redactor, holds_secret
from thrall_py.transport.endpoint import Command, Endpoint
from thrall_py.transport.environment import expand, inherited_environment, variable_names
from thrall_py.transport.interrupts import Interrupts

if TYPE_CHECKING:  # with it comes all of the protocol, and a plain call has no user
    from thrall_py.protocol.user import User


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
    user: "User | None" = None
    audience: Audience = NO_AUDIENCE
    subject: str = ""


class Started(NamedTuple):
    """A process that was started ahead of its session, and who follows it from there on."""

    channel: Channel
    watcher: Watcher


class PreparedServer(NamedTuple):
    """A server ready to be started or reached, and what must not be repeated of what it says."""

    command: Command | Endpoint
    redact: Redactor
    started: Started | None = None


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
def started(
    server: PreparedServer, connection: ConnectionOptions, interrupts: Interrupts
) -> Iterator[PreparedServer]:
    """Start a server ahead of its session; on every way out it and all that it started is ended.

    So it starts while the rest of thrall is loaded: what speaks to it, and reads its answer. One on
    a URL is reached when its session opens.

    Raises:
        ThrallError: it cannot be started.

    """
    if isinstance(server.command, Endpoint):
        yield server
        return
    from thrall_py.transport.process import Process

    watcher = connection.audience.follow(connection.subject, server.redact)
    process = Process(
        server.command,
        interrupts,
        grace=connection.grace,
        limit=connection.max_message,
        watcher=watcher,
    )
    with contextlib.closing(process):
        yield server._replace(started=Started(process, watcher))
