"""What a person is asked before a call that may change something (`--ask`). Pure."""

from thrall_py.protocol import canonical, wire
from thrall_py.protocol.jsontext import Json, Value
from thrall_py.visible import visible

_NAME = 128  # characters
_ARGUMENTS = 1000  # characters; more than a person reads of one question
_FIELD = "approve"
_SCHEMA: Json = {
    "type": "object",
    "properties": {
        _FIELD: {"type": "boolean", "title": "Allow this one call", "default": False},
    },
    "required": [_FIELD],
}


def question(tool: str, server: str, arguments: str) -> str:
    """Make the params of the elicitation, as JSON text; without a mode it is a form.

    Args:
        tool: its name for the client.
        server: its name in the catalog.
        arguments: JSON text in Latin-1, as the client sent it.

    """
    shown = visible(_beginning(arguments))
    if len(shown) > _ARGUMENTS:
        shown = f"{shown[:_ARGUMENTS]}... ({len(arguments)} bytes in all)"
    message = (
        f"Allow a call of {visible(tool)[:_NAME]} on the server {visible(server)[:_NAME]},"
        f" which may change something, with these arguments? {shown}"
    )
    return canonical.compact({"message": message, "requestedSchema": _SCHEMA})


def is_given(result: Value) -> bool:
    """Tell whether the client's result is a yes: anything else is none."""
    answer = wire.load_or_none(result)
    if not isinstance(answer, dict) or answer.get("action") != "accept":
        return False
    content = answer.get("content")
    return isinstance(content, dict) and content.get(_FIELD) is True


def _beginning(arguments: str) -> str:
    """Decode no more than is shown, and not half a character."""
    begun = arguments[: 4 * _ARGUMENTS + 4].encode("latin-1")
    return begun.decode("utf-8", "ignore")
