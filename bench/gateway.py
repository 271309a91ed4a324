"""Measure what a call costs through `thrall serve`, and through other gateways.

    python bench/gateway.py [--rounds N]

One server on pipes (pipe_server.py) is called directly, through thrall (on pipes and over HTTP),
mcp-proxy and supergateway, by one client with one session each.  All are up at once and take
turns within a round, in an order that is shuffled for each.  Each has a folder of its own in
build/gateway, filled from the registries the first time.  Prints Markdown.
"""
# ruff: noqa: INP001, S603, T201 - a script that starts what it measures

import argparse
import asyncio
import contextlib
import os
import platform
import random
import shutil
import socket
import statistics
import subprocess
import sys
import time
import venv
from collections.abc import AsyncIterator, Callable, Iterator
from typing import NamedTuple

from callers import Caller, HttpCaller, PipeCaller
from figures import processor_name

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(HERE)
INTO = os.path.join(REPOSITORY, "build", "gateway")
SERVER = (sys.executable, os.path.join(HERE, "pipe_server.py"))
MCP_PROXY = "mcp-proxy==0.13.0"
SUPERGATEWAY = "supergateway@4.0.0"
THRALL = os.path.join(INTO, "thrall", "bin", "thrall")
CATALOG = os.path.join(INTO, "catalog.json")
ABREAST = (1, 10, 100)  # calls that are open at once
CALLS = 400  # of each row and each of these, in a round
PATIENCE = 30  # seconds until something listens
TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Row(NamedTuple):
    """What is measured: a client, and the process behind it (None for the server itself)."""

    caller: Caller
    pid: int | None


class Taken(NamedTuple):
    """What one row took in a round: seconds of each call, and of all of them, by calls at once."""

    each: dict[int, list[float]]
    whole: dict[int, float]
    processor: float  # of the gateway, in seconds for a call


