"""What a server says of itself and offers, in one session."""

from collections.abc import Collection

from thrall_py.catalog import entry
from thrall_py.errors import JsonRpcError, ServerError
from thrall_py.protocol import mcp, tools
from thrall_py.protocol.jsontext import Value
from thrall_py.protocol.session import Session
from thrall_py.redact import Redactor
from thrall_py.verbs.connect import ConnectionOptions


def survey_tool(
    name: str, session: Session, connection: ConnectionOptions, redact: Redactor
) -> entry.PinnedItem | None:
    """Find one tool in the whole list, wherever and however often it stands there.

    Raises:
        ThrallError: the list cannot be had whole, or is of no use.

    """
    _refuse_no_tools(session)
    return entry.read_item(mcp.TOOLS, _listed(session, mcp.TOOLS, connection), name, redact)


def survey(
    session: Session, surface: Collection[str], connection: ConnectionOptions, redact: Redactor
) -> entry.Live:
    """List everything that belongs to the surface and that the server declares.

    A server on a URL may forget the session between two lists. It is renewed once, and then all
    of them are listed again: another session may have other tools.

    Raises:
        ThrallError: a list cannot be had whole, or the server offers no tools at all.

    """
    items: dict[str, entry.Items] = {}
    oddities: list[str] = []
    for kind in mcp.KINDS:
        if kind.member not in surface:
            continue
        if kind is mcp.TOOLS:
            _refuse_no_tools(session)
        elif kind.capability not in session.server.capabilities:
            continue
        renew = session.renew
        listed = _listed(session, kind, connection)
        if items and session.renew is not renew:
            return survey(session, surface, connection, redact)
        items[kind.member], odd = entry.read_items(kind, listed, redact)
        oddities += odd
        if kind is mcp.TOOLS:
            oddities += tools.left_out(session)
    return entry.Live(session.server, items, oddities)


def _refuse_no_tools(session: Session) -> None:
    if mcp.TOOLS.capability not in session.server.capabilities:
        raise ServerError("the server offers no tools: it declares no such capability")


def _listed(session: Session, kind: mcp.Kind, connection: ConnectionOptions) -> list[Value]:
    try:
        return tools.list_all(session, kind, connection.timeout, connection.max_message)
    except JsonRpcError as problem:
        # The capability covers resources and templates; many servers have the first alone.
        if kind is mcp.TEMPLATES and problem.code == mcp.METHOD_NOT_FOUND:
            return []
        raise
