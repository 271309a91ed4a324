"""Colours and widths: what rich makes of a terminal, and what it is told."""

import fcntl
import io
import struct
import sys
import termios

import pytest
from servers import TOOLS, command, offering

from thrall_py.output import pretty

GOOD = ("--", *command("good"))
ROWS = [
    ("get_current_time", "timezone:string!", "Get the current time in a timezone."),
    ("a", "", "漢字"),
]


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


def table(capsys):
    pretty.print_table(("tool", "arguments", "summary"), ROWS, stderr=False)
    return capsys.readouterr().out.splitlines()


def test_a_wide_terminal_shows_all_of_a_table(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert [line.rstrip() for line in table(capsys)] == [
        "tool              arguments         summary",
        "get_current_time  timezone:string!  Get the current time in a timezone.",
        "a                                   漢字",
    ]


def test_a_narrow_one_folds_names_and_cuts_what_they_do(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    assert [line.rstrip() for line in table(capsys)] == [
        "tool        arguments   summa…",
        "get_curren  timezone:s  Get t…",
        "t_time      tring!",
        "a                       漢字",
    ]


@pytest.mark.parametrize("columns", [5, 8, 13])
def test_the_narrowest_still_shows_the_names(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert "g" in "".join(table(capsys))


def console_on(monkeypatch, terminal, columns):
    """Let stdout be a dumb terminal of so many columns."""
    size = struct.pack("HHHH", 24, columns, 0, 0)
    fcntl.ioctl(terminal.theirs, termios.TIOCSWINSZ, size)
    monkeypatch.setenv("TERM", "dumb")
    return pretty._console(stderr=False)


@pytest.mark.parametrize(("columns", "width"), [(50, 50), (0, 80)])
def test_a_dumb_terminal_is_measured_and_gets_no_colours(
    monkeypatch, replaced, terminal, columns, width
):
    replaced(1, terminal.theirs)
    console = console_on(monkeypatch, terminal, columns)
    assert (console.width, console.color_system) == (width, None)


def test_what_is_no_terminal_has_a_width_all_the_same(monkeypatch, tmp_path, replaced):
    monkeypatch.setenv("TERM", "dumb")
    with open(tmp_path / "out", "wb") as out:
        replaced(1, out.fileno())
        monkeypatch.setattr(sys, "stdout", io.StringIO())
        assert pretty._console(stderr=False).width == 80


def changed(thrall, *words):
    """Check a pin whose server says something else now."""
    assert thrall("pin", "c.json", "--quiet", *GOOD).status == 0
    offering(tools=[{**TOOLS[0], "description": "Say it never."}, TOOLS[1]])
    return thrall("check", "c.json", *words).out.decode()


def test_in_a_pipe_there_is_no_colour(thrall):
    told = changed(thrall)
    assert "\x1b" not in told
    assert '    + "Say it never."\n' in told


def test_colour_can_be_forced_in_a_pipe(thrall, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    told = changed(thrall)
    assert "\x1b[36mecho: description\x1b[0m" in told
    assert "[-" not in told
    assert "\x1b" in thrall("show", "c.json").out.decode()
    assert "\x1b" in thrall("pin", "c.json", *GOOD).err


@pytest.mark.parametrize(("name", "setting"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_without_colours_marks_say_what_changed(thrall, monkeypatch, name, setting):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv(name, setting)
    told = changed(thrall)
    assert "\x1b[3" not in told
    assert "{+never+}" in told.replace("\x1b[0m", "").replace("\x1b[1m", "").replace("\x1b[9m", "")


def test_an_answer_and_a_report_for_machines_never_have_colours(thrall, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert b"\x1b" not in thrall("call", "echo", "a=1", *GOOD).out
    assert "\x1b" not in changed(thrall, "--format", "json")
