"""What the verbs pin and check do, against real servers."""

import json
import os

import pytest
from servers import TOOLS, command, offering

from thrall_py import errors
from thrall_py.catalog import file, filing
from thrall_py.catalog.change import FAILING, Slot
from thrall_py.catalog.entry import SURFACE, Entry, pin_item
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.filing import Wishes
from thrall_py.catalog.launch import LaunchSpec
from thrall_py.protocol import mcp
from thrall_py.verbs import check, pin
from thrall_py.verbs.check import Target
from thrall_py.verbs.connect import ConnectionOptions
from thrall_py.verbs.pin import Failed, Found

CONNECTION = ConnectionOptions(timeout=10, start_timeout=10, grace=5, max_message=1 << 20)
GOOD = LaunchSpec(command("good"), {})
PLAINLY = Wishes()
TOKEN = "sesame42sesame"  # what a secret looks like
PROMPT = {"name": "p", "arguments": [{"name": "x"}]}
RESOURCE = {"uri": "file:///r", "name": "r"}
TEMPLATE = {"uriTemplate": "file:///{x}", "name": "t"}
WHOLE = {"prompts": [PROMPT], "resources": [RESOURCE], "resourceTemplates": [TEMPLATE]}


def pinned(interrupts, launch=GOOD, wishes=PLAINLY, **given):
    """What the server offers."""
    return pin.pin_server(pin.Target(launch, given, wishes), CONNECTION, interrupts)


def filed(found, catalog=None):
    """The place that it has in a catalog."""
    content = Catalog({}) if catalog is None else catalog
    return filing.add(content, found.entry, found.target.wishes, found.redact)


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
    assert (filed(found).name, found.oddities, filed(found).warnings) == ("it", [], [])
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
    assert filed(pinned(interrupts)).name == os.path.basename(GOOD.command[0])


def test_a_server_is_called_as_it_is_wanted(interrupts):
    catalog = Catalog({})
    found = filed(pinned(interrupts, wishes=Wishes("mine", "m_")), catalog)
    assert (found.name, found.entry.server.name) == ("mine", "fake")
    assert list(catalog.servers["mine"].offered) == ["m_echo", "m_fail"]


def test_what_a_person_should_know_is_said(interrupts):
    offering(
        tools=[{"name": "a b"}, {"name": "a b"}],
        prompts=[{"name": "a b", "title": "\u200b"}, {"name": "p"}, {"name": "p"}],
        instructions="\u200b",
    )
    found = pinned(interrupts)
    assert found.oddities == ['"a b" is listed twice', '"p" is listed twice']
    assert filed(found).warnings == [
        r"hidden characters in the server's instructions: \u200b",
        '"a b": an odd name, outside 1 to 128 of A-Z a-z 0-9 _ . -',
        '"a b": no inputSchema',
        r'"a b": hidden characters in title: \u200b',
    ]
    offering(tools=[])
    assert filed(pinned(interrupts)).warnings == ["no tools: the pin is empty"]


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
    found = pinned(interrupts, GOOD._replace(env={"A": "${A}"}), A=TOKEN)
    catalog = Catalog({})
    with pytest.raises(errors.ServerError) as refused:
        filed(found, catalog)
    assert catalog.servers == {}
    assert str(refused.value).startswith(sentence)
    assert TOKEN not in str(refused.value)


def test_a_pin_joins_those_that_are_there_and_their_policy_stays(interrupts):
    other = entry_of(tools=[{"name": "other"}], launch=LaunchSpec(("other",), {}))
    write(other=other)
    catalog = file.read("catalog.json")
    found = filed(pinned(interrupts), catalog)
    held = file.loads(file.dumps(catalog).encode(), "")
    assert (list(held.servers), held.allow) == (["fake", "other"], ("text",))
    assert (held.servers["other"].tools, found.differences) == (other.tools, [])
    assert list(file.read("catalog.json").servers) == ["other"]


def test_a_pin_takes_the_place_of_the_old_one_and_says_what_changed(interrupts):
    catalog = Catalog({"fake": entry_of(tools=[TOOLS[0], {"name": "gone"}])})
    found = filed(pinned(interrupts), catalog)
    assert list(catalog.servers["fake"].tools) == ["echo", "fail"]
    assert [(d.tool, d.change.path, d.change.kind) for d in found.differences] == [
        ("gone", (), "breaking"),
        ("fail", (), "additive"),
    ]


