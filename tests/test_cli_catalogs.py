import json
import os
import signal
from pathlib import Path

import pytest
from servers import TOOLS, command, offering

from thrall_py.verbs import check

GOOD = ("--", *command("good"))
HEAD = "2 tools pinned; hints are the server's own word, nobody has verified them"


def text(words):
    return {"content": [{"type": "text", "text": words}]}


# -- pin ---------------------------------------------------------------------------------------


def test_a_pin_is_written_and_told(thrall):
    ran = thrall("pin", "c.json", *GOOD)
    assert (ran.status, ran.out) == (0, b"")
    assert ran.err == (
        f"thrall: fake: {HEAD}\n"
        "thrall: fake:   echo  (no hints)\n"
        "thrall: fake:   fail  (read-only)\n"
    )
    assert list(json.loads(Path("c.json").read_text())["servers"]["fake"]["tools"]) == [
        "echo",
        "fail",
    ]


def test_a_pin_for_stdout_leaves_no_file(thrall):
    ran = thrall("pin", "-", *GOOD)
    assert ran.status == 0
    assert json.loads(ran.out)["servers"]["fake"]["command"] == list(GOOD[1:])
    assert os.listdir() == []


def test_a_variable_is_filled_in_and_pinned_as_it_was_written(thrall, monkeypatch, graveyard):
    monkeypatch.setenv("STORY", graveyard.path)
    ran = thrall("pin", "-", "--env", "A=hunter22", "--", *command("good", "${STORY}"))
    assert graveyard.words() == ["eof"]
    pinned = json.loads(ran.out)["servers"]["fake"]
    assert pinned["command"][-1] == "${STORY}"
    assert pinned["env"] == {"A": "${A}"}
    assert b"hunter22" not in ran.out


def test_a_person_at_a_terminal_gets_a_table(thrall, replaced, terminal):
    replaced(2, terminal.theirs)
    ran = thrall("pin", "c.json", *GOOD)
    assert ran.status == 0
    assert "hints (unverified)" in ran.err
    assert "Say it again." in ran.err


def test_what_is_odd_about_a_server_is_a_warning(thrall):
    offering(tools=[])
    assert thrall("pin", "c.json", *GOOD).err.endswith(
        "thrall: fake: warning: the server offers no tools: the pin is empty\n"
    )


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("no/c.json", "cannot write no/c.json: there is no directory {}/no"),
        ("text", "text is no usable catalog: not JSON: Expecting value: line 1 column 1 (char 0)"),
    ],
)
def test_a_pin_that_cannot_be_written_starts_nothing(thrall, path, sentence):
    Path("text").write_text("text")
    ran = thrall("pin", path, "--", "no-such-program")
    assert ran == (3, b"", f"thrall: {sentence.format(os.getcwd())}\n")


def test_without_stdout_no_pin_for_it_is_started(thrall, replaced, graveyard):
    replaced(1)
    ran = thrall("pin", "-", "--", *command("good", graveyard.path))
    assert (ran.status, ran.err) == (
        3,
        "thrall: stdout is closed, so there is no place for an answer\n",
    )
    with pytest.raises(AssertionError, match="none has opened the FIFO"):
        graveyard.words()


def test_without_stdout_a_pin_is_written_to_its_file(thrall, replaced):
    replaced(1)
    assert thrall("pin", "c.json", *GOOD).status == 0
    assert list(json.loads(Path("c.json").read_text())["servers"]) == ["fake"]


def test_a_server_that_cannot_be_pinned_leaves_the_catalog_as_it_was(thrall):
    thrall("pin", "c.json", *GOOD)
    before = Path("c.json").read_bytes()
    offering(tools=[{}])
    ran = thrall("pin", "c.json", *GOOD)
    assert (ran.status, ran.out) == (4, b"")
    assert ran.err == "thrall: c.json: entry 1 of the server's list of tools has no name\n"
    assert Path("c.json").read_bytes() == before


def test_a_signal_during_the_teardown_keeps_a_pin_from_being_written(thrall):
    offering(stop=int(signal.SIGTERM))
    assert thrall("pin", "c.json", *GOOD) == (128 + signal.SIGTERM, b"", "")
    assert os.listdir() == ["server.json"]


# -- check, and call --catalog -----------------------------------------------------------------


@pytest.fixture
def pin(thrall):
    """Pin a server of the name `name` that is started in a directory of that name."""

    def write(name, **offer):
        os.makedirs(name, exist_ok=True)
        offer = {"serverInfo": {"name": name, "version": "1"}, **offer}
        offering(name, **offer)
        assert thrall("pin", "c.json", "--cwd", name, *GOOD).status == 0
        return offer

    return write


def test_a_server_that_is_as_pinned_says_so(thrall, pin):
    pin("a")
    assert thrall("check", "c.json") == (0, b"a: as pinned\n", "")


