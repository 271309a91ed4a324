"""Lines out of chunks of bytes, of a bounded size."""

from hypothesis import given
from hypothesis import strategies as st

from thrall_py.gateway.front.lines import TOO_LONG, Lines


def cut(chunks, limit=5):
    lines = Lines(limit)
    found = [line for chunk in chunks for line in lines.feed(chunk)]
    return found + list(lines.end())


def test_a_line_may_come_in_pieces_and_the_last_one_needs_no_end():
    assert cut([b"a", b"b\nc", b"\n\nd"]) == [b"ab", b"c", b"", b"d"]


def test_a_line_that_is_too_long_is_told_once_and_what_follows_is_read():
    assert cut([b"12345\n123", b"45", b"678", b"9\nok\n"]) == [b"12345", TOO_LONG, b"ok"]


def test_nothing_of_a_line_that_is_too_long_is_kept():
    lines = Lines(5)
    for _ in range(1000):
        assert list(lines.feed(b"x" * 100)) == []
    assert lines._begun == []
    assert list(lines.end()) == [TOO_LONG]


@given(st.lists(st.binary(max_size=9)))
def test_however_input_is_cut_into_chunks_its_lines_are_the_same(chunks):
    whole = b"".join(chunks)
    lines = whole.split(b"\n")
    expected = [line if len(line) <= 5 else TOO_LONG for line in lines]
    assert cut(chunks) == (expected if lines[-1] else expected[:-1])