def test_two_servers_that_offer_one_name_need_a_prefix(interrupts):
    catalog = Catalog({"other": entry_of(launch=LaunchSpec(("other",), {}))})
    with pytest.raises(errors.CatalogError) as refused:
        filed(pinned(interrupts), catalog)
    assert str(refused.value) == (
        "other and fake both have the tool echo: give one of them a --prefix,"
        " or unpin other if this one replaces it"
    )
    filed(pinned(interrupts, wishes=Wishes(prefix="f_")), catalog)
    assert sorted(catalog.servers) == ["fake", "other"]


@pytest.mark.parametrize(
    ("name", "words", "refused"),
    [("", ["x"], True), ("", list(GOOD.command), False), ("fake", ["x"], True)],
)
def test_a_server_without_a_name_is_replaced_by_itself_only(interrupts, name, words, refused):
    offering(serverInfo={})
    called = os.path.basename(GOOD.command[0])
    catalog = Catalog({called: entry_of(launch=LaunchSpec(tuple(words), {}), name=name)})
    found = pinned(interrupts)
    if refused:
        with pytest.raises(errors.CatalogError) as caught:
            filed(found, catalog)
        assert str(caught.value) == f"{called} is another server: give this one a --name"
    else:
        assert filed(found, catalog).name == called
        assert catalog.servers[called].launch == GOOD


def test_a_word_of_a_server_that_looks_like_a_credential_keeps_it_from_being_started(interrupts):
    launch = LaunchSpec(("touch", "started", "--password=hunter22"), {})
    with pytest.raises(errors.InputError, match="^word 3 of the server's command looks like a"):
        pinned(interrupts, launch)
    assert os.listdir() == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DB_PASSWORD", "hunter22"),
        ("X", "ghp_" + "a1B2" * 9),
        ("API_KEY", "abcd1234efgh5678"),
        ("URL", "https://u:p@host/"),
    ],
)
def test_so_does_the_value_of_a_variable_unless_that_is_allowed(interrupts, name, value):
    launch = GOOD._replace(env={"A": "1", name: value})
    with pytest.raises(errors.InputError) as refused:
        pinned(interrupts, launch._replace(command=("touch", "started")))
    assert str(refused.value) == (
        f"the variable {name} looks like a credential, which does not belong in a catalog:"
        f" write '${{{name}}}' and set the variable, or say --allow-literal"
    )
    assert os.listdir() == []
    allowed = pin.Target(launch, {}, PLAINLY, allow_literal=True)
    assert pin.pin_server(allowed, CONNECTION, interrupts).entry.launch == launch


@pytest.mark.parametrize("value", ["${PW}", "8080", "/run/secret", "debug"])
def test_a_variable_that_only_has_such_a_name_does_not(interrupts, monkeypatch, value):
    monkeypatch.setenv("PW", "x")
    launch = GOOD._replace(env={"DB_PASSWORD" if value != "debug" else "LEVEL": value})
    assert pinned(interrupts, launch).entry.launch == launch


def test_servers_are_asked_in_their_order_and_one_that_fails_keeps_no_other(interrupts):
    os.mkdir("a")
    offering("a", serverInfo={"name": "in a"})
    missing = LaunchSpec(("no-such",), {})
    unset = LaunchSpec(("x",), {"A": "${A}"})
    targets = [
        pin.Target(missing, {}, Wishes("m"), name="m"),
        pin.Target(GOOD._replace(cwd="a"), {}, PLAINLY),
        pin.Target(unset, {}, PLAINLY),
        pin.Target(GOOD, {}, PLAINLY, ("tools",)),
    ]
    for jobs in (1, 4):
        one, two, three, four = pin.pin_all(targets, CONNECTION, jobs, interrupts)
        assert one == Failed("m", "the program no-such was not found", 127)
        assert three == Failed(
            None, "the variable A is not set (or not exported), and the server needs it", 3
        )
        assert isinstance(two, Found)
        assert (two.target, two.entry.server.name) == (targets[1], "in a")
        assert (four.entry.server.name, four.entry.surface) == ("fake", ("tools",))


