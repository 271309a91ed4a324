"""How much may wait while clients are asked."""

import contextlib

import pytest

from thrall_py.gateway.caller import Refused
from thrall_py.gateway.relay.room import _EACH, _MOST, _SHARE, Room

LARGEST = _SHARE - _EACH


def test_one_client_has_a_share_and_others_have_room_meanwhile():
    room = Room()
    with room.holding("me", LARGEST):
        with pytest.raises(Refused, match="too much waits"), room.holding("me", 0):
            pass
        with room.holding("you", LARGEST):
            pass
    with room.holding("me", LARGEST):
        assert room._held == {"me": _SHARE}
    assert room._held == {}


def test_all_together_have_a_bound_as_well():
    room = Room()
    with contextlib.ExitStack() as all_held:
        for number in range(_MOST // _SHARE):
            all_held.enter_context(room.holding(str(number), LARGEST))
        with pytest.raises(Refused, match="or of all"), room.holding("you", 0):
            pass
    with room.holding("you", LARGEST):
        assert room._held == {"you": _SHARE}


def test_what_is_too_large_for_a_share_has_no_room_at_all():
    with pytest.raises(Refused), Room().holding("me", LARGEST + 1):
        pass
