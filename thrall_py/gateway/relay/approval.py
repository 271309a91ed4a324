"""What a person is asked before a call that may change something (`--ask`). Pure.

Who approves has to see what is approved. So all of the arguments is shown, but for the middle of
long texts; of these it is said how much is missing. What does not fit even so is not asked at all.
"""

import re

from thrall_py.gateway.core import digest
from thrall_py.protocol import canonical, wire
from thrall_py.protocol.jsontext import Json, Value
from thrall_py.visible import visible

NEEDED = "a call of this tool has to be approved, since thrall serve runs with --ask"
TOO_MUCH = (
    f"{NEEDED}, and its arguments are too many to be shown to anybody: call it with fewer, or"
    " fewer at a time"
)
CANNOT_ASK = (
    f"{NEEDED}, and this client cannot ask its user, as it did not declare elicitation: call it"
    " from one that can, or start thrall serve without --ask"
)
_NAME = 128  # characters
_LONG = 240  # characters of a text that is shown whole
_KEPT = 80  # characters at the beginning and at the end of one that is not
_MOST = 4000  # characters; more than a person reads of one question
_FIELD = "approve"
_SCHEMA: Json = {
    "type": "object",
    "properties": {
        _FIELD: {"type": "boolean", "title": "Allow this one call", "default": False},
    },
    "required": [_FIELD],
}
# A string of JSON text that names no member, or blanks between tokens.
_STRING_OR_BLANK = re.compile(r'("(?:[^"\\]++|\\.)*+")(\s*+:)?|\s++')


def question(tool: str, server: str, arguments: str) -> str | None:
    """Make the params of the elicitation, as JSON text; without a mode it is a form.

    Args:
        tool: its name for the client.
        server: its name in the catalog.
        arguments: JSON text in Latin-1, as the client sent it.

    Returns:
        None if the arguments cannot be shown: they are too many, or their names too long.

    """
    shown = _shown(arguments)
    if shown is None:
        return None
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


def _shown(arguments: str) -> str | None:
    """All names, numbers and short texts; None if that is too much."""
    text = arguments.encode("latin-1").decode("utf-8", "replace")
    left_out: list[int] = []

    def shorten(found: re.Match[str]) -> str:
        string, colon = found.groups()
        if string is None:
            return " "
        if colon or len(string) <= _LONG:
            return found[0]
        end, start = _between(string, _KEPT), _between(string, len(string) - _KEPT)
        missing = start - end
        left_out.append(missing)
        # What stands outside of quotation marks, no text can pretend to be.
        return f'{string[:end]}" ({missing} characters are not shown) "{string[start:]}'

    shown = visible(_STRING_OR_BLANK.sub(shorten, text))
    if len(shown) > _MOST:
        return None
    if not left_out:
        return shown
    return (
        f"{shown} (this is not all of it: {sum(left_out)} characters of {len(left_out)} long texts"
        f" are not shown; the digest of the whole is {digest.of(arguments)})"
    )


def _between(string: str, at: int) -> int:
    """The first place from `at` on that is in no escape; half of one would look like the end."""
    backslashes = at - len(string[:at].rstrip("\\"))
    return at + backslashes % 2
