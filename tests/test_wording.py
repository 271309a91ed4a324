import pytest

from thrall_py.catalog import parameters, wording
from thrall_py.protocol.jsontext import load


def kind(schema):
    (parameter,) = parameters.find({"properties": {"a": schema}})
    return wording.kind(parameter)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({}, "any value"),
        ({"type": ["string", "null"]}, "string or null"),
        ({"type": "boolean"}, "boolean"),
        ({"enum": ["a", "b", 1, None]}, "one of a, b, 1, null"),
        ({"const": "a"}, "one of a"),
        ({"type": "array"}, "array"),
        ({"type": "array", "items": {"type": "string"}}, "array of strings"),
        ({"type": "array", "items": {"type": ["string", "null"]}}, "array"),
        ({"type": "integer", "minimum": 1, "maximum": 10}, "integer, 1 to 10"),
        ({"type": "integer", "minimum": 0}, "integer, at least 0"),
        ({"type": "number", "maximum": load("9.5")}, "number, at most 9.5"),
        ({"type": "number", "exclusiveMinimum": 0}, "number, more than 0"),
        ({"type": "number", "exclusiveMaximum": 1}, "number, less than 1"),
        ({"type": "integer", "multipleOf": 5}, "integer, a multiple of 5"),
        ({"type": "string", "minLength": 1, "maxLength": 9}, "string, 1 to 9 characters"),
        ({"type": "array", "minItems": 2}, "array, at least 2 items"),
        ({"type": "string", "format": "date"}, "string, format date"),
        ({"type": "string", "pattern": "^a+$"}, "string, pattern ^a+$"),
        ({"type": "string", "pattern": 5}, "string"),
        (
            {"anyOf": [{"type": "integer", "maximum": 5}, {"type": "null"}]},
            "integer or null, at most 5",
        ),
        ({"anyOf": [{"type": "integer", "maximum": 5}, {"type": "string"}]}, "integer or string"),
    ],
)
def test_what_is_taken_is_said_with_its_limits(schema, words):
    assert kind(schema) == words


def test_a_limit_has_all_of_its_digits():
    assert kind({"maximum": load("1e400")}) == "any value, at most 1e400"


@pytest.mark.parametrize(("value", "word"), [("a", "a"), (1, "1"), (None, "null"), ([], "[]")])
def test_a_value_is_spelled_as_in_an_item(value, word):
    assert wording.spelled(value) == word
