import json

import pytest
from offers import SERVERS, entry, offered, tool

from thrall_py.errors import CatalogError
from thrall_py.gateway.core import offer
from thrall_py.protocol import mcp, mirror


def pages(offering, kind):
    """The pages of a list, one after the other by their cursors."""
    cursor, found = None, []
    while True:
        page = json.loads(f"{{{offering.page(kind, cursor)}}}")
        found.append(page[kind.member])
        cursor = page.get("nextCursor")
        if cursor is None:
            return found


def names(offering, kind=mcp.TOOLS):
    return [each[kind.key] for page in pages(offering, kind) for each in page]


def test_tools_and_prompts_are_offered_by_server_and_name_under_their_prefixes():
    offering = offered()
    assert names(offering) == list(offering.tools) == ["read", "remove", "web_fetch"]
    assert names(offering, mcp.PROMPTS) == list(offering.prompts) == ["review", "web_sum up"]


def test_resources_and_templates_keep_their_addresses():
    offering = offered({"s": entry("p_", resources=["a:b"], templates=["a:{c}"])})
    assert names(offering, mcp.RESOURCES) == ["a:b"]
    assert names(offering, mcp.TEMPLATES) == list(offering.templates) == ["a:{c}"]


def test_an_offered_tool_says_whose_it_is_and_what_it_is_called_there():
    found = offered().tools["web_fetch"]
    assert (found.server, found.name) == ("web", "fetch")
    assert found.item is SERVERS["web"].tools["fetch"]


def test_a_definition_is_the_pinned_one_but_for_the_prefix_of_its_name():
    definition = {"_meta": {"é": 1}, "name": "t", "inputSchema": {"maximum": 2**70}, "x": [None]}
    offering = offered({"s": entry("p_", tools=[definition])})
    [[listed]] = pages(offering, mcp.TOOLS)
    assert listed == {**definition, "name": "p_t"}
    assert list(listed) == sorted(definition)


def test_the_order_does_not_depend_on_that_of_the_catalog():
    assert names(offered(dict(reversed(SERVERS.items())))) == names(offered())


def test_an_empty_catalog_offers_empty_lists():
    offering = offered({})
    assert [pages(offering, kind) for kind in mcp.KINDS] == [[[]]] * 4
    assert offering.instructions == ""


AGAIN = r"pin one of them again, as with: thrall pin CATALOG --update 'two\x1b'"
OTHERS = "--surface=instructions --surface=prompts"
COLLISIONS = {
    "tools": ({"tools": ["t\x1b"]}, rf"have t\x1b among their tools: {AGAIN} --prefix PREFIX"),
    "prompts": ({"prompts": ["p"]}, f"have p among their prompts: {AGAIN} --prefix PREFIX"),
    "resources": ({"resources": ["a:b"]},
                  f"have a:b among their resources: {AGAIN} {OTHERS} --surface=resourceTemplates"),
    "templates": ({"templates": ["a:{b}"]},
                  f"have a:{{b}} among their resourceTemplates: {AGAIN} {OTHERS} --surface=resources"),
}  # fmt: skip


@pytest.mark.parametrize(("items", "why"), COLLISIONS.values(), ids=COLLISIONS)
def test_two_servers_with_one_name_are_refused_by_both_names(items, why):
    with pytest.raises(CatalogError) as refused:
        offered({"one": entry(**items), "two\x1b": entry(**items)})
    assert str(refused.value) == rf"the servers one and two\x1b both {why}"


def test_a_prefix_tells_two_tools_of_one_name_apart():
    assert names(offered({"a": entry(tools=["t"]), "b": entry("b_", tools=["t"])})) == ["t", "b_t"]


# -- read-only, approval -----------------------------------------------------------------------

HINTS = entry(tools=[
    tool("yes", readOnlyHint=True), tool("no", readOnlyHint=False), tool("text", readOnlyHint="true"),
    tool("one", readOnlyHint=1), {"name": "odd", "annotations": []}, "plain",
])  # fmt: skip


def test_read_only_offers_only_tools_that_are_pinned_with_the_hint():
    assert names(offered({"s": HINTS}, read_only=True)) == ["yes"]


def test_read_only_leaves_prompts_and_resources_alone():
    assert offered(read_only=True).prompts == offered().prompts


def test_with_ask_every_other_tool_needs_approval():
    offering = offered({"s": HINTS._replace(prefix="p_")}, ask=True)
    needy = {name for name in HINTS.tools if offering.needs_approval("s", name)}
    assert needy == set(HINTS.tools) - {"yes"}
    assert not any(offered({"s": HINTS}).needs_approval("s", name) for name in HINTS.tools)


# -- look-up -----------------------------------------------------------------------------------


def test_a_resource_is_found_by_its_address_or_by_a_template():
    offering = offered()
    assert offering.resource("file:///a").name == "file:///a"
    assert offering.resource("file:///docs/x").name == "file:///docs/{name}"
    assert offering.resource("file:///b") is None


def test_the_marks_of_a_tool_are_those_of_its_schema():
    assert sorted(offered().tools["web_fetch"].marks) == [
        mirror.Mark(("n",), "N"),
        mirror.Mark(("region",), "Region"),
    ]
    assert offered().tools["read"].marks == ()


# -- pages -------------------------------------------------------------------------------------


def test_a_huge_list_has_several_pages(monkeypatch):
    monkeypatch.setattr(offer, "_PAGE", 30)
    offering = offered({"s": entry(tools=["a", "b", "c" * 50, "d"])})
    assert [[each["name"] for each in page] for page in pages(offering, mcp.TOOLS)] == [
        ["a", "b"],
        ["c" * 50],
        ["d"],
    ]


@pytest.mark.parametrize("cursor", ["", "0", "1", "x", "-1", "00"])
def test_a_cursor_of_no_page_finds_none(cursor):
    assert offered().page(mcp.TOOLS, cursor) is None


# -- instructions ------------------------------------------------------------------------------


def test_the_instructions_of_the_only_server_are_its_own():
    assert offered({"s": SERVERS["files"]}).instructions == '"Read first."'


def test_of_several_servers_each_is_named():
    told = json.loads(offered({**SERVERS, "a": entry(instructions="é")}).instructions)
    assert told == "# a\n\né\n\n# files\n\nRead first."
