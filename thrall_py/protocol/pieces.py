"""Long text in pieces; a string of JSON is not cut in a character, an escape or a pair of them."""

import codecs
import re
from collections.abc import Iterator

_SIZE = 1 << 16  # characters, or bytes
# Behind six characters without a backslash no escape is cut, nor a surrogate pair of two.
_SEAM = r"[^\\]{6}(?=[^\x80-\xbf])"
_SEAM_WITHIN = 256  # characters in which there is one, unless the text consists of escapes
# A piece of such a text, never ending inside a UTF-8 sequence, an escape or a surrogate pair.
_PIECE = (
    r'(?:[^"\\]{1,256}(?![\x80-\xbf])|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\[^u]){1,256}+'
)


def check_utf8(message: bytes | bytearray) -> None:
    """Raise UnicodeDecodeError if a message is not UTF-8; needs little memory on top of it."""
    check = codecs.getincrementaldecoder("utf-8")()
    with memoryview(message) as view:
        for at in range(0, len(view), _SIZE):
            check.decode(view[at : at + _SIZE])
        check.decode(b"", final=True)


def stretches(source: str, at: int, end: int) -> Iterator[str]:
    """Cut a string that goes on from `at` to `end` into pieces of 64 KiB at most."""
    while at < end:
        cut = _piece_end(source, at, end)
        yield source[at:cut]
        at = cut


def unescaped(stretch: str) -> bytes:
    r"""Turn a stretch of a simple string (`Value.is_simple`) into what it means, in UTF-8.

    Its escapes mean the same in a bytes literal, whose decoder goes through dense ones four times
    as fast as that of JSON; `pickle` reads its strings with it.
    """
    text = stretch.encode("latin-1")
    return codecs.escape_decode(text)[0] if b"\\" in text else text


def _piece_end(source: str, at: int, end: int) -> int:
    if end - at <= _SIZE:
        return end
    most = at + _SIZE
    # Compiled by the first long string: most answers have none.
    found = re.compile(_SEAM).search(source, most - _SEAM_WITHIN, most)
    found = found or re.compile(_PIECE).match(source, at, end)
    assert found, "a piece takes at least one character, or one escape"
    return found.end()
