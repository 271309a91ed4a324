"""Keeps a server for the gateway: opens the session, lends the pipes, and ends what was started."""

import contextlib

from thrall_py.errors import ThrallError
from thrall_py.transport.aside import Line, Task
from thrall_py.transport.interrupts import Interrupts
from thrall_py.transport.process import Process
from thrall_py.verbs.connect import ConnectionOptions, PreparedServer
from thrall_py.verbs.keeping import Elsewhere, Failed, Gone, Opened
from thrall_py.verbs.sessions import open_session


def guarding(server: PreparedServer, connection: ConnectionOptions, remembered: str | None) -> Task:
    """Make the task of a guard; arguments as for `open_session`."""
    declared = connection._replace(user=Elsewhere())

    def task(line: Line, interrupts: Interrupts) -> None:
        with contextlib.suppress(ConnectionError):  # the gateway is gone: nobody wants to know
            guard(server, declared, remembered, line, interrupts)

    return task


def guard(
    server: PreparedServer,
    connection: ConnectionOptions,
    remembered: str | None,
    line: Line,
    interrupts: Interrupts,
) -> None:
    """Keep a server until the gateway says a word, or is gone, or the server has failed.

    Raises:
        Interrupted: a signal asks to stop; the server has been ended.
        ConnectionError: the gateway is gone; the server has been ended.

    """
    try:
        with open_session(server, connection, interrupts, remembered) as session:
            process = session.channel
            assert isinstance(process, Process), "nobody follows it, and it is no URL"
            loan = process.lend()
            opened = Opened(session.server, loan.read, loan.unsent)
            line.tell(opened, (loan.input, loan.output))
            process.stand_by(line.fileno())
        line.tell(Gone(session.end()))
    except ThrallError as problem:
        line.tell(Failed(problem))
