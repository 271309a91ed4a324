import pytest
from fakes import Script, channel_closed, error, message, result, session_over

from thrall_py.errors import (
    HttpStatusError,
    InputNeededError,
    Interrupted,
    JsonRpcError,
    ServerError,
    SessionLostError,
    TimedOutError,
    UnauthorizedError,
)
from thrall_py.protocol import tools
from thrall_py.protocol.channel import Label, MessageTooLarge, ReceiveTimeout, Unanswered
from thrall_py.protocol.mcp import ServerInfo

PING = message(id=7, method="ping")


def asked(*steps, method="tools/list", modern=False, **options):
    """The outcome of one request to a server that does `steps`."""
    session = session_over(Script(*steps, **options))
    if modern:
        session.server = ServerInfo("2026-07-28")
    return session, lambda: session.request(method, "{}", 10)


def failure(request, kind=ServerError):
    with pytest.raises(kind) as caught:
        request()
    return str(caught.value)


RESPONSES = {
    "by the book": b'{"jsonrpc":"2.0","id":1,"result":{"a":1}}',
    "a string for a number": b'{"jsonrpc":"2.0","id":"1","result":{"a":1}}',
    "a fraction": b'{"jsonrpc":"2.0","id":1.0,"result":{"a":1}}',
    "no version of JSON-RPC": b'{"id":1,"result":{"a":1}}',
    "an error of null beside it": b'{"id":1,"error":null,"result":{"a":1}}',
    "a method beside it": b'{"id":1,"method":"x","result":{"a":1}}',
    "white space": b' \t{"id" : 1, "result" : {"a":1} } \r',
    "a byte order mark": b'\xef\xbb\xbf{"id":1,"result":{"a":1}}',
    "in an array": b'[{"id":99,"result":{}},{"id":1,"result":{"a":1}}]',
    "U+2028 in it": '{"id":1,"\u2028":0,"result":{"a":1}}'.encode(),
}


@pytest.mark.parametrize("line", RESPONSES.values(), ids=RESPONSES)
def test_a_response_is_known_by_its_id(line):
    _, request = asked(line)
    assert request().load() == {"a": 1}


NO_RESPONSES = {
    "a blank line": (b" \r", ""),
    "a banner": (b"Listening", '; skipped 1 line: "Listening"'),
    "JSON that is no object": (b"42", '; skipped 1 line: "42"'),
    "an empty array": (b"[]", '; skipped 1 line: "[]"'),
    "another id": (
        b'{"id":2,"result":{}}',
        '; skipped 1 line: "{"id":2,"result":{}}" (is an answer with id 2, which nobody asked with)',
    ),
    "an id that is true": (b'{"id":true,"result":1}', '; skipped 1 line: "{"id":true,"result":1}"'),
    "a result without an id": (b'{"result":{}}', '; skipped 1 line: "{"result":{}}"'),
    "an object of its own kind": (
        b'{"id":1,"level":30}',
        '; skipped 1 line: "{"id":1,"level":30}"',
    ),
    "our own request": (
        b'{"id":1,"method":"tools/list"}',
        '; skipped 1 line: "{"id":1,"method":"tools/list"}"',
    ),
    "broken JSON": (b'{"id":1', '; skipped 1 line: "{"id":1"'),
    "a broken response to another": (
        b'{"id":3,"result":,}',
        '; skipped 1 line: "{"id":3,"result":,}" (is an answer with id 3, which nobody asked with)',
    ),
    "a notification": (b'{"method":"notifications/message","params":{}}', ""),
}


@pytest.mark.parametrize(("line", "trace"), NO_RESPONSES.values(), ids=NO_RESPONSES)
def test_a_line_that_is_no_response_is_passed_over_and_leaves_its_trace(line, trace):
    _, request = asked(line, result(1, a=1))
    assert request().load() == {"a": 1}
    _, request = asked(line)
    assert failure(request, TimedOutError) == (
        f"no answer to tools/list in 10 s (--timeout){trace}"
    )


