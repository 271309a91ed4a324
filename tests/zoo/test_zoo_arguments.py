"""What the caller gives: the input, ITEMs, names, the server's argv, and wrong command lines."""

import json
import os
import re
import time

import pytest
from zoo import judge
from zoo.bench import CATALOG, SMALL_INPUT, limits, server, write_bytes
from zoo.expect import ANSWERED, ECHO, Want

pytestmark = pytest.mark.zoo

STARTS_SOMETHING = ["--", "touch", "started"]
REFUSED = Want(status=(3,))
REFUSED_INPUTS = {
    "empty": b"",
    "blank": b" \n\t ",
    "array": b"[1]",
    "null": b"null",
    "true": b"true",
    "number": b"1",
    "string": b'"text"',
    "two-objects": b'{"a":1}{"b":2}',
    "two-lines": b'{"a":1}\n{"b":2}\n',
    "words-behind": b'{"a":1} and more',
    "nul-behind": b'{"a":1}\0',
    "truncated": b'{"text":"h',
    "nan": b'{"a":NaN}',
    "infinity": b'{"a":[-Infinity]}',
    "bare-nan": b"NaN",
    "same-key-twice": b'{"a":1,"a":2}',
    "same-key-inside": b'{"a":[{"b":1,"b":1}]}',
    "same-key-escaped": b'{"a":1,"\\u0061":2}',
    "not-utf-8": b'{"a":"\xff"}',
    "utf-8-surrogate": b'{"a":"\xed\xa0\x80"}',
    "overlong": b'{"a":"\xc0\x80"}',
    "utf-16": '{"a":1}'.encode("utf-16"),
    "utf-16-bare": '{"a":1}'.encode("utf-16-le"),
    "raw-newline": b'{"a":"b\nc"}',
    "raw-tab": b'{"a":"b\tc"}',
    "raw-nul": b'{"a":"b\0c"}',
    "single-quotes": b"{'a':1}",
    "trailing-comma": b'{"a":1,}',
    "comment": b'{"a":1} // one',
    "leading-zero": b'{"a":01}',
    "plus": b'{"a":+1}',
    "bare-point": b'{"a":1.}',
    "hex": b'{"a":0x1}',
    "bad-escape": b'{"a":"\\x41"}',
    "form-feed": b'\x0c{"a":1}',
    "no-break-space": '\u00a0{"a":1}'.encode(),
}


@pytest.mark.parametrize("name", REFUSED_INPUTS)
def test_input_is_refused_and_nothing_started(bench, name):
    run = bench.run(["call", "echo", *STARTS_SOMETHING], stdin=REFUSED_INPUTS[name])
    judge.check(bench, run, REFUSED)
    if not REFUSED_INPUTS[name].strip():
        assert "{}" in run.words(), run.report(["it does not say that {} would be right"])


def test_input_with_a_byte_order_mark(bench):
    run = bench.call("ok", stdin=b"\xef\xbb\xbf" + SMALL_INPUT)
    judge.check(bench, run, Want(status=(0, 3), out=ECHO))


@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_input_too_deep(bench, brackets):
    left, right = ("[", "]") if brackets == "[]" else ('{"a":', "}")
    inner = "{}" if brackets == "{}" else ""
    deep = '{"a":' + left * 100_000 + inner + right * 100_000 + "}"
    run = bench.call("ok", stdin=deep.encode())
    assert run.status in (0, 3, 4), run.report(["another status"])
    assert "Traceback (most recent call last)" not in run.words() or run.status == 4
    assert not run.survivors, run.report([f"alive: {run.survivors}"])


def test_input_of_10_megabytes(bench):
    data = b'{"text":"' + b"x" * 10_000_000 + b'"}'
    run = bench.call("ok", stdin=data, limit=40)
    judge.check(bench, run, Want(out_bytes=len(data) + 1, within=20))


