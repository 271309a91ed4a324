"""The calls that were given up and are not answered yet."""

import asyncio

import pytest

from thrall_py.gateway.upstream import owed
from thrall_py.gateway.upstream.owed import Owed, our_id
from thrall_py.protocol.jsontext import Value


def test_a_call_counts_until_it_is_answered_and_as_a_recent_one_for_some_minutes(monkeypatch):
    async def scenario():
        now = [0.0]
        held = Owed()
        with monkeypatch.context() as patched:
            patched.setattr(asyncio.get_running_loop(), "time", lambda: now[0])
            held.add(1, "one")
            held.add(2, "two")
            held.settle(2)
            held.settle(3)
            early = held.clients(), held.recent()
            now[0] = 301.0
            return early, (held.clients(), held.recent())

    assert asyncio.run(scenario()) == (({"one"}, {"one"}), ({"one"}, set()))


def test_of_too_many_calls_anybodys_may_be_meant(monkeypatch):
    monkeypatch.setattr(owed, "_MOST", 2)

    async def scenario():
        held = Owed()
        for id_ in (1, 2, 3, 4):
            held.add(id_, "one")
        return held.clients(), len(held._held)

    assert asyncio.run(scenario()) == ({"one", ""}, 3)


def test_what_is_taken_over_is_settled_by_no_answer():
    async def scenario():
        one, all_ = Owed(), Owed()
        one.add(1, "one")
        all_.take_over(one)
        all_.settle(1)
        return all_.clients()

    assert asyncio.run(scenario()) == {"one"}


@pytest.mark.parametrize(
    ("text", "number"),
    [("2", 2), ('"2"', 2), ("2.0", 2), ("02", None), ("[2]", None), ("9" * 30, None)],
)
def test_an_id_is_ours_by_value(text, number):
    assert our_id(Value(text, 0, len(text))) == number
    assert our_id(None) is None
