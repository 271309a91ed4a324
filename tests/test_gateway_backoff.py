"""The pause before something that failed is tried again."""

import asyncio

import pytest
from gateways import run

from thrall_py.errors import ServerError
from thrall_py.gateway.upstream.backoff import Backoff

PROBLEM = ServerError("it does not start")


def failed(times):
    backoff = Backoff()
    for _ in range(times):
        backoff._until = 0  # the pause is over
        backoff.failed(PROBLEM)
    return backoff


def test_before_a_failure_and_after_a_success_nobody_waits():
    async def wait():
        await Backoff().wait(0)
        backoff = failed(9)
        backoff.succeeded()
        await backoff.wait(0)
        return backoff

    assert run(wait())._problem is None


def test_a_short_pause_is_waited_for(monkeypatch):
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    async def wait():
        monkeypatch.setattr(asyncio, "sleep", sleep)
        await failed(1).wait(60)

    run(wait())
    assert len(slept) == 1
    assert 0 < slept[0] <= 0.1


def test_a_pause_that_is_over_is_none():
    async def wait():
        backoff = failed(1)
        backoff._until -= 1
        await backoff.wait(0)
        return backoff

    assert run(wait())._problem is PROBLEM


def test_failures_of_what_was_begun_at_once_are_followed_by_one_pause():
    async def delay():
        backoff = failed(1)
        for _ in range(64):
            backoff.failed(PROBLEM)
        return backoff._delay

    assert run(delay()) == 0.1


@pytest.mark.parametrize(("failures", "seconds"), [(1, 0.01), (6, 120)])
def test_a_longer_pause_than_somebody_has_or_than_two_seconds_is_the_last_failure(
    failures, seconds
):
    async def wait():
        await failed(failures).wait(seconds)

    with pytest.raises(ServerError, match="it does not start"):
        run(wait())
