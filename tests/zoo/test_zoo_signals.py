"""Signals at each stage, and what a terminal does."""

import contextlib
import os
import shlex
import signal
import time

import pytest
from zoo import judge
from zoo.bench import limits, program, read_bytes, server

pytestmark = pytest.mark.zoo

ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
MEGABYTE = b'{"text":"' + b"0" * (1 << 20) + b'"}'
each_signal = pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)


def send_when(ready, number, after=0.0):
    """Send a signal as soon as something is so, or a while later."""
    since = []

    def meanwhile(watch):
        if not since and ready(watch):
            since.append(time.monotonic())
        if since and time.monotonic() - since[0] >= after:
            os.kill(watch.pid, number)
            return True
        return False

    return meanwhile


def received(method):
    return lambda watch: watch.has_received(method)


def signals_of(run):
    return [event["name"] for event in run.events if event["ev"] == "signal"]


@each_signal
def test_while_the_server_starts(bench, number):
    meanwhile = send_when(lambda watch: watch.has_event("start"), number)
    run = bench.call("slow-start", env={"ZOO_DELAY": "30"}, meanwhile=meanwhile)
    judge.check_signalled(bench, run, number)


@each_signal
def test_while_the_probe_waits(bench, number):
    meanwhile = send_when(received("server/discover"), number)
    run = bench.call("silent-on-unknown", meanwhile=meanwhile)
    judge.check_signalled(bench, run, number)


@each_signal
def test_while_a_fresh_process_is_started(bench, number):
    def again(watch):
        return sum(event["ev"] == "start" for event in watch.events) == 2

    run = bench.call("die-on-unknown", meanwhile=send_when(again, number))
    assert run.status in (-number, 128 + number, 0), run.report(["another status"])
    assert not run.survivors, run.report([f"alive: {run.survivors}"])


@each_signal
def test_while_the_tool_runs(bench, number):
    meanwhile = send_when(received("tools/call"), number)
    run = bench.call("log-signals", env={"ZOO_DELAY": "30"}, meanwhile=meanwhile)
    judge.check_signalled(bench, run, number)
    passed_on = [name for name in signals_of(run) if name != "SIGTERM"]
    assert not passed_on, run.report([f"the server got {passed_on}, but its stdin comes first"])


@each_signal
def test_while_a_write_blocks(bench, number):
    meanwhile = send_when(received("notifications/initialized"), number, after=0.3)
    run = bench.call("no-read", stdin=MEGABYTE, meanwhile=meanwhile)
    judge.check_signalled(bench, run, number)


@pytest.mark.parametrize("case", ["log-flood", "noise-flood", "note-flood", "ping-flood"])
def test_while_the_server_floods(bench, case):
    meanwhile = send_when(received("tools/call"), signal.SIGTERM, after=0.2)
    run = bench.call(case, env={"ZOO_SIZE": "100000000"}, meanwhile=meanwhile)
    judge.check_signalled(bench, run, signal.SIGTERM)


@each_signal
def test_after_the_answer(bench, number):
    run = bench.call("ignore-term", meanwhile=send_when(lambda watch: watch.out, number))
    judge.check_signalled(bench, run, number)
    assert run.out == b'{"text":"hi"}\n', run.report(["the answer is gone"])


def test_twice_after_the_answer(bench):
    """A person who is in a hurry gets no orphans either."""
    stages = [send_when(lambda watch: watch.out, signal.SIGINT, after) for after in (0, 0.1, 0.2)]

    def meanwhile(watch):
        if stages[0](watch):
            del stages[0]
        return not stages

    run = bench.call("ignore-term", meanwhile=meanwhile)
    judge.check_signalled(bench, run, signal.SIGINT)


def test_while_it_pins(bench):
    meanwhile = send_when(received("notifications/initialized"), signal.SIGTERM)
    run = bench.pin("no-read", meanwhile=meanwhile)
    judge.check_signalled(bench, run, signal.SIGTERM)
    assert read_bytes(bench.catalog) == b""


