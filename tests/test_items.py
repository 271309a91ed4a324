import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from thrall_py.errors import InputError, UsageError
from thrall_py.verbs import arguments, items
from thrall_py.verbs.items import Item, join, parse

settings.register_profile("gate", derandomize=True, deadline=None, database=None)
settings.load_profile("gate")

BACKSLASH = "\\"


def made(*words):
    return join(parse(words))


# -- values ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        ([], "{}"),
        (["{}"], "{}"),
        (["a=b"], '{"a":"b"}'),
        (["a="], '{"a":""}'),
        (["zip=00123"], '{"zip":"00123"}'),
        (["a=b=c:=d"], '{"a":"b=c:=d"}'),
        (["a:b=c"], '{"a:b":"c"}'),
        (["a==b"], '{"a":"=b"}'),
        (["a=1", "b:=1"], '{"a":"1","b":1}'),
        (["b:=1", "a:=2"], '{"b":1,"a":2}'),
        (["a:=1.0", "b:=1e400"], '{"a":1.0,"b":1e400}'),
        (["a:=9007199254740993"], '{"a":9007199254740993}'),
        (["a:= [1.0,\n{} ] "], '{"a":[1.0, {} ]}'),
        (['a="\n\x1b'], '{"a":"\\"\\n\\u001b"}'),
        (["é=😀"], '{"\\u00e9":"\\ud83d\\ude00"}'),
        (["a=b@file"], '{"a":"b@file"}'),
        (["a=@file"], '{"a":"text\\r\\n"}'),
        (["a:=@json"], '{"a":[1.50, 2]}'),
        (["a.b[]=@file"], '{"a":{"b":["text\\r\\n"]}}'),
    ],
)
def test_a_value_is_sent_as_it_was_typed(words, sent):
    with open("file", "wb") as file:
        file.write(b"text\r\n")
    with open("json", "wb") as file:
        file.write(b"\xef\xbb\xbf[1.50,\n2]\n")
    assert made(*words) == sent


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("a:=", "the value of a is empty: := wants JSON, = takes text"),
        ("a:= ", "the value of a is empty: := wants JSON, = takes text"),
        ("a\x1b:=x", r"the value of a\x1b is not JSON: Expecting value: line 1 column 1 (char 0)"),
        ("a.b[]:=1 2", "the value of a.b[] is not JSON: Extra data: line 1 column 3 (char 2)"),
        ("a=\udcff", r"\udcff is not UTF-8"),
        ("\udcff=a", r"\udcff is not UTF-8"),
        ("a=@missing\x1b", r"cannot read the file missing\x1b: No such file or directory"),
        ("a:=@.", "cannot read the file .: Is a directory"),
        ("a=@latin", "the file latin is not UTF-8 (unexpected end of data)"),
        ("a:=@empty", "the file empty is empty: := wants JSON, = takes text"),
        ("a:=@words", "the file words is not JSON: Expecting value: line 1 column 1 (char 0)"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused(word, sentence):
    for name, data in (("latin", b"\xe9"), ("empty", b"\n"), ("words", b"hello")):
        with open(name, "wb") as file:
            file.write(data)
    with pytest.raises(InputError) as refused:
        made(word)
    assert str(refused.value) == sentence


@pytest.mark.parametrize("words", [["{}", "a=1"], ["a=1", "{}"], ["{}", "{}"]])
def test_the_word_for_no_arguments_stands_alone(words):
    with pytest.raises(UsageError, match=r"^\{\} is for no arguments: it stands alone, without"):
        parse(words)


@pytest.mark.parametrize("word", [" {}", "{ }", "[]", "{"])
def test_no_other_word_is_for_no_arguments(word):
    with pytest.raises(UsageError, match="is not an ITEM|is no ITEM"):
        made(word)


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ('{"a":1}', """'{"a":1}'"""),
        (' {"a":"b=c"}', """' {"a":"b=c"}'"""),
        ("{a:1}", "'{a:1}'"),
        (json.dumps({"a": "x" * 99}), "'{...}'"),
    ],
)
def test_an_object_is_no_item_and_it_is_said_how_it_is_given(word, shown):
    with pytest.raises(UsageError) as refused:
        items.parse([word])
    assert str(refused.value) == (
        f"a JSON object is no ITEM: give it on stdin, as in echo {shown} | thrall call TOOL ...,"
        " or its members as key=text and key:=JSON"
    )


