"""Where a long string of JSON may be cut: never inside a character, an escape or a pair of them."""

import re

_SIZE = 1 << 16  # characters
# Behind six characters without a backslash no escape is cut, nor a surrogate pair of two.
_SEAM = r"[^\\]{6}(?=[^\x80-\xbf])"
_SEAM_WITHIN = 256  # characters in which there is one, unless the text consists of escapes
# A piece of such a text, never ending inside a UTF-8 sequence, an escape or a surrogate pair.
_PIECE = (
    r'(?:[^"\\]{1,256}(?![\x80-\xbf])|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\[^u]){1,256}+'
)


def piece_end(source: str, at: int, end: int) -> int:
    """Find where a piece of 64 KiB at most ends, of a string that goes on from `at` to `end`."""
    if end - at <= _SIZE:
        return end
    most = at + _SIZE
    # Compiled by the first long string: most answers have none.
    found = re.compile(_SEAM).search(source, most - _SEAM_WITHIN, most)
    found = found or re.compile(_PIECE).match(source, at, end)
    assert found, "a piece takes at least one character, or one escape"
    return found.end()
