"""`thrall call`: one tools/call."""

from collections.abc import Callable
from typing import NamedTuple

from thrall_py.errors import DriftError
from thrall_py.output import render
from thrall_py.protocol import tools
from thrall_py.protocol.session import Session
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs.conversation import Start, Terms, conversation, prepare


class Call(NamedTuple):
    """What is called: a tool by its name, with the JSON text of its arguments."""

    tool: str
    arguments: str


Deliver = Callable[[render.Rendered], None]


def on_server(
    call: Call, start: Start, terms: Terms, interrupts: Interrupts, deliver: Deliver
) -> None:
    """Call a tool of a server.

    Args:
        call: what is called.
        start: the server.
        terms: how it is spoken to.
        interrupts: the signals that stop it.
        deliver: gets the answer as soon as it is complete, before the teardown.

    Raises:
        ThrallError: there is no answer, or none that can be used.

    """
    with conversation(start, terms, interrupts) as session:
        _answer(session, call, terms, deliver)


def on_catalog(
    call: Call, path: str, terms: Terms, interrupts: Interrupts, deliver: Deliver
) -> None:
    """Call a pinned tool, if its server still defines it as it was pinned.

    The server is asked in the same session, so it cannot show one definition and serve another.

    Raises:
        CatalogError: it cannot be used, or does not have the tool.
        DriftError: the definition is not the pinned one; nothing was called.
        ThrallError: as `on_server`.

    """
    from thrall_py.catalog import drift, entry, file, report

    owner = file.owner(file.read(path), call.tool)
    start = prepare(owner.recipe, {}, expand=True)
    with conversation(start, terms, interrupts, owner.server.revision) as session:
        listed = tools.list_all(session, terms.timeout, terms.max_message)
        live = entry.offer(listed, start.quote).tools.get(call.tool)
        differences = drift.of_tool(call.tool, owner.tools[call.tool], live)
        if differences:
            changes = report.brief(differences, start.quote)
            raise DriftError(f"not as pinned, so nothing was called: {changes}; review, re-pin")
        _answer(session, call, terms, deliver)


def _answer(session: Session, call: Call, terms: Terms, deliver: Deliver) -> None:
    deliver(render.result(tools.call(session, call.tool, call.arguments, terms.timeout)))
