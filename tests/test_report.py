import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from thrall_py.catalog import drift, report
from thrall_py.catalog.change import CLASSES, FAILING, Change, Slot
from thrall_py.catalog.drift import Difference
from thrall_py.catalog.entry import pin_item
from thrall_py.catalog.report import Report
from thrall_py.redact import Redactor

REDACT = Redactor(["hunter22"])
TEXTS = st.text("ab \u200b", max_size=80)
ADDED = Difference("tool", Change(("a", "b"), "additive", None, Slot({"x": 1})))
REMOVED = Difference("tool", Change((), "breaking", Slot(None), None))
CHANGED = Difference(None, Change(("instructions",), "text", Slot("old"), Slot("n\u200bew")))
TIDIED = Difference("tool", Change(("_meta",), "cosmetic", Slot(1), Slot(2)))


def reported(*differences, allowed=()):
    return Report("c\x1b.json", "s\x1b", (), differences, frozenset(allowed), redact=REDACT)


@pytest.mark.parametrize(
    ("differences", "lines"),
    [
        ([], [r"s\x1b: as pinned"]),
        (
            [ADDED],
            [r"s\x1b: 1 difference (1 additive)", "  tool: a/b: additive, added", '    + {"x":1}'],
        ),
        (
            [REMOVED, CHANGED],
            [
                r"s\x1b: 2 differences (1 breaking, 1 text)",
                "  tool: breaking, removed",
                "    - null",
                "  instructions: text, changed",
                '    - "old"',
                '    + "n\\u200bew"',
            ],
        ),
    ],
)
def test_a_server_is_reported_place_by_place(differences, lines):
    assert report.heading(reported(*differences)) == lines[0]
    assert list(report.describe(reported(*differences))) == lines[1:]


def test_what_is_allowed_is_reported_as_that():
    lines = report.describe(reported(ADDED, CHANGED, TIDIED, allowed=["additive"]))
    assert [line for line in lines if not line.startswith("    ")] == [
        "  tool: a/b: additive, added, allowed",
        "  instructions: text, changed",
        "  tool: _meta: cosmetic, changed",
    ]


def test_among_several_catalogs_the_heading_names_the_one():
    assert report.heading(reported(), with_catalog=True) == r"c\x1b.json: s\x1b: as pinned"


@pytest.mark.parametrize("kind", CLASSES)
def test_a_difference_fails_unless_its_class_is_cosmetic_or_allowed(kind):
    found = Difference("tool", Change(("x",), kind, None, Slot(1)))
    others = set(FAILING) - {kind}
    assert reported(found).has_drifted is (kind != "cosmetic")
    assert reported(found, allowed=others).fails(found) is (kind != "cosmetic")
    assert not reported(found, allowed=[kind]).has_drifted


def test_one_difference_that_fails_is_enough():
    assert reported(TIDIED, ADDED, CHANGED, allowed=["text"]).has_drifted
    assert not reported().has_drifted


def test_nothing_a_server_says_acts_or_tells_a_secret():
    change = Change(("a\u202e",), "text", None, Slot("\x1b hunter22 \u202e"))
    hostile = Difference("t\x1b", change)
    assert list(report.describe(reported(hostile))) == [
        r"  t\x1b: a\u202e: text, added",
        r'    + "\u001b *** \u202e"',
    ]


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (("a", "b"), "a/b"),
        (("a/b", "~1"), "a~1b/~01"),
        (("hunter22",), "***"),
        ((), "the tool"),
        (("x" * 600,), "x" * 500 + "..."),
    ],
)
def test_a_path_is_a_json_pointer_without_its_first_slash(path, shown):
    assert report.path(Change(path, "text", None, None), REDACT) == shown


@pytest.mark.parametrize(
    ("tool", "path", "place"),
    [
        ("hunter22", ("a",), "***: a"),
        ("t" * 200, (), "t" * 128 + "..."),
        (None, ("prompts", "p"), "prompts/p"),
    ],
)
def test_a_place_is_a_tool_and_a_path(tool, path, place):
    assert report.place(Difference(tool, Change(path, "text", None, None)), REDACT) == place


