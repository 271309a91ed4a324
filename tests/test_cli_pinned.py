"""`thrall call --catalog`: the tool that was pinned, or none."""

import json
import os
import sys
from pathlib import Path

import pytest
from servers import TOOLS, command, offering
from test_catalog_file import UNASKED

AGAIN = "review, then re-pin: thrall pin c.json --update a (--unverified calls it as it is)"


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def test_a_pinned_tool_is_called(thrall, pin):
    pin("a", answers={"echo": text("called")})
    assert thrall("call", "echo", "a=1", "--catalog", "c.json") == (0, b"called\n", "")


def test_a_tool_that_drifted_is_not_called(thrall, pin):
    offer = pin("a")
    offering("a", **{**offer, "tools": TOOLS[:1]})
    ran = thrall("call", "fail", "a=1", "--catalog", "c.json")
    assert (ran.status, ran.out) == (6, b"")
    assert ran.err == (
        "thrall: fail:   the tool: breaking, removed\n"
        'thrall: fail:     - {"annotations":{"readOnlyHint":true},"inputSchema":{"properties":'
        '{"text":{"type":"string"}},"type":"object"},"name":"fail"}\n'
        f"thrall: fail: not as pinned, so nothing was called: the tool removed; {AGAIN}\n"
    )


def test_a_tool_that_is_not_in_the_catalog_is_not_called(thrall, pin):
    pin("a")
    assert thrall("call", "other", "a=1", "--catalog", "c.json") == (
        3,
        b"",
        f"thrall: other: the catalog does not have this tool{UNASKED}\n",
    )


def test_the_names_nearest_to_a_mistyped_one_are_suggested(thrall, pin):
    pin("a")
    pin("b")
    assert thrall("call", "b_ecko", "a=1", "--catalog", "c.json") == (
        3,
        b"",
        "thrall: b_ecko: the catalog does not have this tool; the nearest: b_echo, echo\n",
    )


def test_a_tool_with_a_prefix_is_called_by_both_together(thrall, pin):
    pin("a", answers={"echo": text("a")})
    pin("b", answers={"echo": text("b")})
    words = ("a=1", "--catalog", "c.json")
    assert thrall("call", "echo", *words) == (0, b"a\n", "")
    assert thrall("call", "b_echo", *words) == (0, b"b\n", "")


def test_a_tool_with_another_prefix_than_the_pinned_one_is_not_there(thrall, pin):
    pin("b")
    ran = thrall("call", "fail", "a=1", "--catalog", "c.json")
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err == "thrall: fail: the catalog does not have this tool; the nearest: b_fail\n"


COSMETIC = [{"_meta": {"x": 1}}, {"annotations": {"openWorldHint": True}}]  # true is the default


@pytest.mark.parametrize("member", COSMETIC)
def test_a_cosmetic_difference_does_not_keep_a_tool_from_being_called(thrall, pin, member):
    offer = pin("a", answers={"echo": text("called")})
    offering("a", **{**offer, "tools": [{**TOOLS[0], **member}]})
    assert thrall("call", "echo", "a=1", "--catalog", "c.json") == (0, b"called\n", "")


def test_any_other_difference_does_and_it_alone_is_named(thrall, pin):
    offer = pin("a")
    member = {"_meta": {"x": 1}, "annotations": {"openWorldHint": False}}
    offering("a", **{**offer, "tools": [{**TOOLS[0], **member}]})
    ran = thrall("call", "echo", "a=1", "--catalog", "c.json")
    assert (ran.status, ran.out) == (6, b"")
    assert ran.err == (
        "thrall: echo:   annotations/openWorldHint: behaviour, added\n"
        "thrall: echo:     + false\n"
        "thrall: echo: not as pinned, so nothing was called:"
        f" annotations/openWorldHint added; {AGAIN}\n"
    )


def test_a_policy_of_a_catalog_does_not_loosen_a_call(thrall, pin):
    offer = pin("a")
    catalog = json.loads(Path("c.json").read_text())
    catalog["policy"] = {"allow": ["text"]}
    Path("c.json").write_text(json.dumps(catalog))
    offering("a", **{**offer, "tools": [{**TOOLS[0], "description": "New."}]})
    assert thrall("check", "c.json").status == 1
    assert thrall("call", "echo", "a=1", "--catalog", "c.json").status == 6


