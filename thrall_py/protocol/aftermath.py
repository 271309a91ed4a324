"""What a failed request may have left behind: a tool that has run, and lines that were skipped."""

from thrall_py.protocol import mcp
from thrall_py.protocol.skipped import SkippedLines
from thrall_py.redact import Redactor

_REPLIES_LIMIT = 1 << 20  # bytes of replies to a server that asks more than it reads


class Aftermath:
    """Keeps the account of one conversation.

    Attributes:
        skipped: the lines that were nobody's answer.

    """

    def __init__(self, redact: Redactor) -> None:
        self.skipped = SkippedLines(redact)
        self._replied = 0  # bytes behind the last request, which the server may not have read
        self._has_run = False  # a tool has, which asked to come back for its result

    def requested(self) -> None:
        """Note that a request was sent."""
        self._replied = 0

    def answered(self, method: str) -> None:
        """Note that a request had a result."""
        self._has_run |= method == mcp.TOOLS_CALL

    def replied(self, size: int, unread: int) -> bool:
        """Note that a reply of `size` bytes follows; whether there is room for it.

        `unread` are the bytes sent before that the server has not read.
        """
        self._replied = (self._replied if unread else 0) + size
        return self._replied <= _REPLIES_LIMIT

    def sentence(self, stage: str, unread: int, *, ran: bool = True, unsent: bool = False) -> str:
        """Say it behind a failure at `stage`.

        Args:
            stage: what failed.
            unread: bytes that the server has not read.
            ran: whether the last request may have run anything.
            unsent: whether something did not even leave us: the request, or a reply behind it.

        """
        # If more is unread than what stands behind it, the request itself was not read whole.
        is_cut = unread > self._replied
        said = ", and not all of the request was read" if unsent and is_cut else ""
        may_have_run = self._has_run or (ran and not is_cut)
        said += "; the tool may have run" if may_have_run and stage == mcp.TOOLS_CALL else ""
        return said + self.skipped.sentence()