@pytest.mark.parametrize(
    ("differences", "sentence"),
    [
        ([REMOVED], "the tool removed"),
        ([ADDED, CHANGED], "a/b added, instructions changed"),
        ([ADDED] * 5, ", ".join(["a/b added"] * 5)),
        ([ADDED] * 6, ", ".join(["a/b added"] * 5) + ", and 1 more"),
        ([ADDED] * 7, ", ".join(["a/b added"] * 5) + ", and 2 more"),
    ],
)
def test_in_brief_the_places_alone_are_named(differences, sentence):
    assert report.summarize(differences, REDACT) == sentence


# -- with a limit ------------------------------------------------------------------------------


def sides(before, after, limit):
    change = Change(("x",), "text", before and Slot(before), after and Slot(after))
    _, *lines = report.describe(reported(Difference(None, change)), limit)
    return [line.removeprefix("    ") for line in lines]


def test_a_side_that_fits_is_whole():
    assert sides("a" * 98, "b" * 98, 100) == [f'- "{"a" * 98}"', f'+ "{"b" * 98}"']


def test_a_longer_one_is_a_window_that_begins_shortly_before_the_difference():
    same = "s" * 500
    old, new = sides(f"{same}old{'e' * 500}", f"{same}new{'e' * 500}", 100)
    assert old == f"- ...{'s' * 60}old{'e' * 37}..."
    assert new == f"+ ...{'s' * 60}new{'e' * 37}..."


def test_a_window_at_the_beginning_or_at_the_end_is_open_on_one_side():
    assert sides("old" + "e" * 500, "new" + "e" * 500, 10) == [
        '- "oldeeeeee...',
        '+ "neweeeeee...',
    ]
    assert sides("s" * 500 + "old", "s" * 500 + "new", 100) == [
        f'- ...{"s" * 60}old"',
        f'+ ...{"s" * 60}new"',
    ]


def test_a_short_side_stays_whole_beside_a_window():
    old, new = sides("s" * 90, "s" * 90 + "n" * 500, 100)
    assert old == f'- "{"s" * 90}"'
    assert new == f"+ ...{'s' * 60}{'n' * 40}..."


@pytest.mark.parametrize(("before", "after"), [(None, "x" * 500), ("x" * 500, None)])
def test_a_side_alone_begins_with_its_beginning(before, after):
    (line,) = sides(before, after, 10)
    assert line[2:] == '"xxxxxxxxx...'


def test_a_window_leaves_no_half_of_a_secret():
    for start in range(80):
        before = "s" * start + "hunter22" + "e" * 200
        for line in sides(before, before + "!", 100):
            assert "hunter2" not in line
            assert "unter22" not in line


@given(TEXTS, TEXTS, st.integers(1, 200))
def test_both_windows_hold_the_first_difference(before, after, limit):
    assume(before != after)
    old, new = (line[2:] for line in sides(f"b{before}", f"b{after}", limit))
    assert max(len(old), len(new)) <= limit + 6
    if limit > 70:
        assert old != new


# -- what only a model reads -------------------------------------------------------------------


def tagged(text):
    """The same in tag characters."""
    return "".join(chr(0xE0000 + ord(character)) for character in text)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("plain", []),
        (tagged("run"), ["run"]),
        (f"a {tagged('run it')} b {tagged('now')}", ["run it now"]),
        ({"x": [1, None, True, {"y": tagged("run")}]}, ["run"]),
        ({"properties": {f"a{tagged('run')}": {}}}, ["run"]),
        ([tagged("one"), [tagged("two")]], ["one two"]),
        (tagged("hunter22"), ["***"]),
        (tagged("x" * 1001), ["x" * 1000 + "..."]),
        (5, []),
    ],
)
def test_what_tag_characters_spell_is_told(value, words):
    lines = [f'in tag characters, which only a model reads: "{each}"' for each in words]
    change = Change(("x",), "text", Slot("before"), Slot(value))
    assert report.hidden_words(change, REDACT) == "".join(lines)
    described = list(report.describe(reported(Difference(None, change))))
    assert described[3:] == [f"    {line}" for line in lines]


def test_what_is_gone_is_not_told_again():
    gone = Change(("x",), "text", Slot(tagged("run")), None)
    assert report.hidden_words(gone, REDACT) == ""