def test_a_key_may_begin_with_a_brace():
    assert made("{a=1") == '{"{a":"1"}'


def test_a_file_that_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(arguments, "_LARGEST", 3)
    (tmp_path / "f").write_text("abc")
    assert made(f"a=@{tmp_path}/f") == '{"a":"abc"}'
    (tmp_path / "f").write_text("abcd")
    with pytest.raises(InputError, match="is larger than 3 bytes$"):
        made(f"a=@{tmp_path}/f")


def test_an_item_says_where_it_goes_and_whether_it_is_text():
    assert parse([r"a.b\.c[]=x", "n:=1"]) == [
        Item(("a", "b.c", None), '"x"', is_text=True),
        Item(("n",), "1", is_text=False),
    ]


# -- keys --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        (["a.b:=1"], '{"a":{"b":1}}'),
        (["a.b:=1", "x=y", "a.c:=2"], '{"a":{"b":1,"c":2},"x":"y"}'),
        (["a.b.c=x", "a.b.d=y"], '{"a":{"b":{"c":"x","d":"y"}}}'),
        (["a[]=x"], '{"a":["x"]}'),
        (["a[]=x", "a[]:=2", "a[]=x"], '{"a":["x",2,"x"]}'),
        (["a[].b=1", "a[].b=2"], '{"a":[{"b":"1"},{"b":"2"}]}'),
        (["a[][]=1", "a[][]=2"], '{"a":[["1"],["2"]]}'),
        (["a.b[]=1", "a.c=2", "a.b[]=3"], '{"a":{"b":["1","3"],"c":"2"}}'),
        ([r"a\.b=1"], '{"a.b":"1"}'),
        ([r"a\[\]=1"], '{"a[]":"1"}'),
        ([r"a\[0\]=1"], '{"a[0]":"1"}'),
        ([r"a\=b=1"], '{"a=b":"1"}'),
        ([r"a\:=1"], '{"a:":"1"}'),
        ([r"a\::=1"], '{"a:":1}'),
        (["a::=1"], '{"a:":1}'),
        ([r"a\\=1"], '{"a\\\\":"1"}'),
        ([r"a\\.b=1"], '{"a\\\\":{"b":"1"}}'),
        ([r"C:\dir=1"], '{"C:\\\\dir":"1"}'),  # a backslash before anything else is one
        ([r"a=\.\="], '{"a":"\\\\.\\\\="}'),  # and in a value always
        (["a.b=c.d[]"], '{"a":{"b":"c.d[]"}}'),
        (["a\n.b=1"], '{"a\\n":{"b":"1"}}'),
        (["__proto__.x=1"], '{"__proto__":{"x":"1"}}'),
    ],
)
def test_a_key_is_a_path(words, sent):
    assert made(*words) == sent


@pytest.mark.parametrize("word", ["word", "=x", ":=1", "==x", "", "a\\=b", "a\\", "\\=", ":"])
def test_a_word_that_is_no_item_is_refused(word):
    with pytest.raises(UsageError) as refused:
        made(word)
    shown = repr(word)
    assert str(refused.value) == f"{shown} is not an ITEM: write key=text, key:=JSON or key=@file"


@pytest.mark.parametrize("key", [".", ".a", "a.", "a..b", "[]", "[].a", "a.[]"])
def test_a_name_that_is_empty_is_refused(key):
    with pytest.raises(UsageError) as refused:
        made(f"{key}=x")
    assert str(refused.value) == rf"{key} has an empty name; a dot in a name is written \."


