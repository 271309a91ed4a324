"""The seam between the session and what carries it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol

NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class Label(NamedTuple):
    """What a transport with headers says of a message beside it; for others it is in the message.

    Attributes:
        method: of a request or a notification; empty for a reply to the server.
        revision: of the protocol that it is written in; empty while none is agreed.
        is_request: whether a response is due.
        mirrored: headers that repeat parts of a request, by name (2026-07-28, "Streamable HTTP").

    """

    method: str
    revision: str
    is_request: bool = False
    mirrored: Mapping[str, str] = NO_HEADERS


class Channel(Protocol):
    """Carries whole messages to one server and back."""

    @property
    def has_headers(self) -> bool:
        """Whether it makes use of what a label mirrors."""

    def send(self, message: bytes, label: Label, /) -> None:
        """Hand over one message; it is on its way while `receive` waits."""

    def receive(self, deadline: float) -> bytearray:
        """Wait for the next message, without its line end.

        Args:
            deadline: on the monotonic clock, in seconds.

        Raises:
            ReceiveTimeout: the deadline passed.
            ChannelClosed: nothing more can come, or nothing more can be sent.
            Unanswered: no response can come to what was sent, though others may to what follows.
            MessageTooLarge: the message is larger than allowed.
            errors.Interrupted: a signal asks thrall to stop.
            errors.ServerError, errors.UnauthorizedError: the server was not reached.

        """

    def flush(self, deadline: float) -> None:
        """Wait until what was sent has gone out, if that takes a reply of its own.

        Raises:
            ReceiveTimeout, errors.Interrupted: as `receive`.

        """

    def settle(self) -> None:
        """Take note that every request has its response: what more may come is not waited for."""

    def has_ended(self) -> bool:
        """Look, without waiting, whether nothing more can come, as far as that can be seen.

        Raises:
            errors.Interrupted: a signal asks thrall to stop.

        """

    def unread_by_server(self) -> int:
        """Count the bytes that were sent and that the server has not read, as far as is known."""

    def close(self) -> str:
        """End the channel and, if it is the only user of the server, the server with it.

        Returns:
            How the server ended, as words after "the server".

        """


class ReceiveTimeout(Exception):  # noqa: N818 - an outcome, turned into a ThrallError by the session
    """The deadline passed. `partial` is the beginning of a message that did not end."""

    def __init__(self, partial: bytes, *, unsent: bool) -> None:
        super().__init__(partial)
        self.partial = partial
        self.unsent = unsent  # the server did not even read all of what was sent


class ChannelClosed(Exception):  # noqa: N818 - likewise
    """The channel is of no more use. `partial` is what came after the last whole message."""

    def __init__(self, partial: bytearray, *, input_closed: bool) -> None:
        super().__init__()
        self.partial = partial
        self.input_closed = input_closed  # the server closed its input; else its output


class Unanswered(Exception):  # noqa: N818 - likewise
    """What came back is no message. `what` the server did stands after "the server".

    `status` is that of HTTP, 0 if there was none; `session_lost`: it forgot whom it speaks with.
    """

    def __init__(self, what: str, status: int = 0, *, session_lost: bool = False) -> None:
        super().__init__(what)
        self.what = what
        self.status = status
        self.session_lost = session_lost


class MessageTooLarge(Exception):  # noqa: N818 - likewise
    """The server sends more in one message (a line, an event, a body) than is allowed, in bytes."""

    def __init__(self, limit: int, unit: str = "line") -> None:
        super().__init__(limit)
        self.what = f"sent more than {limit} bytes in one {unit}"  # which was allowed
