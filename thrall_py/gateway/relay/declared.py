"""What a client declared that it may be asked, and what else a server may not ask of it. Pure."""

from collections.abc import Iterable

from thrall_py.gateway.caller import Refused
from thrall_py.gateway.core import envelope
from thrall_py.gateway.relay.outcome import Ended
from thrall_py.protocol import canonical, jsontext, mcp
from thrall_py.protocol.jsontext import Json, JsonError, Value

# What can be relayed: the request, and the capability that a client has to declare for it (all
# revisions, "Capability Negotiation").
_CAPABILITIES = {
    mcp.ELICITATION: "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}


def relayed(capabilities: str) -> str:
    """Take from the ClientCapabilities of a client what can be relayed, as JSON text."""
    declared = _load(capabilities)
    names = [name for name in _CAPABILITIES.values() if isinstance(declared.get(name), dict)]
    return canonical.compact({name: declared[name] for name in names})


def modes(capabilities: str) -> frozenset[str]:
    """Name the modes of elicitation that a client declared.

    Without a mode it is a form (2025-11-25, "Elicitation"; before there is nothing else).
    """
    declared = _load(capabilities).get("elicitation")
    if not isinstance(declared, dict):
        return frozenset()
    named = {mode for mode in (mcp.FORM, mcp.PAGE) if isinstance(declared.get(mode), dict)}
    return frozenset(named or {mcp.FORM})


def check(capabilities: str, method: str, params: Value | None) -> None:
    """Let a request of a server pass if the client declared that it may be asked this.

    Raises:
        Refused: it did not. The codes are those of 2025-11-25, "Elicitation" and "Sampling".

    """
    needed = _CAPABILITIES.get(method)
    if needed is None:
        raise Refused.because(mcp.METHOD_NOT_FOUND, "Method not found")
    if not isinstance(_load(capabilities).get(needed), dict):
        raise Refused.because(mcp.METHOD_NOT_FOUND, f"the client did not declare {needed}")
    asked = mcp.Asked(method, params)
    if needed == "elicitation" and mcp.elicitation_mode(asked) not in modes(capabilities):
        raise Refused.because(mcp.INVALID_PARAMS, "the client did not declare this mode")


def lacking(capabilities: str, questions: Iterable[mcp.Asked]) -> Ended | None:
    """End a request whose modern server asks for what its client did not declare.

    That is the error which the client would have had from a server that minds what it declared
    (2026-07-28, "Error Codes").

    Raises:
        Refused: it asks for what nobody can declare.

    """
    missing: dict[str, dict[str, Json]] = {}
    for asked in questions:
        try:
            check(capabilities, asked.method or "", asked.params)
        except Refused:
            needed = _CAPABILITIES.get(asked.method or "")
            if needed is None:
                raise
            mode = mcp.elicitation_mode(asked)
            missing.setdefault(needed, {}).update({mode: {}} if mode else {})
    if not missing:
        return None
    words = f"the server needs what the client did not declare: {', '.join(missing)}"
    data = canonical.compact({"requiredCapabilities": {**missing}})
    code = mcp.MISSING_CLIENT_CAPABILITY
    return Ended(envelope.error(code, words, data), f"error {code}")


def _load(capabilities: str) -> dict[str, Json]:
    try:
        declared = jsontext.load(jsontext.decode(capabilities))
    except JsonError:  # it may be anybody's: what cannot be read declares nothing
        return {}
    return declared if isinstance(declared, dict) else {}
