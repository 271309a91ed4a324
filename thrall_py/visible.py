"""Foreign text made safe to look at: no character acts on the terminal, none hides.

rich is no sanitizer (it passes escape sequences through), so everything a server sent goes
through here before a person sees it.
"""

import re

# What a terminal obeys or does not show: C0 and C1 controls, line and paragraph separators, bidi
# and other format characters, zero-width characters, fillers, variation selectors, tag
# characters, lone surrogates, private use and noncharacters (the last two of every plane).
_LAST_OF_PLANES = "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}"
                          for plane in range(0x10000, 0xE0000, 0x10000))  # fmt: skip
# Patterns as text: re compiles one when it is first used, which takes 1 ms and most runs need not.
_UNSAFE = (
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
    f"{_LAST_OF_PLANES}]"
)
_TAGS = 0xE0000  # from here on ASCII stands once more, invisible
_TAGGED = "[\U000e0020-\U000e007e]+"
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_TEXT = f"(?![\n\t]){_UNSAFE}"


def visible(text: str) -> str:
    r"""One line of `text` in which everything unsafe is an escape such as `\x1b` or `\u202e`."""
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_UNSAFE, _escape, text)


def visible_text(text: str) -> str:
    """The same for text of many lines: newlines and tabs stay."""
    return re.sub(_TEXT, _escape, text)


def visible_json(text: str) -> str:
    """The same for JSON, by escapes of JSON's own, so that it stays the same value."""
    return re.sub(_TEXT, _json_escape, text)


def hidden_characters(text: str) -> list[str]:
    """What in `text` a person would not see, each kind once and escaped; newlines and tabs pass."""
    return [_escape(found) for found in dict.fromkeys(re.findall(_TEXT, text))]


def tag_text(text: str) -> list[str]:
    """The words that tag characters in `text` spell: ASCII that only a model reads."""
    return [
        "".join(chr(ord(character) - _TAGS) for character in found)
        for found in re.findall(_TAGGED, text)
    ]


def _escape(found: "re.Match[str] | str") -> str:
    character = found if isinstance(found, str) else found[0]
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if code <= 0xFF:  # noqa: PLR2004 - the last code of two hexadecimal digits
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - likewise


def _json_escape(found: re.Match[str]) -> str:
    if found[0] == "\r":  # in valid JSON it stands between tokens only
        return " "
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
