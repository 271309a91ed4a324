"""The server's words made fit to be repeated: secrets masked first, then made visible, then cut.

In this order, because a cut or an escape in the middle of a secret would leave half of it.
"""

import json
import re
from collections.abc import Iterable

from thrall_py.visible import visible

_LIMIT = 200  # characters of a quotation
_MASK = "***"
_LINE = 8  # characters of one line of a secret that has several
_SHORTEST = 4  # characters of a secret; a shorter value stands in every other word
_SECRET_WORDS = (
    "token", "secret", "passw", "credential", "apikey", "api_key", "private", "authorization"
)  # fmt: skip
# A value that stands nowhere by chance, as "production" could: for refusals, where masking is not
# enough and a false alarm costs more.
_UNMISTAKABLE = r"(?=.*[0-9])(?=.*[A-Za-z])\S{12,}|\S{20,}"


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name holds a secret."""
    name = name.casefold()
    return any(word in name for word in _SECRET_WORDS)


def _as_utf8(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _as_php(value: str) -> str:
    return json.dumps(value).replace("/", "\\/")


class Redactor:
    """Knows the secrets of one server.

    Args:
        secrets: values that are masked, in the spellings that JSON has for them, too.

    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        values = {value for value in secrets if len(value) >= _SHORTEST}
        # A person sees one line at a time, and so does whoever quotes the first of several.
        values |= {line for value in values for line in value.splitlines() if len(line) >= _LINE}
        for spell in (json.dumps, _as_utf8, _as_php):
            values |= {spell(value)[1:-1] for value in values}
        self._secrets = sorted(values, key=len, reverse=True)  # a longer one may hold a shorter
        self.longest = max(map(len, values), default=0)  # characters

    def mask(self, text: str) -> str:
        """`text` with every secret replaced by three asterisks."""
        for secret in self._secrets:
            text = text.replace(secret, _MASK)
        return text

    def plain(self, text: str, limit: int = _LIMIT) -> str:
        """`text` masked, visible, and cut after `limit` characters."""
        shown = visible(self.mask(text)[: limit + 1])
        return shown if len(shown) <= limit else shown[:limit] + "..."

    def quoted(self, text: str, limit: int = _LIMIT) -> str:
        """The same between quotation marks."""
        return f'"{self.plain(text, limit)}"'

    def leaks(self, text: str) -> bool:
        """Whether `text` holds a secret that cannot stand there by chance."""
        return any(
            re.fullmatch(_UNMISTAKABLE, secret) and secret in text for secret in self._secrets
        )
