"""Pixels as sixel, the way of DEC's terminals to be sent a picture. Pure.

The rules are those of the VT330/VT340 Programmer Reference Manual (EK-VT3XX-GP), chapter 14. A
picture is cut into bands of six rows. In a band one colour is drawn after the other, a character
for each column: its bits say in which of the six rows the column has that colour.
"""

import re
from collections.abc import Iterator

from thrall_py.output.pixels import NOTHING, Pixels

_ROWS = 6  # of a band
_FIRST = 63  # the character for a column without the colour
_EMPTY = bytes((_FIRST,))
_AS_TEXT = bytes((_FIRST + bits) & 0xFF for bits in range(256))
_RUN = re.compile(rb"(.)\1{3,254}")  # `!` with its number is shorter from four on; 255 is the most


def encode(pixels: Pixels) -> Iterator[bytes]:
    """Make the sequence that shows a picture, band by band; the cursor comes to stand below."""
    height = len(pixels.indices) // pixels.width
    # 1: what is not drawn stays as it is. Then the shape of a pixel, 1:1, and the size.
    yield b'\x1bP0;1q"1;1;%d;%d' % (pixels.width, height)
    for number in sorted(set(pixels.indices) - {NOTHING}):
        shares = (
            (share * 100 + 127) // 255 for share in pixels.palette[3 * number : 3 * number + 3]
        )
        yield b"#%d;2;%d;%d;%d" % (number, *shares)
    size = pixels.width * _ROWS
    for at in range(0, len(pixels.indices), size):
        yield b"-" if at else b""
        yield _band(pixels.indices[at : at + size], pixels.width)
    yield b"\x1b\\\n"


def _band(indices: bytes, width: int) -> bytes:
    rows = [indices[at : at + width] for at in range(0, len(indices), width)]
    colours = sorted(set(indices) - {NOTHING})
    return b"$".join(b"#%d%s" % (number, _columns(rows, number)) for number in colours)


def _columns(rows: list[bytes], number: int) -> bytes:
    """Make the characters of one colour; whole rows at once, because pixel by pixel takes long."""
    drawn = 0
    for place, row in enumerate(rows):
        bit = bytearray(256)
        bit[number] = 1 << place
        drawn |= int.from_bytes(row.translate(bit))
    columns = drawn.to_bytes(len(rows[0])).translate(_AS_TEXT)
    return _RUN.sub(_repeated, columns.rstrip(_EMPTY))


def _repeated(run: re.Match[bytes]) -> bytes:
    return b"!%d%s" % (len(run[0]), run[1])
