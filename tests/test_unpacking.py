import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thrall_py.protocol.channel import Unanswered
from thrall_py.transport.http.unpacking import Unpacking


def unpacked(*chunks):
    unpacking, pieces = Unpacking(), []
    for chunk in chunks:
        unpacking.feed(chunk)
        while piece := unpacking.take():
            pieces.append(piece)
    unpacking.finish()
    return b"".join(pieces)


@given(st.lists(st.binary(max_size=2000), min_size=1, max_size=3), st.integers(1, 99))
def test_members_of_gzip_in_any_portions_are_unpacked(members, size):
    packed = b"".join(map(gzip.compress, members))
    chunks = [packed[at : at + size] for at in range(0, len(packed), size)]
    assert unpacked(*chunks) == b"".join(members)


@pytest.mark.parametrize("plain", [b"", b"{}", b'{"a":1}', b"\x1fno"])
def test_what_only_says_to_be_gzip_passes(plain):
    assert unpacked(*(plain[at : at + 1] for at in range(len(plain)))) == plain


def test_a_bomb_comes_in_pieces():
    unpacking, sizes = Unpacking(), []
    unpacking.feed(gzip.compress(bytes(50 << 20)))
    while piece := unpacking.take():
        sizes.append(len(piece))
    assert sum(sizes) == 50 << 20
    assert max(sizes) <= 1 << 18


def test_gzip_that_breaks_off_is_told():
    with pytest.raises(Unanswered, match="breaks off"):
        unpacked(gzip.compress(b"x" * 1000)[:-10])


@pytest.mark.parametrize("broken", [b"\x1f\x8bxxxxxxxxxxxxxxxx", gzip.compress(b"x") + b"yy"])
def test_gzip_that_is_damaged_is_told(broken):
    with pytest.raises(Unanswered, match="cannot be unpacked"):
        unpacked(broken)


def test_what_zlib_holds_back_is_not_lost():
    data = bytes(range(256)) * 4096
    packed = gzip.compress(data, 9)
    assert unpacked(packed) == data
    assert zlib.crc32(unpacked(packed[:50], packed[50:])) == zlib.crc32(data)
