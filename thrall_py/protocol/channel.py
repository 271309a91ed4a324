"""The seam between the session and what carries it."""

from typing import Protocol


class Channel(Protocol):
    """Carries whole messages to one server and back."""

    def send(self, message: bytes) -> None:
        """Hand over one message; it is on its way while `receive` waits."""

    def receive(self, deadline: float) -> bytearray:
        """Wait for the next message, without its line end.

        Args:
            deadline: on the monotonic clock, in seconds.

        Raises:
            ReceiveTimeout: the deadline passed.
            ChannelClosed: nothing more can come, or nothing more can be sent.
            MessageTooLarge: the message is larger than allowed.
            errors.Interrupted: a signal asks thrall to stop.

        """

    def unread_by_server(self) -> int:
        """Count the bytes that were sent and that the server has not read; 0 if unknown."""

    def close(self) -> str:
        """End the channel and the server with it.

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


class MessageTooLarge(Exception):  # noqa: N818 - likewise
    """The server sends more in one message than is allowed, in bytes."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit
