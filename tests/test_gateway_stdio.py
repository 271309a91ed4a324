"""A client on descriptors: lines in, lines out, in bounded memory."""

import asyncio
import contextlib
import json
import os
import signal
import socket

import pytest
from gateways import FORM, FakeServer, FakeServers, catalog, run, until, value

from thrall_py.errors import OutputError
from thrall_py.gateway import audit
from thrall_py.gateway.core import offer
from thrall_py.gateway.front import stdio
from thrall_py.gateway.front.stdio import Ends
from thrall_py.gateway.relay.relay import Relay
from thrall_py.gateway.service import Service
from thrall_py.redact import Redactor

DONE = '"result":{"content":[]}'
HELLO = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}}}\n'


class Nowhere:
    waiting = 0

    def write(self, data):
        pass


def call(id_, **params):
    members = {"name": "echo", "arguments": {}, **params}
    message = {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": members}
    return json.dumps(message).encode() + b"\n"


def service(*steps, starting=None):
    offered = offer.make(catalog())
    servers = FakeServers(a=FakeServer(*steps))
    servers.starting = starting
    relay = Relay(servers, offered, "/c")
    return Service(offered, relay, audit.Log(Nowhere(), "text", Redactor()))


class Wire:
    """The client's ends of two pipes."""

    def __init__(self, reading, writing):
        self.reading = reading
        self.writing = writing
        self.came = b""

    def say(self, data):
        os.write(self.writing, data)

    def hang_up(self):
        os.close(self.writing)
        self.writing = -1

    async def next(self):
        """The next message."""
        while b"\n" not in self.came:
            with contextlib.suppress(BlockingIOError):
                self.came += os.read(self.reading, 1 << 16)
            await asyncio.sleep(0)
        line, _, self.came = self.came.partition(b"\n")
        return json.loads(line)


@pytest.fixture
def wire():
    """A Wire, and our ends of it."""
    (theirs, writing), (reading, ours) = os.pipe(), os.pipe()
    os.set_blocking(reading, False)
    wire = Wire(reading, writing)
    yield wire, Ends(theirs, ours)
    for descriptor in (theirs, ours, wire.reading, wire.writing):
        with contextlib.suppress(OSError):
            os.close(descriptor)


def serving(it, ends, max_message=1 << 20, grace=5):
    return asyncio.create_task(stdio.serve(it, ends, max_message, grace))


def conversation(wire, it, talk, **options):
    """Serve while `talk` goes on, hang up, and return what it returned, and the rest that came."""

    async def story():
        side, ends = wire
        task = serving(it, ends, **options)
        told = await talk(side)
        if side.writing >= 0:
            side.hang_up()
        assert await task is None
        rest = []
        with contextlib.suppress(BlockingIOError):
            side.came += os.read(side.reading, 1 << 20)
        rest = [json.loads(line) for line in side.came.splitlines()]
        return told, rest

    return run(story())


def test_requests_are_answered_a_line_each_and_the_end_of_input_ends_it(wire):
    async def talk(side):
        side.say(HELLO + b'\n\r\n{"jsonrpc":"2.0","id":"1","method":"ping"}')
        return await side.next()

    first, rest = conversation(wire, service(), talk)
    assert first["result"]["serverInfo"]["name"] == "thrall"
    assert rest == [{"jsonrpc": "2.0", "id": "1", "result": {}}]


def test_what_passes_through_is_to_the_letter(wire):
    async def step(forward, _listener):
        return f'"result":{{"content":[], "got":{{{forward.members}}}}}'

    async def story():
        side, ends = wire
        task = serving(service(step), ends)
        arguments = '{"z": 1e400, "é": "\\u00e9", "a":1.0}'
        side.say(HELLO)
        await side.next()
        side.say(
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":'
            + arguments.encode()
            + b"}}\n"
        )
        await until(lambda: arguments.encode() in side.came or not collect(side))
        side.hang_up()
        await task
        return side.came, arguments.encode()

    def collect(side):
        with contextlib.suppress(BlockingIOError):
            side.came += os.read(side.reading, 1 << 16)
        return True

    came, arguments = run(story())
    assert arguments in came


@pytest.mark.parametrize(
    ("line", "id_", "code"),
    [
        (b"garbage", None, -32700),
        (b"[]", None, -32600),
        (b'{"jsonrpc":"2.0","id":[],"method":"ping"}', None, -32600),
        (b"x" * 2000, None, -32600),
    ],
)
def test_what_is_no_message_is_an_error_and_what_follows_is_read(wire, line, id_, code):
    async def talk(side):
        side.say(line + b'\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        return [await side.next(), await side.next()]

    (refused, pong), _ = conversation(wire, service(), talk, max_message=1000)
    assert (refused["id"], refused["error"]["code"]) == (id_, code)
    assert pong["id"] == 1


def array(*messages):
    return b"[" + b",".join(each.strip() for each in messages) + b"]\n"


PING = b'{"jsonrpc":"2.0","id":"p","method":"ping"}'
NOTE = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'


def test_an_array_is_answered_with_an_array_when_the_last_of_it_is_answered(wire):
    release = asyncio.Event()

    async def slow(_forward, _listener):
        await release.wait()
        return DONE

    async def talk(side):
        side.say(HELLO)
        await side.next()
        side.say(array(call(1), PING, NOTE, b"1", call(1)) + call(2))
        alone = await side.next()
        release.set()
        return alone, await side.next()

    (alone, together), rest = conversation(wire, service(slow, DONE), talk)
    assert (alone["id"], rest) == (2, [])
    assert sorted(str(each["id"]) for each in together) == ["1", "1", "None", "p"]
    assert [each["error"]["code"] for each in together if "error" in each] == [-32600, -32600]


def test_what_is_cancelled_of_an_array_is_missing_and_one_without_responses_is_not_answered(wire):
    began = asyncio.Event()

    async def hangs(_forward, _listener):
        began.set()
        await asyncio.sleep(60)

    async def cancelled(side, *more):
        began.clear()
        side.say(array(call(1), *more))
        await began.wait()
        side.say(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n')

    async def talk(side):
        side.say(HELLO)
        await side.next()
        side.say(array(NOTE))
        await cancelled(side)
        await cancelled(side, PING)
        return await side.next()

    together, rest = conversation(wire, service(hangs, hangs), talk)
    assert (together, rest) == ([{"jsonrpc": "2.0", "id": "p", "result": {}}], [])


def test_an_array_that_is_no_batch_is_answered_with_one_error(wire):
    async def talk(side):
        side.say(b"[]\n[1,\n")
        return await side.next(), await side.next()

    told, rest = conversation(wire, service(), talk)
    assert ([each["error"]["code"] for each in told], rest) == ([-32600, -32700], [])


def test_an_id_that_is_open_is_refused_and_can_be_cancelled(wire):
    async def step(_forward, _listener):
        await asyncio.sleep(1000)

    async def talk(side):
        side.say(HELLO)
        await side.next()
        side.say(call(1) + call(1))
        refused = await side.next()
        note = {"method": "notifications/cancelled", "params": {"requestId": 1}}
        side.say(json.dumps({"jsonrpc": "2.0", **note}).encode() + b"\n" + call(1))
        return refused, await side.next()

    (refused, answered), rest = conversation(wire, service(step, DONE), talk)
    assert (refused["id"], refused["error"]["code"]) == (1, -32600)
    assert (answered["id"], answered["result"]) == (1, {"content": []})
    assert rest == []


def test_what_a_server_asks_goes_to_the_client_and_its_answer_back(wire):
    async def step(_forward, listener):
        told = await listener.asked("elicitation/create", value(FORM))
        return f'"result":{{"content":[],"told":{{{told}}}}}'

    async def talk(side):
        side.say(HELLO + call(1))
        await side.next()
        asked = await side.next()
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "decline"}}
        side.say(json.dumps(answer).encode() + b"\n")
        return asked, await side.next()

    (asked, answered), _ = conversation(wire, service(step), talk)
    assert asked["method"] == "elicitation/create"
    assert answered["result"]["told"] == {"result": {"action": "decline"}}


def test_a_modern_request_needs_no_handshake_and_gets_progress_before_its_response(wire):
    async def step(_forward, listener):
        listener.progressed(value('{"progressToken":0,"progress":1}'))
        late.append(listener)
        return DONE

    late = []
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": "p",
    }

    async def talk(side):
        side.say(call(1, _meta=meta))
        came = [await side.next(), await side.next()]
        late[0].progressed(value('{"progressToken":0,"progress":2}'))
        return came

    (progress, answered), rest = conversation(wire, service(step), talk)
    assert progress["params"] == {"progressToken": "p", "progress": 1}
    assert answered["result"]["resultType"] == "complete"
    assert rest == []


