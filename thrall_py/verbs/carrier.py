"""Posts requests of the gateway to a server on a URL, one at a time, in a session it may share."""

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

from thrall_py.errors import HttpStatusError, Interrupted, SessionLostError, ThrallError
from thrall_py.protocol import matching, mcp, wire
from thrall_py.protocol.channel import MessageTooLarge, Unanswered
from thrall_py.protocol.jsontext import JsonError
from thrall_py.protocol.session import Session
from thrall_py.transport.aside import Line, Task
from thrall_py.transport.http.streamable import Streamable
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs.connect import ConnectionOptions, PreparedServer
from thrall_py.verbs.keeping import Came, Elsewhere, Failed, Leave, Opened, Post
from thrall_py.verbs.sessions import begin, open_session

_NEVER = float("inf")  # the deadlines are the gateway's, which ends the carrier when one passes


class Ticket(NamedTuple):
    """What a carrier joins a session with that another one has opened."""

    server: mcp.ServerInfo
    session: bytes


class Journey(NamedTuple):
    """How a carrier comes into a session.

    Attributes:
        remembered: the revision that worked before; None to find it out.
        ticket: for the session that is joined; None to open one.
        alone: it is for one call, and nobody may join it.

    """

    remembered: str | None = None
    ticket: Ticket | None = None
    alone: bool = False


def carrying(server: PreparedServer, connection: ConnectionOptions, journey: Journey) -> Task:
    """Make the task of a carrier for a server on a URL."""
    declared = connection._replace(user=Elsewhere())

    def task(line: Line, interrupts: Interrupts) -> None:
        with contextlib.suppress(ConnectionError):  # the gateway is gone: nobody wants to know
            try:
                with _session(server, declared, interrupts, journey) as session:
                    Carrier(session, line, alone=journey.alone).run()
            except ThrallError as problem:
                line.tell(Failed(problem))

    return task


class Carrier:
    """Carries messages both ways in an open session.

    Args:
        session: the session; of its own requests none is sent any more.
        line: the way to the gateway.
        alone: whether nobody may join the session.

    """

    def __init__(self, session: Session, line: Line, *, alone: bool) -> None:
        self._session = session
        self._channel = session.channel
        self._line = line
        self._shared: Streamable | None = None
        if isinstance(self._channel, Streamable) and not alone:
            self._shared = self._channel
            self._channel.is_shared = True

    def run(self) -> None:
        """Do what the gateway says, until it has no more to say or a request has no answer.

        A session that others may be in is left as it is, unless the gateway says that it is over.

        Raises:
            Interrupted: a signal asks to stop. The server is told, if it was asked something.
            ConnectionError: the gateway is gone.

        """
        ticket = self._shared.session_id if self._shared else None
        self._line.tell(Opened(self._session.server, session=ticket))
        try:
            while isinstance(order := self._line.hear(), Post):
                if order.label.is_request:
                    self._request(order)
        except ThrallError as problem:
            self._line.tell(Failed(problem))
            return
        if self._shared and isinstance(order, Leave):
            self._shared.is_shared = False

    def _request(self, order: Post) -> None:
        self._session.stage = order.label.method
        self._channel.send(order.message, order.label)
        try:
            while not self._pass_on(bytes(self._channel.receive(_NEVER)), order):
                pass
        except Unanswered as problem:
            kind = SessionLostError if problem.session_lost else HttpStatusError
            raise kind(str(self._session.failed(problem.what)), problem.status) from None
        except MessageTooLarge as problem:
            raise self._session.failed(problem.what) from None
        except Interrupted:
            self._cancel(order.id)
            raise
        self._channel.settle()

    def _pass_on(self, line: bytes, order: Post) -> bool:
        """Hand on what came, and post what the gateway replies to it; whether the answer was there.

        While it is waited for a reply the server is not read: the user may be asked.
        """
        requests: dict[int | str, str] = {order.id: order.label.method}
        try:
            messages = wire.read(line)
        except JsonError:  # what to make of it is for the gateway to say
            messages = []
        is_last = any(matching.answered_by(each, requests) is not None for each in messages)
        self._line.tell(Came(line, is_last))
        if not self._session.server.is_modern:
            for _ in [each for each in messages if matching.asks(each, requests)]:
                reply = self._line.hear()
                if not isinstance(reply, Post):
                    raise ConnectionError("the gateway is gone")
                self._channel.send(reply.message, reply.label)
        return is_last

    def _cancel(self, id_: int) -> None:
        """Tell a legacy server to stop working; to a modern one, closing the reply tells it."""
        revision = self._session.server.revision
        self._session.notify(mcp.CANCELLED, mcp.cancel_params(revision, id_, "cancelled"))


@contextlib.contextmanager
def _session(
    server: PreparedServer,
    connection: ConnectionOptions,
    interrupts: Interrupts,
    journey: Journey,
) -> Iterator[Session]:
    ticket = journey.ticket
    if ticket is None:
        with open_session(server, connection, interrupts, journey.remembered) as session:
            yield session
        return
    session = begin(server, connection, interrupts).session
    try:
        assert isinstance(session.channel, Streamable), "so it begins with a server on a URL"
        session.channel.join(ticket.session, ticket.server.revision)
        session.complete_handshake(ticket.server)
        yield session
    finally:
        session.end()
