import pytest

from thrall_py.catalog import drift
from thrall_py.catalog.change import Change, Slot
from thrall_py.catalog.entry import SURFACE, Entry, Live, pin_item
from thrall_py.catalog.launch import LaunchSpec
from thrall_py.protocol import mcp
from thrall_py.protocol.numbers import number

MEMBERS = {mcp.PROMPTS: "prompts", mcp.RESOURCES: "resources", mcp.TEMPLATES: "resourceTemplates"}
HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def pinned(definition):
    return None if definition is None else pin_item(definition)


def between(before, after):
    """The places and classes of what changed in a tool."""
    found = drift.compare_tool("t", pinned(before), pinned(after))
    assert all(difference.tool == "t" for difference in found)
    return [("/".join(d.change.path), d.change.kind) for d in found]


def within(kind, before, after):
    """What changed in an item of any kind."""
    one, other = ({kind.member: {"t": pin_item(side)}} for side in (before, after))
    for difference in drift.compare_server(entry(one), live(other)):
        tool, change = difference
        assert tool == ("t" if kind is mcp.TOOLS else None)
        if kind is not mcp.TOOLS:
            assert change.path[:2] == (kind.member, "t")
            change = change._replace(path=change.path[2:])
        yield change


def entry(items=None, surface=SURFACE, **server):
    return Entry(
        LaunchSpec(("x",), {}), mcp.ServerInfo("2025-11-25", **server), items or {}, surface
    )


def live(items=None, **server):
    return Live(mcp.ServerInfo("2026-07-28", **server), items or {}, [])


def of(kind, *definitions):
    """Items of one kind, as both an entry and a live server hold them."""
    return {kind.member: {found[kind.key]: pin_item(found) for found in definitions}}


def compared(one, other):
    found = drift.compare_server(one, other)
    return [(d.tool, "/".join(d.change.path), d.change.kind) for d in found]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, None),
        ({}, {}),
        ({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1}),
        ({"inputSchema": {"required": ["a", "b"]}}, {"inputSchema": {"required": ["b", "a"]}}),
        ({"a": number("1.0")}, {"a": number("1e0")}),
        (
            {"x": 1, "inputSchema": {"required": ["a", "b"]}},
            {"x": number("1.0"), "inputSchema": {"required": ["b", "a"]}},
        ),
    ],
)
def test_what_means_the_same_is_no_difference(before, after):
    assert between(before, after) == []


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (None, {"name": "t"}, "additive"),
        ({"name": "t"}, None, "breaking"),
    ],
)
def test_a_tool_that_came_or_went_is_one_difference_in_full(before, after, kind):
    (found,) = drift.compare_tool("t", pinned(before), pinned(after))
    sides = (side and Slot(side) for side in (before, after))
    assert found == ("t", Change((), kind, *sides))


