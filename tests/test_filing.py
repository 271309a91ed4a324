"""A pin in its place in a catalog."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thrall_py.catalog import filing
from thrall_py.catalog.choice import EVERYTHING, Choice
from thrall_py.catalog.entry import SURFACE, Entry, command_entry, pin_item
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.filing import Wishes
from thrall_py.catalog.launch import ExecSpec, LaunchSpec
from thrall_py.errors import CatalogError, InputError, ServerError
from thrall_py.protocol import mcp
from thrall_py.redact import Redactor

TOKEN = "sesame42sesame"  # what a secret looks like
REDACT = Redactor([TOKEN])
PLAINLY = Wishes()
NO_WARNINGS = {"inputSchema": {"type": "object"}}
NAMES = st.text("abAB_-01", min_size=1, max_size=4)


def items(kind, *names):
    return {name: pin_item({kind.key: name, **NO_WARNINGS}) for name in names}


def entry(*tools, command="x", name="fake", prompts=(), instructions=None, **more):
    """What a server offers."""
    held = {"tools": items(mcp.TOOLS, *tools), "prompts": items(mcp.PROMPTS, *prompts)}
    server = mcp.ServerInfo("2025-11-25", name, "1", instructions)
    return Entry(LaunchSpec(("/bin/" + command,), {}), server, held, **more)


def add(catalog, found, wishes=PLAINLY):
    return filing.add(catalog, found, wishes, REDACT)


def refusal(error, *given):
    with pytest.raises(error) as refused:
        add(*given)
    return str(refused.value)


def changes(filed):
    return [(d.tool, "/".join(d.change.path), d.change.kind) for d in filed.differences]


# -- under which name --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "wanted", "name"),
    [("fake", None, "fake"), ("", None, "x"), ("fake", "mine", "mine"), ("", "mine", "mine")],
)
def test_a_server_is_filed_as_it_is_wanted_or_as_it_calls_itself_or_its_program(own, wanted, name):
    catalog = Catalog({})
    filed = add(catalog, entry("a", name=own), Wishes(wanted))
    assert filed == (name, catalog.servers[name], [], [], [], True, [])
    assert list(catalog.servers) == [name]


def test_the_same_command_is_renewed_whatever_it_calls_itself_now():
    catalog = Catalog({"old": entry("a"), "other": entry("b", command="y")})
    filed = add(catalog, entry("a", name="new"))
    assert (filed.name, filed.is_new) == ("old", False)
    assert list(catalog.servers) == ["old", "other"]
    assert changes(filed) == [(None, "server/name", "text")]


def test_a_name_that_is_given_goes_before_the_same_command():
    catalog = Catalog({"old": entry("a", prefix="o_")})
    assert add(catalog, entry("a"), Wishes("new")).name == "new"
    assert list(catalog.servers) == ["old", "new"]


def test_a_name_that_is_given_is_renewed_with_another_command():
    catalog = Catalog({"mine": entry("a", command="y")})
    filed = add(catalog, entry("a", "b"), Wishes("mine"))
    assert catalog.servers["mine"].launch.command == ("/bin/x",)
    assert changes(filed) == [("b", "", "additive")]


@pytest.mark.parametrize(
    ("name", "earlier"), [(None, "one"), ("one", "one"), ("two", "two"), ("three", None)]
)
def test_an_earlier_pin_is_found_by_the_name_or_by_the_command(name, earlier):
    catalog = Catalog({"one": entry(), "two": entry(command="y"), "again": entry()})
    assert filing.earlier_name(catalog, entry().launch, name) == earlier
    assert filing.earlier_name(Catalog({}), entry().launch, name) is None


def test_a_command_with_other_surroundings_is_another_one():
    catalog = Catalog({"one": entry()})
    for other in ({"cwd": "d"}, {"env": {"A": "1"}}, {"clean_env": True}):
        launch = entry().launch._replace(**other)
        assert filing.earlier_name(catalog, launch, None) is None


def test_a_server_without_a_name_does_not_take_the_place_of_another():
    catalog = Catalog({"x": entry("a", command="y")})
    before = dict(catalog.servers)
    assert refusal(CatalogError, catalog, entry("a", name="")) == (
        "x is another server: give this one a --name"
    )
    assert catalog.servers == before


# -- with which of its tools -------------------------------------------------------------------


def test_prefix_choice_and_surface_of_an_earlier_pin_are_kept():
    earlier = entry("a1", surface=("tools",), prefix="p_", choice=Choice(("a*",), ("a2",)))
    catalog = Catalog({"fake": earlier})
    filed = add(catalog, entry("a1", "a2", "a3", "b", prompts=["p"], instructions="Do."))
    assert filed.entry[3:] == (("tools",), "p_", Choice(("a*",), ("a2",)), ())
    assert list(filed.entry.items) == ["tools"]
    assert filed.entry.server.instructions is None
    assert list(filed.entry.offered) == ["p_a1", "p_a3"]
    assert filed.left_out == ["a2", "b"]
    assert changes(filed) == [("a3", "", "additive")]


def test_they_give_way_to_what_is_wanted_now():
    earlier = entry("a", surface=("tools",), prefix="p_", choice=Choice(("a",)))
    catalog = Catalog({"fake": earlier})
    wishes = Wishes(None, "", EVERYTHING, SURFACE)
    filed = add(catalog, entry("a", "b", prompts=["p"], instructions="Do."), wishes)
    assert filed.entry == entry("a", "b", prompts=["p"], instructions="Do.")
    assert filed.left_out == []


def test_a_choice_is_of_tools_alone():
    filed = add(Catalog({}), entry("a", "b", prompts=["b"]), Wishes(choice=Choice((), ("b",))))
    assert list(filed.entry.tools) == ["a"]
    assert list(filed.entry.items["prompts"]) == ["b"]
    assert filed.left_out == ["b"]


def test_a_choice_that_contradicts_itself_leaves_an_empty_pin_and_says_so():
    filed = add(Catalog({}), entry("a", "b"), Wishes(choice=Choice(("a",), ("a*",))))
    assert (filed.entry.tools, filed.left_out) == ({}, ["a", "b"])
    assert filed.warnings == ["no tools: the pin is empty"]


@pytest.mark.parametrize(
    ("choice", "pattern"),
    [(Choice(("A",)), "A"), (Choice((), ("x*",)), "x*"), (Choice(("a", TOKEN)), "***")],
)
def test_a_pattern_that_matches_nothing_is_refused_where_it_is_new(choice, pattern):
    catalog = Catalog({"fake": entry("a")})
    before = dict(catalog.servers)
    assert refusal(InputError, catalog, entry("a", "b\x1b"), Wishes(choice=choice)) == (
        rf'no tool matches "{pattern}"; the server has a, b\x1b'
    )
    assert catalog.servers == before


def test_not_all_of_many_tools_are_named_then():
    found = entry(*(f"t{n:02}" for n in range(30)))
    sentence = refusal(InputError, Catalog({}), found, Wishes(choice=Choice(("x",))))
    assert sentence.endswith("t18, t19, and 10 more")


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "none"), (1, "t"), (20, "t"), (21, "t, and 1 more")]
)
def test_there_are_none_or_some_or_more(count, shown):
    found = entry(*(f"{n:02}t" for n in range(count)))
    sentence = refusal(InputError, Catalog({}), found, Wishes(choice=Choice(("x",))))
    assert sentence.startswith('no tool matches "x"; the server has ')
    assert sentence.endswith(shown)
    assert sentence.count("t,") == max(0, min(count, 20) - 1 + (count > 20))


def test_a_pattern_that_matches_nothing_any_more_is_a_warning():
    catalog = Catalog({"fake": entry("a", "b", choice=Choice(("a", "b"), ("c",)))})
    filed = add(catalog, entry("a", "d"))
    assert filed.warnings == ['no tool matches "b" any more', 'no tool matches "c" any more']
    assert changes(filed) == [("b", "", "breaking")]


@pytest.mark.parametrize("surface", [("tools",), ("instructions", "tools"), SURFACE])
def test_what_does_not_belong_to_the_surface_is_not_kept(surface):
    found = entry("a", prompts=["p"], instructions="Do.")
    held = add(Catalog({}), found, Wishes(surface=surface)).entry
    assert held.surface == surface
    assert set(held.items) == {"tools", "prompts"}.intersection(surface)
    assert held.server.instructions == ("Do." if "instructions" in surface else None)


# -- what it changes ---------------------------------------------------------------------------


def test_what_the_earlier_pin_did_not_look_at_is_a_change_too():
    earlier = entry("a", surface=("tools",), choice=Choice(("a",)))
    catalog = Catalog({"fake": earlier})
    found = entry("a", "b", prompts=["p"], instructions="Do.")
    filed = add(catalog, found, Wishes(choice=EVERYTHING, surface=SURFACE))
    assert changes(filed) == [
        (None, "instructions", "text"),
        (None, "prompts/p", "additive"),
        ("b", "", "additive"),
    ]


def test_what_the_new_pin_does_not_look_at_any_more_is_one_as_well():
    catalog = Catalog({"fake": entry("a", "b", prompts=["p"], instructions="Do.")})
    wishes = Wishes(choice=Choice(("a",)), surface=("tools",))
    assert changes(add(catalog, entry("a", "b"), wishes)) == [
        (None, "prompts/p", "breaking"),
        ("b", "", "breaking"),
        (None, "instructions", "text"),
    ]


def test_what_both_leave_out_is_none():
    catalog = Catalog({"fake": entry("a", choice=Choice(("a",)), surface=("tools",))})
    assert add(catalog, entry("a", "b", prompts=["p"])).differences == []


# -- beside whom -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("there", "found", "wishes", "tool"),
    [
        (entry("a"), entry("b", "a", command="y"), PLAINLY, "a"),
        (entry("x_a"), entry("a", command="y"), Wishes(prefix="x_"), "x_a"),
        (entry("a", prefix="x_"), entry("x_a", command="y"), PLAINLY, "x_a"),
        (entry("a\x1b"), entry("a\x1b", command="y"), PLAINLY, r"a\x1b"),
    ],
)
def test_two_servers_with_a_tool_of_one_name_are_refused(there, found, wishes, tool):
    catalog = Catalog({"s\x1b": there})
    wishes = wishes._replace(name="t")
    assert refusal(CatalogError, catalog, found, wishes) == (
        rf"s\x1b and t both have the tool {tool}: give one of them a --prefix,"
        r" or unpin s\x1b if this one replaces it"
    )
    assert list(catalog.servers) == ["s\x1b"]


ADDRESSES = {
    "resources": items(mcp.RESOURCES, "a:b", "a:c"),
    "resourceTemplates": items(mcp.TEMPLATES, "a:{b}"),
}


@pytest.mark.parametrize(
    ("more", "surface", "name", "kind", "remedy"),
    [
        ({"prompts": items(mcp.PROMPTS, "p")}, SURFACE, "p", "prompts", "--prefix PREFIX"),
        (
            ADDRESSES,
            SURFACE,
            "a:b",
            "resources",
            "--surface=instructions --surface=prompts",
        ),
        (
            {"resources": ADDRESSES["resources"]},
            ("tools", "resources", "resourceTemplates"),
            "a:b",
            "resources",
            "--surface=resourceTemplates",
        ),
        (ADDRESSES, ("tools", *ADDRESSES), "a:b", "resources", "--surface=tools"),
        (
            {"prompts": items(mcp.PROMPTS, "p"), "resources": ADDRESSES["resources"]},
            ("tools", "prompts", "resources"),
            "p",
            "prompts",
            "--prefix PREFIX --surface=prompts",
        ),
    ],
)
def test_two_servers_that_cannot_both_be_served_are_told_of(more, surface, name, kind, remedy):
    both = [
        each._replace(items={**each.items, **more}, surface=surface)
        for each in (entry("a"), entry("b", command="y"))
    ]
    catalog = Catalog({"s": both[0], "other": entry("c")})
    (warning,) = add(catalog, both[1], Wishes("t t")).warnings
    assert warning == (
        f'"{name}" is among the {kind} of s, too, so thrall serve refuses the catalog:'
        f" pin one of them again, as with: thrall pin CATALOG --update 't t' {remedy}"
    )


def test_a_prefix_tells_prompts_apart():
    catalog = Catalog({"s": entry("a", prompts=["p"])})
    found = entry("b", prompts=["p"], command="y")
    assert add(catalog, found, Wishes("t", prefix="t_")).warnings == []


def test_names_that_differ_or_are_left_out_do_not_collide():
    catalog = Catalog({"s": entry("a", "b")})
    found = entry("a", "c", command="y")
    assert add(catalog, found, Wishes("t", prefix="t_")).name == "t"
    assert add(catalog, found, Wishes("u", choice=Choice(("c",)))).name == "u"
    assert add(catalog, entry(command="z"), Wishes("v")).name == "v"


ALIKE = [
    ("send_mail", "sendMail"),
    ("send-mail", "send_mail"),
    ("send.mail", "sendmail"),
    ("READ", "read"),
    ("p\u0430y", "pay"),  # Cyrillic
    ("\u0440\u0430\u0443", "pay"),
    ("\u03bfpen", "open"),  # Greek
    ("t0ken", "token"),
    ("fi1e", "file"),
    ("fiIe", "file"),
    ("IO", "l0"),
    ("rnail", "mail"),
    ("\uff50\uff41\uff59", "pay"),  # full width
    ("café", "cafe"),
]


@pytest.mark.parametrize(("name", "other"), ALIKE)
def test_a_tool_that_looks_like_one_of_another_server_is_told_of(name, other):
    for one, two in ((name, other), (other, name)):
        catalog = Catalog({"s": entry(two, "unlike")})
        warnings = add(catalog, entry(one, command="y"), Wishes("t")).warnings
        assert f'names that look alike: "{two}" of s, "{one}" of t' in warnings


@pytest.mark.parametrize(("name", "other"), ALIKE)
def test_a_tool_that_looks_like_another_of_its_own_is_told_of_once(name, other):
    warnings = add(Catalog({}), entry(name, other)).warnings
    assert [each for each in warnings if "alike" in each] == [
        f'names that look alike: "{name}" of fake, "{other}" of fake'
    ]


def test_names_are_compared_as_they_are_called():
    catalog = Catalog({"s": entry("mail", prefix="send_")})
    filed = add(catalog, entry("Mail", command="y"), Wishes("t", prefix="send"))
    assert filed.warnings == ['names that look alike: "send_mail" of s, "sendMail" of t']


def test_nothing_in_a_name_acts_on_a_terminal():
    warnings = add(Catalog({}), entry("a\x1b", "a\u202e")).warnings
    assert r'names that look alike: "a\x1b" of fake, "a\u202e" of fake' in warnings


def test_a_long_name_is_cut():
    (warning,) = add(Catalog({}), entry("a" * 41, "A" * 41, name="s" * 41)).warnings
    shown = [f'"{letter * 40}..." of {"s" * 40}...' for letter in "aA"]
    assert warning == f"names that look alike: {', '.join(shown)}"


def test_a_secret_in_names_that_look_alike_is_masked():
    found = entry("hunter22", "hunter_22")
    filed = filing.add(Catalog({}), found, PLAINLY, Redactor(["hunter22"]))
    assert "hunter22" not in " ".join(filed.warnings)


def test_others_that_look_alike_are_not_told_of_again():
    catalog = Catalog({"s": entry("a_b", "ab")})
    assert add(catalog, entry("other", command="y"), Wishes("t")).warnings == []


@given(st.lists(NAMES, unique=True, max_size=2), st.lists(NAMES, unique=True, max_size=3))
def test_a_name_that_differs_in_case_or_separators_is_always_told_of(names, others):
    renamed = {f"{name.swapcase()}_" for name in others} - set(names)
    catalog = Catalog({"s": entry(*renamed)})
    warnings = add(catalog, entry(*names, command="y"), Wishes("t")).warnings
    told = [each for each in warnings if "alike" in each]
    plain = {name: name.replace("_", "").replace("-", "").casefold() for name in [*names, *renamed]}
    for name in names:
        for other in renamed:
            if plain[name] == plain[other]:
                (line,) = (each for each in told if f'"{name}" of t' in each)
                assert f'"{other}" of s' in line


@pytest.mark.parametrize(("count", "more"), [(5, ""), (6, ", and 1 more"), (60, ", and 55 more")])
def test_many_tools_that_look_alike_are_one_warning(count, more):
    names = [f"a{'_' * n}b" for n in range(count)]
    shown = ", ".join(f'"{name}" of fake' for name in names[:5])
    assert add(Catalog({}), entry(*names)).warnings == [f"names that look alike: {shown}{more}"]


def test_each_set_of_names_that_look_alike_is_told():
    catalog = Catalog({"s": entry("a_b", "x")})
    found = entry("ab", "c_d", "cd", "y", command="y")
    assert add(catalog, found, Wishes("t")).warnings == [
        'names that look alike: "a_b" of s, "ab" of t',
        'names that look alike: "c_d" of t, "cd" of t',
    ]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("\u043aill", "kill"),
        ("\u041cAKE", "MAKE"),
        ("\u0422EST", "TEST"),
        ("\u041dELP", "HELP"),
        ("\u0412OX", "BOX"),
    ],
)
def test_other_cyrillic_letters_look_like_latin_ones_too(name, other):
    warnings = add(Catalog({}), entry(name, other)).warnings
    assert f'names that look alike: "{name}" of fake, "{other}" of fake' in warnings


# -- secrets -----------------------------------------------------------------------------------


def repeating(kind, name):
    return {kind.member: {name: pin_item({kind.key: name, "title": f"x {TOKEN}"})}}


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            entry()._replace(items=repeating(mcp.TOOLS, "a")),
            'the definition of "a" repeats a secret of its environment',
        ),
        (
            entry()._replace(items=repeating(mcp.RESOURCES, TOKEN)),
            'the definition of "***" repeats a secret of its environment',
        ),
        (
            entry(instructions=TOKEN),
            "the server repeats a secret of its environment in what it says of itself",
        ),
        (
            entry(name=TOKEN),
            "the server repeats a secret of its environment in what it says of itself",
        ),
    ],
)
def test_a_secret_that_the_server_repeats_is_not_filed(found, sentence):
    catalog = Catalog({"fake": entry("a")})
    before = dict(catalog.servers)
    assert refusal(ServerError, catalog, found, Wishes("fake")) == sentence
    assert catalog.servers == before


@pytest.mark.parametrize(
    ("found", "wishes"),
    [
        (
            entry()._replace(items={"tools": {**items(mcp.TOOLS, "b"), **repeating(mcp.TOOLS, "a")["tools"]}}),
            Wishes(choice=Choice((), ("a",))),
        ),
        (entry("a")._replace(items=repeating(mcp.PROMPTS, "p")), Wishes(surface=("tools",))),
        (entry("a", instructions=TOKEN), Wishes(surface=("tools",))),
    ],
)  # fmt: skip
def test_a_secret_in_what_is_left_out_does_not_matter(found, wishes):
    assert add(Catalog({}), found, wishes).name == "fake"


# -- plain commands ----------------------------------------------------------------------------


def command(tool, *words, description="Says it."):
    """A plain command that is one tool."""
    item = pin_item({"name": tool, "description": description, **NO_WARNINGS})
    return command_entry(ExecSpec(LaunchSpec(words, {})), {tool: item})


def test_a_plain_command_is_filed_with_its_prefix_and_keeps_it():
    catalog = Catalog({})
    filed = add(catalog, command("say", "x"), Wishes("say", "p_"))
    assert filed == ("say", command("say", "x")._replace(prefix="p_"), [], [], [], True, [])
    renewed = add(catalog, command("say", "x", description="Says more."), Wishes("say"))
    assert (renewed.entry.prefix, changes(renewed)) == ("p_", [("say", "description", "text")])


def test_a_plain_command_that_runs_something_else_now_is_told_of():
    catalog = Catalog({})
    add(catalog, command("say", "x"), Wishes("say"))
    filed = add(catalog, command("say", "y"), Wishes("say"))
    assert list(filed.relaunch) == ["command: changed", "  - x", "  + y"]


@pytest.mark.parametrize(
    ("first", "second", "what"),
    [
        (command("a", "x"), entry("b"), "a plain command"),
        (entry("a"), command("b", "x"), "a server"),
    ],
)
def test_a_plain_command_and_a_server_do_not_take_each_others_place(first, second, what):
    catalog = Catalog({})
    add(catalog, first, Wishes("n"))
    sentence = f"n is {what}: give this one a --name, or unpin that one"
    assert refusal(CatalogError, catalog, second, Wishes("n")) == sentence


def test_a_plain_command_without_a_description_is_told_of():
    (warning,) = add(Catalog({}), command("say", "x", description=""), Wishes("say")).warnings
    assert warning == '"say": no description, so a model has to guess what it is for'