def test_while_it_pins_again(bench):
    judge.check(bench, bench.pin("no-read", env={"ZOO_CASE": "ok"}), judge.Want())
    before = read_bytes(bench.catalog)
    meanwhile = send_when(received("notifications/initialized"), signal.SIGTERM)
    run = bench.pin("no-read", meanwhile=meanwhile)
    judge.check_signalled(bench, run, signal.SIGTERM)
    assert before, run.report(["there was no catalog"])
    assert read_bytes(bench.catalog) == before, run.report(["the catalog changed"])


@pytest.mark.parametrize("moment", range(16))
def test_at_any_moment(bench, moment):
    """From the first millisecond on there is never a process left behind."""
    case = ("grandchild", "ignore-term", "setsid", "stubborn-escapee")[moment % 4]
    meanwhile = send_when(lambda _watch: True, signal.SIGTERM, after=0.04 * moment)
    run = bench.call(case, "--grace", "0.3", meanwhile=meanwhile)
    assert not run.survivors, run.report([f"alive: {run.survivors}"])
    assert run.status in (-signal.SIGTERM, 143, 0), run.report(["another status"])


def test_ignored_on_entry_stays_ignored(bench, monkeypatch):
    monkeypatch.setenv("THRALL_UNDER_TEST", shlex.join(["nohup", *program()]))
    meanwhile = send_when(received("tools/call"), signal.SIGHUP)
    run = bench.call("log-signals", env={"ZOO_DELAY": "1"}, meanwhile=meanwhile)
    assert run.status == 0, run.report(["nohup has no effect"])
    assert run.out == b"done\n", run.report(["another answer"])


@contextlib.contextmanager
def terminal():
    leading, following = os.openpty()
    with open(leading, "r+b", buffering=0) as master, open(following, "r+b", buffering=0) as slave:
        yield master, slave


def on_a_terminal(bench, action):
    """Call with a terminal as stdin; something happens to it while the tool runs."""
    with terminal() as (master, slave):

        def meanwhile(watch):
            ready = watch.has_received("tools/call")
            if ready:
                action(master, slave)
            return ready

        return bench.call(
            "log-signals",
            "text=hi",
            env={"ZOO_DELAY": "30"},
            stdin=slave.fileno(),
            launch=("--terminal",),
            meanwhile=meanwhile,
        )


def test_the_interrupt_key(bench):
    run = on_a_terminal(bench, lambda master, _slave: master.write(b"\x03"))
    judge.check_signalled(bench, run, signal.SIGINT)
    assert "SIGINT" not in signals_of(run), run.report(["the server got it from the terminal"])


def test_the_terminal_goes_away(bench):
    def hang_up(master, slave):
        slave.close()
        master.close()

    run = on_a_terminal(bench, hang_up)
    judge.check_signalled(bench, run, signal.SIGHUP)
    assert "SIGHUP" not in signals_of(run), run.report(["the server got it from the terminal"])


@pytest.mark.parametrize("case", ["long-line", "ignore-term", "ok"])
def test_nobody_reads_the_answer(bench, case):
    reading, writing = os.pipe()
    os.close(reading)
    run = bench.call(case, stdout=writing)
    os.close(writing)
    judge.check_signalled(bench, run, signal.SIGPIPE)


def test_a_full_disk(bench):
    with open("/dev/full", "wb") as full:
        run = bench.call("ok", stdout=full.fileno())
    judge.check(bench, run, judge.Want(status=(3, 4)))


def test_the_reader_leaves_after_some_bytes(bench):
    reading, writing = os.pipe()

    def meanwhile(watch):
        leave = watch.has_received("tools/call")
        if leave:
            os.read(reading, 100)
            os.close(reading)
        return leave

    run = bench.run(
        ["call", "echo", *limits(), *server("long-line")], stdout=writing, meanwhile=meanwhile
    )
    os.close(writing)
    judge.check_signalled(bench, run, signal.SIGPIPE)
