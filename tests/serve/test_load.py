"""Load and accidents: many calls at once, clients that go away, servers that die (make load)."""

import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from real.bench import MARK, THRALL, processes_with
from serve.clients import LEGACY, MODERN, HttpClient, StdioClient, text
from serve.running import fixture, nothing_left_soon, pin, serving

pytestmark = pytest.mark.load

CALLS = 1000
CLIENTS = 10
PATIENCE = 120  # seconds for what takes a few
SEED = 20261130


def run(coroutine):
    async def bounded():
        async with asyncio.timeout(PATIENCE):
            return await coroutine

    return asyncio.run(bounded())


@pytest.fixture(params=["legacy", "modern"])
def catalog(request, tmp_path):
    return pin(str(tmp_path / "catalog.json"), "fixture", fixture(request.param))


@pytest.fixture(params=[LEGACY, MODERN])
def revision(request):
    return request.param


def eventually(is_so, seconds=10):
    """Wait until something is so; whether it was in time."""
    end = time.monotonic() + seconds
    while not is_so() and time.monotonic() < end:
        time.sleep(0.1)
    return is_so()


@contextlib.asynccontextmanager
async def clients(gateway, revision, count=1):
    opened = [HttpClient(gateway.address, revision=revision) for _ in range(count)]
    for client in opened:
        await client.open()
    try:
        yield opened
    finally:
        for client in opened:
            await client.close()


async def echo(client, id_, word, later):
    """Call, and tell whether what came back is ours."""
    answer = await client.call(id_, "echo_later", text=word, seconds=later)
    assert (answer["id"], text(answer)) == (id_, word)


# -- many at once ------------------------------------------------------------------------------


