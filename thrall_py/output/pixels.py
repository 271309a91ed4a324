"""A picture's bytes as pixels, by Pillow: a few colours, and no larger than a terminal.

The bytes are the server's. So only PNG, JPEG and GIF are read, their size is looked at before a
pixel is unpacked, and one that cannot be read is no picture and no failure.
"""

import importlib.util
import io
import warnings
from typing import NamedTuple

NOTHING = 255  # the index of a pixel that is transparent
_MOST = 1 << 24  # pixels that are unpacked: 64 MiB, and those of any telephone
_FORMATS = ("PNG", "JPEG", "GIF")
_OPAQUE = 128  # an alpha from here on


class Pixels(NamedTuple):
    """A picture of at most 255 colours.

    Attributes:
        width: pixels in a row.
        palette: red, green and blue from 0 to 255, of one colour after the other.
        indices: for each pixel, row by row, its place in the palette, or `NOTHING`.

    """

    width: int
    palette: bytes
    indices: bytes


def can_read() -> bool:
    """Whether Pillow, which is an extra, is installed."""
    return importlib.util.find_spec("PIL") is not None


def read(data: bytes, most: tuple[int, int]) -> Pixels | None:
    """Read a picture, of an animation the first; None if it cannot be read.

    Args:
        data: the bytes of a file.
        most: width and height in pixels; what is larger is scaled down.

    """
    try:
        with warnings.catch_warnings(action="ignore"):  # about what is odd in it: nobody asked
            return _read(data, most)
    except Exception:  # noqa: BLE001 - a decoder fails in every way there is, and Pillow passes it on
        return None


def _read(data: bytes, most: tuple[int, int]) -> Pixels | None:
    from PIL import Image

    with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
        if image.width * image.height > _MOST:
            return None
        image.draft("RGB", most)  # a JPEG can be unpacked to a fraction of its size
        scaled = image.convert("RGBA")
    scaled.thumbnail(most)
    few = scaled.convert("RGB").quantize(NOTHING)
    few.paste(NOTHING, mask=scaled.getchannel("A").point(_is_transparent))
    return Pixels(few.width, bytes(few.getpalette() or ()), few.tobytes())


def _is_transparent(alpha: int) -> int:
    return 0 if alpha >= _OPAQUE else 255
