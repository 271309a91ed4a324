import json
import os
import signal
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from servers import TOOLS, command, offering

from thrall_py.verbs import check

CHANGED = [{**TOOLS[0], "description": "New."}, TOOLS[1]]
ADVICE = "thrall: review, then re-pin: thrall pin c.json --update {}\n"
DIFFERENCE = b"""\
a: 1 difference (1 text)
  echo: description: text, changed
    - "Say it again."
    + "New."
"""


def edit(policy=None, **servers):
    """Change the catalog: its policy, and members of its servers."""
    catalog = json.loads(Path("c.json").read_text())
    for name, members in servers.items():
        catalog["servers"][name].update(members)
    if policy is not None:
        catalog["policy"] = policy
    Path("c.json").write_text(json.dumps(catalog))


def test_a_server_that_is_as_pinned_says_so(thrall, pin):
    pin("a")
    assert thrall("check", "c.json") == (0, b"a: as pinned\n", "")


def test_drift_is_shown_and_earns_its_status(thrall, pin):
    offer = pin("a")
    pin("b")
    offering("a", **{**offer, "tools": CHANGED})
    assert thrall("check", "c.json") == (
        1,
        DIFFERENCE + b"b: as pinned\n",
        ADVICE.format("a"),
    )


def test_a_person_at_a_terminal_gets_it_word_by_word(thrall, pin, replaced, terminal):
    offer = pin("a")
    pin("b")
    pin("c")
    words = f"Say {''.join(chr(0xE0000 + ord(it)) for it in 'run')} it."
    tools = [{**TOOLS[0], "description": words, "_meta": {}}, TOOLS[1], {"name": "[red]x"}]
    offering("a", **{**offer, "tools": tools})
    edit({"allow": ["additive"]}, c={"command": ["no-such"]})
    replaced(1, terminal.theirs)
    ran = thrall("check", "c.json")
    assert ran.status == 127
    assert ran.err == "thrall: c: the program no-such was not found\n" + ADVICE.format("a")
    assert [line.rstrip() for line in ran.out.decode().splitlines()] == [
        "a: 3 differences (1 text, 1 additive, 1 cosmetic)",
        "  echo: description: text, changed",
        r"    Say {+\U000e0072\U000e0075\U000e006e +}it[- again-].",
        '    in tag characters, which only a model reads: "run"',
        "  [red]x: additive, added, allowed",
        '    {+{"name":"[red]x"}+}',
        "  echo: _meta: cosmetic, added",
        "    {+{}+}",
        "b: as pinned",
    ]


