"""What a session is for: list what a server offers, call one of its tools once."""

import json
from collections.abc import Callable, Mapping

from thrall_py.errors import (
    HttpStatusError,
    InputNeededError,
    JsonRpcError,
    ServerError,
    SessionLostError,
)
from thrall_py.protocol import mcp, wire
from thrall_py.protocol.channel import NO_HEADERS, ChannelClosed, ReceiveTimeout
from thrall_py.protocol.jsontext import JsonError, Value, decode
from thrall_py.protocol.paging import Pages, Unlistable
from thrall_py.protocol.session import Session
from thrall_py.protocol.user import Unaskable

_MOST_ROUNDS = 10  # calls that end in `input_required`
_ROUND_PAUSE = 0.1  # seconds between two calls if nothing was asked: the server works meanwhile
_WHOLE = (None, "complete")  # what the type of a whole result may be
_SHOWN = 40  # characters of a name


def list_all(session: Session, kind: mcp.Kind, seconds: float, limit: int) -> list[Value]:
    """List everything of a kind, all pages or none; once more if it changes meanwhile.

    Args:
        session: an open session.
        kind: of what is listed.
        seconds: for each page.
        limit: bytes that all definitions together may take.

    Raises:
        ServerError: a page cannot be used, or the pages do not end.
        JsonRpcError, TimedOutError: as the session says.

    """
    changes = session.list_changes
    try:
        items = _pages(session, kind, seconds, limit)
    except SessionLostError as lost:
        _begin_anew(session, lost)  # and all pages again: those before are of another session
        items = _pages(session, kind, seconds, limit)
    except (HttpStatusError, JsonRpcError):
        if session.find_out is None:
            raise
        session.find_out()  # the server is not any more what it was when it was pinned
        items = _pages(session, kind, seconds, limit)
    if session.list_changes != changes:
        before, items = items, _pages(session, kind, seconds, limit)
        _refuse_contradictions(session, kind, before, items)
    if kind is mcp.TOOLS and session.mirrors:
        session.listed = {mcp.key_of(item, kind) or "": item for item in items}
        wrong = _wrongly_marked(session)
        items = [item for item in items if mcp.key_of(item, kind) not in wrong]
    session.watcher.listed(kind.member, len(items))
    return items


def left_out(session: Session) -> list[str]:
    """Tell, a sentence each, which tools `list_all` left out because they cannot be called."""
    if not session.listed:
        return []
    return [
        f"the tool {session.redact.quoted(name, _SHOWN)} is left out:"
        f" {session.redact.plain(reason)}"
        for name, reason in _wrongly_marked(session).items()
    ]


def call(  # noqa: PLR0913 - what is called, how long, and what comes before a second time
    session: Session,
    tool: str,
    arguments: str,
    seconds: float,
    limit: int,
    *,
    before_again: Callable[[], None] | None = None,
) -> Value:
    """Call `tool` once with the JSON text `arguments`; the result, complete.

    Where arguments are mirrored in headers the tools are listed first (`limit` as for `list_all`).
    The call is sent again, once, if the server has certainly not run it: it forgot the session, or
    finds that the headers do not fit; `before_again` is called then, and may raise.

    Raises:
        InputNeededError: the server asks for input that there is not.
        ServerError: the result cannot be used, or the tool cannot be called.
        JsonRpcError, TimedOutError: as the session says.

    """
    if session.mirrors and not session.listed:
        list_all(session, mcp.TOOLS, seconds, limit)
    try:
        return _call(session, tool, arguments, seconds)
    except SessionLostError as lost:
        _begin_anew(session, lost)
    except JsonRpcError as problem:
        if not session.mirrors or problem.code != mcp.HEADER_MISMATCH:
            raise
        list_all(session, mcp.TOOLS, seconds, limit)
    if before_again:
        before_again()
    return _call(session, tool, arguments, seconds)


def pause(session: Session, seconds: float) -> None:
    """Let `seconds` pass while no request is open, attending to the server.

    Raises:
        ServerError: the server ended.

    """
    try:
        session.wait(session.clock() + seconds)
    except ReceiveTimeout:
        return
    except ChannelClosed as problem:
        raise session.closed(problem) from None


def _mirrored(session: Session, tool: str, arguments: str) -> Mapping[str, str]:
    if not session.mirrors:
        return NO_HEADERS
    from thrall_py.protocol import mirror

    definition = session.listed.get(tool)
    marks = mirror.marks(definition) if definition else ()
    if isinstance(marks, mirror.WrongMark):
        why = session.redact.plain(marks.reason)
        raise ServerError(f"the server defines the tool in a way that nobody can call it: {why}")
    return mirror.headers(tool, marks, arguments)


def _wrongly_marked(session: Session) -> dict[str, str]:
    """Name the tools whose parameters are marked wrongly, and why."""
    from thrall_py.protocol import mirror

    marks = {name: mirror.marks(tool) for name, tool in session.listed.items()}
    return {name: each.reason for name, each in marks.items() if isinstance(each, mirror.WrongMark)}


