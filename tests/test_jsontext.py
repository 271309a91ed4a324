import json
import tracemalloc

import pytest

from thrall_py.protocol.jsontext import (
    EACH,
    JsonError,
    Value,
    decode,
    latin1,
    load,
    scan,
    validate,
)
from thrall_py.protocol.numbers import ExactNumber

NO_JSON = {
    "nothing": "",
    "white space": " \t\r\n",
    "two values": "1 2",
    "a value too many": "{} {}",
    "no value": "nonsense",
    "not a number": "NaN",
    "infinity": "[Infinity]",
    "negative infinity": '{"a":-Infinity}',
    "single quotes": "{'a': 1}",
    "a name without quotes": "{a: 1}",
    "a comma at the end of an object": '{"a":1,}',
    "a comma at the end of an array": "[1,]",
    "a comma alone": "[,]",
    "no colon": '{"a" 1}',
    "no comma": '{"a":1 "b":2}',
    "the wrong bracket": "[1}",
    "an object that does not end": '{"a":1',
    "an array that does not end": "[1",
    "an object that ends in a name": '{"a',
    "a string that does not end": '"abc',
    "an escape that does not end": '"abc\\"',
    "an escape of hexadecimal digits": r'"\x41"',
    "an escape that is too short": r'"\u12"',
    "a raw newline in a string": '"a\nb"',
    "a raw NUL in a string": '"a\x00b"',
    "a NUL": "\x00",
    "a leading zero": "01",
    "a plus sign": "+1",
    "a point without digits": "1.",
    "a minus sign alone": "-",
    "a hexadecimal number": "0x10",
    "an exponent without digits": "1e",
    "a comment": "1 // one",
    "a space that JSON does not know": "\x0c1",
    "no-break space": "\xa01",
    "a word in capitals": "True",
    "the same name twice": '{"a":1,"a":2}',
    "the same name twice, deeper": '{"a":[{"b":1,"b":1}]}',
}
TOO_DEEP = {"arrays": "[" * 100_000, "objects": '{"a":' * 100_000}


@pytest.mark.parametrize("shape", [{}, {EACH: {EACH: {}}}], ids=["shallow", "deep"])
@pytest.mark.parametrize("text", NO_JSON.values(), ids=NO_JSON)
def test_what_is_no_json_is_not_scanned(text, shape):
    with pytest.raises(JsonError, match=r"^not JSON: "):
        scan(text, shape)


@pytest.mark.parametrize("read", [load, validate])
@pytest.mark.parametrize("text", NO_JSON.values(), ids=NO_JSON)
def test_what_is_no_json_is_not_read(text, read):
    with pytest.raises(JsonError, match=r"^not JSON: "):
        read(text)


@pytest.mark.parametrize("read", [load, validate, lambda text: scan(text, {EACH: {}})])
@pytest.mark.parametrize("text", TOO_DEEP.values(), ids=TOO_DEEP)
def test_what_is_nested_too_deeply_is_refused(text, read):
    with pytest.raises(JsonError, match=r"^nested too deeply$"):
        read(text)


def test_a_name_that_stands_twice_is_told_whole_because_a_cut_could_leave_half_a_secret():
    name = "x" * 999
    with pytest.raises(JsonError) as caught:
        load(f'{{"{name}":1,"{name}":2}}')
    assert str(caught.value) == f"not JSON: the name '{name}' stands twice in one object"


def test_a_name_in_two_spellings_is_found_where_it_is_decoded():
    text = r'{"a":1,"\u0061":2}'
    for read in (load, validate, lambda text: scan(text, {})):
        with pytest.raises(JsonError, match="'a' stands twice"):
            read(text)


def test_a_name_outside_ascii_in_two_spellings_is_found_by_loading():
    text = '{"é":1,"\\u00e9":2}'
    unseen = scan(f'{{"x":{text}}}'.encode().decode("latin-1"), {}).members()["x"]
    with pytest.raises(JsonError, match="'é' stands twice"):
        unseen.load()
    with pytest.raises(JsonError, match="'é' stands twice"):
        scan(text.encode().decode("latin-1"), {})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("true", True),
        (" [ ] ", []),
        ("{\t}", {}),
        ('{"b":[1,{"c":""}],"a":false}', {"b": [1, {"c": ""}], "a": False}),
        (r'"\ud83d\ude00 \u00e9\/\n"', "😀 é/\n"),
        (r'"\ud800"', "\ud800"),
        ('"\u2028\x7f"', "\u2028\x7f"),
        ("1.0", 1),
        ("0.10", ExactNumber("0.1")),
        ("1e400", ExactNumber("1e400")),
        ("9007199254740993", 9007199254740993),
        ('{"":{"":0}}', {"": {"": 0}}),
    ],
)
def test_json_is_loaded_by_its_exact_value(text, value):
    assert load(text) == value


