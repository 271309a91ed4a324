"""The gateway on real sockets: slow, greedy, absent and too many clients; and how it ends."""

import asyncio
import contextlib
import gc
import json
import os
import resource
import signal
import socket

import pytest
from posting import MODERN, Service, message, within

from thrall_py.gateway import hosting
from thrall_py.gateway.front import address, connections, http, streams
from thrall_py.gateway.front.address import Door
from thrall_py.gateway.front.asgi import Application

SECONDS = 60


class Log:
    def __init__(self):
        self.told = []

    def tell(self, event, **facts):
        self.told.append((event, facts))


class Gateway:
    """One that serves within the loop of the test."""

    def __init__(self):
        self.service = Service()
        self.service.log = self.log = Log()
        serve = http.listen(Door("127.0.0.1:0", "", (), (), 1 << 20))
        self.port = address.of(serve.keywords["listening"][0]).port
        self.serving = asyncio.create_task(serve(self.service))

    async def connect(self):
        return await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 24)

    def head(self, method="POST", path="/mcp", *, length=None, **headers):
        lines = {"Host": f"127.0.0.1:{self.port}", "Content-Type": "application/json",
                 "Accept": "application/json, text/event-stream", **headers}  # fmt: skip
        if length is not None:
            lines["Content-Length"] = str(length)
        return "\r\n".join(
            [f"{method} {path} HTTP/1.1", *(f"{n}: {v}" for n, v in lines.items()), "", ""]
        ).encode()

    def call(self, tool, id_=1, **arguments):
        body = message("tools/call", id_, modern=True, name=tool, arguments=arguments)
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": tool}
        return self.head(length=len(body), **headers) + body


def run(test):
    """Run `test(gateway)`, then end the gateway by a signal, as its users do."""

    async def make():
        gateway = Gateway()
        await asyncio.sleep(0)
        with hosting.complaints(gateway.log):
            try:
                await test(gateway)
            finally:
                if not gateway.serving.done():
                    os.kill(os.getpid(), signal.SIGTERM)
                assert await gateway.serving == signal.SIGTERM

    within(SECONDS, make)


