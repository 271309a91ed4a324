"""Why a request has no response, in a sentence for each."""

from collections.abc import Callable

from thrall_py.errors import ServerError, ThrallError, TimedOutError
from thrall_py.protocol import mcp
from thrall_py.protocol.skipped import SkippedLines
from thrall_py.redact import Redactor


class Failures:
    """Makes the failures of one conversation.

    Args:
        redact: makes the server's words fit to be repeated.

    Attributes:
        skipped: the lines that were nobody's answer; counted, as they may be about any client.

    """

    def __init__(self, redact: Redactor) -> None:
        self.skipped = SkippedLines(redact, quoting=False)

    def did(self, what: str, kind: type[ServerError] = ServerError) -> Callable[[str], ThrallError]:
        """Make what makes, for each method, the failure in which the server did `what`."""
        return lambda method: kind(f"the server {what} during {method}{self._aftermath(method)}")

    def timed_out(self, method: str, seconds: float) -> TimedOutError:
        """Make the failure of a server that was silent for `seconds`."""
        waited = f"{seconds:g} s (--timeout){self._aftermath(method)}"
        return TimedOutError(f"no answer to {method} in {waited}")

    def unsent(self, method: str, seconds: float) -> TimedOutError:
        """Make the failure of a request that the server read too little to be sent."""
        waited = f"{seconds:g} s (--timeout){self.skipped.sentence()}"
        return TimedOutError(f"{method} was not sent: the server read nothing more for {waited}")

    def _aftermath(self, method: str) -> str:
        ran = "; the tool may have run" if method == mcp.TOOLS_CALL else ""
        return ran + self.skipped.sentence()
