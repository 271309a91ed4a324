"""How much may wait while clients are asked."""

import contextlib

import pytest

from thrall_py.gateway.caller import Refused
from thrall_py.gateway.relay import room as rooms
from thrall_py.gateway.relay.room import _EACH, Room

_SHARE = 1 << 20
_MOST = 4 * _SHARE
LARGEST = _SHARE - _EACH


def made():
    return Room(_MOST, _SHARE, "too much waits of this client, or of all")


def test_one_client_has_a_share_and_others_have_room_meanwhile():
    room = made()
    with room.holding("me", LARGEST):
        with pytest.raises(Refused, match="too much waits"), room.holding("me", 0):
            pass
        with room.holding("you", LARGEST):
            pass
    with room.holding("me", LARGEST):
        assert room._held == {"me": _SHARE}
    assert room._held == {}


def test_all_together_have_a_bound_as_well():
    room = made()
    with contextlib.ExitStack() as all_held:
        for number in range(_MOST // _SHARE):
            all_held.enter_context(room.holding(str(number), LARGEST))
        with pytest.raises(Refused, match="or of all"), room.holding("you", 0):
            pass
    with room.holding("you", LARGEST):
        assert room._held == {"you": _SHARE}


def test_what_is_too_large_for_a_share_has_no_room_at_all():
    with pytest.raises(Refused), made().holding("me", LARGEST + 1):
        pass


def holds(room, owner, sizes):
    """How many of these a client may have at a time."""
    with contextlib.ExitStack() as held, contextlib.suppress(Refused):
        for count, size in enumerate(sizes, 1):  # noqa: B007
            held.enter_context(room.holding(owner, size))
        return count
    return count - 1


def test_what_is_open_has_room_for_one_of_the_largest_and_for_many_of_a_megabyte():
    assert holds(rooms.for_requests(64 << 20), "me", [64 << 20]) == 1
    assert holds(rooms.for_requests(64 << 20), "me", [1 << 20] * 200) == 126
    assert holds(rooms.for_requests(1 << 30), "me", [1 << 30] * 3) == 1
    assert holds(rooms.for_requests(1), "me", [0] * 10_000) == 8192
    assert holds(rooms.for_questions(), "me", [15 << 20] * 2) == 1
