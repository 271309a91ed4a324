"""What to do about a handshake that failed, as advice to the author of a server. Pure."""

import re

from thrall_py.errors import (
    HttpStatusError,
    JsonRpcError,
    NoCommonVersionError,
    ServerGoneError,
    ThrallError,
    TimedOutError,
)
from thrall_py.protocol import mcp

# The first kind of failure that fits.
_ADVICE = (
    (TimedOutError, "answer initialize, and flush it; if it only starts slowly, --start-timeout"),
    (JsonRpcError, "answer initialize with protocolVersion, capabilities and serverInfo"),
    (HttpStatusError, "see that the path of the URL is that of the server's MCP endpoint"),
    (NoCommonVersionError, f"speak one of the revisions {', '.join(mcp.REVISIONS)}"),
    (ThrallError, "answer in JSON-RPC, a message on each line, and with nothing else"),
)
_STATUS = re.compile(r"exited with status (\d+)")  # as Process.close says it
# What programs mean by the status that they exit with: by habit, and as the shell has it.
_MEANINGS = {
    "0": "it ended as if its work was done: serve on stdin and stdout until the end of input,"
    " which some programs do with an option only",
    "1": "status 1 mostly means an error that it did not expect",
    "2": "status 2 mostly means a command line that it does not take: see the words behind --",
    "126": "status 126 mostly means a program that it could not execute",
    "127": "status 127 mostly means a program that it did not find",
}


def remedy(problem: ThrallError, hinted: str, revision: str | None) -> str:
    """Say what to do.

    Args:
        problem: why the handshake failed.
        hinted: advice about what was on the server's output beside messages; it knows more.
        revision: the one that was asked for with an option, if any.

    """
    if hinted:
        return hinted
    if isinstance(problem, ServerGoneError):
        return _about_an_exit(str(problem))
    if isinstance(problem, NoCommonVersionError) and revision:
        return f"speak {revision}, or ask for another revision (--protocol)"
    return next(words for kind, words in _ADVICE if isinstance(problem, kind))


def _about_an_exit(sentence: str) -> str:
    found = _STATUS.search(sentence)
    meaning = _MEANINGS.get(found[1], "") if found else ""
    printed = "what it wrote to standard error, if anything, is printed as it came"
    return f"{meaning}; {printed}" if meaning else f"stay until the end of input; {printed}"
