"""What the command line of `pin` says of a plain command: its tool, and the schema of its input."""

from typing import NamedTuple

from thrall_py.catalog import tool_document
from thrall_py.errors import InputError, UsageError
from thrall_py.protocol import jsontext
from thrall_py.protocol.jsontext import Json, JsonError
from thrall_py.transport import stdio
from thrall_py.verbs import arguments
from thrall_py.visible import visible

_LARGEST = 1 << 24  # bytes of a schema
_STDIN = "-"


class CommandOptions(NamedTuple):
    """The options: the name of the tool, a file with its schema, and what is told of it."""

    tool: str | None = None
    schema: str | None = None
    description: str | None = None
    read_only: bool = False


def check(wanted: CommandOptions, words: tuple[str, ...] | None) -> None:
    """Refuse options that do not make a plain command.

    Args:
        wanted: the options.
        words: those behind `--`; None if there is none.

    Raises:
        UsageError: something is missing, or too much.

    """
    if wanted.tool is None:
        if wanted != CommandOptions():
            raise UsageError(
                "--schema, --description and --read-only are about a plain command: say --exec"
            )
        return
    if not wanted.tool or wanted.schema is None:
        raise UsageError("--exec needs a name for its tool, and the --schema FILE of its input")
    if not words:
        raise UsageError("--exec needs a command: write it behind --")


def define(wanted: CommandOptions) -> dict[str, Json]:
    """Make the definition of the tool that a plain command is.

    Raises:
        InputError: the schema cannot be read, or is no JSON object; a word is not UTF-8.

    """
    assert wanted.tool, "it was checked"
    assert wanted.schema is not None, "it was checked"
    if wanted.schema == _STDIN:
        what, data = "the schema on stdin", stdio.read()
    else:
        what = f"the schema {visible(wanted.schema)}"
        data = arguments.read_file(wanted.schema, what, _LARGEST)
    try:
        schema = jsontext.load(jsontext.decode(jsontext.latin1(data)))
    except JsonError as problem:
        raise InputError(f"{what} cannot be used: {visible(str(problem))}") from None
    if not isinstance(schema, dict):
        raise InputError(f'{what} is no JSON object: give one, such as {{"type": "object"}}')
    name, about = arguments.decode_argument(wanted.tool), wanted.description
    about = None if about is None else arguments.decode_argument(about)
    return tool_document.define(name, about, schema, read_only=wanted.read_only)
