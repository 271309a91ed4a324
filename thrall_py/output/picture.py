"""A picture shown at a terminal that can: kitty's protocol and iTerm2's. Pure.

What the terminal gets is base64 in our own escape sequence; nothing of the server's words is in it.
Sixel is not here: it would mean decoding pictures.
"""

import binascii
from collections.abc import Iterator, Mapping

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


def show(part: MediaPart, how: str) -> Iterator[bytes]:
    """Make the sequences that show a part, if it is a picture that `how` can show."""
    if part.kind != "image" or part.content is None or part.encoding != "base64":
        return
    data = b"".join(part.decode())
    if len(data) > _LARGEST or not data.startswith(_MAGICS):
        return
    text = binascii.b2a_base64(data, newline=False)
    if how == "iterm":
        yield b"\x1b]1337;File=inline=1;size=%d:%s\x07\n" % (len(data), text)
    elif how == "kitty" and data.startswith(_PNG):
        yield from _kitty(text)


def _kitty(text: bytes) -> Iterator[bytes]:
    first = b"f=100,a=T,"
    for at in range(0, len(text), _CHUNK):
        more = int(at + _CHUNK < len(text))
        yield b"\x1b_G%sm=%d;%s\x1b\\" % (first, more, text[at : at + _CHUNK])
        first = b""
    yield b"\n"
