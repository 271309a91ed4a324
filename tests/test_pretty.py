"""Colours and widths: what rich makes of a terminal, and what it is told."""

import fcntl
import io
import re
import struct
import sys
import termios

import pytest
from servers import TOOLS, command, offering

from thrall_py.catalog.change import Change, Slot
from thrall_py.catalog.drift import Difference
from thrall_py.catalog.report import Report
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


# -- differences -------------------------------------------------------------------------------


def printed(capsys, *differences, relaunch=()):
    told = Report("c.json", "s", differences=differences, relaunch=relaunch)
    pretty.print_differences(told, "", stderr=False)
    return capsys.readouterr().out


def whole(before, after):
    slots = [None if side is None else Slot(side) for side in (before, after)]
    return Difference("t", Change((), "additive", *slots))


def test_words_that_go_and_come_do_not_touch_where_colours_alone_tell_them_apart(
    capsys, monkeypatch
):
    monkeypatch.setenv("FORCE_COLOR", "1")
    change = Change(("x",), "text", Slot("say old words"), Slot("say new words"))
    told = printed(capsys, Difference("t", change))
    plain = re.sub(r"\x1b\[[0-9;]*m", "", told)
    assert plain.splitlines()[1].strip() == "say old new words"


def test_with_marks_they_may_touch(capsys, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    change = Change(("x",), "text", Slot("say old words"), Slot("say new words"))
    assert "say [-old-]{+new+} words" in printed(capsys, Difference("t", change))


def test_of_a_definition_that_is_new_ten_lines_are_shown_and_where_the_rest_is(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    told = printed(capsys, whole(None, {"description": "Sum.\nMore.", "x": "y " * 400}))
    lines = [line.strip() for line in told.splitlines()]
    assert lines[1] == "Sum."
    assert re.fullmatch(r"and \d+ more characters, which a", lines[-2])
    assert lines[-1] == "pipe shows: | less"
    assert len(lines) < 20


def test_a_short_one_is_whole(capsys):
    told = printed(capsys, whole(None, {"a": 1}))
    assert told.splitlines()[1].strip() == '{+{"a":1}+}'


@pytest.mark.parametrize(
    ("definition", "said"),
    [({"description": "Soon gone.", "x": 1}, "Soon gone."), ({"x": 1}, "no description")],
)
def test_of_one_that_is_gone_the_summary_is_enough(capsys, definition, said):
    lines = [line.strip() for line in printed(capsys, whole(definition, None)).splitlines()]
    assert lines == ["t: additive, removed", said]


def test_another_way_to_start_it_and_the_counts_stand_above(capsys):
    change = Change(("x",), "text", Slot("a"), Slot("b"))
    found = [Difference(tool, change) for tool in ("a", "b") for _ in range(11)]
    lines = printed(capsys, *found, relaunch=["env: added, A"]).splitlines()
    assert lines[:3] == [
        "  env: added, A",
        "  a: 11 differences (11 text)",
        "  b: 11 differences (11 text)",
    ]
