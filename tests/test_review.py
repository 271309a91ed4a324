import pytest

from thrall_py.catalog import review
from thrall_py.catalog.entry import Entry, PinnedItem
from thrall_py.catalog.launch import LaunchSpec
from thrall_py.protocol import mcp
from thrall_py.redact import Redactor

GOOD = {"inputSchema": {"type": "object"}}
PLAIN = {"tool": PinnedItem("", {"name": "tool", **GOOD})}


def entry(items, prefix="", **server):
    about = mcp.ServerInfo("2025-11-25", **server)
    return Entry(LaunchSpec(("x",), {}), about, items, prefix=prefix)


def warned(items, **server):
    return list(review.entry_warnings(entry(items, **server), Redactor(["hunter22"])))


def warnings(name="good_tool-1.0", member="tools", **definition):
    pin = PinnedItem("", {"name": name, **GOOD, **definition})
    return warned({"tools": PLAIN, member: {name: pin}})


def test_an_ordinary_tool_has_no_warning():
    assert warnings(description="Two lines,\n\tand a tab. Ärger, 日本.", x=[1, None, True]) == []


@pytest.mark.parametrize("name", ["", "a b", "a/b", "a;b", "é", "x" * 129, "a\n"])
def test_an_odd_name_is_told(name):
    assert "an odd name, outside 1 to 128 of A-Z a-z 0-9 _ . -" in warnings(name)[0]


def test_a_long_name_is_cut_in_the_warning():
    assert warnings("x" * 129)[0].startswith(f'"{"x" * 40}...": an odd name')


@pytest.mark.parametrize(
    ("definition", "warning"),
    [
        ({"description": "a\u200bb"}, r"hidden characters in description: \u200b"),
        ({"x": [{"y": "\x1b[2J"}]}, r"hidden characters in x/0/y: \x1b"),
        ({"x": {"k\u202e": 1}}, r"hidden characters in the name x/k\u202e: \u202e"),
        (
            {"x": "\u200b\u200c\u200d\u200e\u200f"},
            r"hidden characters in x: \u200b \u200c \u200d \u200e \u200f",
        ),
        (
            {"x": "\u200b\u200c\u200d\u200e\u200f\u202e"},
            r"hidden characters in x: \u200b \u200c \u200d \u200e \u200f and more",
        ),
    ],
)
def test_hidden_characters_are_told_with_their_place(definition, warning):
    assert warnings(**definition) == [f'"good_tool-1.0": {warning}']


@pytest.mark.parametrize(
    ("schema", "oddity"),
    [
        ([], "its inputSchema is not an object"),
        (None, "its inputSchema is not an object"),
        ({}, 'its inputSchema is not of "type": "object"'),
        ({"type": ["object"]}, 'its inputSchema is not of "type": "object"'),
        (
            {"type": "object", "properties": []},
            '"properties" in its inputSchema is not an object',
        ),
        ({"type": "object", "required": "a"}, '"required" in its inputSchema is not a list'),
    ],
)
def test_a_schema_of_no_use_is_told(schema, oddity):
    assert warnings(inputSchema=schema) == [f'"good_tool-1.0": {oddity}']


def test_a_missing_schema_is_told():
    pins = {"a": PinnedItem("", {"name": "a"})}
    assert warned({"tools": pins}) == ['"a": no inputSchema']


def test_what_is_no_tool_needs_no_schema_and_no_plain_name_but_hides_nothing():
    assert warnings("file:///a b", "resources", inputSchema=[]) == []
    assert warnings("file:///a b", "resources", title="\u200b") == [
        r'"file:///a b": hidden characters in title: \u200b'
    ]


@pytest.mark.parametrize("text", [None, "", "Plain words.\nTwo lines."])
def test_plain_instructions_have_no_warning(text):
    assert warned({"tools": PLAIN}, instructions=text) == []


def test_instructions_that_hide_something_have_one():
    assert warned({"tools": PLAIN}, instructions="a\x1bb\u200bc\x1b") == [
        r"hidden characters in the server's instructions: \x1b \u200b"
    ]


@pytest.mark.parametrize("items", [{}, {"tools": {}}, {"prompts": {}, "tools": {}}])
def test_a_pin_without_tools_is_told_of(items):
    assert warned(items) == ["no tools: the pin is empty"]


def test_a_secret_in_what_is_odd_is_masked():
    name = "a hunter22"
    assert warned({"tools": {name: PinnedItem("", {"name": name, **GOOD})}}) == [
        '"a ***": an odd name, outside 1 to 128 of A-Z a-z 0-9 _ . -'
    ]


@pytest.mark.parametrize(
    ("annotations", "hints"),
    [
        (None, "no hints"),
        ([], "no hints"),
        ({}, "no hints"),
        ({"title": "x", "readOnlyHint": "yes"}, "no hints"),
        ({"readOnlyHint": True}, "read-only"),
        (
            {
                "readOnlyHint": False,
                "destructiveHint": True,
                "idempotentHint": False,
                "openWorldHint": True,
            },
            "may write, destructive, not idempotent, open world",
        ),
        (
            {"destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
            "not destructive, idempotent, closed world",
        ),
    ],
)
def test_hints_are_put_into_words(annotations, hints):
    assert review.describe_annotations(PinnedItem("", {"annotations": annotations})) == hints


def test_without_annotations_there_are_no_hints():
    assert review.describe_annotations(PinnedItem("", {})) == "no hints"
