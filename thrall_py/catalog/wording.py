"""What a pinned schema takes or gives, in words for a person. Pure.

The keywords are those of JSON Schema (2020-12, "Validation") for limits; `pattern` and `format` are
the server's own words, so whoever prints makes them visible.
"""

from collections.abc import Iterator

from thrall_py.catalog.parameters import Parameter
from thrall_py.protocol import canonical
from thrall_py.protocol.jsontext import Json

_Schema = dict[str, Json]

# Two keywords that belong together, and what they count.
_SPANS = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " items"),
)
_WORDS = {
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
    "multipleOf": "a multiple of",
}


def kind(parameter: Parameter) -> str:
    """Say what a parameter takes: `integer, 1 to 10`, or `one of red, green`."""
    limits = ", ".join(_limits(_without_null(parameter.schema)))
    words = _named(parameter)
    return f"{words}, {limits}" if limits else words


def spelled(value: Json) -> str:
    """Write a value as one does in an ITEM: a string as it is, anything else as JSON."""
    return value if isinstance(value, str) else canonical.compact(value)


def _named(parameter: Parameter) -> str:
    if parameter.choices and parameter.types != ("boolean",):
        return f"one of {', '.join(map(spelled, parameter.choices))}"
    types = " or ".join(parameter.types) or "any value"
    inner = _without_null(parameter.schema).get("items")
    of = inner.get("type") if isinstance(inner, dict) else None
    return (
        f"{types} of {of}s" if isinstance(of, str) and parameter.types[:1] == ("array",) else types
    )


def _limits(schema: _Schema) -> Iterator[str]:
    for low, high, unit in _SPANS:
        least, most = (canonical.compact(schema[it]) if it in schema else "" for it in (low, high))
        if least and most:
            yield f"{least} to {most}{unit}"
        elif least or most:
            yield f"at {f'least {least}' if least else f'most {most}'}{unit}"
    for keyword, words in _WORDS.items():
        if keyword in schema:
            yield f"{words} {canonical.compact(schema[keyword])}"
    for keyword in ("format", "pattern"):
        value = schema.get(keyword)
        if isinstance(value, str):
            yield f"{keyword} {value}"


def _without_null(schema: _Schema) -> _Schema:
    """Look through the alternative null that generators add to what may be left out."""
    branches = schema.get("anyOf")
    if not isinstance(branches, list):
        return schema
    others = [each for each in branches if isinstance(each, dict) and each != {"type": "null"}]
    return {**others[0], **schema} if len(others) == 1 else schema