UNUSABLE = {
    "not UTF-8": (b'{"id":1,"result":"\xff"}', "not UTF-8 (invalid start byte)"),
    "not JSON": (b'{"id":1,"result":NaN}', "not JSON: NaN is not a JSON value"),
    "twice the same name": (
        b'{"id":1,"result":{},"result":{}}',
        "not JSON: the name 'result' stands twice in one object",
    ),
    "too deep": (b'{"result":' + b"[" * 100_000 + b',"id":1}', "nested too deeply"),
}


@pytest.mark.parametrize(("line", "problem"), UNUSABLE.values(), ids=UNUSABLE)
def test_a_response_that_cannot_be_used_fails_the_request_at_once(line, problem):
    session, request = asked(line)
    assert failure(request) == f"the server sent an answer that is {problem} during tools/list"
    assert session.clock() == 0.0


def test_a_response_with_neither_a_result_nor_an_error_fails_the_request_at_once():
    _, request = asked(message(id=1))
    assert failure(request) == (
        "the server sent an answer with neither a result nor an error during tools/list"
    )


def test_a_secret_in_a_response_that_cannot_be_used_is_masked():
    session = session_over(
        Script(b'{"id":1,"result":{"hunter-222":1,"hunter-222":2}}'), "hunter-222"
    )
    words = failure(lambda: session.request("tools/list", "{}", 10))
    assert words == (
        "the server sent an answer that is not JSON: the name '***' stands twice in one object"
        " during tools/list"
    )


ERRORS = {
    "by the book": (error(1, -32602, "bad", data={"a": 1}), ' -32602: "bad", data {"a": 1}'),
    "no id": (b'{"error":{"code":-32700,"message":"Parse error"}}', ' -32700: "Parse error"'),
    "an id of null": (b'{"id":null,"error":{"code":1}}', " 1"),
    "no code": (b'{"id":1,"error":{"message":"x"}}', ' without a code: "x"'),
    "a code of its own": (b'{"id":1,"error":{"code":"E\\u001b","message":"x"}}', ' E\\x1b: "x"'),
    "a code that is no integer": (b'{"id":1,"error":{"code":1.5,"message":"x"}}', ' 1.5: "x"'),
    "a string": (b'{"id":1,"error":"no"}', ' without a code: "no"'),
    "data beyond ASCII": ('{"id":1,"error":{"code":1,"data":"é"}}'.encode(), ' 1, data "é"'),
    "long data": (error(1, 1, "", data="x" * 999), f' 1, data "{"x" * 499}...'),
    "beside a result": (b'{"id":1,"result":{},"error":{"code":1}}', " 1"),
}


@pytest.mark.parametrize(("line", "words"), ERRORS.values(), ids=ERRORS)
def test_an_error_object_is_told_with_code_words_and_data(line, words):
    _, request = asked(line)
    assert failure(request, JsonRpcError) == f"the server refused tools/list with error{words}"


PAGES = {
    "two pages": (
        {"elicitations": [{"url": "https://a/"}, {"mode": "form"}, 5, {"url": "https://b/?c"}]},
        '"https://a/", "https://b/?c"',
    ),
    "an address that nobody is sent to": (
        {"elicitations": [{"url": "https://a@b/"}]},
        "an address that is no plain one of http or https",
    ),
    "no list": ({"elicitations": "https://a/"}, '"visit"'),
    "no object": (["https://a/"], '"visit"'),
    "a URL that is no string": ({"elicitations": [{"url": 1}]}, '"visit"'),
}


@pytest.mark.parametrize(("data", "pages"), PAGES.values(), ids=PAGES)
def test_a_server_that_wants_pages_visited_names_them(data, pages):
    _, request = asked(error(1, -32042, "visit", data=data))
    assert failure(request, InputNeededError) == (
        f"the server wants a page visited before the call: {pages}"
    )


def test_a_server_that_wants_thousands_of_pages_visited_is_cut_short():
    pages = [{"url": f"https://a/{n}"} for n in range(5000)]
    _, request = asked(error(1, -32042, "visit", data={"elicitations": pages}))
    assert len(failure(request, InputNeededError)) < 2000


def test_an_error_without_an_id_is_nobodys_when_two_requests_are_open():
    session = session_over(Script(error(None), result(2), result(1)))
    session.send("a", "{}")
    session.send("b", "{}")
    assert [session.wait(10).id, session.wait(10).id] == [2, 1]


