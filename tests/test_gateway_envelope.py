import json

import pytest
from offers import ENVELOPE, LEGACY, META, MODERN, loaded, request

from thrall_py import __version__
from thrall_py.gateway.caller import Facts
from thrall_py.gateway.core import envelope
from thrall_py.protocol import wire

INFO = {f"{META}serverInfo": {"name": "thrall", "version": __version__}}


def test_a_request_with_a_version_in_its_meta_is_modern():
    assert envelope.is_modern(request("tools/list", modern={}))
    assert envelope.is_modern(request("tools/list", modern={f"{META}protocolVersion": 1}))
    assert not envelope.is_modern(request("tools/list"))
    assert not envelope.is_modern(request("tools/list", _meta={"progressToken": 1}))
    assert not envelope.is_modern(request("tools/list", _meta=[]))


def test_initialize_is_legacy_whatever_it_carries():
    asked = request("initialize", modern={})
    assert not envelope.is_modern(asked)
    assert envelope.has_envelope(asked)


def test_the_envelope_says_who_asks():
    more = {f"{META}clientCapabilities": {"sampling": {"é": 1}}, f"{META}logLevel": "info"}
    facts = envelope.facts_of(request("m", modern=more))
    assert facts == Facts("2026-07-28", '{"sampling": {"\\u00e9": 1}}', "info")


@pytest.mark.parametrize("wrong", [1, None, "x", []])
def test_what_is_not_well_formed_in_an_envelope_says_nothing(wrong):
    meta = dict.fromkeys((*ENVELOPE, f"{META}logLevel"), wrong)
    facts = envelope.facts_of(request("m", _meta=meta))
    assert facts == Facts(wrong if wrong == "x" else "", "{}", "")


@pytest.mark.parametrize(
    ("token", "text"),
    [(1, "1"), ("a", '"a"'), (1.5, ""), (None, ""), ([], ""), ({}, ""), ("a" * 1000, "")],
)
def test_a_progress_token_is_a_string_or_an_integer_and_not_huge(token, text):
    assert envelope.progress_token(request("m", _meta={"progressToken": token})) == text


def test_without_a_token_no_progress_is_wanted():
    assert envelope.progress_token(request("m")) == ""


WRONG = {
    "version": (f"{META}protocolVersion", 1, 'params._meta should have the text "{}"'),
    "capabilities": (f"{META}clientCapabilities", [], 'params._meta should have the object "{}"'),
    "log level": (
        f"{META}logLevel", "loud",
        '"{}" should be one of debug, info, notice, warning, error, critical, alert, emergency',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "wrong", "words"), WRONG.values(), ids=WRONG)
def test_an_envelope_with_a_wrong_member_is_told_so(name, wrong, words):
    refused = loaded(envelope.incomplete(request("m", modern={name: wrong})))
    assert refused == {"code": -32602, "message": words.format(name)}


@pytest.mark.parametrize("name", ENVELOPE)
def test_an_envelope_that_lacks_what_is_required_is_told_so(name):
    meta = {key: member for key, member in ENVELOPE.items() if key != name}
    assert name in loaded(envelope.incomplete(request("m", _meta=meta)))["message"]


def test_a_whole_envelope_has_no_fault():
    asked = request("m", modern={f"{META}logLevel": "alert"})
    assert envelope.incomplete(asked) is None
    assert envelope.unsupported(asked) is None


@pytest.mark.parametrize("version", ["2025-11-25", "2099-01-01", ""])
def test_another_version_is_refused_with_the_one_that_there_is(version):
    refused = loaded(envelope.unsupported(request("m", modern={f"{META}protocolVersion": version})))
    assert refused == {
        "code": -32022,
        "message": "unsupported protocol version: send 2026-07-28, or open a session with initialize",
        "data": {"supported": ["2026-07-28"], "requested": version},
    }


# -- outcomes ----------------------------------------------------------------------------------


def test_a_result_has_what_its_revision_wants_and_no_more():
    assert envelope.result("", LEGACY) == '"result":{}'
    assert loaded(envelope.result('"a":1', LEGACY)) == {"a": 1}
    assert loaded(envelope.result("", MODERN)) == {"resultType": "complete", "_meta": INFO}
    assert loaded(envelope.result('"a":1', MODERN)) == {
        "resultType": "complete",
        "a": 1,
        "_meta": INFO,
    }


def test_a_list_may_be_kept_for_a_minute_by_the_one_who_asked():
    assert loaded(envelope.listed('"tools":[]', LEGACY)) == {"tools": []}
    listed = loaded(envelope.listed('"tools":[]', MODERN))
    assert (listed["tools"], listed["ttlMs"], listed["cacheScope"]) == ([], 60_000, "private")


def test_an_error_has_data_if_there_is_any():
    assert loaded(envelope.error(1, 'a"\x1b')) == {"code": 1, "message": 'a"\x1b'}
    assert loaded(envelope.error(1, "é", "[1]")) == {"code": 1, "message": "é", "data": [1]}