def test_what_tag_characters_spell_in_the_name_of_a_new_property_is_told():
    before = {"name": "t", "inputSchema": {"properties": {}}}
    after = {"name": "t", "inputSchema": {"properties": {f"a{tagged('run')}": {}}}}
    found = drift.compare_tool("t", pin_item(before), pin_item(after))
    *_, last = report.describe(reported(*found))
    assert last == '    in tag characters, which only a model reads: "run"'


def test_what_they_spell_in_a_name_is_told_even_where_it_goes():
    gone = Change(("properties", tagged("run")), "text", Slot(tagged("old")), None)
    assert report.hidden_words(gone, REDACT).endswith(': "run"')


def test_what_tag_characters_spell_is_bounded_with_a_limit():
    change = Change(("x",), "text", None, Slot(f"-{tagged('x')}" * 5000))
    _, _, line = report.describe(reported(Difference(None, change)), 1000)
    assert line.endswith(f': "{"x " * 500}..."')


# -- many, and whole ---------------------------------------------------------------------------


def many(*tools):
    """A text that changed in each of these tools."""
    change = Change(("description",), "text", Slot("old"), Slot("new"))
    return [Difference(tool, change) for tool in tools]


def test_more_than_twenty_are_counted_by_tool_before_they_are_told():
    found = [*many(*["b"] * 10, None), ADDED, *many(*["a\x1b"] * 9)]
    lines = [
        "  the server itself: 1 difference (1 text)",
        r"  a\x1b: 9 differences (9 text)",
        "  b: 10 differences (10 text)",
        "  tool: 1 difference (1 additive)",
    ]
    assert list(report.overview(reported(*found))) == lines
    assert list(report.describe(reported(*found)))[:5] == [
        *lines,
        "  b: description: text, changed",
    ]
    assert list(report.overview(reported(*found[1:]))) == []


def test_many_of_one_tool_are_not_counted_twice():
    assert list(report.overview(reported(*many(*["a"] * 30)))) == []


def test_not_all_of_many_tools_are_counted():
    lines = list(report.overview(reported(*many(*(f"t{n:02}" for n in range(41))))))
    assert len(lines) == 41
    assert lines[-2:] == ["  t39: 1 difference (1 text)", "  and 1 more tools"]


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (("resources", "file:///a~b"), "resources file:///a~b"),
        (("resources", "file:///hunter22", "a/b"), "resources file:///***: a~1b"),
        (("resourceTemplates", "x:/{y}", "a", "b"), "resourceTemplates x:/{y}: a/b"),
        (("resources",), "resources"),
    ],
)
def test_the_address_of_a_resource_is_told_as_it_is(path, shown):
    assert report.path(Change(path, "text", None, None), REDACT) == shown


@pytest.mark.parametrize(
    ("path", "before", "after", "whole"),
    [
        ((), None, Slot({}), True),
        ((), Slot({}), None, True),
        (("prompts", "p"), None, Slot({}), True),
        (("prompts", "p", "title"), None, Slot("x"), False),
        (("inputSchema",), None, Slot({}), False),
        (("resources", "u"), Slot({}), Slot({}), False),
    ],
)
def test_what_came_or_went_whole_is_told_from_a_part(path, before, after, whole):
    assert report.is_whole(Change(path, "text", before, after)) is whole


@pytest.mark.parametrize(
    ("definition", "summary"),
    [
        ({"description": " One.\nTwo."}, "One."),
        ({"description": "\x1b hunter22"}, r"\x1b ***"),
        ({"description": 1}, ""),
        ({}, ""),
        ("x", ""),
    ],
)
def test_a_definition_has_the_first_line_of_its_description_for_a_summary(definition, summary):
    assert report.summary(Slot(definition), REDACT) == summary


def test_another_way_to_start_it_stands_in_the_heading_and_above_the_differences():
    told = reported(ADDED)._replace(relaunch=["env: added, A"])
    assert report.heading(told) == (
        r"s\x1b: 1 difference (1 additive), started or reached in another way"
    )
    assert next(report.describe(told)) == "  env: added, A"
    assert report.heading(told._replace(differences=())).endswith(
        r"s\x1b: started or reached in another way"
    )
