"""`thrall check`: whether each server still offers exactly what was pinned."""

from typing import NamedTuple

from thrall_py.catalog import drift, entry
from thrall_py.errors import RefusedError, ServerError
from thrall_py.protocol import tools
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs.conversation import Terms, conversation, prepare
from thrall_py.visible import Quoter


class Checked(NamedTuple):
    """One server that was asked again."""

    differences: list[drift.Difference]
    notes: list[str]  # for a person; never drift
    quote: Quoter


def server(pinned: entry.Entry, terms: Terms, interrupts: Interrupts) -> Checked:
    """Ask one server again, twice: a list that changes within a session is no list.

    Raises:
        ThrallError: it could not be asked; that is never "unchanged".

    """
    start = prepare(pinned.recipe, {}, expand=True)
    try:
        with conversation(start, terms, interrupts, pinned.server.revision) as session:
            listings = [tools.list_all(session, terms.timeout, terms.max_message) for _ in range(2)]
            now = session.server
    except RefusedError as problem:  # nothing the caller asked wrongly: it could not be checked
        raise ServerError(str(problem)) from None
    offers = [entry.offer(listed, start.quote) for listed in listings]
    found = [drift.of_server(pinned, now.instructions, offer) for offer in offers]
    notes = list(offers[0].oddities)
    if now.version != pinned.server.version:
        versions = (start.quote(version, 40) for version in (now.version, pinned.server.version))
        notes.append("the server's version is {}, was {} when pinned".format(*versions))
    return Checked(found[0] or found[1], notes, start.quote)
