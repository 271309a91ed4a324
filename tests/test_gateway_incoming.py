import json

import pytest
from fakes import value

from thrall_py.gateway.core import incoming
from thrall_py.gateway.core.incoming import Malformed, Notification, Request, Response


def read(**members):
    return incoming.read(json.dumps({"jsonrpc": "2.0", **members}).encode())


@pytest.mark.parametrize("line", [b"", b"\n", b" \t\r\n"])
def test_a_blank_line_is_nothing(line):
    assert incoming.read(line) == []


@pytest.mark.parametrize(
    "id_", ["1", "-7", '"a"', '""', r'"\u0061"', "1.0", "9007199254740993", '"\u4e16"']
)
def test_the_id_of_a_request_is_kept_as_it_was_written(id_):
    line = f'{{"jsonrpc":"2.0","method":"ping","id": {id_} }}'.encode()
    [request] = incoming.read(line)
    assert isinstance(request, Request)
    assert request.id.encode("latin-1") == id_.encode()
    assert request[1:] == ("ping", None)


@pytest.mark.parametrize(
    "id_", ["null", "true", "1.5", "1e3", "[]", "{}", '"' + "a" * 1000 + '"', "1" * 1001]
)
def test_an_id_is_a_string_or_an_integer_and_not_huge(id_):
    [malformed] = incoming.read(f'{{"jsonrpc":"2.0","method":"ping","id":{id_}}}'.encode())
    assert malformed == (
        "null",
        -32600,
        "an id is a string or an integer, of at most 1000 characters",
    )


def test_a_request_without_an_id_is_a_notification():
    [notification] = read(method="notifications/cancelled", params={"requestId": 1})
    assert isinstance(notification, Notification)
    assert notification.params.member("requestId").text == "1"


def test_params_are_looked_into_as_far_as_a_gateway_needs():
    meta = {"progressToken": 1}
    [request] = read(
        id=1, method="tools/call", params={"name": "a", "arguments": {"b": 1}, "_meta": meta}
    )
    assert request.params.member_string("name") == "a"
    assert request.params.member("arguments").text == '{"b": 1}'
    assert request.params.member("arguments").children is None
    assert request.params.member("_meta").member("progressToken").text == "1"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"{", "not JSON: unexpected at character 1"),
        (b"\xff", "not UTF-8 (invalid start byte)"),
        (b'{"a":NaN}', "not JSON: NaN is not a JSON value"),
        (b'{"id":1,"id":2}', "not JSON: the name 'id' stands twice in one object"),
        (b"[" * 100_000, "nested too deeply"),
        (b"{} {}", "not JSON: unexpected at character 3"),
    ],
)
def test_what_is_not_json_is_told_so_without_an_id(line, sentence):
    assert incoming.read(line) == [Malformed("null", -32700, sentence)]


def test_the_words_of_an_error_are_cut_and_made_visible():
    [malformed] = incoming.read(b'{"\x7f%b":1,"\x7f%b":2}' % (b"a" * 9999, b"a" * 9999))
    assert len(malformed.message) < 250
    assert "\x7f" not in malformed.message


INVALID = {
    "no object": ("1", "null", "a message is a JSON object"),
    "nothing": ("{}", "null", 'a request has "jsonrpc": "2.0" and a "method"'),
    "an id alone": ('{"id":1}', "1", 'a request has "jsonrpc": "2.0" and a "method"'),
    "no version": ('{"id":1,"method":"m"}', "1", 'a request has "jsonrpc": "2.0" and a "method"'),
    "another version": ('{"jsonrpc":"1.0","id":1,"method":"m"}', "1", 'a request has "jsonrpc": "2.0" and a "method"'),
    "no text as method": ('{"jsonrpc":"2.0","id":1,"method":1}', "1", 'a request has "jsonrpc": "2.0" and a "method"'),
    "an empty array": ("[]", "null", "an array holds 1 to 1000 messages"),
    "a huge array": (f"[{','.join(['1'] * 1001)}]", "null", "an array holds 1 to 1000 messages"),
}  # fmt: skip


