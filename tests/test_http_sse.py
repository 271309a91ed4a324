import json
import threading

import pytest
from fakes import no_connection_for_calls
from loopback import CLOSE, HOLD, TEXT, OldTransport, at, error, event, legacy, reply, say, stream

from thrall_py.errors import JsonRpcError, ServerError, TimedOutError, UnauthorizedError
from thrall_py.transport.http import http_sse


@pytest.fixture
def serve_old(serve):
    """Start a server of the old transport; its streams end with the test."""
    started = []

    def start(*arguments, **options):
        old = OldTransport(*arguments, **options)
        started.append(old)
        server = serve(old)
        server.old = old
        return server

    yield start
    for old in started:
        old.events.put(None)


def failure(call, *arguments, kind=ServerError, **options):
    with pytest.raises(kind) as caught:
        call(*arguments, **options)
    return str(caught.value)


def test_a_server_of_the_old_transport_is_found_and_called(serve_old, call):
    server = serve_old(legacy(revision="2024-11-05"))
    assert call(server) == TEXT
    assert server.methods == [
        *("server/discover", "initialize", "GET"),
        *("initialize", "notifications/initialized", "tools/call"),
    ]
    assert server.asked[2].headers["accept"] == "text/event-stream"
    for asked in server.asked[3:]:
        assert asked.target == "/messages?session=1"
        assert asked.headers["content-type"] == "application/json"


def test_a_later_revision_may_be_spoken_over_it(serve_old, call):
    server = serve_old(legacy(revision="2025-11-25"))
    assert call(server, revision="2025-11-25") == TEXT
    assert server.methods[:2] == ["initialize", "GET"]


def test_a_pinned_server_of_the_old_transport_is_not_probed(serve_old, call):
    server = serve_old(legacy(revision="2024-11-05"))
    assert call(server, remembered="2024-11-05") == TEXT
    assert server.methods[:2] == ["initialize", "GET"]


def test_a_server_that_refuses_initialize_and_has_no_stream_is_told_by_the_first(serve, call):
    server = serve(lambda _: [reply(404, b"no page here", "text/plain")])
    told = failure(call, server)
    assert told == (
        'the server answered with status 404 (text/plain) and "no page here"'
        " (is the path of the URL right?) during the handshake"
    )
    assert server.methods == ["server/discover", "initialize", "GET"]


def test_a_server_that_fails_otherwise_is_not_taken_for_an_old_one(serve, call):
    server = serve(legacy(at("initialize", reply(406))))
    assert "status 406" in failure(call, server)
    assert "GET" not in server.methods


@pytest.mark.parametrize("endpoint", ["http://example.org/x", "http://[", "ftp://127.0.0.1/"])
def test_an_endpoint_of_another_origin_is_refused(serve_old, call, endpoint):
    server = serve_old(legacy(), endpoint=endpoint)
    told = failure(call, server)
    assert told == "the server names an endpoint that is not of its own origin"


def opened(*steps):
    """A server that refuses what is posted, and does these steps on GET."""
    return lambda asked: [reply(405)] if asked.verb == "POST" else steps


NO_STREAMS = {
    "another stream": list(stream(event("x"), b": nothing\n\n")),
    "the end": [CLOSE],
    "an error": [say(error(type("Asked", (), {"id": None}), -32000), 405)],
}


@pytest.mark.parametrize("steps", NO_STREAMS.values(), ids=NO_STREAMS)
def test_a_stream_that_names_no_endpoint_is_no_old_server(serve, call, steps):
    server = serve(opened(*steps))
    told = failure(call, server)
    assert told == "the server answered with status 405 and no body during the handshake"


def test_a_stream_that_stays_silent_is_no_old_server(serve, call, monkeypatch):
    monkeypatch.setattr(http_sse, "_ENDPOINT_WAIT", 0.2)
    server = serve(opened(*stream(b": nothing\n\n", end=False), HOLD))
    assert "status 405" in failure(call, server)


def test_the_deadline_goes_before_the_patience_with_a_silent_stream(serve, call):
    server = serve(opened(*stream(b": nothing\n\n", end=False), HOLD))
    told = failure(call, server, kind=TimedOutError, start_timeout=0.3)
    assert told == "no answer to the handshake in 0.3 s (--start-timeout)"


def test_a_server_that_lets_nobody_in_is_told(serve, call):
    server = serve(opened(reply(401)))
    assert "401" in failure(call, server, kind=UnauthorizedError)


def test_an_error_comes_as_an_event(serve_old, call):
    server = serve_old(legacy(at("tools/call", lambda asked: say(error(asked, -32602)))))
    told = failure(call, server, kind=JsonRpcError)
    assert told == 'the server refused tools/call with error -32602: "no"'


def test_a_post_that_is_refused_is_the_failure(serve, call):
    old = OldTransport(legacy())

    def respond(asked):
        return [reply(410, b"gone")] if asked.method == "tools/call" else old(asked)

    told = failure(call, serve(respond))
    old.events.put(None)
    assert told == (
        'the server answered with status 410 and "gone" during tools/call; the tool may have run'
    )


