import gzip
import itertools
import json
import os
import signal
import threading
import time

import pytest
from fakes import no_connection_for_calls
from loopback import (
    CLOSE,
    HOLD,
    RESET,
    TEXT,
    TOOL,
    at,
    chunk,
    error,
    event,
    legacy,
    modern,
    reply,
    result,
    say,
    stream,
)

from thrall_py.errors import (
    Interrupted,
    JsonRpcError,
    ServerError,
    TimedOutError,
    UnauthorizedError,
)
from thrall_py.transport.http import contact

PING = {"jsonrpc": "2.0", "id": "from-server", "method": "ping"}
PROGRESS = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}


def failure(call, *arguments, kind=ServerError, **options):
    with pytest.raises(kind) as caught:
        call(*arguments, **options)
    return str(caught.value)


# -- the eras ----------------------------------------------------------------------------------


def test_a_modern_server_is_probed_listed_and_called(serve, call):
    server = serve(modern())
    assert call(server) == TEXT
    assert server.methods == ["server/discover", "tools/list", "tools/call"]
    for asked in server.asked:
        assert asked.headers["mcp-protocol-version"] == "2026-07-28"
        assert asked.headers["mcp-method"] == asked.method
        assert asked.headers["accept"] == "application/json, text/event-stream"
        assert asked.headers["content-type"] == "application/json"
        assert asked.headers["host"] == f"127.0.0.1:{server.port}"
        assert "mcp-session-id" not in asked.headers
    assert server.asked[2].headers["mcp-name"] == "echo"


def test_a_legacy_server_gets_a_handshake_and_its_session_back(serve, call):
    server = serve(legacy(session="s-1"))
    assert call(server) == TEXT
    assert server.methods == [
        "server/discover",
        "initialize",
        "notifications/initialized",
        "tools/call",
        "DELETE",
    ]
    initialize, *later = server.asked[1:]
    assert not {"mcp-protocol-version", "mcp-method", "mcp-session-id"} & initialize.headers.keys()
    assert initialize.message["params"]["protocolVersion"] == "2025-11-25"
    for asked in later:
        assert asked.headers["mcp-session-id"] == "s-1"
        assert asked.headers["mcp-protocol-version"] == "2025-11-25"


@pytest.mark.parametrize("id_", ["s 1", "s\x1b[31m", "é", "s\x7f", "a\tb"])
def test_a_session_id_that_may_not_be_is_none(serve, call, id_):
    server = serve(legacy(session=id_))
    assert call(server) == TEXT
    assert not any("mcp-session-id" in asked.headers for asked in server.asked)
    assert server.methods[-1] == "tools/call"


def test_a_server_without_a_session_is_left_without_a_word(serve, call):
    server = serve(legacy(revision="2024-11-05"))
    assert call(server) == TEXT
    assert server.methods[-1] == "tools/call"
    assert server.asked[-1].headers["mcp-protocol-version"] == "2024-11-05"


def test_a_session_counts_only_from_a_successful_initialize(serve, call):
    def refuses(asked):
        return [say(error(asked, -32600), 400, Mcp_Session_Id="throw-away")]

    server = serve(legacy(at("server/discover", lambda asked: refuses(asked)[0])))
    assert call(server) == TEXT
    assert not any("mcp-session-id" in asked.headers for asked in server.asked)


NO_ANSWERS = {
    "not found": reply(404, b"404 page not found", "text/plain"),
    "a method that is not allowed": reply(405),
    "an empty reply": reply(200),
    "accepted": reply(202, b"Accepted"),
    "a page": reply(200, b"<html>", "text/html"),
    "JSON of another kind": say({"error": "bad request"}, 400),
    "JSON that is no response": say({"ok": True}),
    "a stream that ends": b"".join(stream(event(PROGRESS))),
}


