"""Whoever answers what a server asks of its user, and the clock that stands still meanwhile."""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from thrall_py.protocol import mcp
from thrall_py.protocol.jsontext import Value
from thrall_py.redact import Redactor

Clock = Callable[[], float]


class User(Protocol):
    """Somebody, or some options, to answer for the user."""

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes of elicitation that can be answered, as the protocol calls them."""

    @property
    def unused(self) -> Iterable[str]:
        """The names of answers that were given and, so far, not asked for."""

    def answer(self, requests: Mapping[str, mcp.Asked], redact: Redactor, /) -> dict[str, str]:
        """Answer every request, by its name, with a response as JSON text in ASCII.

        All of them are of the modes.

        Raises:
            InputNeededError: there is no answer to one of them.
            Interrupted: a signal came instead of an answer.

        """


class Respondent:
    """Brings what one server asks before its user, if there is one.

    Attributes:
        modes: as the user says; none without one.
        stood: seconds that the clock has stood still.
        unanswered: the first elicitation of a legacy server in a mode that was not declared, by
            an empty name; nothing as long as there was none.
        undeclared: the method of the last request of a legacy server's that needs a capability
            which was not declared; empty if there was none.

    """

    def __init__(self, user: User | None, now: Clock, redact: Redactor) -> None:
        self.modes = user.modes if user else ()
        self.stood = 0.0
        self.unanswered: dict[str, mcp.Asked] = {}
        self.undeclared = ""
        self._user = user
        self._now = now
        self._redact = redact

    def clock(self) -> float:
        """The time in seconds, less what the user has taken: a deadline is the server's."""
        return self._now() - self.stood

    def answer(self, requests: Mapping[str, mcp.Asked]) -> dict[str, str]:
        """Have requests answered, all or none; raises as a `User` does.

        Raises:
            InputNeededError: also, there is no user, or one of the requests is none for a user.

        """
        modes = {mcp.elicitation_mode(asked) for asked in requests.values()}
        if self._user is None or not modes.issubset(self.modes):
            from thrall_py.protocol import elicitation

            raise elicitation.needed(requests, self._redact)
        began = self._now()
        try:
            return self._user.answer(requests, self._redact)
        finally:
            self.stood += self._now() - began

    def outcome(self, method: str, params: Value | None) -> str:
        """Respond to a request of a legacy server's; the member of the response as JSON text.

        A mode that was not declared is an error (2025-11-25, "Elicitation", "Error Handling").
        """
        if method == "ping":
            return '"result":{}'
        asked = mcp.Asked(method, params)
        is_mode = mcp.elicitation_mode(asked) in self.modes
        if method != mcp.ELICITATION or not is_mode:
            self.undeclared = method
        if method == mcp.ELICITATION and not is_mode:
            self.unanswered.setdefault("", asked)
        if method != mcp.ELICITATION or not self.modes:
            return f'"error":{{"code":{mcp.METHOD_NOT_FOUND},"message":"Method not found"}}'
        if not is_mode:
            return f'"error":{{"code":{mcp.INVALID_PARAMS},"message":"mode not supported"}}'
        return f'"result":{self.answer({"": asked})[""]}'
