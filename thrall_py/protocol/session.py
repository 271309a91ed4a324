"""One conversation over one channel: responses are matched by id, never by position.

While a request is open the server's own requests are answered, notifications pass, and whatever
else a server prints is skipped and counted.
"""

from collections import deque
from collections.abc import Callable, Mapping

from thrall_py import errors
from thrall_py.errors import InputNeededError, ServerError, ServerGoneError, TimedOutError
from thrall_py.protocol import matching, mcp, refusal, watcher, wire
from thrall_py.protocol.aftermath import Aftermath
from thrall_py.protocol.channel import (
    NO_HEADERS,
    Channel,
    ChannelClosed,
    Label,
    MessageTooLarge,
    ReceiveTimeout,
    Unanswered,
)
from thrall_py.protocol.echo import Echo
from thrall_py.protocol.jsontext import JsonError, Value, prepare
from thrall_py.protocol.matching import Id, Response
from thrall_py.protocol.user import Clock, Respondent, Unaskable, User
from thrall_py.redact import Redactor

HANDSHAKE = "the handshake"  # the stage


class Session:
    """A conversation with one server.

    Attributes:
        channel: what carries it.
        clock: the time in seconds, which stands still while the user is asked.
        user: whom the server may ask, if there is somebody.
        redact: makes the server's words fit to be repeated.
        server: what the server said of itself; until the handshake is complete, a guess.
        stage: what goes on, as failures name it: the handshake, or the method of the request.
        list_changes: how often the server said that one of its lists changed.
        listed: the tools by name, where parts of a call are mirrored; empty until they are listed.
        skipped: the lines that were nobody's answer.
        next_id: the id of the next request, and so one more than there were.
        renew: does the handshake again, once, if the server forgets the session; None if it cannot.
        echo: whether the program repeats the request of the handshake.
        watcher: who is told of it.
        find_out: asks what the server is, where that is only remembered; None where it is known.

    """

    def __init__(
        self, channel: Channel, clock: Clock, redact: Redactor, user: User | None = None
    ) -> None:
        prepare()
        self.channel = channel
        self.user = Respondent(user, clock, redact, channel.has_ended)
        self.clock = self.user.clock
        self.redact = redact
        self.server = mcp.ServerInfo(mcp.LEGACY[0])
        self.stage = HANDSHAKE
        self.list_changes = 0
        self.watcher = watcher.NOBODY
        self.listed: dict[str, Value] = {}
        self.renew: Callable[[], None] | None = None
        self.find_out: Callable[[], None] | None = None
        self.next_id = 1
        self._open: dict[Id, str] = {}  # the method of each request that has no response yet
        self._responses: deque[Response] = deque()  # come, but not yet waited for
        self.echo = Echo()
        self._account = Aftermath(redact)
        self.skipped = self._account.skipped

    @property
    def mirrors(self) -> bool:
        """Whether parts of a request are repeated in headers."""
        return self.server.is_modern and self.channel.has_headers

    def request(
        self,
        method: str,
        params: str,
        seconds: float,
        since: float | None = None,
        mirrored: Mapping[str, str] = NO_HEADERS,
    ) -> Value:
        """Send a request and wait for its result; arguments as for `ask`.

        Raises:
            JsonRpcError, InputNeededError: the server responded with an error.
            ServerError, TimedOutError: as `ask`.

        """
        self.stage = method
        response = self.ask(method, params, seconds, since, mirrored)
        if response.error is not None:
            raise self.refused(response.error)
        assert response.result, "a response has one of the two"
        self._account.answered(method)
        return response.result

    def ask(
        self,
        method: str,
        params: str,
        seconds: float,
        since: float | None = None,
        mirrored: Mapping[str, str] = NO_HEADERS,
    ) -> Response:
        """Send a request and wait for its response, whichever it is.

        Args:
            method: of the request.
            params: its params as JSON text.
            seconds: how long to wait at most.
            since: the time on the clock from which the seconds count; None for now.
            mirrored: what is repeated in headers, if the channel has any.

        Raises:
            ServerError: the server ended, or sent a response that cannot be used.
            TimedOutError: there was no response in time. The server has been told.
            UnauthorizedError: a server on a URL does not let us in.

        """
        deadline = (self.clock() if since is None else since) + seconds
        id_ = self.send(method, params, mirrored=mirrored)
        try:
            while True:
                response = self.wait(deadline)
                if response.id == id_:  # not a late one, from earlier in the handshake
                    return response
        except ReceiveTimeout as problem:
            failure = self.timed_out(problem, seconds)
            self._cancel("timeout")
            raise failure from None
        except ChannelClosed as problem:
            raise self.closed(problem) from None
        except Unanswered as problem:
            self._open.clear()
            kind = errors.SessionLostError if problem.session_lost else errors.HttpStatusError
            failed = self.failed(problem.what, ran=not problem.session_lost)
            raise kind(str(failed), problem.status) from None
        except errors.UnauthorizedError as problem:
            raise type(problem)(f"{problem}{self._aftermath(ran=problem.is_late)}") from None

    def send(
        self,
        method: str,
        params: str,
        id_: str | None = None,
        mirrored: Mapping[str, str] = NO_HEADERS,
    ) -> Id:
        """Send a request and return its id, the next number if none is given; see `ask`."""
        chosen = self.next_id if id_ is None else id_
        self.next_id += id_ is None
        revision = mcp.written_in(method, self.server.revision)
        label = Label(method, revision, is_request=True, mirrored=mirrored)
        message = wire.request(chosen, method, params)
        self.echo.expect(message if self.stage == HANDSHAKE else b"")
        self.channel.send(message, label)
        self._open[chosen] = method
        self._account.requested()
        return chosen

    def notify(self, method: str, params: str = "{}") -> None:
        """Send a notification; params as JSON text."""
        self.channel.send(wire.notification(method, params), Label(method, self.server.revision))

    def wait(self, deadline: float) -> Response:
        """Wait for the response to an open request, until `deadline` on the clock.

        Raises:
            ServerError: a response, or something else on the line, cannot be used.
            InputNeededError: the server asks what nobody answers. It has been told.
            ReceiveTimeout: as the channel said, or only the request came back.
            ChannelClosed, Unanswered: as the channel said.

        """
        while not self._responses:
            until = min(deadline, self.echo.until)
            try:
                self._handle_line(self.channel.receive(until + self.user.stood))
            except MessageTooLarge as problem:
                raise errors.OversizedError(str(self.failed(problem.what))) from None
            except Unaskable as problem:
                raise self.failed(problem.what) from None
            except errors.Interrupted:
                self._cancel("interrupted")
                raise
            except InputNeededError as problem:
                told = f"{problem}{self._aftermath()}"
                self._cancel("input was not given")
                raise InputNeededError(told) from None
            except ChannelClosed as problem:
                if self._handle_last_words(problem.partial):
                    problem.partial = bytearray()
                if not self._responses:
                    raise
        return self._responses.popleft()

    def complete_handshake(self, server: mcp.ServerInfo) -> None:
        """Go on to requests; a response that is still due from the handshake will be skipped."""
        self.server = server
        self._open.clear()
        self._responses.clear()

    def end(self) -> str:
        """End the server; how it ended, as words after "the server"."""
        return self.channel.close()

    # -- what came -----------------------------------------------------------------------------

    def _handle_line(self, line: bytearray) -> None:
        self.echo.look(line, self.clock())
        try:
            messages = wire.read(line)
        except JsonError as why:
            if kind := matching.broken(line, self._open, is_modern=self.server.is_modern):
                raise self.failed(f"sent {kind} that is {self.redact.plain(str(why))}") from None
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
            self.skipped.add(line)
        for message in messages:
            self._dispatch(message, line)

    def _dispatch(self, message: wire.Message, line: bytearray) -> None:
        id_ = matching.answered_by(message, self._open)
        if id_ is not None:
            del self._open[id_]
            if not self._open:
                self.channel.settle()
            response = matching.response(id_, message)
            if response is None:
                raise self.failed("sent an answer with neither a result nor an error")
            self._responses.append(response)
        elif message.method is None or message.is_answer or matching.is_echo(message, self._open):
            self.skipped.add(line)
        elif message.id is not None:
            self._reply(message.id, message.method, message.params)
        elif message.method.endswith("/list_changed"):
            self.list_changes += 1

    def _reply(self, id_: Value, method: str, params: Value | None) -> None:
        if self.server.is_modern or id_.first in "{[tf":
            return  # 2026-07-28: the client sends requests and notifications only
        message = wire.reply(id_, self.user.outcome(method, params))
        if not self._account.replied(len(message), self.channel.unread_by_server()):
            raise self.failed("sends more requests than it reads replies")
        self.channel.send(message, Label("", self.server.revision))

    def _cancel(self, reason: str) -> None:
        """Tell the server to stop working, but on no handshake ("Cancellation", all revisions)."""
        if self.stage != HANDSHAKE:
            for id_ in self._open:
                self.notify(mcp.CANCELLED, mcp.cancel_params(self.server.revision, id_, reason))

    # -- failures, each in one sentence --------------------------------------------------------

    def failed(self, what: str, *, ran: bool = True) -> ServerError:
        """Make the failure of a server that did `what`; not `ran`: a call certainly ran nothing."""
        return ServerError(f"the server {what} during {self.stage}{self._aftermath(ran=ran)}")

    def closed(self, problem: ChannelClosed) -> ServerError:
        """Make the failure of a server that is gone, or has closed a pipe; it is ended."""
        self.skipped.add_partial(problem.partial)
        # Now: nobody knows later what it has read.
        aftermath, unread = self._aftermath(), self.channel.unread_by_server()
        ending = self.end()
        what = "closed its input" if problem.input_closed else ending
        sentence = f"the server {what} during {self.stage}{aftermath}"
        return ServerGoneError(sentence, has_read=not unread)

    def timed_out(self, problem: ReceiveTimeout, seconds: float) -> TimedOutError | ServerError:
        """Make the failure of a server that was silent for `seconds`, or of what is none."""
        if self.echo.came:
            return ServerError("the program repeats its input: it is not an MCP server")
        self.skipped.add_partial(problem.partial)
        option = "--start-timeout" if self.stage == HANDSHAKE else "--timeout"
        after = self._aftermath(unsent=problem.unsent)
        return TimedOutError(f"no answer to {self.stage} in {seconds:g} s ({option}){after}")

    def refused(self, error: mcp.ErrorObject) -> errors.JsonRpcError | errors.InputNeededError:
        """Make the failure of a request that got `error`: its code, words and data."""
        return refusal.refused(error, self.stage, self.redact, self.user.modes)

    def _aftermath(self, **known: bool) -> str:
        return self._account.sentence(self.stage, self.channel.unread_by_server(), **known)