def test_requests_that_are_open_at_the_end_of_input_have_the_grace_and_an_error_then(wire):
    async def quick(_forward, _listener):
        await asyncio.sleep(0.05)
        return DONE

    async def slow(_forward, _listener):
        await asyncio.sleep(1000)

    async def talk(side):
        side.say(HELLO + call(1) + call(2))
        return await side.next()

    _, rest = conversation(wire, service(quick, slow), talk, grace=0.3)
    assert [message["id"] for message in rest] == [1, 2]
    assert rest[1]["error"] == {
        "code": -32603,
        "message": "the input ended, and 0.3 s later (--grace) there was no answer; what was called"
        " may have run: keep the input open until everything is answered",
    }


def test_a_server_that_is_being_started_at_the_end_of_input_has_its_start_before_the_grace(wire):
    starting = asyncio.Event()

    async def cold(_forward, _listener):
        await asyncio.sleep(0.5)  # longer than the grace
        starting.set()
        await asyncio.sleep(0)
        return DONE

    async def talk(side):
        side.say(HELLO + call(1))
        return await side.next()

    _, rest = conversation(wire, service(cold, starting=starting), talk, grace=0.3)
    assert [(message["id"], message["result"]) for message in rest] == [(1, {"content": []})]


def test_what_a_client_cancelled_or_a_signal_ended_is_not_answered(wire):
    async def slow(_forward, _listener):
        await asyncio.sleep(1000)

    async def story():
        side, ends = wire
        task = serving(service(slow, slow), ends)
        side.say(HELLO + call(1) + call(2))
        await side.next()
        note = {"method": "notifications/cancelled", "params": {"requestId": 1}}
        side.say(json.dumps({"jsonrpc": "2.0", **note}).encode() + b"\n")
        os.kill(os.getpid(), signal.SIGTERM)
        signum = await task
        with pytest.raises(BlockingIOError):
            os.read(side.reading, 1)
        return signum

    assert run(story()) == signal.SIGTERM


