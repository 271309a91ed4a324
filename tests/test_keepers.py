"""Guards and carriers in this process, with the orders already said before they begin."""

import contextlib
import os
import signal
import socket
import sys

import loopback
import pytest
from loopback import TEXT, at, event, legacy, modern, reply, say, stream
from servers import command

from thrall_py.catalog.launch import LaunchSpec, UrlSpec
from thrall_py.errors import (
    HttpStatusError,
    Interrupted,
    JsonRpcError,
    ServerError,
    SessionLostError,
)
from thrall_py.protocol import mcp, wire
from thrall_py.protocol.channel import Label
from thrall_py.redact import Redactor
from thrall_py.transport import aside
from thrall_py.transport.aside import Line, Values, packed
from thrall_py.transport.process import Process
from thrall_py.verbs import guard
from thrall_py.verbs.carrier import Journey, Ticket, carrying
from thrall_py.verbs.connect import ConnectionOptions, prepare
from thrall_py.verbs.keeping import Came, Elsewhere, Failed, Gone, Leave, Opened, Post

CONNECTION = ConnectionOptions(timeout=10, start_timeout=10, grace=1, max_message=1 << 20)


@pytest.fixture
def keep(interrupts):
    """Call with a task and orders: what it told, and descriptors."""

    def run(task, *orders, hang_up=True, gone=False):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            for order in orders:
                ours.sendall(packed(order))
            if hang_up:
                ours.shutdown(socket.SHUT_WR)
            if gone:
                ours.close()
                task(Line(theirs, interrupts), interrupts)
                return None
            with contextlib.suppress(Interrupted):
                task(Line(theirs, interrupts), interrupts)
            theirs.close()
            data, descriptors = aside.take(ours)
            while chunk := ours.recv(1 << 20):
                data += chunk
            for each in descriptors:
                os.close(each)
            return [*Values().feed(data)]

    return run


def guarding(name, *words, **options):
    server = prepare(LaunchSpec(command(name, *words), {}), {}, fill_in=True)
    return guard.guarding(server, CONNECTION._replace(**options), None)


def carry(url, **journey):
    return carrying(prepare(UrlSpec(url, {}), {}, fill_in=True), CONNECTION, Journey(**journey))


def call(id_=7, revision="2025-11-25", method="tools/call"):
    message = wire.request(id_, method, '{"name":"echo","arguments":{}}')
    return Post(message, Label(method, revision, is_request=True, mirrored={}), id_)


# -- guards ----------------------------------------------------------------------------------------


def test_a_guard_opens_lends_and_ends(keep, graveyard):
    opened, ended = keep(guarding("good", graveyard.path, grace=0.1))
    assert isinstance(opened, Opened)
    assert (opened.server.name, opened.server.revision) == ("fake", "2025-11-25")
    assert (opened.read, opened.unsent) == (b"", b"")
    # Our copies of its pipes are still on their way to us, so it saw no end of its input.
    assert ended == Gone("was ended by SIGTERM")
    assert graveyard.words() == []


def test_a_guard_tells_why_a_server_does_not_open(keep):
    ((failed),) = keep(guarding("crash"))
    assert isinstance(failed, Failed)
    assert str(failed.problem).startswith("the server exited with status 7 during the handshake")


def test_a_guard_whose_gateway_is_gone_ends_the_server(keep, graveyard):
    assert keep(guarding("good", graveyard.path), gone=True) is None
    assert graveyard.words() == ["eof"]


def test_a_guard_that_is_stopped_ends_the_server(keep, graveyard, monkeypatch):
    real = guard.Process.stand_by

    def stop(process, descriptor):
        os.kill(os.getpid(), signal.SIGTERM)
        real(process, descriptor)

    monkeypatch.setattr(guard.Process, "stand_by", stop)
    told = keep(guarding("good", graveyard.path, grace=0.1), hang_up=False)
    assert [type(each) for each in told] == [Opened]
    assert graveyard.words() == []


def test_nobody_is_asked_before_the_session_is_open():
    asked = {"": mcp.Asked("elicitation/create", None)}
    assert Elsewhere().answer(asked, Redactor(), lambda: False) == {"": '{"action":"decline"}'}


def test_a_guard_whose_server_fails_ends_what_is_left_of_it(keep):
    program = (
        "import sys, json, os\n"
        "asked = json.loads(sys.stdin.readline())\n"
        "about = {'protocolVersion': '2025-11-25', 'capabilities': {}}\n"
        "print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': about}), flush=True)\n"
        "sys.stdin.readline()\n"
        "sys.exit(7)\n"
    )
    launch = LaunchSpec((sys.executable, "-c", program), {})
    server = prepare(launch, {}, fill_in=True)
    opened, ended = keep(guard.guarding(server, CONNECTION, "2025-11-25"), hang_up=False)
    assert opened.server.revision == "2025-11-25"
    assert ended == Gone("exited with status 7")


def test_what_a_server_has_not_read_is_lent_with_its_pipes(interrupts):
    argv = command("never_reads")
    process = Process(
        prepare(LaunchSpec(argv, {}), {}, fill_in=True).command, interrupts, grace=0, limit=1 << 20
    )
    process.send(b"x" * 3_000_000)
    assert process.receive(float("inf")) == b"ready"
    loan = process.lend()
    assert 0 < len(loan.unsent) < 3_000_000
    assert process.close() == "was ended by SIGTERM"


