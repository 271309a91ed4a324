"""Answers on the command line as bytes, as files by force, and as pictures at a terminal."""

import base64
import io
import os
from pathlib import Path

import pytest
from PIL import Image
from servers import command, offering

from thrall_py.transport import screen

GOOD = ("--", *command("good"))

BYTES = base64.b64encode(b"\x89PNG\r\n\x1a\n\x00\xff").decode()
PICTURE = {"type": "image", "mimeType": "image/png", "data": BYTES}
LINK = {"type": "resource_link", "uri": "file:///x", "name": "x"}


@pytest.mark.parametrize(
    ("content", "out"),
    [
        ([PICTURE], b"\x89PNG\r\n\x1a\n\x00\xff"),
        ([{"type": "text", "text": "only\n"}], b"only\n"),
        ([{"type": "resource", "resource": {"uri": "u", "text": "t"}}], b"t"),
    ],
)
def test_raw_prints_one_part_byte_for_byte(thrall, content, out):
    offering(answers={"t": {"content": content}})
    assert thrall("call", "t", "a=1", "--raw", *GOOD) == (0, out, "")


def test_raw_says_that_a_text_beside_the_part_is_left_out(thrall):
    offering(answers={"t": {"content": [{"type": "text", "text": "see"}, PICTURE]}})
    assert thrall("call", "t", "a=1", "--raw", *GOOD) == (
        0,
        b"\x89PNG\r\n\x1a\n\x00\xff",
        "thrall: t: the text beside it is left out (--raw prints one part)\n",
    )


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ([], "0 of text and 0 others"),
        ([PICTURE, PICTURE], "0 of text and 2 others"),
        ([{"type": "text", "text": "a"}] * 2, "2 of text and 0 others"),
        ([LINK], "0 of text and 1 others"),
    ],
)
def test_raw_refuses_an_answer_of_another_shape(thrall, content, told):
    offering(answers={"t": {"content": content}})
    ran = thrall("call", "t", "a=1", "--raw", *GOOD)
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err == (
        f"thrall: t: --raw is for one part, and the answer has {told}"
        " (without it they are told, --save DIR writes them)\n"
    )


def test_a_link_that_is_not_fetched_is_told_of_where_parts_are_saved(thrall):
    offering(answers={"t": {"content": [LINK, PICTURE]}})
    words = ("call", "t", "{}", "--save", ".")
    link = b"[resource_link: no media type, file:///x]\n"
    told = "thrall: t: links are not fetched: --save writes what is in the answer\n"
    assert thrall(*words, *GOOD) == (
        0,
        link + b"[image: image/png, 10 bytes, saved as ./part-2.png]\n",
        told,
    )
    ran = thrall(*words, "--quiet", *GOOD)
    assert (ran.status, ran.err) == (0, "")
    assert thrall("call", "t", "{}", *GOOD).err == ""


@pytest.mark.parametrize("data", [BYTES + "!", 5, None])
def test_raw_of_what_cannot_be_decoded_prints_nothing(thrall, data):
    offering(answers={"t": {"content": [{**PICTURE, "data": data}]}})
    ran = thrall("call", "t", "a=1", "--raw", *GOOD)
    assert (ran.status, ran.out) == (4, b"")


def test_raw_prints_the_words_of_a_tool_that_failed(thrall):
    offering(answers={"t": {"content": [{"type": "text", "text": "no"}] * 2, "isError": True}})
    assert thrall("call", "t", "a=1", "--raw", *GOOD) == (1, b"no\nno\n", "")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--raw", "--json"], "--raw excludes --json and --save"),
        (["--raw", "--save", "."], "--raw excludes --json and --save"),
        (["--force"], "--force is about files: it needs --save"),
    ],
)
def test_options_for_the_answer_that_do_not_fit_are_refused(thrall, words, sentence):
    ran = thrall("call", "t", "a=1", *words, "--", "no-such-program")
    assert ran == (2, b"", f"thrall: t: {sentence}\n")


def test_a_terminal_gets_no_bytes(thrall, replaced, terminal):
    replaced(1, terminal.theirs)
    ran = thrall("call", "t", "a=1", "--raw", "--", "no-such-program")
    assert ran.err == "thrall: t: --raw is for a pipe or a file, not for a terminal\n"
    assert ran.status == 2


@pytest.mark.parametrize(("term", "shows"), [("xterm-kitty", True), ("xterm", False)])
def test_a_terminal_that_can_shows_a_picture(thrall, replaced, terminal, monkeypatch, term, shows):
    monkeypatch.setenv("TERM", term)
    for name in ("TMUX", "KITTY_WINDOW_ID", "TERM_PROGRAM"):
        monkeypatch.delenv(name, raising=False)
    offering(answers={"t": {"content": [{"type": "text", "text": "see"}, PICTURE]}})
    replaced(1, terminal.theirs)
    assert thrall("call", "t", "a=1", *GOOD).status == 0
    out = os.read(terminal.ours, 1 << 16)
    assert out.startswith(b"see\r\n[image: image/png, 10 bytes]\r\n")
    assert (f"\x1b_Gf=100,a=T,m=0;{BYTES}\x1b\\".encode() in out) is shows


@pytest.mark.parametrize("answers", [True, False])
def test_a_terminal_that_says_so_shows_a_picture_by_sixel(
    thrall, replaced, terminal, monkeypatch, answers
):
    monkeypatch.setenv("TERM", "xterm")
    for name in ("TMUX", "KITTY_WINDOW_ID", "TERM_PROGRAM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(screen, "shows_sixel", lambda _: answers)
    with io.BytesIO() as written:
        Image.new("RGB", (8, 1), (255, 0, 0)).save(written, "PNG")
        data = base64.b64encode(written.getvalue()).decode()
    offering(answers={"t": {"content": [{**PICTURE, "data": data}]}})
    replaced(1, terminal.theirs)
    assert thrall("call", "t", "a=1", *GOOD).status == 0
    drawn = b'\x1bP0;1q"1;1;8;1#0;2;100;0;0#0!8@\x1b\\\r\n'
    assert (drawn in terminal.shown()) is answers


def test_by_force_saved_parts_have_their_own_places(thrall):
    Path("part-1.png").write_text("old")
    offering(answers={"t": {"content": [PICTURE]}})
    ran = thrall("call", "t", "a=1", "--save", ".", "--force", *GOOD)
    assert ran == (0, b"[image: image/png, 10 bytes, saved as ./part-1.png]\n", "")
