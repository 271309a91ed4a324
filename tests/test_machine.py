import json
import re
import xml.etree.ElementTree as ET

import pytest

from thrall_py import __version__
from thrall_py.catalog import machine
from thrall_py.catalog.change import CLASSES, Change, Slot
from thrall_py.catalog.drift import Difference
from thrall_py.catalog.machine import FORMATS
from thrall_py.catalog.report import Report
from thrall_py.protocol.numbers import number
from thrall_py.redact import Redactor

SECRET = "hush-hush-4711"
HOSTILE = [
    "plain",
    "",
    "\x1b[31mred\x1b]8;;https://evil.example/\x07\x9b2J\x00\x7f",
    "x\n::add-mask::read_record\r\n::stop-commands::x\n##[endgroup]",
    "::error file=x,line=1::y%0A%25:,",
    "]]></failure></testcase><!-- & &amp; -->",
    "\"quoted\" 'twice' \\ \\n `x` $(x)",
    "\u202eeman\u202c\u2066\u200b\u2060\ufeff\xad",
    "".join(chr(0xE0000 + ord(letter)) for letter in "leak") + "\ufe0f\U000e0101",
    "\ud800 \udfff \udc00\ud800",
    "\u2028\u2029\x85\ufffe\uffff\U0001ffff\ue000",
    "\xe9 \u65e5\u672c \U0001f600 e\u0301",
    "x" * 10_000 + "\nattacker@example.com",
]


def change(kind="text", path=("description",), before="a", after="b"):
    sides = (None if side is None else Slot(side) for side in (before, after))
    return Change(path, kind, *sides)


def report(*differences, **fields):
    about = {
        "catalog": "catalog.json",
        "server": "zoo",
        "tools": ("ping", "read"),
        "allowed": frozenset(),
        "notes": [],
        "failure": None,
        "status": 0,
        "redact": Redactor([SECRET]),
    }
    return Report(differences=list(differences), **(about | fields))


def as_json(*reports):
    return json.loads(machine.as_json(list(reports)))


def as_junit(*reports):
    return list(ET.fromstring(machine.as_junit(list(reports))))


def results(*reports):
    (run,) = json.loads(machine.as_sarif(list(reports)))["runs"]
    return [(found["level"], found["ruleId"], found["message"]["text"]) for found in run["results"]]


def as_github(*reports):
    return machine.as_github(list(reports)).splitlines()


PING = Difference("ping", change())
ICON = Difference("ping", change("cosmetic", ("icons",), None, []))
SERVER = Difference(None, change("additive", ("prompts", "p"), None, {"name": "p"}))
GONE = Difference("read", change("breaking", (), {"name": "read"}, None))
FAILED = report(failure="the server ended", status=4)


def test_the_formats_have_names():
    assert list(FORMATS) == ["json", "github", "junit", "sarif"]
    assert FORMATS["sarif"] is machine.as_sarif


def test_json_has_every_difference_and_what_became_of_every_server():
    found = as_json(report(PING, GONE, SERVER, ICON, notes=["odd"], allowed=frozenset({"text"})))
    assert found["differences"][0] == {
        "catalog": "catalog.json",
        "server": "zoo",
        "tool": "ping",
        "path": "description",
        "change": "changed",
        "class": "text",
        "fails": False,
        "before": "a",
        "after": "b",
    }
    rest = [[each[key] for key in ("tool", "path", "change", "fails", "before", "after")]
            for each in found["differences"][1:]]  # fmt: skip
    assert rest == [
        ["read", "", "removed", True, {"name": "read"}, None],
        [None, "prompts/p", "added", True, None, {"name": "p"}],
        ["ping", "icons", "added", False, None, []],
    ]
    assert found["servers"] == [
        {
            "catalog": "catalog.json",
            "name": "zoo",
            "status": "drifted",
            "failure": None,
            "notes": ["odd"],
        }
    ]


@pytest.mark.parametrize(
    ("one", "status"),
    [
        (report(), "as pinned"),
        (report(ICON), "passes"),
        (report(PING, allowed=frozenset({"text"})), "passes"),
        (report(PING, allowed=frozenset({"additive"})), "drifted"),
        (FAILED, "unchecked"),
    ],
)
def test_json_says_in_a_word_what_became_of_a_server(one, status):
    (server,) = as_json(one)["servers"]
    assert (server["status"], server["failure"]) == (status, one.failure)


def test_json_keeps_every_number_as_it_is():
    sides = (2**63, number("0.10000000000000000001"))
    text = machine.as_json([report(Difference("ping", change("breaking", ("x",), *sides)))])
    assert '"before": 9223372036854775808' in text
    assert '"after": 0.10000000000000000001' in text