def _call(session: Session, tool: str, arguments: str, seconds: float) -> Value:
    """Call, and come back as long as the server asks for it.

    That is the same call under a new id, with the responses to what was asked and with the state
    as it came (2026-07-28, "Multi Round-Trip Requests").
    """
    since = session.clock()
    mirrored = _mirrored(session, tool, arguments)
    members, token = mcp.call_members(tool, arguments), session.watcher.progress_token
    for _ in range(_MOST_ROUNDS):
        params = mcp.request_params(session.server.revision, members, session.user.modes, token)
        try:
            result = session.request("tools/call", params, seconds, since, mirrored)
        except JsonRpcError:
            _fail_unanswered(session)
            raise
        if result.first != "{":
            raise session.failed("sent a result that is not an object")
        if _is_complete(session, result):
            if wire.load_or_none(result.member("isError")):
                _fail_unanswered(session)
            return result
        members = mcp.call_members(tool, arguments) + _brought_back(session, result)
    raise session.failed(f"asked {_MOST_ROUNDS} times to come back for the result")


def _begin_anew(session: Session, lost: SessionLostError) -> None:
    """Do the handshake again, once, with a server that forgot the session and so ran nothing."""
    if session.renew is None:
        raise lost
    renew, session.renew = session.renew, None
    renew()


def _refuse_contradictions(
    session: Session, kind: mcp.Kind, items: list[Value], again: list[Value]
) -> None:
    """Let a list that changed be longer or shorter, but nothing in it be something else."""
    before = {mcp.key_of(item, kind): item for item in items}
    for item in again:
        name = mcp.key_of(item, kind)
        if name in before and not _same(item, before[name]):
            shown = session.redact.quoted(str(name))
            raise session.failed(f"changed its definition of {shown} while it was listed")


def _same(one: Value, other: Value) -> bool:
    from thrall_py.protocol import canonical  # a list that changes meanwhile is rare

    try:
        values = (canonical.sort_members(each.load()) for each in (one, other))
        return len(set(map(canonical.digest, values))) == 1
    except JsonError:  # one is nested too deeply to be compared
        return False


def _pages(session: Session, kind: mcp.Kind, seconds: float, limit: int) -> list[Value]:
    pages, is_modern = Pages(kind, limit, session.redact), session.server.is_modern
    try:
        while pages.take(_page(session, kind, pages.cursor, seconds), is_modern=is_modern):
            pass
    except Unlistable as problem:
        raise session.failed(str(problem)) from None
    return pages.items


def _page(session: Session, kind: mcp.Kind, cursor: str | None, seconds: float) -> Value:
    member = "" if cursor is None else f'"cursor":{json.dumps(cursor)}'
    params = mcp.request_params(session.server.revision, member, session.user.listed_with)
    try:
        return session.request(kind.method, params, seconds)
    except JsonRpcError as problem:
        if cursor is None:
            raise
        # A list that breaks off is the server's failure, not a refusal of what was asked.
        raise ServerError(f"{problem}, in the middle of the list") from None


def _is_complete(session: Session, result: Value) -> bool:
    kind = wire.load_or_none(result.member("resultType"))
    if kind not in (*_WHOLE, "input_required"):
        raise session.failed(
            f"sent a result of the type {session.redact.quoted(str(kind), _SHOWN)}"
        )
    return kind in _WHOLE


def _fail_unanswered(session: Session) -> None:
    """Let a call that failed after it asked what nobody could answer fail for that reason.

    Raises:
        InputNeededError: a legacy server asked, in a mode that was not declared.
        ServerError: it asked what could not be read.

    """
    if session.user.unreadable:
        why = session.user.unreadable
        raise session.failed(f"asked with a form that cannot be read ({why})")
    if session.user.unanswered:
        from thrall_py.protocol import elicitation

        problem = elicitation.needed(session.user.unanswered, session.redact)
        raise InputNeededError(f"{problem}; the tool may have run{session.skipped.sentence()}")


def _brought_back(session: Session, result: Value) -> str:
    """Make the further members of a call that comes back, each after a comma."""
    requests, state = result.member("inputRequests"), result.member("requestState")
    asked = mcp.parse_requests(requests)
    if asked is None:
        raise session.failed("asked for input with inputRequests that cannot be used")
    members = ""
    if asked:
        try:
            responses = session.user.answer(asked)
        except Unaskable as problem:
            raise session.failed(problem.what) from None
        named = (f"{json.dumps(name)}:{text}" for name, text in responses.items())
        members = f',"inputResponses":{{{",".join(named)}}}'
    elif state is None or state.first != '"':
        raise session.failed("asked for input without saying what for")
    else:
        pause(session, _ROUND_PAUSE)
    if state is not None and state.first != "n":
        members += f',"requestState":{decode(state.text)}'
    return members
