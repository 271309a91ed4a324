"""Reads the replies of one server: as a message, or as the reason why there is none."""

from thrall_py.errors import UnauthorizedError
from thrall_py.protocol import wire
from thrall_py.protocol.channel import Unanswered
from thrall_py.protocol.jsontext import JsonError, Value
from thrall_py.redact import Redactor
from thrall_py.transport.endpoint import Endpoint
from thrall_py.transport.http.reply import Reply
from thrall_py.transport.http.url import parse

_JSON = "application/json"
EVENTS = "text/event-stream"
_BAD_REQUEST, _UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND = 400, 401, 403, 404
_CHALLENGE = 500  # characters
_TYPE = 80  # characters of a media type
_ERROR = b'{"jsonrpc":"2.0","id":null,"error":%s}'
_USUAL_PATH = "/mcp"
_KEPT = 4096  # bytes of a body, more than is shown


class Reader:
    """Reads replies, and finds the words for those that are no message.

    Args:
        endpoint: where they come from.
        redact: makes the server's words fit to be repeated.
        limit: bytes of one body.

    """

    def __init__(self, endpoint: Endpoint, redact: Redactor, limit: int) -> None:
        self._endpoint = endpoint
        self._redact = redact
        self._limit = limit

    def is_stream(self, reply: Reply) -> bool:
        """Whether a reply is a stream of events."""
        return reply.is_success and reply.media_type == EVENTS

    def read_body(self, reply: Reply, deadline: float) -> bytearray:
        """Read a body to its end.

        Raises:
            UnauthorizedError: the server does not let us in.
            MessageTooLarge: the body is larger than allowed.
            Unanswered, ReceiveTimeout, Interrupted: as the reply says.

        """
        body = reply.read_all(self._limit, deadline)
        self._refuse_unauthorized(reply, body)
        return body

    def message(self, reply: Reply, body: bytearray) -> bytearray:
        """Take a body for a message; a JSON-RPC error is one whatever the status and the type.

        Raises:
            Unanswered: it is none.

        """
        if body and reply.is_success and reply.media_type == _JSON:
            return body
        messages = read_messages(body)
        if reply.is_success and any(each.declared and each.is_answer for each in messages):
            return body
        errors = [each.error for each in messages if each.declared and each.error is not None]
        if errors and not reply.is_success:
            # Some servers answer with an id of their own; here only one request can be meant.
            return bytearray(_ERROR % errors[0].text.encode("latin-1"))
        raise Unanswered(f"answered with {self._described(reply, body)}", reply.status)

    def _refuse_unauthorized(self, reply: Reply, body: bytearray) -> None:
        if reply.status not in (_UNAUTHORIZED, _FORBIDDEN):
            return
        sent = self._endpoint.credentials
        if reply.status == _FORBIDDEN:
            sentence = "the server forbids it (status 403)"
        elif sent:
            sentence = "the server does not accept the credentials (status 401)"
        else:
            sentence = (
                "the server wants a token (status 401): give it with --bearer-env or --header"
            )
        sentence += f"; sent was {sent}" if sent else "; none was sent"
        challenge = reply.header("www-authenticate")
        if challenge:
            # It is full of quotation marks of its own.
            sentence += f"; the challenge is {self._redact.plain(challenge, _CHALLENGE)}"
        elif body.strip():
            sentence += f"; it says {self._beginning(body)}"
        raise UnauthorizedError(sentence)

    def _described(self, reply: Reply, body: bytearray) -> str:
        words = f"status {reply.status}"
        if reply.media_type:
            words += f" ({self._redact.plain(reply.media_type, _TYPE)})"
        wait = reply.header("retry-after")
        if wait:
            words += f", to be tried again after {self._redact.plain(wait, _TYPE)}"
        words += f" and {self._beginning(body)}" if body.strip() else " and no body"
        if reply.status == _NOT_FOUND:
            path = parse(self._endpoint.url).target.partition("?")[0]
            others = "" if path == _USUAL_PATH else f" many servers answer at {_USUAL_PATH}"
            words += f" (is the path of the URL right?{others})"
        return words

    def _beginning(self, body: bytearray) -> str:
        text = bytes(body[:_KEPT]).decode("utf-8", "replace")
        if len(body) > _KEPT:
            text = self._redact.mask_cut(text)
        return self._redact.quoted(" ".join(text.split()))


def read_messages(body: bytearray) -> list[wire.Message]:
    """Read what may be a message; `{"error": ...}` of another protocol is not declared as one."""
    try:
        return wire.read(body)
    except JsonError:
        return []


def forgets_session(reply: Reply, body: bytearray, posted: bytes) -> bool:
    """Tell whether a reply to `posted` asks for a new handshake (2025-11-25, "Session Management").

    Servers made after an example of the TypeScript SDK say it with status 400 and in words.
    What answers our request in other words is its answer, whatever the status.
    """
    if reply.status not in (_BAD_REQUEST, _NOT_FOUND) or reply.media_type == EVENTS:
        return False
    messages = read_messages(body)
    own = wire.read(posted)[0].id
    says_so = any(each.error and "session" in each.error.text.lower() for each in messages)
    is_answer = any(_same_id(each.id, own) for each in messages)
    if reply.status == _NOT_FOUND:
        return says_so or not is_answer
    return says_so and not is_answer


def _same_id(one: Value | None, own: Value | None) -> bool:
    value = wire.load_or_none(own)
    return isinstance(value, int | str) and wire.same_id(wire.load_or_none(one), value)
