import json
import unicodedata

import pytest

from thrall_py.visible import hidden_characters, tag_text, visible, visible_json, visible_text

UNSAFE = {
    "NUL": ("\x00", "\\x00"),
    "escape": ("\x1b", "\\x1b"),
    "newline": ("\n", "\\n"),
    "carriage return": ("\r", "\\r"),
    "tab": ("\t", "\\t"),
    "delete": ("\x7f", "\\x7f"),
    "C1 control sequence introducer": ("\x9b", "\\x9b"),
    "soft hyphen": ("\xad", "\\xad"),
    "combining grapheme joiner": ("\u034f", "\\u034f"),
    "Arabic letter mark": ("\u061c", "\\u061c"),
    "Hangul filler": ("\u3164", "\\u3164"),
    "Mongolian vowel separator": ("\u180e", "\\u180e"),
    "zero width space": ("\u200b", "\\u200b"),
    "right-to-left mark": ("\u200f", "\\u200f"),
    "line separator": ("\u2028", "\\u2028"),
    "right-to-left override": ("\u202e", "\\u202e"),
    "word joiner": ("\u2060", "\\u2060"),
    "right-to-left isolate": ("\u2067", "\\u2067"),
    "blank Braille pattern": ("\u2800", "\\u2800"),
    "lone surrogate": ("\ud800", "\\ud800"),
    "private use": ("\ue000", "\\ue000"),
    "variation selector": ("\ufe0f", "\\ufe0f"),
    "byte order mark": ("\ufeff", "\\ufeff"),
    "interlinear annotation": ("\ufff9", "\\ufff9"),
    "noncharacter": ("\uffff", "\\uffff"),
    "noncharacter beyond the first plane": ("\U0001fffe", "\\U0001fffe"),
    "shorthand format control": ("\U0001bca0", "\\U0001bca0"),
    "musical begin beam": ("\U0001d173", "\\U0001d173"),
    "tag letter": ("\U000e0041", "\\U000e0041"),
    "last code point": ("\U0010ffff", "\\U0010ffff"),
}


@pytest.mark.parametrize(("character", "escape"), UNSAFE.values(), ids=UNSAFE)
def test_an_unsafe_character_is_shown_as_its_escape(character, escape):
    assert visible(f"a{character}b") == f"a{escape}b"


@pytest.mark.parametrize("category", ["Cc", "Cs", "Co", "Zl", "Zp"])
def test_no_character_of_an_unsafe_category_is_left(category):
    unsafe = [chr(n) for n in range(0x110000) if unicodedata.category(chr(n)) == category]
    assert [character for character in unsafe if character in visible(character)] == []


@pytest.mark.parametrize(
    "text", ["plain [bold]x[/]", "naïve Ωδή 日本語 עברית العربية", "😀 a\u0301", ""]
)
def test_text_that_hides_nothing_stays_as_it_is(text):
    assert visible(text) == text
    assert visible_text(text) == text
    assert hidden_characters(text) == []


def test_text_of_many_lines_keeps_newlines_and_tabs_and_nothing_else_unsafe():
    assert visible_text("a\n\tb\r\x1b[2J") == "a\n\tb\\r\\x1b[2J"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('"\x7f\u202e"', '"\\u007f\\u202e"'),
        ('"\U000e0041"', '"\\udb40\\udc41"'),
        ('{"é": "\u200b"}', '{"é": "\\u200b"}'),
        ('{\n\t"a": "\x9b"}', '{\n\t"a": "\\u009b"}'),
    ],
)
def test_json_is_made_visible_by_escapes_of_its_own(text, shown):
    assert visible_json(text) == shown
    assert json.loads(shown) == json.loads(text)


def test_json_with_a_carriage_return_between_tokens_stays_json():
    assert json.loads(visible_json('{"a":\r1}')) == {"a": 1}


def test_what_is_hidden_is_told_once_of_each_kind():
    assert hidden_characters("\u200ba\u200b\x1b\n\t\u202e") == ["\\u200b", "\\x1b", "\\u202e"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("plain \U000e0001\U000e007f", []),  # the marks themselves spell nothing
        ("\U000e0052\U000e0075\U000e006e", ["Run"]),
        ("a\U000e0020\U000e007eb\U000e0031", [" ~", "1"]),
    ],
)
def test_what_tag_characters_spell_is_read(text, words):
    assert tag_text(text) == words


def test_every_printable_character_can_be_spelled_by_them():
    printable = "".join(map(chr, range(0x20, 0x7F)))
    assert tag_text("".join(chr(0xE0000 + ord(it)) for it in printable)) == [printable]
