"""What the verbs pin and check do, against real servers."""

import json
import os

import pytest
from servers import TOOLS, command, offering

from thrall_py import errors
from thrall_py.catalog import file
from thrall_py.catalog.change import Slot
from thrall_py.catalog.entry import SURFACE, Entry, pin_item
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.launch import LaunchSpec
from thrall_py.protocol import mcp
from thrall_py.verbs import check, pin
from thrall_py.verbs.check import Target
from thrall_py.verbs.connect import ConnectionOptions, prepare
from thrall_py.verbs.pin import Naming

CONNECTION = ConnectionOptions(timeout=10, start_timeout=10, grace=5, max_message=1 << 20)
GOOD = LaunchSpec(command("good"), {})
PLAINLY = Naming()
TOKEN = "sesame42sesame"  # what a secret looks like
PROMPT = {"name": "p", "arguments": [{"name": "x"}]}
RESOURCE = {"uri": "file:///r", "name": "r"}
TEMPLATE = {"uriTemplate": "file:///{x}", "name": "t"}
WHOLE = {"prompts": [PROMPT], "resources": [RESOURCE], "resourceTemplates": [TEMPLATE]}


def pinned(interrupts, launch=GOOD, naming=PLAINLY, **given):
    prepared = prepare(launch, given, fill_in=True)
    return pin.pin_server(launch, naming, prepared, CONNECTION, interrupts)


def entry_of(*, tools=TOOLS, launch=GOOD, prefix="", name="fake"):
    items = {"tools": {tool["name"]: pin_item(tool) for tool in tools}}
    return Entry(launch, mcp.ServerInfo("2025-11-25", name, "1"), items, prefix=prefix)


def write(**servers):
    file.write("catalog.json", file.dumps(Catalog(servers, ("text",))))


# -- pin ---------------------------------------------------------------------------------------


def test_a_pin_holds_all_that_the_server_says(interrupts):
    about = {"name": "it", "version": "3"}
    offering(instructions="Do.", serverInfo=about, **WHOLE)
    found = pinned(interrupts)
    assert (found.name, found.warnings) == ("it", [])
    assert found.entry.launch == GOOD
    assert (found.entry.surface, found.entry.prefix) == (SURFACE, "")
    assert found.entry.server == mcp.ServerInfo(
        "2025-11-25", "it", "3", "Do.", frozenset({"tools", "prompts", "resources"})
    )
    assert found.entry.items == {
        "tools": {tool["name"]: pin_item(tool) for tool in TOOLS},
        "prompts": {"p": pin_item(PROMPT)},
        "resources": {"file:///r": pin_item(RESOURCE)},
        "resourceTemplates": {"file:///{x}": pin_item(TEMPLATE)},
    }


def test_what_a_server_does_not_declare_is_not_asked_for(interrupts):
    offering(capabilities={"tools": {}}, prompts="no list", resources="no list")
    assert list(pinned(interrupts).entry.items) == ["tools"]


def test_resources_without_templates_are_pinned_without_them(interrupts):
    offering(resources=[RESOURCE])
    items = pinned(interrupts).entry.items
    assert list(items["resources"]) == ["file:///r"]
    assert items["resourceTemplates"] == {}


@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/list"])
def test_a_list_that_is_declared_and_refused_leaves_no_pin(interrupts, method):
    offering(refuses=[method], **WHOLE)
    with pytest.raises(errors.JsonRpcError, match=f"^the server refused {method} with error"):
        pinned(interrupts)


def test_templates_that_are_refused_with_another_code_leave_no_pin(interrupts):
    offering(refuses=["resources/templates/list"], **WHOLE)
    assert pinned(interrupts).entry.items["resourceTemplates"] == {}
    offering(refuses=["resources/templates/list"], code=-32603, **WHOLE)
    with pytest.raises(errors.JsonRpcError, match="^the server refused resources/templates/list"):
        pinned(interrupts)


def test_a_server_without_tools_is_not_pinned(interrupts):
    offering(capabilities={"prompts": {}}, **WHOLE)
    with pytest.raises(errors.ServerError) as refused:
        pinned(interrupts)
    assert str(refused.value) == "the server offers no tools: it declares no such capability"


def test_a_server_without_a_name_gets_that_of_its_program(interrupts):
    offering(serverInfo={})
    assert pinned(interrupts).name == os.path.basename(GOOD.command[0])


def test_a_server_is_called_as_it_is_wanted(interrupts):
    found = pinned(interrupts, naming=Naming("mine", "m_"))
    assert (found.name, found.entry.server.name) == ("mine", "fake")
    update = pin.update("c.json", found)
    mine = file.loads(update.text.encode(), "").servers["mine"]
    assert list(mine.offered) == ["m_echo", "m_fail"]


