import pytest

from thrall_py.catalog import drift
from thrall_py.catalog.drift import Slot
from thrall_py.catalog.entry import Entry, LiveTools, pin_tool
from thrall_py.catalog.launch import LaunchSpec
from thrall_py.protocol import mcp
from thrall_py.protocol.numbers import number


def between(before, after):
    found = drift.compare_tool("t", pin_tool(before), pin_tool(after))
    return [(d.path, d.before and d.before.value, d.after and d.after.value) for d in found]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"required": ["a", "b"]}, {"required": ["b", "a"]}),
        ({"x": {"required": ["a", "b"]}}, {"x": {"required": ["b", "a"]}}),
        ({"required": ["a", "a"]}, {"required": ["a", "a"]}),
        ({"a": number("1.0")}, {"a": number("1")}),
        ({"a": number("0.10")}, {"a": number("0.1")}),
        ({"a": [], "b": {}}, {"b": {}, "a": []}),
    ],
)
def test_what_means_the_same_is_no_difference(before, after):
    assert between(before, after) == []


@pytest.mark.parametrize(
    ("before", "after", "differences"),
    [
        ({"a": "x"}, {"a": "y"}, [(("a",), "x", "y")]),
        ({"a": "x"}, {"a": "x\u200b"}, [(("a",), "x", "x\u200b")]),
        ({"a": 1}, {"a": True}, [(("a",), 1, True)]),
        ({"a": 0}, {"a": False}, [(("a",), 0, False)]),
        ({"a": 2**53}, {"a": 2**53 + 1}, [(("a",), 2**53, 2**53 + 1)]),
        ({"a": "1"}, {"a": 1}, [(("a",), "1", 1)]),
        ({"a": []}, {"a": {}}, [(("a",), [], {})]),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, [(("a", "b"), 1, 2)]),
        ({"a": {"b": 1}}, {"a": {"c": 1}}, [(("a", "b"), 1, None), (("a", "c"), None, 1)]),
        ({"a": [1, 2]}, {"a": [2, 1]}, [(("a", "0"), 1, 2), (("a", "1"), 2, 1)]),
        ({"a": [1]}, {"a": [1, 2]}, [(("a", "1"), None, 2)]),
        ({"a": [1, 2]}, {"a": [1]}, [(("a", "1"), 2, None)]),
        (
            {"required": ["a", "b"]},
            {"required": ["c", "b"]},
            [(("required", "a"), "a", None), (("required", "c"), None, "c")],
        ),
        ({"required": ["a"]}, {"required": [1]}, [(("required", "0"), "a", 1)]),
        (
            {"required": [1, "a"]},
            {"required": ["a", 1]},
            [(("required", "0"), 1, "a"), (("required", "1"), "a", 1)],
        ),
        ({"required": ["a"]}, {"required": ["a", "a"]}, [(("required", "1"), None, "a")]),
        ({"required": ["a", "a"]}, {"required": ["a"]}, [(("required", "1"), "a", None)]),
        (
            {"required": ["a", "b", "b"]},
            {"required": ["b", "a"]},
            [
                (("required", "0"), "a", "b"),
                (("required", "1"), "b", "a"),
                (("required", "2"), "b", None),
            ],
        ),
        ({"required": ["a"]}, {"required": "a"}, [(("required",), ["a"], "a")]),
        (
            {"enum": {"required": ["a", "b"]}},
            {"enum": {"required": ["b", "a"]}},
            [(("enum", "required", "0"), "a", "b"), (("enum", "required", "1"), "b", "a")],
        ),
    ],
)
def test_everything_else_is_a_difference_with_its_place(before, after, differences):
    assert between(before, after) == differences


def test_null_is_a_value_and_not_nothing():
    (found,) = drift.compare_tool("t", pin_tool({"a": None}), pin_tool({}))
    assert (found.before, found.after) == (Slot(None), None)


@pytest.mark.parametrize(
    ("before", "after", "sides"),
    [
        (None, {"a": 1}, (None, Slot({"a": 1}))),
        ({"a": 1}, None, (Slot({"a": 1}), None)),
    ],
)
def test_a_tool_that_came_or_went_is_one_difference(before, after, sides):
    (found,) = drift.compare_tool("t", before and pin_tool(before), after and pin_tool(after))
    assert (found.tool, found.path, found.before, found.after) == ("t", (), *sides)


def test_no_tool_before_and_after_is_no_difference():
    assert drift.compare_tool("t", None, None) == []


@pytest.mark.parametrize(
    ("before", "after", "sides"),
    [
        (None, None, []),
        ("x", "x", []),
        ("x", None, [(Slot("x"), None)]),
        (None, "", [(None, Slot(""))]),
        ("x", "y", [(Slot("x"), Slot("y"))]),
    ],
)
def test_the_instructions_of_a_server_are_compared(before, after, sides):
    entry = Entry(LaunchSpec(("x",), {}), mcp.ServerInfo("2025-11-25", instructions=before), {})
    found = drift.compare_server(entry, after, LiveTools({}, []))
    assert [(d.before, d.after) for d in found] == sides
    assert all((d.tool, d.path) == (None, ("instructions",)) for d in found)


def test_the_tools_of_a_server_are_compared_by_name():
    entry = Entry(
        LaunchSpec(("x",), {}),
        mcp.ServerInfo("2025-11-25"),
        {name: pin_tool({"name": name}) for name in ("same", "gone", "other")},
    )
    now = {"same": {"name": "same"}, "new": {"name": "new"}, "other": {"name": "other", "x": 1}}
    live = LiveTools({name: pin_tool(definition) for name, definition in now.items()}, [])
    found = [(d.tool, d.path) for d in drift.compare_server(entry, None, live)]
    assert found == [("gone", ()), ("new", ()), ("other", ("x",))]
