import json
import os
import signal
import sys
from pathlib import Path

import pytest
from servers import MODERN, SCHEMA, TOOLS, command, offering

from thrall_py.catalog import file
from thrall_py.catalog.entry import Entry
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.launch import LaunchSpec
from thrall_py.protocol import handshake
from thrall_py.protocol.mcp import ServerInfo
from thrall_py.transport import descendants
from thrall_py.verbs import doctor, interview

FAST = ("--grace", "30", "--format", "json")
UNKNOWN = "doctor/no-such-method"
NO_TOOL = "thrall-doctor-no-such-tool"
LEGACY = "clients that begin with initialize (2025-11-25)"
HARMLESS = "it turns down server/discover, the first request of newer ones, and goes on, perhaps logging it"
WITHOUT = "--protocol 2025-11-25 leaves it out"
DESCRIBED = [{**TOOLS[0]}, {**TOOLS[1], "description": "Fail."}]


class Report:
    """A report in JSON, by the names of its checks."""

    def __init__(self, ran):
        self.status = ran.status
        self.err = ran.err
        self.whole = json.loads(ran.out)
        self.checks = {check["name"]: check for check in self.whole["checks"]}

    def but(self, outcome):
        """The names of the checks with another outcome."""
        return [name for name, check in self.checks.items() if check["status"] != outcome]

    def __getitem__(self, name):
        check = self.checks[name]
        return check["status"], check["words"]


@pytest.fixture
def examine(thrall, graveyard):
    """Examine a server that offers what is given; it is dead afterwards."""

    def run(*words, server="good", **offer):
        offering(**{"tools": DESCRIBED, "serverInfo": {"name": "fake", "version": "1"}, **offer})
        ran = thrall("doctor", *FAST, *words, "--", *command(server, graveyard.path))
        graveyard.words()  # or it is alive
        return Report(ran)

    return run


# -- what is in order --------------------------------------------------------------------------


def test_a_good_server_passes_every_check(examine):
    report = examine(capabilities={"tools": {}})
    assert (report.status, report.err, report.whole["status"]) == (0, "", "ok")
    assert list(report.checks) == list(doctor.NAMES)
    assert report.but("ok") == []
    assert report["found"] == ("ok", sys.executable)
    assert report["handshake"] == ("ok", "2025-11-25 fake 1, with tools")
    assert report["list"] == ("ok", "2 tools")
    assert report["unknown-tool"] == ("ok", "refused with error -32602")
    assert report["era"] == ("ok", f"{LEGACY}; {HARMLESS} ({WITHOUT})")
    assert all(check["advice"] is None for check in report.checks.values())


def test_a_modern_server_passes_every_check_that_is_for_it(examine):
    report = examine(server="modern", refuses=["initialize"])
    assert report.but("ok") == ["ping", "era"]
    assert report["ping"] == ("skipped", f"there is none in {MODERN}")


def test_it_is_told_how_long_things_took(examine):
    report = examine()
    timed = [name for name, check in report.checks.items() if check["seconds"] is not None]
    assert timed == [
        "handshake", "list", "list-again", "ping", "unknown-method", "unknown-tool", "speed",
        "leaves",
    ]  # fmt: skip


def test_in_a_pipe_the_report_is_ascii_with_a_line_for_each_check(thrall):
    offering(serverInfo={"name": "f\u00e4ke\x1b", "version": "1"}, tools=TOOLS)
    ran = thrall("doctor", "--", *command("good"))
    assert (ran.status, ran.err) == (0, "")
    lines = ran.out.decode("ascii").splitlines()
    assert lines[0].startswith("ok       found           /")
    assert lines[2].startswith(
        r"warning  handshake       2025-11-25 f\xe4ke\x1b 1, with tools; not all of its name is visible"
    )
    assert lines[6:8] == [
        "warning  definitions     1 tool without a description",
        '                advice:  give tools plain names, descriptions in which all is visible, and an inputSchema of "type": "object"',
    ]  # fmt: skip
    assert lines[-1] == "12 ok, 2 warnings"


