import json

import pytest
from fakes import value

from thrall_py.protocol.jsontext import JsonError
from thrall_py.protocol.wire import (
    is_broken_answer,
    is_broken_request,
    load_or_none,
    notification,
    read,
    reply,
    request,
    same_id,
)

FACTS = {
    "a result": ('{"jsonrpc":"2.0","id":2,"result":{}}', (True, "2", None, "{}", None)),
    "an error": ('{"id":"x","error":{"code":1}}', (False, '"x"', None, None, '{"code":1}')),
    "a request": (
        '{"jsonrpc":"2.0","id":1.5,"method":"ping","params":{"a":1}}',
        (True, "1.5", "ping", None, None),
    ),
    "a notification": ('{"jsonrpc":"2.0","method":"n"}', (True, None, "n", None, None)),
    "an id of null": ('{"id":null,"result":1}', (False, None, None, "1", None)),
    "an error of null": ('{"id":1,"result":{},"error":null}', (False, "1", None, "{}", None)),
    "a result of null": ('{"id":1,"result":null}', (False, "1", None, "null", None)),
    "a method that is no string": ('{"method":7}', (False, None, None, None, None)),
    "a method with escapes": (r'{"method":"\u0070ing"}', (False, None, "ping", None, None)),
    "unknown members": ('{"x":{"result":{}},"id":1}', (False, "1", None, None, None)),
    "an object in a CRLF line": ('{"id":1}\r', (False, "1", None, None, None)),
    "a byte order mark": ('\ufeff{"id":1}', (False, "1", None, None, None)),
}


def text(item):
    return item and item.text


def facts(message):
    return (
        message.declared,
        text(message.id),
        message.method,
        text(message.result),
        text(message.error),
    )


@pytest.mark.parametrize(("line", "expected"), FACTS.values(), ids=FACTS)
def test_a_message_is_its_members_as_far_as_they_are_there(line, expected):
    (message,) = read(line.encode())
    assert facts(message) == expected
    assert message.is_answer is (expected[3] is not None or expected[4] is not None)


@pytest.mark.parametrize(
    ("line", "ids"),
    [
        ("[]", []),
        (' \t[{"id":3}]\r', ["3"]),
        ('\ufeff[{"id":4}]', ["4"]),
        ("42", []),
        ('"text"', []),
        ("null", []),
        ("[1,null,[{}]]", []),
        ('[{"id":1},"noise",{"id":2}]', ["1", "2"]),
    ],
)
def test_an_array_is_taken_apart_and_what_is_no_object_is_no_message(line, ids):
    assert [text(message.id) for message in read(bytearray(line.encode()))] == ids


@pytest.mark.parametrize(
    "line", [b"Listening on stdio", b"{", b"\xff\xfe{\x00}\x00", b"NaN", b'{"id":1,"id":1}']
)
def test_a_line_that_is_no_json_is_refused(line):
    with pytest.raises(JsonError):
        read(line)


def test_a_message_is_looked_into_as_deep_as_the_protocol_needs():
    line = """{"result":{"content":[{"type":"resource","resource":{"uri":"x"}}],"tools":[{"name":"n"}],
    "inputRequests":{"a":{"method":"m","params":{"message":"?"}}},"_meta":{"k":1}},"error":{"code":5}}"""
    (message,) = read(line.encode())
    result = message.result.members()
    assert text(result["content"].children[0].members()["resource"].members()["uri"]) == '"x"'
    (tool,) = result["tools"].children
    assert (text(tool), tool.children) == ('{"name":"n"}', None)
    asked = result["inputRequests"].members()["a"].members()
    assert text(asked["params"].members()["message"]) == '"?"'
    assert text(result["_meta"].members()["k"]) == "1"
    assert text(message.error.members()["code"]) == "5"


@pytest.mark.parametrize(("id_", "written"), [(7, "7"), ("thrall-probe", '"thrall-probe"')])
def test_a_request_is_one_line_with_its_params_word_for_word(id_, written):
    params = '{"name":"é", "n":1.0}'
    line = f'{{"jsonrpc":"2.0","id":{written},"method":"tools/call","params":{params}}}\n'
    assert request(id_, "tools/call", params) == line.encode()


