"""A channel that is followed: every message passes, and a watcher is told of it."""

from collections.abc import Sequence

from thrall_py.protocol import mcp, wire
from thrall_py.protocol.channel import Channel, Label
from thrall_py.protocol.jsontext import JsonError, Value, latin1, scan
from thrall_py.protocol.mcp import ServerInfo
from thrall_py.protocol.watcher import Watcher

_LARGEST = 1 << 16  # bytes of a message about progress; a larger one is none
_PROGRESS = b"notifications/progress"


class WatchedChannel:
    """A Channel around another one.

    Progress that the watcher has asked for is for it alone: the session has no use for it.

    Attributes:
        channel: the other one.

    """

    def __init__(self, channel: Channel, watcher: Watcher) -> None:
        self.channel = channel
        self._watcher = watcher
        self._has_closed = False

    @property
    def has_headers(self) -> bool:
        """As the channel says."""
        return self.channel.has_headers

    def send(self, message: bytes, label: Label, /) -> None:
        """Hand over one message."""
        if label.is_request:
            self._watcher.sent(label.method)
        self.channel.send(message, label)

    def receive(self, deadline: float) -> bytearray:
        """Wait for the next message that is not about progress, as the Channel says."""
        try:
            while True:
                message = self.channel.receive(deadline)
                progress = self._progress(message)
                if progress is None:
                    return message
                self._watcher.progressed(progress)
        finally:
            self._watcher.resumed()

    def flush(self, deadline: float) -> None:
        """Wait until what was sent has gone out, as the Channel says."""
        self.channel.flush(deadline)

    def settle(self) -> None:
        """Take note that every request has its response."""
        self._watcher.answered()
        self.channel.settle()

    def has_ended(self) -> bool:
        """As the channel says."""
        return self.channel.has_ended()

    def unread_by_server(self) -> int:
        """As the channel says."""
        return self.channel.unread_by_server()

    def close(self) -> str:
        """End the channel; the watcher is told the first time."""
        if self._has_closed:
            return self.channel.close()
        self._has_closed = True
        self._watcher.closing()
        how = self.channel.close()
        self._watcher.closed(how)
        return how

    def _progress(self, message: bytearray) -> Value | None:
        """Read a message about the progress that was asked for; None if it is another."""
        token = self._watcher.progress_token
        if not token or len(message) > _LARGEST or _PROGRESS not in message:
            return None
        try:
            root = scan(latin1(message), {"params": {}})
        except JsonError:
            return None
        params = root.member("params")
        if root.member_string("method") != mcp.PROGRESS or params is None:
            return None
        return params if wire.load_or_none(params.member("progressToken")) == token else None


def unwatched(channel: Channel) -> Channel:
    """The channel itself, for those who have to know which it is."""
    return channel.channel if isinstance(channel, WatchedChannel) else channel


class SeveralWatchers(Watcher):
    """Passes on to several watchers what happens."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self._watchers = watchers
        self.wants_bytes = any(each.wants_bytes for each in watchers)
        self.progress_token = "".join(each.progress_token for each in watchers)  # of one at most

    def spawned(self, program: str) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """Pass it on."""
        for each in self._watchers:
            each.spawned(program)

    def running(self) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """Pass it on."""
        for each in self._watchers:
            each.running()

    def connected(self, origin: str) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """Pass it on."""
        for each in self._watchers:
            each.connected(origin)

    def to_server(self, data: bytes) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """Pass it on."""
        for each in self._watchers:
            each.to_server(data)

    def from_server(self, data: bytes | bytearray, end: str | None = "\n") -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """Pass it on."""
        for each in self._watchers:
            each.from_server(data, end)

    def sent(self, method: str) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """Pass it on."""
        for each in self._watchers:
            each.sent(method)

    def answered(self) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """Pass it on."""
        for each in self._watchers:
            each.answered()

    def agreed(self, server: ServerInfo) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """Pass it on."""
        for each in self._watchers:
            each.agreed(server)

    def listed(self, what: str, count: int) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """Pass it on."""
        for each in self._watchers:
            each.listed(what, count)

    def progressed(self, params: Value) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """Pass it on."""
        for each in self._watchers:
            each.progressed(params)

    def waiting(self, what: str) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """Pass it on."""
        for each in self._watchers:
            each.waiting(what)

    def resumed(self) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """Pass it on."""
        for each in self._watchers:
            each.resumed()

    def closing(self) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """Pass it on."""
        for each in self._watchers:
            each.closing()

    def signalled(self, name: str) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """Pass it on."""
        for each in self._watchers:
            each.signalled(name)

    def closed(self, how: str) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """Pass it on."""
        for each in self._watchers:
            each.closed(how)
