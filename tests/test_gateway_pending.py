"""Calls that wait for their clients to come back."""

import asyncio

from gateways import run, until

from thrall_py.gateway.relay import pending
from thrall_py.gateway.relay.pending import MARK, Pending


class Call:
    binding = "mine"
    owner = "me"
    is_abandoned = False

    def abandon(self):
        self.is_abandoned = True


def test_a_call_comes_back_once_and_only_to_whose_it_is():
    async def story():
        held, call = Pending(), Call()
        state = held.suspend(call)
        assert held.resume(state, "yours") is None
        assert held.resume(state + "0", "mine") is None
        assert held.resume(state, "mine") is call
        assert held.resume(state, "mine") is None
        return call.is_abandoned

    assert run(story()) is False


def test_a_state_is_long_and_another_for_each_call():
    async def story():
        held = Pending()
        states = {held.suspend(Call()) for _ in range(100)}
        held.close()
        return states

    states = run(story())
    assert len(states) == 100
    assert all(state.startswith(MARK) and len(state) == len(MARK) + 64 for state in states)


def test_a_call_whose_client_does_not_come_back_is_abandoned():
    async def story():
        held, call = Pending(0.01), Call()
        state = held.suspend(call)
        await until(lambda: call.is_abandoned)
        return held.resume(state, "mine")

    assert run(story()) is None


def test_no_more_than_a_number_may_wait(monkeypatch):
    monkeypatch.setattr(pending, "_MOST", 1)

    async def story():
        held, call = Pending(), Call()
        before = held.has_place("me")
        held.suspend(call)
        after = held.has_place("you")
        held.close()
        await asyncio.sleep(0)
        return before, after, held.has_place("me"), call.is_abandoned

    assert run(story()) == (True, False, True, True)


def test_one_client_leaves_places_for_others(monkeypatch):
    monkeypatch.setattr(pending, "_SHARE", 1)

    async def story():
        held = Pending()
        held.suspend(Call())
        places = held.has_place("me"), held.has_place("you")
        held.close()
        return places

    assert run(story()) == (False, True)
