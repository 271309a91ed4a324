"""thrall under load: many calls at once, calls that are ended midway, large answers."""

import collections
import concurrent.futures
import json
import os
import random
import secrets
import signal
import subprocess
import sys

import pytest
from real.bench import THRALL, nothing_left, server
from real.samples import pieces

pytestmark = pytest.mark.real

HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = 200
MB = 1_000_000
BIG_SERVER = ["--", sys.executable, "-S", os.path.join(HERE, "big_server.py")]


@pytest.fixture
def say(capsys):
    """Print a line past pytest's capture: the figures are for reading, not for asserting."""

    def say(line):
        with capsys.disabled():
            print(f"\n    {line}", end="")

    return say


def in_parallel(call, at_once=20):
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(call, range(CALLS)))


def test_200_calls_in_parallel_get_their_own_answers(bench):
    command = server("everything")
    runs = in_parallel(lambda n: bench.call("echo", {"message": f"number {n}"}, *command))
    wrong = [
        (n, run)
        for n, run in enumerate(runs)
        if (run.status, run.out) != (0, f"Echo: number {n}\n")
    ]
    assert not wrong


# Under the load of 20 none comes to its answer in time; of 2 at once, many do.
@pytest.mark.parametrize("at_once", [20, 2])
def test_200_calls_that_get_sigterm_leave_nothing_behind(bench, at_once, say):
    command = server("everything")
    chance = random.Random(at_once)
    moments = [chance.uniform(0, 1.5) for _ in range(CALLS)]

    def call(n):
        how = {"terminate_after": moments[n]}
        return bench.call("echo", {"message": f"number {n}"}, *command, **how)

    runs = in_parallel(call, at_once)
    wrong = []
    for n, run in enumerate(runs):
        answer = f"Echo: number {n}\n"
        answered = run.status == 0 and run.out == answer
        # The signal may come after the answer was written: then it was written whole.
        died = run.status == -signal.SIGTERM and run.out in ("", answer)
        if not answered and not died:
            wrong.append((n, moments[n], run))
    ends = collections.Counter((run.status, "answer" if run.out else "nothing") for run in runs)
    say(f"{at_once} at once, (status, printed): {dict(ends)}")
    assert not wrong


@pytest.mark.parametrize("name", ["modern", "legacy"])
def test_50_megabytes_from_an_sdk_server_arrive_whole(bench, name, say):
    run = bench.call("big", {"n": 50 * MB}, *server(name))
    assert run.status == 0, run.err
    # Not compared by ==, whose failure would print them both.
    is_whole = run.out == "".join(pieces(50 * MB)) + "\n"
    assert is_whole, f"{len(run.out)} characters"
    say(f"{name}: {run.seconds:.1f} s")


@pytest.fixture
def measured(bench):
    """Call big(n) and return its figures, the answer compared byte for byte."""

    def measured(size, *words):
        mark, output = secrets.token_hex(16), bench.path("output")
        command = [THRALL, "call", "big", *words, *BIG_SERVER]
        process = subprocess.run(
            [sys.executable, "-S", os.path.join(HERE, "measure.py"), output, *command],
            input=json.dumps({"n": size}).encode(),
            stdout=subprocess.PIPE,
            env=bench.environment(mark),
            cwd=bench.work,
            check=True,
        )
        nothing_left(mark)
        figures = json.loads(process.stdout)
        assert figures["status"] == 0
        with open(output, encoding="utf-8", newline="") as f:
            text = f.read()
        if "--json" in words:
            text = json.loads(text)["content"][0]["text"] + "\n"
        is_whole = text == "".join(pieces(size)) + "\n"
        assert is_whole, f"{len(text)} characters"
        return figures

    return measured


@pytest.mark.parametrize("words", [(), ("--json",)], ids=["text", "json"])
def test_memory_is_at_most_four_times_a_large_answer(measured, words, say):
    at_rest = measured(10, *words)["peak"]
    say(f"at rest: {at_rest / MB:.0f} MB")
    for size in (5 * MB, 10 * MB, 25 * MB, 50 * MB):
        figures = measured(size, *words)
        peak = figures["peak"]
        say(f"{size / MB:.0f} MB: {figures['seconds']:.2f} s, {peak / MB:.0f} MB")
        # A small answer weighs less than the interpreter.
        assert peak - at_rest <= 4 * size
        if size > at_rest:
            assert peak <= 4 * size
