"""One conversation over one channel: requests go out, answers are matched by id, never by position.

While a request is open everything else on the line is dealt with here: the server's own requests
are answered, notifications pass, and whatever else a server prints is skipped and counted.
"""

import json
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from thrall_py.errors import InputNeededError, Interrupted, RefusedError, ServerError, TimedOutError
from thrall_py.protocol import mcp, wire
from thrall_py.protocol.channel import Channel, Hangup, Oversize, Silence
from thrall_py.protocol.jsontext import JsonError, Value, decoded
from thrall_py.protocol.skipped import Skipped
from thrall_py.visible import Quoter

_REPLIES_LIMIT = 1 << 20  # bytes of replies to a server that asks more than it reads
_PAGES = 3  # pages to visit that are named
_DATA_LIMIT = 500  # characters of an error's data that are shown


class Answer(NamedTuple):
    """The answer to one request: a result or a refusal, never both."""

    id: int | str
    result: Value | None
    refusal: mcp.Refusal | None


class Session:
    """A conversation with one server.

    `stage` is what goes on, as failures name it: "handshake", "tools/list", "tools/call".
    """

    def __init__(self, channel: Channel, clock: Callable[[], float], quote: Quoter) -> None:
        self.channel = channel
        self.clock = clock
        self.quote = quote
        self.stage = "handshake"
        self.server = mcp.Server(mcp.LEGACY[0])  # until the handshake is settled
        self.list_changes = 0  # how often the server said that its tools changed
        self._next_id = 1
        self._open: list[int | str] = []
        self._answers: deque[Answer] = deque()  # taken, not yet waited for: an array holds several
        self._skipped = Skipped(quote)
        self._replied = 0

    def ask(self, method: str, params: str, seconds: float, since: float | None = None) -> Answer:
        """Send a request and wait for its answer, whichever it is.

        Args:
            method: of the request.
            params: its params as JSON text.
            seconds: how long to wait at most.
            since: from when on, on the clock; now, if it is left out.

        Raises:
            ServerError: the server ended, or sent an answer that cannot be used.
            TimedOutError: there was no answer in time.

        """
        self.send(method, params)
        try:
            return self.wait((self.clock() if since is None else since) + seconds)
        except Silence as silence:
            raise self.timed_out(silence, seconds) from None
        except Hangup as hangup:
            raise self.hung_up(hangup) from None

    def request(
        self, method: str, params: str, seconds: float, since: float | None = None
    ) -> Value:
        """Do as `ask` does; the result.

        Raises:
            RefusedError, InputNeededError: the server answered with a JSON-RPC error.
            ServerError, TimedOutError: as `ask`.

        """
        self.stage = method
        answer = self.ask(method, params, seconds, since)
        if answer.result is None:
            assert answer.refusal, "an answer has one of the two"
            raise self.refused(answer.refusal)
        return answer.result

    def send(self, method: str, params: str, id_: int | str | None = None) -> int | str:
        """Send a request without waiting for its answer; the id it got."""
        if id_ is None:
            id_ = self._next_id
            self._next_id += 1
        self.channel.send(wire.request(id_, method, params))
        self._open.append(id_)
        return id_

    def notify(self, method: str, params: str = "{}") -> None:
        """Send a notification."""
        self.channel.send(wire.notification(method, params))

    def wait(self, deadline: float) -> Answer:
        """Wait for the answer to an open request, until `deadline` on the clock.

        Raises:
            ServerError: an answer, or something else on the line, cannot be used.
            Silence, Hangup: as the channel said.

        """
        while not self._answers:
            try:
                line = self.channel.receive(deadline)
            except Oversize as problem:
                raise self.failed(f"sent more than {problem.limit} bytes in one line") from None
            except Interrupted:
                self._cancel("interrupted")
                raise
            except Hangup as hangup:
                # A complete answer counts without its line end.
                self._look_at(hangup.partial, complete=False)
                if not self._answers:
                    raise
            else:
                self._look_at(line)
        return self._answers.popleft()

    def settle(self, server: mcp.Server) -> None:
        """End the handshake; what is still unanswered of it is skipped if it is answered yet."""
        self.server = server
        self._open.clear()

    def pause(self, seconds: float) -> None:
        """Let `seconds` pass while no request is open, attending to the server.

        Raises:
            ServerError: the server ended.

        """
        try:
            self.wait(self.clock() + seconds)
        except Silence:
            return
        except Hangup as hangup:
            raise self.hung_up(hangup) from None

    def end(self) -> str:
        """End the server; how it ended."""
        return self.channel.close()

    # -- what came -----------------------------------------------------------------------------

    def _look_at(self, line: bytearray, *, complete: bool = True) -> None:
        if not line.strip():
            return
        try:
            messages = wire.read(line)
        except JsonError as problem:
            if not complete:
                return  # told as a line that did not end
            if wire.is_broken_answer(line, self._open):
                words = self.quote.words(str(problem))
                raise self.failed(f"sent an answer that is {words}") from None
            messages = []
        if not messages:
            self._skipped.add(line)
        for message in messages:
            self._take(message, line)
        line.clear()

    def _take(self, message: wire.Message, line: bytearray) -> None:
        id_ = self._answered(message)
        if id_ is not None:
            self._open.remove(id_)
            if message.error is not None:
                self._answers.append(Answer(id_, None, mcp.refusal(message.error)))
            elif message.result is not None:
                self._answers.append(Answer(id_, message.result, None))
            else:
                raise self.failed("sent an answer with neither a result nor an error")
        elif message.method is None or message.is_answer or self._is_echo(message):
            self._skipped.add(line)
        elif message.id is not None:
            self._reply(message.id, message.method)
        elif message.method == "notifications/tools/list_changed":
            self.list_changes += 1

    def _answered(self, message: wire.Message) -> int | str | None:
        """Find the open request that `message` answers."""
        if not message.is_answer and (message.method is not None or not message.declared):
            return None
        if message.id is None:
            # An error that could not even say to what: ours, when there is only one it can be.
            only_one = message.error is not None and len(self._open) == 1
            return self._open[0] if only_one else None
        value = wire.load_or_none(message.id)
        return next((id_ for id_ in self._open if wire.same_id(value, id_)), None)

    def _is_echo(self, message: wire.Message) -> bool:
        """Tell whether our own request came back: the server repeats what it reads, as cat does."""
        value = wire.load_or_none(message.id)
        return any(wire.same_id(value, id_) for id_ in self._open) and message.method in (
            "initialize", "server/discover", "tools/list", "tools/call",
        )  # fmt: skip

    def _reply(self, id_: Value, method: str) -> None:
        if self.server.is_modern or id_.kind in "{[tf":
            return  # 2026-07-28: the client sends requests and notifications only
        outcome = '"result":{}'
        if method != "ping":
            outcome = f'"error":{{"code":{mcp.METHOD_NOT_FOUND},"message":"Method not found"}}'
        message = wire.reply(id_, outcome)
        self._replied = self._replied + len(message) if self.channel.unread() else 0
        if self._replied > _REPLIES_LIMIT:
            raise self.failed("sends more requests than it reads replies")
        self.channel.send(message)

    # -- failures, each in one sentence --------------------------------------------------------

    def failed(self, what: str) -> ServerError:
        """Say that the server did `what` (after "the server")."""
        return ServerError(f"the server {what} during {self._asked()}{self._aftermath()}")

    def refused(self, refusal: mcp.Refusal) -> RefusedError | InputNeededError:
        """Say with which code, words and data the server refused."""
        if refusal.code == mcp.URL_ELICITATION_REQUIRED:
            pages = ", ".join(self.quote(url) for url in refusal.urls[:_PAGES]) or self.quote(
                refusal.message
            )
            return InputNeededError(f"the server wants a page visited before the call: {pages}")
        code = "without a code" if refusal.code is None else self.quote.words(str(refusal.code))
        words = f": {self.quote(refusal.message)}" if refusal.message else ""
        data = (
            f", data {self.quote.words(decoded(refusal.data.text), _DATA_LIMIT)}"
            if refusal.data
            else ""
        )
        return RefusedError(f"the server refused {self._asked()} with error {code}{words}{data}")

    def timed_out(self, silence: Silence, seconds: float) -> TimedOutError:
        """Say which answer did not come, having told the server that nobody waits any more."""
        self._cancel("timeout")
        self._skipped.add_partial(silence.partial)
        option = "--start-timeout" if self.stage == "handshake" else "--timeout"
        blocked = ", and not all of the request was read" if silence.blocked else ""
        return TimedOutError(
            f"no answer to {self._asked()} in {seconds:g} s ({option}){blocked}{self._aftermath()}"
        )

    def hung_up(self, hangup: Hangup) -> ServerError:
        """Say how the server ended."""
        self._skipped.add_partial(hangup.partial)
        ending = self.end()
        return self.failed("closed its input" if hangup.deaf else ending)

    def _asked(self) -> str:
        return "the handshake" if self.stage == "handshake" else self.stage

    def _aftermath(self) -> str:
        ran = "; the tool may have run" if self.stage == "tools/call" else ""
        return ran + self._skipped.sentence()

    def _cancel(self, reason: str) -> None:
        """Tell the server to stop, but never the handshake ("Cancellation", all revisions)."""
        if self.stage != "handshake":
            for id_ in self._open:
                self.notify(
                    "notifications/cancelled",
                    mcp.params(
                        self.server.revision, f'"requestId":{json.dumps(id_)},"reason":"{reason}"'
                    ),
                )
