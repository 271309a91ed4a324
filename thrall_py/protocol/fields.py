"""One field of a form that a server wants filled in: what it takes, and whether an answer fits.

The schemas are the flat ones of "Elicitation" (2025-06-18 to 2026-07-28). What servers send beyond
them is read as far as it makes sense: a field that may be null is one that may be left out, and a
field of an unknown kind takes any JSON. A pattern is not tried: the expression is the server's.
"""

import re
from typing import NamedTuple

from thrall_py.protocol import canonical, jsontext
from thrall_py.protocol.jsontext import Json, JsonError
from thrall_py.protocol.numbers import ExactNumber
from thrall_py.redact import Redactor

_MOST_CHOICES = 20  # that are named in a sentence
_SHOWN = 40  # characters of a choice

# The words for a text of a format, and what one looks like.
_TEXTS = {
    "email": "an e-mail address",
    "uri": "an address such as https://example.com/",
    "date": "a date such as 2026-07-28",
    "date-time": "a time such as 2026-07-28T12:00:00Z",
}
_SPELLINGS = {
    "email": re.compile(r"[^@\s]+@[^@\s]+"),
    "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+"),
    "date": re.compile(r"\d{4}-\d\d-\d\d"),
    "date-time": re.compile(
        r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[-+]\d\d:\d\d)"  # RFC 3339, 5.6
    ),
}
_BOOLEANS = {"true": True, "yes": True, "y": True, "false": False, "no": False, "n": False}
_WORDS = {"boolean": "yes or no", "integer": "a whole number", "number": "a number"}
_TYPES = ("string", "array", *_WORDS)


class Misfit(ValueError):  # noqa: N818 - an outcome, told by whoever has asked
    """An answer does not fit its field. It is not repeated: it may be a secret."""


class Choice(NamedTuple):
    """One of the values that a field takes, and what it is called."""

    value: Json
    title: str = ""

    @property
    def label(self) -> str:
        """The value as it is written on a command line."""
        return self.value if isinstance(self.value, str) else canonical.compact(self.value)


class Field(NamedTuple):
    """One field of a form.

    Attributes:
        name: of the member that the answer becomes.
        type: as JSON Schema has it; empty for a kind that elicitation does not know.
        title: for a person; empty if there is none.
        description: likewise.
        is_required: whether the form is incomplete without it.
        default: a value that fits; None if there is none.
        choices: the values that it takes, for an array its elements; empty for any.
        least: of the number, of the characters of a text, of the elements of an array.
        most: likewise.
        format: of a text, one of those that elicitation knows; else empty.

    """

    name: str
    type: str = ""
    title: str = ""
    description: str = ""
    is_required: bool = False
    default: Json = None
    choices: tuple[Choice, ...] = ()
    least: int | ExactNumber | None = None
    most: int | ExactNumber | None = None
    format: str = ""


def parse(name: str, schema: Json, *, is_required: bool) -> Field:
    """Read a property of a requested schema; whatever is odd about it is passed over."""
    members = _without_null(schema if isinstance(schema, dict) else {})
    kind = members.get("type")
    items = members.get("items")
    array = items if kind == "array" and isinstance(items, dict) else members
    low, high = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems")}.get(
        str(kind), ("minimum", "maximum")
    )
    field = Field(
        name,
        str(kind) if kind in _TYPES else "",
        _string(members, "title"),
        _string(members, "description"),
        is_required,
        choices=_choices(array),
        least=_number(members, low),
        most=_number(members, high),
        format=_string(members, "format") if members.get("format") in _TEXTS else "",
    )
    default = members.get("default")
    return field._replace(default=default) if _fits(field, default) else field


def wanted(field: Field, redact: Redactor) -> str:
    """Say what the field takes, as words such as "a whole number, 0 to 120"."""
    if field.choices:
        shown = [redact.plain(each.label, _SHOWN) for each in field.choices[:_MOST_CHOICES]]
        more = len(field.choices) - len(shown)
        listed = ", ".join(shown) + (f" and {more} more" if more else "")
        if field.type == "array":
            return f"some of {listed}{span(field, 'of them')}"
        return f"one of {listed}"
    if field.type == "array":
        return "texts with commas between them" + span(field, "of them")
    if field.type == "string":
        return _TEXTS.get(field.format, "text") + span(field, "characters")
    return _WORDS.get(field.type, "a JSON value") + span(field)


def span(field: Field, unit: str = "") -> str:
    """Say how little and how much the field takes, as words such as ", 2 to 10 characters"."""
    if field.least is None and field.most is None:
        return ""
    if field.most is None:
        words = f"at least {field.least}"
    else:
        words = f"at most {field.most}" if field.least is None else f"{field.least} to {field.most}"
    return f", {words} {unit}".rstrip()


