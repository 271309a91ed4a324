import json

import pytest

from thrall_py.catalog import entry
from thrall_py.errors import ServerError
from thrall_py.protocol.jsontext import EACH, JsonError, latin1, scan
from thrall_py.redact import Redactor


def listed(*tools):
    return scan(json.dumps(tools), {EACH: {}}).children


def read_tools(*tools):
    return entry.read_tools(listed(*tools), Redactor())


def test_tools_are_pinned_by_name_with_everything_the_server_sent():
    found = read_tools({"name": "b", "x": {"z": 1, "a": [2]}}, {"name": "a"})
    assert list(found.tools) == ["a", "b"]
    assert json.dumps(found.tools["b"].definition) == '{"name": "b", "x": {"a": [2], "z": 1}}'
    assert found.tools["a"].digest == (
        "sha256:d9d719b27480b55cd4918020e7473e716ed3569c8adafe926cf9b10b4f8ef064"
    )
    assert found.oddities == []


def test_no_tools_are_a_list_too():
    assert read_tools() == ({}, [])


def test_a_tool_that_is_listed_twice_alike_is_one_tool_and_odd():
    found = read_tools({"name": "a", "b": 1}, {"b": 1.0, "name": "a"})
    assert list(found.tools) == ["a"]
    assert found.oddities == ['"a" is listed twice']


@pytest.mark.parametrize(
    ("tools", "sentence"),
    [
        (({"name": "a"}, {"name": "a", "b": 1}), 'the server defines "a" twice, and differently'),
        (({"name": "a"}, {}), "entry 2 of the server's list of tools has no name"),
        (({"name": 1},), "entry 1 of the server's list of tools has no name"),
        ((["name"],), "entry 1 of the server's list of tools has no name"),
        (("name",), "entry 1 of the server's list of tools has no name"),
        ((None,), "entry 1 of the server's list of tools has no name"),
    ],
)
def test_a_list_that_cannot_be_pinned_is_refused(tools, sentence):
    with pytest.raises(ServerError) as refused:
        read_tools(*tools)
    assert str(refused.value) == sentence


def test_a_definition_that_is_nested_too_deeply_is_refused():
    deep = '[{"name":"a\\u001b","x":' + "[" * 300 + "]" * 300 + "}]"
    with pytest.raises(ServerError) as refused:
        entry.read_tools(scan(deep, {EACH: {}}).children, Redactor())
    assert str(refused.value) == (
        r'the definition of "a\x1b" cannot be kept: nested deeper than 200 levels'
    )


def test_a_name_that_stands_twice_in_two_spellings_is_refused():
    twice = '[{"name":"a","x":{"é":1,"\\u00e9":2}}]'.encode()
    found = scan(latin1(twice), {EACH: {}}).children
    with pytest.raises(ServerError, match='^the definition of "a" cannot be kept: not JSON: the '):
        entry.read_tools(found, Redactor())


def test_a_pin_is_the_same_whatever_the_order():
    assert entry.pin_tool({"a": 1, "b": 2}) == entry.pin_tool({"b": 2, "a": 1})
    with pytest.raises(JsonError):
        entry.pin_tool(json.loads("[" * 300 + "]" * 300))
