"""The server's words made fit to be repeated: secrets masked first, then made visible, then cut.

In this order, because a cut or an escape in the middle of a secret would leave half of it. JSON has
many spellings of one text (RFC 8259, section 7), and JSON in a text of JSON escapes them once more;
so secrets are looked for in what the escapes mean, and masked where they stand.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from thrall_py.visible import visible

_LIMIT = 200  # characters of a quotation
_MASK = "***"
_LINE = 8  # characters of one line of a secret that has several
_SHORTEST = 4  # characters of a secret; a shorter value stands in every other word
_DEEPEST = 3  # JSON in a text of JSON in a message
_LONGEST_ESCAPE = 14  # characters for one of a secret: a surrogate pair, escaped twice
_SHORT_ESCAPES = {
    '"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"
}  # fmt: skip
_SECRET_WORDS = (
    "token", "secret", "passw", "passphrase", "credential", "apikey", "api_key",
    "sshkey", "ssh_key", "private", "authorization", "bearer",
)  # fmt: skip
# As the end of a name these are what is no secret as often, so the value has to tell as well.
_DOUBTFUL_WORDS = ("pat", "auth", "cookie", "cookies", "session", "sessionid")
# A value that stands nowhere by chance, as "production" could: for refusals, where masking is not
# enough and a false alarm costs more.
_UNMISTAKABLE = r"(?=.*[0-9])(?=.*[A-Za-z])\S{12,}|\S{20,}"


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name holds a secret."""
    name = name.casefold()
    return any(word in name for word in _SECRET_WORDS)


def holds_secret(name: str, value: str) -> bool:
    """Whether a variable of this name, with this value, holds a secret."""
    words = name.casefold().replace("-", "_").replace(".", "_").removesuffix("_id").split("_")
    is_doubtful = words[-1] in _DOUBTFUL_WORDS and words[-2:] != ["desktop", "session"]
    is_telling = is_doubtful and re.fullmatch(_UNMISTAKABLE, value) is not None
    return is_telling or is_secret_name(name)


class Redactor:
    """Knows the secrets of one server.

    Args:
        secrets: values that are masked, in the spellings that JSON has for them, too.

    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        values = {value for value in secrets if len(value) >= _SHORTEST}
        # A person sees one line at a time, and so does whoever quotes the first of several.
        values |= {line for value in values for line in value.splitlines() if len(line) >= _LINE}
        self._secrets = sorted(values, key=len, reverse=True)  # a longer one may hold a shorter
        self._longest = max(map(len, values), default=0)
        self._escape: re.Pattern[str] | None = None  # compiled once there is a backslash

    def mask(self, text: str) -> str:
        """`text` with every secret replaced by three asterisks."""
        for secret in self._secrets:
            text = text.replace(secret, _MASK)
        layers: list[_Layer] = []
        places: set[tuple[int, int]] = set()
        for layer in self._layers(text):
            layers.append(layer)
            for start, end in self._places_in(layer.text):
                for each in reversed(layers):
                    start, end = each.source(start), each.source(end)  # noqa: PLW2901 - step by step
                places.add((start, end))
        return _masked(text, sorted(places))

    def mask_cut(self, text: str) -> str:
        """The same for text that breaks off: half a secret, which no mask finds, may end it."""
        text = self.mask(text)
        lost = self._longest
        if "\\" in text[max(0, len(text) - lost * _LONGEST_ESCAPE) :]:
            lost *= _LONGEST_ESCAPE
        return text[: max(0, len(text) - lost)]

    def plain(self, text: str, limit: int = _LIMIT) -> str:
        """`text` masked, visible, and cut after `limit` characters."""
        shown = visible(self.mask(text)[: limit + 1])
        return shown if len(shown) <= limit else shown[:limit] + "..."

    def quoted(self, text: str, limit: int = _LIMIT) -> str:
        """The same between quotation marks."""
        return f'"{self.plain(text, limit)}"'

    def leaks(self, text: str) -> bool:
        """Whether `text` holds a secret that cannot stand there by chance."""
        telling = [secret for secret in self._secrets if re.fullmatch(_UNMISTAKABLE, secret)]
        texts = [text, *(layer.text for layer in self._layers(text))] if telling else []
        return any(secret in each for each in texts for secret in telling)

    def _places_in(self, text: str) -> Iterator[tuple[int, int]]:
        if any(secret in text for secret in self._secrets):  # much faster than the pattern
            for found in re.finditer("|".join(map(re.escape, self._secrets)), text):
                yield found.span()

    def _layers(self, text: str) -> Iterator["_Layer"]:
        """Take the escapes of JSON out of a text, again and again while there are some."""
        for _ in range(_DEEPEST if self._secrets else 0):
            if "\\" not in text:
                return
            self._escape = self._escape or _escape_of(set("".join(self._secrets)))
            layer = _unescaped(text, self._escape)
            if not layer.places:
                return
            text = layer.text
            yield layer


class _Layer(NamedTuple):
    """What a text means once its escapes are taken for characters.

    Attributes:
        text: the meaning.
        places: where in it each character stands that was an escape.
        ends: where in the source each escape ends.

    """

    text: str
    places: list[int]
    ends: list[int]

    def source(self, place: int) -> int:
        """Where in the source it is that stands at a place of the text."""
        from bisect import bisect_left

        before = bisect_left(self.places, place)
        if not before:
            return place
        return self.ends[before - 1] + place - self.places[before - 1] - 1


def _escape_of(letters: set[str]) -> re.Pattern[str]:
    """Match up to the next escape that stands for one of `letters` or a backslash, or to the end.

    Every other one is passed over within the pattern: a text may have millions, one for each line.
    """
    letters = letters | {"\\"}
    short = "".join(re.escape(each) for each, meant in _SHORT_ESCAPES.items() if meant in letters)
    units = "|".join(
        "\\\\u".join(re.findall("....", letter.encode("utf-16-be", "surrogatepass").hex()))
        for letter in sorted(letters)
    )
    telling = f"[{short}]|u(?i:{units})"
    return re.compile(rf"(?s)(?:[^\\]++|\\(?!{telling}).)*+(?:(\\(?:{telling}))|\\?\Z)")


def _unescaped(text: str, escape: re.Pattern[str]) -> _Layer:
    pieces: list[str] = []
    places: list[int] = []
    ends: list[int] = []
    place = end = 0
    for found in escape.finditer(text):
        if not found[1]:  # the end
            continue
        place += found.start(1) - end
        pieces += text[end : found.start(1)], _meaning(found[1])
        end = found.end()
        places.append(place)
        ends.append(end)
        place += 1
    return _Layer("".join((*pieces, text[end:])), places, ends)


def _meaning(escape: str) -> str:
    if escape[1] != "u":
        return _SHORT_ESCAPES[escape[1]]
    return bytes.fromhex(escape.replace("\\u", "")).decode("utf-16-be", "surrogatepass")


def _masked(text: str, places: Iterable[tuple[int, int]]) -> str:
    """`text` with a mask in these places, in their order; one for those that overlap."""
    pieces: list[str] = []
    end = 0
    for first, last in places:
        if first >= end:
            pieces += text[end:first], _MASK
        end = max(end, last)
    return "".join((*pieces, text[end:]))
