import pytest
from hypothesis import given
from hypothesis import strategies as st

from thrall_py.catalog.choice import EVERYTHING, Choice

NAMES = st.text("ab[]*?!-\n\u200b", max_size=6)
PLAIN = st.text("abAB_-.\n", max_size=6)  # means itself as a pattern
PATTERNS = st.lists(NAMES, max_size=3).map(tuple)


@pytest.mark.parametrize(
    ("only", "leave_out", "name", "taken"),
    [
        ((), (), "anything", True),
        ((), (), "", True),
        (("a",), (), "a", True),
        (("a",), (), "ab", False),
        (("a", "b"), (), "b", True),
        (("read_*",), (), "read_file", True),
        (("read_*",), (), "read_", True),
        (("read_*",), (), "thread_x", False),
        (("*",), (), "a\nb", True),
        (("*",), (), ".hidden", True),
        (("a?c",), (), "abc", True),
        (("a?c",), (), "ac", False),
        (("[ab]x",), (), "bx", True),
        (("[!ab]x",), (), "bx", False),
        (("[a-c]x",), (), "bx", True),
        (("a[1]",), (), "a[1]", False),
        (("a[[]1]",), (), "a[1]", True),
        (("a[",), (), "a[", True),  # a bracket without an end means itself
        (("Read",), (), "read", False),
        (("read",), (), "Read", False),
        (("a/*",), (), "a/b/c", True),
        (("a.c",), (), "abc", False),
        (("",), (), "", True),
        (("",), (), "a", False),
        ((), ("a*",), "ab", False),
        ((), ("a*",), "b", True),
        ((), ("*",), "a", False),
        (("a*",), ("*b",), "ab", False),
        (("a*",), ("*b",), "ac", True),
        (("a",), ("a",), "a", False),
        (("a*",), ("*",), "a", False),
    ],
)
def test_a_tool_is_taken_by_its_name(only, leave_out, name, taken):
    assert Choice(only, leave_out).takes(name) is taken


@pytest.mark.parametrize(
    ("only", "leave_out", "useless"),
    [
        ((), (), []),
        (("a",), (), []),
        (("a", "x", "y*"), ("b", "z"), ["x", "y*", "z"]),
        (("A",), ("B",), ["A", "B"]),
        (("a",), ("a",), []),  # it matches, though nothing is taken
    ],
)
def test_patterns_that_match_nothing_are_named(only, leave_out, useless):
    assert Choice(only, leave_out).useless(iter(["a", "b"])) == useless


@given(NAMES)
def test_the_empty_choice_takes_everything_and_has_no_useless_pattern(name):
    assert Choice().takes(name)
    assert EVERYTHING.takes(name)
    assert EVERYTHING.useless([name]) == EVERYTHING.useless([]) == []


@given(PATTERNS, PATTERNS, NAMES)
def test_what_is_left_out_is_never_taken_and_what_is_taken_is_wanted(only, leave_out, name):
    if leave_out:
        assert not (Choice((), leave_out).takes(name) and Choice(leave_out, ()).takes(name))
    both = Choice(only, ()).takes(name) and Choice((), leave_out).takes(name)
    assert Choice(only, leave_out).takes(name) is both


@given(PLAIN, PLAIN)
def test_a_plain_name_as_a_pattern_takes_itself_alone(name, other):
    assert Choice((name,)).takes(other) is (name == other)


@given(PATTERNS, NAMES)
def test_patterns_without_any_match_take_nothing(only, name):
    if only and Choice(only).useless([name]) == list(only):
        assert not Choice(only).takes(name)