# -- what is told of a refusal -----------------------------------------------------------------


def test_both_sides_of_what_changed_are_told_in_a_window(thrall, pin):
    same = "Say it. " * 500
    offer = pin("a", tools=[{**TOOLS[0], "description": f"{same}Once."}])
    offering("a", **{**offer, "tools": [{**TOOLS[0], "description": f"{same}Twice."}]})
    ran = thrall("call", "echo", "a=1", "--catalog", "c.json")
    assert (ran.status, ran.out) == (6, b"")
    first, old, new, last = ran.err.splitlines()
    assert first == "thrall: echo:   description: text, changed"
    assert (old[:21], old[-6:]) == ("thrall: echo:     - .", 'Once."')
    assert (new[:21], new[-7:]) == ("thrall: echo:     + .", 'Twice."')
    assert max(map(len, (old, new))) < 120
    assert last.endswith(f"description changed; {AGAIN}")


def test_of_many_differences_the_first_are_told(thrall, pin):
    offer = pin("a")
    members = {f"x{n:02}": n for n in range(23)}
    offering("a", **{**offer, "tools": [{**TOOLS[0], **members}]})
    lines = thrall("call", "echo", "a=1", "--catalog", "c.json").err.splitlines()
    assert len(lines) == 2 * 20 + 2
    assert lines[-4:-1] == [
        "thrall: echo:   x19: behaviour, added",
        "thrall: echo:     + 19",
        "thrall: echo:   and 3 more differences",
    ]


def test_the_words_that_pin_it_again_are_those_of_a_shell_and_do_nothing_to_a_terminal(thrall):
    words = ("--name", "a b\x1b;", "--", *command("good"))
    assert thrall("pin", "it's.json", *words).status == 0
    offering(tools=[{**TOOLS[0], "title": "New"}])
    ran = thrall("call", "echo", "a=1", "--catalog", "it's.json")
    assert r"""re-pin: thrall pin 'it'"'"'s.json' --update 'a b\x1b;' (--unv""" in ran.err


def test_a_secret_in_what_changed_is_masked(thrall, monkeypatch):
    monkeypatch.setenv("A_TOKEN", "sesame42sesame")
    assert thrall("pin", "c.json", "--", *command("good")).status == 0
    offering(tools=[{**TOOLS[0], "description": "x sesame42sesame y"}])
    ran = thrall("call", "echo", "a=1", "--catalog", "c.json")
    assert ran.status == 6
    assert '+ "x *** y"' in ran.err
    assert "sesame" not in ran.err


def test_a_person_at_a_terminal_gets_it_word_by_word(thrall, pin, replaced, terminal):
    offer = pin("a")
    offering("a", **{**offer, "tools": [{**TOOLS[0], "description": "Say it twice\u200b."}]})
    replaced(2, terminal.theirs)
    ran = thrall("call", "echo", "a=1", "--catalog", "c.json")
    assert (ran.status, ran.out) == (6, b"")
    assert [line.rstrip() for line in ran.err.splitlines()] == [
        "  description: text, changed",
        r"    Say it [-again-]{+twice\u200b+}.",
        f"thrall: echo: not as pinned, so nothing was called: description changed; {AGAIN}",
    ]


# -- without a look at it ----------------------------------------------------------------------


def test_what_is_not_as_pinned_is_called_if_nobody_is_to_look(thrall, pin):
    offer = pin("a", answers={"echo": text("called")})
    offering("a", **{**offer, "tools": "no list"})
    words = ("call", "echo", "a=1", "--catalog", "c.json")
    assert thrall(*words).status == 4
    assert thrall(*words, "--unverified") == (
        0,
        b"called\n",
        "thrall: echo: called without a look at its definition (--unverified)\n",
    )


def test_what_was_not_pinned_is_not_called_in_any_case(thrall, pin):
    pin("a")
    ran = thrall("call", "other", "a=1", "--catalog", "c.json", "--unverified")
    assert (ran.status, ran.out) == (3, b"")


