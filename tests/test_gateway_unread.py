"""How much of all replies waits to be read."""

from thrall_py.gateway.front.unread import Unread


def test_a_large_response_has_room_until_too_much_waits_and_a_small_one_always():
    unread = Unread(1_000_000)
    unread.add(500_000)
    assert unread.has_room(500_000)
    assert not unread.has_room(500_001)
    unread.add(600_000)
    assert unread.is_full
    assert unread.has_room(1 << 16)
    unread.add(-1_100_000)
    assert unread.has_room(1_000_000)
    assert not unread.is_full
