import itertools
import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from thrall_py.catalog.change import Change, Slot
from thrall_py.output import worddiff
from thrall_py.output.worddiff import ADDED, REMOVED, SAME, Piece
from thrall_py.redact import Redactor
from thrall_py.visible import visible

REDACT = Redactor(["hunter22"])
NOTHING = object()
TEXTS = st.text("ab \n.,\u200b\x1b\\é\U000e0041", max_size=60)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
    max_leaves=6,
)


def pieces(before, after):
    sides = (None if value is NOTHING else Slot(value) for value in (before, after))
    return worddiff.pieces(Change(("x",), "text", *sides), REDACT)


def side(found, sign):
    return "".join(piece.text for piece in found if piece.sign in {SAME, sign})


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a b", "a c", [(SAME, "a "), (REMOVED, "b"), (ADDED, "c")]),
        ("a", "a b", [(SAME, "a"), (ADDED, " b")]),
        ("a b", "a", [(SAME, "a"), (REMOVED, " b")]),
        ("files", "file", [(REMOVED, "files"), (ADDED, "file")]),
        ("a.b", "a,b", [(SAME, "a"), (REMOVED, "."), (ADDED, ","), (SAME, "b")]),
        ("", "x", [(ADDED, "x")]),
        ("x", "", [(REMOVED, "x")]),
        (1, 2, [(REMOVED, "1"), (ADDED, "2")]),
        (["a"], ["b"], [(SAME, '["'), (REMOVED, "a"), (ADDED, "b"), (SAME, '"]')]),
        (None, {}, [(REMOVED, "null"), (ADDED, "{}")]),
        (NOTHING, "two words", [(ADDED, "two words")]),
        ("two words", NOTHING, [(REMOVED, "two words")]),
        (NOTHING, {"a": "é"}, [(ADDED, '{"a":"\\u00e9"}')]),
        (NOTHING, None, [(ADDED, "null")]),
        (NOTHING, "", [(ADDED, "")]),
    ],
)
def test_words_stay_go_or_come(before, after, expected):
    assert pieces(before, after) == [Piece(*each) for each in expected]


@pytest.mark.parametrize(
    ("before", "after", "added"),
    [
        ("ab", "a\u200bb", r"\u200b"),
        ("run", "run\x1b[2J", r"\x1b[2J"),
        ("a b", "a\nb", r"\n"),
        ("a", "a\U000e0041", r"\U000e0041"),
        (["a"], ["a\u202e"], r"\u202e"),
    ],
)
def test_a_hidden_character_becomes_visible(before, after, added):
    found = pieces(before, after)
    assert added in side([piece for piece in found if piece.sign == ADDED], ADDED)
    assert all(piece.text == visible(piece.text) for piece in found)


def test_secrets_are_masked_on_both_sides():
    assert pieces("say hunter22", "say hunter22 hunter22") == [
        Piece(SAME, "say ***"),
        Piece(ADDED, " ***"),
    ]
    assert pieces(["hunter22"], NOTHING) == [Piece(REMOVED, '["***"]')]


def test_what_stays_is_shortened_in_its_middle():
    long = "x" * 120 + "-" + "y" * 120
    (same, added) = pieces(long, f"{long} more")
    assert same == Piece(SAME, f"{'x' * 120} ... {'y' * 120}")
    assert added == Piece(ADDED, " more")


def test_what_stays_is_whole_up_to_twice_the_context():
    assert pieces("x" * 240, "x" * 240 + "!")[0] == Piece(SAME, "x" * 240)


def test_what_goes_and_what_comes_is_never_shortened():
    assert pieces("x" * 1000, "y" * 1000) == [Piece(REMOVED, "x" * 1000), Piece(ADDED, "y" * 1000)]


@pytest.mark.parametrize(("count", "signs"), [(1000, {SAME, ADDED}), (1001, {REMOVED, ADDED})])
def test_over_two_thousand_words_both_sides_are_whole(count, signs):
    before = "a " * (count - 1) + "a"
    after = before + "." if count == 1000 else before + " a."
    for one, other in ((before, after), (after, before)):
        found = pieces(one, other)
        flipped = {SAME: SAME, ADDED: REMOVED, REMOVED: ADDED}
        expected = signs if one is before else {flipped[sign] for sign in signs}
        assert {piece.sign for piece in found} == expected
        if SAME not in signs:
            assert found == [Piece(REMOVED, one), Piece(ADDED, other)]


@given(TEXTS, TEXTS)
def test_the_pieces_of_a_side_joined_are_that_side(before, after):
    assume(visible(before) != visible(after))
    found = pieces(before, after)
    assert side(found, REMOVED) == visible(before)
    assert side(found, ADDED) == visible(after)


@given(VALUES, VALUES)
def test_the_same_holds_for_whatever_is_no_text(before, after):
    found = pieces([before], [after])
    assert json.loads(side(found, REMOVED)) == [before]
    assert json.loads(side(found, ADDED)) == [after]


@given(TEXTS, TEXTS)
def test_no_two_pieces_of_one_sign_stand_side_by_side_and_none_is_empty(before, after):
    found = pieces(before, after)
    assert all(piece.text for piece in found)
    assert all(one.sign != other.sign for one, other in itertools.pairwise(found))


@pytest.mark.parametrize(
    ("before", "after"),
    [("5", 5), ("true", True), ("null", None), (r"a\u200bb", "a\u200bb")],
)
def test_what_changed_never_looks_as_if_it_had_stayed(before, after):
    found = pieces(before, after)
    assert {piece.sign for piece in found} - {SAME}
    assert json.loads(side(found, REMOVED)) == before
    assert json.loads(side(found, ADDED)) == after


@given(TEXTS)
def test_nor_does_a_text_and_the_spelling_of_it(text):
    assume(text != visible(text))
    found = pieces(text, visible(text))
    assert json.loads(side(found, REMOVED)) == text
    assert json.loads(side(found, ADDED)) == visible(text)
