"""The headers that a caller wants sent, from words or from a file."""

import re
from collections.abc import Iterable

from thrall_py.errors import InputError, UsageError
from thrall_py.visible import visible

_LINE = re.compile(r"([^\s:]+)[ \t]*:[ \t]*(.*)", re.DOTALL)
_LARGEST = 1 << 20  # characters of a file


def read(path: str) -> list[str]:
    """Read the lines of a file of headers; those that are empty or begin with `#` are none.

    Raises:
        InputError: it cannot be read, or is no text.

    """
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(_LARGEST + 1)
    except OSError as problem:
        raise InputError(f"cannot read {visible(path)}: {problem.strerror}") from None
    except UnicodeError:
        raise InputError(f"{visible(path)} is not UTF-8") from None
    if len(text) > _LARGEST:
        raise InputError(f"{visible(path)} is larger than {_LARGEST} characters")
    lines = (line.strip() for line in text.split("\n"))
    return [line for line in lines if line and not line.startswith("#")]


def parse(lines: Iterable[str]) -> dict[str, str]:
    """Take lines such as `Name: value` apart; a value is in no sentence, it may be a secret.

    Raises:
        UsageError: one is no header, or a name is there twice.

    """
    found: dict[str, str] = {}
    for line in lines:
        match = _LINE.fullmatch(line)
        if not match:
            raise UsageError("a header is given as 'NAME: VALUE'")
        name, value = match.groups()
        if name.lower() in map(str.lower, found):
            raise UsageError(f"the header {visible(name)} is given twice")
        found[name] = value
    return found
