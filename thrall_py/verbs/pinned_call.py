"""`thrall call --catalog`: one tools/call of a pinned tool, if it is as pinned."""

from thrall_py.catalog import drift, report
from thrall_py.catalog.change import COSMETIC
from thrall_py.catalog.entry import Entry
from thrall_py.errors import DriftError
from thrall_py.output.render import Rendered
from thrall_py.protocol import mcp
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs.call import Call, OnResult, answer
from thrall_py.verbs.connect import ConnectionOptions, open_session, prepare
from thrall_py.verbs.survey import survey


def call_pinned(
    call: Call,
    pinned: Entry,
    connection: ConnectionOptions,
    interrupts: Interrupts,
    on_result: OnResult,
) -> Rendered:
    """Call a pinned tool, if its server still defines it as it was pinned.

    The server is asked in the same session, so it cannot show one definition and serve another.

    Args:
        call: what is called, by its name with the prefix.
        pinned: the server that offers it.
        connection: how it is spoken to.
        interrupts: the signals that stop it.
        on_result: gets the answer as soon as it is complete, before the teardown.

    Returns:
        The answer.

    Raises:
        DriftError: the definition is not the pinned one; nothing was called.
        ThrallError: there is no answer, or none that can be used.

    """
    name = call.tool.removeprefix(pinned.prefix)
    server = prepare(pinned.launch, {}, fill_in=True)
    with open_session(server, connection, interrupts, pinned.server.revision) as session:
        live = survey(session, (mcp.TOOLS.member,), connection, server.redact)
        now = live.items[mcp.TOOLS.member].get(name)
        drifted = [
            difference
            for difference in drift.compare_tool(name, pinned.tools[name], now)
            if difference.change.kind != COSMETIC
        ]
        if drifted:
            changes = report.summarize(drifted, server.redact)
            raise DriftError(f"not as pinned, so nothing was called: {changes}; review, re-pin")
        return answer(session, call._replace(tool=name), connection, on_result)