def test_while_nobody_reads_nothing_more_is_taken_in(wire, monkeypatch):
    monkeypatch.setattr(stdio, "_MOST_WAITING", 100_000)
    made = []

    async def big(_forward, _listener):
        made.append(1)
        return f'"result":{{"content":[],"x":"{"x" * 60_000}"}}'

    async def story():
        side, ends = wire
        task = serving(service(*[big] * 100), ends)
        side.say(HELLO + b"".join(call(id_) for id_ in range(1, 101)))
        await until(lambda: made)
        for _ in range(1000):
            await asyncio.sleep(0)
        before = len(made)
        ids = {(await side.next())["id"] for _ in range(101)}
        side.hang_up()
        await task
        return before, ids

    before, ids = run(story())
    assert before < 50
    assert ids == set(range(101))


def test_a_large_answer_behind_too_much_that_nobody_reads_is_an_error(wire, monkeypatch):
    monkeypatch.setattr(stdio, "_MOST_WAITING", 100_000)

    async def big(_forward, _listener):
        await asyncio.sleep(0.01)
        return f'"result":{{"content":[],"x":"{"x" * 300_000}"}}'

    async def story():
        side, ends = wire
        task = serving(service(big, big), ends, max_message=100_000)
        side.say(HELLO + call(1) + call(2))
        await asyncio.sleep(0.1)
        came = [await side.next() for _ in range(3)]
        side.hang_up()
        await task
        return came

    _, first, second = run(story())
    assert len(first["result"]["x"]) == 300_000
    assert "too large while so many" in second["error"]["message"]


def test_what_is_no_response_is_lost_while_nobody_reads(wire, monkeypatch):
    monkeypatch.setattr(stdio, "_MOST_WAITING", 100_000)
    has_answered = asyncio.Event()

    async def big(_forward, _listener):
        has_answered.set()
        return f'"result":{{"content":[],"x":"{"x" * 300_000}"}}'

    async def patient(_forward, listener):
        await has_answered.wait()
        await asyncio.sleep(0.01)
        listener.progressed(value('{"progressToken":1,"progress":1}'))
        return DONE

    async def story():
        side, ends = wire
        task = serving(service(patient, big), ends)
        side.say(HELLO + call(1, _meta={"progressToken": 1}) + call(2))
        await has_answered.wait()
        await asyncio.sleep(0.05)
        came = [await side.next() for _ in range(3)]
        side.hang_up()
        await task
        return came

    assert [message["id"] for message in run(story())] == [0, 2, 1]


