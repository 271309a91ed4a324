import json

import pytest
from fakes import value

from thrall_py import __version__
from thrall_py.protocol import mcp, wire
from thrall_py.protocol.jsontext import JsonError
from thrall_py.protocol.mcp import ServerInfo
from thrall_py.protocol.numbers import ExactNumber

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "thrall", "version": __version__},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def result_of(text):
    return wire.read(f'{{"id":1,"result":{text}}}'.encode())[0].result


def error_object_of(text):
    return mcp.parse_error(wire.read(f'{{"id":1,"error":{text}}}'.encode())[0].error)


@pytest.mark.parametrize("revision", mcp.LEGACY)
def test_legacy_params_are_the_members_and_nothing_else(revision):
    assert mcp.request_params(revision) == "{}"
    assert mcp.request_params(revision, '"a":1.0') == '{"a":1.0}'
    assert not ServerInfo(revision).is_modern


def test_modern_params_carry_the_envelope():
    assert json.loads(mcp.request_params("2026-07-28")) == {"_meta": ENVELOPE}
    assert json.loads(mcp.request_params("2026-07-28", '"a":1')) == {"_meta": ENVELOPE, "a": 1}
    assert ServerInfo("2026-07-28").is_modern


def test_initialize_offers_no_capabilities():
    assert json.loads(mcp.initialize_params("2025-06-18")) == {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "thrall", "version": __version__},
    }


def test_the_arguments_of_a_call_go_out_as_they_were_typed():
    members = mcp.call_members('say "é"', '{"n": 1.0,  "big":1e400}')
    assert members == r'"name":"say \"\u00e9\"","arguments":{"n": 1.0,  "big":1e400}'


ERROR_OBJECTS = {
    "by the book": ('{"code":-32602,"message":"no such tool"}', (-32602, "no such tool", None)),
    "with data": ('{"code":1,"message":"","data":{"a":1}}', (1, "", '{"a":1}')),
    "data of null": ('{"code":1,"message":"x","data":null}', (1, "x", "null")),
    "no code": ('{"message":"oops"}', (None, "oops", None)),
    "no message": ('{"code":5}', (5, "", None)),
    "a message that is no string": ('{"code":5,"message":{"a":1}}', (5, "", None)),
    "a code that is a string": ('{"code":"E1","message":"x"}', ("E1", "x", None)),
    "a code that is no integer": ('{"code":1.5,"message":"x"}', (ExactNumber("1.5"), "x", None)),
    "a string": ('"just words"', (None, "just words", None)),
    "an empty string": ('""', (None, '""', None)),
    "an object of its own kind": ('{"reason":"x"}', (None, '{"reason":"x"}', None)),
    "no object": ("[true]", (None, "[true]", None)),
    "words beyond ASCII": ('["é"]', (None, '["é"]', None)),
}


@pytest.mark.parametrize(("error", "expected"), ERROR_OBJECTS.values(), ids=ERROR_OBJECTS)
def test_an_error_object_is_read_however_odd_it_is(error, expected):
    read = error_object_of(error)
    data = read.data and read.data.text
    assert (read.code, read.message, data) == expected


@pytest.mark.parametrize(
    ("data", "versions"),
    [
        ('{"supported":["2025-11-25","2026-07-28"],"requested":"x"}', ["2025-11-25", "2026-07-28"]),
        ('{"supported":["a",1,null,"b"]}', ["a", "b"]),
        ('{"supported":"2026-07-28"}', []),
        ("{}", []),
        ('["2026-07-28"]', []),
        ('""', []),
    ],
)
def test_the_versions_an_error_object_names_are_its_strings(data, versions):
    assert error_object_of(f'{{"code":-32022,"message":"","data":{data}}}').supported == versions


def test_an_error_object_without_data_names_no_versions():
    assert error_object_of('{"code":-32022,"message":""}').supported == []


INITIALIZE_RESULTS = {
    "by the book": (
        (
            '{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"prompts":{}},'
            '"serverInfo":{"name":"srv","version":"2.1"},"instructions":"use\\nme"}'
        ),
        ServerInfo("2025-06-18", "srv", "2.1", "use\nme", frozenset({"tools", "prompts"})),
    ),
    "no tools": (
        '{"protocolVersion":"x","capabilities":{}}',
        ServerInfo("x", capabilities=frozenset()),
    ),
    "no capabilities": ('{"protocolVersion":"x"}', ServerInfo("x")),
    "odd capabilities": ('{"protocolVersion":"x","capabilities":["tools"]}', ServerInfo("x")),
    "odd names": (
        '{"protocolVersion":"x","serverInfo":{"name":1,"version":null}}',
        ServerInfo("x"),
    ),
    "odd information": ('{"protocolVersion":"x","serverInfo":"srv"}', ServerInfo("x")),
    "odd instructions": ('{"protocolVersion":"x","instructions":[1]}', ServerInfo("x")),
    "no version": ('{"capabilities":{}}', None),
    "a version that is a number": ('{"protocolVersion":20250618}', None),
    "no object": ('"2025-06-18"', None),
}