@pytest.mark.parametrize(
    ("steps", "path"),
    [
        ((), ""),
        (("inputSchema", "a/b~c\n\u200b"), "inputSchema/a~1b~0c\n\u200b"),
        (("a", "~1"), "a/~01"),
        (("a", "", "b"), "a//b"),
        (("x" * 1000, f"{SECRET}/y" * 1000), "x" * 1000 + "/" + "***~1y" * 1000),
    ],
)
def test_json_has_the_whole_path_and_its_steps_cannot_be_taken_for_two(steps, path):
    one = report(Difference("ping", change(path=steps)))
    assert as_json(one)["differences"][0]["path"] == path


def test_github_gets_an_error_for_what_fails_and_a_notice_for_what_passes():
    assert as_github(report(PING, ICON), FAILED, report(GONE, SERVER)) == [
        '::error file=catalog.json::zoo: ping: description: text, changed; before "a"; after "b"',
        "::notice file=catalog.json::zoo: ping: icons: cosmetic, added; after []",
        "::error file=catalog.json::zoo: the server ended",
        '::error file=catalog.json::zoo: read: breaking, removed; before {"name":"read"}',
        '::error file=catalog.json::zoo: prompts/p: additive, added; after {"name":"p"}',
    ]
    assert machine.as_github([report()]) == ""


def test_github_is_told_the_file_whatever_its_name():
    (line,) = as_github(report(ICON, catalog="a,b:c%\n::error::é.json", server="100%"))
    assert line.startswith(r"::notice file=a%2Cb%3Ac%25\n%3A%3Aerror%3A%3A\xe9.json::100%25: ping")


def test_junit_has_a_case_for_every_tool_and_for_the_server_itself():
    fine, bad, failed = as_junit(report(), report(PING, GONE, SERVER, ICON), FAILED)
    counts = [[suite.get(key) for key in ("name", "tests", "failures", "errors")]
              for suite in (fine, bad, failed)]  # fmt: skip
    assert counts == [["zoo", "3", "0", "0"], ["zoo", "3", "3", "0"], ["zoo", "3", "0", "1"]]
    assert [case.get("name") for case in bad] == ["the server itself", "ping", "read"]
    assert {case.get("classname") for case in bad} == {"zoo"}
    inside = [[(each.tag, each.get("type")) for each in case] for case in bad]
    assert inside == [
        [("failure", "additive")],
        [("failure", "text"), ("system-out", None)],
        [("failure", "breaking")],
    ]
    assert bad[1][0].text == 'ping: description: text, changed; before "a"; after "b"'
    assert [[(each.tag, each.get("message")) for each in case] for case in failed] == [
        [("error", "the server ended")], [], [],
    ]  # fmt: skip
    assert all(len(case) == 0 for case in fine)


def test_junit_has_a_case_for_a_tool_that_was_not_listed_and_none_fails_when_allowed():
    new = Difference("new", change("additive", (), None, {"name": "new"}))
    (suite,) = as_junit(report(new, tools=(), allowed=frozenset({"additive"})))
    assert [suite.get(key) for key in ("tests", "failures", "errors")] == ["2", "0", "0"]
    assert [case.get("name") for case in suite] == ["the server itself", "new"]
    assert [each.tag for each in suite[1]] == ["system-out"]