def test_where_there_is_colour_no_marks_are_needed(thrall, pin, replaced, terminal, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    offer = pin("a")
    offering("a", **{**offer, "tools": CHANGED})
    replaced(1, terminal.theirs)
    ran = thrall("check", "c.json")
    assert ran.status == 1
    assert b"\x1b[1;32mNew\x1b[0m" in ran.out
    assert not any(mark in ran.out for mark in (b"{+", b"+}", b"[-", b"-]"))
    monkeypatch.setenv("NO_COLOR", "1")
    assert b"{+New+}" in thrall("check", "c.json").out


def test_a_server_that_could_not_be_asked_goes_before_any_verdict(thrall, pin):
    pin("a")
    offer = pin("b")
    offering("b", **{**offer, "tools": []})
    edit(a={"command": ["no-such"]})
    ran = thrall("check", "c.json")
    assert ran.status == 127
    assert ran.err == "thrall: a: the program no-such was not found\n" + ADVICE.format("b")
    assert ran.out.startswith(b"b: 2 differences (2 breaking)\n")


def test_the_status_is_that_of_the_first_server_that_could_not_be_asked(thrall, pin):
    for name in ("a", "b", "c"):
        pin(name)
    edit(b={"command": ["/"]}, c={"command": ["no-such"]})
    ran = thrall("check", "c.json")
    assert (ran.status, ran.out) == (126, b"a: as pinned\n")
    assert ran.err == (
        "thrall: b: cannot execute /: Permission denied\n"
        "thrall: c: the program no-such was not found\n"
    )


def test_another_version_is_a_note_and_no_drift(thrall, pin):
    offer = pin("a")
    offering("a", **{**offer, "serverInfo": {"name": "a", "version": "2"}})
    assert thrall("check", "c.json") == (
        0,
        b"a: as pinned\n",
        'thrall: a: the server\'s version is "2", was "1" when pinned\n',
    )


def test_a_catalog_without_servers_is_no_catalog_that_is_as_pinned(thrall):
    Path("c.json").write_text('{"thrall": 1, "servers": {}}')
    assert thrall("check", "c.json") == (
        3,
        b"",
        "thrall: c.json has no servers, so there is nothing to check\n",
    )


def test_a_catalog_that_is_not_there_is_told_of(thrall):
    assert thrall("check", "none") == (
        3,
        b"",
        "thrall: cannot read none: No such file or directory\n",
    )


def test_a_person_at_a_terminal_is_told_once_what_looks_at_a_server_that_fails(
    thrall, pin, monkeypatch
):
    pin("a")
    pin("b")
    edit(a={"command": ["false"]}, b={"command": ["false"]})
    advice = "thrall: a: to see what is wrong with it: thrall doctor --catalog c.json a\n"
    assert advice not in thrall("check", "c.json").err
    monkeypatch.setattr(os, "isatty", lambda descriptor: descriptor == 2)
    ran = thrall("check", "c.json")
    assert (ran.status, ran.err.count("thrall doctor"), advice in ran.err) == (4, 1, True)


@pytest.mark.parametrize(
    ("place", "member", "sentence"),
    [
        (("server",), "x", "\"server\" has the unknown member 'x'"),
        (("tools", "echo"), "x", "'echo' has the unknown member 'x'"),
        ((), "cleanEnv", '"cleanEnv" should be true or false'),
    ],
)
def test_a_catalog_with_what_nobody_knows_starts_nothing(thrall, pin, place, member, sentence):
    pin("a")
    catalog = json.loads(Path("c.json").read_text())
    catalog["servers"]["a"]["command"] = ["touch", os.path.abspath("started")]
    there = catalog["servers"]["a"]
    for name in place:
        there = there[name]
    there[member] = "true"
    Path("c.json").write_text(json.dumps(catalog))
    for words in (["check", "c.json"], ["call", "echo", "a=1", "--catalog", "c.json"]):
        ran = thrall(*words)
        assert (ran.status, ran.out) == (3, b"")
        assert ran.err.endswith(f"c.json is no usable catalog: its server 'a': {sentence}\n")
    assert not os.path.exists("started")


def test_without_stdout_no_check_is_started(thrall, pin, replaced):
    pin("a")
    edit(a={"command": ["touch", os.path.abspath("started")]})
    replaced(1)
    ran = thrall("check", "c.json")
    assert (ran.status, ran.err) == (
        3,
        "thrall: stdout is closed, so there is no place for an answer\n",
    )
    assert not os.path.exists("started")


def test_a_bug_in_a_check_is_no_verdict(thrall, pin, monkeypatch):
    pin("a")
    monkeypatch.setattr(check, "check_server", lambda *_: 1 / 0)
    assert thrall("check", "c.json").status == 70
    pin("b")
    ran = thrall("check", "c.json")
    assert (ran.status, ran.out) == (70, b"")
    assert ran.err.count("ZeroDivisionError: division by zero\n") >= 1


def test_a_signal_during_a_teardown_keeps_the_next_server_from_being_started(thrall, pin):
    offer = pin("a")
    pin("b")
    offering("a", **offer, stop=int(signal.SIGTERM))
    edit(b={"command": ["touch", "started"]})
    assert thrall("check", "c.json", "--jobs=1").status == 128 + signal.SIGTERM
    assert not os.path.exists("b/started")


# -- several catalogs, and what may pass -------------------------------------------------------


def test_several_catalogs_are_checked_in_their_order(thrall, pin):
    pin("b")
    os.rename("c.json", "first.json")
    offer = pin("a")
    offering("a", **{**offer, "tools": CHANGED})
    ran = thrall("check", "first.json", "c.json")
    assert ran == (1, b"first.json: b: as pinned\nc.json: " + DIFFERENCE, ADVICE.format("a"))


def test_one_catalog_that_cannot_be_used_keeps_all_servers_from_being_started(thrall, pin):
    pin("a")
    edit(a={"command": ["touch", os.path.abspath("started")]})
    ran = thrall("check", "c.json", "none.json")
    assert (ran.status, ran.out) == (3, b"")
    assert not os.path.exists("started")


@pytest.mark.parametrize(
    ("words", "policy", "status"),
    [
        ((), None, 1),
        (("--allow", "text"), None, 0),
        (("--allow", "additive"), None, 1),
        (("--allow", "additive", "--allow", "text"), None, 0),
        ((), {"allow": ["text"]}, 0),
        ((), {"allow": ["breaking"]}, 1),
        (("--allow", "text"), {"allow": ["breaking"]}, 0),
    ],
)
def test_drift_that_is_allowed_is_shown_and_passes(thrall, pin, words, policy, status):
    offer = pin("a")
    edit(policy)
    offering("a", **{**offer, "tools": CHANGED})
    ran = thrall("check", "c.json", *words)
    allowed = DIFFERENCE.replace(b"changed", b"changed, allowed")
    assert ran == (
        status,
        DIFFERENCE if status else allowed,
        ADVICE.format("a") if status else "",
    )


def test_the_policy_of_a_catalog_holds_for_its_own_servers_only(thrall, pin):
    offer = pin("a")
    edit({"allow": ["text"]})
    os.rename("c.json", "lax.json")
    pin("a")
    offering("a", **{**offer, "tools": CHANGED})
    ran = thrall("check", "lax.json", "c.json")
    assert (ran.status, ran.out.count(b", allowed\n")) == (1, 1)


def test_a_class_that_nobody_knows_is_refused(thrall):
    ran = thrall("check", "c.json", "--allow", "everything")
    assert (ran.status, ran.out) == (2, b"")
    assert "'everything' is not one of" in ran.err


def test_a_cosmetic_difference_is_shown_and_no_drift(thrall, pin):
    offer = pin("a")
    offering("a", **{**offer, "tools": [{**TOOLS[0], "_meta": {}}, TOOLS[1]]})
    assert thrall("check", "c.json") == (
        0, b"a: 1 difference (1 cosmetic)\n  echo: _meta: cosmetic, added\n    + {}\n", ""
    )  # fmt: skip


def test_everything_that_a_server_offers_is_checked(thrall, pin):
    template = {"uriTemplate": "a:{x}", "name": "t"}
    more = {"prompts": [{"name": "p"}], "resources": [{"uri": "a:b"}]}
    offer = pin("a", **more, resourceTemplates=[template])
    assert thrall("check", "c.json").out == b"a: as pinned\n"
    offer["serverInfo"]["name"] = "other"
    offering("a", **{**offer, "prompts": [], "resources": [{"uri": "a:b", "title": "New"}]})
    ran = thrall("check", "c.json")
    assert ran.status == 1
    assert [line for line in ran.out.decode().splitlines() if not line.startswith("    ")] == [
        "a: 3 differences (1 breaking, 2 text)",
        "  prompts/p: breaking, removed",
        "  resources a:b: title: text, added",
        "  server/name: text, changed",
    ]


# -- reports for machines ----------------------------------------------------------------------


@pytest.fixture
def three(thrall, pin):
    """Check one server that is as pinned, one that drifted, and one that is not there."""
    offer = pin("a")
    pin("b")
    pin("c")
    offering("a", **{**offer, "tools": CHANGED})
    edit(c={"command": ["no-such"]})

    def run(*words):
        ran = thrall("check", "c.json", *words)
        assert ran.status == 127
        assert ran.err == "thrall: c: the program no-such was not found\n" + ADVICE.format("a")
        assert ran.out.isascii()
        return ran.out.decode()

    return run


def test_in_text_a_server_that_could_not_be_asked_is_named_on_stderr(three):
    assert three() == three("--format=text") == f"{DIFFERENCE.decode()}b: as pinned\n"


def test_as_json_there_are_the_differences_and_what_became_of_each_server(three):
    report = json.loads(three("--format", "json"))
    assert {server["name"]: server["status"] for server in report["servers"]} == {
        "a": "drifted", "b": "as pinned", "c": "unchecked"
    }  # fmt: skip
    (difference,) = report["differences"]
    assert (difference["server"], difference["tool"], difference["class"]) == ("a", "echo", "text")


def test_as_workflow_commands_there_is_an_error_for_each_failure(three):
    drifted, unchecked = three("--format", "github").splitlines()
    assert drifted.startswith("::error file=c.json::a: echo: description: text, changed; ")
    assert unchecked == "::error file=c.json::c: the program no-such was not found"


def test_as_junit_xml_there_is_a_suite_for_each_server(three):
    root = ET.fromstring(three("--format", "junit"))
    found = {it.get("name"): (it.get("failures"), it.get("errors")) for it in root}
    assert found == {"a": ("1", "0"), "b": ("0", "0"), "c": ("0", "1")}


def test_as_sarif_there_is_a_result_for_each_failure(three):
    (run,) = json.loads(three("--format", "sarif"))["runs"]
    assert [(it["ruleId"], it["level"]) for it in run["results"]] == [
        ("text", "error"),
        ("unchecked", "error"),
    ]


@pytest.mark.parametrize("name", ["json", "github", "junit", "sarif"])
def test_a_report_has_the_status_of_its_verdict(thrall, pin, name):
    offer = pin("a")
    assert thrall("check", "c.json", "--format", name).status == 0
    offering("a", **{**offer, "tools": CHANGED})
    assert thrall("check", "c.json", "--format", name).status == 1
    assert thrall("check", "c.json", "--format", name, "--allow", "text").status == 0


def test_a_format_can_be_wanted_for_a_whole_job(thrall, pin, monkeypatch):
    pin("a")
    monkeypatch.setenv("THRALL_CHECK_FORMAT", "json")
    assert thrall("check", "c.json").out.startswith(b"{")


def test_what_may_pass_can_be_said_for_a_whole_job(thrall, pin, monkeypatch):
    offer = pin("a")
    offering("a", **{**offer, "tools": CHANGED})
    monkeypatch.setenv("THRALL_CHECK_ALLOW", "additive text")
    assert thrall("check", "c.json").status == 0


def test_a_format_that_nobody_knows_is_refused(thrall):
    ran = thrall("check", "c.json", "--format", "yaml")
    assert (ran.status, ran.out) == (2, b"")


# -- side by side ------------------------------------------------------------------------------


@pytest.fixture
def meeting(pin, tmp_path):
    """Pin servers that answer only when both are there; what their names are given they do then."""
    fifo = str(tmp_path / "meeting")
    os.mkfifo(fifo)

    def prepare(graveyard, **what):
        for name, mode in (("a", "r"), ("b", "w")):
            offer = pin(name)
            offering(name, **offer, meets=[fifo, mode], **what.get(name, {}))
            edit(**{name: {"command": list(command("good", graveyard.path))}})

    return prepare


def test_servers_are_asked_side_by_side(thrall, meeting, graveyard):
    meeting(graveyard)
    assert thrall("check", "c.json") == (0, b"a: as pinned\nb: as pinned\n", "")
    assert sorted(graveyard.words()) == ["eof", "eof", "met", "met"]


def test_one_at_a_time_is_one_at_a_time(thrall, meeting, graveyard):
    meeting(graveyard)
    ran = thrall("check", "c.json", "--jobs=1", "--timeout=0.2", "--grace=0")
    assert (ran.status, ran.out) == (124, b"")
    assert ran.err.count("no answer to tools/list in 0.2 s (--timeout)") == 2
    assert graveyard.words() == []


@pytest.mark.parametrize(("words", "jobs"), [((), 8), (("--jobs", "3"), 3)])
def test_eight_servers_are_asked_at_a_time_unless_it_is_said_otherwise(
    thrall, pin, monkeypatch, words, jobs
):
    got = []
    monkeypatch.setattr(check, "check_all", lambda *given: got.append(given[2]) or [])
    pin("a")
    assert thrall("check", "c.json", *words).status == 0
    assert got == [jobs]


def test_a_signal_ends_all_servers_that_are_being_asked(thrall, meeting, graveyard):
    hangs = {"waits": True}
    meeting(graveyard, a=hangs, b={**hangs, "signals": os.getpid()})
    assert thrall("check", "c.json") == (128 + signal.SIGTERM, b"", "")
    assert sorted(graveyard.words()) == ["eof", "eof", "met", "met"]


def test_a_failure_among_servers_side_by_side_keeps_none_from_its_verdict(
    thrall, meeting, pin, graveyard
):
    meeting(graveyard)
    offer = pin("c")
    offering("c", **{**offer, "tools": []})
    pin("d")
    edit(d={"command": list(command("crash"))})
    ran = thrall("check", "c.json", "--jobs=3")
    assert ran.status == 4
    assert ran.out.startswith(b"a: as pinned\nb: as pinned\nc: 2 differences (2 breaking)\n")
    assert ran.err.startswith("thrall: d: the server exited with status 7 during the handshake")
    assert sorted(graveyard.words()) == ["eof", "eof", "met", "met"]


def test_the_name_of_a_server_is_no_catalog_unless_one_is_there(thrall):
    assert thrall("pin", "c.json", "--name", "srv", "--", *command("good")).status == 0
    ran = thrall("check", "c.json", "srv")
    assert (ran.status, ran.out) == (2, b"")
    assert ran.err == (
        "thrall: srv is a server of c.json and no catalog: leave it out, check asks all servers of a"
        " catalog\n"
    )
    os.rename("c.json", "srv")
    assert thrall("check", "srv", "srv") == (0, b"srv: srv: as pinned\n" * 2, "")