def test_input_comes_first(bench):
    """Nothing is started before the input is complete."""
    reading, writing = os.pipe()
    os.write(writing, b'{"text":')
    started = time.monotonic()
    too_early = []

    def complete(watch):
        if time.monotonic() - started < 0.8:
            return False
        too_early.extend(watch.events)
        os.write(writing, b'"hi"}')
        os.close(writing)
        return True

    run = bench.call("ok", stdin=reading, meanwhile=complete)
    os.close(reading)
    judge.check(bench, run, ANSWERED)
    assert not too_early, run.report([f"already there: {too_early}"])


def arguments_received(run):
    """Find the text behind "arguments": in the request that the tool `raw` returns."""
    line = run.out.decode("utf-8", "replace")
    return re.split(r'"arguments"\s*:\s*', line, maxsplit=1)[-1]


VERBATIM = {
    "numbers": '{"id":9007199254740993,"one":1,"f":1.0,"s":"007","e":1E2,"plus":1e+2,'
    '"big":123456789012345678901234567890,"tiny":1e-400,"zero":-0}',
    "escapes": r'{"b":"\u00e9\/\ud83d\ude00","a":"é","z":{"y":-0.0,"x":[1.50,1e400]}}',
    "halves": r'{"\ud800":"half a pair \udfff"}',
    "separators": '{"a":"\u2028\u2029\u0085\ufeff","\u202e":"\U000e0041"}',
    "empty": "{}",
    "empty-key": '{"":{"":[[],{}]}}',
    "control": r'{"a":"\u0000\u001b[31m\b\f\n\r\t\"\\"}',
    "names-of-ours": '{"arguments":{"jsonrpc":"1.0","id":7,"method":"x"},"name":"y","_meta":{}}',
    "spaces": '{ "a" : [ 1 , 2.0 ] , "b" : "  " }',
}


@pytest.mark.parametrize("name", VERBATIM)
def test_arguments_arrive_as_they_were_typed(bench, name):
    typed = VERBATIM[name]
    run = bench.call("ok", tool="raw", stdin=typed.encode())
    judge.check(bench, run, Want(), tool="raw")
    arrived = arguments_received(run)
    assert arrived.startswith(typed), run.report([f"arrived: {arrived[:300]!r}"])


def test_arguments_on_several_lines_arrive_on_one(bench):
    typed = '{\r\n  "n": 1.00,\n\t"s": "a  b",\n  "l": [ 1E2 ]\n}\n'
    run = bench.call("ok", tool="raw", stdin=typed.encode())
    judge.check(bench, run, Want(), tool="raw")
    arrived = judge.tokens(arguments_received(run))
    assert arrived.startswith(judge.tokens(typed)), run.report([f"arrived: {arrived[:300]!r}"])


def test_items(bench):
    write_bytes(os.path.join(bench.work, "words.txt"), "a line\né".encode())
    write_bytes(os.path.join(bench.work, "value.json"), b'{"deep":[1.50]}\n')
    # stdin stays open and empty: whoever reads it waits for ever.
    reading, writing = os.pipe()
    items = ["text=hi", "s=007", "eq=a=b", "n:=1.50", "yes:=true", "list:=[1, 2]", "empty="]
    items += ["file=@words.txt", "json:=@value.json"]
    run = bench.call("ok", *items, tool="raw", stdin=reading)
    os.close(writing)
    os.close(reading)
    judge.check(bench, run, Want(), tool="raw")
    arrived = json.JSONDecoder(parse_float=str).raw_decode(arguments_received(run))[0]
    wanted = {"text": "hi", "s": "007", "eq": "a=b", "n": "1.50", "yes": True, "list": [1, 2]}
    wanted |= {"empty": "", "file": "a line\né", "json": {"deep": ["1.50"]}}
    assert arrived == wanted, run.report(["other arguments"])


UNUSABLE_ITEMS = {
    "nan": ["n:=NaN"],
    "truncated": ["n:=[1"],
    "no-value": ["n:="],
    "same-key-inside": ['n:={"a":1,"a":2}'],
    "same-key": ["a=1", "a=2"],
    "same-key-mixed": ["a=1", "a:=2"],
    "no-file": ["file=@no-such-file"],
    "a-folder": ["file=@."],
    "just-a-word": ["just-a-word"],
    "two-values": ["n:=1 2"],
}


