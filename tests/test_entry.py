import json

import pytest

from thrall_py.catalog import entry
from thrall_py.catalog.launch import LaunchSpec
from thrall_py.errors import ServerError
from thrall_py.protocol import mcp
from thrall_py.protocol.jsontext import EACH, JsonError, latin1, scan
from thrall_py.redact import Redactor


def listed(*tools):
    return scan(json.dumps(tools), {EACH: {}}).children


def read_tools(*tools):
    return entry.read_items(mcp.TOOLS, listed(*tools), Redactor())


def test_tools_are_pinned_by_name_with_everything_the_server_sent():
    found, oddities = read_tools({"name": "b", "x": {"z": 1, "a": [2]}}, {"name": "a"})
    assert list(found) == ["a", "b"]
    assert json.dumps(found["b"].definition) == '{"name": "b", "x": {"a": [2], "z": 1}}'
    assert found["a"].digest == (
        "sha256:d9d719b27480b55cd4918020e7473e716ed3569c8adafe926cf9b10b4f8ef064"
    )
    assert oddities == []


@pytest.mark.parametrize("kind", mcp.KINDS, ids=[kind.member for kind in mcp.KINDS])
def test_an_item_of_a_kind_is_told_apart_by_the_key_of_that_kind(kind):
    found, _ = entry.read_items(kind, listed({kind.key: "b"}, {kind.key: "a"}), Redactor())
    assert found == {name: entry.pin_item({kind.key: name}) for name in ("a", "b")}
    with pytest.raises(ServerError) as refused:
        entry.read_items(kind, listed({kind.key: "b"}, {"x": "a"}), Redactor())
    assert str(refused.value) == f"entry 2 of the server's {kind.member} has no {kind.key}"


def test_no_tools_are_a_list_too():
    assert read_tools() == ({}, [])


def test_a_tool_that_is_listed_twice_alike_is_one_tool_and_odd():
    found, oddities = read_tools({"name": "a", "b": 1}, {"b": 1.0, "name": "a"})
    assert list(found) == ["a"]
    assert oddities == ['"a" is listed twice']


@pytest.mark.parametrize(
    ("tools", "sentence"),
    [
        (({"name": "a"}, {"name": "a", "b": 1}), 'the server defines "a" twice, and differently'),
        (({"name": "a"}, {}), "entry 2 of the server's tools has no name"),
        (({"name": 1},), "entry 1 of the server's tools has no name"),
        ((["name"],), "entry 1 of the server's tools has no name"),
        (("name",), "entry 1 of the server's tools has no name"),
        ((None,), "entry 1 of the server's tools has no name"),
    ],
)
def test_a_list_that_cannot_be_pinned_is_refused(tools, sentence):
    with pytest.raises(ServerError) as refused:
        read_tools(*tools)
    assert str(refused.value) == sentence


def test_a_definition_that_is_nested_too_deeply_is_refused():
    deep = '[{"name":"a\\u001b","x":' + "[" * 300 + "]" * 300 + "}]"
    with pytest.raises(ServerError) as refused:
        entry.read_items(mcp.TOOLS, scan(deep, {EACH: {}}).children, Redactor())
    assert str(refused.value) == (
        r'the definition of "a\x1b" cannot be kept: nested deeper than 200 levels'
    )


def test_a_name_that_stands_twice_in_two_spellings_is_refused():
    twice = '[{"name":"a","x":{"é":1,"\\u00e9":2}}]'.encode()
    found = scan(latin1(twice), {EACH: {}}).children
    with pytest.raises(ServerError, match='^the definition of "a" cannot be kept: not JSON: the '):
        entry.read_items(mcp.TOOLS, found, Redactor())


TOOL = b'{"name":"wanted","x":1}'
SPELLED_TWICE = '{"name":"other","x":{"é":1,"\\u00e9":2}}'.encode()


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (b'{"name":"other","x":%b}' % (b"7" * 1001), "other. cannot be kept: .*1001 characters$"),
        (SPELLED_TWICE, "other. cannot be kept: .*twice in one object$"),
        (b'{"name":"other"},{"name":"other","x":1}', "defines .other. twice, and differently$"),
        (b"{}", "entry 2 of the server's tools has no name"),
        (b"[]", "entry 2 of the server's tools has no name"),
    ],
)
def test_one_definition_is_not_taken_out_of_a_list_that_is_of_no_use(other, sentence):
    found = scan(latin1(b"[%b,%b]" % (TOOL, other)), {EACH: {}}).children
    with pytest.raises(ServerError, match=sentence):
        entry.read_item(mcp.TOOLS, found, "wanted", Redactor())


def test_of_the_others_what_would_be_refused_only_for_its_digest_is_not_looked_at():
    deep = "[" * 300 + "]" * 300
    text = f'[{TOOL.decode()},{{"name":"\\u00e9","x":{deep}}}]'
    found = scan(text, {EACH: {}}).children
    assert entry.read_item(mcp.TOOLS, found, "wanted", Redactor()) == entry.pin_item(
        {"name": "wanted", "x": 1}
    )
    assert entry.read_item(mcp.TOOLS, found, "none", Redactor()) is None


def test_a_pin_is_the_same_whatever_the_order():
    assert entry.pin_item({"a": 1, "b": 2}) == entry.pin_item({"b": 2, "a": 1})
    with pytest.raises(JsonError):
        entry.pin_item(json.loads("[" * 300 + "]" * 300))


def test_tools_are_offered_by_their_names_with_the_prefix_in_front():
    pins = {name: entry.pin_item({"name": name}) for name in ("a", "b")}
    held = entry.Entry(
        LaunchSpec(("x",), {}), mcp.ServerInfo("2025-11-25"), {"tools": pins}, prefix="p_"
    )
    assert held.tools == pins
    assert held.offered == {"p_a": pins["a"], "p_b": pins["b"]}
    assert held._replace(prefix="").offered == pins


def test_an_entry_without_tools_offers_none():
    held = entry.Entry(LaunchSpec(("x",), {}), mcp.ServerInfo("2025-11-25"), {})
    assert (held.tools, held.offered) == ({}, {})


def test_everything_that_can_be_pinned_is_the_surface():
    assert entry.SURFACE == ("instructions", "tools", "prompts", "resources", "resourceTemplates")
