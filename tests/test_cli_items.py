"""ITEMs on the command line of `call`, looked at against a pin; and the help about one tool."""

import json
import sys
from pathlib import Path

import pytest
from servers import command, offering

SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "description": "What it is about."},
        "priority": {"type": "integer", "default": 3},
        "mood": {"enum": ["glad", "sad"]},
        "at": {"anyOf": [{"type": "object"}, {"type": "null"}]},
    },
    "required": ["title"],
}
ECHO = {"name": "echo", "title": "Echo", "description": "Says it\x1b again.", "inputSchema": SCHEMA}
CALL = ("call", "echo", "--catalog", "c.json")


@pytest.fixture
def trap(thrall):
    """A catalog whose server leaves a trace when it is started."""
    offering(tools=[ECHO, {**ECHO, "name": "closed"}])
    assert thrall("pin", "c.json", "--", *command("good")).status == 0
    catalog = json.loads(Path("c.json").read_text())
    catalog["servers"]["fake"]["command"] = ["touch", "started"]
    Path("c.json").write_text(json.dumps(catalog))
    return Path("started").exists


def arguments(ran):
    """What the server was asked with; the good one repeats it."""
    assert (ran.status, ran.err) == (0, "")
    return json.loads(ran.out)["params"]["arguments"]


def test_paths_reach_the_server_as_objects_and_lists(thrall):
    words = ("at.lat:=1.0", "tag[]=x", "at.lon:=2", r"a\.b=y", "tag[]:=3")
    ran = thrall("call", "echo", *words, "--", *command("good"))
    assert arguments(ran) == {"at": {"lat": 1.0, "lon": 2}, "tag": ["x", 3], "a.b": "y"}


def test_items_that_fit_the_pin_are_sent(thrall):
    offering(tools=[ECHO])
    assert thrall("pin", "c.json", "--", *command("good")).status == 0
    ran = thrall(*CALL, "title=x", "priority:=5", "at.lat:=1")
    assert arguments(ran) == {"title": "x", "priority": 5, "at": {"lat": 1}}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("title=x", "priority=5"), "priority is an integer: write priority:=5"),
        (("{}",), 'title is required (a string, "What it is about.")'),
        (("priority:=5",), 'title is required (a string, "What it is about.")'),
        (
            ("priority=5",),
            (
                "priority is an integer: write priority:=5;"
                ' title is required (a string, "What it is about.")'
            ),
        ),
    ],
)
def test_items_that_the_pin_forbids_start_nothing(thrall, trap, words, sentence):
    assert thrall(*CALL, *words) == (2, b"", f"thrall: echo: {sentence}\n")
    assert not trap()


def test_a_key_that_looks_mistyped_is_told_of_and_sent(thrall):
    offering(tools=[ECHO])
    assert thrall("pin", "c.json", "--", *command("good")).status == 0
    ran = thrall(*CALL, "title=x", "priorty:=1")
    assert ran.err == "thrall: echo: no parameter priorty; the nearest: priority\n"
    assert arguments(ran._replace(err="")) == {"title": "x", "priorty": 1}


@pytest.mark.parametrize("words", [("priority=high", "--unverified"), ()])
def test_nothing_is_looked_at_without_a_pin_that_counts_or_on_stdin(thrall, trap, feed, words):
    feed(b'{"priority":"high"}')
    assert thrall(*CALL, *words).status == 4
    assert trap()


# -- help ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("call", "echo", "--catalog", "c.json", "--help"),
        ("call", "--help", "echo", "--catalog=c.json"),
        (
            "call",
            "echo",
            "title=x",
            "priority=5",
            "--help",
            "--timeout",
            "x",
            "--catalog",
            "c.json",
        ),
    ],
)
def test_help_with_a_catalog_is_about_the_tool(thrall, trap, words):
    ran = thrall(*words)
    assert (ran.status, ran.err) == (0, "")
    page = ran.out.decode()
    assert page.startswith(
        "Usage: thrall call echo --catalog c.json [OPTIONS] [ITEM]...\n\necho - Echo\n"
    )
    assert "\n  Says it\\x1b again.\n" in page
    assert (
        "\n  mood: one of glad, sad (optional)\n  priority: integer (optional; 3 if it is not given)\n"
        "  title: string (required)\n      What it is about.\n" in page
    )
    assert "\n  at: object or null (optional)\n" in page
    assert "\nexample:\n  thrall call echo title=... --catalog c.json\n" in page
    assert max(map(len, page.splitlines())) <= 80
    assert not trap()


def test_help_about_a_tool_may_take_the_catalog_from_the_environment(thrall, trap, monkeypatch):
    monkeypatch.setenv("THRALL_CALL_CATALOG", "c.json")
    assert b"What it is about." in thrall("call", "echo", "--help").out
    assert not trap()


@pytest.mark.parametrize(
    "words",
    [("call", "--help"), ("call", "echo", "--help"), ("call", "--catalog", "none.json", "--help")],
)
def test_help_without_a_tool_or_a_catalog_is_about_the_verb(thrall, words):
    ran = thrall(*words)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith(b"Usage: thrall call [OPTIONS] TOOL [ITEM]...\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("ehco", "--catalog", "c.json"), "ehco: the catalog does not have this tool; the nearest: echo"),
        (("echo", "--catalog", "none.json"), "echo: cannot read none.json: No such file or directory"),
    ],
)  # fmt: skip
def test_help_about_what_is_not_there_says_so(thrall, trap, words, sentence):
    assert thrall("call", *words, "--help") == (3, b"", f"thrall: {sentence}\n")
    assert not trap()


def test_help_for_a_terminal_of_few_letters_is_written_with_escapes(thrall, monkeypatch):
    offering(tools=[{**ECHO, "description": "Schön."}])
    assert thrall("pin", "c.json", "--", *command("good")).status == 0
    with open("page", "w", encoding="ascii") as page:
        monkeypatch.setattr(sys, "stdout", page)
        assert thrall(*CALL, "--help").status == 0
    assert "\n  Sch\\xf6n.\n" in Path("page").read_text()


# -- nearest names ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (("cal",), "No such command 'cal'. Did you mean 'call'? (see thrall --help)"),
        (("call", "--catlog", "c"), "No such option '--catlog'. Did you mean '--catalog'? (see thrall call --help)"),
        (("check", "--formt", "c"), "No such option '--formt'. Did you mean '--format'? (see thrall check --help)"),
    ],
)  # fmt: skip
def test_a_mistyped_word_of_ours_is_told_with_the_nearest(thrall, words, near):
    assert thrall(*words) == (2, b"", f"thrall: {near}\n")
