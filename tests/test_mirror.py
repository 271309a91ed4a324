import binascii
import json

import pytest
from fakes import value
from hypothesis import given
from hypothesis import strategies as st

from thrall_py.protocol import mirror
from thrall_py.protocol.mirror import Mark, WrongMark

VALUES = {
    "us-west1": "us-west1",
    "us west 1": "us west 1",
    "": "",
    "a": "a",
    " padded ": "=?base64?IHBhZGRlZCA=?=",
    "padded ": "=?base64?cGFkZGVkIA==?=",
    "Hello, 世界": "=?base64?SGVsbG8sIOS4lueVjA==?=",
    "line1\nline2": "=?base64?bGluZTEKbGluZTI=?=",
    "tab\there": "=?base64?dGFiCWhlcmU=?=",
    "=?base64?literal?=": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
    "=?utf-8?x?=": "=?utf-8?x?=",
    "名前": "=?base64?5ZCN5YmN?=",
}


@pytest.mark.parametrize(("text", "header"), VALUES.items())
def test_text_is_a_header_plain_or_in_base64(text, header):
    assert mirror.encode(text) == header


@given(st.text())
def test_whatever_the_text_the_header_gives_it_back(text):
    header = mirror.encode(text)
    assert header.isascii()
    assert header.strip() == header
    assert "\n" not in header
    if header.startswith("=?base64?"):
        header = binascii.a2b_base64(header[9:-2], strict_mode=True).decode()
    assert header == text


def test_half_a_surrogate_pair_does_not_stop_a_call():
    assert mirror.encode("\ud800") == "=?base64?7aCA?="


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_header_is_read_as_it_was_written(text):
    assert mirror.decode(f" {mirror.encode(text)}\t") == text


@pytest.mark.parametrize(
    "header",
    [
        "é",
        "a\tb",
        "a\x7f",
        "=?base64?YQ?=",
        "=?base64?YQ==YQ==?=",
        "=?base64?/w==?=",
        "=?base64?é?=",
    ],
)
def test_a_header_that_is_not_written_so_cannot_be_read(header):
    assert mirror.decode(header) is None


@pytest.mark.parametrize(
    "header", ["=?base64?SGVsbG8=", "=?base64?", "SGVsbG8=?=", "=?BASE64?SGVsbG8=?="]
)
def test_a_header_that_is_base64_in_part_only_is_plain(header):
    assert mirror.decode(header) == header


def tool(schema, **members):
    shape = {"inputSchema": {}}
    return value(json.dumps({"name": "t", "inputSchema": schema, **members}), shape)


def part(name="Region", kind="string", **more):
    return {"type": kind, "x-mcp-header": name, **more}


def test_marks_are_found_along_properties_only_and_at_any_depth():
    schema = {
        "type": "object",
        "properties": {
            "region": part(),
            "plain": {"type": "string"},
            "count": part("Count", "integer"),
            "deep": {"properties": {"properties": {"properties": {"dry": part("Dry", "boolean")}}}},
            "x-mcp-header": {"type": "string"},
            "odd": True,
        },
        "$defs": {"x-mcp-header": {"type": "string"}},
        "default": {"x-mcp-header": 1},
        "examples": [{"x-mcp-header": 1}],
    }
    assert sorted(mirror.marks(tool(schema))) == [
        Mark(("count",), "Count"),
        Mark(("deep", "properties", "dry"), "Dry"),
        Mark(("region",), "Region"),
    ]


NOT_MARKED = {
    "no mark": tool({"type": "object"}),
    "no schema": value('{"name":"x-mcp-header"}', {}),
    "a schema that is none": tool("x-mcp-header"),
}


@pytest.mark.parametrize("unmarked", NOT_MARKED.values(), ids=NOT_MARKED)
def test_a_tool_may_mark_nothing(unmarked):
    assert mirror.marks(unmarked) == ()


def properties(**parts):
    return {"type": "object", "properties": parts}