EVERY = "tools prompts resources resourceTemplates"
RESOURCES = "resources resourceTemplates"
BY_KIND = [
    (next(kind for kind in mcp.KINDS if kind.member == member), *row)
    for members, *row in [
        (EVERY, "description", "x", "y", "text"),
        (EVERY, "description", "x", None, "text"),
        (EVERY, "description", None, "", "text"),
        (EVERY, "description", "x", "x\u200b", "text"),
        (EVERY, "description", "a", "\u0430", "text"),
        (EVERY, "description", "x", 1, "text"),
        (EVERY, "title", None, "x", "text"),
        (EVERY, "name", "t", "t ", "text"),
        (EVERY, "icons", None, [{"src": "data:"}], "cosmetic"),
        (EVERY, "_meta", {"a": 1}, {"a": 2}, "cosmetic"),
        (EVERY, "_meta", {"a": 1}, None, "cosmetic"),
        (EVERY, "x-hidden", None, "IMPORTANT", "text"),
        (EVERY, "x-hidden", {"a": 1}, {"a": 2}, "text"),
        (EVERY, "x-hidden", 1, None, "behaviour"),
        (EVERY, "x-hidden", 1, True, "behaviour"),
        (EVERY, "required", None, True, "behaviour"),
        # What one kind knows is unknown to the others.
        (EVERY, "uri", "a:b", "a:c", "text"),
        (EVERY, "uri", None, 1, {"tools": "behaviour", "prompts": "behaviour"}),
        (EVERY, "uriTemplate", "a:{b}", "a:{c}", "text"),
        (EVERY, "uriTemplate", 1, None, {"tools": "behaviour", "prompts": "behaviour"}),
        (EVERY, "execution", 1, 2, "behaviour"),
        ("tools", "execution", None, {"taskSupport": "required"}, "behaviour"),
        ("tools", "execution", {"taskSupport": "required"}, {"taskSupport": "optional"}, "behaviour"),
        ("prompts " + RESOURCES, "execution", None, {"taskSupport": "required"}, "text"),
        (RESOURCES, "mimeType", "text/plain", "text/html", "behaviour"),
        (RESOURCES, "mimeType", "text/plain", None, "behaviour"),
        ("tools prompts", "mimeType", "text/plain", "text/html", "text"),
        (EVERY, "size", 2**63, 2**63 - 1, "behaviour"),
        (RESOURCES, "size", 1, "IMPORTANT", "behaviour"),
        ("tools prompts", "size", 1, "IMPORTANT", "text"),
        (RESOURCES, "annotations", {"priority": 1}, {"priority": 2}, "behaviour"),
        (RESOURCES, "annotations", {"audience": ["user"]}, None, "behaviour"),
        (RESOURCES, "annotations", None, {}, "behaviour"),
        ("prompts", "annotations", None, {"title": "x"}, "text"),
        ("prompts", "annotations", None, 1, "behaviour"),
        ("tools", "annotations", [], {}, "behaviour"),
        ("tools", "annotations", {}, "x", "behaviour"),
        ("tools", "annotations", None, 1, "behaviour"),
        ("tools", "inputSchema", {}, None, "breaking"),
        ("tools", "inputSchema", None, {}, "breaking"),
        ("tools", "inputSchema", {}, "x", "breaking"),
        ("tools", "outputSchema", {"type": "object"}, None, "breaking"),
        ("tools", "outputSchema", None, {"type": "object"}, "additive"),
        ("prompts " + RESOURCES, "inputSchema", {"type": "string"}, {"type": "number"}, "text"),
        ("prompts " + RESOURCES, "outputSchema", None, {"type": "object"}, "text"),
        ("prompts", "arguments", "x", [], "breaking"),
        ("prompts", "arguments", [], {}, "breaking"),
        ("prompts", "arguments", None, [1], "breaking"),
        ("prompts", "arguments", [{"name": 1}], [], "breaking"),
        ("prompts", "arguments", [{}], None, "breaking"),
        ("prompts", "arguments", [{"name": "a"}], [{"name": "a"}, {"name": "a"}], "breaking"),
        ("tools " + RESOURCES, "arguments", None, [{"name": "a", "title": "IMPORTANT"}], "text"),
        ("tools " + RESOURCES, "arguments", [{"name": "a"}, {"name": "b"}],
         [{"name": "b"}, {"name": "a"}], "text"),
        ("tools " + RESOURCES, "arguments", [], None, "behaviour"),
    ]
    for member in members.split()
]  # fmt: skip


@pytest.mark.parametrize(("kind", "member", "before", "after", "cls"), BY_KIND)
def test_a_member_that_changed_is_shown_as_a_whole(kind, member, before, after, cls):
    one, other = ({} if side is None else {member: side} for side in (before, after))
    (found,) = within(kind, one, other)
    expected = cls if isinstance(cls, str) else cls.get(kind.member, "text")
    sides = (None if side is None else Slot(side) for side in (before, after))
    assert found == Change((member,), expected, *sides)


def test_null_is_a_value_and_not_nothing():
    (found,) = drift.compare_tool("t", pin_item({"a": None}), pin_item({}))
    assert found.change == Change(("a",), "behaviour", Slot(None), None)


def test_parameters_and_outputs_mirror_each_other():
    before, after = {"type": "integer"}, {"type": "number"}
    assert between({"inputSchema": before}, {"inputSchema": after}) == [
        ("inputSchema/type", "additive")
    ]
    assert between({"outputSchema": before}, {"outputSchema": after}) == [
        ("outputSchema/type", "breaking")
    ]