def test_what_was_found_in_another_process_still_masks_its_secrets(interrupts, monkeypatch):
    monkeypatch.setenv("A", TOKEN)
    targets = [pin.Target(GOOD._replace(env={"A": "${A}"}), {}, PLAINLY)] * 2
    masked = [found.redact.mask(TOKEN) for found in pin.pin_all(targets, CONNECTION, 2, interrupts)]
    assert masked == ["***", "***"]


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
    assert places(differences) == [("fail", (), "breaking"), (None, ("instructions",), "text")]
    assert differences[1].change.after == Slot("New.")


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
        (None, ("resourceTemplates", "file:///{x}"), "breaking"),
        (None, ("resources", "file:///new"), "additive"),
    ]


def test_a_capability_that_is_gone_takes_with_it_what_was_pinned(interrupts):
    offering(**WHOLE)
    entry = pinned(interrupts).entry
    offering(capabilities={"tools": {}})
    assert [path[0] for _, path, _ in places(checked(interrupts, entry)[0])] == [
        "prompts",
        "resourceTemplates",
        "resources",
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


TWO_FACES = [
    ({"later": {"tools": TOOLS[1:]}}, "echo", ("echo", (), "breaking")),
    ({"tools": TOOLS[1:], "later": {"tools": TOOLS}}, "echo", ("echo", (), "breaking")),
    (
        {"later": {"tools": [TOOLS[0], {**TOOLS[1], "title": "x"}]}},
        "fail",
        ("fail", ("title",), "text"),
    ),
    (
        {"later": {"tools": [*TOOLS, {"name": "\x1b"}]}},
        r"\x1b",
        ("\x1b", (), "additive"),
    ),
    ({"later": {"prompts": []}}, "p", (None, ("prompts", "p"), "breaking")),
    (
        {"later": {"resources": [{**RESOURCE, "size": 1}]}},
        "file:///r",
        (None, ("resources", "file:///r", "size"), "behaviour"),
    ),
    (
        {"later": {"resourceTemplates": []}},
        "file:///{x}",
        (None, ("resourceTemplates", "file:///{x}"), "breaking"),
    ),
]


@pytest.mark.parametrize(("offer", "name", "place"), TWO_FACES)
def test_a_list_that_changes_within_a_session_is_a_difference(interrupts, offer, name, place):
    offering(**WHOLE)
    entry = pinned(interrupts).entry
    offering(**WHOLE, **offer)
    assert places(checked(interrupts, entry)[0]) == [place]
    words = f'the server lists "{name}" differently each time it is asked'
    with pytest.raises(errors.ServerError) as refused:
        check.check_server(target(entry, *FAILING), CONNECTION, interrupts)
    assert str(refused.value) == words
    (report,) = check.check_all([target(entry, *FAILING)], CONNECTION, 1, interrupts)
    assert (report.status, report.failure) == (4, words)


def test_so_it_is_not_as_pinned_even_if_only_what_is_cosmetic_changes(interrupts):
    offering(later={"tools": [{**TOOLS[0], "icons": []}, TOOLS[1]]})
    with pytest.raises(errors.ServerError, match='^the server lists "echo" differently'):
        checked(interrupts, entry_of())


def test_two_faces_of_which_none_is_the_pinned_one_are_both_differences(interrupts):
    texts = [[{**TOOLS[0], member: "x"}, TOOLS[1]] for member in ("title", "x-note")]
    offering(tools=texts[0], later={"tools": texts[1]})
    assert places(checked(interrupts, entry_of())[0]) == [
        ("echo", ("title",), "text"),
        ("echo", ("x-note",), "text"),
    ]


def test_a_list_in_another_order_is_the_same_list(interrupts):
    offering(later={"tools": TOOLS[::-1]})
    assert checked(interrupts, entry_of()) == ([], [])


def test_a_list_that_stays_shorter_is_a_difference(interrupts):
    offering(tools=TOOLS[1:])
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
    missing = LaunchSpec(("no-such",), {})
    unset = LaunchSpec(("x",), {"A": "${A}"})
    entries = [entry_of(launch=it) for it in (missing, GOOD._replace(cwd="a"), unset, GOOD)]
    targets = [Target(f"{n}.json", f"s{n}", it, frozenset()) for n, it in enumerate(entries)]
    reports = [list(check.check_all(targets, CONNECTION, jobs, interrupts)) for jobs in (1, 4)]
    for found in reports:
        assert [(each.catalog, each.server) for each in found] == [
            (f"{n}.json", f"s{n}") for n in range(4)
        ]
        assert [(each.status, each.failure) for each in found] == [
            (127, "the program no-such was not found"),
            (0, None),
            (3, "the variable A is not set (or not exported), and the server needs it"),
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