@pytest.mark.parametrize(("line", "id_", "sentence"), INVALID.values(), ids=INVALID)
def test_what_is_neither_request_nor_notification_nor_response_is_invalid(line, id_, sentence):
    assert incoming.read(line.encode()) == [Malformed(id_, -32600, sentence)]


def test_params_are_an_object():
    assert read(id=1, method="m", params=[1]) == [
        Malformed("1", -32602, '"params" should be an object')
    ]


def test_nothing_is_answered_to_a_notification_with_other_params():
    assert read(method="m", params=[1]) == [Notification("m", None)]


def nested(levels):
    return json.loads("[" * levels + "]" * levels)


@pytest.mark.parametrize(("levels", "is_read"), [(198, True), (199, False)])
def test_a_request_that_is_nested_too_deeply_is_refused_under_its_id(levels, is_read):
    [message] = read(id=7, method="m", params={"a": nested(levels)})
    assert isinstance(message, Request) == is_read
    assert message.id == "7"


def test_many_brackets_side_by_side_are_not_deep_and_those_in_strings_do_not_count():
    [message] = read(id=7, method="m", params={"a": [[]] * 500, "b": "[" * 500 + '"'})
    assert isinstance(message, Request)


# -- responses ---------------------------------------------------------------------------------


def test_a_response_has_a_result_or_an_error():
    [answered] = read(id=1, result={"a": 1})
    assert isinstance(answered, Response)
    assert (answered.id, answered.result.text, answered.error) == ("1", '{"a": 1}', None)
    [refused] = read(id="1", error={"code": 1}, result=None)
    assert (refused.id, refused.result, refused.error.text) == ('"1"', None, '{"code": 1}')


def test_an_error_of_null_is_none_beside_a_result():
    [answered] = read(id=1, result={}, error=None)
    assert (answered.result.text, answered.error) == ("{}", None)
    [refused] = read(id=1, error=None)
    assert (refused.result, refused.error.text) == (None, "null")


def test_a_response_is_never_answered_with_an_error_however_odd_it_is():
    assert read(id=[], error={})[0].id == "null"
    assert read(error={})[0].id == "null"
    assert read(id=1, result=nested(300)) == [Response("1", None, None)]


# -- arrays ------------------------------------------------------------------------------------


def test_an_array_is_taken_apart():
    ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    messages = incoming.read(f'\ufeff [{ping}, 1, {{"jsonrpc":"2.0","method":"n"}}]'.encode())
    assert messages == [
        Request("1", "ping", None),
        Malformed("null", -32600, "a message is a JSON object"),
        Notification("n", None),
    ]


def test_initialize_stands_alone():
    line = b'[{"jsonrpc":"2.0","id":1,"method":"initialize"}]'
    assert incoming.read(line) == [
        Malformed("1", -32600, "initialize stands alone, not in an array")
    ]


def test_no_message_of_an_array_keeps_the_others():
    first, second = incoming.read(
        b'[{"jsonrpc":"2.0","id":1,"method":"a","params":{}},'
        b'{"jsonrpc":"2.0","id":2,"method":"b","params":{"b":1}}]'
    )
    assert first.params.source == '{"jsonrpc":"2.0","id":1,"method":"a","params":{}}'
    assert second.params.member("b").load() == 1
    assert '"a"' not in second.params.source


@pytest.mark.parametrize(
    ("line", "is_one"), [(b" \n[", True), (b"\xef\xbb\xbf[", True), (b"{", False), (b"", False)]
)
def test_an_array_is_known_by_its_first_character(line, is_one):
    assert incoming.is_batch(line) == is_one


def test_what_is_sent_on_stands_on_one_line_and_is_otherwise_as_it_was():
    assert (
        incoming.verbatim(value('{"é":\r\n 1e400 }')).encode("latin-1")
        == '{"é":   1e400 }'.encode()
    )
