"""One conversation over one channel: responses are matched by id, never by position.

While a request is open everything else on the line is dealt with here: the server's own requests
are answered, notifications pass, and whatever else a server prints is skipped and counted.
"""

import json
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from thrall_py.errors import InputNeededError, Interrupted, JsonRpcError, ServerError, TimedOutError
from thrall_py.protocol import mcp, wire
from thrall_py.protocol.channel import Channel, ChannelClosed, MessageTooLarge, ReceiveTimeout
from thrall_py.protocol.jsontext import JsonError, Value, decode
from thrall_py.protocol.skipped import SkippedLines
from thrall_py.redact import Redactor

_HANDSHAKE = "the handshake"
_REPLIES_LIMIT = 1 << 20  # bytes of replies to a server that asks more than it reads
_URLS_SHOWN = 3
_DATA_SHOWN = 500  # characters of an error's data

Id = int | str


class Response(NamedTuple):
    """The response to one request: it has a result or an error, never both."""

    id: Id
    result: Value | None
    error: mcp.ErrorObject | None


class Session:
    """A conversation with one server.

    Attributes:
        channel: what carries it.
        clock: the time in seconds, as the channel's deadlines count it.
        redact: makes the server's words fit to be repeated.
        server: what the server said of itself; until the handshake is complete, a guess.
        stage: what goes on, as failures name it: the handshake, or the method of the request.
        list_changes: how often the server said that one of its lists changed.

    """

    def __init__(self, channel: Channel, clock: Callable[[], float], redact: Redactor) -> None:
        self.channel = channel
        self.clock = clock
        self.redact = redact
        self.server = mcp.ServerInfo(mcp.LEGACY[0])
        self.stage = _HANDSHAKE
        self.list_changes = 0
        self._next_id = 1
        self._open: dict[Id, str] = {}  # the method of each request that has no response yet
        self._responses: deque[Response] = deque()  # come, but not yet waited for
        self._skipped = SkippedLines(redact)
        self._replied = 0  # bytes of replies since the server has last read everything

    def request(
        self, method: str, params: str, seconds: float, since: float | None = None
    ) -> Value:
        """Send a request and wait for its result; arguments as for `ask`.

        Raises:
            JsonRpcError, InputNeededError: the server responded with an error.
            ServerError, TimedOutError: as `ask`.

        """
        self.stage = method
        response = self.ask(method, params, seconds, since)
        if response.result is None:
            assert response.error, "a response has one of the two"
            raise self.refused(response.error)
        return response.result

    def ask(self, method: str, params: str, seconds: float, since: float | None = None) -> Response:
        """Send a request and wait for its response, whichever it is.

        Args:
            method: of the request.
            params: its params as JSON text.
            seconds: how long to wait at most.
            since: the time on the clock from which the seconds count; None for now.

        Raises:
            ServerError: the server ended, or sent a response that cannot be used.
            TimedOutError: there was no response in time. The server has been told.

        """
        id_ = self.send(method, params)
        deadline = (self.clock() if since is None else since) + seconds
        try:
            while True:
                response = self.wait(deadline)
                if response.id == id_:  # not a late one, from earlier in the handshake
                    return response
        except ReceiveTimeout as problem:
            self._cancel("timeout")
            raise self.timed_out(problem, seconds) from None
        except ChannelClosed as problem:
            raise self.closed(problem) from None

    def send(self, method: str, params: str, id_: str | None = None) -> Id:
        """Send a request without waiting for its response.

        Args:
            method: of the request.
            params: its params as JSON text.
            id_: its id; None for the next number.

        Returns its id.

        """
        chosen = self._next_id if id_ is None else id_
        self._next_id += id_ is None
        self.channel.send(wire.request(chosen, method, params))
        self._open[chosen] = method
        return chosen

    def notify(self, method: str, params: str = "{}") -> None:
        """Send a notification; params as JSON text."""
        self.channel.send(wire.notification(method, params))

    def wait(self, deadline: float) -> Response:
        """Wait for the response to an open request, until `deadline` on the clock.

        Raises:
            ServerError: a response, or something else on the line, cannot be used.
            ReceiveTimeout, ChannelClosed: as the channel said.

        """
        while not self._responses:
            try:
                line = self.channel.receive(deadline)
            except MessageTooLarge as problem:
                raise self.failed(f"sent more than {problem.limit} bytes in one line") from None
            except Interrupted:
                self._cancel("interrupted")
                raise
            except ChannelClosed as problem:
                if self._handle_last_words(problem.partial):
                    problem.partial = bytearray()
                if not self._responses:
                    raise
            else:
                self._handle_line(line)
        return self._responses.popleft()

    def pause(self, seconds: float) -> None:
        """Let `seconds` pass while no request is open, attending to the server.

        Raises:
            ServerError: the server ended.

        """
        try:
            self.wait(self.clock() + seconds)
        except ReceiveTimeout:
            return
        except ChannelClosed as problem:
            raise self.closed(problem) from None

    def complete_handshake(self, server: mcp.ServerInfo) -> None:
        """Go on to requests; a response that is still due from the handshake will be skipped."""
        self.server = server
        self._open.clear()
        self._responses.clear()

    def end(self) -> str:
        """End the server.

        Returns:
            How it ended, as words after "the server".

        """
        return self.channel.close()

    # -- what came -----------------------------------------------------------------------------

    def _handle_line(self, line: bytearray) -> None:
        try:
            messages = wire.read(line)
        except JsonError as problem:
            if wire.is_broken_answer(line, self._open):
                why = self.redact.plain(str(problem))
                raise self.failed(f"sent an answer that is {why}") from None
            messages = []
        self._handle_messages(messages, line)

    def _handle_last_words(self, line: bytearray) -> bool:
        """Handle what came without a line end: a complete message counts all the same."""
        try:
            messages = wire.read(line)
        except JsonError:
            return False
        self._handle_messages(messages, line)
        return True

    def _handle_messages(self, messages: list[wire.Message], line: bytearray) -> None:
        if not messages and line.strip():
            self._skipped.add(line)
        for message in messages:
            self._dispatch(message, line)

    def _dispatch(self, message: wire.Message, line: bytearray) -> None:
        id_ = self._match(message)
        if id_ is not None:
            del self._open[id_]
            if message.error is not None:
                self._responses.append(Response(id_, None, mcp.parse_error(message.error)))
            elif message.result is not None:
                self._responses.append(Response(id_, message.result, None))
            else:
                raise self.failed("sent an answer with neither a result nor an error")
        elif message.method is None or message.is_answer or self._is_echo(message):
            self._skipped.add(line)
        elif message.id is not None:
            self._reply(message.id, message.method)
        elif message.method.endswith("/list_changed"):
            self.list_changes += 1

    def _match(self, message: wire.Message) -> Id | None:
        """Find the open request that `message` answers."""
        if not message.is_answer and (message.method is not None or not message.declared):
            return None
        if message.id is None:
            # An error that could not even say to what: ours, when there is only one it can be.
            only_one = message.error is not None and len(self._open) == 1
            return next(iter(self._open)) if only_one else None
        value = wire.load_or_none(message.id)
        return next((id_ for id_ in self._open if wire.same_id(value, id_)), None)

    def _is_echo(self, message: wire.Message) -> bool:
        """Tell whether our own request came back: the server repeats what it reads, as cat does."""
        value = wire.load_or_none(message.id)
        return any(
            wire.same_id(value, id_) and message.method == method
            for id_, method in self._open.items()
        )

    def _reply(self, id_: Value, method: str) -> None:
        if self.server.is_modern or id_.first in "{[tf":
            return  # 2026-07-28: the client sends requests and notifications only
        outcome = '"result":{}'
        if method != "ping":
            outcome = f'"error":{{"code":{mcp.METHOD_NOT_FOUND},"message":"Method not found"}}'
        message = wire.reply(id_, outcome)
        self._replied = self._replied + len(message) if self.channel.unread_by_server() else 0
        if self._replied > _REPLIES_LIMIT:
            raise self.failed("sends more requests than it reads replies")
        self.channel.send(message)

    def _cancel(self, reason: str) -> None:
        """Tell the server to stop working, but on no handshake ("Cancellation", all revisions)."""
        if self.stage != _HANDSHAKE:
            for id_ in self._open:
                members = f'"requestId":{json.dumps(id_)},"reason":"{reason}"'
                params = mcp.request_params(self.server.revision, members)
                self.notify("notifications/cancelled", params)

    # -- failures, each in one sentence --------------------------------------------------------

    def failed(self, what: str) -> ServerError:
        """Make the failure in which the server did `what` (words after "the server")."""
        return ServerError(f"the server {what} during {self.stage}{self._aftermath()}")

    def closed(self, problem: ChannelClosed) -> ServerError:
        """Make the failure of a server that is gone, or has closed a pipe; it is ended."""
        self._skipped.add_partial(problem.partial)
        ending = self.end()
        return self.failed("closed its input" if problem.input_closed else ending)

    def timed_out(self, problem: ReceiveTimeout, seconds: float) -> TimedOutError:
        """Make the failure of a server that was silent for `seconds`."""
        self._skipped.add_partial(problem.partial)
        option = "--start-timeout" if self.stage == _HANDSHAKE else "--timeout"
        unsent = ", and not all of the request was read" if problem.unsent else ""
        return TimedOutError(
            f"no answer to {self.stage} in {seconds:g} s ({option}){unsent}{self._aftermath()}"
        )

    def refused(self, error: mcp.ErrorObject) -> JsonRpcError | InputNeededError:
        """Make the failure of a request that got `error`: its code, words and data."""
        message = self.redact.quoted(error.message) if error.message else ""
        if error.code == mcp.URL_ELICITATION_REQUIRED:
            urls = ", ".join(self.redact.quoted(url) for url in error.urls[:_URLS_SHOWN])
            wanted = "the server wants a page visited before the call"
            return InputNeededError(f"{wanted}: {urls or message}")
        code = "without a code" if error.code is None else self.redact.plain(str(error.code))
        sentence = f"the server refused {self.stage} with error {code}"
        sentence += f": {message}" if message else ""
        if error.data:
            sentence += f", data {self.redact.plain(decode(error.data.text), _DATA_SHOWN)}"
        return JsonRpcError(sentence, error.code)

    def _aftermath(self) -> str:
        ran = "; the tool may have run" if self.stage == "tools/call" else ""
        return ran + self._skipped.sentence()
