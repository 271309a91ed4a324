"""Writing without waiting for the reader."""

import asyncio
import os

import pytest
from gateways import run, until

from thrall_py.gateway.front.outlet import Outlet


@pytest.fixture
def pipe():
    reading, writing = os.pipe()
    ends = {"reading": reading, "writing": writing}
    yield ends
    for descriptor in ends.values():
        os.close(descriptor)


def test_more_than_a_pipe_holds_arrives_whole_and_in_order(pipe):
    data = bytes(range(256)) * 2000

    async def story():
        outlet, loop, came = Outlet(pipe["writing"]), asyncio.get_running_loop(), bytearray()
        outlet.write(data[:100])
        outlet.write(data[100:])
        assert outlet.waiting == len(data)
        loop.add_reader(pipe["reading"], lambda: came.extend(os.read(pipe["reading"], 70_000)))
        await outlet.room(1000)
        assert outlet.waiting <= 1000
        await outlet.close(10)
        await until(lambda: len(came) == len(data))
        loop.remove_reader(pipe["reading"])
        return bytes(came)

    assert run(story()) == data


def test_a_reader_who_does_not_read_is_waited_for_as_long_as_it_is_said(pipe):
    async def story():
        outlet = Outlet(pipe["writing"])
        outlet.write(b"x" * 1_000_000)
        await outlet.close(0.05)
        return outlet.waiting, outlet.failure

    waiting, failure = run(story())
    assert waiting > 0
    assert failure is None


def test_without_a_reader_there_is_a_failure_and_nothing_waits_any_more(pipe):
    os.close(pipe.pop("reading"))

    async def story():
        outlet = Outlet(pipe["writing"])
        broken = asyncio.create_task(outlet.broken())
        await asyncio.sleep(0)
        outlet.write(b"x" * 10_000)
        await broken
        outlet.write(b"more")
        await outlet.room()
        await outlet.close(1)
        return outlet

    outlet = run(story())
    assert isinstance(outlet.failure, BrokenPipeError)
    assert outlet.waiting == 0


def test_a_descriptor_that_somebody_made_non_blocking_and_filled_is_tried_again(pipe):
    os.set_blocking(pipe["writing"], False)

    async def story():
        outlet = Outlet(pipe["writing"])
        os.write(pipe["writing"], b"y" * (1 << 20))  # what fits
        outlet.write(b"x")
        outlet._write()  # as if it had been said to be writable
        assert outlet.waiting == 1
        os.read(pipe["reading"], 1 << 20)
        await outlet.close(10)
        return outlet.waiting

    assert run(story()) == 0


def test_a_file_is_written_at_once(tmp_path):
    async def story(descriptor):
        outlet = Outlet(descriptor)
        outlet.write(b"x" * 10_000)
        assert outlet.waiting == 0
        await outlet.close(1)

    with open(tmp_path / "file", "wb", buffering=0) as file:
        run(story(file.fileno()))
    assert (tmp_path / "file").read_bytes() == b"x" * 10_000
