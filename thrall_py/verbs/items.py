r"""ITEMs, a tool's arguments on the command line: `key=text`, `key:=JSON`, files, and paths.

Nothing is coerced: `zip=00123` is a text, `n:=1` a number, and JSON reaches the server as it was
typed. `a.b` is a member of an object, `a[]` one more item of a list; a backslash takes the
meaning from a dot, a bracket, a colon, an equals sign or a backslash that belongs to a name.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from thrall_py.catalog import parameters
from thrall_py.errors import UsageError
from thrall_py.protocol import jsontext
from thrall_py.protocol.jsontext import JsonError
from thrall_py.verbs import arguments
from thrall_py.visible import visible

# The shortest key that makes sense of it, so a text may hold any of these characters.
_ITEM = re.compile(r"(?P<key>(?:\\.|[^\\])*?)(?P<colon>:?)=(?P<file>@?)(?P<rest>.*)", re.DOTALL)
_STEP = re.compile(r"((?:\\.|[^\\.])*?)((?:\[\])*)\.", re.DOTALL)  # a dot is put behind the last
_BRACKET = re.compile(r"(?:\\.|[^\\\[\]])*[\[\]]", re.DOTALL)  # one without a backslash
_ESCAPED = re.compile(r"\\([.\[\]:=\\])")
_DEEPEST = 100  # steps of a path
_SHORT = 60  # characters of a word that is repeated

_NOTHING = "{}"  # alone, it stands for no arguments

Path = tuple[str | None, ...]  # names of members, None for one more item of a list
_Tree = dict[str, "_Tree"] | list["_Tree"] | str  # the last is the JSON text of a value


class Item(NamedTuple):
    """One ITEM: where its value goes, its JSON text, and whether it was given as plain text."""

    path: Path
    value: str
    is_text: bool


def parse(words: Iterable[str]) -> list[Item]:
    """Take ITEMs apart, and read the files that they name; `{}` alone is no ITEM at all.

    Raises:
        UsageError: a word is no ITEM.
        InputError: a value or a file cannot be used.

    """
    given = list(words)
    return [] if given == [_NOTHING] else [_parse(word) for word in given]


def files_of(words: Iterable[str]) -> list[str]:
    """The paths of the files that ITEMs name."""
    found = map(_ITEM.fullmatch, words)
    return [item["rest"] for item in found if item and item["file"]]


def join(items: Sequence[Item]) -> str:
    """Make the text of one JSON object of ITEMs, in their order.

    Raises:
        UsageError: two of them are for one place.

    """
    root: dict[str, _Tree] = {}
    for item in items:
        _put(root, item)
    return _spelled(root)


def show(path: Path) -> str:
    """Write a path as in an ITEM, fit to be seen."""
    return visible(spell(path))


def spell(path: Path) -> str:
    """Write a path as in an ITEM."""
    steps = ("[]" if step is None else f".{parameters.escape(step)}" for step in path)
    return "".join(steps).removeprefix(".")


def _parse(word: str) -> Item:
    if word == _NOTHING:
        raise UsageError("{} is for no arguments: it stands alone, without other ITEMs")
    found = _ITEM.fullmatch(word)
    if word.lstrip().startswith("{") and (not found or _is_json(word)):
        import shlex

        given = shlex.quote(word) if len(word) <= _SHORT else "'{...}'"
        raise UsageError(
            "a JSON object is no ITEM: give it on stdin, as in"
            f" echo {visible(given)} | thrall call TOOL ...,"
            " or its members as key=text and key:=JSON"
        )
    if not found or not found["key"]:
        raise UsageError(
            f"{visible(word)!r} is not an ITEM: write key=text, key:=JSON or key=@file"
        )
    path = _path(arguments.decode_argument(found["key"]))
    what = f"the value of {show(path)}"
    is_text = not found["colon"]
    read = arguments.read_text if is_text else arguments.read_json
    return Item(path, read(found["rest"], what, is_file=bool(found["file"])), is_text)


def _is_json(word: str) -> bool:
    try:
        jsontext.validate(word)
    except JsonError:
        return False
    return True


def _path(key: str) -> Path:
    path: list[str | None] = []
    for name, more in _STEP.findall(f"{key}."):
        if not name:
            raise UsageError(f"{visible(key)} has an empty name; a dot in a name is written \\.")
        if _BRACKET.match(name):
            raise UsageError(
                f"{visible(key)} has a bracket that is no []: write a[] for one more item of a,"
                " \\[ and \\] in a name"
            )
        path += [_ESCAPED.sub(r"\1", name), *[None] * (len(more) // len("[]"))]
    if len(path) > _DEEPEST:
        raise UsageError(f"a key leads through more than {_DEEPEST} objects and lists")
    return tuple(path)


def _put(root: dict[str, _Tree], item: Item) -> None:
    holder: _Tree = root
    for at, step in enumerate(item.path):
        following = item.path[at + 1 : at + 2]
        fresh: _Tree = item.value
        if following:
            fresh = [] if following[0] is None else {}
        if isinstance(holder, list) and step is None:
            holder.append(fresh)
        elif isinstance(holder, dict) and step is not None and step not in holder:
            holder[step] = fresh
        elif isinstance(holder, dict) and step is not None and _goes_on(holder[step], fresh):
            fresh = holder[step]
        else:
            held = holder.get(step or "") if isinstance(holder, dict) else None
            same = isinstance(held, str) and isinstance(fresh, str)
            how = "twice" if same else "as two different things"
            raise UsageError(f"the key {show(item.path[: at + 1])} is given {how}")
        holder = fresh


def _goes_on(held: _Tree, fresh: _Tree) -> bool:
    """Whether what stands in a place is what more can be put into."""
    return type(held) is type(fresh) and not isinstance(held, str)


def _spelled(tree: _Tree) -> str:
    if isinstance(tree, dict):
        members = (f"{json.dumps(name)}:{_spelled(inner)}" for name, inner in tree.items())
        return "{" + ",".join(members) + "}"
    if isinstance(tree, list):
        return "[" + ",".join(map(_spelled, tree)) + "]"
    return tree