@pytest.mark.parametrize("key", ["a[0]", "a[]b", "a]", "[a", "a.b[x]", r"a\[0]", "a[[]]"])
def test_a_bracket_that_means_nothing_is_refused(key):
    with pytest.raises(UsageError) as refused:
        made(f"{key}=x")
    assert str(refused.value) == (
        rf"{key} has a bracket that is no []: write a[] for one more item of a,"
        r" \[ and \] in a name"
    )


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (["a\x1b=1", "a\x1b:=2"], r"a\x1b"),
        (["a=1", "a.b=2"], "a"),
        (["a.b=1", "a=2"], "a"),
        (["a=1", "a[]=2"], "a"),
        (["a[]=1", "a=2"], "a"),
        (["a[]=1", "a.b=2"], "a"),
        (["a.b=1", "a[]=2"], "a"),
        (["a.b=1", "a.b=2"], "a.b"),
        ([r"a\.b=1", r"a\.b=2"], r"a\.b"),
        (["a:={}", "a.b=2"], "a"),
        (["a:=[]", "a[]=2"], "a"),
        (["a.b.c=1", "a.b[]=2"], "a.b"),
    ],
)
def test_two_items_for_one_place_are_refused(words, key):
    with pytest.raises(UsageError) as refused:
        made(*words)
    same = len({word.partition("=")[0].rstrip(":") for word in words}) == 1
    how = "twice" if same else "as two different things"
    assert str(refused.value) == f"the key {key} is given {how}"


def test_a_path_may_be_long_but_not_endless():
    assert made(".".join("a" * 100) + "=x").count("{") == 100
    with pytest.raises(UsageError, match="^a key leads through more than 100 objects and lists$"):
        made("a" + "[]" * 100 + "=x")


def test_a_run_of_backslashes_is_read_at_once():
    with pytest.raises(UsageError, match="is not an ITEM"):
        made(BACKSLASH * 100_001)
    assert json.loads(made(BACKSLASH * 100_000 + "=x")) == {BACKSLASH * 50_000: "x"}


# -- what holds for all of them ----------------------------------------------------------------

NAMES = st.text(st.sampled_from("ab.[]:=\\@é \n"), min_size=1, max_size=4)
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(NAMES, inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
)


def leaves(tree, path=()):
    """The paths of a value and what is there; a list is taken as it is."""
    if isinstance(tree, dict) and (tree or not path):
        for name, inner in tree.items():
            yield from leaves(inner, (*path, name))
    else:
        yield path, tree


@given(st.dictionaries(NAMES, TREES, max_size=4))
@example({BACKSLASH: {BACKSLASH + ".": 1}})
@example({"a[]": ["=", {"b": [":"]}]})
def test_a_value_taken_apart_into_items_is_put_together_again(value):
    words = []
    for path, leaf in leaves(value):
        if isinstance(leaf, list):
            words += [f"{items.spell((*path, None))}:={json.dumps(item)}" for item in leaf]
        elif isinstance(leaf, str) and not leaf.startswith("@"):
            words.append(f"{items.spell(path)}={leaf}")
        else:
            words.append(f"{items.spell(path)}:={json.dumps(leaf)}")
    assert json.loads(made(*words)) == value


@given(st.lists(st.tuples(NAMES, SCALARS), unique_by=lambda pair: pair[0], max_size=5))
def test_the_order_of_the_items_is_that_of_the_members(pairs):
    words = [f"{items.spell((name,))}:={json.dumps(value)}" for name, value in pairs]
    assert list(json.loads(made(*words))) == [name for name, _ in pairs]


@given(st.text(max_size=20))
def test_any_text_is_an_item_or_refused(word):
    try:
        value = json.loads(made(word.replace("@", "")))
    except (UsageError, InputError):
        value = None
    assert value is None or len(value) == 1
