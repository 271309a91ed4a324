"""A picture at a terminal: which one can, and what it gets."""

import base64
import io
import json

import pytest
from PIL import Image

from thrall_py.output import picture, render
from thrall_py.protocol.jsontext import EACH, scan

PNG = b"\x89PNG\r\n\x1a\n" + bytes(5000)


ROOM = (800, 600)


def broken():
    text = '{"content":[{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo!"}]}'
    return render.read_result(scan(text, {"content": {EACH: {}}})).parts[0]


def image(data, kind="image", **more):
    part = {"type": kind, "mimeType": "image/png", "data": base64.b64encode(data).decode(), **more}
    text = json.dumps({"content": [part]})
    return render.read_result(scan(text, {"content": {EACH: {"resource": {}}}})).parts[0]


@pytest.mark.parametrize(
    ("environment", "how"),
    [
        ({}, ""),
        ({"TERM": "xterm-256color"}, ""),
        ({"TERM": "xterm-kitty"}, "kitty"),
        ({"TERM": "xterm-ghostty"}, "kitty"),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, "kitty"),
        ({"TERM_PROGRAM": "iTerm.app"}, "iterm"),
        ({"TERM_PROGRAM": "WezTerm"}, "iterm"),
        ({"TERM_PROGRAM": "Apple_Terminal"}, ""),
        ({"TERM": "screen-256color", "KITTY_WINDOW_ID": "1"}, ""),
        ({"TERM": "tmux", "TERM_PROGRAM": "iTerm.app"}, ""),
        ({"TMUX": "/tmp/x,1,0", "TERM": "xterm-kitty"}, ""),
    ],
)
def test_the_environment_tells_what_a_terminal_understands(environment, how):
    assert picture.protocol(environment) == how


def test_kitty_gets_a_picture_in_pieces():
    shown = b"".join(picture.show(image(PNG), "kitty", ROOM))
    assert shown.endswith(b"\n")
    first, second, end = shown.split(b"\x1b\\")
    assert first.startswith(b"\x1b_Gf=100,a=T,m=1;")
    assert second.startswith(b"\x1b_Gm=0;")
    assert end == b"\n"
    data = first.partition(b";")[2] + second.partition(b";")[2]
    assert base64.b64decode(data) == PNG


def test_iterm_gets_a_picture_at_once():
    (shown,) = picture.show(image(b"\xff\xd8\xffjpeg"), "iterm", ROOM)
    head, _, data = shown.removesuffix(b"\x07\n").partition(b":")
    assert head == b"\x1b]1337;File=inline=1;size=7"
    assert base64.b64decode(data) == b"\xff\xd8\xffjpeg"


@pytest.mark.parametrize(
    ("part", "how"),
    [
        (image(b"\xff\xd8\xff"), "kitty"),  # kitty takes PNG alone
        (image(b"<svg>"), "iterm"),
        (image(PNG, "audio"), "kitty"),
        (image(PNG + bytes(1 << 23)), "iterm"),
        (image(PNG)._replace(content=None), "iterm"),
        (image(PNG), "sixel"),  # nothing but its first bytes
        (broken(), "kitty"),
    ],
)
def test_anything_else_stays_a_line(part, how):
    assert list(picture.show(part, how, ROOM)) == []


def test_sixel_is_drawn_from_the_pixels_and_not_larger_than_the_terminal():
    with io.BytesIO() as written:
        Image.new("RGB", (40, 20), (255, 0, 0)).save(written, "PNG")
        part = image(written.getvalue())
    shown = b"".join(picture.show(part, "sixel", (4, 100)))
    assert shown == b'\x1bP0;1q"1;1;4;2#0;2;100;0;0#0!4B\x1b\\\n'
