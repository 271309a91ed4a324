"""Whoever answers what a server asks of its user, and the clock that stands still meanwhile."""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from thrall_py.protocol import mcp, wire
from thrall_py.protocol.jsontext import Value
from thrall_py.redact import Redactor

Clock = Callable[[], float]
HasEnded = Callable[[], bool]  # raises Interrupted if a signal came
# Questions that a server may ask in one session, so in one call: one for each field of a long form,
# but not for ever, because no deadline runs while a person answers.
_MOST_QUESTIONS = 100


class Unaskable(Exception):  # noqa: N818 - an outcome, turned into a ThrallError by the session
    """The server asks what cannot be brought before its user; `what` it did, in words."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class User(Protocol):
    """Somebody, or some options, to answer for the user."""

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes of elicitation that can be answered, as the protocol calls them."""

    @property
    def refusals(self) -> list[str]:
        """Sentences about what was refused without asking: the caller is to be told of them."""

    @property
    def unused(self) -> Iterable[str]:
        """The names of answers that were given and, so far, not asked for."""

    def answer(
        self, requests: Mapping[str, mcp.Asked], redact: Redactor, has_ended: HasEnded, /
    ) -> dict[str, str]:
        """Answer every request, by its name, with a response as JSON text in ASCII.

        All of them are of the modes, and can be read. Whoever takes time may ask whether the
        server `has_ended` meanwhile; what is answered then does not matter.

        Raises:
            InputNeededError: there is no answer to one of them.
            Interrupted: a signal came instead of an answer.

        """


class Declared:
    """A user of whom more is declared than anybody can answer: some servers list tools by that.

    Args:
        listed_with: the modes that are declared for lists, as when they were pinned.
        user: whoever answers what he can; None if there is nobody.

    """

    def __init__(self, listed_with: tuple[str, ...], user: User | None) -> None:
        own = user.modes if user else ()
        self.listed_with = listed_with
        self.modes = tuple(mode for mode in mcp.MODES if mode in {*listed_with, *own})
        self._user = user

    @property
    def unused(self) -> Iterable[str]:
        """Those of whoever answers."""
        return self._user.unused if self._user else ()

    @property
    def refusals(self) -> list[str]:
        """Those of whoever answers."""
        return self._user.refusals if self._user else []

    def answer(
        self, requests: Mapping[str, mcp.Asked], redact: Redactor, has_ended: HasEnded, /
    ) -> dict[str, str]:
        """Have requests answered by whoever can; refuse them otherwise, as a `User` does."""
        modes = {mcp.elicitation_mode(asked) for asked in requests.values()}
        if self._user is None or not modes.issubset(self._user.modes):
            from thrall_py.protocol import elicitation

            raise elicitation.needed(requests, redact)
        return self._user.answer(requests, redact, has_ended)


def declaring(modes: tuple[str, ...], user: User | None) -> User | None:
    """Let these modes be declared, as when the server was pinned, and those of the user."""
    return Declared(modes, user) if modes else user


class Respondent:
    """Brings what one server asks before its user, if there is one.

    Attributes:
        modes: as the user says; none without one.
        listed_with: those that are declared where a request for a list has an envelope.
        stood: seconds that the clock has stood still.
        unanswered: the first elicitation of a legacy server in a mode that was not declared, by
            an empty name; nothing as long as there was none.
        unreadable: why an elicitation of a legacy server could not be read, the first of them.
        undeclared: the method of the last request of a legacy server's that needs a capability
            which was not declared; empty if there was none.

    """

    def __init__(
        self, user: User | None, now: Clock, redact: Redactor, has_ended: HasEnded
    ) -> None:
        self.modes = user.modes if user else ()
        self.listed_with = user.listed_with if isinstance(user, Declared) else ()
        self.stood = 0.0
        self.unanswered: dict[str, mcp.Asked] = {}
        self.unreadable = ""
        self.undeclared = ""
        self._user = user
        self._now = now
        self._redact = redact
        self._has_ended = has_ended
        self._questions = 0

    def clock(self) -> float:
        """The time in seconds, less what the user has taken: a deadline is the server's."""
        return self._now() - self.stood

    def answer(self, requests: Mapping[str, mcp.Asked]) -> dict[str, str]:
        """Have requests answered, all or none; raises as a `User` does.

        Raises:
            InputNeededError: also, there is no user, or one of the requests is none for a user.
            Unaskable: one cannot be read, or there were too many.

        """
        for asked in requests.values():
            if why := self._unreadable(asked):
                raise Unaskable(f"asked with a form that cannot be read ({why})")
        return self._bring(requests)

    def _bring(self, requests: Mapping[str, mcp.Asked]) -> dict[str, str]:
        """Bring requests that can be read before the user."""
        modes = {mcp.elicitation_mode(asked) for asked in requests.values()}
        if self._user is None or not modes.issubset(self.modes):
            from thrall_py.protocol import elicitation

            raise elicitation.needed(requests, self._redact)
        self._questions += len(requests)
        if self._questions > _MOST_QUESTIONS:
            raise Unaskable(f"asked its user more than {_MOST_QUESTIONS} questions")
        began = self._now()
        try:
            return self._user.answer(requests, self._redact, self._has_ended)
        finally:
            self.stood += self._now() - began

    def outcome(self, method: str, params: Value | None) -> str:
        """Respond to a request of a legacy server's; the member of the response as JSON text.

        A mode that was not declared is an error (2025-11-25, "Elicitation", "Error Handling"), and
        so is a form that cannot be read: nobody can agree to it.

        Raises:
            InputNeededError, Interrupted: as a `User` does.
            Unaskable: there were too many.

        """
        if method == "ping":
            return '"result":{}'
        asked = mcp.Asked(method, params)
        is_mode = mcp.elicitation_mode(asked) in self.modes
        if method != mcp.ELICITATION or not is_mode:
            self.undeclared = method
        why = self._unreadable(asked)
        if why and not self.unreadable:
            self.unreadable = why
            if self._user:
                sentence = "the server asked with a form that cannot be read, which was refused"
                self._user.refusals.append(f"{sentence} ({why})")
        if method == mcp.ELICITATION and not (is_mode or why):
            self.unanswered.setdefault("", asked)
        if method != mcp.ELICITATION or not self.modes:
            return wire.error(mcp.METHOD_NOT_FOUND, "Method not found")
        if not is_mode:
            return wire.error(mcp.INVALID_PARAMS, "mode not supported")
        if why:
            return wire.error(mcp.INVALID_PARAMS, f"the form cannot be read ({why})")
        return f'"result":{self._bring({"": asked})[""]}'

    def _unreadable(self, asked: mcp.Asked) -> str:
        """Say why an elicitation cannot be read; empty if it can, and for anything else."""
        if asked.method != mcp.ELICITATION:
            return ""
        from thrall_py.protocol import elicitation

        try:
            elicitation.read(asked)
        except elicitation.UnreadableError as problem:
            return self._redact.plain(str(problem))
        return ""
