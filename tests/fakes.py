"""A server without a process: a channel that responds from a list or a function, on a fake clock."""

import json
from collections import deque

from thrall_py.protocol.channel import ChannelClosed, ReceiveTimeout
from thrall_py.protocol.jsontext import scan
from thrall_py.protocol.session import Session
from thrall_py.redact import Redactor

PROBE = "thrall-probe"
MOST_RECEIVES = 20_000  # a conversation that goes on for longer would never end


class Script:
    """A Channel over steps: bytes are a line, a number lets seconds pass, an exception is raised.

    `respond` is given every message as it is sent and returns further steps. A closed channel stays
    closed; when there are no steps left, the deadline passes. A script that is its own clock starts at 0.
    """

    def __init__(self, *steps, respond=None, unread=0, ending="exited", headers=False):
        self.has_headers = headers
        self.labels = []
        self.settled = 0
        self.steps = deque(steps)
        self.respond = respond or silent
        self.leaves_unread = unread  # how many messages, counted from the last one
        self.ending = ending
        self.now = 0.0
        self.sent = []
        self.sizes = []
        self.receives = 0
        self.closed = 0

    def clock(self):
        return self.now

    def send(self, message, label):
        self.labels.append(label)
        assert message.endswith(b"\n")
        assert message.count(b"\n") == 1
        self.sent.append(json.loads(message))
        self.sizes.append(len(message))
        self.steps.extend(self.respond(self.sent[-1]))

    def receive(self, deadline):
        self.receives += 1
        assert self.receives < MOST_RECEIVES, "it would never end"
        while self.steps:
            step = self.steps.popleft()
            if isinstance(step, bytes):
                return bytearray(step)
            if isinstance(step, BaseException):
                if isinstance(step, ChannelClosed):
                    self.steps.appendleft(step)
                raise step
            if self.now + step > deadline:
                self.steps.appendleft(self.now + step - deadline)
                break
            self.now += step
        self.now = max(self.now, deadline)
        raise ReceiveTimeout(b"", unsent=False)

    def flush(self, deadline):
        assert deadline

    def settle(self):
        self.settled += 1

    def has_ended(self):
        return False

    def unread_by_server(self):
        return sum(self.sizes[max(0, len(self.sizes) - self.leaves_unread) :])

    def close(self):
        self.closed += 1
        return self.ending


class Answering:
    """A user who agrees to everything, or fails; `takes` seconds of a script's time."""

    unused = ()

    def __init__(self, *modes, script=None, takes=0.0, failure=None):
        self.modes = modes or ("form", "url")
        self.asked = []
        self.refusals = []
        self.script = script
        self.takes = takes
        self.failure = failure

    def answer(self, requests, _redact, _has_ended):
        self.asked.append(
            {name: each.params and each.params.load() for name, each in requests.items()}
        )
        if self.script:
            self.script.now += self.takes
        if self.failure:
            raise self.failure
        return {
            name: f'{{"action":"accept","content":{{"n":{len(self.asked)}}}}}' for name in requests
        }


def no_connection_for_calls(monkeypatch):
    """Let the deadline pass before there is a connection for a tools/call to a URL."""
    from thrall_py.transport.http.origin import Origin

    def start(origin, request, deadline):
        if b"tools/call" in request.body:
            raise ReceiveTimeout(b"", unsent=True)
        return real(origin, request, deadline)

    real = Origin.start
    monkeypatch.setattr(Origin, "start", start)


def channel_closed(partial=b"", *, input_closed=False):
    return ChannelClosed(bytearray(partial), input_closed=input_closed)


def session_over(script, *secrets, user=None):
    return Session(script, script.clock, Redactor(secrets), user)


def message(**members):
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def result(id_, **members):
    return message(id=id_, result=members)


def error(id_, code=-32601, words="Method not found", **more):
    return message(id=id_, error={"code": code, "message": words, **more})


def initialize_result(id_, revision="2025-11-25", **more):
    return result(id_, protocolVersion=revision, capabilities={"tools": {}}, **more)


def discover_result(id_, *versions, **more):
    return result(id_, supportedVersions=versions or ["2026-07-28"], **more)


def value(text, shape=None):
    """The JSON `text` as a Value that was looked into as far as `shape` asks."""
    return scan(text.encode().decode("latin-1"), {} if shape is None else shape)


class Servers:
    """Starts one server for every function it is given: from a message sent to further steps."""

    def __init__(self, *responders, secrets=(), **options):
        self.scripts = [Script(respond=respond, **options) for respond in responders]
        self.started = []
        self.secrets = secrets

    def __call__(self):
        script = self.scripts[len(self.started)]
        if self.started:
            script.now = self.started[-1].now
        self.started.append(script)
        return session_over(script, *self.secrets)

    @property
    def sent(self):
        return [[sent["method"] for sent in script.sent] for script in self.started]


def legacy(revision="2025-11-25", probe=-32601):
    """A server that refuses the probe with a code, and then takes `initialize`."""

    def respond(asked):
        if asked["method"] == "server/discover":
            return [error(asked["id"], probe)]
        return [initialize_result(asked["id"], revision)] if asked["method"] == "initialize" else []

    return respond


def modern(asked):
    if asked["method"] == "server/discover":
        return [discover_result(asked["id"])]
    return [error(asked["id"], -32022)]


def probed(*first, then=None):
    """A server that does the steps `first` when it is probed, and `then` with what follows."""

    def respond(asked):
        return first if asked.get("id") == PROBE else (then or silent)(asked)

    return respond


def dies(_asked):
    return [channel_closed()]


def silent(_asked):
    return []
