"""One open request of the fixture, as its handlers see it: what it says, asks and refuses."""

import asyncio
import hmac
import secrets

MODERN = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
VERSION, CAPABILITIES = f"{PREFIX}protocolVersion", f"{PREFIX}clientCapabilities"
INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32600, -32601, -32602
MISSING_CAPABILITY = -32021
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
NEEDS = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}  # fmt: skip
KEY = secrets.token_bytes(32)  # signs a state: what comes back is the client's word


class Refusal(Exception):  # noqa: N818 - an outcome
    """The request is answered with a JSON-RPC error."""

    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.error = {"code": code, "message": message} | ({"data": data} if data else {})


class InputRequired(Exception):  # noqa: N818 - an outcome
    """The request has to be made again, with answers."""

    def __init__(self, requests, state):
        super().__init__()
        self.result = {"resultType": "input_required", "inputRequests": requests}
        if state:
            self.result["requestState"] = signed(state)


class Call:
    """A request, and what belongs to it."""

    is_modern = False

    def __init__(self, server, method, params, capabilities, level):
        self.server, self.method, self.params = server, method, params
        self.capabilities, self.level = capabilities, level
        self.token = params.get("_meta", {}).get("progressToken")

    def log(self, text, level="info"):
        if self.level and LEVELS.index(level) >= LEVELS.index(self.level):
            params = {"level": level, "logger": "fixture", "data": text}
            self.server.say(method="notifications/message", params=params)

    def progress(self, done, total, text):
        if self.token is not None:
            params = {
                "progressToken": self.token,
                "progress": done,
                "total": total,
                "message": text,
            }
            self.server.say(method="notifications/progress", params=params)

    def supports(self, method):
        return NEEDS[method] in self.capabilities

    def state(self):
        """The state that was given out in the round before; empty in the first round."""
        return ""

    async def answers(self, requests, state=""):  # noqa: ARG002 - for the other era
        """Ask the client, `(method, params)` by key; its results by key.

        In 2026-07-28 the request ends here in the first round, and `state` comes back with the second.
        """
        asked = [self.server.ask(*request) for request in requests.values()]
        return dict(zip(requests, await asyncio.gather(*asked), strict=True))


class ModernCall(Call):
    """A request of 2026-07-28, which brings all that is to be known."""

    is_modern = True

    def state(self):
        given = self.params.get("requestState")
        return "" if given is None else checked(given)

    async def answers(self, requests, state=""):
        given = self.params.get("inputResponses") or {}
        if all(isinstance(given.get(key), dict) for key in requests):
            return {key: given[key] for key in requests}
        asked = {
            key: {"method": method, "params": params} for key, (method, params) in requests.items()
        }
        raise InputRequired(asked, state)


def of_envelope(server, method, params):
    meta = params["_meta"]
    return ModernCall(server, method, params, meta[CAPABILITIES], meta.get(f"{PREFIX}logLevel"))


def signed(state):
    return f"{state}.{hmac.new(KEY, state.encode(), 'sha256').hexdigest()}"


def checked(text):
    state = text.rpartition(".")[0]
    if not hmac.compare_digest(text, signed(state)):
        raise Refusal(INVALID_PARAMS, "requestState was changed")
    return state


def form(message, properties, required=()):
    """The request for a form to be filled in."""
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return "elicitation/create", {"message": message, "requestedSchema": schema}


def sample(text, limit=100):
    """The request for a message of the client's model."""
    message = {"role": "user", "content": {"type": "text", "text": text}}
    return "sampling/createMessage", {"messages": [message], "maxTokens": limit}


ROOTS = ("roots/list", {})
