"""`thrall call --catalog`: the tool that was pinned, or none."""

import json
from pathlib import Path

import pytest
from servers import TOOLS, offering


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def test_a_pinned_tool_is_called(thrall, pin):
    pin("a", answers={"echo": text("called")})
    assert thrall("call", "echo", "a=1", "--catalog", "c.json") == (0, b"called\n", "")


def test_a_tool_that_drifted_is_not_called(thrall, pin):
    offer = pin("a")
    offering("a", **{**offer, "tools": TOOLS[:1]})
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
        "thrall: echo: not as pinned, so nothing was called:"
        " annotations/openWorldHint added; review, re-pin\n"
    )


def test_a_policy_of_a_catalog_does_not_loosen_a_call(thrall, pin):
    offer = pin("a")
    catalog = json.loads(Path("c.json").read_text())
    catalog["policy"] = {"allow": ["text"]}
    Path("c.json").write_text(json.dumps(catalog))
    offering("a", **{**offer, "tools": [{**TOOLS[0], "description": "New."}]})
    assert thrall("check", "c.json").status == 1
    assert thrall("call", "echo", "a=1", "--catalog", "c.json").status == 6
