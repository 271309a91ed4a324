"""What a server asks of the user, and the responses to it.

A form wants fields filled in; a page wants to be visited (2025-06-18 to 2026-07-28, "Elicitation").
Pure: who asks the user is elsewhere.
"""

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from thrall_py.errors import InputNeededError
from thrall_py.protocol import canonical, fields, mcp, wire
from thrall_py.protocol.fields import Field
from thrall_py.protocol.jsontext import Json
from thrall_py.redact import Redactor

DECLINE = '{"action":"decline"}'  # the user says no
CANCEL = '{"action":"cancel"}'  # the user does not say
VISIT = '{"action":"accept"}'  # the user goes to the page; not that anything was done there

_MOST_ASKED = 5  # requests for input that are named
_SHOWN = 40  # characters of a name
_LONGEST_URL = 2000  # characters; nobody reads more, and a part of it is no consent
# No other character (RFC 3986, 2), and no user before the host: programs disagree on where the host
# of such a URL begins, and so might the page that is opened and the host that is shown.
_URL = re.compile(
    r"https?://(?P<host>[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]+)?"
    r"(?:[/?#][a-z0-9._~:/?#\[\]@!$&'()*+,;=%-]*)?",
    re.IGNORECASE | re.ASCII,
)


class Form(NamedTuple):
    """Fields to be filled in, and what for."""

    message: str
    fields: tuple[Field, ...]


class Page(NamedTuple):
    """A page to be visited, and what for; no `host` unless its URL is a plain one of http(s)."""

    message: str
    url: str
    host: str


def read(asked: mcp.Asked) -> Form | Page:
    """Read an elicitation; what is odd about it is passed over."""
    params = wire.load_or_none(asked.params)
    members = params if isinstance(params, dict) else {}
    message = _text(members.get("message"))
    if mcp.elicitation_mode(asked) != mcp.PAGE:
        return Form(message, tuple(_fields(members.get("requestedSchema"))))
    url = _text(members.get("url"))
    found = _URL.fullmatch(url) if len(url) <= _LONGEST_URL else None
    return Page(message, url, found["host"] if found else "")


def accept(content: Mapping[str, Json]) -> str:
    """Make the response of a user who filled in a form, as JSON text in ASCII."""
    return canonical.compact({"action": "accept", "content": dict(content)})


def described(field: Field, redact: Redactor) -> str:
    """Name a field and what it takes: `age (a whole number, optional)`."""
    optional = "" if field.is_required else ", optional"
    return f"{redact.plain(field.name, _SHOWN)} ({fields.wanted(field, redact)}{optional})"


def needed(requests: Mapping[str, mcp.Asked], redact: Redactor) -> InputNeededError:
    """Make the failure of a call for which nobody answers: it names every request and field."""
    named = [_request(name, asked, redact) for name, asked in list(requests.items())[:_MOST_ASKED]]
    more = "; and more" if len(requests) > _MOST_ASKED else ""
    return InputNeededError(
        f"the server needs input that was not given: {'; '.join(named)}{more}"
        f"{hint({mcp.elicitation_mode(asked) for asked in requests.values()})}"
    )


def hint(modes: AbstractSet[str]) -> str:
    """Say which options there are for these modes, unless one of them is none for a user."""
    if modes == {mcp.FORM}:
        return "; give --answer NAME=VALUE, --accept-defaults or --decline"
    return "; call from a terminal, or give --decline" if modes <= {mcp.FORM, mcp.PAGE} else ""


def _request(name: str, asked: mcp.Asked, redact: Redactor) -> str:
    method = redact.plain(asked.method or "", _SHOWN)
    words = redact.plain(name, _SHOWN)
    words = f"{words} ({method})" if words and method else words or method
    question = read(asked)
    words += f": {redact.quoted(question.message)}" if question.message else ""
    if mcp.elicitation_mode(asked) not in (mcp.FORM, mcp.PAGE):
        return words
    if isinstance(question, Page):
        return f"{words} at {redact.quoted(question.url)}"
    listed = ", ".join(described(field, redact) for field in question.fields)
    return words + (f" with the fields {listed}" if listed else "")


def _fields(schema: Json) -> Iterable[Field]:
    members = schema if isinstance(schema, dict) else {}
    properties, required = members.get("properties"), members.get("required")
    names = required if isinstance(required, list) else []
    for name, each in (properties if isinstance(properties, dict) else {}).items():
        yield fields.parse(name, each, is_required=name in names)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
