"""One request on its way: who made it, what is asked meanwhile, and how it ends."""

import asyncio
import math
from collections.abc import Mapping
from typing import NamedTuple

from thrall_py.errors import ThrallError
from thrall_py.gateway.caller import Caller, Facts, Refused
from thrall_py.gateway.core import digest, envelope
from thrall_py.gateway.core.answering import Forward
from thrall_py.gateway.core.envelope import INTERNAL_ERROR
from thrall_py.gateway.core.incoming import Request, verbatim
from thrall_py.gateway.core.notices import is_wanted, look_into
from thrall_py.gateway.relay import approval, declared, outcome, rounds
from thrall_py.gateway.relay.outcome import Ended
from thrall_py.gateway.relay.room import Room
from thrall_py.gateway.relay.sealing import Seals
from thrall_py.gateway.server import Server
from thrall_py.protocol import canonical, jsontext, mcp
from thrall_py.protocol.jsontext import Value
from thrall_py.protocol.wire import Message
from thrall_py.redact import Redactor
from thrall_py.visible import visible

_ROUNDS = 10  # of answers that a modern server is given, as the official clients do
_PAUSE = 0.1  # seconds before a server that only gave a state is called again
_MOST_ASKED = 16  # questions of one call at a time


class Terms(NamedTuple):
    """On which terms a call is made.

    Attributes:
        asks_first: whether a person has to approve it.
        seals: for the state of a modern server.
        room: for what waits while its client is asked.

    """

    asks_first: bool
    seals: Seals
    room: Room


class _Question:
    """What a modern client is asked, and where its answer goes."""

    def __init__(self, asked: mcp.Asked) -> None:
        self.asked = asked
        self.answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()


