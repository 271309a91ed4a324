"""What `doctor` asks in an open session. No tool that exists is called."""

from collections.abc import Iterator

from thrall_py.catalog import review
from thrall_py.catalog.entry import Entry, Items, Live
from thrall_py.catalog.launch import ServerSpec
from thrall_py.errors import OversizedError, ServerGoneError, ThrallError, TimedOutError
from thrall_py.output import checkup
from thrall_py.output.checkup import Check, Outcome
from thrall_py.protocol import mcp, mirror, wire
from thrall_py.protocol.channel import NO_HEADERS
from thrall_py.protocol.matching import Response
from thrall_py.protocol.session import Session
from thrall_py.verbs.connect import ConnectionOptions
from thrall_py.verbs.survey import survey

NAMES = ("list", "list-again", "definitions", "ping", "unknown-method", "unknown-tool")

_UNKNOWN_METHOD = "doctor/no-such-method"
_UNKNOWN_TOOL = "thrall-doctor-no-such-tool"
_SLOW_LIST = 2.0  # seconds; an agent lists before it does anything else
_MOST_NAMED = 3  # definitions that changed
_MOST_REMARKS = 10  # on definitions: their author wants to see them all
_NAME = 40  # characters of a name

_IN_TIME = "answer in time; if the server is only slow, raise --timeout"
_LESS = "say it in less, or in several pages; a client that takes more needs --max-message"
_ASK_LESS = "ask for nothing but ping and what the client has declared in its capabilities"
_STAY = "stay after a request, whatever it was; what it wrote to stderr is printed as it came"
# What to do where a question is not answered, or with an error.
_ADVICE = {
    "list": "answer each list that is declared, every page of it, each entry with its own name",
    "list-again": "answer each list as often as it is asked for",
    "ping": "answer ping with an empty result; clients end servers that do not",
    "unknown-method": f"answer a method it does not know with error {mcp.METHOD_NOT_FOUND}",
    "unknown-tool": (
        f"answer a call of a tool that it does not have with error {mcp.INVALID_PARAMS},"
        " or with isError"
    ),
}