def test_with_everything_read_the_pipes_are_lent_as_they_are(interrupts):
    launch = prepare(LaunchSpec(command("never_reads"), {}), {}, fill_in=True)
    process = Process(launch.command, interrupts, grace=0, limit=1 << 20)
    assert process.receive(float("inf")) == b"ready"
    assert process.lend()[2:] == (b"", b"")
    process.close()


# -- carriers --------------------------------------------------------------------------------------


def test_a_carrier_opens_posts_and_leaves_the_session_to_others(keep, serve):
    server = serve(legacy(session="s"))
    opened, came = keep(carry(server.url), call())
    assert (opened.session, opened.server.name) == (b"s", "loop")
    assert came == Came(came.message, is_last=True)
    assert b'"hi"' in came.message
    assert "DELETE" not in server.methods


def test_a_carrier_that_is_told_to_ends_the_session(keep, serve):
    server = serve(legacy(session="s"))
    keep(carry(server.url), Leave())
    assert server.methods[-1] == "DELETE"


def test_a_carrier_for_one_call_ends_the_session_in_any_case(keep, serve):
    server = serve(legacy(session="s"))
    opened, _ = keep(carry(server.url, alone=True), call())
    assert opened.session is None
    assert server.methods[-1] == "DELETE"


def test_a_carrier_joins_a_session_without_a_handshake(keep, serve):
    server = serve(legacy(session="s"))
    ticket = Ticket(mcp.ServerInfo("2025-06-18", "loop"), b"s")
    opened, came = keep(carry(server.url, ticket=ticket), call(revision="2025-06-18"), Leave())
    assert (opened.server, came.is_last) == (ticket.server, True)
    assert server.methods == ["tools/call", "DELETE"]
    assert server.asked[0].headers["mcp-session-id"] == "s"
    assert server.asked[1].headers["mcp-protocol-version"] == "2025-06-18"


def test_a_carrier_that_joined_can_end_a_session_without_a_request(keep, serve):
    server = serve(legacy(session="s"))
    ticket = Ticket(mcp.ServerInfo("2025-06-18"), b"s")
    keep(carry(server.url, ticket=ticket), Leave())
    assert [each.headers["mcp-protocol-version"] for each in server.asked] == ["2025-06-18"]


def test_a_carrier_tells_why_the_session_does_not_open(keep, serve):
    server = serve(legacy(at("initialize", lambda asked: say(loopback.error(asked, -5)))))
    ((failed),) = keep(carry(server.url))
    assert isinstance(failed.problem, JsonRpcError)
    assert failed.problem.code == -5


@pytest.mark.parametrize(
    ("steps", "kind", "sentence"),
    [
        ([reply(404)], SessionLostError, "does not know the session any more"),
        ([reply(500)], HttpStatusError, "500.*during tools/call; the tool may have run$"),
        ([say({"x": "x" * (1 << 20)})], ServerError, "sent more than 1048576 bytes in one body"),
    ],
)
def test_a_request_without_an_answer_ends_the_carrier(keep, serve, steps, kind, sentence):
    server = serve(legacy(at("tools/call", *steps), session="s"))
    _, failed = keep(carry(server.url), call(), call(8))
    with pytest.raises(kind, match=sentence):
        raise failed.problem
    assert server.methods.count("tools/call") == 1


def asks(asked):
    if asked.method != "tools/call":
        return None
    question = {"jsonrpc": "2.0", "id": "q", "method": "ping"}
    return stream(event("no JSON"), event(question), event(loopback.result(asked, **TEXT)))


def test_a_question_goes_up_and_its_answer_is_posted(keep, serve):
    server = serve(legacy(asks, session="s"))
    answer = Post(b'{"jsonrpc":"2.0","id":"q","result":{}}\n', Label("", "2025-11-25", mirrored={}))
    _, stray, question, came = keep(carry(server.url), answer, call(), answer)
    assert (stray.message, stray.is_last) == (b"no JSON", False)
    assert (b"ping" in question.message, came.is_last) == (True, True)
    assert server.methods.count("reply") == 1  # the first one answers nothing


def test_a_modern_server_gets_no_answers(keep, serve):
    server = serve(modern(asks))
    *_, came = keep(carry(server.url), call(revision="2026-07-28"))
    assert came.is_last
    assert "reply" not in server.methods


def test_a_carrier_whose_gateway_goes_while_it_is_asked_leaves(keep, serve):
    server = serve(legacy(asks, session="s"))
    told = keep(carry(server.url), call())
    assert [type(each) for each in told] == [Opened, Came, Came]


@pytest.mark.parametrize(("make", "count"), [(legacy, 1), (modern, 0)])
def test_a_carrier_that_is_stopped_cancels_the_request(keep, serve, make, count):
    def stop():
        os.kill(os.getpid(), signal.SIGTERM)

    server = serve(make(at("tools/call", lambda _: stop, loopback.HOLD)))
    revision = "2026-07-28" if make is modern else "2025-11-25"
    told = keep(carry(server.url), call(revision=revision), hang_up=False)
    assert [type(each) for each in told] == [Opened]
    assert server.methods.count("notifications/cancelled") == count
