"""Whether ITEMs fit the parameters that a pinned inputSchema names.

The server's word is final, so only what the schema forbids for certain is refused; a key that
looks mistyped is told of.
"""

import json
import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from thrall_py.catalog import parameters
from thrall_py.catalog.nearest import hint, nearest
from thrall_py.catalog.parameters import Parameter
from thrall_py.protocol import canonical, jsontext
from thrall_py.protocol.jsontext import Json, JsonError
from thrall_py.redact import Redactor
from thrall_py.verbs import items
from thrall_py.verbs.items import Item, Path
from thrall_py.visible import visible

_MOST_NAMES = 10  # in one sentence
_SHORT = 40  # characters of a text that is repeated
_TYPES = {"{": "object", "[": "array", '"': "string", "t": "boolean", "f": "boolean", "n": "null"}
_ARTICLES = {"integer": "an integer", "array": "an array", "object": "an object", "null": "null"}
_EXAMPLES = {
    "integer": "1", "number": "1.5", "boolean": "true", "null": "null", "array": "[...]",
    "object": "{...}",
}  # fmt: skip


class Fit(NamedTuple):
    """What is to be said of ITEMs: what the schema forbids, and what is likely a mistake."""

    faults: list[str]
    doubts: list[str]


def compare(given: Sequence[Item], schema: Json) -> Fit:
    """Compare ITEMs with an inputSchema; every sentence is safe to look at."""
    known = parameters.find(schema)
    names = {item.path[0]: item.path for item in given}
    unknown = [path for name, path in names.items() if name not in {each.name for each in known}]
    faults = [
        *_not_text(given, schema),
        *_not_offered(given, schema),
        *(_missing(each) for each in known if each.is_required and each.name not in names),
    ]
    if parameters.forbids_others(schema):
        return Fit(
            [*(_unknown(path, known) or _useless(path, known) for path in unknown), *faults], []
        )
    return Fit(faults, [doubt for path in unknown if (doubt := _unknown(path, known))])


def _unknown(path: Path, known: Sequence[Parameter]) -> str:
    """Name the parameters that one who wrote this key may mean; empty if none is near."""
    keys = {each.name: each.key for each in known}
    whole = ".".join(step or "[]" for step in path)  # a name with dots, none of them escaped
    near = [whole] if whole in keys else nearest(path[0] or "", keys)
    shown = ", ".join(visible(keys[name]) for name in near)
    return f"no parameter {items.show(path[:1])}; the nearest: {shown}" if near else ""


def _useless(path: Path, known: Sequence[Parameter]) -> str:
    shown = [visible(each.key) for each in known[:_MOST_NAMES]]
    more = f", and {len(known) - _MOST_NAMES} more" if len(known) > _MOST_NAMES else ""
    there = f"there are {', '.join(shown)}{more}" if known else "the tool has none"
    return f"no parameter {items.show(path[:1])}; {there}"


def _missing(parameter: Parameter) -> str:
    about = Redactor().quoted(parameter.description) if parameter.description else ""
    shown = ", ".join(part for part in (_or(parameter.types), about) if part)
    return f"{visible(parameter.key)} is required" + (f" ({shown})" if shown else "")


def _not_text(given: Sequence[Item], schema: Json) -> Iterator[str]:
    """Name the texts that are for parameters of other types, with the spelling that is right."""
    for item in given:
        found = parameters.find_at(schema, item.path) if item.is_text else None
        if found and not found.takes_text:
            right = _right(item, found, schema)
            yield f"{items.show(item.path)} is {_or(found.types)}: write {right}"


def _not_offered(given: Sequence[Item], schema: Json) -> Iterator[str]:
    """Name the texts that are none of the values that their parameters take."""
    for item in given:
        found = parameters.find_at(schema, item.path) if item.is_text else None
        text = json.loads(item.value)
        if not found or not found.takes_text or not found.choices or text in found.choices:
            continue
        others = [canonical.compact(each) for each in found.choices if not isinstance(each, str)]
        if text in others:
            yield f"{items.show(item.path)} is no text there: write {_right(item, found, schema)}"
            continue
        values = [*(each for each in found.choices if isinstance(each, str)), *others]
        shown = " or ".join(Redactor().quoted(each, _SHORT) for each in values[:_MOST_NAMES])
        more = len(values) - _MOST_NAMES
        near = f", and {more} more{hint(text, values)}" if more > 0 else ""
        yield f"{items.show(item.path)} takes {shown}{near}"


def _right(item: Item, parameter: Parameter, schema: Json) -> str:
    """Spell an ITEM so that it fits, with the text that was given if that is possible."""
    key = items.show(item.path)
    text = str(json.loads(item.value))
    if len(text) <= _SHORT and _is_of(text, parameter.types):
        return visible(shlex.quote(f"{key}:={text}"))
    of_list = parameters.find_at(schema, (*item.path, None))
    if len(text) <= _SHORT and of_list and of_list.takes_text:
        return visible(shlex.quote(f"{key}[]={text}"))
    if len(text) <= _SHORT and of_list and _is_of(text, of_list.types):
        return visible(shlex.quote(f"{key}[]:={text}"))
    return f"{key}:={_EXAMPLES[parameter.types[0]]}"


def _is_of(text: str, types: Sequence[str]) -> bool:
    """Whether a text is JSON of one of these types; every integer is a number as well."""
    try:
        first = jsontext.validate(text)
    except JsonError:
        return False
    if first in _TYPES:
        return _TYPES[first] in types
    return "number" in types or ("integer" in types and isinstance(jsontext.load(text), int))


def _or(types: Sequence[str]) -> str:
    """Name types, as in "an integer or null"."""
    return " or ".join(_ARTICLES.get(name, f"a {name}") for name in types)