def typed(field: Field, text: str, *more: str) -> Json:
    """Read an answer as it is typed: by the field's type, with commas between several.

    Args:
        field: of a form.
        text: the answer.
        more: given beside it; then each is one value, commas and all.

    Raises:
        Misfit: it is not what the field takes.

    """
    if more and field.type != "array":
        raise Misfit
    if field.type == "array":
        parts = [part.strip() for part in text.split(",")] if text else []
        parts = [text, *more] if more else parts
        return checked(field, [_chosen(field, part) for part in parts])
    if field.choices:
        return _chosen(field, text)
    if field.type == "boolean":
        return checked(field, _BOOLEANS.get(text.lower()))
    return checked(field, text if field.type == "string" else _loaded(text))


def checked(field: Field, value: Json) -> Json:
    """Return the value if it is what the field takes.

    Raises:
        Misfit: it is not.

    """
    if not _fits(field, value):
        raise Misfit
    return value


def _without_null(schema: dict[str, Json]) -> dict[str, Json]:
    """Drop the null that generators add to a field that may be left out."""
    kinds, branches = schema.get("type"), schema.get("anyOf")
    if isinstance(kinds, list):
        kept = [kind for kind in kinds if kind != "null"]
        return {**schema, "type": kept[0] if len(kept) == 1 else None}
    if isinstance(branches, list):
        others = [each for each in branches if isinstance(each, dict) and each != {"type": "null"}]
        if len(others) == 1:
            return {**others[0], **schema}
    return schema


def _choices(schema: dict[str, Json]) -> tuple[Choice, ...]:
    """Find the choices in any of the ways that the revisions have for them."""
    values, titles = schema.get("enum"), schema.get("enumNames")
    if isinstance(values, list):
        names = titles if isinstance(titles, list) and len(titles) == len(values) else values
        return tuple(Choice(value, str(name)) for value, name in zip(values, names, strict=True))
    for word in ("oneOf", "anyOf"):
        options = schema.get(word)
        if isinstance(options, list):
            return tuple(
                Choice(option["const"], _string(option, "title"))
                for option in options
                if isinstance(option, dict) and "const" in option
            )
    return ()


def _string(schema: dict[str, Json], name: str) -> str:
    value = schema.get(name)
    return value if isinstance(value, str) else ""


def _number(schema: dict[str, Json], name: str) -> int | ExactNumber | None:
    value = schema.get(name)
    return value if isinstance(value, int | ExactNumber) else None


def _chosen(field: Field, text: str) -> Json:
    if not field.choices:
        return text
    for choice in field.choices:
        if choice.label == text:
            return choice.value
    raise Misfit


def _loaded(text: str) -> Json:
    try:
        return jsontext.load(text)
    except JsonError:
        raise Misfit from None


def _fits(field: Field, value: Json) -> bool:
    if field.type == "array":
        return (
            isinstance(value, list)
            and all(isinstance(each, str) and _is_offered(field, each) for each in value)
            and _is_within(field, len(value))
        )
    if not _is_offered(field, value):
        return False
    match field.type:
        case "string":
            return isinstance(value, str) and _is_text(field, value)
        case "boolean":
            return isinstance(value, bool)
        case "integer" | "number":
            return _is_number(field, value)
        case _:
            return value is not None


def _is_offered(field: Field, value: Json) -> bool:
    same = (each.value == value and type(each.value) is type(value) for each in field.choices)
    return not field.choices or any(same)


def _is_number(field: Field, value: Json) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | ExactNumber):
        return False
    return (isinstance(value, int) or field.type == "number") and _is_within(field, value)


def _is_text(field: Field, value: str) -> bool:
    if field.choices:
        return True
    spelling = _SPELLINGS.get(field.format)
    if spelling and not spelling.fullmatch(value):
        return False
    if field.format in ("date", "date-time") and not _is_on_the_calendar(value):
        return False
    return _is_within(field, len(value))


def _is_on_the_calendar(value: str) -> bool:
    from datetime import datetime

    try:
        datetime.fromisoformat(value.upper())
    except ValueError:
        return False
    return True


def _is_within(field: Field, size: int | ExactNumber) -> bool:
    least, most = field.least, field.most
    return (least is None or _at_most(least, size)) and (most is None or _at_most(size, most))


def _at_most(one: int | ExactNumber, other: int | ExactNumber) -> bool:
    if isinstance(one, int) and isinstance(other, int):
        return one <= other
    return float(str(one)) <= float(str(other))  # near enough: the server has the last word