def test_a_thousand_calls_at_once_with_the_same_ids_get_their_own_answers(catalog, revision):
    later = random.Random(SEED)

    async def load(gateway):
        async with clients(gateway, revision, CLIENTS) as opened:
            calls = [
                echo(client, number, f"client {index} call {number}", later.uniform(0.2, 0.6))
                for index, client in enumerate(opened)
                for number in range(CALLS // CLIENTS)
            ]
            await asyncio.gather(*calls)
        return len(calls)

    with serving(catalog) as gateway:
        assert run(load(gateway)) == CALLS


def test_a_thousand_calls_on_one_pipe_under_ids_that_look_alike_get_their_own_answers(catalog):
    later = random.Random(SEED)

    async def one(client, id_):
        answer = await client.call(id_, "echo_later", text=f"for {id_}", seconds=later.random())
        assert text(answer) == f"for {id_}"

    async def load():
        client = await StdioClient.start(*THRALL, "serve", catalog)
        ids = [f(number) for number in range(1, 1 + CALLS // 2) for f in (str, '"{}"'.format)]
        await asyncio.gather(*(one(client, id_) for id_ in ids))
        await client.close()
        return len(ids)

    assert run(load()) == CALLS


def test_a_gateway_before_a_gateway_gives_each_call_its_answer(catalog, revision, tmp_path):
    async def load(gateway):
        async with clients(gateway, revision) as [client]:
            await asyncio.gather(*(echo(client, id_, f"far {id_}", 0.1) for id_ in range(200)))
        return len(processes_with(gateway.mark))

    with serving(catalog) as far:
        near = str(tmp_path / "near.json")
        words = [*THRALL, "pin", near, "--name", "far", "--url", far.url]
        subprocess.run(words, check=True, stderr=subprocess.DEVNULL)
        with serving(near) as gateway:
            processes = run(load(gateway))
    # One for each request that is open, but not for each of two hundred.
    assert 1 < processes <= 20


def test_memory_is_flat(catalog, revision):
    async def load(gateway):
        measured = []
        async with clients(gateway, revision) as [client]:
            for batch in range(10):
                for start in range(0, 2000, 20):
                    ids = [batch * 2000 + start + number for number in range(20)]
                    await asyncio.gather(*(echo(client, id_, f"text {id_}", 0) for id_ in ids))
                measured.append(gateway.memory() // 1024)
                print(f"{(batch + 1) * 2000:6} calls: {measured[-1]} KiB", flush=True)
        return measured

    with serving(catalog) as gateway:
        measured = run(load(gateway))
    assert measured[-1] - measured[1] < 4096, measured


def test_what_a_server_does_not_read_takes_bounded_memory_and_is_given_back(tmp_path, revision):
    catalog = pin(str(tmp_path / "catalog.json"), "fixture", fixture("legacy"))
    body, some = "x" * 5_000_000, 8  # 26 of them may be open

    async def leave_open(gateway):
        """Make more calls than may be open, and leave; what becomes of the last ones."""
        async with clients(gateway, revision) as [client]:
            sent = [await client.begin(id_, "echo", text=body) for id_ in range(26 + some)]
            refused = [(await each.read()).message["error"]["code"] for each in sent[-some:]]
            return refused, gateway.memory() >> 20

    async def load(gateway):
        measured = []
        async with clients(gateway, revision) as [client]:
            server = int(text(await client.call(0, "process")))
            before = gateway.descriptors()
            for _ in range(2):
                os.kill(server, signal.SIGSTOP)
                refused, most = await leave_open(gateway)
                # What is half closed keeps its room until it has had its time.
                assert eventually(lambda: gateway.descriptors() < before + some)
                os.kill(server, signal.SIGCONT)
                await echo(client, 1, "still here", 0)
                measured.append(most)
                print(f"{most} MiB", flush=True)
                assert refused == [-32603] * some
        return measured

    with serving(catalog) as gateway:
        measured = run(load(gateway))
        given_back = eventually(lambda: gateway.memory() >> 20 < 250)
        print(f"{gateway.memory() >> 20} MiB in the end", flush=True)
    assert max(measured) < 700, measured
    assert given_back


# -- clients that go away ----------------------------------------------------------------------


def test_clients_of_2026_07_28_that_go_away_cancel_their_calls_and_no_other(catalog):
    async def load(gateway):
        async with clients(gateway, MODERN) as [client]:
            staying = asyncio.create_task(echo(client, 1, "still here", 3))
            await asyncio.gather(*(client.drop(2, "wait", seconds=30) for _ in range(200)))
            await staying
            for _ in range(100):
                count = text(await client.call(3, "cancelled"))
                if count == "200":
                    break
                await asyncio.sleep(0.05)
        return count

    with serving(catalog) as gateway:
        assert run(load(gateway)) == "200"


def test_clients_of_before_that_go_away_leave_a_gateway_that_answers(catalog):
    async def load(gateway):
        async with clients(gateway, LEGACY, CLIENTS) as opened:
            drops = [
                client.drop(id_, "wait", seconds=1) for client in opened for id_ in range(1, 21)
            ]
            await asyncio.gather(*drops)
            for client in opened:
                await echo(client, 99, "still here", 0)  # the calls go on under their ids
        return len(drops)

    with serving(catalog) as gateway:
        before = gateway.descriptors()
        assert run(load(gateway)) == 200
        # The connections are gone once those that were half closed have had their time.
        assert eventually(lambda: gateway.descriptors() < before + 20)


# -- servers that die --------------------------------------------------------------------------


def test_a_server_that_is_killed_fails_what_is_open_there_and_is_started_again(catalog):
    async def load(gateway):
        async with clients(gateway, LEGACY) as [client]:
            pids = []
            for number in range(5):
                pids.append(int(text(await client.call(1, "process"))))
                waiting = [
                    asyncio.create_task(client.call(id_, "wait", seconds=30)) for id_ in range(20)
                ]
                await asyncio.sleep(0.3)
                os.kill(pids[-1], signal.SIGKILL)
                for answer in await asyncio.gather(*waiting):
                    assert "error" in answer or answer["result"]["isError"], number
                await answered(client)
        return len(set(pids))

    with serving(catalog) as gateway:
        assert run(load(gateway)) == 5


async def answered(client):
    """Call until it is answered: between two starts there is a pause."""
    while True:
        answer = await client.call(1, "echo", text="again")
        if "result" in answer and not answer["result"].get("isError"):
            return
        await asyncio.sleep(0.1)


def test_two_hundred_failed_starts_leave_a_gateway_that_serves_the_others(tmp_path):
    catalog = str(tmp_path / "catalog.json")
    script = tmp_path / "broken.py"
    script.write_text(f"import os, sys\nos.execv(sys.executable, {fixture()!r})\n")
    pin(catalog, "broken", [sys.executable, str(script)], "--surface", "tools")
    multiply(catalog, "broken", 200)
    pin(catalog, "fixture", fixture())
    starts = tmp_path / "starts"
    script.write_text(f"print('x', file=open({str(starts)!r}, 'a'))\nraise SystemExit(7)\n")

    async def load(gateway):
        async with clients(gateway, LEGACY) as [client]:
            await echo(client, 0, "before", 0)
            before = gateway.descriptors(), len(processes_with(gateway.mark))
            for start in range(0, 200, 20):
                calls = [
                    client.call(id_, f"{id_}_echo", text="x") for id_ in range(start, start + 20)
                ]
                for answer in await asyncio.gather(*calls):
                    assert "error" in answer or answer["result"]["isError"]
            await echo(client, 0, "after", 0)
            await client.close()
            return before, (gateway.descriptors(), len(processes_with(gateway.mark)))

    with serving(catalog) as gateway:
        before, after = run(load(gateway))
    assert after[0] <= before[0] + 20  # connections that are on their way out
    assert after[1] == before[1]
    assert starts.read_text() == 200 * "x\n"


def multiply(catalog, name, count):
    """Put so many servers in the place of one, each under a prefix of its own."""
    with open(catalog, encoding="ascii") as file:
        held = json.load(file)
    entry = held["servers"].pop(name)
    held["servers"] |= {f"{name}{i}": entry | {"prefix": f"{i}_"} for i in range(count)}
    with open(catalog, "w", encoding="ascii") as file:
        json.dump(held, file)


# -- the end of the gateway --------------------------------------------------------------------


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_a_signal_under_load_ends_all(catalog, signum):
    async def load(gateway):
        async with clients(gateway, LEGACY, CLIENTS) as opened:
            calls = [
                asyncio.create_task(client.call(id_, "wait", seconds=30))
                for client in opened
                for id_ in range(20)
            ]
            await asyncio.sleep(1)
            gateway.process.send_signal(signum)
            await asyncio.gather(*calls, return_exceptions=True)
            await asyncio.to_thread(gateway.process.wait, PATIENCE)

    with serving(catalog) as gateway:
        run(load(gateway))
        nothing_left_soon(gateway.mark)
    assert gateway.process.returncode == -signum


def test_a_gateway_on_pipes_that_is_killed_leaves_no_server(catalog):
    mark = f"killed {os.getpid()}"

    async def load():
        client = await StdioClient.start(
            *THRALL, "serve", catalog, env=os.environ | {MARK: mark}, stderr=subprocess.DEVNULL
        )
        await client.call("1", "echo", text="up")
        assert len(processes_with(mark)) >= 3
        client.process.kill()
        await client.close()
        return client.process.returncode

    assert run(load()) == -signal.SIGKILL
    nothing_left_soon(mark)