def test_a_number_of_absurd_length_passes_unread_and_is_refused_when_loaded():
    digits = "7" * 5000
    assert validate(digits) == "7"
    found = scan(f'{{"a":{digits}}}', {}).members()["a"]
    assert found.text == digits
    with pytest.raises(JsonError, match=r"^not JSON: a number of 5000 characters$"):
        found.load()


@pytest.mark.parametrize(
    ("text", "first"), [(' \r\n{"a": 1e400}', "{"), ("[1]", "["), ('"x"', '"'), ("-0.5\n", "-")]
)
def test_validation_tells_the_first_character_of_the_value(text, first):
    assert validate(text) == first


def test_a_scan_goes_as_deep_as_its_shape_and_no_deeper():
    text = '{"result" : {"content": [ {"type":"text"}, 7 ], "other":{"x":1}}, "id":1}'
    root = scan(text, {"result": {"content": {EACH: {}}}})
    assert (root.start, root.end, root.first) == (0, len(text), "{")
    assert list(root.members()) == ["result", "id"]
    result = root.members()["result"]
    assert result.text == '{"content": [ {"type":"text"}, 7 ], "other":{"x":1}}'
    assert result.members()["other"].text == '{"x":1}'
    assert result.members()["other"].members() == {}
    content = result.members()["content"]
    assert [item.text for item in content.children] == ['{"type":"text"}', "7"]
    assert content.members() == {}
    assert content.children[0].members()["type"].text == '"text"'
    assert content.children[1].children is None


def test_a_shape_for_each_goes_for_the_members_that_have_none_of_their_own():
    root = scan('{"a":{"b":{}},"c":{"d":{}}}', {"a": {}, EACH: {"d": {}}})
    assert root.members()["a"].members()["b"].children is None
    assert root.members()["c"].members()["d"].children == {}


@pytest.mark.parametrize("text", ["[]", " [ \t] "])
def test_an_empty_array_that_is_looked_into_has_no_elements(text):
    assert scan(text, {}).children == []


def test_a_place_in_the_text_is_a_place_in_the_message():
    message = '{"é":"日本","b":[1.50]}'.encode()
    value = scan(latin1(message), {}).members()["b"]
    assert message[value.start : value.end] == b"[1.50]"
    assert value.load() == [ExactNumber("1.5")]


def test_a_message_is_latin_1_less_one_byte_order_mark():
    assert latin1(b"abc") == "abc"
    assert latin1(bytearray("é".encode())) == "Ã©"
    assert latin1(b"\xef\xbb\xbf{}") == "{}"
    assert latin1(b"\xef\xbb\xbf\xef\xbb\xbf{}") == "\xef\xbb\xbf{}"
    assert decode("Ã©") == "é"


@pytest.mark.parametrize(
    "message",
    [
        b"\xff",
        b"\xc3(",
        b"\xed\xa0\x80",
        b"\xc0\x80",
        b"\xf4\x90\x80\x80",
        b"\xe2\x82",
        "{}".encode("utf-16"),
    ],
    ids=["byte", "sequence", "surrogate", "overlong", "too high", "cut", "UTF-16"],
)
def test_what_is_not_utf_8_is_refused(message):
    with pytest.raises(JsonError, match=r"^not UTF-8 \("):
        latin1(message)


def test_a_sequence_may_lie_across_two_of_the_checked_stretches():
    message = b"x" * ((1 << 20) - 1) + "é".encode()
    assert decode(latin1(message)).endswith("xé")


