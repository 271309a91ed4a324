"""A server on 127.0.0.1 that plays what it is told, byte by byte, and remembers what it was asked."""

import contextlib
import json
import os
import queue
import socket
import ssl
import struct
import threading
from typing import NamedTuple

from thrall_py.transport.endpoint import Endpoint

CERTIFICATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "loopback.pem")
CLOSE = object()  # a step: close the connection
RESET = object()  # a step: close it as a machine that crashed does
HOLD = object()  # a step: wait for the client to close it
TLS = object()  # a step: what follows is TLS


class Asked(NamedTuple):
    """One request as it came, and the number of its connection."""

    connection: int
    verb: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def message(self):
        return json.loads(self.body) if self.body else {}

    @property
    def method(self):
        return self.message.get("method")

    @property
    def id(self):
        return self.message.get("id")


class Loopback:
    """Answers each request with the steps that `respond` makes of it.

    A step is bytes, one of the above, or a function that is called.
    """

    def __init__(self, respond, tls=False):
        self.respond = respond
        self.asked = []
        self.faults = []
        self.tls = tls
        self._open = set()
        self._connections = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}/mcp"
        self._threads = []
        self._start(self._accept)

    @property
    def endpoint(self):
        return Endpoint(self.url, {})

    @property
    def methods(self):
        """What was asked: the JSON-RPC method, "reply", or the verb of HTTP."""
        return [
            (each.method or "reply") if each.verb == "POST" else each.verb for each in self.asked
        ]

    def close(self):
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for each in list(self._open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)
            assert not thread.is_alive()
        assert not self.faults, self.faults

    def _accept(self):
        while True:
            try:
                accepted, _ = self._listening.accept()
            except OSError:
                return
            self._connections += 1
            self._open.add(accepted)
            self._start(self._serve, accepted, self._connections)

    def _start(self, task, *arguments):
        self._threads.append(threading.Thread(target=task, args=arguments))
        self._threads[-1].start()

    def _serve(self, accepted, number):
        wire = accepted
        try:
            if self.tls:
                wire = self._secure(wire)
            reading = wire.makefile("rb")
            while asked := _read_request(reading, number):
                self.asked.append(asked)
                for step in self.respond(asked):
                    if step is TLS:
                        wire = self._secure(wire)
                        reading = wire.makefile("rb")
                    elif _play(wire, step):
                        return
        except OSError:
            return  # the client went away
        except Exception as fault:  # noqa: BLE001 - a test's mistake must not pass
            self.faults.append(fault)
        finally:
            self._open.discard(wire)
            wire.close()

    def _secure(self, wire):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        secured = context.wrap_socket(wire, server_side=True, do_handshake_on_connect=False)
        self._open.remove(wire)  # it lives on in the other
        self._open.add(secured)
        return secured


def _play(wire, step):
    """Do one step; whether the connection is gone."""
    if callable(step):
        step()
        return False
    if step is HOLD:
        wire.recv(1)
        return True
    if step is RESET:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return True
    if step is CLOSE:
        with contextlib.suppress(OSError):
            wire.shutdown(socket.SHUT_RDWR)
        return True
    wire.sendall(step)
    return False


def _read_request(reading, number):
    line = reading.readline().decode("latin-1")
    if not line:
        return None
    verb, target, _ = line.split(" ", 2)
    headers = {}
    while line := reading.readline().decode("latin-1").rstrip("\r\n"):
        name, _, value = line.partition(":")
        assert name.lower() not in headers, f"{name} is there twice"
        headers[name.lower()] = value.strip()
    body = reading.read(int(headers.get("content-length", 0)))
    return Asked(number, verb, target, headers, body)


def reply(status, body=b"", kind=None, **headers):
    """A whole reply. Headers are written with _ for -."""
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}"]
    lines += [f"Content-Type: {kind}"] if kind else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def say(message, status=200, **headers):
    """A reply in JSON."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return reply(status, body, "application/json", **headers)


def stream(*pieces, end=True, **headers):
    """A reply of events, in chunks."""
    lines = ["HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    yield "\r\n".join([*lines, "", ""]).encode("latin-1")
    for piece in pieces:
        yield piece if not isinstance(piece, bytes) else chunk(piece)
    if end:
        yield b"0\r\n\r\n"


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(message, **fields):
    """An event whose data is a message."""
    lines = [f"{name}: {value}" for name, value in fields.items()]
    data = message if isinstance(message, str) else json.dumps(message)
    return "\n".join([*lines, f"data: {data}", "", ""]).encode()


def result(asked, **members):
    return {"jsonrpc": "2.0", "id": asked.id, "result": members}


def error(asked, code, words="no", **more):
    return {"jsonrpc": "2.0", "id": asked.id, "error": {"code": code, "message": words, **more}}


TOOL = {"name": "echo", "inputSchema": {"type": "object"}}
TEXT = {"content": [{"type": "text", "text": "hi"}]}


def legacy(special=None, session=None, revision="2025-11-25", tools=(TOOL,)):
    """A server of the revisions with a handshake; `special` may answer first."""

    def respond(asked):
        steps = special(asked) if special else None
        if steps is not None:
            yield from steps
        elif asked.verb != "POST":
            yield reply(200 if asked.verb == "DELETE" else 405)
        elif asked.id is None or not asked.method:
            yield reply(202)
        elif asked.method == "initialize":
            given = {"Mcp_Session_Id": session} if session else {}
            about = {"name": "loop", "version": "1"}
            members = {"protocolVersion": revision, "capabilities": {"tools": {}}}
            yield say(result(asked, serverInfo=about, **members), **given)
        elif asked.method == "tools/list":
            yield say(result(asked, tools=list(tools)))
        elif asked.method == "tools/call":
            yield say(result(asked, **TEXT))
        else:
            yield say(error(asked, -32601))

    return respond


def modern(special=None, tools=(TOOL,)):
    """A server of 2026-07-28."""

    def respond(asked):
        steps = special(asked) if special else None
        if steps is not None:
            yield from steps
        elif asked.method == "server/discover":
            yield say(result(asked, supportedVersions=["2026-07-28"], capabilities={"tools": {}}))
        elif asked.method == "tools/list":
            yield say(result(asked, tools=list(tools)))
        elif asked.method == "tools/call":
            yield say(result(asked, **TEXT))
        else:
            yield say(error(asked, -32601), 404)

    return respond


class OldTransport:
    """HTTP+SSE around a server: GET opens the one stream on which it answers what is posted."""

    def __init__(self, respond, endpoint="/messages?session=1", posted=None):
        self.respond = respond
        self.endpoint = endpoint
        self.posted = posted or reply(202, b"Accepted")
        self.events = queue.Queue()  # None ends the stream

    def __call__(self, asked):
        if asked.verb == "GET":
            yield from stream(event(self.endpoint, event="endpoint"), end=False)
            while (answer := self.events.get(timeout=20)) is not None:
                yield answer if answer is CLOSE else chunk(answer)
            yield b"0\r\n\r\n"
        elif asked.target != self.endpoint:
            yield reply(405, b"Method Not Allowed", "text/plain")
        else:
            yield self.posted
            for step in self.respond(asked):
                body = step.partition(b"\r\n\r\n")[2] if isinstance(step, bytes) else step
                if body and asked.id is not None and asked.method:
                    self.events.put(event(body.decode()))


def at(method, *steps):
    """A special: these steps for that method, or verb, the rest as usual."""

    def special(asked):
        if method not in (asked.method, asked.verb):
            return None
        return [step(asked) if callable(step) else step for step in steps]

    return special