@pytest.mark.parametrize("name", UNUSABLE_ITEMS)
def test_items_are_refused_and_nothing_started(bench, name):
    run = bench.run(["call", "echo", *UNUSABLE_ITEMS[name], *STARTS_SOMETHING], stdin=b"")
    judge.check(bench, run, Want(status=(2, 3)))


@pytest.mark.parametrize("name", ["../../etc/passwd", "a b", "\u540d\u524d", "nope", "x" * 300])
def test_the_name_of_a_tool_is_data(bench, name):
    run = bench.call("ok", tool=name)
    judge.check(bench, run, Want(status=(5,), says=("-32602",)), tool=name)
    sent = [message["params"]["name"] for message in run.messages("tools/call")]
    assert sent == [name], run.report([f"sent {sent}"])


@pytest.mark.parametrize("name", ["red\x1b[31m", "two\nlines", "\u202eevil", "z\u200bw"])
def test_the_name_of_a_tool_is_escaped(bench, name):
    run = bench.call("ok", tool=name)
    assert run.status in (5, 2, 3), run.report(["another status"])
    bad = judge.UNPRINTABLE.search(run.words())
    assert not bad, run.report([f"on stderr: {bad}"])
    assert len(run.words().strip().splitlines()) == 1 or run.status == 2, run.report(["many lines"])


def test_a_tool_that_fails(bench):
    run = bench.call("ok", tool="fail")
    judge.check(bench, run, Want(status=(1,), out="the tool failed\n"), tool="fail")


def test_the_argv_arrives_word_for_word(bench):
    words = ["--", "$HOME", "*", "a  b", "", "--timeout", "~", "${HOME}", "tool=x", "\\", "é", "\n"]
    run = bench.run(["call", "whoami", *limits(), *server("ok", *words)])
    judge.check(bench, run, Want(), tool="whoami")
    arrived = json.loads(run.out)["argv"][1:]
    assert arrived == words, run.report([f"arrived: {arrived}"])


WRONG = {
    "unknown-verb": ["frobnicate"],
    "no-tool": ["call"],
    "no-server": ["call", "echo"],
    "empty-server": ["call", "echo", "--"],
    "empty-word": ["call", "echo", "--", ""],
    "pin-nothing": ["pin"],
    "pin-no-server": ["pin", CATALOG],
    "check-nothing": ["check"],
    "unknown-option": ["call", "echo", "--no-such-option", "--", "true"],
    "no-number": ["call", "echo", "--timeout", "soon", "--", "true"],
    "negative": ["call", "echo", "--timeout", "-1", "--", "true"],
    "not-a-number": ["call", "echo", "--timeout", "nan", "--", "true"],
    "two-servers": ["call", "echo", "--catalog", CATALOG, "--", "true"],
    "unknown-revision": ["call", "echo", "--protocol", "1999-01-01", "--", "true"],
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_command_lines(bench, name):
    run = bench.run(WRONG[name])
    allowed = (2, 127, 126) if name == "empty-word" else (2,)
    assert run.status in allowed, run.report(["another status"])
    assert "Traceback" not in run.words(), run.report(["a traceback"])
    assert not run.out, run.report(["something on stdout"])
    assert not run.new_files, run.report([f"left: {run.new_files}"])


@pytest.mark.parametrize("verb", ["call", "pin", "check"])
def test_help_fits_one_screen(bench, verb):
    run = bench.run([verb, "--help"], stdin=b"")
    assert run.status == 0, run.report(["another status"])
    assert 3 < len(run.out.splitlines()) <= 60, run.report(["not one screen"])


def test_version(bench):
    run = bench.run(["--version"], stdin=b"")
    assert run.status == 0, run.report(["another status"])
    assert len(run.out.splitlines()) == 1, run.report(["not one line"])