def main() -> None:
    """Install, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=10, metavar="N")
    rounds = parser.parse_args().rounds
    install()
    asyncio.run(measure(rounds))


def install() -> None:
    """Make thrall's folder anew, and those of the others if they are not there."""
    pip = ("-m", "pip", "-qq", "--disable-pip-version-check", "install")
    for name, wanted in (("thrall", f"{REPOSITORY}[http]"), ("mcp-proxy", MCP_PROXY)):
        folder = os.path.join(INTO, name)
        if name == "thrall" or not os.path.exists(os.path.join(folder, "bin", name)):
            venv.create(folder, clear=True, with_pip=True)
            subprocess.run((os.path.join(folder, "bin", "python"), *pip, wanted), check=True)
    folder = os.path.join(INTO, "supergateway")
    npm = shutil.which("npm")
    if npm and not os.path.exists(folder):
        quiet = ("--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
        subprocess.run((npm, "install", *quiet, "--prefix", folder, SUPERGATEWAY), check=True)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(CATALOG)
    words = (THRALL, "pin", CATALOG, "--name", "pipe", "--", *SERVER)
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


async def measure(rounds: int) -> None:
    """Take the measure of all rows, one after the other, in each round."""
    async with contextlib.AsyncExitStack() as stack:
        rows = {name: await stack.enter_async_context(started) for name, started in contestants()}
        taken: dict[str, list[Taken]] = {name: [] for name in rows}
        order = list(rows)
        for number in range(-1, rounds):  # the first does not count
            random.shuffle(order)
            for name in order:
                once = await take(rows[name])
                if number >= 0:
                    taken[name].append(once)
        print_table(taken, {name: memory(row.pid) for name, row in rows.items()}, rounds)


def contestants() -> list[tuple[str, contextlib.AbstractAsyncContextManager[Row]]]:
    """Name what is compared; supergateway only where there is npm."""
    proxy = os.path.join(INTO, "mcp-proxy", "bin", "mcp-proxy")
    super_ = os.path.join(INTO, "supergateway", "node_modules", ".bin", "supergateway")
    serve = (THRALL, "serve", CATALOG)
    rows = [
        ("the server itself, pipes", on_pipes(*SERVER)),
        ("thrall serve, pipes", on_pipes(*serve)),
        ("thrall serve, HTTP", over_http(lambda port: (*serve, "--http", f"127.0.0.1:{port}"))),
        ("mcp-proxy, HTTP", over_http(lambda port: (proxy, "--port", port, "--", *SERVER))),
    ]
    if os.path.exists(super_):
        how = ("--outputTransport", "streamableHttp", "--stateful", "--logLevel", "none")
        words = (super_, "--stdio", " ".join(SERVER), *how)
        rows.append(("supergateway, HTTP", over_http(lambda port: (*words, "--port", port))))
    return rows


@contextlib.asynccontextmanager
async def on_pipes(*words: str) -> AsyncIterator[Row]:
    """Start what speaks on stdin and stdout."""
    caller = await PipeCaller.start(*words)
    try:
        yield Row(caller, None if words == SERVER else caller.process.pid)
    finally:
        await caller.close()


@contextlib.asynccontextmanager
async def over_http(words: Callable[[str], tuple[str, ...]]) -> AsyncIterator[Row]:
    """Start what listens on a port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    null = subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        *words(str(port)), stdin=null, stdout=null, stderr=null
    )
    try:
        await until_it_listens(port)
        caller = await HttpCaller.open(port)
        yield Row(caller, process.pid)
        await caller.close()
    finally:
        process.terminate()
        await process.wait()


async def until_it_listens(port: int) -> None:
    """Wait until something accepts connections."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return await writer.wait_closed()
            await asyncio.sleep(0.05)


async def take(row: Row) -> Taken:
    """Make the calls of a round."""
    each: dict[int, list[float]] = {}
    whole: dict[int, float] = {}
    await row.caller.call("the first, which connects")
    before = processor_time(row.pid)
    for abreast in ABREAST:
        numbers, each[abreast] = iter(range(CALLS)), []
        started = time.perf_counter()
        await asyncio.gather(*(go_on(row.caller, numbers, each[abreast]) for _ in range(abreast)))
        whole[abreast] = time.perf_counter() - started
    used = processor_time(row.pid) - before
    await row.caller.rest()
    return Taken(each, whole, used / (CALLS * len(ABREAST)))


async def go_on(caller: Caller, numbers: Iterator[int], times: list[float]) -> None:
    """Call as long as there are numbers."""
    for number in numbers:
        started = time.perf_counter()
        await caller.call(f"text {number}")
        times.append(time.perf_counter() - started)


def family(pid: int | None) -> list[int]:
    """List a process and all below it, but for the server that is called."""
    if pid is None:
        return []
    with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
        if SERVER[1] in file.read().split("\0")[:2]:
            return []
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        children = [int(word) for word in file.read().split()]
    return [pid, *(each for child in children for each in family(child))]


def processor_time(pid: int | None) -> float:
    """Tell the seconds that the processors gave to a process and those below it."""
    used = 0
    for each in family(pid):
        with open(f"/proc/{each}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        used += int(fields[11]) + int(fields[12])
    return used / TICK


def memory(pid: int | None) -> float:
    """Tell the resident memory of a process and those below it, in MiB."""
    pages = 0
    for each in family(pid):
        with open(f"/proc/{each}/statm", encoding="ascii") as file:
            pages += int(file.read().split()[1])
    return pages * PAGE / (1 << 20)


def print_table(taken: dict[str, list[Taken]], memories: dict[str, float], rounds: int) -> None:
    """Print the figures, and what they were measured with."""
    print(f"{processor_name()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f};")
    print(f"{platform.system()} {platform.release()}; Python {platform.python_version()};")
    print(f"{MCP_PROXY}, {SUPERGATEWAY}; {rounds} rounds of {CALLS} calls, interleaved.\n")
    rates = " | ".join(f"calls/s at {abreast}" for abreast in ABREAST)
    print(f"| what | p50 ms | p95 ms | p99 ms | {rates} | CPU ms a call | MiB |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name, rows in taken.items():
        alone = [1000 * seconds for once in rows for seconds in once.each[1]]
        cut = statistics.quantiles(alone, n=100)
        cells = [f"{cut[at]:.2f}" for at in (49, 94, 98)]
        for abreast in ABREAST:
            rate = statistics.median(CALLS / once.whole[abreast] for once in rows)
            cells.append(f"{rate:.0f}")
        used = 1000 * statistics.median(once.processor for once in rows)
        own = [f"{used:.2f}", f"{memories[name]:.0f}"] if memories[name] else ["", ""]
        print(f"| {' | '.join([name, *cells, *own])} |")


if __name__ == "__main__":
    main()
