"""`thrall call`: one tools/call."""

from collections.abc import Callable
from typing import NamedTuple

from thrall_py.errors import DriftError
from thrall_py.output import render
from thrall_py.protocol import tools
from thrall_py.protocol.session import Session
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs.connect import ConnectionOptions, PreparedServer, open_session, prepare


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
        return _answer(session, call, connection, on_result)


def call_pinned(
    call: Call,
    path: str,
    connection: ConnectionOptions,
    interrupts: Interrupts,
    on_result: OnResult,
) -> render.Rendered:
    """Call a pinned tool, if its server still defines it as it was pinned.

    The server is asked in the same session, so it cannot show one definition and serve another.
    Arguments and the return value are those of `call_server`; `path` is that of the catalog.

    Raises:
        CatalogError: it cannot be used, or does not have the tool.
        DriftError: the definition is not the pinned one; nothing was called.
        ThrallError: as `call_server`.

    """
    from thrall_py.catalog import drift, entry, file, report

    owner = file.entry_offering(file.read(path), call.tool)
    server = prepare(owner.launch, {}, fill_in=True)
    with open_session(server, connection, interrupts, owner.server.revision) as session:
        listed = tools.list_all(session, connection.timeout, connection.max_message)
        live = entry.read_tools(listed, server.redact).tools.get(call.tool)
        differences = drift.compare_tool(call.tool, owner.tools[call.tool], live)
        if differences:
            changes = report.summarize(differences, server.redact)
            raise DriftError(f"not as pinned, so nothing was called: {changes}; review, re-pin")
        return _answer(session, call, connection, on_result)


def _answer(
    session: Session, call: Call, connection: ConnectionOptions, on_result: OnResult
) -> render.Rendered:
    result = tools.call(session, call.tool, call.arguments, connection.timeout)
    rendered = render.read_result(result)
    on_result(rendered)
    return rendered