async def reply(reader):
    """Read one reply of a known length, or to the end of its chunks."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    status = int(head[0].split()[1])
    headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
    if "content-length" in headers:
        return status, headers, await reader.readexactly(int(headers["content-length"]))
    body = b""
    while size := int(await reader.readline(), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readline()
    return status, headers, body


async def until(is_so):
    while not is_so():  # noqa: ASYNC110 - there is no event of what is looked at
        await asyncio.sleep(0.01)


async def left(writer):
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


def test_the_address_is_the_first_thing_that_is_told():
    async def test(gateway):
        reader, writer = await gateway.connect()
        writer.write(gateway.head("GET", "/healthz"))
        status, headers, body = await reply(reader)
        assert (status, json.loads(body)["status"]) == (200, "ok")
        assert "server" not in headers
        assert gateway.log.told == [("listening", {"url": f"http://127.0.0.1:{gateway.port}/mcp"})]
        await left(writer)

    run(test)


def test_a_connection_is_kept_for_the_next_request_and_requests_may_be_sent_ahead():
    async def test(gateway):
        reader, writer = await gateway.connect()
        writer.write(gateway.call("tell", 1) + gateway.call("echo", 2) + gateway.call("tell", 3))
        bodies = [(await reply(reader))[2] for _ in range(3)]
        assert [b'"id":%d' % (n + 1) in body for n, body in enumerate(bodies)] == [True] * 3
        writer.write(gateway.call("echo", 4))
        assert b'"id":4' in (await reply(reader))[2]
        await left(writer)

    run(test)


def test_a_thousand_calls_at_once_with_the_same_id_get_their_own_answers():
    async def one(gateway, number):
        reader, writer = await gateway.connect()
        writer.write(gateway.call("echo", 1, number=number))
        _, _, body = await reply(reader)
        await left(writer)
        return json.loads(body)["result"]["echoed"]["number"]

    async def test(gateway):
        answers = await asyncio.gather(*(one(gateway, number) for number in range(1000)))
        assert answers == list(range(1000))

    run(test)


def test_a_client_that_hangs_up_cancels_its_call():
    async def test(gateway):
        _, writer = await gateway.connect()
        writer.write(gateway.call("wait", 5))
        await gateway.service.open.wait()
        writer.transport.abort()
        await until(lambda: gateway.service.cancelled)
        assert gateway.service.cancelled == ["5"]

    run(test)


def test_a_client_that_hangs_up_within_a_stream_cancels_its_call(monkeypatch):
    monkeypatch.setattr(streams, "_SILENCE", 0.01)

    async def test(gateway):
        reader, writer = await gateway.connect()
        writer.write(gateway.call("wait", 6))
        assert b"text/event-stream" in await reader.readuntil(b"\r\n\r\n")
        await left(writer)
        await until(lambda: gateway.service.cancelled)
        assert gateway.service.cancelled == ["6"]

    run(test)


def test_a_client_that_only_sends_no_more_gets_its_answers():
    async def test(gateway):
        reader, writer = await gateway.connect()
        writer.write(gateway.call("tell", 7) + gateway.call("echo", 8))
        writer.write_eof()
        bodies = [(await reply(reader))[2] for _ in range(2)]
        assert [b'"id":7' in bodies[0], b'"id":8' in bodies[1]] == [True, True]
        assert await reader.read() == b""
        await left(writer)

    run(test)


def test_a_client_that_sends_no_more_and_asks_nothing_is_gone_at_once():
    async def test(gateway):
        reader, writer = await gateway.connect()
        writer.write_eof()
        assert await reader.read() == b""
        await left(writer)

    run(test)


def test_a_client_that_sends_no_more_is_taken_to_be_gone_after_a_while(monkeypatch):
    monkeypatch.setattr(connections, "_LEAVING", 0.05)

    async def test(gateway):
        reader, writer = await gateway.connect()
        writer.write(gateway.call("wait", 9))
        writer.write_eof()
        assert await reader.read() == b""
        await until(lambda: gateway.service.cancelled)
        assert gateway.service.cancelled == ["9"]
        await left(writer)

    run(test)


def test_a_head_that_trickles_is_cut_off_and_one_between_two_requests_as_well(monkeypatch):
    monkeypatch.setattr(connections, "_HEAD", 0.2)

    async def test(gateway):
        silent, writer = await gateway.connect()
        with contextlib.suppress(ConnectionError):
            assert await silent.read() == b""
        await left(writer)
        reader, writer = await gateway.connect()
        writer.write(gateway.call("echo"))
        assert (await reply(reader))[0] == 200
        with contextlib.suppress(ConnectionError):
            while not reader.at_eof():
                writer.write(b"P")
                await asyncio.sleep(0.01)
                if writer.is_closing():
                    break
        await left(writer)
        assert gateway.service.cancelled == []

    run(test)


def test_a_call_may_take_longer_than_a_head(monkeypatch):
    monkeypatch.setattr(connections, "_HEAD", 0.05)

    async def test(gateway):
        reader, writer = await gateway.connect()
        writer.write(gateway.call("wait"))
        await gateway.service.open.wait()
        await asyncio.sleep(0.2)
        gateway.service.go.set()
        assert b'"waited":true' in (await reply(reader))[2]
        await left(writer)

    run(test)


def test_a_client_that_reads_nothing_is_cut_off(monkeypatch):
    monkeypatch.setattr(connections, "_UNREAD", 0.2)
    monkeypatch.setattr(streams, "_UNREAD", 1 << 24)  # more than the kernel keeps for a socket

    async def test(gateway):
        with socket.socket() as greedy:
            greedy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            greedy.connect(("127.0.0.1", gateway.port))
            greedy.sendall(gateway.call("flood"))
            await until(lambda: gateway.service.callers)
            await until(lambda: "run_asgi" not in str(asyncio.all_tasks()))
            assert gateway.log.told[1:] == []
            assert len(greedy.recv(1 << 24)) > 0

    run(test)


def test_a_slow_reader_gets_it_all(monkeypatch):
    monkeypatch.setattr(streams, "_UNREAD", 1 << 24)

    async def test(gateway):
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 14)
        slow.connect(("127.0.0.1", gateway.port))
        reader, writer = await asyncio.open_connection(sock=slow, limit=1 << 22)
        writer.write(gateway.call("flood"))
        await until(lambda: gateway.service.callers)
        _, _, body = await reply(reader)
        assert body.count(b"data: ") == 201
        await left(writer)

    run(test)


@pytest.mark.parametrize(
    "garbage",
    [
        b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 100_000,
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"POST /mcp HTTP/1.1\r\n\r\n",
    ],
)
def test_a_giant_head_and_what_is_no_http_are_refused(garbage):
    async def test(gateway):
        reader, writer = await gateway.connect()
        writer.write(garbage + b"\r\n\r\n")
        head = await reader.read()
        assert head.startswith(b"HTTP/1.1 400")
        await left(writer)

    run(test)


@pytest.mark.parametrize(
    "lines",
    [
        b"Content-Length: 2\r\nContent-Length: 2\r\n",
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"content-length:5\r\ntransfer-encoding:chunked\r\n",
        b"Content-Length: 2, 2\r\n",
        b"content-length :2,2\r\n",
        b"Content-Length: 2\nX: a\r\n",
        b"Content-Length: 2\n",
        b"Content-Length: 2\n\n",
        b"Content-Length: 2\r\nX: a\r\n b\r\n",
        b"Content-Length: 2\r\nX: a\r\n\tb\r\n",
    ],
)
def test_a_head_that_two_readers_may_read_as_two_is_refused_and_nothing_behind_it_is_read(lines):
    async def test(gateway):
        reader, writer = await gateway.connect()
        first = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + lines
        writer.write(gateway.call("echo") + first + b"\r\n0\r\n\r\n" + gateway.call("echo"))
        assert (await reply(reader))[0] == 200
        rest = await reader.read()
        assert rest.startswith(b"HTTP/1.1 400")
        assert b"connection: close" in rest.lower()
        assert rest.count(b"HTTP/1.1") == 1
        await left(writer)

    run(test)


def test_a_body_that_is_said_to_be_too_large_is_refused_before_it_comes():
    async def test(gateway):
        reader, writer = await gateway.connect()
        writer.write(gateway.head(length=1 << 40))
        assert (await reply(reader))[0] == 413
        await left(writer)

    run(test)


def test_a_body_that_is_too_large_is_refused_and_the_connection_lives():
    async def test(gateway):
        reader, writer = await gateway.connect()
        body = b"x" * (1 << 21)
        writer.write(gateway.head(length=len(body)) + body)
        assert (await reply(reader))[0] == 413
        writer.write(gateway.call("echo"))
        assert (await reply(reader))[0] == 200
        await left(writer)

    run(test)


def test_too_many_connections_are_sent_away(monkeypatch):
    async def test(gateway):
        monkeypatch.setattr(connections.Connection, "most", 3)
        writers = []
        for _ in range(3):
            reader, writer = await gateway.connect()
            writer.write(gateway.call("echo"))
            assert (await reply(reader))[0] == 200
            writers.append(writer)
        reader, writer = await gateway.connect()
        assert (await reply(reader))[0] == 503
        await left(writer)
        await left(writers.pop())
        while True:
            reader, writer = await gateway.connect()
            writer.write(gateway.call("echo"))
            with contextlib.suppress(ConnectionError):
                if (await reply(reader))[0] == 200:
                    break
            await left(writer)
        for each in (*writers, writer):
            await left(each)

    run(test)


@pytest.mark.parametrize(
    ("limits", "raised", "most"),
    [
        ((256, 4096), (4096, 4096), 2048),
        ((256, 1024), (1024, 1024), 512),
        ((256, resource.RLIM_INFINITY), (4096, resource.RLIM_INFINITY), 2048),
        ((20000, 20000), None, 2048),
    ],
)
def test_there_are_as_many_connections_as_descriptors_allow(monkeypatch, limits, raised, most):
    told = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _, wanted: told.append(wanted))
    monkeypatch.setattr(connections.Connection, "most", 0)
    connections.make_room()
    assert told == ([raised] if raised else [])
    assert connections.Connection.most == most


def test_a_signal_ends_streams_and_connections_and_cancels(monkeypatch):
    monkeypatch.setattr(streams, "_SILENCE", 0.01)

    async def test(gateway):
        reader, writer = await gateway.connect()
        idle, other = await gateway.connect()
        writer.write(gateway.call("wait", 7))
        await reader.readuntil(b"\r\n\r\n")
        os.kill(os.getpid(), signal.SIGTERM)
        assert await reader.read() == b"0\r\n\r\n"
        assert await idle.read() == b""
        assert gateway.service.cancelled == ["7"]
        await gateway.serving
        with pytest.raises(ConnectionRefusedError):
            await gateway.connect()
        await left(writer)
        await left(other)

    run(test)


def test_a_client_that_does_not_read_does_not_hold_up_the_end(monkeypatch):
    monkeypatch.setattr(http, "_FAREWELL", 0.1)
    monkeypatch.setattr(streams, "_UNREAD", 1 << 24)

    async def test(gateway):
        with socket.socket() as greedy:
            greedy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            greedy.connect(("127.0.0.1", gateway.port))
            greedy.sendall(gateway.call("flood"))
            await until(lambda: gateway.service.callers)
            os.kill(os.getpid(), signal.SIGTERM)
            assert await gateway.serving == signal.SIGTERM

    run(test)


def test_what_goes_wrong_in_the_application_is_told_in_the_log_and_the_gateway_lives(monkeypatch):
    async def broken(_application, _request):
        raise ZeroDivisionError("how could that be")

    async def test(gateway):
        reader, writer = await gateway.connect()
        with monkeypatch.context() as patched:
            patched.setattr(Application, "_reply", broken)
            writer.write(gateway.call("echo"))
            assert (await reader.read()).startswith(b"HTTP/1.1 500")
        await left(writer)
        [fault] = [facts["words"] for event, facts in gateway.log.told if event == "fault"]
        assert fault.endswith("ZeroDivisionError: how could that be")
        reader, writer = await gateway.connect()
        writer.write(gateway.call("echo"))
        assert (await reply(reader))[0] == 200
        await left(writer)

    run(test)


def test_a_service_that_fails_ends_the_reply_and_is_told_in_the_log():
    async def test(gateway):
        reader, writer = await gateway.connect()
        writer.write(gateway.call("bug"))
        assert (await reply(reader))[2] == b""
        await left(writer)
        while not [facts for event, facts in gateway.log.told if event == "fault"]:
            gc.collect()
            await asyncio.sleep(0.01)
        assert "ZeroDivisionError" in gateway.log.told[-1][1]["words"]

    run(test)
