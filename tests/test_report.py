import pytest

from thrall_py.catalog import report
from thrall_py.catalog.drift import Difference, Slot
from thrall_py.redact import Redactor

REDACT = Redactor(["hunter22"])
ADDED = Difference("tool", ("a", "b"), None, Slot({"x": 1}))
REMOVED = Difference("tool", (), Slot(None), None)
CHANGED = Difference(None, ("instructions",), Slot("old"), Slot("n\u200bew"))


@pytest.mark.parametrize(
    ("differences", "lines"),
    [
        ([], ["s: as pinned"]),
        ([ADDED], ["s: 1 difference", "  tool: a/b: added", '    + {"x":1}']),
        (
            [REMOVED, CHANGED],
            [
                "s: 2 differences",
                "  tool: removed",
                "    - null",
                "  instructions: changed",
                '    - "old"',
                '    + "n\\u200bew"',
            ],
        ),
    ],
)
def test_a_server_is_reported_place_by_place(differences, lines):
    assert list(report.describe_server("s", differences, REDACT)) == lines


def test_nothing_a_server_says_acts_or_tells_a_secret():
    hostile = Difference("t\x1b", ("a\u202e",), None, Slot("\x1b hunter22 \u202e"))
    assert list(report.describe_server("s", [hostile], REDACT)) == [
        "s: 1 difference",
        r"  t\x1b: a\u202e: added",
        r'    + "\u001b *** \u202e"',
    ]


@pytest.mark.parametrize(
    ("differences", "sentence"),
    [
        ([REMOVED], "the tool removed"),
        ([ADDED, CHANGED], "a/b added, instructions changed"),
        ([ADDED] * 5, ", ".join(["a/b added"] * 5)),
        ([ADDED] * 7, ", ".join(["a/b added"] * 5) + ", and 2 more"),
    ],
)
def test_in_brief_the_places_alone_are_named(differences, sentence):
    assert report.summarize(differences, REDACT) == sentence
