"""What is told of another way to start or reach a server, and what is not."""

import pytest

from thrall_py.catalog import relaunch
from thrall_py.catalog.entry import Entry
from thrall_py.catalog.launch import LaunchSpec, UrlSpec
from thrall_py.protocol import mcp
from thrall_py.redact import Redactor

REDACT = Redactor(["hunter22"])
STARTED = LaunchSpec(("npx", "-y", "a"), {"A": "1"})
REACHED = UrlSpec("https://h/mcp", {"X": "1"})


def entry(launch, modes=()):
    return Entry(launch, mcp.ServerInfo("2025-11-25"), {}, modes=modes)


def described(before, after):
    return list(relaunch.describe(entry(before), entry(after), REDACT))


@pytest.mark.parametrize("launch", [STARTED, REACHED])
def test_of_what_stays_nothing_is_told(launch):
    assert described(launch, launch) == []


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        ({"command": ("uvx", "-y", "a")}, ["command: changed", "  - npx", "  + uvx"]),
        ({"command": ("npx", "-y", "b")}, ["command: changed, word 3"]),
        ({"command": ("npx", "-n", "b")}, ["command: changed, words 2, 3"]),
        (
            {"command": ("npx", "-y", "a", "b")},
            ["command: changed from word 4 on (it was 3 long, it is 4)"],
        ),
        ({"command": ("npx", "a")}, ["command: changed from word 2 on (it was 3 long, it is 2)"]),
        ({"command": ("npx",)}, ["command: changed from word 2 on (it was 3 long, it is 1)"]),
        ({"cwd": "d\x1b"}, ["cwd: changed", "  - none", r"  + d\x1b"]),
        ({"clean_env": True}, ["cleanEnv: changed", "  - false", "  + true"]),
        ({"env": {"B": "hunter22"}}, ["env: added, B", "env: removed, A"]),
        ({"env": {"A": "hunter22"}}, ["env: changed, A"]),
    ],
)
def test_the_first_word_is_told_the_others_by_their_places_and_variables_by_name(change, lines):
    assert described(STARTED, STARTED._replace(**change)) == lines


def test_not_all_of_many_places_are_told():
    one, other = (LaunchSpec(("x", *(word * 12)), {}) for word in ("a", "b"))
    assert described(one, other) == [
        "command: changed, words 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more"
    ]


@pytest.mark.parametrize(
    ("url", "lines"),
    [
        ("https://h/sse", ["url: changed", "  - https://h/mcp", "  + https://h/sse"]),
        (
            "https://u:p@h/mcp?key=1",
            ["url: changed, in its user or its query, which are not shown"],
        ),
    ],
)
def test_an_address_is_told_without_its_user_and_its_query(url, lines):
    assert described(REACHED, UrlSpec(url, {"X": "1"})) == lines


def test_headers_are_told_by_name():
    assert described(REACHED, REACHED._replace(headers={"X": "2", "Y": "3"})) == [
        "headers: added, Y",
        "headers: changed, X",
    ]


def test_a_server_that_is_reached_now_is_told_with_both():
    assert described(STARTED, REACHED) == [
        "server: changed",
        "  - started: npx",
        "  + reached: https://h/mcp",
    ]


def test_what_is_declared_belongs_to_it():
    told = relaunch.describe(entry(STARTED), entry(STARTED, mcp.MODES), REDACT)
    assert list(told) == ["elicitation: changed", "  - none", "  + form, url"]