# -- what a server answered --------------------------------------------------------------------


def answered(**members):
    [message] = wire.read(
        json.dumps({"jsonrpc": "2.0", "id": 1, **members}, ensure_ascii=False).encode()
    )
    return message


def finished(text, facts):
    """The result that a client gets for a result in JSON text."""
    [message] = wire.read(f'{{"id":1,"result":{text}}}'.encode())
    outcome = envelope.finish(message, facts)
    assert outcome.startswith('"result":')
    return outcome.removeprefix('"result":').encode("latin-1").decode()


SPELLED = '{ "content" : [ {"type":"text","text":"\\u0061 世"} ],"n":1e400 , "_meta":{"a/b":1.0}}'


def test_a_legacy_client_gets_the_words_of_the_server():
    assert finished(SPELLED, LEGACY) == SPELLED


def test_what_came_on_several_lines_goes_out_on_one():
    assert finished('{"a":\r\n1}', LEGACY) == '{"a":  1}'
    assert finished('{\n"a":1}', MODERN).endswith(' "a":1}')


def test_a_modern_client_gets_the_same_with_what_is_missing_put_in():
    info = json.dumps(INFO, separators=(",", ":"))[1:-1]
    assert finished(SPELLED, MODERN) == SPELLED.replace(
        "{ ", '{"resultType":"complete", ', 1
    ).replace('"_meta":{', f'"_meta":{{{info},')


COMPLETED = {
    "nothing": ("{}", {"resultType": "complete", "_meta": INFO}),
    "blank": ("{ }", {"resultType": "complete", "_meta": INFO}),
    "empty meta": ('{"_meta":{}}', {"resultType": "complete", "_meta": INFO}),
    "odd meta": ('{"_meta":[]}', {"resultType": "complete", "_meta": []}),
    "another type": ('{"resultType":"input_required"}', {"resultType": "input_required", "_meta": INFO}),
    "a name of its own": (
        f'{{"resultType":"complete","_meta":{{"{META}serverInfo":{{"name":"s"}}}}}}',
        {"resultType": "complete", "_meta": {f"{META}serverInfo": {"name": "s"}}},
    ),
    "contents": ('{"contents":[]}', {"resultType": "complete", "contents": [], "ttlMs": 0, "cacheScope": "private", "_meta": INFO}),
    "contents that may be kept": (
        '{"contents":[],"ttlMs":5,"cacheScope":"public"}',
        {"resultType": "complete", "contents": [], "ttlMs": 5, "cacheScope": "public", "_meta": INFO},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "members"), COMPLETED.values(), ids=COMPLETED)
def test_only_what_is_missing_is_put_in(text, members):
    assert json.loads(finished(text, MODERN)) == members


def test_a_legacy_client_does_not_get_what_its_revision_does_not_know():
    text = '{"resultType":"complete", "é\\"":1e400, "ttlMs":0,"cacheScope":"public","content":[ ]}'
    assert finished(text, LEGACY) == '{"\\u00e9\\"":1e400,"content":[ ]}'
    assert finished('{"resultType":"complete"}', LEGACY) == "{}"


@pytest.mark.parametrize("odd", ["1", "null", "[]", '"text"'])
@pytest.mark.parametrize("facts", [LEGACY, MODERN])
def test_a_result_that_is_no_object_is_an_error(odd, facts):
    [message] = wire.read(f'{{"id":1,"result":{odd}}}'.encode())
    assert loaded(envelope.finish(message, facts))["code"] == -32603


def test_an_answer_without_result_and_error_is_an_error():
    assert loaded(envelope.finish(answered(), LEGACY))["code"] == -32603


def test_an_error_is_given_as_it_came():
    [message] = wire.read(
        '{"id":1,"error":{"message":"世","code":-7 ,"data":1e400,"x":1}}'.encode()
    )
    outcome = envelope.finish(message, MODERN).encode("latin-1").decode()
    assert outcome == '"error":{"message":"世","code":-7 ,"data":1e400,"x":1}'


@pytest.mark.parametrize(
    ("odd", "shown"),
    [("\x1b[2J", r'"\x1b[2J"'), ({"code": True, "message": "m"}, '"m"'), ({"code": 1.5, "message": "m"}, '"m"'), ({"code": 1}, '""')],
)  # fmt: skip
def test_an_error_that_is_none_becomes_one(odd, shown):
    refused = loaded(envelope.finish(answered(error=odd), LEGACY))
    assert refused == {
        "code": -32603,
        "message": f"the server refused in a form that is no error: {shown}",
    }


def test_a_resource_that_is_not_there_has_another_code_since_2026_07_28():
    error = {"code": -32002, "message": "no such", "data": {"uri": "é"}}
    assert loaded(envelope.finish(answered(error=error), LEGACY)) == error
    assert loaded(envelope.finish(answered(error=error), MODERN)) == {**error, "code": -32602}
    del error["data"]
    assert loaded(envelope.finish(answered(error=error), MODERN)) == {**error, "code": -32602}