@pytest.mark.parametrize("hint", HINTS)
def test_a_hint_counts_by_what_it_means_where_it_is_not_given(hint):
    default = hint in {"destructiveHint", "openWorldHint"}
    place = f"annotations/{hint}"

    def change(one, other):
        return between({"annotations": one}, {"annotations": other})

    assert change({}, {hint: default}) == [(place, "cosmetic")]
    assert change({hint: default}, {}) == [(place, "cosmetic")]
    assert change({}, {hint: not default}) == [(place, "behaviour")]
    assert change({hint: not default}, {}) == [(place, "behaviour")]
    assert change({hint: default}, {hint: not default}) == [(place, "behaviour")]
    assert change({hint: default}, {hint: int(default)}) == [(place, "behaviour")]
    assert change({}, {hint: None}) == [(place, "behaviour")]
    assert between({}, {"annotations": {hint: default}}) == [(place, "cosmetic")]
    assert between({"annotations": {hint: not default}}, {}) == [(place, "behaviour")]


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ({"title": "a"}, {"title": "b"}, [("annotations/title", "text")]),
        ({"title": "a", "x": 1}, {"title": "a", "x": 2}, [("annotations/x", "behaviour")]),
        ({}, {"x": "IMPORTANT"}, [("annotations/x", "text")]),
        ({"audience": ["user"]}, {"audience": ["assistant"]}, [("annotations/audience", "text")]),
        ({"priority": 1}, {"priority": number("0.5")}, [("annotations/priority", "behaviour")]),
    ],
)
def test_other_annotations_are_text_or_behaviour(before, after, changes):
    assert between({"annotations": before}, {"annotations": after}) == changes


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ([{"name": "a"}], [], [("a", "breaking")]),
        ([{"name": "a"}], None, [("a", "breaking")]),
        ([], [{"name": "a"}], [("a", "additive")]),
        (None, [{"name": "a", "required": False}], [("a", "additive")]),
        ([], [{"name": "a", "required": True}], [("a", "breaking")]),
        ([], [{"name": "a", "required": 1}], [("a", "additive")]),
        ([{"name": "a"}], [{"name": "b"}], [("a", "breaking"), ("b", "additive")]),
        ([{"name": "a"}], [{"name": "a", "required": True}], [("a/required", "breaking")]),
        (
            [{"name": "a", "description": "x"}, {"name": "b"}],
            [{"name": "b"}, {"name": "a", "description": "y"}],
            [("a/description", "text")],
        ),
        ([{"name": "a"}], [{"name": "a", "title": "x"}], [("a/title", "text")]),
        ([{"name": "a"}], [{"name": "a", "x": 1}], [("a/x", "behaviour")]),
        ([{"name": "a"}], [{"name": "a", "x": "IMPORTANT"}], [("a/x", "text")]),
        ([{"name": "a"}], [{"name": "a", "icons": "x"}], [("a/icons", "text")]),
        ([{"name": "a"}], [{"name": "a", "icons": []}], [("a/icons", "behaviour")]),
        ([{"name": "a"}], [{"name": "a", "_meta": "x"}], [("a/_meta", "text")]),
        ([{"name": "a"}], [{"name": "a", "arguments": [{"name": "b"}]}], [("a/arguments", "text")]),
        ([{"name": "a"}], [{"name": "a", "size": "x"}], [("a/size", "text")]),
    ],
)
def test_the_arguments_of_a_prompt_are_told_apart_by_name(before, after, changes):
    one, other = ({} if side is None else {"arguments": side} for side in (before, after))
    found = [("/".join(change.path), change.kind) for change in within(mcp.PROMPTS, one, other)]
    assert found == [(f"arguments/{place}", kind) for place, kind in changes]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"arguments": [{"name": "a"}, {"name": "b"}]}, {"arguments": [{"name": "b"}, {"name": "a"}]}),
        ({"arguments": []}, {}),
        ({}, {"arguments": []}),
    ],
)  # fmt: skip
def test_arguments_in_another_order_or_none_are_cosmetic(before, after):
    sides = (Slot(side["arguments"]) if side else None for side in (before, after))
    assert list(within(mcp.PROMPTS, before, after)) == [Change(("arguments",), "cosmetic", *sides)]


