import pytest

from thrall_py.errors import InputError, UsageError
from thrall_py.verbs import arguments
from thrall_py.verbs.arguments import from_input, from_items


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
        (b"", "the input is empty: give one JSON object, {} for no arguments"),
        (b" \r\n\t", "the input is empty: give one JSON object, {} for no arguments"),
        (b"\xef\xbb\xbf", "the input is empty: give one JSON object, {} for no arguments"),
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


@pytest.mark.parametrize(
    ("items", "sent"),
    [
        ([], "{}"),
        (["a=b"], '{"a":"b"}'),
        (["a="], '{"a":""}'),
        (["a=b=c:=d"], '{"a":"b=c:=d"}'),
        (["a:b=c"], '{"a:b":"c"}'),
        (["a==b"], '{"a":"=b"}'),
        (["a=1", "b:=1"], '{"a":"1","b":1}'),
        (["b:=1", "a:=2"], '{"b":1,"a":2}'),
        (["a:= [1.0,\n{} ] "], '{"a":[1.0, {} ]}'),
        (['a="\n\x1b'], '{"a":"\\"\\n\\u001b"}'),
        (["é=😀"], '{"\\u00e9":"\\ud83d\\ude00"}'),
        (["a=@file"], '{"a":"text\\r\\n"}'),
        (["a:=@json"], '{"a":[1.50, 2]}'),
        (["a=b@file"], '{"a":"b@file"}'),
    ],
)
def test_items_become_an_object(items, sent):
    with open("file", "wb") as file:
        file.write(b"text\r\n")
    with open("json", "wb") as file:
        file.write(b"\xef\xbb\xbf[1.50,\n2]\n")
    assert from_items(items) == sent


@pytest.mark.parametrize(
    ("items", "sentence"),
    [
        (["word"], "'word' is not an ITEM: write key=text, key:=JSON or key=@file"),
        (["=x"], "'=x' is not an ITEM: write key=text, key:=JSON or key=@file"),
        ([":=1"], "':=1' is not an ITEM: write key=text, key:=JSON or key=@file"),
        ([""], "'' is not an ITEM: write key=text, key:=JSON or key=@file"),
        (["a\x1b=1", "a\x1b:=2"], r"the key a\x1b is given twice"),
    ],
)
def test_a_word_that_is_no_item_is_a_mistake_of_the_command_line(items, sentence):
    with pytest.raises(UsageError) as refused:
        from_items(items)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        ("a:=", "the value of a is empty: := wants JSON, = takes text"),
        ("a:= ", "the value of a is empty: := wants JSON, = takes text"),
        ("a\x1b:=x", r"the value of a\x1b is not JSON: Expecting value: line 1 column 1 (char 0)"),
        ("a:=1 2", "the value of a is not JSON: Extra data: line 1 column 3 (char 2)"),
        ("a=\udcff", r"\udcff is not UTF-8"),
        ("\udcff=a", r"\udcff is not UTF-8"),
        ("a=@missing\x1b", r"cannot read the file missing\x1b: No such file or directory"),
        ("a:=@.", "cannot read the file .: Is a directory"),
        ("a=@latin", "the file latin is not UTF-8 (unexpected end of data)"),
        ("a:=@empty", "the file empty is empty: := wants JSON, = takes text"),
        ("a:=@words", "the file words is not JSON: Expecting value: line 1 column 1 (char 0)"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused(item, sentence):
    for name, data in (("latin", b"\xe9"), ("empty", b"\n"), ("words", b"hello")):
        with open(name, "wb") as file:
            file.write(data)
    with pytest.raises(InputError) as refused:
        from_items([item])
    assert str(refused.value) == sentence


def test_a_file_that_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(arguments, "_LARGEST", 3)
    (tmp_path / "f").write_text("abc")
    assert from_items([f"a=@{tmp_path}/f"]) == '{"a":"abc"}'
    (tmp_path / "f").write_text("abcd")
    with pytest.raises(InputError, match="is larger than 3 bytes$"):
        from_items([f"a=@{tmp_path}/f"])