class Call:
    """A Listener: a request of a client that a server answers.

    A modern client cannot be asked by a request. What it is asked is kept in `questions`, and
    `asking` is set, until somebody hands over the answers.

    Args:
        request: as the client made it.
        forward: what of it goes to the server.
        caller: who made it.
        server: who answers.
        terms: on which it is made.

    Attributes:
        state: of the server, with which a modern client came back; JSON text, empty for none.

    """

    def __init__(
        self,
        request: Request,
        forward: Forward,
        caller: Caller,
        server: Server,
        terms: Terms,
    ) -> None:
        self.questions: dict[str, _Question] = {}
        self.asking = asyncio.Event()
        self.forward = forward
        self.client = caller.client
        self._caller = caller
        self._is_waiting = True  # somebody waits for the outcome
        self._request = request
        self._token = envelope.progress_token(request)
        self._server = server
        self.state = ""
        self._terms = terms
        self._count = 0

    # -- who made it --------------------------------------------------------------------------

    @property
    def facts(self) -> Facts:
        """What the client says of itself."""
        return self._caller.facts

    @property
    def name(self) -> str:
        """What the client asks for, by the name that it knows: a tool or a prompt has a prefix."""
        params = self._request.params
        return (params and params.member_string("name")) or self.forward.name

    @property
    def is_modern(self) -> bool:
        """Whether the client can only be asked by a result."""
        return self.facts.revision == mcp.MODERN

    @property
    def owner(self) -> str:
        """Whose it is while it waits for answers."""
        return self._caller.owner

    @property
    def binding(self) -> str:
        """Of which client's and which request's it is: by all that is sent to the server."""
        forward = self.forward
        members = digest.of(f"{{{forward.members}}}")
        return canonical.compact([self.owner, forward.server, forward.method, members])

    @property
    def size(self) -> int:
        """How many characters a call keeps: those that came, whatever of them is passed on."""
        return len(self._request.params.source) if self._request.params else 0

    @property
    def capabilities(self) -> str:
        """What the server may ask for, as far as it can be relayed."""
        return declared.relayed(self.facts.capabilities)

    @property
    def wants_progress(self) -> bool:
        """Whether the client gave a token for progress."""
        return bool(self._token)

    @property
    def log_level(self) -> str:
        """The least severe log message that the client wants."""
        return self.facts.log_level

    @property
    def unanswered(self) -> dict[str, mcp.Asked]:
        """What the client is to be asked; not what the server took back a moment ago."""
        questions = self.questions.items()
        return {name: each.asked for name, each in questions if not each.answer.done()}

    def leave(self) -> None:
        """Nobody waits any more; what is told meanwhile is dropped."""
        self._is_waiting = False

    def rejoin(self, request: Request, caller: Caller) -> None:
        """The client came back with answers; those that were not asked for are passed over."""
        self._caller, self._token, self._is_waiting = caller, envelope.progress_token(request), True
        given = request.params.member("inputResponses") if request.params else None
        for name, answer in (given.members() if given else {}).items():
            question = self.questions.pop(name, None)
            if question and not question.answer.done():
                question.answer.set_result(verbatim(answer))

    # -- what the server tells and asks meanwhile ---------------------------------------------

    def progressed(self, params: Value) -> None:
        """Pass on how far the server is, under the client's own token."""
        members = look_into(params)
        token = members and members.member("progressToken")
        done = members and members.member("progress")
        if self._is_waiting and self._token and members and token and _is_finite(done):
            text = members.source
            told = text[: token.start] + self._token + text[token.end :]
            self._caller.notify(mcp.PROGRESS, verbatim(Value(told, 0, len(told))))

    def logged(self, params: Value) -> None:
        """Pass on a log message, if it is as severe as the client wants."""
        members = look_into(params)
        if self._is_waiting and members and is_wanted(members, self.log_level):
            self._caller.notify(mcp.LOG, verbatim(params))

    async def asked(self, method: str, params: Value | None) -> str:
        """Answer a request of a legacy server, by whatever the client says to it."""
        try:
            return f'"result":{await self._ask(method, params)}'
        except Refused as refused:
            return f'"error":{refused.error}'

    async def _ask(self, method: str, params: Value | None) -> str:
        declared.check(self.facts.capabilities, method, params)
        asked = len(params.source) if params else 0
        with self._terms.room.holding(self.owner, self.size + asked):
            if self.is_modern:
                return await self._ask_by_result(method, params)
            answer = await self._caller.ask(method, verbatim(params) if params else "{}")
        return verbatim(answer)

    async def _ask_by_result(self, method: str, params: Value | None) -> str:
        """Ask a modern client by the result that it gets; who waits for it sees `asking`."""
        if len(self.questions) >= _MOST_ASKED:
            raise Refused.because(INTERNAL_ERROR, "the client has too many questions before it")
        self._count += 1
        name = str(self._count)
        question = self.questions[name] = _Question(mcp.Asked(method, params))
        self.asking.set()
        try:
            return await question.answer
        finally:
            self.questions.pop(name, None)

    # -- how it ends ---------------------------------------------------------------------------

    async def end(self) -> Ended:
        """Have it approved if need be, and answered by the server.

        Raises:
            Drifted: what is asked for is not as pinned.

        """
        try:
            refusal = await self._refusal() if self._terms.asks_first else ""
            if refusal:
                return self._failed(refusal, outcome.REFUSED)
            return await self._answered()
        except ThrallError as problem:
            return self._failed(str(problem))
        except Refused as refused:
            why = _words(refused)
            return self._failed(f"the server needs input that the client did not give: {why}")

    def _failed(self, sentence: str, verdict: str = outcome.FAILED) -> Ended:
        """Tell the client why, and which of many servers it is about."""
        server, name = self.forward.server, self.forward.name
        named = visible(f"{server}/{name}" if name else server)
        return outcome.failed(self.forward.method, f"{named}: {sentence}", self.facts, verdict)

    async def _refusal(self) -> str:
        """Ask whether the call may be made; a sentence if it may not."""
        if mcp.FORM not in declared.modes(self.facts.capabilities):
            return approval.CANNOT_ASK
        params = self._request.params
        arguments = params.member("arguments") if params else None
        text = arguments.text if arguments else "{}"
        asked = approval.question(self.name, self.forward.server, text)
        if asked is None:
            return approval.TOO_MUCH
        try:
            answer = await self._ask(mcp.ELICITATION, jsontext.scan(asked, {}))
        except Refused as refused:
            return f"{approval.NEEDED}, and nobody did: {_words(refused)}"
        is_given = approval.is_given(jsontext.scan(answer, {}))
        return "" if is_given else "the call was not approved, so nothing was called"

    async def _answered(self) -> Ended:
        """Call the server, and again with the answers if it asks by its result."""
        # The state of a call that was approved must not serve for one that was not.
        passes_on = self.is_modern and not self._terms.asks_first
        comes_back = passes_on and self.forward.method in outcome.ASKING
        extra = rounds.brought(self._request, self.state) if comes_back else ""
        for _ in range(_ROUNDS):
            message = await self._server.request(self.forward, self, extra)
            if message.result is None or not outcome.asks(message.result):
                return outcome.of(message, self.facts)
            asked = rounds.questions(self.forward.method, message.result)
            if passes_on:
                lacking = declared.lacking(self.facts.capabilities, asked.values())
                return lacking or outcome.of(self._sealed(message, message.result), self.facts)
            extra = await self._answers_to(asked, message.result.member("requestState"))
        return self._failed(f"the server asked for input {_ROUNDS} times and is not content")

    def _sealed(self, message: Message, result: Value) -> Message:
        """Bind the state of a server that asks to this client and this request."""
        state = result.member("requestState")
        if not state:
            return message
        sealed = self._terms.seals.seal(verbatim(state), self.binding)
        return message._replace(result=outcome.with_state(result, state, sealed))

    async def _answers_to(self, asked: Mapping[str, mcp.Asked], state: Value | None) -> str:
        answers = {
            name: await self._ask(each.method or "", each.params) for name, each in asked.items()
        }
        if not answers:
            await asyncio.sleep(_PAUSE)
        return outcome.responses(answers, state)


def _is_finite(value: Value | None) -> bool:
    """Tell whether a value is a number that any client can read."""
    return bool(value and value.first in "-0123456789" and math.isfinite(float(value.text)))


def _words(refused: Refused) -> str:
    """What a client's error says; it is told to the client itself, so nothing is masked."""
    return Redactor().plain(mcp.parse_error(jsontext.scan(refused.error, {})).message)
