"""The stream of a GET, beside the reply to a call, on which a legacy server asks the user."""

import os
import signal
import threading
import time

import pytest
from fakes import Answering
from loopback import (
    CERTIFICATE,
    CLOSE,
    HOLD,
    RESET,
    TEXT,
    chunk,
    event,
    legacy,
    reply,
    result,
    say,
    stream,
)

from thrall_py.errors import InputNeededError, Interrupted, ServerError, TimedOutError
from thrall_py.protocol.channel import Label, ReceiveTimeout
from thrall_py.redact import Redactor
from thrall_py.transport.http.connection import Connection
from thrall_py.transport.http.contact import Contact, Elsewhere
from thrall_py.transport.http.origin import Origin
from thrall_py.transport.http.streamable import Streamable
from thrall_py.transport.http.waiting import Waiting, Woken

ASKED = {"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {"message": "Who?"}}
QUESTION = event(ASKED)


class Asker:
    """A server that asks on the stream of its GET, and holds the call until it is told.

    Args:
        answer: how it begins to answer the call before it asks: steps, made of the call.
        asks: the events on it.

    """

    def __init__(self, answer=lambda _: [], asks=(QUESTION,)):
        self.answer, self.asks = answer, asks
        self.called, self.told = threading.Event(), threading.Event()

    def __call__(self, asked):
        if asked.verb == "GET":
            return [*stream(end=False), lambda: self.called.wait(10), *map(chunk, self.asks), HOLD]
        if asked.verb == "POST" and not asked.method:
            return [self.told.set, reply(202)]
        if asked.method == "tools/call":
            return [
                *self.answer(asked),
                self.called.set,
                lambda: self.told.wait(10),
                *self.end(asked),
            ]
        return None

    def end(self, asked):
        begun = list(self.answer(asked))
        return [chunk(event(result(asked, **TEXT)))] if begun else [say(result(asked, **TEXT))]


@pytest.mark.parametrize(
    "answer", [lambda _: [], lambda _: stream(end=False)], ids=["no head", "a stream"]
)
@pytest.mark.parametrize("tls", [False, True])
def test_a_question_beside_the_reply_is_answered(serve, call, monkeypatch, answer, tls):
    monkeypatch.setenv("SSL_CERT_FILE", CERTIFICATE)
    user = Answering()
    server = serve(legacy(Asker(answer), session="s"), tls=tls)
    assert call(server, user=user) == TEXT
    assert user.asked == [{"": {"message": "Who?"}}]
    assert server.methods[2:] == [
        "notifications/initialized",
        "GET",
        "tools/call",
        "reply",
        "DELETE",
    ]
    get, _, told = server.asked[3:6]
    assert (get.headers["accept"], get.headers["mcp-session-id"]) == ("text/event-stream", "s")
    assert get.headers["mcp-protocol-version"] == "2025-11-25"
    assert told.message["result"] == {"action": "accept", "content": {"n": 1}}
    assert get.connection not in {server.asked[4].connection, told.connection}


def test_a_question_may_come_in_pieces_and_among_others(serve, call):
    whole = event(ASKED, id="1")
    pieces = (b": hello\n\n", whole[:9], whole[9:20], whole[20:] + event("x", event="other"))
    user = Answering()
    assert call(serve(legacy(Asker(asks=pieces))), user=user) == TEXT
    assert len(user.asked) == 1


def test_the_stream_is_not_asked_for_where_nobody_answers(serve, call):
    server = serve(legacy(session="s"))
    assert call(server) == TEXT
    assert "GET" not in server.methods


@pytest.mark.parametrize(
    "steps",
    [
        [reply(405)],
        [reply(401)],
        [reply(307, Location="https://evil.example/")],
        [reply(200, b"{}", "application/json")],
        [b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n"],
        [b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: br\r\n\r\n"],
        [b"what?\r\n\r\n", CLOSE],
        [CLOSE],
        [RESET],
        [HOLD],
        list(stream()),
        [*stream(event(ASKED)[:9], end=False), CLOSE],
        [*stream(b"data: " + b"x" * (1 << 21), end=False), HOLD],
        [*stream(end=False), HOLD],
    ],
)  # fmt: skip
def test_whatever_becomes_of_the_stream_the_call_is_answered(serve, call, steps):
    def special(asked):
        return steps if asked.verb == "GET" else None

    assert call(serve(legacy(special)), user=Answering()) == TEXT


@pytest.mark.parametrize(
    ("place", "name", "problem"),
    [
        (Origin, "start", ServerError("not reached")),
        (Connection, "begin", ReceiveTimeout(b"", unsent=True)),
    ],
)
def test_a_stream_that_cannot_be_opened_is_done_without(
    serve, call, monkeypatch, place, name, problem
):
    def fail(self, request, deadline):
        if request.method == "GET":
            raise problem
        return original(self, request, deadline)

    original = getattr(place, name)
    monkeypatch.setattr(place, name, fail)
    assert call(serve(legacy()), user=Answering()) == TEXT


def test_a_new_session_has_a_new_stream(serve, call):
    lost = []

    def special(asked):
        if asked.verb == "GET":
            return [*stream(end=False), HOLD]
        if asked.method == "tools/call" and not lost:
            lost.append(1)
            return [reply(404)]
        return None

    server = serve(legacy(special, session="s"))
    assert call(server, user=Answering()) == TEXT
    assert server.methods.count("GET") == 2


def test_input_that_is_not_given_cancels_the_call(serve, call):
    asker = Asker()
    server = serve(legacy(asker, session="s"))
    user = Answering(failure=InputNeededError("give a"))
    with pytest.raises(InputNeededError, match="^give a; the tool may have run$"):
        call(server, user=user)
    asker.told.set()
    assert server.methods[-2:] == ["notifications/cancelled", "DELETE"]


def test_a_question_that_nobody_asks_does_not_extend_the_deadline(serve, call):
    def special(asked):
        if asked.verb == "GET":
            return [*stream(end=False), HOLD]
        return [HOLD] if asked.method == "tools/call" else None

    with pytest.raises(TimedOutError, match="^no answer to tools/call in 0.2 s"):
        call(serve(legacy(special)), user=Answering(), timeout=0.2)


def test_a_signal_ends_the_wait_on_both(serve, call):
    def special(asked):
        if asked.verb == "GET":
            return [*stream(end=False), HOLD]
        kill = [lambda: os.kill(os.getpid(), signal.SIGTERM), HOLD]
        return kill if asked.method == "tools/call" else None

    with pytest.raises(Interrupted):
        call(serve(legacy(special)), user=Answering())


def test_a_call_that_is_redirected_is_made_there(serve, call):
    def special(asked):
        if asked.method == "tools/call" and asked.target == "/mcp":
            return [reply(307, Location="/there")]
        return None

    server = serve(legacy(special))
    assert call(server, user=Answering()) == TEXT
    assert [each.target for each in server.asked if each.method == "tools/call"] == [
        "/mcp",
        "/there",
    ]


def test_the_stream_is_watched_while_nothing_is_due(serve, interrupts):
    asker = Asker()
    asker.called.set()
    server = serve(legacy(asker))
    contact = Contact(server.endpoint, interrupts, Redactor(), grace=1, limit=1 << 20)
    channel = Streamable(contact, may_ask=True)
    channel.send(
        b'{"method":"notifications/initialized"}', Label("notifications/initialized", "2025-11-25")
    )
    channel.flush(time.monotonic() + 20)
    assert b'"Who?"' in channel.receive(time.monotonic() + 20)
    channel.close()


def test_what_comes_beside_wakes_only_if_there_is_a_message_in_it(interrupts):
    reading, writing = os.pipe()
    os.write(writing, b"12")

    class Beside:
        def fileno(self):
            return reading

        def take(self):
            return os.read(reading, 1) == b"2"

    waiting = Waiting(interrupts)
    with waiting.watching(Beside()), pytest.raises(Woken):
        waiting.until(time.monotonic() + 20)
    os.close(reading)
    os.close(writing)


def test_a_server_on_a_url_has_no_end_that_could_be_seen():
    assert not Elsewhere().has_ended()
