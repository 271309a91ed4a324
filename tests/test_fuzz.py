"""Random servers against the whole conversation, each run from its own seed.

THRALL_FUZZ_RUNS says how many, THRALL_FUZZ_FIRST with which seed to begin.
"""

import json
import os
import random
from collections import deque

import pytest
from fakes import channel_closed, discover_result, error, initialize_result, result, session_over

from thrall_py import errors
from thrall_py.errors import ThrallError
from thrall_py.output import render
from thrall_py.protocol import mcp, tools
from thrall_py.protocol.channel import MessageTooLarge, ReceiveTimeout
from thrall_py.protocol.handshake import Handshake
from thrall_py.visible import visible

RUNS = int(os.environ.get("THRALL_FUZZ_RUNS", "2000"))
FIRST = int(os.environ.get("THRALL_FUZZ_FIRST", "0"))
STATUSES = {status.code for status in errors.STATUSES}
LIMIT = 3000  # bytes of a line and of a list; some of the junk is longer
MOST_RECEIVES = 10_000  # a conversation takes less than a hundred

VALUES = [
    None, True, False, 0, -1, 1.5, 1e300, 2**70, "", "x", "\ud800", "\x1b[2J\u202e", "é日😀", "x" * 300,
    [], {}, [[]], {"": None}, [1, {"a": "b"}], "2025-11-25", "2026-07-28", ["2026-07-28"], "input_required",
]  # fmt: skip
JUNK = [
    b"", b"\r", b"\x00", b"null", b"[]", b"{}", b"Usage: server", b"Content-Length: 12", b"Ok to proceed? (y)",
    b"{", b"[", b'"', b"\xff\xfe{\x00", b"\xef\xbb\xbf{}", b"[" * 2000, b'{"a":' * 500, b"NaN", b"1e400",
    b"7" * 2500, b'{"id":1,"id":1}', b'{"id":1,"result":', b'{"id":1,"result":NaN}', b'{"id":"1","error":"no"}',
    b'{"id":null,"error":{"code":-32700}}', b'{"error":{"code":1.5}}', b'{"id":99,"result":{}}', b'{"jsonrpc":"2.0","id":2}',
    b'{"id":7,"method":"ping"}', b'{"id":{},"method":"ping"}', b'{"id":"\\ud800","method":"roots/list"}',
    b'{"method":"notifications/prompts/list_changed"}', b'[{"id":1,"result":{}},{"id":2,"method":"ping"}]', b"x" * 4000,
]  # fmt: skip
TOKENS = [
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\\",
    b"\\u",
    b"\n",
    b"\r",
    b"\x00",
    b"\xff",
    b"0",
    b"e9",
    b"null",
    b"-",
]
CONTENT = [
    {"type": "text", "text": "hello\n"},
    {"type": "text", "text": "\ud800\x1b"},
    {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
    {"type": "audio", "data": "!!", "mimeType": "\x1b"},
    {"type": "resource", "resource": {"uri": "file:///x", "blob": "AA=="}},
    {"type": "resource", "resource": {"uri": "file:///x", "text": "é"}},
    {"type": "resource_link", "uri": "file:///y", "name": "y"},
    {"type": "other", "x": 1},
]
RESULTS = [
    {"content": []},
    {"content": CONTENT},
    {"content": CONTENT[:3], "isError": True},
    {"structuredContent": {"a": 1}, "resultType": "complete"},
    {"resultType": "input_required", "requestState": "s"},
    {"resultType": "input_required", "inputRequests": {"a": {"method": "m", "params": {"message": "?"}}}},
    {"resultType": "task"},
]  # fmt: skip


class Server:
    """Mostly by the book; how far it strays is drawn anew for every server."""

    def __init__(self, rng):
        self.rng = rng
        self.modern = rng.random() < 0.5
        self.madness = rng.choice([0, 0.05, 0.3])

    def says(self, asked):
        """The bytes it writes when it is asked, and whether it closes its output then."""
        lines = [self.mad(line) for line in self.responses(asked)]
        while self.strays():
            noise = self.rng.choice(JUNK) if self.rng.random() < 0.9 else self.rng.randbytes(40)
            lines.insert(self.rng.randint(0, len(lines)), noise)
        written = b"\n".join([*lines, b""])
        return written[: -1 if self.strays() else None], self.strays()

    def responses(self, asked):
        method, id_ = asked.get("method"), asked.get("id")
        if method is None or id_ is None or self.strays():
            return []
        known = "server/discover" if self.modern else "initialize"
        if method == known:
            return [
                discover_result(id_)
                if self.modern
                else initialize_result(id_, self.rng.choice(mcp.LEGACY))
            ]
        if kind := next((kind for kind in mcp.KINDS if kind.method == method), None):
            more = {"nextCursor": self.rng.choice(["", "a", "b"])} if self.strays() else {}
            items = [{kind.key: "add", "inputSchema": {}}]
            return [result(id_, **{kind.member: items}, **more)]
        if method == "tools/call":
            return [result(id_, **self.rng.choice(RESULTS))]
        codes = [-32601, -32602, 0, -32020, -32022] if self.strays() else [-32601]
        return [error(id_, self.rng.choice(codes), data={"supported": ["2026-07-28"]})]

    def strays(self):
        return self.rng.random() < self.madness

    def mad(self, line):
        if self.strays():
            line = json.dumps(self.bent(json.loads(line))).encode()
        while self.strays():
            at = self.rng.randint(0, len(line))
            token = self.rng.choice([*TOKENS, b""])
            line = line[:at] + token + line[at + self.rng.randint(0, 5) :]
        return b"[%b]" % line if self.strays() else line

    def bent(self, value):
        """The same with one of the values somewhere in it replaced, left out or doubled."""
        if not value or not isinstance(value, dict | list) or self.rng.random() < 0.2:
            return self.rng.choice(VALUES)
        place = self.rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
        if self.rng.random() < 0.2:
            del value[place]
        else:
            value[place] = self.bent(value[place])
        return value


class Pipe:
    """A Channel over a server's bytes, which come in chunks and are cut as a pipe is cut."""

    def __init__(self, rng, clock):
        self.rng = rng
        self.clock = clock
        self.server = Server(rng)
        self.coming = bytearray()
        self.lines = deque()
        self.partial = bytearray()
        self.closed = False
        self.receives = 0

    has_headers = False

    def send(self, message, _label):
        asked = json.loads(message)
        assert message.index(b"\n") == len(message) - 1
        if not self.closed:
            said, self.closed = self.server.says(asked)
            self.coming += said

    def receive(self, deadline):
        self.receives += 1
        assert self.receives < MOST_RECEIVES, "it would never end"
        while not self.lines:
            if len(self.partial) > LIMIT:
                raise MessageTooLarge(LIMIT)
            if self.closed and not self.coming:
                raise channel_closed(self.partial, input_closed=self.server.strays())
            self.clock.now += self.rng.choice([0, 0, 0, 0.01, 3]) if self.coming else 1000
            if self.clock.now > deadline:
                self.clock.now = deadline
                raise ReceiveTimeout(bytes(self.partial[:4096]), unsent=self.server.strays())
            self.read(self.rng.choice([1, 7, 100, 5000]))
        line = self.lines.popleft()
        if len(line) > LIMIT:
            raise MessageTooLarge(LIMIT)
        return line

    def read(self, size):
        first, *rest = self.coming[:size].split(b"\n")
        del self.coming[:size]
        self.partial += first
        for line in rest:
            self.lines.append(self.partial)
            self.partial = line

    def flush(self, deadline):
        assert deadline

    def settle(self):
        pass

    def has_ended(self):
        return self.closed

    def unread_by_server(self):
        return self.server.strays()

    def close(self):
        return "exited"


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def converse(rng):
    """One conversation from the handshake to the printed result; the status it ends with."""
    clock = Clock()
    handshake = Handshake(lambda: session_over(Pipe(rng, clock), "hunter-222"), 120)
    revision = rng.choice(mcp.REVISIONS)
    ways = [
        handshake.negotiate,
        lambda: handshake.open_with(revision),
        lambda: handshake.reopen(revision),
    ]
    rng.choices(ways, [3, 1, 1])[0]()
    tools.list_all(handshake.session, rng.choice(mcp.KINDS), 10, LIMIT)
    rendered = render.read_result(tools.call(handshake.session, "add", '{"é":1.0}', 10, LIMIT))
    for terminal in (True, False):
        printed = b"".join(rendered.lines({}, terminal=terminal))
        assert printed.endswith(b"\n") or rendered.is_empty
        assert b"".join(render.verbatim(rendered.result, terminal=terminal)).count(b"\n") == 1
    for part in rendered.parts:
        if isinstance(part, render.MediaPart) and part.content is not None:
            assert all(isinstance(piece, bytes) for piece in part.decode())
    return int(rendered.is_error)


def ending(run):
    """The status that a run ends with, and the sentence if it is a failure."""
    try:
        return converse(random.Random(run)), ""
    except ThrallError as failure:
        return failure.exit_status, str(failure)
    except Exception as problem:
        problem.add_note(f"to see it again: THRALL_FUZZ_FIRST={run} THRALL_FUZZ_RUNS=1")
        raise


@pytest.mark.fuzz
def test_every_conversation_ends_in_a_result_or_in_a_failure_that_is_told():
    statuses = set()
    for run in range(FIRST, FIRST + RUNS):
        status, sentence = ending(run)
        statuses.add(status)
        assert str(status) in STATUSES, run
        assert visible(sentence) == sentence, run
    assert RUNS < 1000 or statuses == {0, 1, 4, 5, 7, 124}, "it reaches them all"


def kinds(parent):
    """Every kind of failure, with the kinds of it."""
    return [kind for child in parent.__subclasses__() for kind in [child, *kinds(child)]]


@pytest.mark.parametrize("kind", kinds(ThrallError), ids=lambda kind: kind.__name__)
def test_every_kind_of_failure_has_a_status_of_the_table(kind):
    assert str(kind("words").exit_status) in STATUSES


def test_every_status_of_the_table_stands_there_once_and_says_what_it_means():
    codes = [status.code for status in errors.STATUSES]
    assert codes == [
        "0",
        "1",
        "2",
        "3",
        "4",
        "5",
        "6",
        "7",
        "8",
        "70",
        "124",
        "126",
        "127",
        "128+N",
    ]
    assert all(status.meaning for status in errors.STATUSES)