def test_sarif_has_a_rule_for_each_class_and_a_result_for_each_difference():
    log = json.loads(machine.as_sarif([report(PING)]))
    assert (log["version"], log["$schema"][-10:]) == ("2.1.0", "2.1.0.json")
    driver = log["runs"][0]["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("thrall", __version__)
    assert [rule["id"] for rule in driver["rules"]] == [*CLASSES, "unchecked"]
    (result,) = log["runs"][0]["results"]
    (location,) = result["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "catalog.json"


def test_sarif_has_errors_exactly_for_what_fails():
    assert results(report()) == []
    assert results(report(PING, ICON), FAILED, report(SERVER, allowed=frozenset({"additive"}))) == [
        ("error", "text", 'zoo: ping: description: text, changed; before "a"; after "b"'),
        ("note", "cosmetic", "zoo: ping: icons: cosmetic, added; after []"),
        ("error", "unchecked", "zoo: the server ended"),
        ("note", "additive", 'zoo: prompts/p: additive, added; after {"name":"p"}'),
    ]


@pytest.mark.parametrize("format_", FORMATS)
def test_no_reports_are_a_report_too(format_):
    text = FORMATS[format_]([])
    assert text == "" if format_ == "github" else text.endswith("\n")


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("format_", FORMATS)
def test_whatever_a_server_says_is_printable_ascii(format_, text):
    hostile = report(
        Difference(text, change(path=(text, text), before=text, after={text: [text]})),
        Difference(None, change("cosmetic", (text,), None, text)),
        Difference(text, change("additive", (), None, {"description": text})),
        server=text,
        catalog=text,
        tools=(text,),
        notes=[text],
    )
    failed = report(failure=text, server=text)
    written = FORMATS[format_]([hostile, failed])
    assert re.fullmatch("[\n -~]*", written)
    lines = written.splitlines()
    if format_ == "github":
        assert [line.split(" ")[0] for line in lines] == [
            "::error",
            "::notice",
            "::error",
            "::error",
        ]
        assert all(re.match("::[a-z]+ file=[^:,]*::", line) for line in lines)
    elif format_ == "junit":
        assert not any(line.startswith(("::", "##")) for line in lines)
    else:
        assert json.loads(written)


@pytest.mark.parametrize("text", HOSTILE)
def test_json_gives_back_exactly_what_a_server_said(text):
    found = as_json(
        report(Difference(text, change(before=text, after={text: [text]})), server=text)
    )
    (difference,) = found["differences"]
    # What json makes of two surrogates in a row, it makes of them here too.
    said = json.loads(json.dumps(text))
    assert [difference[key] for key in ("tool", "server", "before")] == [said, said, said]
    assert difference["after"] == {said: [said]}


@pytest.mark.parametrize("text", HOSTILE)
def test_junit_is_one_failure_and_one_note_whatever_a_server_says(text):
    one = Difference(text, change(path=(text,), before=text, after=text + "x"))
    (suite,) = as_junit(
        report(one, Difference(text, change("cosmetic", (text,), text)), tools=(text,), server=text)
    )
    assert suite.tag == "testsuite"
    assert [[each.tag for each in case] for case in suite] == [[], ["failure", "system-out"]]
    assert suite[1][0].text.endswith(json.dumps(text + "x"))


def test_long_texts_are_not_cut_before_the_difference():
    long = "x" * 100_000 + " attacker@example.com"
    one = report(Difference("ping", change(before="x" * 100_000, after=long)))
    assert all("attacker@example.com" in write([one]) for write in FORMATS.values())


@pytest.mark.parametrize("format_", FORMATS)
def test_secrets_are_masked_wherever_they_stand(format_):
    place = ("inputSchema", f"x{SECRET}")
    one = report(
        Difference("ping", change(path=place, before=f"x{SECRET}y", after={SECRET: [SECRET]})),
        Difference(None, change(path=("prompts", SECRET), before=None, after=SECRET)),
    )
    text = FORMATS[format_]([one])
    assert SECRET not in text
    assert text.count("***") >= 5


@pytest.mark.parametrize("format_", FORMATS)
def test_a_secret_in_the_name_of_a_tool_is_masked(format_):
    one = report(Difference(f"x{SECRET}", change()), tools=(f"x{SECRET}",))
    text = FORMATS[format_]([one])
    assert SECRET not in text
    assert "x***" in text


@pytest.mark.parametrize("format_", FORMATS)
def test_a_secret_that_has_to_be_escaped_in_a_path_is_masked(format_):
    one = report(Difference("ping", change(path=("x", "hush/4711~z"))), redact=Redactor(["hush/4711~z"]))  # fmt: skip
    text = FORMATS[format_]([one])
    assert "hush" not in text
    assert "***" in text


@pytest.mark.parametrize(
    ("secrets", "after", "masked"),
    [
        (["1234"], {"maximum": 12345}, {"maximum": "***5"}),
        (["1234"], [1234, -1234, 123], ["***", "-***", 123]),
        (["0.25"], number("0.25"), "***"),
        (["true", "null"], {"readOnlyHint": True, "x": None}, {"readOnlyHint": True, "x": None}),
        (["true"], "true", "***"),
        (["abc\\"], 'xabc"y', 'xabc"y'),
        (["first", "other"], {"first": 1, "other": 2}, {"***": 1, "****": 2}),
        (
            ["first", "other"],
            {"***": 0, "first": ["first"], "a": [{"other": "other"}], "other": 2},
            {"***": 0, "****": ["***"], "a": [{"***": "***"}], "*****": 2},
        ),
    ],
)
def test_a_secret_that_is_a_piece_of_json_does_no_harm(secrets, after, masked):
    one = report(Difference("ping", change(before=after, after=after)), redact=Redactor(secrets))
    (difference,) = as_json(one)["differences"]
    assert (difference["before"], difference["after"]) == (masked, masked)


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a/b-c_d.json", "a/b-c_d.json"),
        ("my catalog.json", "my%20catalog.json"),
        ("50%.json", "50%25.json"),
        ("a#b?.json", "a%23b%3F.json"),
        ("C:\\x", "C%3A%5Cx"),
        ("\xe9.json", "%C3%A9.json"),
        ("x\n::error::", "x%0A%3A%3Aerror%3A%3A"),
    ],
)
def test_sarif_names_the_catalog_by_a_uri(path, uri):
    log = json.loads(machine.as_sarif([report(PING, catalog=path)]))
    location = log["runs"][0]["results"][0]["locations"][0]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == uri
