"""A tool's arguments from stdin or from ITEMs, as the JSON text that is sent: the caller's own."""

import json
import os
import re
from collections.abc import Iterable

from thrall_py.errors import InputError, UsageError
from thrall_py.protocol.jsontext import JsonError, decode, latin1, validate
from thrall_py.visible import visible

_LARGEST = 1 << 28  # bytes of a file
_SHOWN = 300  # characters of what is wrong with a value
# The shortest key that makes sense of it, so a text may hold any of these characters.
_ITEM = re.compile(r"(?P<key>.*?)(?P<colon>:?)=(?P<file>@?)(?P<rest>.*)", re.DOTALL)


def from_input(data: bytes) -> str:
    """Check that stdin held one JSON object; its text on one line, otherwise untouched.

    Raises:
        InputError: it did not.

    """
    text = _text(data, "the input")
    if not text.strip(" \t\r\n"):
        raise InputError("the input is empty: give one JSON object, {} for no arguments")
    if _checked(text, "the input") != "{":
        raise InputError("the input is not a JSON object: give one, such as {}")
    return _on_one_line(text)


def from_items(items: Iterable[str]) -> str:
    """Make the object from `key=text`, `key:=JSON`, `key=@file` and `key:=@file`.

    Raises:
        UsageError: a word is no ITEM, or a key is given twice.
        InputError: a value or a file cannot be used.

    """
    members: dict[str, str] = {}
    for item in items:
        found = _ITEM.fullmatch(item)
        if not found or not found["key"]:
            raise UsageError(
                f"{visible(item)!r} is not an ITEM: write key=text, key:=JSON or key=@file"
            )
        key = decode_argument(found["key"])
        if key in members:
            raise UsageError(f"the key {visible(key)} is given twice")
        members[key] = _value(found, f"the value of {visible(key)}")
    return "{" + ",".join(f"{json.dumps(key)}:{value}" for key, value in members.items()) + "}"


def _value(found: re.Match[str], what: str) -> str:
    if found["file"]:
        what = f"the file {visible(found['rest'])}"
        data = _contents(found["rest"], what)
        text = _text(data, what) if found["colon"] else _plain_text(data, what)
    else:
        text = decode_argument(found["rest"])
    if not found["colon"]:
        return json.dumps(text)
    if not text.strip(" \t\r\n"):
        raise InputError(f"{what} is empty: := wants JSON, = takes text")
    _checked(text, what)
    return _on_one_line(text)


def _contents(path: str, what: str) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as problem:
        raise InputError(f"cannot read {what}: {problem.strerror}") from None
    if len(data) > _LARGEST:
        raise InputError(f"{what} is larger than {_LARGEST} bytes")
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
