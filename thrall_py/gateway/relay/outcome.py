"""How a request that went upstream ended: what the client gets, and what the audit line says."""

from collections.abc import Mapping
from typing import NamedTuple

from thrall_py.gateway.caller import Facts
from thrall_py.gateway.core import envelope
from thrall_py.gateway.core.incoming import verbatim
from thrall_py.protocol import canonical, jsontext, mcp
from thrall_py.protocol.jsontext import Value
from thrall_py.protocol.wire import Message

OK, TOOL_ERROR, FAILED, DRIFT = "ok", "isError", "failed", "drift"
REFUSED, CANCELLED, ASKS = "refused", "cancelled", "input_required"

# What may ask by its result (2026-07-28, "Multi Round-Trip Requests").
ASKING = (mcp.TOOLS_CALL, "prompts/get", "resources/read")


class Ended(NamedTuple):
    """The end of a request.

    Attributes:
        outcome: a `"result"` or `"error"` member as JSON text.
        verdict: one of the words above, or `error` and a code.
        why: the sentence that the client was told, where we made it; empty where a server answered.

    """

    outcome: str
    verdict: str
    why: str = ""


def of(message: Message, facts: Facts) -> Ended:
    """Take what a server answered, and bring it into the era of the client."""
    told = envelope.finish(message, facts)
    if message.result is None:
        code = mcp.parse_error(message.error).code if message.error else None
        return Ended(told, f"error {code}")
    if told.startswith('"error"'):
        return Ended(told, FAILED)
    is_error = message.result.member("isError")
    if asks(message.result):
        return Ended(told, ASKS)
    return Ended(told, TOOL_ERROR if is_error and is_error.first == "t" else OK)


def asks(result: Value) -> bool:
    """Tell whether a result is none yet: a modern server asks for input first."""
    return result.member_string("resultType") == ASKS


def with_state(result: Value, old: Value, state: str) -> Value:
    """Put another `requestState` in the place of that of a server, in its result.

    Args:
        result: that asks.
        old: its state.
        state: of characters that need no escape in JSON.

    """
    text = result.source
    told = f'{text[result.start : old.start]}"{state}"{text[old.end : result.end]}'
    return jsontext.scan(told, {"_meta": {}})


def failed(method: str, sentence: str, facts: Facts, verdict: str = FAILED) -> Ended:
    """Tell a client why its request failed.

    For a tool that is a result, which a model reads and can act upon (all revisions, "Tools",
    "Error Handling"); for anything else a JSON-RPC error.
    """
    if method != mcp.TOOLS_CALL:
        return Ended(envelope.error(envelope.INTERNAL_ERROR, sentence), verdict, sentence)
    content = canonical.compact([{"type": "text", "text": sentence}])
    told = envelope.result(f'"content":{content},"isError":true', facts)
    return Ended(told, verdict, sentence)


def input_required(requests: Mapping[str, mcp.Asked], state: str) -> Ended:
    """Make the result by which a modern client is asked.

    Args:
        requests: what it is asked, by names that need no escape in JSON.
        state: what it comes back with; likewise.

    """
    asked = ",".join(f'"{name}":{_request(each)}' for name, each in requests.items())
    members = f'"resultType":"{ASKS}","requestState":"{state}","inputRequests":{{{asked}}}'
    return Ended(f'"result":{{{members},{envelope.META}}}', ASKS)


def responses(answers: Mapping[str, str], state: Value | None) -> str:
    """Make the members with which a modern server is answered; each answer is JSON text."""
    given = ",".join(f"{canonical.compact(name)}:{text}" for name, text in answers.items())
    members = f'"inputResponses":{{{given}}}'
    return members + (f',"requestState":{verbatim(state)}' if state else "")


def _request(asked: mcp.Asked) -> str:
    params = verbatim(asked.params) if asked.params else "{}"
    return f'{{"method":"{asked.method}","params":{params}}}'