def test_a_tool_that_is_there_is_never_called(examine):
    tools = [{**DESCRIBED[0], "name": name} for name in (NO_TOOL, NO_TOOL + "-")]
    report = examine(tools=tools, answers={it["name"]: {} for it in tools})
    assert report["unknown-tool"] == ("ok", "refused with error -32602")


# -- what keeps a server from being examined ---------------------------------------------------


def test_a_program_that_is_not_there_is_a_check_that_failed(thrall):
    ran = thrall("doctor", "--", "no-such")
    assert (ran.status, ran.err) == (127, "thrall: no-such: failed: found\n")
    assert ran.out.decode().splitlines() == [
        "failed   found           the program no-such was not found",
        "                advice:  give the path of the program, or put its directory on PATH",
        "1 failed, 13 skipped",
    ]


def test_a_program_that_cannot_be_executed_is_found(thrall):
    Path("tool").touch(mode=0o644)
    report = Report(thrall("doctor", *FAST, "--", "./tool"))
    assert report.status == 126
    assert report["found"] == ("ok", "./tool")
    assert report["started"] == ("failed", "cannot execute ./tool: Permission denied")
    assert report["era"] == ("skipped", "not possible after what failed")


def test_a_program_is_looked_for_where_it_is_started_from(thrall, monkeypatch, tmp_path):
    (tmp_path / "bin").mkdir()
    os.symlink(sys.executable, tmp_path / "bin" / "snake")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    report = Report(thrall("doctor", *FAST, "--", "snake", *command("good")[1:]))
    assert report["found"] == ("ok", str(tmp_path / "bin" / "snake"))


def test_a_directory_that_is_not_there_is_no_fault_of_the_server(thrall):
    ran = thrall("doctor", "--cwd", "nowhere", "--", *command("good"))
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err == "thrall: there is no directory nowhere\n"


@pytest.mark.parametrize("words", [(), ("--url", "http://h/", "--", "x"), ("--format", "x")])
def test_a_command_line_that_is_wrong_is_refused(thrall, words):
    assert thrall("doctor", *words).status == 2


@pytest.mark.parametrize(
    ("offer", "words", "advice"),
    [
        ({"dies_of": ["server/discover", "initialize"]}, "exited with status 7", "stay until the end of input; what it wrote to standard"),
        ({"refuses": ["initialize"]}, "refused the handshake with error -32601", "protocolVersion"),
        ({"ignores": ["server/discover", "initialize"]}, "(--start-timeout)", "--start-timeout"),
    ],
)  # fmt: skip
def test_a_handshake_that_fails_is_the_end_and_comes_with_advice(examine, offer, words, advice):
    report = examine("--start-timeout", "0.5", **offer)
    assert report.status == 4
    assert report.err.endswith(": failed: handshake\n")
    outcome, said = report["handshake"]
    assert (outcome, words in said) == ("failed", True)
    assert advice in report.checks["handshake"]["advice"]
    assert report["stdout"] == ("skipped", "not possible after what failed")


def test_a_server_that_dies_twice_is_told_once_and_why_it_was_started_again(examine):
    report = examine(dies_of=["server/discover", "initialize"])
    told = "the server exited with status 7 during the handshake"
    twice = (
        "it was started twice: the first time it was asked server/discover, as newer clients do,"
        " and exited"
    )
    assert report["handshake"] == ("failed", f"{told}; {twice}")
    once = examine("--protocol", "2025-11-25", dies_of=["server/discover", "initialize"])
    assert once["handshake"] == ("failed", told)


def test_a_server_that_is_gone_before_it_reads_is_started_once(thrall):
    report = Report(thrall("doctor", *FAST, "--", "false"))
    assert report["handshake"] == (
        "failed",
        "the server exited with status 1 during the handshake",
    )


LEGACY_SO_FAR = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        break
    error = {"code": -32601, "message": ""}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}), flush=True)