@pytest.mark.parametrize(
    ("before", "after"), [({"annotations": {}}, {}), ({}, {"annotations": {}})]
)
def test_no_annotations_that_come_or_go_are_cosmetic(before, after):
    (found,) = within(mcp.TOOLS, before, after)
    assert (found.path, found.kind) == (("annotations",), "cosmetic")


ABSENT = object()


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (ABSENT, False, "cosmetic"),
        (False, ABSENT, "cosmetic"),
        (ABSENT, True, "breaking"),
        (False, True, "breaking"),
        (True, ABSENT, "additive"),
        (True, False, "additive"),
        (ABSENT, None, "breaking"),
        (ABSENT, 0, "breaking"),
        (ABSENT, "IMPORTANT", "breaking"),
        (True, 1, "breaking"),
        ("x", "y", "breaking"),
    ],
)
def test_an_argument_of_a_prompt_need_not_be_given_if_nothing_is_said(before, after, kind):
    one, other = (
        {"name": "a", **({} if side is ABSENT else {"required": side})} for side in (before, after)
    )
    (found,) = within(mcp.PROMPTS, {"arguments": [one]}, {"arguments": [other]})
    sides = (None if side is ABSENT else Slot(side) for side in (before, after))
    assert found == Change(("arguments", "a", "required"), kind, *sides)


@pytest.mark.parametrize(
    ("before", "after", "sides"),
    [
        (None, None, None),
        ("x", "x", None),
        ("x", None, (Slot("x"), None)),
        (None, "", (None, Slot(""))),
        ("x", "y", (Slot("x"), Slot("y"))),
    ],
)
def test_the_instructions_of_a_server_are_text(before, after, sides):
    found = drift.compare_server(entry(instructions=before), live(instructions=after))
    expected = sides and [(None, Change(("instructions",), "text", *sides))]
    assert found == (expected or [])


def test_the_name_of_a_server_is_text_and_its_version_is_nothing():
    assert compared(entry(name="a", version="1"), live(name="a", version="2")) == []
    (found,) = drift.compare_server(entry(name="a"), live(name="b"))
    assert found == (None, Change(("server", "name"), "text", Slot("a"), Slot("b")))


def test_the_tools_of_a_server_are_compared_by_name():
    before = of(mcp.TOOLS, *({"name": name} for name in ("same", "gone", "other")))
    after = of(mcp.TOOLS, {"name": "other", "x": 1}, {"name": "same"}, {"name": "new"})
    assert compared(entry(before), live(after)) == [
        ("gone", "", "breaking"),
        ("new", "", "additive"),
        ("other", "x", "behaviour"),
    ]


def test_no_tools_where_some_were_pinned_is_drift():
    before = of(mcp.TOOLS, {"name": "a"}, {"name": "b"})
    assert compared(entry(before), live()) == [("a", "", "breaking"), ("b", "", "breaking")]
    assert compared(entry(), live(before)) == [("a", "", "additive"), ("b", "", "additive")]


@pytest.mark.parametrize("kind", MEMBERS)
def test_what_is_no_tool_is_the_servers_own(kind):
    before = of(kind, {kind.key: "a", "description": "x"}, {kind.key: "gone"}, {kind.key: "same"})
    after = of(kind, {kind.key: "a", "description": "y"}, {kind.key: "new"}, {kind.key: "same"})
    member = MEMBERS[kind]
    assert compared(entry(before), live(after)) == [
        (None, f"{member}/a/description", "text"),
        (None, f"{member}/gone", "breaking"),
        (None, f"{member}/new", "additive"),
    ]


def test_only_what_was_pinned_is_compared():
    before, after = {}, {}
    for kind in mcp.KINDS:
        before |= of(kind, {kind.key: "a", "x": 1})
        after |= of(kind, {kind.key: "a", "x": 2})
    now = live(after, instructions="new")
    places = {
        "instructions": (None, "instructions", "text"),
        "tools": ("a", "x", "behaviour"),
        **{member: (None, f"{member}/a/x", "behaviour") for member in MEMBERS.values()},
    }
    assert set(places) == set(SURFACE)
    for chosen, place in places.items():
        assert compared(entry(before, (chosen,)), now) == [place]
    assert compared(entry(before, ()), now) == []
    assert compared(entry(before), now) == [places[chosen] for chosen in SURFACE]
