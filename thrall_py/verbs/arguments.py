"""A tool's arguments, whole from stdin or value by value, as JSON text: the caller's own."""

import json
import os

from thrall_py.errors import InputError
from thrall_py.protocol.jsontext import JsonError, decode, latin1, validate
from thrall_py.visible import visible

_LARGEST = 1 << 28  # bytes of a file
_SHOWN = 300  # characters of what is wrong with a value


def from_input(data: bytes) -> str:
    """Check that stdin held one JSON object; its text on one line, otherwise untouched.

    Raises:
        InputError: it did not.

    """
    text = _text(data, "the input")
    if not text.strip(" \t\r\n"):
        raise InputError(
            "the input is empty: give one JSON object, or '{}' on the command line for no arguments"
        )
    if _checked(text, "the input") != "{":
        raise InputError("the input is not a JSON object: give one, such as {}")
    return _on_one_line(text)


def read_text(word: str, what: str, *, is_file: bool) -> str:
    """Read the text that an ITEM holds, or the file that it names; the JSON text of a string.

    Args:
        word: the text or the path, as it stands on the command line.
        what: what it is, for the sentences.
        is_file: whether it is a path.

    Raises:
        InputError: it is not UTF-8, or the file cannot be read.

    """
    if not is_file:
        return json.dumps(decode_argument(word))
    what = f"the file {visible(word)}"
    return json.dumps(_plain_text(read_file(word, what, _LARGEST), what))


def read_json(word: str, what: str, *, is_file: bool) -> str:
    """Read the JSON that an ITEM holds, or the file that it names; its text on one line.

    Args:
        word: the JSON or the path, as it stands on the command line.
        what: what it is, for the sentences.
        is_file: whether it is a path.

    Raises:
        InputError: it is not one JSON value in UTF-8, or the file cannot be read.

    """
    if is_file:
        what = f"the file {visible(word)}"
    text = _text(read_file(word, what, _LARGEST), what) if is_file else decode_argument(word)
    if not text.strip(" \t\r\n"):
        raise InputError(f"{what} is empty: := wants JSON, = takes text")
    _checked(text, what)
    return _on_one_line(text)


def read_file(path: str, what: str, most: int) -> bytes:
    """Read a file that the command line names.

    Args:
        path: of the file.
        what: what it is, for the sentences.
        most: bytes that it may have.

    Raises:
        InputError: it cannot be read, or is larger.

    """
    try:
        with open(path, "rb") as file:
            data = file.read(most + 1)
    except OSError as problem:
        raise InputError(f"cannot read {what}: {problem.strerror}") from None
    if len(data) > most:
        raise InputError(f"{what} is larger than {most} bytes")
    return data


def decode_argument(argument: str) -> str:
    """Read a word of the command line as UTF-8, whatever the locale takes it for.

    Raises:
        InputError: it is not UTF-8.

    """
    try:
        return os.fsencode(argument).decode()
    except UnicodeDecodeError:
        raise InputError(f"{visible(argument)} is not UTF-8") from None


def _plain_text(data: bytes, what: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        raise InputError(f"{what} is not UTF-8 ({problem.reason})") from None


def _text(data: bytes, what: str) -> str:
    try:
        return decode(latin1(data))
    except JsonError as problem:
        raise InputError(f"{what} is {problem}") from None


def _checked(text: str, what: str) -> str:
    try:
        return validate(text)
    except JsonError as problem:
        raise InputError(f"{what} is {visible(str(problem))[:_SHOWN]}") from None


def _on_one_line(text: str) -> str:
    # In valid JSON a line end stands between tokens only.
    return text.strip(" \t\r\n").replace("\r", " ").replace("\n", " ")