def test_drift_is_shown_and_earns_its_status(thrall, pin):
    offer = pin("a")
    pin("b")
    offering("a", **offer, tools=[{**TOOLS[0], "description": "New."}, TOOLS[1]])
    assert thrall("check", "c.json") == (
        1,
        b'a: 1 difference\n  echo: description: changed\n    - "Say it again."\n    + "New."\nb: as pinned\n',
        "",
    )


def test_a_server_that_could_not_be_asked_goes_before_any_verdict(thrall, pin):
    pin("a")
    offer = pin("b")
    offering("b", **offer, tools=[])
    catalog = json.loads(Path("c.json").read_text())
    catalog["servers"]["a"]["command"] = ["./no-such"]
    Path("c.json").write_text(json.dumps(catalog))
    ran = thrall("check", "c.json")
    assert ran.status == 127
    assert ran.err == "thrall: a: the program ./no-such was not found\n"
    assert ran.out.startswith(b"b: 2 differences\n")


def test_another_version_is_a_note_and_no_drift(thrall, pin):
    offer = pin("a")
    offering("a", **{**offer, "serverInfo": {"name": "a", "version": "2"}})
    assert thrall("check", "c.json") == (
        0,
        b"a: as pinned\n",
        'thrall: a: the server\'s version is "2", was "1" when pinned\n',
    )


def test_an_empty_catalog_has_nothing_to_differ(thrall):
    Path("c.json").write_text('{"thrall": 1, "servers": {}}')
    assert thrall("check", "c.json") == (0, b"", "")


def test_a_catalog_that_is_not_there_is_told_of(thrall):
    assert thrall("check", "none") == (
        3,
        b"",
        "thrall: cannot read none: No such file or directory\n",
    )


@pytest.mark.parametrize(
    ("place", "member", "sentence"),
    [
        (("server",), "x", "\"server\" has the unknown member 'x'"),
        (("tools", "echo"), "x", "the tool 'echo' has the unknown member 'x'"),
        ((), "cleanEnv", '"cleanEnv" should be true or false'),
    ],
)
def test_a_catalog_with_what_nobody_knows_starts_nothing(thrall, pin, place, member, sentence):
    pin("a")
    catalog = json.loads(Path("c.json").read_text())
    catalog["servers"]["a"]["command"] = ["touch", os.path.abspath("started")]
    there = catalog["servers"]["a"]
    for name in place:
        there = there[name]
    there[member] = "true"
    Path("c.json").write_text(json.dumps(catalog))
    for words in (["check", "c.json"], ["call", "echo", "a=1", "--catalog", "c.json"]):
        ran = thrall(*words)
        assert (ran.status, ran.out) == (3, b"")
        assert ran.err.endswith(f"c.json is no usable catalog: {sentence}\n")
    assert not os.path.exists("started")


def test_without_stdout_no_check_is_started(thrall, pin, replaced):
    pin("a")
    catalog = json.loads(Path("c.json").read_text())
    catalog["servers"]["a"]["command"] = ["touch", os.path.abspath("started")]
    Path("c.json").write_text(json.dumps(catalog))
    replaced(1)
    ran = thrall("check", "c.json")
    assert (ran.status, ran.err) == (
        3,
        "thrall: stdout is closed, so there is no place for an answer\n",
    )
    assert not os.path.exists("started")


def test_a_bug_in_a_check_is_no_verdict(thrall, pin, monkeypatch):
    pin("a")
    monkeypatch.setattr(check, "check_server", lambda *_: 1 / 0)
    assert thrall("check", "c.json").status == 70


def test_a_signal_during_a_teardown_keeps_the_next_server_from_being_started(thrall, pin):
    offer = pin("a")
    pin("b")
    offering("a", **offer, stop=int(signal.SIGTERM))
    catalog = json.loads(Path("c.json").read_text())
    catalog["servers"]["b"]["command"] = ["touch", "started"]
    Path("c.json").write_text(json.dumps(catalog))
    assert thrall("check", "c.json").status == 128 + signal.SIGTERM
    assert not os.path.exists("b/started")


def test_a_pinned_tool_is_called(thrall, pin):
    pin("a", answers={"echo": text("called")})
    assert thrall("call", "echo", "a=1", "--catalog", "c.json") == (0, b"called\n", "")


def test_a_tool_that_drifted_is_not_called(thrall, pin):
    offer = pin("a")
    offering("a", **offer, tools=TOOLS[:1])
    assert thrall("call", "fail", "a=1", "--catalog", "c.json") == (
        6,
        b"",
        "thrall: fail: not as pinned, so nothing was called: the tool removed; review, re-pin\n",
    )


def test_a_tool_that_is_not_in_the_catalog_is_not_called(thrall, pin):
    pin("a")
    assert thrall("call", "other", "a=1", "--catalog", "c.json") == (
        3,
        b"",
        "thrall: other: the catalog does not have this tool\n",
    )