def test_a_response_without_an_id_is_nobodys_when_no_request_is_open():
    session = session_over(Script(error(None), result(1)))
    tools.pause(session, 5)
    assert session.clock() == 5.0


def test_ids_count_up_and_a_given_one_is_used_as_it_is():
    session = session_over(Script())
    assert [
        session.send("a", "{}"),
        session.send("b", "{}", "x"),
        session.send("c", '{"d":1}'),
    ] == [1, "x", 2]
    assert session.channel.sent == [
        {"jsonrpc": "2.0", "id": 1, "method": "a", "params": {}},
        {"jsonrpc": "2.0", "id": "x", "method": "b", "params": {}},
        {"jsonrpc": "2.0", "id": 2, "method": "c", "params": {"d": 1}},
    ]


@pytest.mark.parametrize(
    ("request_", "reply"),
    [
        (PING, {"id": 7, "result": {}}),
        (message(id="é", method="ping"), {"id": "é", "result": {}}),
        (
            message(id=1, method="roots/list"),
            {"id": 1, "error": {"code": -32601, "message": "Method not found"}},
        ),
        (
            message(id=7, method="tools/list"),
            {"id": 7, "error": {"code": -32601, "message": "Method not found"}},
        ),
        (b"[" + PING + b"]", {"id": 7, "result": {}}),
    ],
)
def test_a_legacy_server_gets_replies_to_its_requests_at_once(request_, reply):
    session, request = asked(request_, result(1))
    request()
    assert session.channel.sent[1:] == [{"jsonrpc": "2.0", **reply}]


@pytest.mark.parametrize("id_", ["{}", "[7]", "true", "false"])
def test_a_request_with_an_id_that_is_none_gets_no_reply(id_):
    session, request = asked(b'{"id":%s,"method":"ping"}' % id_.encode(), result(1))
    request()
    assert len(session.channel.sent) == 1


def test_a_modern_server_gets_no_replies():
    session, request = asked(PING, result(1), modern=True)
    request()
    assert len(session.channel.sent) == 1


def test_a_request_behind_the_response_in_one_array_gets_its_reply_too():
    session, request = asked(b"[" + result(1, a=1) + b"," + PING + b"]")
    assert request().load() == {"a": 1}
    assert session.channel.sent[1:] == [{"jsonrpc": "2.0", "id": 7, "result": {}}]


@pytest.mark.parametrize(("unread", "replies"), [(99, 10), (0, 20)])
def test_a_server_that_asks_more_than_it_reads_is_given_up(unread, replies):
    long = message(id="x" * 100_000, method="ping")
    session, request = asked(*[long] * 20, result(1), unread=unread)
    if unread:
        assert failure(request) == (
            "the server sends more requests than it reads replies during tools/list"
        )
    else:
        assert request().load() == {}
    assert len(session.channel.sent) == 1 + replies


def test_a_changed_list_of_any_kind_is_counted():
    methods = ("tools/list_changed", "prompts/list_changed", "resources/list_changed")
    others = ("resources/updated", "list_changed/x", "tools/list_changed2")
    steps = [message(method=f"notifications/{name}") for name in (*methods, *others)]
    session, request = asked(*steps, result(1))
    request()
    assert session.list_changes == 3


def test_a_request_that_is_refused_is_told_with_its_code():
    for code in (-32601, "E1", None):
        _, request = asked(error(1, code))
        with pytest.raises(JsonRpcError) as refused:
            request()
        assert refused.value.code == code


def test_an_oversized_line_names_the_limit():
    _, request = asked(MessageTooLarge(1024), method="tools/call")
    assert failure(request) == (
        "the server sent more than 1024 bytes in one line during tools/call; the tool may have run"
    )


