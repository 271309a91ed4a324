"""Which open request a message answers: by id, never by position. Pure."""

from collections.abc import Mapping
from typing import NamedTuple

from thrall_py.protocol import mcp, wire
from thrall_py.protocol.jsontext import Value

Id = int | str
OpenRequests = Mapping[Id, str]  # the method of each request that has no response yet


class Response(NamedTuple):
    """The response to one request: it has a result or an error, never both."""

    id: Id
    result: Value | None
    error: mcp.ErrorObject | None


def answered_by(message: wire.Message, requests: OpenRequests) -> Id | None:
    """Find the open request that `message` answers."""
    if not message.is_answer and (message.method is not None or not message.declared):
        return None
    if message.id is None:
        # An error that could not even say to what: ours, when there is only one it can be.
        only_one = message.error is not None and len(requests) == 1
        return next(iter(requests)) if only_one else None
    value = wire.load_or_none(message.id)
    if isinstance(value, int | str) and not isinstance(value, bool) and value in requests:
        return value  # as we wrote it: with a thousand open requests nobody wants to look at each
    return next((id_ for id_ in requests if wire.same_id(value, id_)), None)


def asks(message: wire.Message, requests: OpenRequests) -> bool:
    """Tell whether a message is a request of the server's that a reply can name."""
    if message.id is None or message.method is None or message.is_answer:
        return False
    return message.id.first not in "{[tf" and not is_echo(message, requests)


def response(id_: Id, message: wire.Message) -> Response | None:
    """Take `message` as the response to a request; None if it has neither a result nor an error."""
    if message.error is not None:
        return Response(id_, None, mcp.parse_error(message.error))
    return None if message.result is None else Response(id_, message.result, None)


def broken(line: bytes | bytearray, requests: OpenRequests, *, is_modern: bool) -> str:
    """Say what a line that cannot be read was meant as, if somebody waits for it; else nothing.

    An answer is what we wait for. A request the server waits with, before it answers ours; in
    2026-07-28 there is none.
    """
    if wire.is_broken_answer(line, requests):
        return "an answer"
    return "a request" if requests and not is_modern and wire.is_broken_request(line) else ""


def is_echo(message: wire.Message, requests: OpenRequests) -> bool:
    """Tell whether our own request came back: the server repeats what it reads, as cat does."""
    if message.id is None:
        return False
    value = wire.load_or_none(message.id)
    return any(
        wire.same_id(value, id_) and message.method == method for id_, method in requests.items()
    )