"""
ADVICE = {
    "a revision of its own": (
        """print('{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"1999-01-01","capabilities":{}}}')""",
        "speak one of the revisions 2026-07-28, 2025-11-25,",
    ),
    "several lines": ("print('{')\nprint('}')", "write each message on one line"),
    "another id": ("""print('{"jsonrpc":"2.0","id":77,"result":{}}')""", "answer with the id of the"),
    "a usage message": ("print('usage: x')", "see that the program takes the words behind --"),
    "a status of 0": ("", "it ended as if its work was done"),
    "a status of 1": ("raise SystemExit(1)", "status 1 mostly means an error that it did not expect;"),
    "a status of 2": ("raise SystemExit(2)", "status 2 mostly means a command line"),
    "a signal": ("import os; os.abort()", "stay until the end of input; what it wrote"),
}  # fmt: skip


@pytest.mark.parametrize(("program", "advice"), ADVICE.values(), ids=ADVICE)
def test_the_advice_about_a_handshake_is_of_what_was_seen(thrall, program, advice):
    Path("server.py").write_text(LEGACY_SO_FAR + program)
    words = ("--", sys.executable, "-I", "-S", "server.py")
    report = Report(thrall("doctor", *FAST, "--start-timeout", "5", *words))
    assert report["handshake"][0] == "failed"
    assert report.checks["handshake"]["advice"].startswith(advice)


def test_the_advice_about_noise_is_of_what_was_seen(examine):
    report = examine(greets="Usage: x")
    assert report.checks["stdout"]["advice"].startswith("see that the program takes")


def test_a_command_line_in_one_word_is_to_be_written_apart(thrall):
    report = Report(thrall("doctor", *FAST, "--", "python3 crash.py"))
    said = "the program python3 crash.py was not found; there is no shell, so write its words apart"
    assert report["found"] == ("failed", said)
    assert report.checks["found"]["advice"].startswith("write its words apart, not as one")


# -- a pinned server ---------------------------------------------------------------------------


def test_a_pinned_server_is_examined_as_it_is_pinned(thrall, pin):
    pin("a")
    pin("b")
    for name in ("a", "b"):
        assert Report(thrall("doctor", *FAST, "--catalog", "c.json", name)).status == 0
    assert thrall("unpin", "c.json", "b").status == 0
    assert Report(thrall("doctor", *FAST, "--catalog", "c.json"))["handshake"][0] == "ok"


def test_the_variables_of_a_pinned_server_are_filled_in(thrall, monkeypatch):
    monkeypatch.setenv("PROGRAM", "no-such-program")
    entry = Entry(LaunchSpec(("${PROGRAM}",), {}), ServerInfo("2025-11-25", "s", "1"), {}, ())
    file.write("c.json", file.dumps(Catalog({"s": entry})))
    ran = thrall("doctor", "--catalog", "c.json", "s")
    assert (ran.status, b"was not found" in ran.out) == (127, True)


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (("c.json",), 2, "a NAME is of a server in a --catalog; any other is written behind --"),
        (("--catalog", "c.json"), 2, "c.json has several servers: name one of a, b"),
        (("--catalog", "c.json", "x"), 3, "the catalog has no server x"),
        (("--catalog", "c.json", "a", "--", "s"), 2, "a server and --catalog exclude each other"),
        (("--catalog", "c.json", "a", "--cwd", "x"), 2, "--env, --cwd, --header and the like come"),
        (("--catalog", "empty.json"), 3, "empty.json has no servers, so there is nothing to"),
    ],
)
def test_a_server_that_is_not_one_of_the_catalog_is_refused(thrall, pin, words, status, sentence):
    pin("a")
    pin("b")
    file.write("empty.json", file.dumps(Catalog({})))
    ran = thrall("doctor", *words)
    assert (ran.status, ran.out) == (status, b"")
    assert ran.err.startswith(f"thrall: {sentence}")


# -- one revision ------------------------------------------------------------------------------


def test_one_revision_may_be_asked_for(examine):
    report = examine("--protocol", "2025-06-18")
    assert report["handshake"] == ("ok", "2025-06-18 fake 1, with tools")
    assert report["era"] == ("skipped", "one revision was asked for")
    refused = examine("--protocol", MODERN)
    assert refused["handshake"][0] == "failed"
    assert refused.checks["handshake"]["advice"] == (
        f"speak {MODERN}, or ask for another revision (--protocol)"
    )


# -- the lists ---------------------------------------------------------------------------------


def test_everything_that_is_declared_is_listed(examine):
    template = {"uriTemplate": "x://{y}", "name": "y"}
    report = examine(prompts=[], resources=[], resourceTemplates=[template])
    assert report["list"] == ("ok", "2 tools, 0 prompts, 0 resources, 1 resource template")


def test_a_list_on_several_pages_tells_how_many_requests_it_took(examine):
    assert examine(pages=True)["list"] == ("ok", "2 tools, in 2 requests")


@pytest.mark.parametrize(
    ("offer", "words"),
    [
        ({"tools": []}, "0 tools"),
        ({"capabilities": {"prompts": {}}, "prompts": []}, "0 prompts"),
        ({"capabilities": {}}, "no tools, nor anything else"),
    ],
)
def test_a_server_without_tools_is_worth_a_warning(examine, offer, words):
    report = examine(**offer)
    assert report.status == 0
    assert report["list"] == ("warning", words)
    assert report["unknown-tool"] == ("skipped", "it is not known to have tools")
    assert report["definitions"] == ("skipped", "there are none")


def test_a_list_that_cannot_be_had_leaves_nothing_to_judge(examine):
    report = examine(tools="no list")
    assert (report.status, report["list"][0]) == (4, "failed")
    assert report["list-again"] == ("skipped", "there is no list to compare with")
    assert report["definitions"][0] == report["unknown-tool"][0] == "skipped"
    assert report["ping"][0] == "ok"


def test_a_slow_list_is_worth_a_warning(examine, monkeypatch):
    monkeypatch.setattr(interview, "_SLOW_LIST", -1)
    report = examine()
    assert (report.status, report["list"]) == (0, ("warning", "slow: 2 tools"))


@pytest.mark.parametrize(
    ("later", "words"),
    [
        ([{**DESCRIBED[0], "description": "New."}, DESCRIBED[1]], 'not as before: "echo"'),
        (DESCRIBED[:1], 'not as before: "fail"'),
        ([*DESCRIBED, *({"name": name} for name in "abcd")],
         'not as before: "a", "b", "c", and 1 more'),
    ],
)  # fmt: skip
def test_definitions_that_change_by_themselves_cannot_be_pinned(examine, later, words):
    report = examine(later={"tools": later})
    assert (report.status, report["list-again"]) == (4, ("failed", words))


@pytest.mark.parametrize(
    ("tools", "outcome", "words"),
    [
        ([{**DESCRIBED[0], "inputSchema": 1}], "failed", '"echo": its inputSchema is not an object'),
        ([{"name": "echo", "description": "x"}], "failed", '"echo": no inputSchema'),
        ([{**DESCRIBED[0], "name": "a b"}], "warning",
         '"a b": an odd name, outside 1 to 128 of A-Z a-z 0-9 _ . -'),
        ([DESCRIBED[0], DESCRIBED[0]], "warning", '"echo" is listed twice'),
        ([{"name": it, "inputSchema": SCHEMA} for it in "ab"], "warning",
         "2 tools without a description"),
        ([{**DESCRIBED[0], "name": f"{it} "} for it in "abcdefghijk"], "warning",
         "; ".join(f'"{it} ": an odd name, outside 1 to 128 of A-Z a-z 0-9 _ . -' for it in "abcdefghij")
         + "; and 1 more"),
    ],
)  # fmt: skip
def test_definitions_of_little_use_are_named(examine, tools, outcome, words):
    report = examine(tools=tools)
    assert report["definitions"] == (outcome, words)
    assert report.status == (4 if outcome == "failed" else 0)


# -- what every server has to answer -----------------------------------------------------------


def test_ping_has_to_be_answered(examine):
    report = examine(refuses=["ping"])
    assert report.status == 4
    said = 'the server refused ping with error -32601: "Method not found"'
    assert report["ping"] == ("failed", said)


def test_a_server_that_is_silent_is_late_and_the_rest_is_asked_all_the_same(examine):
    report = examine("--timeout", "0.2", ignores=["ping"])
    assert report["ping"] == ("failed", "no answer to ping in 0.2 s (--timeout)")
    assert "--timeout" in report.checks["ping"]["advice"]
    assert report["unknown-tool"][0] == "ok"


def test_a_server_that_dies_of_a_question_is_asked_nothing_more(examine):
    report = examine(dies_of=[UNKNOWN])
    assert report.status == 4
    said = "the server exited with status 7 during a request that no server knows"
    assert report["unknown-method"] == ("failed", said)
    assert (
        report["unknown-tool"] == report["leaves"] == ("skipped", "not possible after what failed")
    )
    assert report["era"][0] == "ok"


def test_another_error_for_what_is_not_known_is_worth_a_warning(examine):
    report = examine(refuses=[UNKNOWN], code=-32603)
    said = 'the server refused a request that no server knows with error -32603: "Method not found"'
    assert (report.status, report["unknown-method"]) == (0, ("warning", said))


@pytest.mark.parametrize(
    ("answer", "outcome", "words"),
    [
        ({"isError": True, "content": []}, "ok", "refused with isError"),
        ({"content": []}, "failed", "answered a call of a tool that does not exist with a result"),
    ],
)
def test_a_call_of_no_tool_has_to_be_refused(examine, answer, outcome, words):
    report = examine(answers={NO_TOOL: answer})
    assert report["unknown-tool"] == (outcome, words)


# -- noise, speed, departure -------------------------------------------------------------------


def test_what_is_no_message_has_no_place_on_stdout(examine):
    report = examine(greets="Hello\x1b!\nI am here.")
    assert (report.status, report["stdout"]) == (4, ("failed", r'2 lines, the first: "Hello\x1b!"'))


def test_noise_is_told_of_a_handshake_that_failed_as_well(examine):
    report = examine(greets="usage: x", dies_of=["initialize", "server/discover"])
    assert report.but("skipped") == ["found", "started", "handshake", "stdout"]
    assert report["stdout"][1].endswith("(looks like a usage message: check the arguments)")


def test_a_slow_start_is_worth_a_warning(examine, monkeypatch):
    monkeypatch.setattr(doctor, "_SLOW_START", -1)
    report = examine()
    assert report["speed"] == ("warning", "slow from the start to the end of the handshake")


@pytest.mark.parametrize(
    ("end", "grace", "outcome", "words"),
    [
        ("fails", "30", "warning", "at the end of its input, but it exited with status 3"),
        ("stays", "0.1", "warning",
         "not within 0.1 s of the end of its input (--grace); at SIGTERM it was ended by SIGTERM"),
        ("insists", "0.2", "failed",
         "not within 0.2 s of the end of its input (--grace), nor at SIGTERM: it was ended by SIGKILL"),
    ],
)  # fmt: skip
def test_how_a_server_leaves_is_told(examine, end, grace, outcome, words):
    report = examine("--grace", grace, at_the_end=end)
    assert report["leaves"] == (outcome, words)
    assert report["processes"][0] == ("ok" if end == "fails" else "skipped")


@pytest.mark.skipif(not descendants.SUPPORTED, reason="only Linux tells")
def test_a_process_that_is_left_behind_is_told_and_ended(examine):
    report = examine("--grace", "0.5", helper=True)
    assert report.status == 4
    assert report["processes"] == ("failed", "1 left behind by the server, and ended by thrall")


def test_where_nobody_tells_what_was_left_behind_it_is_not_judged(examine, monkeypatch):
    monkeypatch.setattr(descendants, "SUPPORTED", False)
    assert examine()["processes"] == ("skipped", "only Linux tells")


# -- the era -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("offer", "detour"),
    [
        ({"dies_of": ["server/discover"]}, "exited"),
        ({"ignores": ["server/discover"]}, "did not answer it"),
    ],
)
def test_a_probe_that_does_harm_is_told(examine, monkeypatch, offer, detour):
    if "ignores" in offer:
        monkeypatch.setattr(handshake, "_PROBE_WAIT", 1.0)
    report = examine(**offer)
    words = f"{LEGACY}; asked server/discover, as newer ones do, it {detour} ({WITHOUT})"
    assert (report.status, report["era"]) == (0, ("warning", words))
    assert report["speed"][1].endswith("with what the probe cost")


def test_a_server_of_both_eras_says_so(examine):
    report = examine(server="both")
    assert report["era"] == ("ok", f"clients of {MODERN}, and older ones (2025-11-25)")


def test_a_modern_server_may_tell_older_clients_so(examine):
    why = {"code": -32022, "data": {"supported": [MODERN]}}
    report = examine(server="modern", refuses=["initialize"], why=why)
    assert report["era"] == ("ok", f"clients of {MODERN} only, and older ones are told so")


def test_a_modern_server_that_leaves_older_clients_alone_is_worth_a_warning(examine):
    report = examine(server="modern")
    said = (
        f"clients of {MODERN} only; older ones, which begin with initialize, are not told so:"
        ' the server refused the handshake with error -32601: "Method not found"'
    )
    assert (report.status, report["era"]) == (0, ("warning", said))


# -- the report --------------------------------------------------------------------------------


def test_a_person_at_a_terminal_gets_marks(thrall, replaced, terminal, monkeypatch):
    monkeypatch.setattr("locale.getencoding", lambda: "UTF-8")
    monkeypatch.setenv("COLUMNS", "60")
    offering(tools=[{"name": "a"}])
    replaced(1, terminal.theirs)
    ran = thrall("doctor", "--", *command("good"))
    lines = [line.rstrip() for line in ran.out.decode().splitlines()]
    assert lines[5:8] == [
        '\N{BALLOT X} definitions    "a": no inputSchema; 1 tool without a',
        "                 description",
        "                 advice: give tools plain names,",
    ]
    assert terminal.shown() == b"13 ok, 1 failed\r\n"


@pytest.mark.parametrize("plain", ["TERM=dumb", "LC_ALL=C"])
def test_where_marks_cannot_be_shown_there_are_words(
    thrall, replaced, terminal, monkeypatch, plain
):
    name, _, value = plain.partition("=")
    monkeypatch.setenv("FORCE_COLOR", "1")  # or there is no terminal to rich, under pytest
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv(name, value)
    monkeypatch.setattr("locale.getencoding", lambda: "ANSI_X3.4-1968" if value == "C" else "UTF-8")
    replaced(1, terminal.theirs)
    out = thrall("doctor", "--", *command("good")).out.decode()
    assert "\nok      started        it could be executed" in out.replace("\r", "")


def test_colour_is_for_terminals_that_want_it(thrall, replaced, terminal, monkeypatch):
    monkeypatch.setattr("locale.getencoding", lambda: "UTF-8")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    replaced(1, terminal.theirs)
    assert b"\x1b[32m\xe2\x9c\x93\x1b[0m" in thrall("doctor", "--", *command("good")).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert b"\x1b[32m" not in thrall("doctor", "--", *command("good")).out


def test_a_closed_stdout_is_refused_before_anything_is_started(thrall, replaced):
    replaced(1)
    ran = thrall("doctor", "--", "no-such")
    assert (ran.status, ran.err[:24]) == (3, "thrall: stdout is closed")


def test_a_report_that_nobody_reads_ends_the_server(thrall, replaced, graveyard):
    reading, writing = os.pipe()
    os.close(reading)
    replaced(1, writing)
    ran = thrall("doctor", "--", *command("good", graveyard.path))
    os.close(writing)
    assert ran.status == 128 + signal.SIGPIPE
    assert graveyard.words() == ["eof"]


def test_a_signal_ends_the_server_and_the_report(thrall, graveyard):
    ran = thrall(
        "doctor", "--", *command("signals_parent", graveyard.path, str(int(signal.SIGTERM)))
    )
    assert ran.status == 128 + signal.SIGTERM
    assert graveyard.words() == []


# -- what a server says of itself ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("offer", "odd"),
    [
        ({"serverInfo": 5}, "serverInfo is missing, or no object"),
        ({"serverInfo": {}}, "serverInfo has no name; serverInfo has no version"),
        ({"serverInfo": {"name": "x", "version": ""}}, "serverInfo has no version"),
        ({"serverInfo": {"name": "x", "version": "1" * 201}}, "its version has 201 characters"),
        ({"serverInfo": {"name": "x\u202e", "version": "1"}}, "not all of its name is visible"),
        ({"serverInfo": {"name": "x\ny", "version": "1"}}, "not all of its name is visible"),
        ({"capabilities": []}, "capabilities are missing, or no object"),
        ({"capabilities": {"tools": {}, "\x1b": {}}}, "a capability has a name that is long, or not all visible"),
        ({"capabilities": {"tools": {}, "x" * 201: {}}}, "a capability has a name that is long, or not all visible"),
    ],
)  # fmt: skip
def test_an_odd_introduction_is_a_warning(examine, offer, odd):
    report = examine(**offer)
    outcome, words = report["handshake"]
    assert (outcome, words.partition("; ")[2]) == ("warning", odd)
    assert "serverInfo: a plain name and a version" in report.checks["handshake"]["advice"]


def test_a_modern_server_need_not_say_its_name(examine):
    assert examine(server="modern", serverInfo=None)["handshake"][0] == "ok"


ASKING = """
import json, sys
sys.path.insert(0, ".")
for line in sys.stdin:
    message = json.loads(line)
    id_, method = message.get("id"), message.get("method")
    def say(**members):
        print(json.dumps({"jsonrpc": "2.0", **members}), flush=True)
    if method == "initialize":
        say(id=id_, result={"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                            "serverInfo": {"name": "s", "version": "1"}})
    elif method == "tools/list" and sys.argv[1] == "big":
        print("[" * 3000, flush=True)
    elif method == "tools/list":
        say(id="mine", method="sampling/createMessage", params={})
        say(id=id_, result={"tools": [{"name": "t", "description": "d", "inputSchema": {"type": "object"}}]})
    elif method == "ping":
        say(id="mine", method="roots/list", params={})
        say(id=id_, error={"code": 1, "message": "no"})
    elif id_ is not None and method:
        say(id=id_, error={"code": -32601, "message": "no"})
"""  # fmt: skip


def test_a_request_that_was_not_declared_is_a_warning(thrall):
    report = Report(thrall("doctor", *FAST, "--", sys.executable, "-c", ASKING, "asks"))
    asked = "; the server asked {} meanwhile, which was not declared"
    assert report["list"] == ("warning", "1 tool" + asked.format("sampling/createMessage"))
    assert "what the client has declared" in report.checks["list"]["advice"]
    outcome, words = report["ping"]
    assert (outcome, words.endswith(asked.format("roots/list"))) == ("failed", True)
    assert report["unknown-method"][0] == "ok"


def test_behind_a_message_beyond_the_limit_nothing_is_asked(thrall):
    words = ("--max-message", "2000", "--", sys.executable, "-c", ASKING, "big")
    report = Report(thrall("doctor", *FAST, *words))
    assert report.status == 4
    assert report["list"] == (
        "failed",
        "the server sent more than 2000 bytes in one line during tools/list",
    )
    skipped = [name for name, check in report.checks.items() if check["status"] == "skipped"]
    assert skipped == ["list-again", "definitions", "ping", "unknown-method", "unknown-tool"]
