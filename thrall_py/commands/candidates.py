"""What may stand in the place of a word of the command line: names from a catalog, choices, files.

Names in a catalog are a server's words. One that a person would not see as it is (controls, bidi)
is left out; what a shell would take for syntax is quoted in `shells`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from thrall_py.catalog import parameters
from thrall_py.catalog.parameters import Parameter
from thrall_py.protocol.jsontext import Json
from thrall_py.visible import visible

FILES, DIRECTORIES, CATALOGS = "files", "directories", "catalogs"
_ABOUT = 60  # characters


class Candidate(NamedTuple):
    """A whole word, and what it is about."""

    word: str
    about: str = ""


class Paths(NamedTuple):
    """Files are to be found by the shell: `kind` of them, behind `head` of the word."""

    kind: str
    head: str = ""


Answer = list[Candidate] | Paths


def choose(found: Iterable[Candidate], begun: str) -> list[Candidate]:
    """Take those that begin as the word does, and that can be shown."""
    return [
        Candidate(word, visible(about.strip().partition("\n")[0][:_ABOUT]))
        for word, about in found
        if word.startswith(begun) and word == visible(word)
    ]


def servers(names: Iterable[str]) -> Iterator[Candidate]:
    """Name servers."""
    return (Candidate(name) for name in names if not name.startswith("-"))


def tools(definitions: Mapping[str, dict[str, Json]]) -> Iterator[Candidate]:
    """Name tools; one that begins with a dash cannot be named on a command line."""
    for name, definition in definitions.items():
        if not name.startswith("-"):
            yield Candidate(name, _text(definition.get("description")))


def items(schema: Json, given: Sequence[str], begun: str) -> Answer:
    """Find how an ITEM of a tool may go on.

    Args:
        schema: the tool's inputSchema.
        given: the other ITEMs; their parameters are not offered again.
        begun: the ITEM, as far as it is written.

    """
    known = parameters.find(schema)
    head, equals, rest = begun.partition("=")
    if not equals:
        taken = {item.partition("=")[0].removesuffix(":") for item in given}
        return [
            Candidate(f"{each.key}{'=' if each.takes_text else ':='}", each.description)
            for each in known
            if each.key and each.key not in taken and not each.key.startswith("-")
        ]
    if rest.startswith("@"):
        return Paths(FILES, f"{head}=@")
    key = head.removesuffix(":")
    found = [each for each in known if each.key == key]
    values = _texts(found) if key == head else _json(found)
    return [Candidate(f"{head}={value}") for value in values]


def _texts(found: Iterable[Parameter]) -> Iterator[str]:
    """The values that are given as `name=text`."""
    # A text that begins with @ would be the name of a file.
    return (
        value
        for each in found
        for value in each.choices
        if isinstance(value, str) and not value.startswith("@")
    )


def _json(found: Iterable[Parameter]) -> Iterator[str]:
    """The values that are given as `name:=JSON`."""
    from thrall_py.protocol import canonical

    return (
        canonical.compact(value)
        for each in found
        for value in each.choices
        if not isinstance(value, str)
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
