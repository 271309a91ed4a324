"""`thrall check`: whether each server still offers exactly what was pinned."""

from typing import NamedTuple

from thrall_py.catalog import drift, entry
from thrall_py.errors import JsonRpcError, ServerError
from thrall_py.protocol import tools
from thrall_py.redact import Redactor
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs.connect import ConnectionOptions, open_session, prepare


class CheckResult(NamedTuple):
    """One server that was asked again."""

    differences: list[drift.Difference]
    notes: list[str]  # for a person; never drift
    redact: Redactor


def check_server(
    pinned: entry.Entry, connection: ConnectionOptions, interrupts: Interrupts
) -> CheckResult:
    """Ask one server again, twice: a list that changes within a session is no list.

    Raises:
        ThrallError: it could not be asked; that is never "unchanged".

    """
    server = prepare(pinned.launch, {}, fill_in=True)
    try:
        with open_session(server, connection, interrupts, pinned.server.revision) as session:
            listings = [
                tools.list_all(session, connection.timeout, connection.max_message)
                for _ in range(2)
            ]
            now = session.server
    except JsonRpcError as problem:  # nothing the caller asked wrongly: it could not be checked
        raise ServerError(str(problem)) from None
    live = [entry.read_tools(listed, server.redact) for listed in listings]
    found = [drift.compare_server(pinned, now.instructions, tools_now) for tools_now in live]
    notes = list(live[0].oddities)
    if now.version != pinned.server.version:
        versions = (
            server.redact.quoted(version, 40) for version in (now.version, pinned.server.version)
        )
        notes.append("the server's version is {}, was {} when pinned".format(*versions))
    return CheckResult(found[0] or found[1], notes, server.redact)