class Interview:
    """Asks one server, in one session, what every server has to know.

    Args:
        session: the session, open.
        spec: how the server was started or reached.
        connection: deadlines and limits.

    """

    def __init__(self, session: Session, spec: ServerSpec, connection: ConnectionOptions) -> None:
        self._session = session
        self._spec = spec
        self._connection = connection
        self._live: Live | None = None  # the lists, once they were had whole

    def checks(self) -> Iterator[Check]:
        """Ask everything; less if the server is gone, or cannot be understood any more."""
        questions = (self._list, self._list_again, self._definitions,
                     self._ping, self._unknown_method, self._unknown_tool)  # fmt: skip
        for name, question in zip(NAMES, questions, strict=True):
            asked, began = self._session.next_id, self._session.clock()
            try:
                check = question()
            except ServerGoneError as problem:
                yield checkup.failed(name, str(problem), _STAY)
                return
            except OversizedError as problem:
                yield checkup.failed(name, str(problem), _LESS)
                return
            except ThrallError as problem:
                late = isinstance(problem, TimedOutError)
                check = checkup.failed(name, str(problem), _IN_TIME if late else _ADVICE[name])
            if self._session.next_id > asked:
                check = check._replace(seconds=self._session.clock() - began)
            yield self._with_what_it_asked(check)

    def _with_what_it_asked(self, check: Check) -> Check:
        """Warn of a request that came meanwhile, and that the client did not say it can answer."""
        user = self._session.user
        method, user.undeclared = user.undeclared, ""
        if not method:
            return check
        words = f"{check.words}; the server asked {self._session.redact.plain(method, _NAME)}"
        words += " meanwhile, which was not declared"
        if check.outcome is Outcome.OK:
            return check._replace(outcome=Outcome.WARNING, words=words, advice=_ASK_LESS)
        return check._replace(words=words)

    # -- the lists -----------------------------------------------------------------------------

    def _list(self) -> Check:
        asked, began = self._session.next_id, self._session.clock()
        items = self._survey()
        requests = self._session.next_id - asked
        words = ", ".join(_count(len(held), member) for member, held in items.items())
        if requests > len(items):
            words += f", in {requests} requests"
        if not items.get(mcp.TOOLS.member):
            advice = "declare the capability tools, and list some, if agents are to use it"
            return checkup.warned("list", words or "no tools, nor anything else", advice)
        if self._session.clock() - began > _SLOW_LIST:
            advice = "prepare the list when the server starts: everyone waits for it"
            return checkup.warned("list", f"slow: {words}", advice)
        return checkup.ok("list", words)

    def _list_again(self) -> Check:
        if self._live is None:
            return checkup.skipped("list-again", "there is no list to compare with")
        changed = list(_changed(self._live.items, self._survey()))
        if not changed:
            return checkup.ok("list-again", "the same definitions as before")
        redact = self._session.redact
        words = _some([redact.quoted(name, _NAME) for name in changed], _MOST_NAMED, ", ")
        advice = "keep what changes by itself out of definitions: nobody can pin them"
        return checkup.failed("list-again", f"not as before: {words}", advice)

    def _definitions(self) -> Check:
        """Judge what was listed; for a schema of no use many clients refuse the whole list."""
        if self._live is None or not any(self._live.items.values()):
            return checkup.skipped("definitions", "there are none")
        entry = Entry(self._spec, self._live.server, self._live.items)
        remarks = list(review.entry_warnings(entry, self._session.redact))
        remarks += self._live.oddities
        unsaid = sum(not tool.text("description").strip() for tool in entry.tools.values())
        if unsaid:
            remarks.append(f"{_count(unsaid, 'tools')} without a description")
        if not remarks:
            return checkup.ok("definitions", "names, descriptions and schemas are in order")
        useless = any(review.schema_oddity(tool.definition) for tool in entry.tools.values())
        outcome = Outcome.FAILED if useless else Outcome.WARNING
        advice = (
            "give tools plain names, descriptions in which all is visible,"
            ' and an inputSchema of "type": "object"'
        )
        return Check("definitions", outcome, _some(remarks, _MOST_REMARKS, "; "), advice)

    def _survey(self) -> dict[str, Items]:
        """List everything that is declared; the first time it is remembered."""
        declared = self._session.server.capabilities
        surface = [kind.member for kind in mcp.KINDS if kind.capability in declared]
        live = survey(self._session, surface, self._connection, self._session.redact)
        self._live = self._live or live
        return live.items

    # -- what every server has to answer -------------------------------------------------------

    def _ping(self) -> Check:
        if self._session.server.is_modern:
            return checkup.skipped("ping", f"there is none in {mcp.MODERN}")
        self._session.request("ping", "{}", self._connection.timeout)
        return checkup.ok("ping", "answered")

    def _unknown_method(self) -> Check:
        response = self._ask(_UNKNOWN_METHOD, "", "a request that no server knows")
        return self._refusal("unknown-method", response, mcp.METHOD_NOT_FOUND)

    def _unknown_tool(self) -> Check:
        """Call a tool by a name that is not in the list, so that nothing can run."""
        tools = self._live and self._live.items.get(mcp.TOOLS.member)
        if not tools:
            return checkup.skipped("unknown-tool", "it is not known to have tools")
        tool = _UNKNOWN_TOOL
        while tool in tools:
            tool += "-"
        response = self._ask(
            mcp.TOOLS_CALL,
            mcp.call_members(tool, "{}"),
            "a call of a tool that does not exist",
            tool,
        )
        if response.result and wire.load_or_none(response.result.member("isError")) is True:
            return checkup.ok("unknown-tool", "refused with isError")
        return self._refusal("unknown-tool", response, mcp.INVALID_PARAMS)

    def _ask(self, method: str, members: str, stage: str, tool: str = "") -> Response:
        session = self._session
        session.stage = stage
        params = mcp.request_params(session.server.revision, members)
        mirrored = mirror.headers(tool, (), "{}") if tool and session.mirrors else NO_HEADERS
        return session.ask(method, params, self._connection.timeout, mirrored=mirrored)

    def _refusal(self, name: str, response: Response, code: int) -> Check:
        """Judge the answer to what has to be refused with an error of this code."""
        if response.error is None:
            return checkup.failed(
                name, f"answered {self._session.stage} with a result", _ADVICE[name]
            )
        if response.error.code == code:
            return checkup.ok(name, f"refused with error {code}")
        problem = self._session.refused(response.error)
        return checkup.warned(name, str(problem), _ADVICE[name])


def _changed(before: dict[str, Items], after: dict[str, Items]) -> Iterator[str]:
    """Name what is listed in one of the two alone, or is not the same in both."""
    for member, items in before.items():
        for name in {**items, **after[member]}:
            first, second = items.get(name), after[member].get(name)
            if first is None or second is None or first.digest != second.digest:
                yield name


def _count(number: int, member: str) -> str:
    words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in member)
    return f"{number} {words.removesuffix('s') if number == 1 else words}"


def _some(words: list[str], most: int, between: str) -> str:
    more = len(words) - most
    return between.join(words[:most]) + (f"{between}and {more} more" if more > 0 else "")
