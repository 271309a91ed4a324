"""A server without a process: a channel that answers from a list or a function, on a fake clock."""

import json
from collections import deque

from thrall_py.protocol.channel import Hangup, Silence
from thrall_py.protocol.jsontext import outline
from thrall_py.protocol.session import Session
from thrall_py.visible import Quoter

MOST_RECEIVES = 20_000  # a conversation that goes on for longer would never end


class Script:
    """A Channel over steps: bytes are a line, a number lets seconds pass, an exception is raised.

    `answer` is given every message as it is sent and returns further steps. A hang-up stays; when
    there are no steps left, the deadline passes. A script that is its own clock starts at 0.
    """

    def __init__(self, *steps, answer=lambda message: (), unread=False, ending="exited"):
        self.steps = deque(steps)
        self.answer = answer
        self.leaves_unread = unread
        self.ending = ending
        self.now = 0.0
        self.sent = []
        self.receives = 0
        self.closed = 0

    def clock(self):
        return self.now

    def send(self, message):
        assert message.endswith(b"\n")
        assert message.count(b"\n") == 1
        self.sent.append(json.loads(message))
        self.steps.extend(self.answer(self.sent[-1]))

    def receive(self, deadline):
        self.receives += 1
        assert self.receives < MOST_RECEIVES, "it would never end"
        while self.steps:
            step = self.steps.popleft()
            if isinstance(step, bytes):
                return bytearray(step)
            if isinstance(step, BaseException):
                if isinstance(step, Hangup):
                    self.steps.appendleft(step)
                raise step
            if self.now + step > deadline:
                self.steps.appendleft(self.now + step - deadline)
                break
            self.now += step
        self.now = max(self.now, deadline)
        raise Silence(b"", blocked=False)

    def unread(self):
        return self.leaves_unread

    def close(self):
        self.closed += 1
        return self.ending


def hangup(partial=b"", *, deaf=False):
    return Hangup(bytearray(partial), deaf=deaf)


def session_over(script, *secrets):
    return Session(script, script.clock, Quoter(secrets))


def message(**members):
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def result(id_, **members):
    return message(id=id_, result=members)


def error(id_, code=-32601, words="Method not found", **more):
    return message(id=id_, error={"code": code, "message": words, **more})


def greeting(id_, revision="2025-11-25", **more):
    return result(id_, protocolVersion=revision, capabilities={"tools": {}}, **more)


def discovery(id_, *versions, **more):
    return result(id_, supportedVersions=versions or ["2026-07-28"], **more)


def value(text, shape=None):
    """The JSON `text` as a Value that was looked into as far as `shape` asks."""
    return outline(text.encode().decode("latin-1"), {} if shape is None else shape)
