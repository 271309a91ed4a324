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
from thrall_py.protocol.jsontext import Json, JsonError
from thrall_py.redact import Redactor

NOT_PLAIN = "no plain one of http or https"  # of an address that is not shown
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


class UnreadableError(ValueError):
    """Nobody can tell what an elicitation asks, so nobody can agree; the message says why."""


def read(asked: mcp.Asked) -> Form | Page:
    """Read an elicitation; what is odd about a single field is passed over.

    Raises:
        UnreadableError: which fields there are cannot be told.

    """
    try:
        params = asked.params.load() if asked.params else None
    except JsonError as problem:
        raise UnreadableError(str(problem)) from None
    if not isinstance(params, dict):
        raise UnreadableError("its params are not an object")
    message = _text(params.get("message"))
    if mcp.elicitation_mode(asked) != mcp.PAGE:
        return Form(message, tuple(_fields(params.get("requestedSchema", {}))))
    url = _text(params.get("url"))
    return Page(message, url, host(url))


def host(url: str) -> str:
    """Find the host of a page that can be shown; empty unless its address is a plain one."""
    found = _URL.fullmatch(url) if len(url) <= _LONGEST_URL else None
    return found["host"] if found else ""


def address(url: str, redact: Redactor) -> str:
    """Quote the address of a page, if it is one that a person may be sent to."""
    return redact.quoted(url, _LONGEST_URL) if host(url) else f"an address that is {NOT_PLAIN}"


def accept(content: Mapping[str, Json]) -> str:
    """Make the response of a user who filled in a form, as JSON text in ASCII."""
    return canonical.compact({"action": "accept", "content": dict(content)})


def described(field: Field, redact: Redactor) -> str:
    """Name a field and what it takes: `age (a whole number, optional)`."""
    optional = "" if field.is_required else ", optional"
    return f"{shown_name(field, redact)} ({fields.wanted(field, redact)}{optional})"


def shown_name(field: Field, redact: Redactor) -> str:
    """Name a field; one whose name is empty can be seen to have none."""
    return redact.plain(field.name, _SHOWN) or '""'


def needed(requests: Mapping[str, mcp.Asked], redact: Redactor) -> InputNeededError:
    """Make the failure of a call for which nobody answers: it names every request and field.

    All of the requests that are elicitations can be read.
    """
    named = [_request(name, asked, redact) for name, asked in list(requests.items())[:_MOST_ASKED]]
    modes = {mcp.elicitation_mode(asked) for asked in requests.values()}
    names = [name for asked in requests.values() for name in _field_names(asked)]
    more = "; and more" if len(requests) > _MOST_ASKED else ""
    return InputNeededError(
        f"the server needs input that was not given: {'; '.join(named)}{more}{hint(modes, names)}"
    )


def option(names: Iterable[str], each: str = "") -> str:
    """Name the option that can answer the fields of these names; `each` follows one for each."""
    nameable = all(name and "=" not in name for name in names)
    return f"--answer NAME=VALUE{each}" if nameable else "--answers FILE"


def hint(modes: AbstractSet[str], names: Iterable[str] = ()) -> str:
    """Say which options there are for these modes, unless one of them is none for a user.

    `names` are those of the fields, as far as they are known.
    """
    if modes == {mcp.FORM}:
        return f"; give {option(names)}, --accept-defaults or --decline"
    return "; call from a terminal, or give --decline" if modes <= {mcp.FORM, mcp.PAGE} else ""


def _request(name: str, asked: mcp.Asked, redact: Redactor) -> str:
    method = redact.plain(asked.method or "", _SHOWN)
    words = redact.plain(name, _SHOWN)
    words = f"{words} ({method})" if words and method else words or method
    params = wire.load_or_none(asked.params)
    message = _text(params.get("message")) if isinstance(params, dict) else ""
    words += f": {redact.quoted(message)}" if message else ""
    if mcp.elicitation_mode(asked) not in (mcp.FORM, mcp.PAGE):
        return words
    question = read(asked)
    if isinstance(question, Page):
        return f"{words} at {address(question.url, redact)}"
    listed = ", ".join(described(field, redact) for field in question.fields)
    return words + (f" with the fields {listed}" if listed else "")


def _field_names(asked: mcp.Asked) -> list[str]:
    question = read(asked) if asked.method == mcp.ELICITATION else None
    return [field.name for field in question.fields] if isinstance(question, Form) else []


def _fields(schema: Json) -> Iterable[Field]:
    if not isinstance(schema, dict):
        raise UnreadableError("its requestedSchema is not an object")
    properties, required = schema.get("properties", {}), schema.get("required")
    if not isinstance(properties, dict):
        raise UnreadableError("the properties of its requestedSchema are not an object")
    names = required if isinstance(required, list) else []
    for name, each in properties.items():
        yield fields.parse(name, each, is_required=name in names)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
