import pytest

from thrall_py.catalog import parameters
from thrall_py.catalog.parameters import find, find_at, forbids_others
from thrall_py.protocol.jsontext import load


def one(schema, **beside):
    return find({"properties": {"a": schema}, **beside})[0]


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"type": "string"}, ("string",)),
        ({"type": ["string", "null"]}, ("string", "null")),
        ({"type": "integer", "enum": ["odd"]}, ("integer",)),
        ({"enum": ["x", 1, 1.5, True, None, [], {}, "y"]},
         ("string", "integer", "number", "boolean", "null", "array", "object")),
        ({"const": "x"}, ("string",)),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, ("integer", "null")),
        ({"oneOf": [{"const": 1}, {"const": "x"}, {"const": 2}]}, ("integer", "string")),
        ({"anyOf": [{"type": "integer"}, {}]}, ()),
        ({"anyOf": []}, ()),
        ({"allOf": [{"title": "x"}, {"type": "boolean"}]}, ("boolean",)),
        ({"$ref": "#/$defs/s"}, ("string",)),
        ({"anyOf": [{"$ref": "#/$defs/s"}, {"type": "null"}]}, ("string", "null")),
        ({"$ref": "#/$defs/x~1y~0z"}, ("number",)),
        ({"$ref": "#/$defs/s", "type": "integer"}, ("integer",)),
        ({"$ref": "#"}, ("object",)),
        ({"$ref": "#/$defs/circle"}, ()),
        ({"$ref": "#/nowhere/at/all"}, ()),
        ({"$ref": "https://example.com/x"}, ()),
        ({"$ref": 5, "type": "string"}, ("string",)),
        ({"type": "text"}, ()),
        ({"type": 5}, ()),
        ({"type": []}, ()),
        ({"type": [["string"]]}, ()),
        ({"enum": "x"}, ()),
        ({}, ()),
        (True, ()),
        (None, ()),
        ({"anyOf": [{"type": "null"}] * 17}, ()),
        ({"anyOf": [{"anyOf": [{"anyOf": [{"type": "null"}]}]}]}, ("null",)),
        ({"anyOf": [{"anyOf": [{"anyOf": [{"anyOf": [{"type": "null"}]}]}]}]}, ()),
    ],
)  # fmt: skip
def test_the_types_of_a_parameter_are_those_that_its_schema_lets_pass(schema, types):
    names = {
        "s": {"type": "string"},
        "x/y~z": {"type": "number"},
        "circle": {"$ref": "#/$defs/circle"},
    }
    assert one(schema, type="object", **{"$defs": names}).types == types


@pytest.mark.parametrize(
    ("schema", "choices"),
    [
        ({"enum": ["x", 1]}, ("x", 1)),
        ({"type": "string", "enum": ["x"]}, ("x",)),
        ({"const": 5}, (5,)),
        ({"type": "boolean"}, (True, False)),
        ({"anyOf": [{"enum": ["x"]}, {"type": "null"}]}, ("x", None)),
        ({"oneOf": [{"const": "x", "title": "X"}, {"const": "y", "title": "Y"}]}, ("x", "y")),
        ({"anyOf": [{"enum": ["x"]}, {"type": "string"}]}, ()),
        ({"allOf": [{"enum": ["x"]}]}, ("x",)),
        ({"type": ["boolean", "null"]}, ()),
        ({"type": "string"}, ()),
    ],
)
def test_the_choices_of_a_parameter_are_all_that_it_takes(schema, choices):
    assert one(schema).choices == choices


def test_a_parameter_says_whether_it_is_required_and_what_it_is_about():
    schema = {
        "properties": {"b.c": {"description": " Words. "}, "a": {"type": "integer", "description": 5}},
        "required": ["a", "z", 5],
    }  # fmt: skip
    first, second = find(schema)
    assert (first.name, first.key, first.description) == ("b.c", r"b\.c", "Words.")
    assert (first.is_required, first.takes_text) == (False, True)
    assert (second.name, second.description) == ("a", "")
    assert (second.is_required, second.takes_text) == (True, False)


@pytest.mark.parametrize("schema", [None, True, [], {"properties": []}, {"properties": None}, {}])
def test_a_schema_that_is_none_names_no_parameters(schema):
    assert find(schema) == []
    assert find_at(schema, ("a",)) is None
    assert not forbids_others(schema)


def test_a_schema_may_be_behind_a_reference():
    schema = {
        "$ref": "#/$defs/all",
        "$defs": {"all": {"properties": {"a": {}}, "additionalProperties": False}},
    }
    assert [each.name for each in find(schema)] == ["a"]
    assert forbids_others(schema)


@pytest.mark.parametrize(
    ("schema", "forbidden"),
    [
        ({"additionalProperties": False}, True),
        ({"additionalProperties": True}, False),
        ({"additionalProperties": {}}, False),
        ({"additionalProperties": False, "patternProperties": {"^x-": {}}}, False),
    ],
)
def test_others_are_forbidden_only_if_the_schema_says_so(schema, forbidden):
    assert forbids_others(schema) is forbidden


def test_a_path_leads_through_objects_lists_and_references():
    schema = {
        "properties": {"at": {"$ref": "#/$defs/place"}, "tags": {"items": {"type": "string"}}},
        "$defs": {"place": {"properties": {"lat": {"type": "number"}}}},
    }
    assert find_at(schema, ("at", "lat")).types == ("number",)
    assert find_at(schema, ("tags", None)).types == ("string",)
    assert find_at(schema, ("at", "lon")) is None
    assert find_at(schema, ("at", None)) is None
    assert find_at(schema, ("tags", "x")) is None


def test_a_number_that_is_no_integer_is_a_number():
    assert one(load('{"enum": [1e400, 0.5]}')).types == ("number",)


def test_a_schema_that_is_made_to_be_slow_is_not_read_on():
    ladder = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 16} for n in range(20)}
    assert one({"$ref": "#/$defs/d0"}, **{"$defs": ladder}).types == ()


def test_what_stands_in_a_key_for_more_than_itself_is_escaped():
    assert parameters.escape(r"a.b[]:=\c-d") == r"a\.b\[\]\:\=\\c-d"


@pytest.mark.parametrize(
    ("schema", "none"),
    [
        ({"type": "object"}, True),
        ({"type": "object", "properties": {}, "additionalProperties": False}, True),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}, True),
        ({"type": "object", "properties": {"a": {}}}, False),
        ({"type": "object", "patternProperties": {"a": {}}}, False),
        ({"type": "object", "additionalProperties": {"type": "string"}}, False),
        ({"type": "object", "additionalProperties": True}, False),
        ({"type": "object", "allOf": [{"required": ["a"]}]}, False),
        ({}, False),
        (None, False),
    ],
)
def test_a_schema_says_that_there_are_no_parameters(schema, none):
    assert parameters.are_none(schema) is none
