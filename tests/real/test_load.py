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
from collections.abc import Callable
from typing import NamedTuple

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
    """Run a call of the big server; return its figures."""

    def measured(tool, arguments, *words):
        mark = secrets.token_hex(16)
        measure = [sys.executable, "-S", os.path.join(HERE, "measure.py"), bench.path("output")]
        process = subprocess.run(
            [*measure, *THRALL, "call", tool, *words, *BIG_SERVER],
            input=json.dumps(arguments).encode(),
            stdout=subprocess.PIPE,
            env=bench.environment(mark),
            cwd=bench.work,
            check=True,
        )
        nothing_left(mark)
        figures = json.loads(process.stdout)
        assert figures["status"] == 0
        return figures

    return measured


def printed(bench):
    with open(bench.path("output"), encoding="utf-8", newline="") as f:
        return f.read()


def as_text(bench):
    return printed(bench).removesuffix("\n")


def as_json(bench):
    (part,) = json.loads(printed(bench))["content"]
    return part["text"]


def as_file(bench):
    # The name is that of the only file; it is gone before the next call.
    (name,) = os.listdir(bench.path("saved"))
    with open(os.path.join(bench.path("saved"), name), encoding="utf-8", newline="") as f:
        text = f.read()
    os.unlink(os.path.join(bench.path("saved"), name))
    return text


class Large(NamedTuple):
    """A way to give and to take a large answer."""

    received: Callable
    tool: str = "text"
    words: tuple = ()
    first: str = "\n"
    escaped: bool = False

    def arguments(self, n):
        return {"n": n, "first": self.first, "escaped": self.escaped}


SMILE = "\N{GRINNING FACE}"  # makes a str of four bytes a character
LARGE = {
    "text": Large(as_text),
    "json": Large(as_json, words=("--json",)),
    "unicode": Large(as_text, first=SMILE),
    "escapes": Large(as_text, first=SMILE, escaped=True),
    "picture": Large(as_file, tool="picture", words=("--save", "saved")),
}


@pytest.mark.parametrize("kind", LARGE)
def test_memory_is_at_most_four_times_a_large_answer(bench, measured, kind, say):
    large = LARGE[kind]
    bench.folder("saved")
    at_rest = measured(large.tool, large.arguments(10), *large.words)["peak"]
    assert large.received(bench) == f"{large.first}00000000 "
    lines = [f"{kind}: at rest {at_rest / MB:.0f} MB"]
    for size in (5 * MB, 10 * MB, 25 * MB, 50 * MB):
        # A picture is a third longer on the wire.
        n = size * 3 // 4 if large.tool == "picture" else size
        figures = measured(large.tool, large.arguments(n), *large.words)
        is_whole = large.received(bench) == "".join(pieces(n, large.first))
        assert is_whole
        peak = figures["peak"]
        lines.append(f"{size / MB:.0f} MB in {figures['seconds']:.2f} s and {peak / MB:.0f} MB")
        # The interpreter itself outweighs a small answer.
        assert peak - at_rest <= 4 * size, lines
    say(", ".join(lines))
    assert peak <= 4 * size, lines
