"""What a pinned inputSchema says of a tool's parameters: to help a person, no verdict. Pure.

The keywords are those of JSON Schema (2020-12, draft 7) that servers use for parameters:
`properties`, `required`, `type`, `enum`, `const`, `anyOf`, `oneOf`, `allOf`, and `$ref` within the
schema. What is beyond them is taken for "anything goes".
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from thrall_py.protocol.jsontext import Json

_SPECIAL = re.compile(r"[.\[\]:=\\]")  # in the key of an ITEM
# A schema may be made to be slow: alternatives, each of them with alternatives.
_DEEPEST = 3
_MOST_BRANCHES = 16
_MOST_REFERENCES = 8  # one leads to the next

TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
_TYPE_OF: dict[type, str] = {
    bool: "boolean", str: "string", list: "array", dict: "object", int: "integer",
}  # fmt: skip

_Schema = dict[str, Json]
_Found = TypeVar("_Found")


class Parameter(NamedTuple):
    """One parameter.

    Attributes:
        name: as the schema has it.
        schema: its own, with what it refers to.
        is_required: whether the schema refuses a call without it.
        types: the names of the JSON types it takes, in order; none if any, or nobody knows.
        choices: the only values it takes; none if there are others.

    """

    name: str
    schema: _Schema
    is_required: bool
    types: tuple[str, ...]
    choices: tuple[Json, ...]

    @property
    def takes_text(self) -> bool:
        """Whether a string may be given for it."""
        return not self.types or "string" in self.types

    @property
    def description(self) -> str:
        """The server's words about it; empty if there are none."""
        value = self.schema.get("description")
        return value.strip() if isinstance(value, str) else ""

    @property
    def key(self) -> str:
        """Its name as it is written in an ITEM."""
        return escape(self.name)


def find(schema: Json) -> list[Parameter]:
    """List the parameters that an inputSchema names, in its order."""
    root = _resolved(schema, schema)
    required = _list(root.get("required"))
    return [
        _parameter(name, inner, schema, is_required=name in required)
        for name, inner in _members(root.get("properties")).items()
    ]


def find_at(schema: Json, path: Sequence[str | None]) -> Parameter | None:
    """Find what a path leads to: names of members, None for an item of a list.

    Returns:
        What an inputSchema says of it, but for whether it is required; None if it says nothing.

    """
    inner: Json = schema
    for step in path:
        holder = _resolved(inner, schema)
        inner = (
            holder.get("items") if step is None else _members(holder.get("properties")).get(step)
        )
        if inner is None:
            return None
    return _parameter(path[-1] or "", inner, schema, is_required=False)


def forbids_others(schema: Json) -> bool:
    """Whether an inputSchema refuses a parameter that it does not name."""
    root = _resolved(schema, schema)
    return root.get("additionalProperties") is False and not root.get("patternProperties")


def are_none(schema: Json) -> bool:
    """Whether an inputSchema names no parameter, in any way."""
    root = _resolved(schema, schema)
    said = (root.get(word) for word in ("properties", "patternProperties", "additionalProperties"))
    parts = any(word in root for word in ("anyOf", "oneOf", "allOf"))
    return root.get("type") == "object" and not (
        parts or any(each not in (None, {}, False) for each in said)
    )


def escape(name: str) -> str:
    """Write the name of a member as in the key of an ITEM."""
    return _SPECIAL.sub(r"\\\g<0>", name)


def _parameter(name: str, schema: Json, root: Json, *, is_required: bool) -> Parameter:
    own = _resolved(schema, root)
    types = tuple(dict.fromkeys(_gather(_types, own, root, _DEEPEST)))
    return Parameter(name, own, is_required, types, tuple(_gather(_choices, own, root, _DEEPEST)))


def _gather(
    say: Callable[[_Schema], list[_Found]], schema: _Schema, root: Json, depth: int
) -> list[_Found]:
    """Ask a schema, or what it is put together from, what it lets pass; nothing if that is open."""
    found = say(schema)
    if found:
        return found
    keyword = "anyOf" if "anyOf" in schema else "oneOf"
    each = [_gather(say, inner, root, depth - 1) for inner in _inner(schema, keyword, root, depth)]
    if each and all(each):
        return [value for alternative in each for value in alternative]
    both = (_gather(say, inner, root, depth - 1) for inner in _inner(schema, "allOf", root, depth))
    return next((part for part in both if part), [])


def _types(schema: _Schema) -> list[str]:
    named = schema.get("type")
    names = [name for name in _list(named) or [named] if isinstance(name, str) and name in TYPES]
    return names or [_type(value) for value in _values(schema)]


def _choices(schema: _Schema) -> list[Json]:
    of_type: dict[str, list[Json]] = {"boolean": [True, False], "null": [None]}
    named = schema.get("type")
    return _values(schema) or (of_type.get(named, []) if isinstance(named, str) else [])


def _values(schema: _Schema) -> list[Json]:
    return [schema["const"]] if "const" in schema else _list(schema.get("enum"))


def _inner(schema: _Schema, keyword: str, root: Json, depth: int) -> list[_Schema]:
    """The schemas under a keyword; none if there are so many, or so deep, that nobody reads on."""
    inner = _list(schema.get(keyword))
    if not depth or len(inner) > _MOST_BRANCHES:
        return []
    return [_resolved(each, root) for each in inner]


def _resolved(schema: Json, root: Json) -> _Schema:
    """A schema with what it refers to in `root`; what stands beside a reference goes first."""
    found: _Schema = {}
    for _ in range(_MOST_REFERENCES):
        found = {**_members(schema), **found}
        reference = found.pop("$ref", None)
        if not isinstance(reference, str) or not reference.startswith("#"):
            break
        schema = root
        for step in reference.split("/")[1:]:  # RFC 6901
            schema = _members(schema).get(step.replace("~1", "/").replace("~0", "~"))
    return found


def _type(value: Json) -> str:
    if value is None:
        return "null"
    return _TYPE_OF.get(type(value), "number")


def _members(value: Json) -> _Schema:
    return value if isinstance(value, dict) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
