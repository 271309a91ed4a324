"""Pictures as sixel: read by Pillow, drawn by us, and read back by a decoder of the tests' own."""

import io
import re
import sys
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from thrall_py.output import pixels, sixel
from thrall_py.output.pixels import NOTHING, Pixels

ROOM = (800, 600)
TOKEN = re.compile(
    rb'"1;1;(\d+);(\d+)|#(\d+);2;(\d+);(\d+);(\d+)|#(\d+)|!(\d+)([?-~])|([?-~])|(\$)|(-)'
)


def drawn(sequence):
    """What a terminal draws: the size that it is told, and the colour of each pixel in percent."""
    assert sequence.startswith(b"\x1bP0;1q")
    body = sequence.removeprefix(b"\x1bP0;1q").removesuffix(b"\x1b\\\n")
    size, palette, drawn, colour, x, y, at = None, {}, {}, None, 0, 0, 0
    while at < len(body):
        token = TOKEN.match(body, at)
        assert token, body[at : at + 20]
        at = token.end()
        width, height, number, r, g, b, chosen, count, repeated, once, start, down = token.groups()
        if width:
            size = int(width), int(height)
        elif number:
            palette[int(number)] = int(r), int(g), int(b)
        elif chosen:
            colour = palette[int(chosen)]
        elif start or down:
            x, y = 0, y + 6 * bool(down)
        for _ in range(int(count or bool(once))):
            bits = ord(repeated or once) - 63
            for row in range(6):
                if bits >> row & 1:
                    assert (x, y + row) not in drawn, "a pixel has one colour"
                    drawn[x, y + row] = colour
            x += 1
    return size, drawn


@st.composite
def pictures(draw):
    width = draw(st.integers(1, 300))
    height = draw(st.integers(1, 14))
    colours = draw(st.integers(1, 255))
    some = st.sampled_from([*range(min(colours, 3)), colours - 1, NOTHING])
    runs = draw(st.lists(st.tuples(some, st.integers(1, 600)), min_size=1))
    indices = b"".join(bytes([index]) * count for index, count in runs) * width * height
    palette = draw(st.binary(min_size=3 * colours, max_size=3 * colours))
    return Pixels(width, palette, indices[: width * height])


@given(pictures())
def test_what_a_terminal_draws_is_the_picture(picture):
    size, found = drawn(b"".join(sixel.encode(picture)))
    assert size == (picture.width, len(picture.indices) // picture.width)
    expected = {}
    for place, index in enumerate(picture.indices):
        if index != NOTHING:
            colour = picture.palette[3 * index : 3 * index + 3]
            shares = tuple((share * 100 + 127) // 255 for share in colour)
            expected[place % picture.width, place // picture.width] = shares
    assert found == expected


def test_runs_are_told_by_their_length():
    picture = Pixels(700, b"\xff\xff\xff", bytes(700))
    assert b"".join(sixel.encode(picture)) == (
        b'\x1bP0;1q"1;1;700;1#0;2;100;100;100#0!255@!255@!190@\x1b\\\n'
    )


def file(image, kind="PNG"):
    with io.BytesIO() as written:
        image.save(written, kind)
        return written.getvalue()


def colours(read):
    return [
        None if index == NOTHING else tuple(read.palette[3 * index : 3 * index + 3])
        for index in read.indices
    ]


def test_few_colours_are_kept_as_they_are():
    image = Image.new("RGB", (3, 2), (1, 2, 3))
    image.putpixel((1, 1), (250, 251, 252))
    read = pixels.read(file(image), ROOM)
    assert read.width == 3
    assert colours(read) == [(1, 2, 3)] * 4 + [(250, 251, 252), (1, 2, 3)]


def test_many_colours_become_255_at_most():
    image = Image.merge("RGB", [Image.effect_noise((64, 64), 99) for _ in range(3)])
    read = pixels.read(file(image), ROOM)
    assert len(read.indices) == 64 * 64
    assert 200 < len(set(read.indices)) <= 255
    assert NOTHING not in read.indices


def test_what_is_transparent_is_not_drawn():
    image = Image.new("RGBA", (3, 1), (9, 9, 9, 255))
    image.putpixel((1, 0), (9, 9, 9, 127))
    image.putpixel((2, 0), (9, 9, 9, 128))
    assert colours(pixels.read(file(image), ROOM)) == [(9, 9, 9), None, (9, 9, 9)]


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF"])
@pytest.mark.parametrize(
    ("size", "scaled"),
    [((1600, 100), (800, 50)), ((20, 1200), (10, 600)), ((800, 600), (800, 600)), ((3, 2), (3, 2))],
)
def test_a_picture_that_is_larger_than_the_terminal_is_scaled_down(kind, size, scaled):
    read = pixels.read(file(Image.new("L", size, 255), kind), ROOM)
    assert (read.width, len(read.indices) // read.width) == scaled


def test_an_animation_is_its_first_picture():
    frames = [Image.new("L", (2, 2), shade) for shade in (0, 255)]
    with io.BytesIO() as written:
        frames[0].save(written, "GIF", save_all=True, append_images=frames[1:])
        read = pixels.read(written.getvalue(), ROOM)
    assert colours(read) == [(0, 0, 0)] * 4


BOMB = file(Image.new("1", (4097, 4096)))
LARGEST = file(Image.new("1", (4096, 4096)))


def test_a_picture_of_too_many_pixels_is_not_unpacked(monkeypatch):
    monkeypatch.setattr(Image.Image, "convert", None)
    assert pixels.read(BOMB, ROOM) is None


def test_a_picture_of_as_many_pixels_as_are_unpacked_is_read():
    assert pixels.read(LARGEST, ROOM).width == 600


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n",
        file(Image.effect_noise((64, 64), 99))[:200],
        file(Image.effect_noise((64, 64), 99), "JPEG")[:200],
        file(Image.new("L", (2, 2)), "WEBP"),
        file(Image.new("L", (2, 2)), "BMP"),
        b"GIF89a",
    ],
    ids=lambda data: repr(data[:6]),
)
def test_what_is_broken_or_of_another_kind_is_no_picture(data):
    assert pixels.read(data, ROOM) is None


def test_pillow_s_own_warnings_are_not_heard(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 3)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assert pixels.read(file(Image.new("L", (2, 2))), ROOM).width == 2
    assert heard == []


def test_pillow_is_an_extra(monkeypatch):
    assert pixels.can_read()
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert not pixels.can_read()
