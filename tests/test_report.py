import pytest

from thrall_py.catalog import report
from thrall_py.catalog.change import CLASSES, FAILING, Change, Slot
from thrall_py.catalog.drift import Difference
from thrall_py.catalog.report import Report
from thrall_py.redact import Redactor

REDACT = Redactor(["hunter22"])
ADDED = Difference("tool", Change(("a", "b"), "additive", None, Slot({"x": 1})))
REMOVED = Difference("tool", Change((), "breaking", Slot(None), None))
CHANGED = Difference(None, Change(("instructions",), "text", Slot("old"), Slot("n\u200bew")))
TIDIED = Difference("tool", Change(("_meta",), "cosmetic", Slot(1), Slot(2)))


def reported(*differences, allowed=(), failure=None):
    return Report(
        "c.json", "s\x1b", (), list(differences), frozenset(allowed), [], failure, 4, REDACT
    )


@pytest.mark.parametrize(
    ("differences", "lines"),
    [
        ([], [r"s\x1b: as pinned"]),
        ([ADDED], [r"s\x1b: 1 difference", "  tool: a/b: additive, added", '    + {"x":1}']),
        (
            [REMOVED, CHANGED],
            [
                r"s\x1b: 2 differences",
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
    assert list(report.describe(reported(*differences))) == lines
    assert list(report.describe_differences(reported(*differences))) == lines[1:]


def test_what_is_allowed_is_reported_as_that():
    lines = report.describe_differences(reported(ADDED, CHANGED, TIDIED, allowed=["additive"]))
    assert [line for line in lines if not line.startswith("    ")] == [
        "  tool: a/b: additive, added, allowed",
        "  instructions: text, changed",
        "  tool: _meta: cosmetic, changed",
    ]


def test_a_server_that_could_not_be_asked_has_no_lines():
    assert list(report.describe(reported(failure="no"))) == []


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
    assert list(report.describe_differences(reported(hostile))) == [
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
