"""A picture shown at a terminal that can: by kitty's protocol, iTerm2's, or sixel.

What the terminal gets is base64 in our own escape sequence, or pixels that we have drawn; nothing
of the server's words is in it.
"""

import binascii
from collections.abc import Iterator, Mapping

from thrall_py.errors import ServerError
from thrall_py.output.render import MediaPart

_CHUNK = 4096  # characters of one command, the most that kitty takes
_LARGEST = 1 << 23  # bytes of a picture that is shown
_PNG = b"\x89PNG\r\n\x1a\n"
_MAGICS = (_PNG, b"\xff\xd8\xff", b"GIF8", b"RIFF")
_ITERM_PROGRAMS = ("iTerm.app", "WezTerm", "vscode")


def protocol(environment: Mapping[str, str]) -> str:
    """Tell what the terminal of an environment understands: `kitty`, `iterm`, or nothing.

    A multiplexer between us and the terminal would print the sequences, or swallow them.
    """
    term = environment.get("TERM", "")
    if environment.get("TMUX") or term.startswith(("screen", "tmux")):
        return ""
    if environment.get("KITTY_WINDOW_ID") or term in {"xterm-kitty", "xterm-ghostty"}:
        return "kitty"
    if environment.get("TERM_PROGRAM") in _ITERM_PROGRAMS:
        return "iterm"
    return ""


def show(part: MediaPart, how: str, most: tuple[int, int]) -> Iterator[bytes]:
    """Make the sequences that show a part, if it is a picture that can be shown in this way.

    Args:
        part: of an answer.
        how: `kitty`, `iterm` or `sixel`.
        most: width and height in pixels that the terminal has room for; the first two know by
            themselves.

    """
    data = _data(part)
    if len(data) > _LARGEST or not data.startswith(_MAGICS):
        return
    if how == "sixel":
        yield from _sixel(data, most)
    elif how == "iterm":
        text = binascii.b2a_base64(data, newline=False)
        yield b"\x1b]1337;File=inline=1;size=%d:%s\x07\n" % (len(data), text)
    elif data.startswith(_PNG):
        yield from _kitty(binascii.b2a_base64(data, newline=False))


def _data(part: MediaPart) -> bytes:
    """Take the bytes of an image; none if it is none."""
    if part.kind != "image" or part.content is None or part.encoding != "base64":
        return b""
    try:
        return b"".join(part.decode())
    except ServerError:  # its line says so
        return b""


def _sixel(data: bytes, most: tuple[int, int]) -> Iterator[bytes]:
    from thrall_py.output import pixels, sixel

    read = pixels.read(data, most)
    if read is not None:
        yield from sixel.encode(read)


def _kitty(text: bytes) -> Iterator[bytes]:
    first = b"f=100,a=T,"
    for at in range(0, len(text), _CHUNK):
        more = int(at + _CHUNK < len(text))
        yield b"\x1b_G%sm=%d;%s\x1b\\" % (first, more, text[at : at + _CHUNK])
        first = b""
    yield b"\n"