@pytest.mark.parametrize(
    ("step", "method", "words"),
    [
        (channel_closed(), "tools/list", "the server exited during tools/list"),
        (
            channel_closed(),
            "tools/call",
            "the server exited during tools/call; the tool may have run",
        ),
        (
            channel_closed(input_closed=True),
            "tools/list",
            "the server closed its input during tools/list",
        ),
        (
            channel_closed(b'{"id":1,"resu'),
            "tools/list",
            'the server exited during tools/list; a line did not end: "{"id":1,"resu"',
        ),
        (
            channel_closed(b"bye"),
            "tools/list",
            'the server exited during tools/list; a line did not end: "bye"',
        ),
        (
            channel_closed(b"42"),
            "tools/list",
            'the server exited during tools/list; skipped 1 line: "42"',
        ),
    ],
)
def test_a_channel_that_is_closed_is_told_with_its_ending(step, method, words):
    session, request = asked(step, method=method)
    assert failure(request) == words
    assert session.channel.closed == 1


def test_the_last_response_counts_without_its_line_end():
    _, request = asked(channel_closed(result(1, a=1)))
    assert request().load() == {"a": 1}


def test_a_request_that_times_out_is_cancelled():
    session, request = asked(method="tools/call")
    words = failure(request, TimedOutError)
    assert words == "no answer to tools/call in 10 s (--timeout); the tool may have run"
    assert session.clock() == 10.0
    assert session.channel.sent[1:] == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": 1, "reason": "timeout"},
        }
    ]


def test_a_cancellation_carries_the_envelope_in_the_modern_era():
    session, request = asked(modern=True)
    failure(request, TimedOutError)
    params = session.channel.sent[1]["params"]
    assert (params["requestId"], next(iter(params["_meta"]))) == (
        1,
        "io.modelcontextprotocol/protocolVersion",
    )


def test_a_cancellation_names_a_string_id_as_a_string():
    session = session_over(Script())
    session.stage = "tools/list"
    session.send("tools/list", "{}", "a-1")
    failure(lambda: session.ask("tools/list", "{}", 1), TimedOutError)
    assert [sent["params"]["requestId"] for sent in session.channel.sent[2:]] == ["a-1", 1]


def test_a_timeout_in_the_handshake_names_its_own_option_and_cancels_nothing():
    session = session_over(Script())
    assert failure(lambda: session.ask("initialize", "{}", 2.5), TimedOutError) == (
        "no answer to the handshake in 2.5 s (--start-timeout)"
    )
    assert len(session.channel.sent) == 1


def test_a_timeout_tells_of_a_request_that_was_not_read_and_of_a_line_that_did_not_end():
    _, request = asked(ReceiveTimeout(b"half a li", unsent=True), unread=1)
    assert failure(request, TimedOutError) == (
        "no answer to tools/list in 10 s (--timeout), and not all of the request was read"
        '; a line did not end: "half a li"'
    )


def test_an_interrupt_cancels_the_request_and_goes_on_its_way():
    session, request = asked(Interrupted(2))
    with pytest.raises(Interrupted):
        request()
    assert session.channel.sent[1]["params"] == {"requestId": 1, "reason": "interrupted"}


def test_a_request_that_has_its_response_is_not_cancelled():
    session, request = asked(result(1), Interrupted(15))
    request()
    with pytest.raises(Interrupted):
        tools.pause(session, 1)
    assert len(session.channel.sent) == 1


def test_a_pause_lets_time_pass_and_attends_to_the_server():
    session = session_over(Script(PING, 0.25, PING))
    tools.pause(session, 1)
    assert session.clock() == 1.0
    assert [sent["id"] for sent in session.channel.sent] == [7, 7]


def test_a_server_that_ends_in_a_pause_is_told():
    session = session_over(Script(channel_closed(), ending="was ended by SIGSEGV"))
    assert (
        failure(lambda: tools.pause(session, 1))
        == "the server was ended by SIGSEGV during the handshake"
    )


def test_a_response_comes_in_time_up_to_the_deadline():
    _, request = asked(10, result(1, a=1))
    assert request().load() == {"a": 1}
    _, request = asked(10.5, result(1))
    assert failure(request, TimedOutError) == "no answer to tools/list in 10 s (--timeout)"


# -- channels to a URL -------------------------------------------------------------------------


def test_a_reply_that_is_no_message_is_the_failure_and_keeps_its_status():
    _, request = asked(Unanswered("answered with status 404", 404))
    with pytest.raises(HttpStatusError) as caught:
        request()
    assert str(caught.value) == "the server answered with status 404 during tools/list"
    assert caught.value.status == 404


