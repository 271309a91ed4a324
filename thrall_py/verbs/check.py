"""`thrall check`: whether each server still offers exactly what was pinned."""

import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from thrall_py.catalog import drift, entry
from thrall_py.catalog.launch import ExecSpec
from thrall_py.catalog.report import Report
from thrall_py.errors import JsonRpcError, ServerError, ThrallError
from thrall_py.protocol import mcp
from thrall_py.protocol.user import declaring
from thrall_py.redact import Redactor
from thrall_py.transport import workers
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs.connect import ConnectionOptions, prepare
from thrall_py.verbs.sessions import open_session
from thrall_py.verbs.survey import survey

_VERSION = 40  # characters


class Target(NamedTuple):
    """A server to be checked: the catalog's path, its name there, its entry, and what may pass."""

    catalog: str
    name: str
    entry: entry.Entry
    allowed: frozenset[str]


def check_server(target: Target, connection: ConnectionOptions, interrupts: Interrupts) -> Report:
    """Ask one server again, twice: a list that changes within a session is no list.

    Args:
        target: the server.
        connection: how it is spoken to.
        interrupts: the signals that stop it.

    Raises:
        ThrallError: it could not be asked; that is never "unchanged".

    """
    pinned = target.entry
    if isinstance(pinned.launch, ExecSpec):
        return _check_command(target, pinned.launch)
    server = prepare(pinned.launch, {}, fill_in=True)
    connection = connection._replace(user=declaring(pinned.modes, connection.user))
    try:
        with open_session(server, connection, interrupts, pinned.server.revision) as session:
            if session.find_out:  # what it says of itself is compared, not only remembered
                session.find_out()
            first, second = (
                survey(session, pinned.surface, connection, server.redact) for _ in range(2)
            )
    except JsonRpcError as problem:  # nothing the caller asked wrongly: it could not be checked
        raise ServerError(str(problem)) from None
    notes = list(first.oddities)
    version = first.server.version
    if version != pinned.server.version:
        shown = (server.redact.quoted(each, _VERSION) for each in (version, pinned.server.version))
        notes.append("the server's version is {}, was {} when pinned".format(*shown))
    tools = pinned.tools | first.items.get(mcp.TOOLS.member, {})
    found = drift.compare_server(pinned, first)
    has_two_faces = second != first
    if has_two_faces:
        places = {(each.tool, each.change.path) for each in found}
        later = drift.compare_server(pinned, second)
        found += [each for each in later if (each.tool, each.change.path) not in places]
    report = Report(
        target.catalog,
        target.name,
        tuple(name for name in tools if pinned.choice.takes(name)),
        sorted(found, key=drift.rank),
        target.allowed,
        notes,
        redact=server.redact,
    )
    if has_two_faces and not report.has_drifted:
        _refuse_two_faces(pinned, first, second, server.redact)
    return report


def _check_command(target: Target, command: ExecSpec) -> Report:
    """Look for a plain command: nobody can be asked for its tools, which are what was pinned."""
    from thrall_py.verbs import execute

    redact = execute.look_for(command)
    return Report(
        target.catalog,
        target.name,
        tuple(target.entry.tools),
        allowed=target.allowed,
        redact=redact,
    )


def _refuse_two_faces(
    pinned: entry.Entry, first: entry.Live, second: entry.Live, redact: Redactor
) -> None:
    """Refuse a server that offers one thing now and another a moment later: nobody can pin that."""
    for member, items in first.items.items():
        others = second.items[member]
        for name in sorted(items.keys() | others.keys()):
            one, other = items.get(name), others.get(name)
            if member == mcp.TOOLS.member and not pinned.choice.takes(name):
                continue
            if not one or not other or one.digest != other.digest:
                shown = redact.quoted(name)
                raise ServerError(f"the server lists {shown} differently each time it is asked")


def check_all(
    targets: Sequence[Target], connection: ConnectionOptions, jobs: int, interrupts: Interrupts
) -> Iterator[Report]:
    """Check servers side by side; a report for each, in their order, whatever became of them.

    Args:
        targets: the servers.
        connection: how they are spoken to.
        jobs: how many at a time.
        interrupts: the signals that stop it.

    """

    def task(target: Target, own: Interrupts) -> Report:
        try:
            return check_server(target, connection._replace(subject=target.name), own)
        except ThrallError as problem:
            return Report(
                target.catalog,
                target.name,
                allowed=target.allowed,
                failure=str(problem),
                status=problem.exit_status,
            )

    def asking(places: Sequence[int]) -> None:
        connection.audience.asking([targets[place].name for place in places])

    tasks = [functools.partial(task, target) for target in targets]
    for report in workers.run_all(tasks, jobs, interrupts, asking):
        asking(())
        yield report