NO_NAME = "x-mcp-header holds no name that a header can have"
NO_PARAMETER = 'x-mcp-header "Region" marks what is no parameter'
NO_KIND = 'x-mcp-header "Region" marks no string, integer or boolean'
WRONG = {
    "an empty name": (properties(a=part("")), NO_NAME),
    "a blank in it": (properties(a=part("a b")), NO_NAME),
    "a line break in it": (properties(a=part("A\r\nX: 1")), NO_NAME),
    "a letter beyond ASCII": (properties(a=part("é")), NO_NAME),
    "no text": (properties(a=part(1)), NO_NAME),
    "twice": (properties(a=part(), b=part("REGION")), 'x-mcp-header "region" stands there twice'),
    "a number": (properties(a=part(kind="number")), NO_KIND),
    "several types": (properties(a=part(kind=["string", "null"])), NO_KIND),
    "no type": (properties(a={"x-mcp-header": "Region"}), NO_KIND),
    "the root": (part(), NO_PARAMETER),
    "items": (properties(a={"items": part()}), NO_PARAMETER),
    "a choice": (properties(a={"anyOf": [part()]}), NO_PARAMETER),
    "a definition": ({"$defs": {"a": part()}}, NO_PARAMETER),
    "a pattern": ({"patternProperties": {"a": part()}}, NO_PARAMETER),
    "properties of items": (properties(a={"items": properties(b=part())}), NO_PARAMETER),
    "below a parameter that is marked": (
        properties(a=part("Up", "object", properties={"b": part()})),
        'x-mcp-header "Up" marks no string, integer or boolean',
    ),
}


@pytest.mark.parametrize(("schema", "reason"), WRONG.values(), ids=WRONG)
def test_a_wrong_mark_is_the_whole_tools_fault(schema, reason):
    marks = mirror.marks(tool(schema))
    assert isinstance(marks, WrongMark)
    assert marks.reason.lower() == reason.lower()


def test_a_schema_that_cannot_be_read_is_a_wrong_mark():
    source = '{"name":"t","inputSchema":{"x-mcp-header":1,"a":{"\\u00e9":1,"é":2}}}'
    marks = mirror.marks(value(source, {"inputSchema": {}}))
    assert isinstance(marks, WrongMark)
    assert "stands twice" in marks.reason


def test_a_schema_may_be_deep():
    schema = part("Deep")
    for _ in range(400):
        schema = properties(a=schema)
    marks = mirror.marks(tool(schema))
    assert [len(mark.path) for mark in marks] == [400]


ARGUMENTS = {
    "text": ('{"a":"us west"}', "us west"),
    "text beyond ASCII": ('{"a":"Zürich"}', "=?base64?WsO8cmljaA==?="),
    "an escape": ('{"a":"\\u0041"}', "A"),
    "empty text": ('{"a":""}', ""),
    "an integer": ('{"a":-42}', "-42"),
    "an integer with a fraction of zero": ('{"a":42.0}', "42"),
    "a large one": ('{"a":9007199254740993}', "9007199254740993"),
    "a fraction, which the server will refuse": ('{"a":1.5}', "1.5"),
    "true": ('{"a":true}', "true"),
    "false": ('{"a":false}', "false"),
    "null": ('{"a":null}', None),
    "nothing": ("{}", None),
    "an array": ('{"a":[1]}', None),
    "an object": ('{"a":{}}', None),
}


@pytest.mark.parametrize(("arguments", "header"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_a_marked_argument_is_a_header_if_it_has_a_text(arguments, header):
    headers = mirror.headers("echo", (Mark(("a",), "Region"),), arguments)
    expected = {} if header is None else {"Mcp-Param-Region": header}
    assert headers == {"Mcp-Name": "echo", **expected}


def test_a_marked_argument_may_be_missing_with_what_holds_it():
    marks = (Mark(("a", "b"), "X"), Mark(("c", "b"), "Y"))
    assert mirror.headers("t", marks, '{"a":1,"c":{"b":2}}') == {
        "Mcp-Name": "t",
        "Mcp-Param-Y": "2",
    }


def test_arguments_of_a_tool_without_marks_are_not_read():
    assert mirror.headers("t", (), "no JSON") == {"Mcp-Name": "t"}
