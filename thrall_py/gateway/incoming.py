"""What a client sent: one message, read as far as a gateway has to look into it. Pure."""

from typing import NamedTuple

from thrall_py.protocol.jsontext import Value


class Request(NamedTuple):
    """A request; `id` is its JSON text as it came, for the response to repeat."""

    id: str
    method: str
    params: Value | None


class Notification(NamedTuple):
    """A notification, to which nothing is answered."""

    method: str
    params: Value | None


class Response(NamedTuple):
    """A client's response to a request of ours; one of `result` and `error` is there."""

    id: str
    result: Value | None
    error: Value | None


class Malformed(NamedTuple):
    """No message; `id` is JSON text as well, `null` if none can be read."""

    id: str
    code: int
    message: str


Incoming = Request | Notification | Response | Malformed
