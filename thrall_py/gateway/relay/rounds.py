"""What a modern server asks for by its result, and with what it is called again. Pure.

2026-07-28, "Multi Round-Trip Requests".
"""

from thrall_py.errors import ServerError
from thrall_py.gateway.core.incoming import Request, verbatim
from thrall_py.protocol import mcp
from thrall_py.protocol.jsontext import Value


def questions(method: str, result: Value) -> dict[str, mcp.Asked]:
    """Read what a server asks for, by name; nothing if it only wants to be called again.

    Args:
        method: of the request that it does not answer yet.
        result: by which it asks.

    Raises:
        ServerError: it cannot be read, or there is no state to call again with either. The same
            call once more would be a second call of the tool.

    """
    requests, state = result.member("inputRequests"), result.member("requestState")
    asked = mcp.parse_requests(requests)
    if asked is None or (requests and requests.first != "{"):
        raise _failed("asked for input with inputRequests that cannot be used", method)
    if not asked and (state is None or state.first != '"'):
        raise _failed("asked for input without saying what for", method)
    return asked


def brought(request: Request, state: str) -> str:
    """Make the members with which a modern client comes back, its answers to the letter.

    Args:
        request: of the client.
        state: of the server, as JSON text; empty for none.

    """
    given = request.params and request.params.member("inputResponses")
    members = [f'"inputResponses":{verbatim(given)}'] if given else []
    members += [f'"requestState":{state}'] if state else []
    return ",".join(members)


def _failed(what: str, method: str) -> ServerError:
    ran = "; the tool may have run" if method == mcp.TOOLS_CALL else ""
    return ServerError(f"the server {what} during {method}{ran}")
