"""Measure what `thrall call --url` costs over curl that sends the same requests.

    python bench/call_url.py [--runs N]

thrall is installed afresh into a folder below build/bench, as a user has it; a server that is warm
(warm_server.py) is asked on the loopback interface.  What thrall sends is recorded and replayed
by curl.  All rows are measured in turn within one run of this program, in an order that is
shuffled for each round; ratios are of two rows within a round.  Prints Markdown.
"""
# ruff: noqa: INP001, S603, T201 - a script that starts what it measures

import argparse
import contextlib
import json
import os
import platform
import random
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import NamedTuple

import installing
from figures import processor_name
from sampling import ENVIRONMENT, WORK
from targets import HELLO, path, written

PYTHON = os.path.join(installing.THRALL.folder, "bin", "python")
THRALL = installing.THRALL.path
LEAST_RUNS = 15
CALL = ("call", "echo", "text=hi")
# What is compared: the era, how thrall calls, and the requests it should make.
ERAS = {
    "legacy": (
        ("--protocol", "2025-11-25"),
        ("initialize", "notifications/initialized", "tools/call", "DELETE"),
    ),
    "modern": ((), ("server/discover", "tools/list", "tools/call")),
}

Recorded = tuple[str, list[list[str]], str]  # a request: method, headers, and body


class Taken(NamedTuple):
    """What one run took, in milliseconds."""

    time: float
    processor: float  # which other load on the machine changes less


class Warm(NamedTuple):
    """A server that is up."""

    port: int

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}/mcp"

    def recorded(self) -> list[Recorded]:
        """Take the requests since the last time."""
        with urllib.request.urlopen(self.url) as reply:  # noqa: S310 - it is http
            return [tuple(request) for request in json.load(reply)]


class Commands(NamedTuple):
    """What makes the same requests to one server."""

    calls: dict[str, tuple[str, ...]]  # of thrall, by what is told of them
    curl: tuple[str, ...]  # all requests
    each: list[tuple[str, ...]]  # curl, once for each request
    requests: list[Recorded]


def main() -> None:
    """Install, record, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=40, metavar="N")
    runs = parser.parse_args().runs
    if runs < LEAST_RUNS:
        parser.error(f"at least {LEAST_RUNS} runs")
    if not shutil.which("curl"):
        sys.exit("call_url: curl is not installed")
    os.makedirs(WORK, exist_ok=True)
    installing.thrall()
    rows: dict[str, Callable[[], None]] = {}
    with contextlib.ExitStack() as stack:
        rows["python -c pass"] = command(PYTHON, "-c", "pass")
        rows["click hello world"] = command(PYTHON, written("hello.py", HELLO), "you")
        rows["thrall --version"] = command(THRALL, "--version")
        for era in ERAS:
            rows |= rows_of(era, stack.enter_context(warm(era)))
        print_table(measure(rows, runs), runs)


@contextlib.contextmanager
def warm(era: str) -> Iterator[Warm]:
    """Serve, with an interpreter that is neither measured nor of the environment measured."""
    words = (sys.executable, os.path.join(installing.HERE, "warm_server.py"), era)
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Warm(int(process.stdout.readline()))
        finally:
            process.kill()


def rows_of(era: str, server: Warm) -> dict[str, Callable[[], None]]:
    """Make the rows of one era: thrall, and curl with what thrall sends."""
    found = commands(era, server)

    def one_after_the_other() -> None:
        for words in found.each:
            run(*words)

    def from_here() -> None:
        exchange(server.port, found.requests)

    return {
        f"a socket, warm Python, {era}": from_here,
        f"curl, {era}": command(*found.curl),
        f"curl for each request, {era}": one_after_the_other,
        **{name: command(*called) for name, called in found.calls.items()},
    }


def commands(era: str, server: Warm) -> Commands:
    """Make the commands of one era, and see that they do the same."""
    words, expected = ERAS[era]
    calls = {f"thrall, {era}": (THRALL, *CALL, *words, "--url", server.url)}
    catalog = path(f"{era}.json")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(catalog)
    run(THRALL, "pin", catalog, "--url", server.url)
    if era == "legacy":
        calls["thrall, legacy, probed"] = (THRALL, *CALL, "--url", server.url)
    calls[f"thrall, {era}, --catalog"] = (THRALL, *CALL, "--catalog", catalog)
    for called in calls.values():
        assert run(*called) == b"hi\n", called
    server.recorded()
    run(*calls[f"thrall, {era}"])
    requests = server.recorded()
    sent = [json.loads(body)["method"] if body else method for method, _, body in requests]
    assert tuple(sent) == expected, sent
    configurations = [configuration(era, i, r, server.url) for i, r in enumerate(requests)]
    written(f"{era}.curl", "next\n".join(configurations))
    for number, text in enumerate(configurations):
        written(f"{era}-{number}.curl", text)
    curl = ("curl", "-q", "-sS", "--fail", "-K")
    once = (*curl, path(f"{era}.curl"))
    each = [(*curl, path(f"{era}-{number}.curl")) for number in range(len(requests))]
    server.recorded()
    assert b'"hi"' in run(*once)
    assert [request[2] for request in server.recorded()] == [request[2] for request in requests]
    return Commands(calls, once, each, requests)


def configuration(era: str, number: int, request: Recorded, url: str) -> str:
    """Write a request as a configuration of curl."""
    method, headers, body = request
    written(f"{era}-{number}.body", body)
    lines = [f'url = "{url}"', f'request = "{method}"']
    if body:
        lines.append(f'data-binary = "@{path(f"{era}-{number}.body")}"')
    for name, value in headers:
        if name.lower() not in ("host", "content-length"):
            lines.append(f"header = {json.dumps(f'{name}: {value}')}")
    return "".join(f"{line}\n" for line in lines)


def exchange(port: int, requests: list[Recorded]) -> None:
    """Send the requests on one connection: the time of the server and of the way to it."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for method, headers, body in requests:
            head = "".join(f"{name}: {value}\r\n" for name, value in headers)
            connection.sendall(f"{method} /mcp HTTP/1.1\r\n{head}\r\n{body}".encode())
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 20")