@pytest.mark.parametrize("answer", NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_a_server_that_has_no_message_for_the_probe_may_be_a_legacy_one(serve, call, answer):
    server = serve(legacy(at("server/discover", answer)))
    assert call(server) == TEXT
    assert server.methods[:2] == ["server/discover", "initialize"]


STOPS = {
    "load": (reply(429, b"slow down", Retry_After="30"),
             'answered with status 429, to be tried again after 30 and "slow down"'),
    "a fault": (reply(500, b"<html>\n <body>", "text/html"),
                'answered with status 500 (text/html) and "<html> <body>"'),
    "a fault without a word": (reply(502), "answered with status 502 and no body"),
    "another host": (reply(421), "answered with status 421 and no body"),
    "the end of the connection": (CLOSE, "closed the connection without an answer"),
    "a reset": (RESET, "closed the connection without an answer"),
    "the end in the head": ([b"HTTP/1.1 200 O", CLOSE],
                            "closed the connection in the middle of its answer"),
    "no HTTP": (b"\x00\x01\x02\r\n\r\n", "sent what is no HTTP/1.1"),
    "a head without end": (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 20_000, "sent what is no HTTP/1.1"),
}  # fmt: skip


@pytest.mark.parametrize(("step", "words"), STOPS.values(), ids=STOPS)
def test_what_says_nothing_of_the_era_is_the_failure(serve, call, step, words):
    server = serve(legacy(at("server/discover", *(step if isinstance(step, list) else [step]))))
    assert failure(call, server) == f"the server {words} during the handshake"
    assert server.methods == ["server/discover"]


def test_silence_is_a_failure_and_no_hint(serve, call):
    server = serve(legacy(at("server/discover", HOLD)))
    told = failure(call, server, kind=TimedOutError, start_timeout=0.2)
    assert told == "no answer to the handshake in 0.2 s (--start-timeout)"
    assert server.methods == ["server/discover"]


def test_the_revision_may_be_given(serve, call):
    server = serve(legacy(revision="2025-03-26"))
    assert call(server, revision="2025-03-26") == TEXT
    assert server.methods[0] == "initialize"


# -- pinned servers ----------------------------------------------------------------------------


def test_a_pinned_modern_server_is_listed_at_once(serve, call):
    server = serve(modern())
    assert call(server, remembered="2026-07-28") == TEXT
    assert server.methods == ["tools/list", "tools/call"]


@pytest.mark.parametrize("refusal", [reply(400, b"Bad Request"), None])
def test_a_server_that_is_not_modern_any_more_is_asked_anew(serve, call, refusal):
    def special(asked):
        if "mcp-method" not in asked.headers:
            return None
        return [refusal or say(error(asked, -32600), 400)]

    server = serve(legacy(special))
    assert call(server, remembered="2026-07-28") == TEXT
    assert server.methods[:3] == ["tools/list", "server/discover", "initialize"]


def test_a_modern_list_that_is_refused_twice_is_the_failure(serve, call):
    server = serve(modern(at("tools/list", lambda asked: say(error(asked, -32000)))))
    told = failure(call, server, kind=JsonRpcError, remembered="2026-07-28")
    assert told == 'the server refused tools/list with error -32000: "no"'
    assert server.methods == ["tools/list", "server/discover", "tools/list"]


def test_a_pinned_legacy_server_is_not_probed(serve, call):
    server = serve(legacy(session="s"))
    assert call(server, remembered="2025-11-25") == TEXT
    assert server.methods[0] == "initialize"


def test_a_pinned_legacy_server_that_became_modern_is_probed(serve, call):
    server = serve(modern())
    assert call(server, remembered="2025-11-25") == TEXT
    assert server.methods == ["initialize", "server/discover", "tools/list", "tools/call"]


def test_nobody_is_asked_twice_who_does_not_let_us_in(serve, call):
    server = serve(lambda _: [reply(401)])
    failure(call, server, kind=UnauthorizedError, remembered="2025-11-25")
    assert server.methods == ["initialize"]


# -- replies -----------------------------------------------------------------------------------

JSON = "application/json"
REPLIES = {
    "JSON": lambda asked: [say(result(asked, **TEXT))],
    "JSON with a charset": lambda asked: [
        reply(200, json.dumps(result(asked, **TEXT)).encode(), 'Application/JSON ; charset="UTF-8"')
    ],
    "JSON without a type": lambda asked: [reply(200, json.dumps(result(asked, **TEXT)).encode())],
    "a batch": lambda asked: [say([PROGRESS, result(asked, **TEXT)])],
    "gzip": lambda asked: [
        say(gzip.compress(json.dumps(result(asked, **TEXT)).encode()), Content_Encoding="gzip")
    ],
    "gzip that is none": lambda asked: [say(result(asked, **TEXT), Content_Encoding="x-gzip")],
    "to the end of the connection": lambda asked: [
        b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n",
        json.dumps(result(asked, **TEXT)).encode(),
        CLOSE,
    ],
    "after a hint": lambda asked: [
        b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", say(result(asked, **TEXT))
    ],
    "events": lambda asked: stream(event(PROGRESS), event(result(asked, **TEXT))),
    "gzip of events": lambda asked: [
        reply(200, gzip.compress(event(result(asked, **TEXT))), "text/event-stream",
              Content_Encoding="gzip")
    ],
    "a byte at a time": lambda asked: (
        each[at : at + 1]
        for each in stream(event(result(asked, **TEXT)))
        for at in range(len(each))
    ),
    "events of other kinds": lambda asked: stream(
        b": hello\n\n", event("heartbeat"), event("42"), event({}, event="ping"), b"id: 1\ndata\n\n",
        event(result(asked, **TEXT)),
    ),
    "a stream that stays open": lambda asked: [
        *stream(event(result(asked, **TEXT)), end=False), HOLD
    ],
    "two in one event": lambda asked: stream(event([PROGRESS, result(asked, **TEXT)])),
}  # fmt: skip


@pytest.mark.parametrize("respond", REPLIES.values(), ids=REPLIES)
@pytest.mark.parametrize("era", [legacy, modern])
def test_an_answer_may_come_in_many_ways(serve, call, era, respond):
    server = serve(era(lambda asked: respond(asked) if asked.method == "tools/call" else None))
    assert call(server) == TEXT
    assert server.methods.count("tools/call") == 1


RAN = "during tools/call; the tool may have run"
STRAY = (
    f'answered without a response {RAN}; skipped 1 line: "{{"id": 99, "result": {{}}}}"'
    " (is an answer with id 99, which nobody asked with)"
)
MOVED = (
    "redirects (status 303) to http://127.0.0.1:1/result, which is not followed"
    f" (if that is right, give it as the URL), {RAN}"
)
FAILURES = {
    "accepted": (lambda _: [reply(202)], f"answered with status 202 and no body {RAN}"),
    "another response": (
        lambda _: [say({"id": 99, "result": {}})],
        STRAY,
    ),
    "half a body": (
        lambda _: [b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", CLOSE],
        f"closed the connection in the middle of its answer {RAN}",
    ),
    "a stream without an answer": (
        lambda _: stream(event(PROGRESS)),
        f"ended its stream of events without a response {RAN}",
    ),
    "a stream that is cut": (
        lambda _: [*stream(event(PROGRESS), end=False), CLOSE],
        f"closed the connection in the middle of its answer {RAN}",
    ),
    "too large a body": (
        lambda asked: [say(result(asked, x="y" * (1 << 20)))],
        f"sent more than 1048576 bytes in one body {RAN}",
    ),
    "too large an event": (
        lambda asked: stream(event(result(asked, x="y" * (1 << 20)))),
        f"sent more than 1048576 bytes in one event {RAN}",
    ),
    "a bomb": (
        lambda _: [say(gzip.compress(bytes(9 << 20)), Content_Encoding="gzip")],
        f"sent more than 1048576 bytes in one body {RAN}",
    ),
    "broken gzip": (
        lambda _: [say(b"\x1f\x8bxxxxxxxxxxxx", Content_Encoding="gzip")],
        f"sent a gzip body that cannot be unpacked {RAN}",
    ),
    "another encoding": (
        lambda _: [reply(200, b"x", Content_Encoding="br")],
        f"compressed its answer in a way that was not asked for {RAN}",
    ),
    "a page": (
        lambda _: [reply(200, b"<html>" + b"x" * 9000, "text/html")],
        f'answered with status 200 (text/html) and "<html>{"x" * 194}..." {RAN}',
    ),
    "a fault": (lambda _: [reply(503)], f"answered with status 503 and no body {RAN}"),
    "the end": (lambda _: [CLOSE], f"closed the connection without an answer {RAN}"),
    "another place": (
        lambda _: [reply(303, Location="http://127.0.0.1:1/result?key=1")],
        MOVED,
    ),
    "other places without end": (
        lambda asked: [reply(307, Location=asked.target)],
        f"redirects without end (5 times) {RAN}",
    ),
}


@pytest.mark.parametrize(("respond", "words"), FAILURES.values(), ids=FAILURES)
def test_a_reply_without_an_answer_fails_the_call_which_is_not_repeated(
    serve, call, respond, words
):
    server = serve(modern(lambda asked: respond(asked) if asked.method == "tools/call" else None))
    assert failure(call, server) == f"the server {words}"
    assert server.methods.count("tools/call") == (5 if "5 times" in words else 1)


@pytest.mark.parametrize("status", [200, 400, 404, 500])
def test_an_error_of_json_rpc_is_one_whatever_the_status(serve, call, status):
    server = serve(modern(at("tools/call", lambda asked: say(error(asked, -32602), status))))
    told = failure(call, server, kind=JsonRpcError)
    assert told == 'the server refused tools/call with error -32602: "no"'


@pytest.mark.parametrize("status", [400, 404, 500])
@pytest.mark.parametrize("id_", ["server-error", 77, None])
def test_an_error_with_a_status_of_failure_is_the_answer_whatever_its_id(serve, call, id_, status):
    def refuse(asked):
        return say({**error(asked, -32602), "id": id_}, status)

    told = failure(call, serve(modern(at("tools/call", refuse))), kind=JsonRpcError)
    assert told == 'the server refused tools/call with error -32602: "no"'


def test_a_secret_in_a_body_is_masked_even_at_the_cut(serve, call, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "hunter-2222")
    page = b"<p>" + b"hunter-2222 " * 9000
    server = serve(lambda _: [reply(500, page, "text/html")])
    told = failure(call, server, headers={"Authorization": "Bearer ${MY_TOKEN}"})
    assert told.startswith('the server answered with status 500 (text/html) and "<p>*** ***')
    assert "hunter" not in told


# -- requests of the server --------------------------------------------------------------------


def test_a_request_of_the_server_is_answered_by_a_post_while_the_stream_goes_on(serve, call):
    replied = threading.Event()

    def special(asked):
        if asked.verb == "POST" and not asked.method:
            return [reply(202), replied.set]
        if asked.method != "tools/call":
            return None
        return stream(event(PING), lambda: replied.wait(10), event(result(asked, **TEXT)))

    server = serve(legacy(special, session="s"))
    assert call(server) == TEXT
    (answer,) = [asked for asked in server.asked if asked.verb == "POST" and not asked.method]
    assert answer.message == {"jsonrpc": "2.0", "id": "from-server", "result": {}}
    assert answer.headers["mcp-session-id"] == "s"


UNHEARD = {
    "a fault": reply(500),
    "no way in": reply(401),
    "another place": reply(307, Location="http://127.0.0.1:1/x"),
    "no end of places": reply(307, Location="/mcp"),
    "the end": CLOSE,
    "a reset": RESET,
    "no HTTP": b"\x00\r\n\r\n",
}


@pytest.mark.parametrize("answer", UNHEARD.values(), ids=UNHEARD)
def test_whatever_a_reply_or_a_notification_brings_is_passed_over(serve, call, answer):
    replied = threading.Event()

    def special(asked):
        if asked.verb == "POST" and not asked.method:
            return [replied.set, answer]
        if asked.method == "notifications/initialized":
            return [answer]
        if asked.method != "tools/call":
            return None
        return stream(event(PING), lambda: replied.wait(10), event(result(asked, **TEXT)))

    server = serve(legacy(special))
    assert call(server) == TEXT
    assert server.methods.count("tools/call") == 1
    assert "reply" in server.methods


def test_a_reply_that_hangs_keeps_no_answer_waiting_and_is_the_last(serve, call, monkeypatch):
    monkeypatch.setattr(contact, "_PATIENCE", 0.1)
    done = [threading.Event(), threading.Event()]
    left = iter(done)
    post = contact.Contact.answer

    def reply_(*arguments):
        post(*arguments)
        next(left).set()

    monkeypatch.setattr(contact.Contact, "answer", reply_)

    def special(asked):
        if asked.verb == "POST" and not asked.method:
            return [HOLD]
        if asked.method != "tools/call":
            return None
        first, second = done
        return stream(
            event(PING), lambda: first.wait(10), event(PING), lambda: second.wait(10),
            event(result(asked, **TEXT)),
        )  # fmt: skip

    server = serve(legacy(special, session="s"))
    assert call(server) == TEXT
    assert server.methods[-3:] == ["tools/call", "reply", "DELETE"]


def test_nor_is_another_sent_in_the_end(serve, call, monkeypatch):
    monkeypatch.setattr(contact, "_PATIENCE", 0.1)
    hanging = threading.Event()

    def special(asked):
        if asked.verb == "POST" and not asked.method:
            return [hanging.set, HOLD]
        if asked.method != "tools/call":
            return None
        both = event(PING) + event(result(asked, **TEXT))
        return stream(event(PING), lambda: hanging.wait(10), both)

    server = serve(legacy(special, session="s"))
    assert call(server, grace=0) == TEXT
    assert server.methods[-3:] == ["tools/call", "reply", "DELETE"]


def test_a_reply_that_hangs_in_the_handshake_does_not_end_it(serve, call, monkeypatch):
    monkeypatch.setattr(contact, "_PATIENCE", 0.1)

    def special(asked):
        if asked.verb == "POST" and not asked.method:
            return [HOLD]
        if asked.method != "initialize":
            return None
        members = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
        return stream(event(PING) + event(result(asked, serverInfo={}, **members)))

    assert call(serve(legacy(special)), start_timeout=1) == TEXT


@pytest.fixture
def pinned_with_a_reply_due(serve, thrall):
    """Pin a server whose later lists come with a request that gets the reply `steps`."""

    def start(*steps):
        def special(asked):
            if asked.verb == "POST" and not asked.method:
                return steps
            if asked.method != "tools/list":
                return None
            return stream(event(PING) + event(result(asked, tools=[TOOL])))

        server = serve(legacy(session="s"))
        assert thrall("pin", "c.json", "--url", server.url).status == 0
        server.asked.clear()
        server.respond = legacy(special, session="s")
        return server

    return start


def test_a_call_that_a_signal_kept_from_being_sent_is_not_sent_in_the_end(
    thrall, pinned_with_a_reply_due
):
    server = pinned_with_a_reply_due(lambda: os.kill(os.getpid(), signal.SIGTERM), HOLD)
    assert thrall("call", "echo", "a=1", "--catalog", "c.json").status == 128 + signal.SIGTERM
    assert server.methods[-3:] == ["tools/list", "reply", "DELETE"]


def test_nor_is_one_that_a_reply_left_no_time_for(thrall, pinned_with_a_reply_due):
    server = pinned_with_a_reply_due(HOLD)
    words = ("call", "echo", "a=1", "--catalog", "c.json")
    assert thrall(*words, "--timeout", "0.3").status == 124
    assert "tools/call" not in server.methods
    assert server.methods[-1] == "DELETE"


def test_a_reply_that_is_still_due_is_sent_in_the_end(serve, call):
    def special(asked):
        if asked.method != "tools/call":
            return None
        return stream(event(PING) + event(result(asked, **TEXT)))

    server = serve(legacy(special))
    assert call(server) == TEXT
    assert server.methods[-2:] == ["tools/call", "reply"]


# -- sessions ----------------------------------------------------------------------------------

LOST = {
    "404": lambda _: reply(404),
    "404 and a page": lambda _: reply(404, b"<html>", "text/html"),
    "404 and an error": lambda asked: say(error(asked, -32600, "Session not found"), 404),
    "404 and an error of nobody": lambda asked: say(
        {**error(asked, -32001, "Session not found"), "id": None}, 404
    ),
    "404 and an error of another": lambda asked: say(
        {**error(asked, -32600, "Not found"), "id": "server-error"}, 404
    ),
    "400 and the word": lambda asked: say(
        {**error(asked, -32000, "Bad Request: No valid session ID provided"), "id": None}, 400
    ),
    "400 and the word to another": lambda asked: say(
        {**error(asked, -32600, "Bad Request: Missing session ID"), "id": "server-error"}, 400
    ),
}


def forgets(method, answer, times):
    """A special: the first `times` requests of a method find their session lost."""
    left = [times]

    def special(asked):
        if asked.method != method or not left[0]:
            return None
        left[0] -= 1
        return [answer(asked)]

    return special


@pytest.mark.parametrize("answer", LOST.values(), ids=LOST)
def test_a_lost_session_is_followed_by_one_new_handshake(serve, call, answer):
    server = serve(legacy(forgets("tools/call", answer, 1), session="s"))
    assert call(server) == TEXT
    assert server.methods[1:] == [
        *("initialize", "notifications/initialized", "tools/call"),
        *("initialize", "notifications/initialized", "tools/call", "DELETE"),
    ]
    assert "mcp-session-id" not in server.asked[4].headers


def test_a_session_that_is_lost_twice_is_the_failure(serve, call):
    server = serve(legacy(forgets("tools/call", LOST["404"], 2), session="s"))
    told = failure(call, server)
    assert told == ("the server does not know the session any more (status 404) during tools/call")
    assert server.methods.count("tools/call") == 2
    assert server.methods[-1] == "tools/call"


def test_a_new_session_whose_handshake_is_not_taken_is_the_failure(serve, call):
    def special(asked):
        if asked.method == "tools/call":
            return [reply(404)]
        again = server.methods.count("initialize") == 2
        return [HOLD] if asked.method == "notifications/initialized" and again else None

    server = serve(legacy(special, session="s"))
    told = failure(call, server, kind=TimedOutError, start_timeout=0.3)
    assert told == "no answer to the handshake in 0.3 s (--start-timeout)"
    assert server.methods.count("tools/call") == 1
    assert server.methods[-1] == "DELETE"


ANSWERS = {
    "404 and our result": (lambda asked: say(result(asked, **TEXT), 404), ServerError),
    "404 and our result in a batch": (
        lambda asked: say([PROGRESS, result(asked, **TEXT)], 404),
        ServerError,
    ),
    "404 and our error": (lambda asked: say(error(asked, -32602), 404), JsonRpcError),
    "404 and an event": (
        lambda asked: reply(404, event(result(asked, **TEXT)), "text/event-stream"),
        ServerError,
    ),
    "404 and an event about sessions": (
        lambda asked: reply(404, event(error(asked, -32600, "no session")), "text/event-stream"),
        ServerError,
    ),
    "400 and our error": (lambda asked: say(error(asked, -32602), 400), JsonRpcError),
    "400 and our error about sessions": (
        lambda asked: say(error(asked, -32603, "charged, but the checkout session is lost"), 400),
        JsonRpcError,
    ),
    "400 and our result about sessions": (
        lambda asked: say(result(asked, text="session id 7"), 400),
        ServerError,
    ),
    "400 and a page about sessions": (
        lambda _: reply(400, b"<html>PHP session id regenerated</html>", "text/html"),
        ServerError,
    ),
    "400 and no word": (lambda _: reply(400), ServerError),
    "410": (lambda _: reply(410), ServerError),
    "500 and an error about sessions": (
        lambda asked: say(error(asked, -32000, "Session not found"), 500),
        JsonRpcError,
    ),
    "200 and an error about sessions": (
        lambda asked: say(error(asked, -32000, "Session not found")),
        JsonRpcError,
    ),
}


@pytest.mark.parametrize(("answer", "kind"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_of_any_other_kind_is_no_lost_session_and_the_tool_runs_once(
    serve, call, answer, kind
):
    server = serve(legacy(forgets("tools/call", answer, 1), session="s"))
    told = failure(call, server, kind=kind)
    assert "know the session" not in told
    assert server.methods.count("tools/call") == server.methods.count("initialize") == 1
    assert server.methods[-1] == "DELETE"


@pytest.mark.parametrize("spell", [str, float])
@pytest.mark.parametrize("status", [400, 404])
def test_nor_is_one_with_our_id_in_another_spelling(serve, call, spell, status):
    def answer(asked):
        words = "the checkout session is lost" if status == 400 else "no such issue"
        return say({**error(asked, -32603, words), "id": spell(asked.id)}, status)

    server = serve(legacy(forgets("tools/call", answer, 1), session="s"))
    with pytest.raises((ServerError, JsonRpcError)):
        call(server)
    assert server.methods.count("tools/call") == 1


def test_not_found_without_a_session_is_what_it_says(serve, call):
    server = serve(legacy(at("tools/call", reply(404))))
    told = failure(call, server)
    assert told == (
        f"the server answered with status 404 and no body (is the path of the URL right?) {RAN}"
    )


def test_not_found_at_an_unusual_path_is_told_with_the_usual_one(serve, call):
    server = serve(lambda _: [reply(404)])
    told = failure(call, server, url=server.url.replace("/mcp", "/?q=/mcp"))
    assert told == (
        "the server answered with status 404 and no body"
        " (is the path of the URL right? many servers answer at /mcp) during the handshake"
    )


# -- streams that are resumed ------------------------------------------------------------------


def cut(*pieces, end=True):
    return lambda _: [*stream(*pieces, end=end), *([] if end else [CLOSE])]


def resuming(answers, first):
    """A special: the call gets `first`, each GET the next of the answers."""
    left = list(answers)
    wanted = []

    def special(asked):
        if asked.method == "tools/call":
            wanted.append(asked)
            return first(asked)
        return left.pop(0)(wanted[0]) if asked.verb == "GET" else None

    return special


def answered(asked):
    return stream(event(result(asked, **TEXT), id="last"))


PRIMING = b"id: cut-1\nretry: 1\ndata:\n\n"


@pytest.mark.parametrize("end", [True, False])
def test_a_stream_that_gave_an_id_is_resumed_behind_it(serve, call, end):
    server = serve(legacy(resuming([answered], cut(PRIMING, end=end)), session="s"))
    assert call(server) == TEXT
    (resumed,) = [asked for asked in server.asked if asked.verb == "GET"]
    assert resumed.headers["last-event-id"] == "cut-1"
    assert resumed.headers["accept"] == "text/event-stream"
    assert resumed.headers["mcp-session-id"] == "s"
    assert resumed.headers["mcp-protocol-version"] == "2025-11-25"


def test_a_stream_may_be_resumed_as_long_as_it_brings_something(serve, call):
    more = [cut(f"id: {number}\ndata:\n\n".encode()) for number in range(5)]
    server = serve(legacy(resuming([*more, answered], cut(PRIMING))))
    assert call(server) == TEXT
    ids = [asked.headers["last-event-id"] for asked in server.asked if asked.verb == "GET"]
    assert ids == ["cut-1", *"01234"]


def test_a_stream_that_is_resumed_in_vain_is_given_up(serve, call):
    nothing = cut(b": nothing\n\n")
    server = serve(legacy(resuming([nothing] * 3, cut(PRIMING))))
    told = failure(call, server)
    assert told == f"the server ended its stream of events without a response {RAN}"
    assert server.methods.count("GET") == 3


def test_a_server_that_is_just_restarting_is_asked_again(serve, call):
    gone = [lambda _: [b"HTTP/1.1 200 OK\r\n", CLOSE]] * 2
    server = serve(legacy(resuming([*gone, answered], cut(PRIMING))))
    assert call(server) == TEXT
    assert server.methods.count("GET") == 3


def test_a_stream_that_may_not_be_resumed_is_told(serve, call):
    server = serve(legacy(resuming([lambda _: [reply(405)]], cut(PRIMING))))
    assert failure(call, server) == (
        f"the server does not let its stream of events be resumed (status 405) {RAN}"
    )


def test_a_stream_that_may_be_resumed_with_another_token_only_is_told(serve, call):
    server = serve(legacy(resuming([lambda _: [reply(401)]], cut(PRIMING))))
    told = failure(call, server, kind=UnauthorizedError)
    assert told.startswith("the server wants a token (status 401)")
    assert told.endswith("; the tool may have run")


def test_a_call_that_is_not_let_in_has_not_run(serve, call):
    told = failure(call, serve(legacy(at("tools/call", reply(401)))), kind=UnauthorizedError)
    assert told.endswith("; none was sent")


@pytest.mark.parametrize("era", [legacy, modern])
def test_a_stream_without_an_id_or_of_the_modern_era_is_not_resumed(serve, call, era):
    id_ = b"id: 1\ndata:\n\n" if era is modern else b"id: \x01\ndata:\n\n"
    server = serve(era(resuming([], cut(id_))))
    assert (
        failure(call, server) == f"the server ended its stream of events without a response {RAN}"
    )


def test_the_deadline_ends_the_wait_for_a_retry(serve, call):
    server = serve(legacy(resuming([], cut(b"id: 1\nretry: 99999999\ndata:\n\n"))))
    told = failure(call, server, kind=TimedOutError, timeout=0.3)
    assert told == "no answer to tools/call in 0.3 s (--timeout); the tool may have run"
    assert server.methods[-1] == "notifications/cancelled"


# -- the end -----------------------------------------------------------------------------------


def test_a_timeout_cancels_a_legacy_request_and_ends_the_session(serve, call):
    server = serve(legacy(at("tools/call", HOLD), session="s"))
    told = failure(call, server, kind=TimedOutError, timeout=0.2)
    assert told == "no answer to tools/call in 0.2 s (--timeout); the tool may have run"
    assert server.methods[-3:] == ["tools/call", "notifications/cancelled", "DELETE"]
    asked, cancelled, _ = server.asked[-3:]
    assert cancelled.message["params"] == {"requestId": asked.id, "reason": "timeout"}
    assert cancelled.headers["mcp-session-id"] == "s"


def test_a_call_for_which_there_was_no_connection_in_time_has_not_run(serve, call, monkeypatch):
    no_connection_for_calls(monkeypatch)
    told = failure(call, serve(legacy()), kind=TimedOutError, timeout=7)
    assert told == (
        "no answer to tools/call in 7 s (--timeout), and not all of the request was read"
    )


def test_a_timeout_closes_the_stream_of_a_modern_request(serve, call):
    closed = threading.Event()

    def special(asked):
        if asked.method != "tools/call":
            return None
        return [*stream(event(PROGRESS), end=False), lambda: closed.wait(10), CLOSE]

    server = serve(modern(special))
    failure(call, server, kind=TimedOutError, timeout=0.2)
    closed.set()
    assert server.methods[-1] == "tools/call"


def test_a_server_that_trickles_does_not_extend_the_deadline(serve, call):
    def endless(asked):
        if asked.method != "tools/call":
            return None
        return itertools.chain(
            stream(end=False), itertools.cycle([chunk(b": x\n\n"), lambda: time.sleep(0.01)])
        )

    server = serve(legacy(endless))
    told = failure(call, server, kind=TimedOutError, timeout=0.3)
    assert told == "no answer to tools/call in 0.3 s (--timeout); the tool may have run"


def test_a_signal_stops_a_call_at_once_and_the_server_is_told(serve, call):
    def special(asked):
        if asked.method != "tools/call":
            return None
        return [lambda: os.kill(os.getpid(), signal.SIGTERM), HOLD]

    server = serve(legacy(special, session="s"))
    with pytest.raises(Interrupted):
        call(server)
    assert server.methods[-2:] == ["notifications/cancelled", "DELETE"]
    assert server.asked[-2].message["params"]["reason"] == "interrupted"


def test_a_second_signal_cuts_the_goodbye_that_hangs_short(serve, call, monkeypatch):
    monkeypatch.setattr(contact, "_GOODBYE", 60.0)

    def stop(*_):
        os.kill(os.getpid(), signal.SIGTERM)

    def special(asked):
        hangs = asked.method in ("tools/call", "notifications/cancelled") or asked.verb == "DELETE"
        return [stop, HOLD] if hangs else None

    server = serve(legacy(special, session="s"))
    started = time.monotonic()
    with pytest.raises(Interrupted):
        call(server, grace=60)
    assert server.methods[-2:] == ["notifications/cancelled", "DELETE"]
    assert time.monotonic() - started < 30


def test_without_grace_a_session_is_ended_all_the_same(serve, call):
    server = serve(legacy(session="s"))
    assert call(server, grace=0) == TEXT
    assert server.methods[-1] == "DELETE"


@pytest.mark.parametrize("grace", [0, 0.3])
def test_a_goodbye_that_hangs_takes_no_time_of_the_other(serve, call, grace):
    def special(asked):
        hangs = asked.method in ("tools/call", "notifications/cancelled") or asked.verb == "DELETE"
        return [HOLD] if hangs else None

    server = serve(legacy(special, session="s"))
    started = time.monotonic()
    failure(call, server, kind=TimedOutError, timeout=0.2, grace=grace)
    assert 0.2 + 2 * max(grace, 0.2) <= time.monotonic() - started < 20
    assert server.methods[-3:] == ["tools/call", "notifications/cancelled", "DELETE"]


@pytest.mark.parametrize("answer", [reply(405), reply(500), CLOSE])
def test_whatever_the_goodbye_brings_is_nobodys_business(serve, call, answer):
    server = serve(legacy(at("DELETE", answer), session="s"))
    assert call(server) == TEXT


@pytest.mark.parametrize("answer", [reply(204), reply(500), say({"id": None, "result": None})])
def test_whatever_a_notification_brings_is_passed_over(serve, call, answer):
    server = serve(legacy(at("notifications/initialized", answer)))
    assert call(server) == TEXT


# -- parameters in headers ---------------------------------------------------------------------

MARKED = {
    "name": "echo",
    "inputSchema": {"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}},
}
WRONG = {"name": "bad", "inputSchema": {"x-mcp-header": "Root", "type": "object"}}


def test_a_marked_argument_is_repeated_in_a_header(serve, call):
    server = serve(modern(tools=[MARKED]))
    assert call(server, '{"region":"é"}') == TEXT
    asked = server.asked[-1]
    assert asked.headers["mcp-param-region"] == "=?base64?w6k=?="
    assert asked.message["params"]["arguments"] == {"region": "é"}


def test_headers_that_do_not_fit_are_made_again_from_a_new_list_once(serve, call):
    lists = [[TOOL], [MARKED]]

    def special(asked):
        if asked.method == "tools/list":
            return [say(result(asked, tools=lists.pop(0)))]
        if asked.method == "tools/call" and "mcp-param-region" not in asked.headers:
            return [say(error(asked, -32020), 400)]
        return None

    server = serve(modern(special))
    assert call(server, '{"region":"x"}') == TEXT
    assert server.methods[1:] == ["tools/list", "tools/call"] * 2


def test_headers_that_never_fit_are_the_failure(serve, call):
    server = serve(modern(at("tools/call", lambda asked: say(error(asked, -32020), 400))))
    told = failure(call, server, kind=JsonRpcError)
    assert told == 'the server refused tools/call with error -32020: "no"'
    assert server.methods.count("tools/call") == 2


def test_a_tool_with_a_wrong_mark_cannot_be_called(serve, call):
    server = serve(modern(tools=[WRONG, TOOL]))
    told = failure(call, server, tool="bad")
    assert told == (
        "the server defines the tool in a way that nobody can call it:"
        ' x-mcp-header "Root" marks what is no parameter'
    )
    assert "tools/call" not in server.methods
    assert call(server) == TEXT


def test_a_tool_that_is_not_listed_is_called_all_the_same(serve, call):
    server = serve(modern())
    assert call(server, tool="名前") == TEXT
    assert server.asked[-1].headers["mcp-name"] == "=?base64?5ZCN5YmN?="


def test_a_round_of_input_required_is_called_again_with_its_state(serve, call):
    rounds = [{"resultType": "input_required", "requestState": "s"}, TEXT]

    def special(asked):
        if asked.method != "tools/call":
            return None
        return stream(event(result(asked, **rounds.pop(0))))

    server = serve(modern(special))
    assert call(server) == TEXT
    assert server.asked[-1].message["params"]["requestState"] == "s"


def test_what_is_missing_for_a_capability_is_told(serve, call):
    data = {"requiredCapabilities": {"sampling": {}}}
    server = serve(
        modern(at("tools/call", lambda asked: say(error(asked, -32021, data=data), 400)))
    )
    assert failure(call, server, kind=JsonRpcError) == (
        'the server refused tools/call with error -32021: "no", data'
        ' {"requiredCapabilities": {"sampling": {}}}'
    )


def test_the_end_of_the_handshake_is_part_of_it(serve, call):
    server = serve(legacy(at("notifications/initialized", HOLD), session="s"))
    told = failure(call, server, kind=TimedOutError, start_timeout=0.2)
    assert told == "no answer to the handshake in 0.2 s (--start-timeout)"
    assert server.methods[-2:] == ["notifications/initialized", "DELETE"]


def test_a_signal_ends_the_end_of_the_handshake(serve, call):
    stop = lambda: os.kill(os.getpid(), signal.SIGTERM)  # noqa: E731
    server = serve(legacy(lambda asked: [stop, HOLD] if asked.id is None and asked.body else None))
    with pytest.raises(Interrupted):
        call(server)
    assert server.methods[-1] == "notifications/initialized"
