import pytest

from thrall_py.protocol import fields
from thrall_py.protocol.fields import Misfit
from thrall_py.protocol.jsontext import load
from thrall_py.protocol.numbers import ExactNumber
from thrall_py.redact import Redactor

COLOURS = '"oneOf":[{"const":"r","title":"Red"},{"const":"g"},{"title":"no value"},7]'
SCHEMAS = {
    "text": '{"type":"string"}',
    "short": '{"type":"string","minLength":2,"maxLength":3}',
    "email": '{"type":"string","format":"email"}',
    "uri": '{"type":"string","format":"uri"}',
    "date": '{"type":"string","format":"date"}',
    "time": '{"type":"string","format":"date-time"}',
    "odd format": '{"type":"string","format":"regex"}',
    "integer": '{"type":"integer","minimum":1,"maximum":12}',
    "from": '{"type":"integer","minimum":1}',
    "number": '{"type":"number","maximum":2.5}',
    "boolean": '{"type":"boolean"}',
    "enum": '{"type":"string","enum":["a","b"]}',
    "numbers": '{"type":"integer","enum":[1,20]}',
    "colours": f'{{"type":"string",{COLOURS}}}',
    "any of": f'{{"type":"string",{COLOURS.replace("oneOf", "anyOf")}}}',
    "some": '{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["a","b"]}}',
    "titled": f'{{"type":"array","items":{{{COLOURS.replace("oneOf", "anyOf")}}}}}',
    "texts": '{"type":"array","items":{"type":"string"},"maxItems":2}',
    "no items": '{"type":"array","items":true}',
    "nullable": '{"anyOf":[{"type":"integer","minimum":1},{"type":"null"}],"default":null}',
    "null type": '{"type":["string","null"]}',
    "two types": '{"type":["string","integer"]}',
    "either": '{"anyOf":[{"type":"integer"},{"type":"string"}]}',
    "object": '{"type":"object"}',
    "no schema": "true",
}


def field(name, **more):
    return fields.parse("f", load(SCHEMAS[name]), is_required=False)._replace(**more)


WANTED = {
    "text": "text",
    "short": "text, 2 to 3 characters",
    "email": "an e-mail address",
    "uri": "an address such as https://example.com/",
    "date": "a date such as 2026-07-28",
    "time": "a time such as 2026-07-28T12:00:00Z",
    "odd format": "text",
    "integer": "a whole number, 1 to 12",
    "from": "a whole number, at least 1",
    "number": "a number, at most 2.5",
    "boolean": "yes or no",
    "enum": "one of a, b",
    "numbers": "one of 1, 20",
    "colours": "one of r, g",
    "any of": "one of r, g",
    "some": "some of a, b, 1 to 2 of them",
    "titled": "some of r, g",
    "texts": "texts with commas between them, at most 2 of them",
    "no items": "texts with commas between them",
    "nullable": "a whole number, at least 1",
    "null type": "text",
    "two types": "a JSON value",
    "either": "a JSON value",
    "object": "a JSON value",
    "no schema": "a JSON value",
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_a_field_takes_is_said_in_words(name):
    assert fields.wanted(field(name), Redactor()) == WANTED[name]


def test_what_a_field_takes_is_shown_escaped_masked_and_cut():
    values = ["\x1b[31m", "hunter-222", "x" * 50, *map(str, range(30))]
    many = fields.parse("f", {"type": "string", "enum": values}, is_required=False)
    words = fields.wanted(many, Redactor(["hunter-222"]))
    assert words.startswith(r"one of \x1b[31m, ***, " + "x" * 40 + "..., 0, ")
    assert words.endswith(", 16 and 13 more")


FITTING = [
    ("text", "", ""), ("text", "5", "5"), ("short", "\u00e9\u00e9", "\u00e9\u00e9"),
    ("email", "a@b", "a@b"), ("uri", "urn:x", "urn:x"), ("date", "2024-02-29", "2024-02-29"),
    ("time", "2026-07-28t12:00:00.5z", "2026-07-28t12:00:00.5z"), ("odd format", "(", "("),
    ("integer", "5", 5), ("integer", "12.0", 12), ("integer", "1e0", 1), ("number", "2.5", ExactNumber("2.5")),
    ("number", "-3", -3), ("from", "123456789012345678901", 123456789012345678901),
    ("boolean", "Yes", True), ("boolean", "y", True), ("boolean", "true", True),
    ("boolean", "NO", False), ("boolean", "n", False), ("boolean", "false", False),
    ("enum", "b", "b"), ("numbers", "20", 20), ("colours", "r", "r"),
    ("some", "a, b", ["a", "b"]), ("titled", "g", ["g"]), ("texts", "x,y", ["x", "y"]),
    ("texts", "", []), ("nullable", "7", 7), ("null type", "7", "7"),
    ("two types", "7", 7), ("object", '{"a":[1]}', {"a": [1]}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "value"), FITTING)
def test_an_answer_is_typed_by_its_field(name, text, value):
    read = fields.typed(field(name), text)
    assert (read, type(read)) == (value, type(value))
    assert fields.checked(field(name), value) == value


MISFITS = [
    ("short", "x"), ("short", "xxxx"), ("email", "a"), ("email", "a@b@c"), ("uri", "here"),
    ("date", "2026-02-30"), ("date", "20260728"), ("time", "2026-07-28"),
    ("time", "2026-07-28T25:00:00Z"), ("integer", "0"), ("integer", "13"), ("integer", "1.5"),
    ("integer", "five"), ("integer", "05"), ("integer", ""), ("integer", "true"),
    ("number", "2.6"), ("number", '"2"'), ("boolean", "1"), ("boolean", ""), ("enum", "c"),
    ("enum", ""), ("numbers", "2"), ("colours", "Red"), ("some", ""), ("some", "a,c"),
    ("some", "a,b,a"), ("texts", "a,b,c"), ("object", "null"), ("object", "{"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text"), MISFITS)
def test_an_answer_that_does_not_fit_is_refused_without_being_repeated(name, text):
    with pytest.raises(Misfit) as caught:
        fields.typed(field(name), text)
    assert str(caught.value) == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("text", 5), ("integer", "5"), ("integer", True), ("number", False), ("boolean", 1),
        ("boolean", "true"), ("some", "a"), ("texts", [1]), ("numbers", True), ("object", None),
    ],
)  # fmt: skip
def test_a_value_of_another_type_does_not_fit(name, value):
    with pytest.raises(Misfit):
        fields.checked(field(name), value)


def test_a_field_is_read_as_far_as_it_makes_sense():
    read = fields.parse("f", load('{"type":7,"title":7,"minimum":"x"}'), is_required=True)
    assert read == fields.Field("f", is_required=True)
    whole = '{"type":"integer","title":"T","description":"D","minimum":1,"default":3}'
    assert fields.parse("f", load(whole), is_required=False) == fields.Field(
        "f", "integer", "T", "D", default=3, least=1
    )


def test_a_default_that_does_not_fit_is_none():
    assert fields.parse("f", {"type": "integer", "default": "x"}, is_required=True).default is None


@pytest.mark.parametrize(("names", "title"), [('["A","B"]', "B"), ('["A"]', "b"), ("7", "b")])
def test_choices_may_have_names_in_the_manner_of_2025_06_18(names, title):
    schema = load(f'{{"type":"string","enum":["a","b"],"enumNames":{names}}}')
    assert fields.parse("f", schema, is_required=False).choices[1] == fields.Choice("b", title)
