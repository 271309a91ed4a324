"""Every way thrall fails, and the exit status each earns.

A status exists per different next step of the caller, never per cause. The pages in man/, the
README and `thrall --help` are checked against the table below.
"""

from typing import ClassVar, NamedTuple


class Status(NamedTuple):
    """One row of the status table."""

    code: str
    meaning: str
    next_step: str


STATUSES = (
    Status("0", "the tool answered; the catalog was written; no drift", ""),
    Status("1", "the answer is no: the tool said isError; check found drift", "read stdout"),
    Status("2", "the command line is wrong", "fix the command"),
    Status("3", "the input or the catalog cannot be used; nothing was started", "fix it, re-pin"),
    Status("4", "the server failed, or its answer cannot be used", "look at the server"),
    Status("5", "the server refused with a JSON-RPC error", "look at the call"),
    Status("6", "the tool is not as pinned; nothing was called", "review, re-pin"),
    Status("7", "the server needs input that was not given", "give it"),
    Status("8", "not authorised (servers on a URL)", "give a token"),
    Status("70", "a bug in thrall, with a traceback", "report it"),
    Status("124", "a deadline passed", "raise it, look at the server"),
    Status("126", "the program could not be executed", "fix the argv"),
    Status("127", "the program was not found", "fix the argv"),
    Status("128+N", "ended by signal N", ""),
)

ANSWERED = 0
ANSWER_IS_NO = 1
BUG = 70


class ThrallError(Exception):
    """A failure that is told in one sentence: lower case, no full stop, safe to look at."""

    exit_status: ClassVar[int]


class UsageError(ThrallError):
    """The command line is wrong."""

    exit_status = 2


class InputError(ThrallError):
    """The arguments, or an option's value, cannot be used; nothing was started."""

    exit_status = 3


class CatalogError(ThrallError):
    """The catalog is missing, damaged or not writable."""

    exit_status = 3


class OutputError(ThrallError):
    """What was asked for is there and cannot be written."""

    exit_status = 3


class ServerError(ThrallError):
    """The server ended, went silent on the wire, or sent what cannot be used."""

    exit_status = 4


class HttpStatusError(ServerError):
    """A server on a URL replied with an HTTP status, and without a message."""

    def __init__(self, sentence: str, status: int = 0) -> None:
        super().__init__(sentence)
        self.status = status


class SessionLostError(HttpStatusError):
    """A server on a URL does not know the session any more; it ran nothing of what it was sent."""


class ServerGoneError(ServerError):
    """The server ended, or closed a pipe: nothing more can be asked of it.

    Attributes:
        has_read: whether it had read all that it was sent, as far as that can be known.

    """

    def __init__(self, sentence: str, *, has_read: bool = True) -> None:
        super().__init__(sentence)
        self.has_read = has_read


class NoCommonVersionError(ServerError):
    """The server speaks no revision of the protocol that it was asked for."""


class OversizedError(ServerError):
    """The server sent a message beyond the limit: what follows it cannot be told from the rest."""


class TlsError(ServerError):
    """A server on a URL, or a proxy before it, is reached and is not who it should be."""


class JsonRpcError(ThrallError):
    """The server answered with a JSON-RPC error."""

    exit_status = 5

    def __init__(self, sentence: str, code: object = None) -> None:
        super().__init__(sentence)
        self.code = code


class DriftError(ThrallError):
    """The tool is not the one that was pinned; it was not called."""

    exit_status = 6


class InputNeededError(ThrallError):
    """The server asks for input that nobody gave."""

    exit_status = 7


class UnauthorizedError(ThrallError):
    """A server on a URL, or a proxy before it, wants another token or none of us.

    `is_late`: the request had been taken before, and only its answer is kept from us.
    """

    exit_status = 8

    def __init__(self, sentence: str, *, is_late: bool = False) -> None:
        super().__init__(sentence)
        self.is_late = is_late


class TimedOutError(ThrallError):
    """A deadline passed."""

    exit_status = 124


class CannotExecuteError(ThrallError):
    """The server's program is there and cannot be executed."""

    exit_status = 126


class ProgramNotFoundError(ThrallError):
    """The server's program is not there."""

    exit_status = 127


class Interrupted(BaseException):
    """A signal asks thrall to stop. Not an Exception, so that no handler for failures takes it."""

    def __init__(self, signum: int) -> None:
        super().__init__(signum)
        self.signum = signum