def test_what_a_person_should_know_is_said(interrupts):
    offering(
        tools=[{"name": "a b"}, {"name": "a b"}],
        prompts=[{"name": "a b", "title": "\u200b"}, {"name": "p"}, {"name": "p"}],
        instructions="\u200b",
    )
    assert pinned(interrupts).warnings == [
        '"a b" is listed twice',
        '"p" is listed twice',
        r"hidden characters in the server's instructions: \u200b",
        '"a b": an odd name, outside 1 to 128 of A-Z a-z 0-9 _ . -',
        '"a b": no inputSchema',
        r'"a b": hidden characters in title: \u200b',
    ]
    offering(tools=[])
    assert pinned(interrupts).warnings == ["the server offers no tools: the pin is empty"]


SECRET = {"description": f"x {TOKEN} y"}


@pytest.mark.parametrize(
    ("offer", "sentence"),
    [
        (
            {"tools": [{"name": "a", **SECRET}]},
            'the definition of "a" repeats a secret of its environment',
        ),
        (
            {"prompts": [{"name": "p", **SECRET}]},
            'the definition of "p" repeats a secret of its environment',
        ),
        (
            {"resources": [{"uri": TOKEN}]},
            'the definition of "***" repeats a secret of its environment',
        ),
        ({"instructions": f"Use {TOKEN}."}, "the server repeats a secret of its environment in"),
        ({"serverInfo": {"name": TOKEN}}, "the server repeats a secret of its environment in"),
    ],
)
def test_a_secret_that_the_server_repeats_is_not_pinned(interrupts, offer, sentence):
    offering(**offer)
    with pytest.raises(errors.ServerError) as refused:
        pinned(interrupts, GOOD._replace(env={"A": "${A}"}), A=TOKEN)
    assert str(refused.value).startswith(sentence)
    assert TOKEN not in str(refused.value)


def test_a_pin_joins_those_that_are_there_and_their_policy_stays(interrupts):
    other = entry_of(tools=[{"name": "other"}], launch=LaunchSpec(("other",), {}))
    write(other=other)
    update = pin.update("catalog.json", pinned(interrupts))
    held = file.loads(update.text.encode(), "")
    assert (list(held.servers), held.allow) == (["fake", "other"], ("text",))
    assert (held.servers["other"].tools, update.differences) == (other.tools, [])
    assert list(file.read("catalog.json").servers) == ["other"]


def test_a_pin_takes_the_place_of_the_old_one_and_says_what_changed(interrupts):
    write(fake=entry_of(tools=[TOOLS[0], {"name": "gone"}]))
    update = pin.update("catalog.json", pinned(interrupts))
    assert list(file.loads(update.text.encode(), "").servers["fake"].tools) == ["echo", "fail"]
    assert [(d.tool, d.change.path, d.change.kind) for d in update.differences] == [
        ("fail", (), "additive"),
        ("gone", (), "breaking"),
    ]


def test_a_pin_for_stdout_is_text_only(interrupts):
    update = pin.update("-", pinned(interrupts))
    assert list(file.loads(update.text.encode(), "-").servers) == ["fake"]
    assert update.differences == []
    assert os.listdir() == []


def test_two_servers_that_offer_one_name_need_a_prefix(interrupts):
    write(other=entry_of(launch=LaunchSpec(("other",), {})))
    with pytest.raises(errors.CatalogError) as refused:
        pin.update("catalog.json", pinned(interrupts))
    assert str(refused.value) == (
        "catalog.json would have the tool echo of other and fake: give one of them a --prefix"
    )
    update = pin.update("catalog.json", pinned(interrupts, naming=Naming(prefix="f_")))
    assert list(file.loads(update.text.encode(), "").servers) == ["fake", "other"]


@pytest.mark.parametrize(
    ("name", "words", "refused"),
    [("", ["x"], True), ("", list(GOOD.command), False), ("fake", ["x"], True)],
)
def test_a_server_without_a_name_is_replaced_by_itself_only(interrupts, name, words, refused):
    offering(serverInfo={})
    called = os.path.basename(GOOD.command[0])
    write(**{called: entry_of(launch=LaunchSpec(tuple(words), {}), name=name)})
    found = pinned(interrupts)
    if refused:
        with pytest.raises(errors.CatalogError) as caught:
            pin.update("catalog.json", found)
        assert str(caught.value) == f"{called} is another server: give this one a --name"
    else:
        servers = file.loads(pin.update("catalog.json", found).text.encode(), "").servers
        assert servers[called].launch == GOOD


# -- check -------------------------------------------------------------------------------------


def target(entry, *allowed):
    return Target("c.json", "s", entry, frozenset(allowed))


def checked(interrupts, entry):
    found = check.check_server(target(entry), CONNECTION, interrupts)
    assert (found.failure, found.status) == (None, 0)
    return found.differences, found.notes


def places(differences):
    return [(each.tool, each.change.path, each.change.kind) for each in differences]


def test_what_is_as_pinned_has_no_difference(interrupts):
    assert checked(interrupts, entry_of()) == ([], [])
    offering(instructions="Do.", **WHOLE)
    assert checked(interrupts, pinned(interrupts).entry) == ([], [])


def test_what_changed_is_a_difference(interrupts):
    offering(instructions="New.", tools=TOOLS[:1])
    differences, notes = checked(interrupts, entry_of())
    assert notes == []
    assert places(differences) == [(None, ("instructions",), "text"), ("fail", (), "breaking")]
    assert differences[0].change.after == Slot("New.")


