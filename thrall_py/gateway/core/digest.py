"""The digest of what a client sent: in the log, and in what binds a state to a request. Pure."""

import contextlib

from thrall_py.protocol import canonical, jsontext
from thrall_py.protocol.jsontext import JsonError

_LARGEST = 1 << 18  # characters of JSON that is brought into its canonical form for a digest


def of(text: str) -> str:
    """Make the digest of a JSON value that a client sent, equal for equal values.

    One of more than 256 KiB, or that is nested too deeply, is not brought into its canonical form:
    its digest is that of its text and begins with `text-`.

    Args:
        text: of the value, in Latin-1.

    """
    if len(text) <= _LARGEST:
        with contextlib.suppress(JsonError):  # too deep, or a name twice in two spellings
            value = jsontext.load(jsontext.decode(text))
            return canonical.digest(canonical.sort_members(value))
    return f"text-{canonical.digest(text)}"