def test_a_call_for_which_there_was_no_connection_in_time_has_not_run(serve_old, call, monkeypatch):
    no_connection_for_calls(monkeypatch)
    told = failure(call, serve_old(legacy()), kind=TimedOutError, timeout=7)
    assert told == (
        "no answer to tools/call in 7 s (--timeout), and not all of the request was read"
    )


def test_an_error_may_stand_in_the_reply_to_a_post(serve, call):
    old = OldTransport(legacy())

    def respond(asked):
        refusal = say(error(asked, -32602), 400) if asked.method == "tools/call" else None
        return [refusal] if refusal else old(asked)

    failure(call, serve(respond), kind=JsonRpcError)
    old.events.put(None)


def test_a_stream_that_ends_is_the_failure(serve_old, call):
    server = serve_old(legacy())

    def special(asked):
        if asked.method != "tools/call":
            return None
        server.old.events.put(None)
        return []

    server.old.respond = legacy(special)
    told = failure(call, server)
    assert told == (
        "the server ended its stream of events during tools/call; the tool may have run"
    )


def test_a_timeout_cancels_and_closes_the_stream(serve_old, call):
    server = serve_old(legacy(at("tools/call")))
    failure(call, server, kind=TimedOutError, timeout=0.2)
    asked, cancelled = server.asked[-2:]
    assert cancelled.method == "notifications/cancelled"
    assert cancelled.message["params"]["requestId"] == asked.id


def test_a_request_of_the_server_is_answered(serve_old, call):
    server = serve_old(legacy())
    ping = event({"jsonrpc": "2.0", "id": "from-server", "method": "ping"})

    def special(asked):
        if asked.method == "tools/call":
            server.old.events.put(event("ignored", event="other"))
            server.old.events.put(ping)

    server.old.respond = legacy(special)
    assert call(server) == TEXT
    assert "reply" in server.methods


# -- the stream is read while the reply to a POST is due -----------------------------------------


def late(server_, first):
    """The old transport, but what `first` makes of a call comes before the reply to its POST."""
    old = OldTransport(legacy())

    def respond(asked):
        if asked.method == "tools/call":
            return first(old, asked)
        return old(asked)

    server = server_(respond)
    return old, server


def answer(asked, text="hi"):
    result_ = {"content": [{"type": "text", "text": text}]}
    return event(json.dumps({"jsonrpc": "2.0", "id": asked.id, "result": result_}))


@pytest.fixture
def serve_late(serve):
    started = []

    def start(first):
        old, server = late(serve, first)
        started.append(old)
        return server

    yield start
    for old in started:
        old.events.put(None)


def test_a_large_answer_is_read_before_the_reply_to_its_post(serve_late, call):
    def first(old, asked):
        old.events.put(answer(asked, "x" * 900_000))
        yield HOLD

    assert call(serve_late(first))["content"][0]["text"] == "x" * 900_000


def test_a_request_of_the_server_is_answered_before_the_reply_to_a_post(serve_late, call):
    answered = threading.Event()

    def first(old, asked):
        old.events.put(event(json.dumps({"jsonrpc": "2.0", "id": "p", "method": "ping"})))
        yield lambda: answered.wait(10)
        old.events.put(answer(asked))
        yield reply(202)

    server = serve_late(first)
    respond = server.respond

    def noting(asked):
        if asked.verb == "POST" and not asked.method:
            answered.set()
        return respond(asked)

    server.respond = noting
    assert call(server)["content"][0]["text"] == "hi"
    assert answered.is_set()


def test_an_answer_counts_even_if_its_post_is_closed_first(serve_late, call):
    def closing(old, asked):
        threading.Timer(0.2, old.events.put, [answer(asked)]).start()
        yield CLOSE

    assert call(serve_late(closing))["content"][0]["text"] == "hi"


def test_without_an_answer_a_post_that_was_closed_is_the_failure(serve_late, call, monkeypatch):
    monkeypatch.setattr(http_sse, "_LAST_EVENTS", 0.2)
    told = failure(call, serve_late(lambda *_: [CLOSE]))
    assert told == (
        "the server closed the connection without an answer during tools/call;"
        " the tool may have run"
    )


def test_silence_is_a_timeout_all_the_same(serve_late, call):
    told = failure(call, serve_late(lambda *_: [HOLD]), kind=TimedOutError, timeout=0.3)
    assert "no answer to tools/call in 0.3 s" in told


def test_what_comes_of_a_head_bit_by_bit_is_waited_for(serve_late, call):
    def first(old, asked):
        yield b"HTTP/1.1 202 Acc"
        old.events.put(answer(asked))
        yield b"epted\r\nContent-Length: 0\r\n\r\n"

    assert call(serve_late(first))["content"][0]["text"] == "hi"
