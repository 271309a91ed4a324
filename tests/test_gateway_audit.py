"""The log: one line for each event, without secrets, and never in the way."""

import json
import re

import pytest

from thrall_py.gateway import audit
from thrall_py.gateway.audit import Log
from thrall_py.gateway.core import digest
from thrall_py.redact import Redactor


class Sink:
    def __init__(self):
        self.waiting = 0
        self.lines = []

    def write(self, data):
        self.lines.append(data.decode())


def told(style, secrets=(), **facts):
    sink = Sink()
    Log(sink, style, Redactor(secrets)).tell("call", **facts)
    (line,) = sink.lines
    assert line.endswith("\n")
    assert line.count("\n") == 1
    return line


def test_a_line_of_text_has_time_event_and_facts():
    line = told("text", tool="echo", ms=3, empty="", client="a b")
    assert re.fullmatch(
        r'thrall: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z call tool=echo ms=3 client="a b"\n', line
    )


def test_a_line_of_json_is_one_object():
    members = json.loads(told("json", tool="echo", ms=3, empty=""))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", members.pop("time"))
    assert members == {"event": "call", "tool": "echo", "ms": 3}


@pytest.mark.parametrize("style", audit.FORMATS)
def test_secrets_are_masked_controls_visible_and_long_facts_cut(style):
    line = told(style, ["hunter2secret"], client="\x1b[31m hunter2secret \u202e\n" + "x" * 9000)
    assert "\x1b" not in line
    assert "hunter2" not in line
    assert "***" in line
    assert len(line) < 700


@pytest.mark.parametrize("word", ["a=b", 'a"b', "a b"])
def test_a_fact_cannot_be_taken_for_two(word):
    assert f"client={json.dumps(word)}\n" in told("text", client=word)


def test_lines_that_nobody_reads_are_dropped_and_counted():
    sink = Sink()
    log = Log(sink, "json", Redactor())
    sink.waiting = 1 << 20
    for _ in range(3):
        log.tell("call")
    assert sink.lines == []
    sink.waiting = 0
    log.tell("end")
    log.tell("end")
    events = [json.loads(line) for line in sink.lines]
    assert [event["event"] for event in events] == ["dropped", "end", "end"]
    assert events[0]["lines"] == 3


def test_equal_arguments_have_equal_digests_however_they_are_spelled():
    one = digest.of('{"a":1.0,"b":"\\u00e9"}')
    other = digest.of('{ "b": "é", "a": 1 }'.encode().decode("latin-1"))
    assert one == other
    assert one.startswith("sha256:")
    assert digest.of('{"a":2}') != one


@pytest.mark.parametrize(
    "text", ["[" * 500 + "]" * 500, '{"a":1,"\\u0061":2}', '"' + "x" * (1 << 18) + '"']
)
def test_what_has_no_canonical_form_has_the_digest_of_its_text(text):
    assert digest.of(text).startswith("text-sha256:")
