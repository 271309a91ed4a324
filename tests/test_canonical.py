import hashlib

import pytest

from thrall_py.protocol.canonical import compact, digest, indented, sort_members
from thrall_py.protocol.jsontext import JsonError, load

COMPACT = {
    "scalars": ("[true, false, null, -1]", "[true,false,null,-1]"),
    "empty": ('{"a": {}, "b": []}', '{"a":{},"b":[]}'),
    "outside ASCII": ('"é\u202e😀/\x7f"', r'"\u00e9\u202e\ud83d\ude00/\u007f"'),
    "a lone surrogate": (r'"\uD800"', r'"\ud800"'),
    "control characters": (r'"\u0000\n\t\u001b\""', r'"\u0000\n\t\u001b\""'),
    "numbers": (
        "[1.0, 1e2, 0.50, 1e400, 18446744073709551615]",
        "[1,100,0.5,1e400,18446744073709551615]",
    ),
    "names": ('{"é": 1, "a\\u0062": {"c": [2]}}', r'{"\u00e9":1,"ab":{"c":[2]}}'),
}


@pytest.mark.parametrize(("text", "written"), COMPACT.values(), ids=COMPACT)
def test_the_compact_form_is_one_line_of_ascii(text, written):
    assert compact(load(text)) == written


def test_the_indented_form_is_for_a_review():
    value = load('{"a":[1,{"é":null}],"b":{},"c":[]}')
    assert indented(value) == (
        '{\n  "a": [\n    1,\n    {\n      "\\u00e9": null\n    }\n  ],\n  "b": {},\n  "c": []\n}\n'
    )


def test_members_are_ordered_by_code_point_at_every_level():
    value = load('{"\uffff":1,"😀":2,"b":[{"z":1,"a":2}],"B":3,"":4}')
    assert compact(sort_members(value)) == (
        r'{"":4,"B":3,"b":[{"a":2,"z":1}],"\uffff":1,"\ud83d\ude00":2}'
    )
    assert list(value) == ["\uffff", "😀", "b", "B", ""]


@pytest.mark.parametrize(
    ("text", "canonical"),
    [("{}", b"{}"), ('{"b":1.0,"a":["x"]}', b'{"a":["x"],"b":1}'), ('"é"', rb'"\u00e9"')],
)
def test_the_digest_is_the_sha_256_of_the_canonical_form(text, canonical):
    assert digest(sort_members(load(text))) == "sha256:" + hashlib.sha256(canonical).hexdigest()


def test_the_digest_of_a_known_value_does_not_change_from_release_to_release():
    expected = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert digest(load(" { } ")) == expected


@pytest.mark.parametrize(
    ("text", "other"),
    [("1", "true"), ("0", "false"), ("[]", "{}"), ('"1"', "1"), ('""', "null"), ("[1,2]", "[2,1]")],
)
def test_different_values_have_different_digests(text, other):
    assert digest(load(text)) != digest(load(other))


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_more_than_two_hundred_levels_have_no_canonical_form(opening, closing):
    inner = "[]" if opening == "[" else "{}"
    deepest = opening * 199 + inner + closing * 199
    assert compact(sort_members(load(deepest))) == deepest
    assert digest(sort_members(load(deepest))).startswith("sha256:")
    with pytest.raises(JsonError, match=r"^nested deeper than 200 levels$"):
        sort_members(load(opening * 200 + inner + closing * 200))
