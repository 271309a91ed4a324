"""`thrall call --catalog`: one tools/call of a pinned tool, if it is as pinned."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from thrall_py.catalog.entry import Entry, PinnedItem
from thrall_py.errors import DriftError
from thrall_py.output.render import Rendered
from thrall_py.protocol.user import declaring
from thrall_py.redact import Redactor
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs.call import Call, OnResult, answer
from thrall_py.verbs.connect import ConnectionOptions, PreparedServer
from thrall_py.verbs.sessions import open_session
from thrall_py.verbs.survey import survey_tool

if TYPE_CHECKING:  # what tells differences apart is loaded if there are any
    from thrall_py.catalog.drift import Difference

OnDrift = Callable[["list[Difference]", Redactor], str]


class Callbacks(NamedTuple):
    """Who is told before the server is ended.

    Attributes:
        on_result: gets the answer as soon as it is complete.
        on_drift: gets the differences before the refusal, and says in words what to do about them;
            None to call without a look at them.

    """

    on_result: OnResult
    on_drift: OnDrift | None


def call_pinned(  # noqa: PLR0913 - what is called, of whom, and who is told
    call: Call,
    pinned: Entry,
    server: PreparedServer | None,
    connection: ConnectionOptions,
    interrupts: Interrupts,
    *,
    callbacks: Callbacks,
) -> Rendered:
    """Call a pinned tool, if its server still defines it as it was pinned.

    The server is asked in the same session, so it cannot show one definition and serve another;
    if a new one begins meanwhile, it is asked again.

    Args:
        call: what is called, by its name with the prefix.
        pinned: the entry that offers it.
        server: the server of that entry, ready or started; None for a plain command.
        connection: how it is spoken to.
        interrupts: the signals that stop it.
        callbacks: what gets the answer, or the differences.

    Returns:
        The answer.

    Raises:
        DriftError: the definition is not the pinned one; nothing was called.
        ThrallError: there is no answer, or none that can be used.

    """
    if server is None:
        from thrall_py.verbs import execute

        return execute.call_command(call, pinned, connection, interrupts, callbacks.on_result)
    name = call.tool.removeprefix(pinned.prefix)
    connection = connection._replace(user=declaring(pinned.modes, connection.user))
    with open_session(server, connection, interrupts, pinned.server.revision) as session:

        def verify() -> None:
            if callbacks.on_drift is not None:
                now = survey_tool(name, session, connection, server.redact)
                _refuse_drift(name, pinned.tools[name], now, server.redact, callbacks.on_drift)

        verify()
        # A server that forgets the session, or its own definition, may be another one by now.
        wanted = call._replace(tool=name)
        return answer(session, wanted, connection, callbacks.on_result, before_again=verify)


def _refuse_drift(
    name: str, pinned: PinnedItem, now: PinnedItem | None, redact: Redactor, on_drift: OnDrift
) -> None:
    if now and now.digest == pinned.digest:
        return
    from thrall_py.catalog import drift, report
    from thrall_py.catalog.change import COSMETIC

    found = sorted(drift.compare_tool(name, pinned, now), key=drift.rank)
    drifted = [each for each in found if each.change.kind != COSMETIC]
    if drifted:
        advice = on_drift(drifted, redact)
        changes = report.summarize(drifted, redact)
        raise DriftError(f"not as pinned, so nothing was called: {changes}; {advice}")
