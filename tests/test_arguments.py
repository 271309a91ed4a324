import pytest

from thrall_py.errors import InputError
from thrall_py.verbs.arguments import from_input

EMPTY = "the input is empty: give one JSON object, or '{}' on the command line for no arguments"


@pytest.mark.parametrize(
    ("data", "sent"),
    [
        (b"{}", "{}"),
        (b' \t\r\n{"a": 1.0}\n\n', '{"a": 1.0}'),
        (b'{"b":1e400,"a":9007199254740993}', '{"b":1e400,"a":9007199254740993}'),
        (b'{\n"a":\r\n[1,\n2]}', '{ "a":  [1, 2]}'),
        ('{"é":"\\u00e9\\/😀"}'.encode(), '{"é":"\\u00e9\\/😀"}'),
        (b"\xef\xbb\xbf{}", "{}"),
        (b'{"a":' + b"1" * 5000 + b"}", '{"a":' + "1" * 5000 + "}"),
    ],
)
def test_an_object_is_sent_as_it_was_typed(data, sent):
    assert from_input(data) == sent


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", EMPTY),
        (b" \r\n\t", EMPTY),
        (b"\xef\xbb\xbf", EMPTY),
        (b"[]", "the input is not a JSON object: give one, such as {}"),
        (b'"{}"', "the input is not a JSON object: give one, such as {}"),
        (b"null", "the input is not a JSON object: give one, such as {}"),
        (b'{"a":NaN}', "the input is not JSON: NaN is not a JSON value"),
        (b'{"a":-Infinity}', "the input is not JSON: -Infinity is not a JSON value"),
        (
            b'{"a\x7f":1,"a\x7f":2}',
            r"the input is not JSON: the name 'a\x7f' stands twice in one object",
        ),
        (
            b'{"a":{"b":1,"\\u0062":2}}',
            "the input is not JSON: the name 'b' stands twice in one object",
        ),
        (b"{} {}", "the input is not JSON: Extra data: line 1 column 4 (char 3)"),
        (b"\xff\xfe{\0}\0", "the input is not UTF-8 (invalid start byte)"),
        (b'{"a":' + b"[" * 100_000, "the input is nested too deeply"),
    ],
)
def test_anything_else_is_refused_saying_what_would_be_right(data, sentence):
    with pytest.raises(InputError) as refused:
        from_input(data)
    assert str(refused.value) == sentence