STRINGS = {
    "empty": '""',
    "ascii": '"abc"',
    "every escape": r'"\"\\\/\b\f\n\r\t\u0041"',
    "other scripts": '"é日本😀"',
    "a pair": r'"\ud83d\ude00"',
    "lone surrogates": r'"\ud800x\udc00\ud800\n\ud800"',
    "two high surrogates and a low one": r'"\ud800\ud800\udc00"',
    "a long run": '"' + "x" * 100_000 + '"',
    "a long run beyond ASCII": '"' + "x" + "日" * 50_000 + '"',
    "long runs of four bytes": '"' + "😀" * 40_000 + '"',
    "many escapes": '"' + "\\n" * 5000 + '"',
    "many pairs": '"' + r"\ud83d\ude00" * 5000 + '"',
    "many pairs, one off": '"\\n' + r"\ud83d\ude00" * 5000 + '"',
}


@pytest.mark.parametrize("text", STRINGS.values(), ids=STRINGS)
def test_the_pieces_of_a_string_are_the_string(text):
    found = scan(text.encode().decode("latin-1"), {})
    parts = list(found.pieces())
    assert "".join(parts) == json.loads(text)
    assert all(0 < len(part) <= 1 << 16 for part in parts)


@pytest.mark.parametrize("before", range(250, 260))
def test_no_piece_ends_inside_a_surrogate_pair(before):
    text = '"' + "\\n" * before + r"\ud800\ud800\udc00" + '"'
    assert "".join(scan(text, {}).pieces()) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("1 2", 2),
        ('"abc', 0),
        ('{"a":1,}', 7),
        ('{"a":1 "b":2}', 7),
        ("[1}", 2),
    ],
)
def test_a_scan_tells_where_the_json_breaks_off(text, at):
    with pytest.raises(JsonError) as caught:
        scan(text, {})
    assert str(caught.value) == f"not JSON: unexpected at character {at}"


def test_a_member_is_found_by_its_name_and_its_text_if_it_is_a_string():
    found = scan(r'{"a":"\u00e9","b":1}', {})
    assert found.member("b").text == "1"
    assert found.member("c") is None
    assert [found.member_string(name) for name in "abc"] == ["\u00e9", None, None]
    assert scan("[1]", {}).member("a") is None


def test_only_a_string_is_decoded_as_one():
    assert scan('"a\\n"', {}).string() == "a\n"
    assert scan("1", {}).string() is None
    assert Value("[1]", 1, 2).first == "1"


@pytest.mark.parametrize("text", ["[1,2,3]", '{"a":1,"b":2,"c":3}', "[[1,2]]"])
def test_no_more_places_are_found_than_are_wanted(text):
    assert scan(text, {EACH: {EACH: {}}}, most=4)
    with pytest.raises(JsonError, match="more parts than are looked into"):
        scan(text, {EACH: {EACH: {}}}, most=3)


# -- pieces ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "is_simple"),
    [
        ('""', True),
        (r'"\"\\\b\f\n\r\t é"', True),
        (r'"\\u0041"', True),
        (r'"\/"', False),
        (r'"\n\u0041\n"', False),
        ("1", False),
    ],
)
def test_a_string_is_simple_if_a_bytes_literal_has_its_escapes_too(text, is_simple):
    assert scan(text.encode().decode("latin-1"), {}).is_simple is is_simple


@pytest.mark.parametrize("escape", ["", "\\n", "\\/", "\\u0041"])
def test_a_long_string_is_walked_without_a_copy_of_it(escape):
    source = f'"{escape}{"x" * 5_000_000}"'
    tracemalloc.start()
    try:
        end = scan(source, {}).end
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (end, peak < 1_000_000) == (len(source), True)


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "ä",
        "€",
        "😀",
        "\\n",
        "\\u00e4",
        "\\ud83d\\ude00",
        "\\\\",
        "\\ud83d",
        "abcdefg\\n",
        "ä\\\\",
    ],
)
@pytest.mark.parametrize("shift", range(13))
def test_a_long_string_comes_in_pieces_that_cut_no_character(unit, shift):
    source = '"' + "x" * shift + unit * (200_000 // len(unit)) + '"'
    pieces = list(scan(source.encode().decode("latin-1"), {}).pieces())
    assert len(pieces) > 1
    assert max(map(len, pieces)) <= 1 << 16
    assert "".join(pieces) == json.loads(source)
    halves = [piece[-1] for piece in pieces if "\ud800" <= piece[-1] < "\udc00"]
    assert not halves or unit == "\\ud83d"
