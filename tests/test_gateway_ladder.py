import json

import pytest
from offers import ENVELOPE, META, SERVERS, entry, loaded, offered, tool

from thrall_py.gateway.core.incoming import Malformed, Notification, Request, Response
from thrall_py.gateway.front import ladder
from thrall_py.gateway.front.ladder import Posted, Refusal

OFFER = offered()
TYPES = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
HEADERS = {**TYPES, "MCP-Protocol-Version": "2026-07-28"}


def post(message, headers, offer=OFFER):
    """Post a message, or bytes, with headers of which those without a value are left out."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    pairs = [
        (name.lower().encode(), value.encode("latin-1"))
        for name, value in headers.items()
        if value is not None
    ]
    return ladder.read_post(pairs, body, offer)


def asked(method, id_=1, meta=None, **params):
    params = {**params, "_meta": ENVELOPE if meta is None else meta}
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def modern(method, headers=None, offer=OFFER, meta=None, **params):
    """Post a request of 2026-07-28 with headers that are right but for the given ones."""
    right = {**HEADERS, "Mcp-Method": method}
    if method in ("tools/call", "prompts/get"):
        right["Mcp-Name"] = params.get("name")
    if method == "resources/read":
        right["Mcp-Name"] = params.get("uri")
    return post(asked(method, meta=meta, **params), {**right, **(headers or {})}, offer)


def code(refused, status=400):
    assert isinstance(refused, Refusal)
    assert refused.status == status
    return loaded(refused.outcome)["code"]


# -- any POST ----------------------------------------------------------------------------------

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.parametrize(
    "kind", [None, "text/plain", "", "application/x-www-form-urlencoded", "application/jsonp"]
)
def test_a_body_is_declared_as_json(kind):
    assert code(post(PING, {**TYPES, "Content-Type": kind}), 415) == -32600


def test_a_type_may_have_parameters_and_stand_there_once():
    assert isinstance(
        post(PING, {**TYPES, "Content-Type": "Application/JSON; charset=utf-8"}), Posted
    )
    twice = [(b"Content-Type", b"application/json"), (b"content-type", b"text/plain")]
    assert code(ladder.read_post(twice, b"{}", OFFER), 415) == -32600


@pytest.mark.parametrize(
    "accept", ["", "application/json", "text/event-stream", "text/html, application/json"]
)
def test_both_types_of_a_reply_have_to_be_accepted(accept):
    assert code(post(PING, {**TYPES, "Accept": accept}), 406) == -32600


@pytest.mark.parametrize(
    "accept", [None, "*/*", "text/*;q=0.5, application/*", "TEXT/EVENT-STREAM,application/json;q=1"]
)
def test_ranges_of_types_accept_what_is_in_them(accept):
    assert isinstance(post(PING, {**TYPES, "Accept": accept}), Posted)


@pytest.mark.parametrize("body", [b"", b" \n", b"{", b"\xff"])
def test_a_body_that_is_not_json_is_refused_without_an_id(body):
    refused = post(body, TYPES)
    assert code(refused) == -32700
    assert refused.id == "null"
    is_empty = not body.strip()
    assert ("the body is empty: send one JSON-RPC message" in refused.outcome) == is_empty


@pytest.mark.parametrize(
    ("body", "id_"),
    [(b"1", "null"), (b'{"jsonrpc":"2.0","id":null,"method":"m"}', "null"), (b'{"jsonrpc":"2.0","id":1.5,"method":"m"}', "null"),
     (b'{"id":"a","method":"m"}', '"a"')],
)  # fmt: skip
@pytest.mark.parametrize("headers", [TYPES, HEADERS])
def test_a_body_that_is_no_message_is_refused_under_its_id_if_it_has_one(body, id_, headers):
    refused = post(body, headers)
    assert code(refused) == -32600
    assert refused.id == id_


# -- revisions with sessions -------------------------------------------------------------------


@pytest.mark.parametrize("version", [None, "2025-06-18"])
def test_a_legacy_request_is_taken_with_and_without_its_header(version):
    posted = post(PING, {**TYPES, "MCP-Protocol-Version": version})
    assert posted == Posted([Request("1", "ping", None)], is_modern=False)


@pytest.mark.parametrize("version", [None, "2025-11-25", "2026-07-28", "nonsense"])
def test_initialize_is_taken_with_whatever_header(version):
    posted = post({**PING, "method": "initialize"}, {**TYPES, "MCP-Protocol-Version": version})
    assert posted == Posted([Request("1", "initialize", None)], is_modern=False)


def test_a_notification_and_a_response_are_taken():
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert post(notification, TYPES).messages == [Notification("notifications/initialized", None)]
    [response] = post({"jsonrpc": "2.0", "id": 1, "result": {}}, TYPES).messages
    assert isinstance(response, Response)


def test_a_version_that_stands_there_twice_is_refused():
    pairs = [(name.lower().encode(), value.encode()) for name, value in TYPES.items()]
    pairs += [(b"mcp-protocol-version", b"2025-06-18")] * 2
    assert code(ladder.read_post(pairs, json.dumps(PING).encode(), OFFER)) == -32600


@pytest.mark.parametrize("version", [None, "2025-03-26"])
def test_an_array_is_taken_apart_in_the_revision_that_has_them(version):
    posted = post([PING, 1], {**TYPES, "MCP-Protocol-Version": version})
    assert posted.messages == [
        Request("1", "ping", None), Malformed("null", -32600, "a message is a JSON object"),
    ]  # fmt: skip
    assert not posted.is_modern


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"])
def test_an_array_is_refused_in_any_other(version):
    assert code(post([PING], {**TYPES, "MCP-Protocol-Version": version})) == -32600


@pytest.mark.parametrize("array", [[], [asked("tools/list")], [1]])
def test_an_array_that_is_empty_or_modern_or_nothing_is_refused(array):
    assert code(post(array, TYPES)) == -32600


def test_an_array_that_is_not_json_is_refused():
    assert code(post(b"[", TYPES)) == -32700


# -- 2026-07-28, step by step --------------------------------------------------------------------

CALLS = [
    ("server/discover", {}), ("tools/list", {}), ("tools/call", {"name": "read", "arguments": {}}),
    ("prompts/get", {"name": "web_sum up"}), ("resources/read", {"uri": "file:///a"}), ("completion/complete", {}),
]  # fmt: skip


@pytest.mark.parametrize(("method", "params"), CALLS)
def test_a_request_with_the_right_headers_is_taken(method, params):
    posted = modern(method, **params)
    assert isinstance(posted, Posted)
    assert posted.is_modern
    assert posted.messages[0].method == method


def test_a_notification_of_a_modern_client_is_taken_and_a_response_is_not():
    assert post({"jsonrpc": "2.0", "method": "n"}, HEADERS).is_modern
    assert code(post({"jsonrpc": "2.0", "id": 1, "result": {}}, HEADERS)) == -32600


@pytest.mark.parametrize("name", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
def test_a_header_that_stands_there_twice_is_refused(name):
    right = {**HEADERS, "Mcp-Method": "tools/call", "Mcp-Name": "read"}
    pairs = [(key.encode(), value.encode()) for key, value in right.items()]
    pairs.append((name.upper().encode(), right[name].encode()))
    body = json.dumps(asked("tools/call", name="read")).encode()
    assert code(ladder.read_post(pairs, body, OFFER)) == -32020


@pytest.mark.parametrize(
    "meta",
    [{}, {f"{META}protocolVersion": "2026-07-28"}, {**ENVELOPE, f"{META}clientCapabilities": []}],
)
def test_an_envelope_that_is_not_whole_is_refused_before_the_headers_are_compared(meta):
    assert code(modern("tools/list", meta=meta, headers={"Mcp-Method": "x"})) == -32602


@pytest.mark.parametrize(
    "headers",
    [{"MCP-Protocol-Version": None}, {"MCP-Protocol-Version": "2025-11-25"}, {"MCP-Protocol-Version": "2099-01-01"},
     {"MCP-Protocol-Version": ""}, {"Mcp-Method": None}, {"Mcp-Method": "Tools/call"}, {"Mcp-Method": "tools/list"}, {"Mcp-Name": None},
     {"Mcp-Name": "remove"}, {"Mcp-Name": ""}, {"Mcp-Name": "=?base64?cmVhZA?="}, {"Mcp-Name": "re\xe9d"}],
)  # fmt: skip
def test_a_header_that_is_missing_or_unlike_the_body_is_refused(headers):
    assert code(modern("tools/call", headers, name="read")) == -32020


def test_a_name_may_be_coded_and_padded():
    assert isinstance(
        modern("tools/call", {"Mcp-Name": " =?base64?cmVhZA==?= "}, name="read"), Posted
    )
    coded = {"Mcp-Name": "=?base64?5LiW?="}
    assert isinstance(
        modern("tools/call", coded, offered({"s": entry(tools=["世"])}), name="世"), Posted
    )


def test_a_body_without_a_name_is_for_who_answers_it_unless_the_header_has_one():
    assert isinstance(modern("tools/call"), Posted)
    assert code(modern("tools/call", {"Mcp-Name": "read"})) == -32020


def test_headers_that_differ_are_told_before_a_version_that_is_not_known():
    meta = {**ENVELOPE, f"{META}protocolVersion": "2099-01-01"}
    assert code(modern("tools/list", meta=meta)) == -32020
    refused = modern("tools/list", {"MCP-Protocol-Version": "2099-01-01"}, meta=meta)
    assert code(refused) == -32022
    assert loaded(refused.outcome)["data"]["supported"] == ["2026-07-28"]


@pytest.mark.parametrize(
    "method",
    [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "subscriptions/listen",
        "none",
    ],
)
def test_a_method_that_there_is_not_is_not_found(method):
    refused = modern(method)
    assert code(refused, 404) == -32601
    assert refused.id == "1"


# -- marked arguments --------------------------------------------------------------------------


def fetch(arguments, **headers):
    given = {f"Mcp-Param-{name}": value for name, value in headers.items()}
    return modern("tools/call", given, name="web_fetch", arguments=arguments)


RIGHT = [
    ({}, {}), ({"region": None}, {}), ({"region": []}, {}), ({"region": "us"}, {"Region": "us"}), ({"region": ""}, {"Region": ""}),
    ({"region": "世"}, {"region": "=?base64?5LiW?="}), ({"n": 42}, {"N": "42"}), ({"n": 42.0}, {"N": "42"}), ({"n": 42}, {"N": "42.0"}),
    ({"n": True}, {"N": "true"}), ({"n": 1.5}, {"N": "1.5"}), ({"region": "us"}, {"Region": "us", "Other": "x"}),
]  # fmt: skip
WRONG = [
    ({"region": "us"}, {}), ({}, {"Region": "us"}), ({"region": None}, {"Region": ""}), ({"region": "us"}, {"Region": "US"}),
    ({"region": "42"}, {"Region": "42.0"}), ({"n": 42}, {"N": "43"}), ({"n": 42}, {"N": ""}), ({"n": 42}, {"N": "=?base64?x?="}),
    ({"n": 42}, {"N": "forty-two"}), ({"n": True}, {"N": "1"}), ({"region": "é"}, {"Region": "é"}),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "headers"), RIGHT)
def test_a_header_that_repeats_its_argument_is_right(arguments, headers):
    assert isinstance(fetch(arguments, **headers), Posted)


@pytest.mark.parametrize(("arguments", "headers"), WRONG)
def test_a_header_that_does_not_is_refused(arguments, headers):
    assert code(fetch(arguments, **headers)) == -32020


def test_a_header_of_an_argument_stands_there_once():
    assert code(ladder.read_post(
        [(b"content-type", b"application/json"), (b"mcp-protocol-version", b"2026-07-28"), (b"mcp-method", b"tools/call"),
         (b"mcp-name", b"web_fetch"), (b"mcp-param-n", b"1"), (b"mcp-param-n", b"1")],
        json.dumps(asked("tools/call", name="web_fetch", arguments={"n": 1})).encode(), OFFER,
    )) == -32020  # fmt: skip


def test_a_marked_tool_may_be_called_without_arguments():
    assert isinstance(modern("tools/call", name="web_fetch"), Posted)


def test_arguments_that_cannot_be_read_are_refused():
    body = json.dumps(asked("tools/call", name="web_fetch", arguments=0)).replace(
        ": 0,", ': {"é":1,"\\u00e9":2},'
    )
    headers = {**HEADERS, "Mcp-Method": "tools/call", "Mcp-Name": "web_fetch"}
    refused = post(body.encode(), headers)
    assert code(refused) == -32602
    assert "cannot be read: not JSON: the name" in refused.outcome


def test_marks_that_are_wrong_mean_nothing():
    wrong = tool("t", {"type": "object", "x-mcp-header": "A"})
    offer = offered({**SERVERS, "s": entry(tools=[wrong])})
    assert isinstance(modern("tools/call", offer=offer, name="t", arguments={}), Posted)


def test_a_prompt_has_no_marked_arguments():
    offer = offered({"s": SERVERS["web"]._replace(items=entry(prompts=["fetch"]).items)})
    assert isinstance(
        modern("prompts/get", offer=offer, name="web_fetch", arguments={"region": "us"}), Posted
    )


# -- methods of HTTP, statuses -------------------------------------------------------------------

MODERN_HEADER = [(b"MCP-Protocol-Version", b"2026-07-28")]


def test_delete_is_of_sessions():
    for method in ("DELETE", "POST"):
        assert ladder.refuse_method(method, []) is None
        assert ladder.refuse_method(method, [(b"mcp-protocol-version", b"2025-11-25")]) is None
    assert ladder.refuse_method("POST", MODERN_HEADER) is None


@pytest.mark.parametrize(
    ("method", "headers", "allowed"),
    [
        ("GET", MODERN_HEADER, b"POST"),
        ("DELETE", MODERN_HEADER, b"POST"),
        ("PUT", [], b"POST, DELETE"),
        ("GET", [], b"POST, DELETE"),
        ("HEAD", MODERN_HEADER, b"POST"),
    ],
)
def test_any_other_method_is_refused_with_those_there_are(method, headers, allowed):
    refused = ladder.refuse_method(method, headers)
    assert code(refused, 405) == -32600
    assert refused.headers == ((b"allow", allowed),)


@pytest.mark.parametrize(
    ("outcome", "status"),
    [('"result":{"error":1}', 200), ('"error":{"code":-32601,"message":"m"}', 404), ('"error":{"message":"m", "code" : -32021 }', 400),
     ('"error":{"code":-32602}', 400), ('"error":{"code":-32603}', 200), ('"error":{"code":7}', 200), ('"error":{}', 200)],
)  # fmt: skip
def test_the_status_of_a_reply_is_that_of_its_code(outcome, status):
    assert ladder.status(outcome) == status
