"""`thrall pin --only`, `--except` and `--surface`, and what `check` and `call` make of them."""

import json
from pathlib import Path

import pytest
from servers import TOOLS, command, offering

GOOD = ("--", *command("good"))
ECHO, FAIL = TOOLS
PROMPTS = [{"name": "p"}]
CHECK = ("check", "c.json")


def held():
    (server,) = json.loads(Path("c.json").read_text())["servers"].values()
    return server


@pytest.mark.parametrize(
    ("words", "taken", "left_out"),
    [
        (("--only", "echo"), ["echo"], "fail"),
        (("--only", "e*", "--only", "f*"), ["echo", "fail"], None),
        (("--except", "echo"), ["fail"], "echo"),
        (("--only", "*", "--except", "f???"), ["echo"], "fail"),
    ],
)
def test_the_tools_that_are_wanted_are_pinned_and_the_others_named(thrall, words, taken, left_out):
    ran = thrall("pin", "c.json", *words, *GOOD)
    assert ran.status == 0
    assert list(held()["tools"]) == taken
    assert ("left out" in ran.err) is (left_out is not None)
    assert left_out is None or ran.err.endswith(f"thrall: fake: left out: {left_out}\n")


def test_patterns_that_contradict_each_other_leave_an_empty_pin_with_a_warning(thrall):
    ran = thrall("pin", "c.json", "--only", "echo", "--except", "e*", *GOOD)
    assert (ran.status, held()["tools"]) == (0, {})
    assert ran.err.endswith("thrall: fake: warning: no tools: the pin is empty\n")


def test_a_pattern_that_matches_nothing_is_refused(thrall):
    assert thrall("pin", "c.json", "--only", "Echo", *GOOD) == (
        3,
        b"",
        'thrall: c.json: no tool matches "Echo"; the server has echo, fail\n',
    )
    assert not Path("c.json").exists()


@pytest.mark.parametrize(
    "tools",
    [[ECHO], [ECHO, {**FAIL, "title": "New"}], [ECHO, FAIL, {"name": "new"}], [FAIL, ECHO]],
)
def test_what_becomes_of_a_tool_that_is_left_out_is_no_drift(thrall, tools):
    thrall("pin", "c.json", "--only", "e*", *GOOD)
    offering(tools=tools)
    assert thrall(*CHECK) == (0, b"fake: as pinned\n", "")


def test_a_new_tool_that_matches_is_drift(thrall):
    thrall("pin", "c.json", "--only", "e*", *GOOD)
    offering(tools=[ECHO, {"name": "evil"}, {"name": "other"}])
    ran = thrall(*CHECK)
    assert ran.status == 1
    assert ran.out.startswith(b"fake: 1 difference (1 additive)\n  evil: additive, added\n")
    report = json.loads(thrall(*CHECK, "--format", "json").out)
    assert [each["tool"] for each in report["differences"]] == ["evil"]


def test_a_new_tool_that_is_not_excepted_is_drift(thrall):
    thrall("pin", "c.json", "--except", "f*", *GOOD)
    offering(tools=[ECHO, {"name": "fresh"}, {"name": "new"}])
    ran = thrall(*CHECK)
    assert (ran.status, ran.out.splitlines()[:2]) == (
        1,
        [b"fake: 1 difference (1 additive)", b"  new: additive, added"],
    )


def test_a_report_for_machines_names_the_chosen_tools_alone(thrall):
    thrall("pin", "c.json", "--only", "e*", *GOOD)
    assert b"fail" not in thrall(*CHECK, "--format", "junit").out.replace(b"failures", b"")


def test_a_tool_that_is_left_out_cannot_be_called(thrall):
    thrall("pin", "c.json", "--only", "echo", *GOOD)
    ran = thrall("call", "fail", "a=1", "--catalog", "c.json", "--unverified")
    assert (ran.status, ran.out) == (3, b"")
    assert thrall("call", "echo", "a=1", "--catalog", "c.json").status == 0


