import os

import pytest
from fakes import value

from thrall_py.output import pretty, status_line
from thrall_py.output.status_line import StatusLine
from thrall_py.protocol.mcp import ServerInfo
from thrall_py.redact import Redactor

NEVER = float("inf")


class Screen:
    """A line on a fake clock, and what it draws."""

    def __init__(self, secrets=()):
        self.now = 100.0
        self.written = []
        self.line = StatusLine(self.written.append, lambda: self.now)
        self.line.follow("work", Redactor(secrets))

    def after(self, seconds):
        """Let time pass, and tick; the words that stand there then."""
        self.now += seconds
        self.line.tick()
        return self.words

    @property
    def words(self):
        if not self.written or self.written[-1] == "\x1b[J":
            return ""
        before, _, after = self.written[-1].partition("\x1b7\r\n")
        assert before == "\x1b[J\x1bD\x1b[A"
        assert after.endswith("\x1b8")
        return after.removesuffix("\x1b8")

    def progress(self, text):
        self.line.progressed(value(text, {}))


@pytest.fixture
def screen(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    return Screen()


def calling(screen):
    screen.line.sent("tools/call")
    return screen


def test_a_plain_command_is_called_as_soon_as_it_is_started(screen):
    screen.line.spawned("program")
    screen.line.running()
    assert screen.after(1) == "calling work  1 s"


def test_nothing_is_drawn_for_a_second(screen):
    screen.line.spawned("server")
    assert screen.after(0.99) == ""
    assert screen.line.tick() == 101.0
    assert screen.after(0.01) == "starting server  1 s"


def test_nothing_is_drawn_while_nothing_is_waited_for(screen):
    assert screen.after(5) == ""
    assert screen.line.tick() == NEVER


def test_stages_follow_each_other_each_with_its_time(screen):
    line = screen.line
    line.spawned("server")
    line.sent("server/discover")
    shown = [screen.after(2)]
    line.answered()
    line.sent("initialize")
    shown.append(screen.after(1))
    line.sent("initialize")
    shown.append(screen.after(1))
    line.answered()
    line.sent("resources/templates/list")
    shown.append(screen.after(2))
    line.sent("tools/call")
    shown.append(screen.after(3))
    assert shown == [
        "starting server  2 s",
        "shaking hands  1 s",
        "shaking hands  2 s",
        "listing resources/templates  2 s",
        "calling work  3 s",
    ]


def test_any_other_request_and_any_other_wait_is_named(screen):
    screen.line.sent("ping")
    shown = [screen.after(2)]
    screen.line.waiting("waiting for the server to leave")
    shown.append(screen.after(1))
    assert shown == ["waiting for the answer to ping  2 s", "waiting for the server to leave  1 s"]


def test_what_is_waited_for_after_something_was_printed_has_a_second_again(screen):
    screen.line.spawned("server")
    screen.after(2)
    screen.line.asking(())
    assert screen.words == ""
    screen.line.sent("initialize")
    assert screen.after(0.99) == ""
    assert screen.after(0.01) == "shaking hands  1 s"


def test_a_server_that_never_answers_the_probe_has_started_when_the_handshake_is_done(screen):
    screen.line.spawned("server")
    screen.line.sent("server/discover")
    screen.line.sent("initialize")
    screen.line.agreed(ServerInfo("2025-11-25"))
    assert calling(screen).after(2) == "calling work  2 s"


def test_it_goes_when_a_wait_is_over_and_comes_back_with_the_next(screen):
    calling(screen).after(2)
    screen.line.resumed()
    assert screen.words == ""
    assert screen.after(0.05) == ""
    assert screen.after(0.06) == "calling work  2 s"


def test_what_does_not_stand_is_not_erased(screen):
    calling(screen).line.resumed()
    screen.line.closing()
    assert screen.written == []


def test_it_goes_for_good_before_the_server_is_left(screen):
    calling(screen).after(2)
    screen.line.closing()
    assert screen.after(5) == ""
    assert screen.written[-1] == "\x1b[J"


def test_it_is_drawn_twice_a_second_however_often_it_is_asked(screen):
    calling(screen)
    for _ in range(100):
        screen.after(0.03)
    assert len(screen.written) == 4


def test_progress_is_drawn_at_once_but_ten_times_a_second_at_most(screen):
    calling(screen).after(1)
    for number in range(1000):
        screen.now += 0.001
        screen.progress(f'{{"progress":{number}}}')
        screen.line.tick()
    assert 9 <= len(screen.written) - 1 <= 10


@pytest.mark.parametrize(
    ("progress", "shown"),
    [
        ('{"progress":5,"total":20}', "  ━━━━━───────────────  25%"),
        ('{"progress":5,"total":20,"message":"half"}', "  ━━━━━───────────────  25%  half"),
        ('{"progress":50,"total":20}', "  ━━━━━━━━━━━━━━━━━━━━ 100%"),
        ('{"progress":-5,"total":20}', "  ────────────────────   0%"),
        ('{"progress":5,"total":0}', "  5"),
        ('{"progress":5,"total":"x"}', "  5"),
        ('{"progress":1.5e2}', "  150"),
        ('{"progress":1e999,"message":"m"}', "  m"),
        (f'{{"progress":{"1" * 41}}}', ""),
        ('{"progress":true}', ""),
        ('{"message":7}', ""),
        ("{}", ""),
    ],
)
def test_progress_is_shown_as_far_as_it_makes_sense(screen, progress, shown):
    calling(screen).progress(progress)
    assert screen.after(2) == f"calling work  2 s{shown}"


def test_the_next_stage_forgets_the_progress_of_the_last(screen):
    calling(screen).progress('{"progress":1,"message":"m"}')
    screen.line.sent("tools/list")
    assert screen.after(2) == "listing tools  2 s"


def test_one_more_round_of_a_call_is_the_same_stage(screen):
    calling(screen).progress('{"message":"m"}')
    screen.after(2)
    assert calling(screen).after(2) == "calling work  4 s  m"


def test_no_progress_is_too_large_for_a_bar(screen):
    calling(screen).progress('{"progress":1e308,"total":1e-308}')
    assert screen.after(2).endswith("100%")


def test_the_servers_words_are_masked_and_visible_and_cut(screen):
    screen.line.follow("work", Redactor(["sesame42sesame"]))
    words = "\\u001b[31m sesame42sesame \\u202e" + "x" * 200
    calling(screen).progress(f'{{"message":"{words}"}}')
    shown = screen.after(2)
    assert shown.startswith(r"calling work  2 s  \x1b[31m *** \u202exxx")
    assert (len(shown), shown[-1]) == (79, "…")


@pytest.mark.parametrize("columns", [2, 10, 30])
def test_it_fits_a_narrow_terminal(screen, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    calling(screen).progress('{"progress":1,"total":2,"message":"漢字漢字漢字"}')
    shown = screen.after(2)
    assert len(shown.encode("gb18030")) <= 2 * columns
    assert len(shown) < max(columns, 2)


def test_a_bar_that_the_terminal_cannot_spell_is_in_ascii(monkeypatch):
    class Ascii:
        encoding = "ascii"
        isatty = staticmethod(lambda: False)
        write = staticmethod(len)
        flush = staticmethod(lambda: None)

    monkeypatch.setattr("sys.stderr", Ascii())
    assert pretty.status_line("s", 1, (1, 4), "") == "s  1 s  #####...............  25%"


def test_colours_are_those_of_a_terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[36m" in pretty.status_line("s", 1, None, "m")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in pretty.status_line("s", 1, None, "m")


def test_several_servers_are_named_until_something_is_printed(screen):
    screen.line.asking(["a", "b\x1b"])
    assert screen.after(0.5) == ""
    screen.line.asking(["a", "b\x1b"])
    assert screen.after(1) == r"asking 2 servers: a, b\x1b  2 s"
    screen.line.asking(["a"])
    assert screen.after(1) == "asking a  2 s"
    screen.line.asking([])
    assert screen.words == ""
    screen.line.asking(["a"])
    assert screen.after(0.9) == ""


# -- where it is welcome -------------------------------------------------------------------------


@pytest.fixture
def at_terminal(monkeypatch, replaced, terminal):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return lambda: replaced(2, terminal.theirs)


def test_it_is_welcome_at_a_terminal(at_terminal):
    assert not status_line.is_welcome()
    at_terminal()
    assert status_line.is_welcome()


@pytest.mark.parametrize(("name", "setting"), [("TERM", "dumb"), ("TERM", None), ("CI", "true")])
def test_but_not_at_one_that_is_dumb_or_in_ci(at_terminal, monkeypatch, name, setting):
    at_terminal()
    monkeypatch.delenv(name, raising=False)
    if setting is not None:
        monkeypatch.setenv(name, setting)
    assert not status_line.is_welcome()


@pytest.mark.parametrize(("group", "welcome"), [(os.getpgrp(), True), (1, False)])
def test_nor_in_the_background(at_terminal, monkeypatch, group, welcome):
    at_terminal()
    monkeypatch.setattr(os, "tcgetpgrp", lambda _: group)
    assert status_line.is_welcome() == welcome