def test_a_session_that_is_lost_is_the_failure_which_others_may_mend():
    session, request = asked(Unanswered("forgot", 404, session_lost=True), result(2))
    session.renew = pytest.fail
    assert failure(request, SessionLostError) == "the server forgot during tools/list"
    assert len(session.channel.sent) == 1


@pytest.mark.parametrize(("is_late", "told"), [(True, "no; the tool may have run"), (False, "no")])
def test_who_is_not_let_in_is_told_whether_that_came_late(is_late, told):
    _, request = asked(UnauthorizedError("no", is_late=is_late), method="tools/call")
    assert failure(request, UnauthorizedError) == told


# -- whether a call may have run ---------------------------------------------------------------

NOT_READ = {
    "it ended": (channel_closed(), "the server exited during tools/call"),
    "it closed its input": (
        channel_closed(input_closed=True),
        "the server closed its input during tools/call",
    ),
    "it is silent": (
        ReceiveTimeout(b"", unsent=True),
        "no answer to tools/call in 10 s (--timeout), and not all of the request was read",
    ),
}


def test_a_reply_that_is_not_read_is_not_taken_for_the_request():
    ping = message(id="p", method="ping")
    _, request = asked(ping, ReceiveTimeout(b"", unsent=True), method="tools/call", unread=1)
    assert failure(request, TimedOutError) == (
        "no answer to tools/call in 10 s (--timeout); the tool may have run"
    )


BROKEN_REQUEST = b'{"id":7,"method":"elicitation/create","params":{"a":NaN}}'


def test_a_request_that_cannot_be_read_fails_the_call_that_waits_for_its_response():
    _, request = asked(BROKEN_REQUEST, method="tools/call")
    assert failure(request) == (
        "the server sent a request that is not JSON: NaN is not a JSON value during tools/call"
        "; the tool may have run"
    )


def test_in_the_modern_era_such_a_line_is_skipped():
    session, request = asked(BROKEN_REQUEST, result(1), modern=True)
    assert request().load() == {}
    assert "skipped 1 line" in session.skipped.sentence()


@pytest.mark.parametrize(("step", "told"), NOT_READ.values(), ids=NOT_READ)
def test_a_call_that_was_not_read_has_not_run(step, told):
    _, request = asked(step, method="tools/call", unread=1)
    assert failure(request, (ServerError, TimedOutError)) == told


def test_a_call_that_was_not_read_has_not_run_whatever_was_sent_behind_it():
    _, request = asked(PING, PING, channel_closed(), method="tools/call", unread=3)
    assert failure(request) == "the server exited during tools/call"


def test_a_reply_that_was_not_read_says_nothing_of_the_call_before_it():
    _, request = asked(PING, PING, channel_closed(), method="tools/call", unread=2)
    assert failure(request) == "the server exited during tools/call; the tool may have run"


def test_a_label_says_what_a_message_is():
    session = session_over(Script(result(1), result(2), PING, result(3)))
    for method in ("server/discover", "initialize"):
        session.ask(method, "{}", 10)
    session.notify("notifications/initialized")
    session.ask("tools/call", "{}", 10, mirrored={"Mcp-Name": "t"})
    assert session.channel.labels == [
        Label("server/discover", "2026-07-28", is_request=True),
        Label("initialize", "", is_request=True),
        Label("notifications/initialized", "2025-11-25"),
        Label("tools/call", "2025-11-25", is_request=True, mirrored={"Mcp-Name": "t"}),
        Label("", "2025-11-25"),
    ]


def test_a_channel_is_told_when_nothing_is_open_any_more():
    script = Script(PING, result(2), result(1))
    session = session_over(script)
    for _ in range(2):
        session.send("tools/list", "{}")
    session.wait(10)
    assert script.settled == 0
    session.wait(10)
    assert script.settled == 1


def test_a_message_that_is_too_large_is_told_with_its_kind():
    _, request = asked(MessageTooLarge(50, "event"))
    assert failure(request) == "the server sent more than 50 bytes in one event during tools/list"