def test_a_notification_has_no_id_and_params_that_may_be_empty():
    assert notification("a/b") == b'{"jsonrpc":"2.0","method":"a/b","params":{}}\n'
    assert json.loads(notification("c", '{"d":1}'))["params"] == {"d": 1}


@pytest.mark.parametrize("id_", ["3", "2.50", '"日本"', '"\\ud800"'])
def test_a_reply_repeats_the_id_as_it_came(id_):
    line = reply(value(id_), '"result":{}')
    assert line == f'{{"jsonrpc":"2.0","id":{id_},"result":{{}}}}\n'.encode()


BROKEN = {
    "not UTF-8": (b'{"id":2,"result":{"text":"\xff"}}', True),
    "NaN in it": (b'{"jsonrpc":"2.0","id": 2 ,"result":NaN}', True),
    "the same name twice": (b'{"result":{"a":1,"a":1},"id":2}', True),
    "an error": (b'{"id":2,"error":{"code":0x10}}', True),
    "the id as a string": (b'{"id":"2","result":{,}}', True),
    "the id as a fraction": (b'{"id":2.0,"result":{,}}', True),
    "a byte order mark": (b'\xef\xbb\xbf {"id":2,"result":{,}}', True),
    "a string id": (b'{"id":"thrall-probe","result":{,}}', True),
    "an id that nobody asked with": (b'{"id":22,"result":{,}}', False),
    "the beginning of the id only": (b'{"id":2.5,"result":{,}}', False),
    "no id": (b'{"result":{,}}', False),
    "neither result nor error": (b'{"id":2,"method":"ping",}', False),
    "text before it": (b'INFO {"id":2,"result":{,}}', False),
    "an id that is cut": (b'{"result":{},"id":2', False),
}


@pytest.mark.parametrize(("line", "broken"), BROKEN.values(), ids=BROKEN)
def test_a_line_that_cannot_be_read_is_known_as_the_response_it_was_meant_to_be(line, broken):
    assert is_broken_answer(line, [2, "thrall-probe"]) is broken
    assert is_broken_answer(line, []) is False


@pytest.mark.parametrize(
    ("line", "broken"),
    [
        (b'{"id":7,"method":"elicitation/create","params":{,}}', True),
        (b'\xef\xbb\xbf {"method" : "ping", "id" : "x",', True),
        (b'{"method":"roots/list","id":\xff}', True),
        (b'{"id":7,"method":"tools/call","params":{"na...', False),
        (b'{"method":"elicitation/create","params":{,}}', False),
        (b'{"method":"GET","id":7,', False),
        (b'INFO {"id":7,"method":"ping",}', False),
    ],
)
def test_a_line_that_cannot_be_read_is_known_as_the_request_it_was_meant_to_be(line, broken):
    assert is_broken_request(line) is broken


@pytest.mark.parametrize(
    ("theirs", "ours", "same"),
    [
        ("2", 2, True),
        ("2.0", 2, True),
        ("20e-1", 2, True),
        ('"2"', 2, True),
        ('"2.0"', 2, False),
        ("1", 2, False),
        ("true", 1, False),
        ("null", 1, False),
        ("[1]", 1, False),
        ('{"id":1}', 1, False),
        ("1.5", 1, False),
        ('"thrall-probe"', "thrall-probe", True),
        ('"thrall-Probe"', "thrall-probe", False),
    ],
)
def test_an_id_is_compared_by_its_value(theirs, ours, same):
    assert same_id(value(theirs).load(), ours) is same


@pytest.mark.parametrize(
    ("text", "loaded"),
    [('{"a":[1]}', {"a": [1]}), ("7" * 2000, None), ('{"é":1,"\\u00e9":2}', None)],
)
def test_a_value_that_cannot_be_loaded_is_as_good_as_absent(text, loaded):
    assert load_or_none(value(f"[{text}]").children[0]) == loaded


def test_a_value_that_is_absent_is_none():
    assert load_or_none(None) is None