@pytest.mark.parametrize("words", [("--unverified",), ("--validate",)])
def test_without_a_catalog_there_is_no_pin_to_speak_of(thrall, words):
    assert thrall("call", "echo", "a=1", *words, "--", *command("good")) == (
        2,
        b"",
        "thrall: echo: --unverified and --validate are about a pin: they need --catalog\n",
    )


# -- arguments against the pinned schema -------------------------------------------------------


@pytest.fixture
def started(pin):
    """Pin a server that leaves a trace when it is started again."""
    pin("b", answers={"echo": text("called")})
    catalog = json.loads(Path("c.json").read_text())
    catalog["servers"]["b"]["command"] = ["touch", "started"]
    Path("trap.json").write_text(json.dumps(catalog))
    return Path("b/started").exists


def test_arguments_that_fit_are_sent(thrall, pin):
    pin("a", answers={"echo": text("called")})
    words = ("call", "echo", "text=x", "--catalog", "c.json", "--validate")
    assert thrall(*words) == (0, b"called\n", "")


def test_arguments_that_do_not_fit_start_nothing(thrall, started):
    ran = thrall("call", "b_echo", "text:=1", "--catalog", "trap.json", "--validate")
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err == 'thrall: b_echo: text: this is not of type "string"\n'
    assert not started()
    assert thrall("call", "b_echo", "text:=1", "--catalog", "trap.json").status == 4
    assert started()


def test_of_many_faults_the_first_are_told(thrall, pin):
    names = [f"x{n:02}" for n in range(23)]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    pin("a", tools=[{"name": "echo", "inputSchema": schema}])
    items = [f"{name}:=1" for name in names]
    ran = thrall("call", "echo", *items, "--catalog", "c.json", "--validate")
    lines = ran.err.splitlines()
    assert (ran.status, len(lines)) == (3, 21)
    assert lines[-1] == "thrall: echo: and 3 more faults"


@pytest.mark.usefixtures("started")
def test_what_validates_is_an_extra_that_is_not_always_there(thrall, monkeypatch):
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    ran = thrall("call", "b_echo", "text=x", "--catalog", "trap.json", "--validate")
    assert (ran.status, ran.out) == (2, b"")
    assert ran.err == (
        "thrall: b_echo: --validate needs jsonschema-rs, which thrall-py[validate] brings:"
        " install that as thrall was installed, as in pipx install --force 'thrall-py[validate]'\n"
    )


def test_a_schema_that_is_of_no_use_starts_nothing(thrall, pin):
    schema = {"type": "object", "$ref": "https://example.com/x"}
    pin("a", tools=[{"name": "echo", "inputSchema": schema}])
    ran = thrall("call", "echo", "text=x", "--catalog", "c.json", "--validate")
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err.startswith("thrall: echo: the pinned inputSchema cannot be used to validate: ")


def test_what_fits_is_still_looked_at(thrall, pin):
    offer = pin("a")
    offering("a", **{**offer, "tools": [{**TOOLS[0], "title": "New"}]})
    words = ("call", "echo", "text=x", "--catalog", "c.json", "--validate")
    assert thrall(*words).status == 6
    assert thrall(*words, "--unverified").status == 0


# -- at a terminal -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({}, "it takes no arguments: type {} and ^D (or give '{}' on the command line)"),
        ({"properties": {"a": {}}}, "reading the arguments from the terminal, a JSON object; end"),
    ],
)
def test_whoever_types_for_a_tool_without_arguments_is_told_so(
    thrall, pin, replaced, terminal, schema, words
):
    tools = [{"name": "echo", "inputSchema": {"type": "object", **schema}}]
    pin("a", tools=tools, answers={"echo": text("called")})
    replaced(0, terminal.theirs)
    os.write(terminal.ours, b"{}\n\x04")
    ran = thrall("call", "echo", "--catalog", "c.json")
    assert ran[:2] == (0, b"called\n")
    assert ran.err.startswith(f"thrall: echo: {words}")


def test_a_tool_that_is_not_in_the_catalog_is_told_before_anything_is_typed(
    thrall, pin, replaced, terminal
):
    pin("a")
    replaced(0, terminal.theirs)
    ran = thrall("call", "other", "--catalog", "c.json")
    assert (ran.status, ran.err) == (
        3,
        f"thrall: other: the catalog does not have this tool{UNASKED}\n",
    )
