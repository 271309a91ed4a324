"""The headers that a caller wants sent, from words or from a file."""

import re
from collections.abc import Iterable

from thrall_py.errors import InputError, UsageError
from thrall_py.verbs import arguments
from thrall_py.visible import visible

_LINE = re.compile(r"([^\s:]+)[ \t]*:[ \t]*(.*)", re.DOTALL)
# A variable as shells write it, at the end: what quotation marks kept from being filled in.
_BARE = re.compile(r"(?:.*\s)?\$([A-Z_][A-Z0-9_]*)", re.DOTALL)
_LARGEST = 1 << 20  # bytes of a file


def read(path: str) -> list[str]:
    """Read the lines of a file of headers; those that are empty or begin with `#` are none.

    Raises:
        InputError: it cannot be read, is larger than 1 MiB, or is no text.

    """
    shown = visible(path)
    data = arguments.read_file(path, shown, _LARGEST)
    try:
        text = data.decode()
    except UnicodeDecodeError:  # where it is not, and what stands there, is not told: a secret may
        raise InputError(f"{shown} is not UTF-8") from None
    lines = (line.strip() for line in text.split("\n"))
    return [line for line in lines if line and not line.startswith("#")]


def parse(lines: Iterable[str]) -> dict[str, str]:
    """Take lines such as `Name: value` apart; a value is in no sentence, it may be a secret.

    Raises:
        UsageError: one is no header, has a `$NAME` without braces, or a name is there twice.

    """
    found: dict[str, str] = {}
    for line in lines:
        match = _LINE.fullmatch(line)
        if not match:
            raise UsageError("a header is given as 'NAME: VALUE'")
        name, value = match.groups()
        bare = _BARE.fullmatch(value)
        if bare:
            raise UsageError(
                f"the header {visible(name)} has ${bare[1]}, which is not filled in:"
                f" write ${{{bare[1]}}}"
            )
        if name.lower() in map(str.lower, found):
            raise UsageError(f"the header {visible(name)} is given twice")
        found[name] = value
    return found