def test_a_client_that_reads_nothing_any_more_ends_it(wire):
    async def story():
        side, ends = wire
        os.close(side.reading)
        task = serving(service(), ends)
        side.say(HELLO)
        await asyncio.wait([task])
        side.reading = side.writing  # closed once only
        return task.exception()

    assert isinstance(run(story()), BrokenPipeError)


def test_an_output_that_cannot_be_written_is_told(wire):
    _, ends = wire

    async def story():
        full = os.open("/dev/full", os.O_WRONLY)
        try:
            task = serving(service(), Ends(ends.reading, full))
            wire[0].say(HELLO)
            await asyncio.wait([task])
            return task.exception()
        finally:
            os.close(full)

    problem = run(story())
    assert isinstance(problem, OutputError)
    assert str(problem) == "cannot write to stdout: No space left on device"


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_and_is_told(wire, signum):
    async def story():
        side, ends = wire
        task = serving(service(), ends)
        side.say(HELLO)
        await side.next()
        os.kill(os.getpid(), signum)
        os.kill(os.getpid(), signal.SIGTERM)  # another one changes nothing
        return await task

    assert run(story()) == signum


def test_a_bug_of_the_front_is_not_hidden(wire, monkeypatch):
    def broken(_line):
        raise ZeroDivisionError

    monkeypatch.setattr(stdio.incoming, "read", broken)

    async def story():
        side, ends = wire
        task = serving(service(), ends)
        side.say(b"x\n")
        await task

    with pytest.raises(ZeroDivisionError):
        run(story())


def test_a_file_is_read_to_its_end_and_another_one_written(tmp_path):
    (tmp_path / "in").write_bytes(HELLO + b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    with open(tmp_path / "in", "rb") as reading, open(tmp_path / "out", "wb") as writing:
        ends = Ends(reading.fileno(), writing.fileno())
        assert run(stdio.serve(service(), ends, 1000, 1)) is None
    lines = (tmp_path / "out").read_bytes().splitlines()
    assert [json.loads(line)["id"] for line in lines] == [0, 1]


@pytest.mark.parametrize("is_read", [True, False])
def test_a_socket_serves_as_well_and_its_end_or_reset_is_the_end_of_input(is_read):
    async def story():
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                task = serving(service(), Ends(ours.fileno(), ours.fileno()))
                theirs.sendall(HELLO)
                await readable(theirs)
                answer = theirs.recv(65536 if is_read else 1)
            return answer[:1], await task

    async def readable(side):
        came = asyncio.Event()
        asyncio.get_running_loop().add_reader(side, came.set)
        await came.wait()
        asyncio.get_running_loop().remove_reader(side)

    assert run(story()) == (b"{", None)


def test_a_terminal_that_is_gone_is_the_end_of_input(terminal):
    async def story():
        task = serving(service(), Ends(terminal.theirs, terminal.theirs))
        await asyncio.sleep(0)
        os.dup2(nothing, terminal.ours)
        return await task

    nothing = os.open(os.devnull, os.O_RDONLY)
    assert run(story()) is None
    os.close(nothing)


def test_a_descriptor_that_somebody_else_emptied_is_waited_for_again(wire, monkeypatch):
    real, turns = os.read, []

    def read(descriptor, size):
        if descriptor == wire[1].reading and not turns:
            turns.append(1)
            raise BlockingIOError
        return real(descriptor, size)

    monkeypatch.setattr(os, "read", read)

    async def talk(side):
        side.say(HELLO)
        return await side.next()

    first, _ = conversation(wire, service(), talk)
    assert first["id"] == 0
    assert turns == [1]


def test_whoever_prints_by_accident_prints_to_stderr(replaced, tmp_path, feed):
    feed(b"input")
    with open(tmp_path / "out", "wb") as out, open(tmp_path / "err", "wb") as err:
        replaced(1, out.fileno())
        replaced(2, err.fileno())
        with stdio.taken() as ends:
            os.write(1, b"accident")
            inherited = os.read(0, 10)
            os.write(ends.writing, os.read(ends.reading, 10))
        os.write(1, b" again")
    assert inherited == b""
    assert (tmp_path / "out").read_bytes() == b"input again"
    assert (tmp_path / "err").read_bytes() == b"accident"
