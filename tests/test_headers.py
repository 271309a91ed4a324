"""The headers that a caller wants sent, from words or from a file."""

import os
from pathlib import Path

import pytest

from thrall_py.errors import InputError, UsageError
from thrall_py.verbs import headers


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([], {}),
        (["A: b"], {"A": "b"}),
        (["A:b", "B :\tc d ", "C:", "D:: e:"], {"A": "b", "B": "c d ", "C": "", "D": ": e:"}),
        (["A: ${B:-c}"], {"A": "${B:-c}"}),
        (["A: b\nc"], {"A": "b\nc"}),
    ],
)
def test_a_line_is_a_name_a_colon_and_a_value(lines, found):
    assert headers.parse(lines) == found


@pytest.mark.parametrize("line", ["", "hunter22", ": hunter22", "a b: hunter22", " A: hunter22"])
def test_a_line_without_a_name_or_a_colon_is_none_and_is_not_repeated(line):
    with pytest.raises(UsageError) as refused:
        headers.parse(["A: b", line])
    assert str(refused.value) == "a header is given as 'NAME: VALUE'"


def test_a_name_is_there_once_however_it_is_spelled():
    with pytest.raises(UsageError, match=r"^the header x\\x1b-a is given twice$"):
        headers.parse(["X\x1b-A: hunter22", "B: c", "x\x1b-a: hunter23"])


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("A: b", ["A: b"]),
        ("A: b\nC: d\n", ["A: b", "C: d"]),
        ("\n\n  \nA: b\n\n", ["A: b"]),
        ("# A: b\n  # no\nC: d # yes\n", ["C: d # yes"]),
        ("  A: b \r\nC: é\r\n", ["A: b", "C: é"]),
    ],
)
def test_a_file_has_a_header_on_a_line_and_the_rest_is_passed_over(text, lines):
    Path("h").write_bytes(text.encode())
    assert headers.read("h") == lines


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("no\x1b", r"cannot read no\x1b: No such file or directory"),
        ("d", "cannot read d: Is a directory"),
        ("f\x1b", r"f\x1b is not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_saying_why(path, sentence):
    os.mkdir("d")
    Path("f\x1b").write_bytes(b"A: hunter22\xff\n")
    with pytest.raises(InputError) as refused:
        headers.read(path)
    assert str(refused.value) == sentence


def test_a_file_that_is_too_large_is_refused():
    Path("headers").write_bytes(b"A: " + "é".encode() * (1 << 19))  # fewer characters than that
    with pytest.raises(InputError, match="^headers is larger than 1048576 bytes$"):
        headers.read("headers")


@pytest.mark.parametrize("value", ["$MY_KEY", "Bearer $MY_KEY"])
def test_a_variable_without_braces_is_refused_with_the_spelling_that_is_filled_in(value):
    with pytest.raises(UsageError) as refused:
        headers.parse([f"X-Key: {value}"])
    assert str(refused.value) == (
        "the header X-Key has $MY_KEY, which is not filled in: write ${MY_KEY}"
    )


@pytest.mark.parametrize("value", ["a$B", "$b", "$", "$1", "$A b", "${A:-$B}", "$${A}", "${A}"])
def test_any_other_dollar_may_belong_to_a_value(value):
    assert headers.parse([f"X-Key: {value}"]) == {"X-Key": value}