def test_a_choice_is_kept_by_the_next_pin_until_another_is_given(thrall):
    thrall("pin", "c.json", "--only", "echo", *GOOD)
    assert thrall("pin", "c.json", *GOOD).out == b""
    assert (held()["only"], list(held()["tools"])) == (["echo"], ["echo"])
    ran = thrall("pin", "c.json", "--only", "*", *GOOD)
    assert ran.out.startswith(b"fake: 1 difference (1 additive)\n  fail: additive, added\n")
    assert list(held()["tools"]) == ["echo", "fail"]


def test_a_pattern_without_a_tool_any_more_is_a_warning(thrall):
    thrall("pin", "c.json", "--only", "echo", "--only", "fail", *GOOD)
    offering(tools=[ECHO])
    ran = thrall("pin", "c.json", *GOOD)
    assert (ran.status, ran.out.splitlines()[1]) == (0, b"  fail: breaking, removed")
    assert 'thrall: fake: warning: no tool matches "fail" any more\n' in ran.err


def test_two_servers_share_a_name_that_one_of_them_leaves_out(thrall):
    thrall("pin", "c.json", "--name", "one", "--only", "echo", *GOOD)
    assert thrall("pin", "c.json", "--name", "two", "--except", "echo", *GOOD).status == 0
    assert thrall(*CHECK) == (0, b"one: as pinned\ntwo: as pinned\n", "")


@pytest.mark.parametrize(
    ("words", "surface"),
    [
        (("--surface", "tools"), ["tools"]),
        (("--surface", "prompts"), ["tools", "prompts"]),
        (("--surface", "prompts", "--surface", "instructions"),
         ["instructions", "tools", "prompts"]),
    ],
)  # fmt: skip
def test_tools_and_what_is_named_are_looked_at(thrall, words, surface):
    offering(prompts=PROMPTS, instructions="Do.", resources=[{"uri": "a:b"}])
    assert thrall("pin", "c.json", *words, *GOOD).status == 0
    assert held()["surface"] == surface
    assert ("prompts" in held()) is ("prompts" in surface)
    assert held().get("instructions") == ("Do." if "instructions" in surface else None)
    assert thrall(*CHECK) == (0, b"fake: as pinned\n", "")


def test_what_is_not_looked_at_is_not_asked_for_and_no_drift(thrall):
    offering(prompts="no list", instructions="Do.")
    assert thrall("pin", "c.json", *GOOD).status == 4
    assert thrall("pin", "c.json", "--surface", "tools", *GOOD).status == 0
    assert thrall("pin", "c.json", *GOOD).status == 0
    assert held()["surface"] == ["tools"]
    offering(prompts="none either", instructions="Don't.")
    assert thrall(*CHECK) == (0, b"fake: as pinned\n", "")


def test_to_look_at_more_than_before_shows_what_there_is(thrall):
    offering(prompts=PROMPTS, instructions="Do.")
    thrall("pin", "c.json", "--surface", "tools", *GOOD)
    ran = thrall("pin", "c.json", "--surface", "prompts", "--surface", "instructions", *GOOD)
    assert [line for line in ran.out.decode().splitlines() if not line.startswith("    ")] == [
        "fake: 2 differences (1 text, 1 additive)",
        "  instructions: text, added",
        "  prompts/p: additive, added",
    ]


def test_a_part_that_nobody_knows_is_refused(thrall):
    ran = thrall("pin", "c.json", "--surface", "roots", *GOOD)
    assert (ran.status, ran.out) == (2, b"")
    assert "'roots' is not one of" in ran.err


def test_a_tool_that_is_left_out_may_come_and_go_within_a_session(thrall):
    thrall("pin", "c.json", "--only", "echo", *GOOD)
    offering(tools=TOOLS, later={"tools": [ECHO]})
    assert thrall(*CHECK) == (0, b"fake: as pinned\n", "")
