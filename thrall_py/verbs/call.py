"""`thrall call`: one tools/call. It loads nothing of the catalog."""

from collections.abc import Callable
from typing import NamedTuple

from thrall_py.output import render
from thrall_py.protocol import tools
from thrall_py.protocol.session import Session
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs.connect import ConnectionOptions, PreparedServer
from thrall_py.verbs.sessions import open_session


class Call(NamedTuple):
    """What is called: a tool by its name, with the JSON text of its arguments."""

    tool: str
    arguments: str


OnResult = Callable[[render.Rendered], None]


def call_server(
    call: Call,
    server: PreparedServer,
    connection: ConnectionOptions,
    interrupts: Interrupts,
    on_result: OnResult,
) -> render.Rendered:
    """Call a tool of a server.

    Args:
        call: what is called.
        server: the server.
        connection: how it is spoken to.
        interrupts: the signals that stop it.
        on_result: gets the answer as soon as it is complete, before the teardown.

    Returns:
        The answer.

    Raises:
        ThrallError: there is no answer, or none that can be used.

    """
    with open_session(server, connection, interrupts) as session:
        return answer(session, call, connection, on_result)


def answer(
    session: Session,
    call: Call,
    connection: ConnectionOptions,
    on_result: OnResult,
    before_again: Callable[[], None] | None = None,
) -> render.Rendered:
    """Call a tool in an open session; `on_result` gets the answer, the rest is as `tools.call`."""
    result = tools.call(
        session,
        call.tool,
        call.arguments,
        connection.timeout,
        connection.max_message,
        before_again=before_again,
    )
    rendered = render.read_result(result)
    on_result(rendered)
    return rendered