def run(*words: str) -> bytes:
    """Run a command to its end, and bring what it printed."""
    how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    done = subprocess.run(words, env=ENVIRONMENT, check=False, **how)
    if done.returncode:
        sys.exit(f"call_url: {words}: status {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def command(*words: str) -> Callable[[], None]:
    """Make a row of a command."""
    return lambda: run(*words) and None


def measure(rows: dict[str, Callable[[], None]], runs: int) -> dict[str, list[Taken]]:
    """Time each row once a round; two rounds before do not count."""
    taken: dict[str, list[Taken]] = {name: [] for name in rows}
    order = list(rows)
    for number in range(-2, runs):
        random.shuffle(order)
        for name in order:
            processor, started = of_children(), time.perf_counter()
            rows[name]()
            ended = time.perf_counter()
            if number >= 0:
                taken[name].append(Taken(1000 * (ended - started), of_children() - processor))
    return taken


def of_children() -> float:
    """Tell the milliseconds that the processors gave to all that has been waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (used.ru_utime + used.ru_stime)


def print_table(taken: dict[str, list[Taken]], runs: int) -> None:
    """Print the figures, and what they were measured with."""
    curl = run("curl", "--version").decode().split()[1]
    print(f"{processor_name()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f};")
    print(f"{platform.system()} {platform.release()}; Python {platform.python_version()};")
    print(f"curl {curl}; {runs} runs, interleaved.\n")
    print("| what | median ms | quarter to three quarters | CPU ms | over curl, ms | times curl |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, each in taken.items():
        low, middle, high = statistics.quantiles([one.time for one in each], n=4)
        used = statistics.median(one.processor for one in each)
        more = over = ""
        if name.startswith("thrall, "):
            base = taken[f"curl, {name.split(', ')[1]}"]
            pairs = [(ours.time, theirs.time) for ours, theirs in zip(each, base, strict=True)]
            more = f"{statistics.median(ours - theirs for ours, theirs in pairs):+.1f}"
            over = f"{statistics.median(ours / theirs for ours, theirs in pairs):.1f}"
        print(f"| {name} | {middle:.1f} | {low:.1f} to {high:.1f} | {used:.1f} | {more} | {over} |")


if __name__ == "__main__":
    main()
