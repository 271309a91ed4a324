"""Questions to the terminal that stdout is, answered by a pseudo-terminal that plays one."""

import contextlib
import fcntl
import os
import select
import signal
import struct
import termios
import threading

import pytest

from thrall_py.errors import Interrupted
from thrall_py.transport import screen

QUESTION = b"\x1b[c"
PATIENCE = 10  # seconds until a test counts as stuck


@contextlib.contextmanager
def answering(terminal, answer):
    """Play a terminal that answers the question, or does what is to be done instead."""

    def play():
        seen = b""
        while QUESTION not in seen and select.select([terminal.ours], [], [], PATIENCE)[0]:
            seen += os.read(terminal.ours, 100)
        if callable(answer):
            answer()
        else:
            for byte in answer:  # a slow line
                os.write(terminal.ours, bytes([byte]))

    player = threading.Thread(target=play)
    player.start()
    yield
    player.join()


@pytest.fixture
def on_stdout(terminal, replaced, monkeypatch):
    """Call for a terminal that stdout is, and that we were started from."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(os, "tcgetpgrp", lambda _: os.getpgrp())

    def stand():
        replaced(1, terminal.theirs)  # here: between setup and call the capture has its own way

    return stand


def unread(terminal):
    """How many bytes of input nobody has read, byte by byte."""
    mode = termios.tcgetattr(terminal.theirs)
    termios.tcsetattr(terminal.theirs, termios.TCSANOW, [*mode[:3], 0, *mode[4:]])
    (count,) = struct.unpack("i", fcntl.ioctl(terminal.theirs, termios.FIONREAD, bytes(4)))
    termios.tcsetattr(terminal.theirs, termios.TCSANOW, mode)
    return count


@pytest.mark.parametrize("chunk", [1, 100])  # bytes that are there at a time
@pytest.mark.parametrize(
    ("answer", "shows"),
    [
        (b"\x1b[?62;4;22c", True),
        (b"\x1b[?63;1;2;4c", True),
        (b"\x1b[?1;2c", False),
        (b"\x1b[?6c", False),
        (b"\x1b[?4;6c", False),  # a VT132
        (b"\x1b[?62;14;40c", False),
        (b"\x1b[?c", False),
        (b"x\x1b[?62;4c", True),  # typed a moment before
    ],
)
def test_the_terminal_says_whether_it_shows_sixel(
    terminal, on_stdout, interrupts, monkeypatch, answer, shows, chunk
):
    monkeypatch.setattr(screen, "_CHUNK", chunk)
    on_stdout()
    before = termios.tcgetattr(terminal.theirs)
    with answering(terminal, answer):
        assert screen.shows_sixel(interrupts) is shows
    assert termios.tcgetattr(terminal.theirs) == before
    assert unread(terminal) == 0


def test_a_terminal_that_never_answers_shows_none(terminal, on_stdout, interrupts, monkeypatch):
    on_stdout()
    monkeypatch.setattr(screen, "_PATIENCE", 0.05)
    assert not screen.shows_sixel(interrupts)
    assert terminal.shown() == QUESTION


def test_a_terminal_that_hangs_up_shows_none(terminal, on_stdout, interrupts):
    on_stdout()

    def hang_up():
        with open(os.devnull) as nothing:  # in its place, because its fixture closes it
            os.dup2(nothing.fileno(), terminal.ours)

    with answering(terminal, hang_up):
        assert not screen.shows_sixel(interrupts)


@pytest.mark.parametrize("typed", [b"ls\n", b"l"])
def test_a_terminal_is_not_asked_while_something_typed_waits(
    terminal, on_stdout, interrupts, typed
):
    on_stdout()
    mode = termios.tcgetattr(terminal.theirs)
    termios.tcsetattr(
        terminal.theirs, termios.TCSANOW, [*mode[:3], mode[3] & ~termios.ECHO, *mode[4:]]
    )
    os.write(terminal.ours, typed)
    assert not screen.shows_sixel(interrupts)
    assert terminal.shown() == b""
    assert unread(terminal) == len(typed)


def test_a_terminal_that_is_stopped_is_not_waited_for(terminal, on_stdout, interrupts):
    on_stdout()
    termios.tcflow(terminal.theirs, termios.TCOOFF)
    assert not screen.shows_sixel(interrupts)
    termios.tcflow(terminal.theirs, termios.TCOON)
    assert terminal.shown() == b""


def test_a_signal_ends_the_wait_and_the_terminal_is_as_before(terminal, on_stdout, interrupts):
    on_stdout()
    before = termios.tcgetattr(terminal.theirs)
    with (
        answering(terminal, lambda: os.kill(os.getpid(), signal.SIGINT)),
        pytest.raises(Interrupted) as raised,
    ):
        screen.shows_sixel(interrupts)
    assert raised.value.signum == signal.SIGINT
    assert termios.tcgetattr(terminal.theirs) == before


@pytest.mark.parametrize("term", ["dumb", None])
def test_a_dumb_terminal_is_not_asked(terminal, on_stdout, interrupts, monkeypatch, term):
    on_stdout()
    monkeypatch.delenv("TERM")
    if term:
        monkeypatch.setenv("TERM", term)
    assert not screen.shows_sixel(interrupts)
    assert terminal.shown() == b""


def test_a_terminal_is_not_asked_from_the_background(terminal, on_stdout, interrupts, monkeypatch):
    on_stdout()
    monkeypatch.setattr(os, "tcgetpgrp", lambda _: os.getpgrp() + 1)
    assert not screen.shows_sixel(interrupts)
    assert terminal.shown() == b""


def test_a_terminal_is_not_asked_that_is_not_the_one_we_were_started_from(
    terminal, replaced, interrupts, monkeypatch
):
    monkeypatch.setenv("TERM", "xterm")
    replaced(1, terminal.theirs)
    assert not screen.shows_sixel(interrupts)
    assert terminal.shown() == b""


def test_what_is_no_terminal_shows_none(replaced, interrupts, monkeypatch, tmp_path):
    monkeypatch.setenv("TERM", "xterm")
    with open(tmp_path / "out", "wb") as out:
        replaced(1, out.fileno())
        assert not screen.shows_sixel(interrupts)
        assert screen.size() == (800, 600)


@pytest.mark.parametrize(
    ("told", "size"), [((24, 80, 640, 480), (640, 480)), ((24, 80, 0, 0), (800, 600))]
)
def test_the_size_in_pixels_is_what_the_terminal_tells(terminal, on_stdout, told, size):
    on_stdout()
    fcntl.ioctl(terminal.theirs, termios.TIOCSWINSZ, struct.pack("4H", *told))
    assert screen.size() == size