@pytest.mark.parametrize(("result", "server"), INITIALIZE_RESULTS.values(), ids=INITIALIZE_RESULTS)
def test_an_initialize_result_is_read_however_odd_it_is(result, server):
    assert mcp.parse_initialize_result(result_of(result)) == server


INFO = '"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"srv","version":"1"}}'
DISCOVER_RESULTS = {
    "by the book": (
        f'{{"supportedVersions":["2026-07-28"],{INFO},"capabilities":{{}},"instructions":"i"}}',
        ServerInfo("2026-07-28", "srv", "1", "i", frozenset()),
    ),
    "one of many versions": (
        '{"supportedVersions":[7,"2024-11-05","2026-07-28"]}',
        ServerInfo("2026-07-28"),
    ),
    "information in the body": (
        '{"supportedVersions":["2026-07-28"],"_meta":{},"serverInfo":{"name":"draft"}}',
        ServerInfo("2026-07-28", "draft"),
    ),
    "legacy versions only": ('{"supportedVersions":["2025-11-25"]}', None),
    "a string of versions": ('{"supportedVersions":"2026-07-28"}', None),
    "no versions": ("{}", None),
    "no object": ("[]", None),
}


@pytest.mark.parametrize(("result", "server"), DISCOVER_RESULTS.values(), ids=DISCOVER_RESULTS)
def test_a_discover_result_is_one_only_if_it_names_the_modern_revision(result, server):
    assert mcp.parse_discover_result(result_of(result)) == server


@pytest.mark.parametrize(
    ("result", "names", "cursor"),
    [
        ('{"tools":[]}', [], None),
        ('{"tools":[{"name":"a"},{"name":"b"}],"nextCursor":"n\\u00e4"}', ["a", "b"], "nä"),
        ('{"tools":[{"name":"a"}],"nextCursor":null}', ["a"], None),
        ('{"tools":[{"name":"a"}],"nextCursor":""}', ["a"], ""),
    ],
)
def test_a_page_is_its_tools_and_its_cursor(result, names, cursor):
    page = mcp.parse_page(result_of(result), mcp.TOOLS)
    assert [tool.load()["name"] for tool in page.items] == names
    assert page.cursor == cursor


def test_a_server_that_declares_nothing_is_taken_for_one_of_tools():
    assert ServerInfo("x").capabilities == {"tools"}


KINDS = {
    "tools": ("tools/list", "name", "tools"),
    "prompts": ("prompts/list", "name", "prompts"),
    "resources": ("resources/list", "uri", "resources"),
    "resourceTemplates": ("resources/templates/list", "uriTemplate", "resources"),
}


def test_there_are_four_kinds_of_things_that_servers_list():
    assert {kind.member: kind[1:] for kind in mcp.KINDS} == KINDS


@pytest.mark.parametrize("kind", mcp.KINDS, ids=[kind.member for kind in mcp.KINDS])
def test_a_page_of_a_kind_is_taken_from_the_member_of_that_kind(kind):
    page = mcp.parse_page(result_of(f'{{"x":[],"{kind.member}":[{{"{kind.key}":"a"}}]}}'), kind)
    assert [mcp.key_of(item, kind) for item in page.items] == ["a"]
    with pytest.raises(JsonError, match=f'^it has no array "{kind.member}"$'):
        mcp.parse_page(result_of('{"x":[]}'), kind)


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ('{"name":"a","x":1}', "a"),
        ('{ \t\r "name" : "\u00e9\\"\\\\" }', 'é"\\'),
        ('{"x":{"name":"b"},"y":[],"z":1e99999,"name":"a"}', "a"),
        ('{"x":%s,"name":"é"}' % ("1" * 5000), "é"),
        (r'{"n\u0061me":"\u00e9"}', "é"),
        ('{"x":{"name":"b"}}', None),
        ('{"name":1}', None),
        ("{}", None),
        ('["name"]', None),
        ('"name"', None),
        ("null", None),
    ],
)
def test_an_item_of_a_list_is_told_apart_wherever_its_key_stands(item, name):
    (found,) = mcp.parse_page(result_of(f'{{"tools":[{item}]}}'), mcp.TOOLS).items
    assert mcp.key_of(found, mcp.TOOLS) == name


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        ("{}", 'it has no array "tools"'),
        ("[]", 'it has no array "tools"'),
        ('{"tools":{"a":{}}}', 'it has no array "tools"'),
        ('{"tools":null}', 'it has no array "tools"'),
        ('{"tools":[],"nextCursor":2}', 'its "nextCursor" is not a string'),
    ],
)
def test_what_is_no_page_says_why(result, problem):
    with pytest.raises(JsonError) as caught:
        mcp.parse_page(result_of(result), mcp.TOOLS)
    assert str(caught.value) == problem


def test_an_error_may_be_any_value_that_was_not_looked_into():
    assert mcp.parse_error(value("false")) == mcp.ErrorObject(None, "false", None)