def test_a_report_names_its_server_and_all_tools_that_are_there_or_were(interrupts):
    offering(tools=[TOOLS[0], {"name": "new"}])
    found = check.check_server(target(entry_of(), "text"), CONNECTION, interrupts)
    assert (found.catalog, found.server, found.allowed) == ("c.json", "s", {"text"})
    assert sorted(found.tools) == ["echo", "fail", "new"]


def test_everything_else_that_was_pinned_is_compared_too(interrupts):
    offering(**WHOLE)
    entry = pinned(interrupts).entry
    offering(
        prompts=[{**PROMPT, "arguments": [{"name": "x", "required": True}]}],
        resources=[RESOURCE, {"uri": "file:///new"}],
        resourceTemplates=[],
    )
    assert places(checked(interrupts, entry)[0]) == [
        (None, ("prompts", "p", "arguments", "x", "required"), "breaking"),
        (None, ("resources", "file:///new"), "additive"),
        (None, ("resourceTemplates", "file:///{x}"), "breaking"),
    ]


def test_a_capability_that_is_gone_takes_with_it_what_was_pinned(interrupts):
    offering(**WHOLE)
    entry = pinned(interrupts).entry
    offering(capabilities={"tools": {}})
    assert [path[0] for _, path, _ in places(checked(interrupts, entry)[0])] == [
        "prompts",
        "resources",
        "resourceTemplates",
    ]


def test_what_is_not_of_the_surface_is_not_asked_for(interrupts):
    offering(refuses=["prompts/list"], instructions="New.", **WHOLE)
    entry = entry_of()._replace(surface=("tools",))
    assert checked(interrupts, entry) == ([], [])


def test_a_server_of_another_name_is_a_difference(interrupts):
    offering(serverInfo={"name": "evil", "version": "1"})
    (difference,) = checked(interrupts, entry_of())[0]
    assert places([difference]) == [(None, ("server", "name"), "text")]
    assert (difference.change.before, difference.change.after) == (Slot("fake"), Slot("evil"))


@pytest.mark.parametrize(
    "offer", [{"later": TOOLS[1:]}, {"tools": TOOLS[1:], "later": TOOLS}, {"tools": TOOLS[1:]}]
)
def test_a_list_that_changes_within_a_session_is_a_difference(interrupts, offer):
    offering(**offer)
    assert places(checked(interrupts, entry_of())[0]) == [("echo", (), "breaking")]


def test_a_variable_in_a_pinned_command_is_filled_in(interrupts, monkeypatch, graveyard):
    monkeypatch.setenv("STORY", graveyard.path)
    entry = entry_of(launch=LaunchSpec(command("good", "${STORY}"), {}))
    assert checked(interrupts, entry) == ([], [])
    assert graveyard.words() == ["eof"]


def test_another_version_and_an_odd_list_are_only_noted(interrupts):
    offering(tools=[*TOOLS, TOOLS[0]], serverInfo={"name": "fake", "version": "2\x1b"})
    assert checked(interrupts, entry_of()) == (
        [],
        [
            '"echo" is listed twice',
            r"""the server's version is "2\x1b", was "1" when pinned""",
        ],
    )


def test_a_server_that_refuses_could_not_be_checked(interrupts):
    offering(refuses=["tools/list"])
    with pytest.raises(
        errors.ServerError, match="^the server refused tools/list with error -32601"
    ):
        checked(interrupts, entry_of())


def test_every_server_has_its_report_whatever_became_of_it(interrupts):
    os.mkdir("a")
    offering("a", tools=TOOLS[:1])
    missing = LaunchSpec(("./no-such",), {})
    unset = LaunchSpec(("x",), {"A": "${A}"})
    entries = [entry_of(launch=it) for it in (missing, GOOD._replace(cwd="a"), unset, GOOD)]
    targets = [Target(f"{n}.json", f"s{n}", it, frozenset()) for n, it in enumerate(entries)]
    reports = [list(check.check_all(targets, CONNECTION, jobs, interrupts)) for jobs in (1, 4)]
    for found in reports:
        assert [(each.catalog, each.server) for each in found] == [
            (f"{n}.json", f"s{n}") for n in range(4)
        ]
        assert [(each.status, each.failure) for each in found] == [
            (127, "the program ./no-such was not found"),
            (0, None),
            (3, "the variable A is not set, and the server needs it"),
            (0, None),
        ]
        assert [places(each.differences) for each in found] == [
            [], [("fail", (), "breaking")], [], []
        ]  # fmt: skip


def test_a_report_of_another_process_still_masks_its_secrets(interrupts, monkeypatch):
    monkeypatch.setenv("A", TOKEN)
    launch = GOOD._replace(env={"A": "${A}"})
    targets = [target(entry_of(launch=launch))] * 2
    for report in check.check_all(targets, CONNECTION, 2, interrupts):
        assert report.redact.mask(json.dumps([TOKEN])) == '["***"]'


def test_without_servers_there_is_nothing_to_report(interrupts):
    assert list(check.check_all([], CONNECTION, 8, interrupts)) == []
