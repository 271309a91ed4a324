import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from servers import command, offering

from thrall_py import __version__, cli
from thrall_py.verbs import call as call_verb

ROOT = Path(__file__).parent.parent
GOOD = ("--", *command("good"))
MODERN = ("--", *command("modern"))
NO_SERVER = "no server is given: write it behind --, as in -- uvx mcp-server-time, or give a --url"
PNG = {"type": "image", "mimeType": "image/png", "data": "iVBORw=="}


def answers(**results):
    offering(answers=results)


def text(words):
    return {"content": [{"type": "text", "text": words}]}


# -- the program itself ------------------------------------------------------------------------


def test_the_version_is_one_line(thrall):
    assert thrall("--version") == (0, f"thrall {__version__}\n".encode(), "")


def test_a_variable_does_not_ask_for_the_version(thrall, monkeypatch):
    monkeypatch.setenv("THRALL_VERSION", "1")
    ran = thrall("call", "fail", "a=1", *GOOD)
    assert ran == (1, b"no\n", "")


def test_help_names_verbs_and_statuses_on_stdout(thrall):
    ran = thrall("--help")
    assert (ran.status, ran.err) == (0, "")
    assert b"Call one tool of a server." in ran.out
    assert b"  128+N  ended by signal N\n" in ran.out


def test_the_help_of_a_call_has_each_way_to_call_on_a_line_of_its_own(thrall):
    lines = [line.strip() for line in thrall("call", "--help").out.decode().splitlines()]
    assert "thrall call TOOL [ITEM]... -- SERVER [ARG]..." in lines
    assert "thrall call TOOL [ITEM]... --catalog CATALOG" in lines


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["call", "--help"]])
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_help_that_cannot_be_written_is_told_of(thrall, monkeypatch, words):
    with contextlib.suppress(OSError), open("/dev/full", "w") as full:  # it fails again at the end
        monkeypatch.setattr(sys, "stdout", full)
        ran = thrall(*words)
    assert ran == (3, b"", "thrall: cannot write to stdout: No space left on device\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_help_that_cannot_be_written_ends_the_program_with_its_status():
    with open("/dev/full", "wb", buffering=0) as full:
        ran = subprocess.run(
            [sys.executable, "-m", "thrall_py", "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""},
        )
    assert (ran.returncode, ran.stderr) == (
        3,
        b"thrall: cannot write to stdout: No space left on device\n",
    )


def test_without_words_there_is_help_on_stderr(thrall):
    ran = thrall()
    assert (ran.status, ran.out) == (2, b"")
    assert ran.err.startswith("Usage: thrall [OPTIONS] COMMAND")


@pytest.mark.parametrize(
    ("words", "mistake", "page"),
    [
        (["frob"], "No such command 'frob'", "thrall --help"),
        (["fr\x1b"], r"No such command 'fr\x1b'", "thrall --help"),
        (["--frob"], "No such option", "thrall --help"),
        (["call"], "Missing argument 'TOOL'", "thrall call --help"),
        (["call", "--frob"], "No such option", "thrall call --help"),
        (["check"], "Missing argument 'CATALOG...'", "thrall check --help"),
        (["check", "c", "--jobs", "0"], "Invalid value for '--jobs'", "thrall check --help"),
        (["call", "--json=x", "t"], "Option '--json' does not take a value", "thrall call --help"),
        (["unpin", "c"], "Missing argument 'NAME...'", "thrall unpin --help"),
        (["show", "c", "d", "e"], "Got unexpected extra argument", "thrall show --help"),
    ],
)
def test_a_command_line_that_click_refuses_is_one_sentence(thrall, words, mistake, page):
    ran = thrall(*words)
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, b"", 1)
    assert ran.err.startswith(f"thrall: {mistake}")
    assert ran.err.endswith(f" (see {page})\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["call", "t"], f"t: {NO_SERVER}"),
        (["call", "t", "--"], f"t: {NO_SERVER}"),
        (
            ["pin", "c"],
            "no server is given: write it behind --, or give a --url or a --from FILE",
        ),
        (["pin", "c", "d", "--", "s"], "d is too much: one server is given"),
        (
            ["call", "t", "--catalog", "c", "--", "s"],
            "t: a server and --catalog exclude each other",
        ),
        (["call", "t", "--catalog", "c", "--"], "t: a server and --catalog exclude each other"),
        (
            ["call", "t", "--catalog", "c", "--cwd", "d"],
            "t: --env, --cwd, --header and the like come from the catalog",
        ),
        (
            ["call", "t", "word", "--", "s"],
            "t: 'word' is not an ITEM: write key=text, key:=JSON or key=@file",
        ),
        (
            ["check", "c", "--", "s"],
            "check starts the servers that the catalogs name, and no other",
        ),
    ],
)
def test_a_wrong_command_line_is_one_sentence(thrall, words, sentence):
    assert thrall(*words) == (2, b"", f"thrall: {sentence}\n")


def test_a_long_name_in_front_of_a_sentence_is_cut(thrall):
    ran = thrall("call", "\x1b" * 100)
    assert ran.err.startswith("thrall: " + r"\x1b" * 16 + ": no server")


def test_a_bug_shows_where_it_is(thrall, monkeypatch):
    monkeypatch.setattr(call_verb, "call_server", lambda *_: 1 / 0)
    ran = thrall("call", "t", "a=1", *GOOD)
    assert (ran.status, ran.out) == (70, b"")
    assert ran.err.startswith("Traceback (most recent call last):")
    assert ran.err.endswith("ZeroDivisionError: division by zero\n")


def test_without_stderr_nothing_is_told_and_stdout_stays_clean(thrall, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)  # what Python makes of a closed one
    assert thrall("call", "t") == (2, b"", "")


def test_without_stderr_a_bug_leaves_stdout_clean(thrall, monkeypatch):
    monkeypatch.setattr(call_verb, "call_server", lambda *_: 1 / 0)
    monkeypatch.setattr(sys, "stderr", None)
    assert thrall("call", "t", "a=1", *GOOD) == (70, b"", "")


def test_a_sentence_that_cannot_be_written_changes_nothing(thrall, monkeypatch):
    class Full:
        def write(self, _):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stderr", Full())
    assert thrall("call", "t").status == 2


def test_only_the_first_dashes_end_our_words():
    assert cli._split(["call", "t", "--", "s", "--", "-x"]) == (["call", "t"], ("s", "--", "-x"))
    assert cli._split(["--"]) == ([], ())
    assert cli._split(["a"]) == (["a"], None)


# -- call: arguments ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "stdin", "sent"),
    [
        ([], b'{"a": 1.0,\n"b":1e400}\n', '{"a": 1.0, "b":1e400}'),
        (["a=1", "b:=1.0"], b"not read", '{"a":"1","b":1.0}'),
    ],
)
def test_the_arguments_come_from_items_or_from_stdin(thrall, feed, items, stdin, sent):
    feed(stdin)
    ran = thrall("call", "echo", *items, *GOOD)
    assert (ran.status, ran.err) == (0, "")
    assert f'"name":"echo","arguments":{sent}' in ran.out.decode()


@pytest.mark.parametrize(
    ("stdin", "sentence"),
    [
        (
            b"",
            "the input is empty: give one JSON object, or '{}' on the command line for no arguments",
        ),
        (b"[1]", "the input is not a JSON object: give one, such as {}"),
    ],
)
def test_an_input_that_cannot_be_used_is_refused_before_the_start(thrall, feed, stdin, sentence):
    feed(stdin)
    ran = thrall("call", "echo", "--", "no-such-program")
    assert ran == (3, b"", f"thrall: echo: {sentence}\n")


def test_a_closed_stdin_is_an_empty_input(thrall, replaced):
    replaced(0)
    ran = thrall("call", "echo", *GOOD)
    assert (ran.status, ran.out) == (3, b"")
    assert "the input is empty" in ran.err


def test_whoever_types_at_a_terminal_is_told_what_is_awaited(thrall, replaced, terminal):
    replaced(0, terminal.theirs)
    os.write(terminal.ours, b'{"typed":1}\n\x04')
    ran = thrall("call", "echo", *GOOD)
    assert ran.status == 0
    assert ran.err == (
        "thrall: echo: reading the arguments from the terminal, a JSON object; end with ^D"
        " (or give '{}' for none)\n"
    )
    assert b'"arguments":{"typed":1}' in ran.out


@pytest.mark.parametrize("item", ["a=1", "{}"])
def test_whoever_gives_items_at_a_terminal_is_not_waited_for(thrall, replaced, terminal, item):
    replaced(0, terminal.theirs)
    assert thrall("call", "fail", item, *GOOD) == (1, b"no\n", "")


def test_a_program_that_is_no_server_but_repeats_what_it_reads_is_told(thrall):
    sentence = "the program repeats its input: it is not an MCP server"
    assert thrall("call", "t", "{}", "--protocol", "2025-11-25", "--", "cat") == (
        4,
        b"",
        f"thrall: t: {sentence}\n",
    )


# -- call: answers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "words", "ran"),
    [
        (text("one\ntwo"), [], (0, b"one\ntwo\n", "")),
        ({"content": [PNG]}, [], (0, b"[image: image/png, 4 bytes]\n", "")),
        ({"content": [], "isError": True}, [], (1, b"", "thrall: t: the answer is empty\n")),
        ({"content": [], "x": 1.5}, ["--json"], (0, b'{"content": [], "x": 1.5}\n', "")),
        (
            {"content": [], "structuredContent": {"a": []}},
            [],
            (0, b'{"a": []}\n', ""),
        ),
    ],
)
def test_the_answer_is_on_stdout_and_nothing_else(thrall, result, words, ran):
    answers(t=result)
    assert thrall("call", "t", "a=1", *words, *GOOD) == ran


def test_a_tool_that_says_no_has_its_words_printed(thrall):
    assert thrall("call", "fail", "a=1", *GOOD) == (1, b"no\n", "")


def test_json_can_be_wanted_for_a_whole_job(thrall, monkeypatch):
    monkeypatch.setenv("THRALL_CALL_JSON", "1")
    answers(t=text("x"))
    assert json.loads(thrall("call", "t", "a=1", *GOOD).out) == text("x")


def test_parts_are_saved_and_named(thrall):
    os.mkdir("dir")
    answers(t={"content": [{"type": "text", "text": "see"}, PNG]})
    ran = thrall("call", "t", "a=1", "--save", "dir", *GOOD)
    assert ran == (0, b"see\n[image: image/png, 4 bytes, saved as dir/part-2.png]\n", "")
    assert Path("dir/part-2.png").read_bytes() == b"\x89PNG"


@pytest.mark.parametrize(
    ("content", "err"),
    [([PNG, PNG], "thrall: t: saved ./part-1.png, ./part-2.png\n"), ([], "")],
)
def test_with_json_the_saved_parts_are_named_on_stderr(thrall, content, err):
    answers(t={"content": content})
    ran = thrall("call", "t", "a=1", "--json", "--save", ".", *GOOD)
    assert (ran.status, json.loads(ran.out), ran.err) == (0, {"content": content}, err)


def test_a_place_that_takes_no_files_is_refused_before_the_start(thrall):
    ran = thrall("call", "t", "a=1", "--save", "none", "--", "no-such-program")
    assert ran == (3, b"", "thrall: t: there is no directory none to save in\n")


def test_on_a_terminal_nothing_acts(thrall, replaced, terminal):
    answers(t=text("a\x1b[2J\u202eb"))
    replaced(1, terminal.theirs)
    assert thrall("call", "t", "a=1", *GOOD).status == 0
    assert terminal.shown() == b"a\\x1b[2J\\u202eb\r\n"


def test_on_a_terminal_json_stays_the_same_value(thrall, replaced, terminal):
    answers(t=text("\x7f"))
    replaced(1, terminal.theirs)
    assert thrall("call", "t", "a=1", "--json", *GOOD).status == 0
    shown = terminal.shown()
    assert b"\x7f" not in shown
    assert json.loads(shown) == text("\x7f")


def test_without_stdout_nothing_is_started(thrall, replaced):
    replaced(1)
    ran = thrall("call", "echo", "a=1", "--", "no-such-program")
    assert ran.status == 3
    assert ran.err == "thrall: echo: stdout is closed, so there is no place for an answer\n"


def test_a_reader_that_went_away_ends_thrall_by_its_signal(thrall, replaced, graveyard):
    reading, writing = os.pipe()
    os.close(reading)
    replaced(1, writing)
    os.close(writing)
    ran = thrall("call", "echo", "a=1", "--", *command("good", graveyard.path))
    assert (ran.status, ran.err) == (128 + signal.SIGPIPE, "")
    assert graveyard.words() == ["called", "eof"]


# -- call: failures ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "status", "sentence"),
    [
        ("unknown", 5, 'the server refused tools/call with error -32602: "Unknown tool: unknown"'),
        ("die", 4, "the server exited with status 7 during tools/call; the tool may have run"),
        ("hang", 124, "no answer to tools/call in 0.2 s (--timeout); the tool may have run"),
    ],
)
def test_a_call_without_an_answer_is_one_sentence(thrall, graveyard, tool, status, sentence):
    ran = thrall("call", tool, "a=1", "--timeout=0.2", "--", *command("good", graveyard.path))
    assert ran == (status, b"", f"thrall: {tool}: {sentence}\n")
    assert graveyard.words()[0] == "called"


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (("./no-such", "x"), 127, "the program ./no-such was not found"),
        (("/",), 126, "cannot execute /: Permission denied"),
        (command("crash"), 4, "the server exited with status 7 during the handshake"),
    ],
)
def test_a_server_that_does_not_start_is_told_of(thrall, words, status, sentence):
    ran = thrall("call", "t", "a=1", "--", *words)
    assert (ran.status, ran.out) == (status, b"")
    assert ran.err.startswith(f"thrall: t: {sentence}")


def test_a_server_that_never_stops_talking_has_no_more_time_than_others(thrall, graveyard):
    words = ("--", *command("floods", graveyard.path))
    ran = thrall("call", "t", "a=1", "--start-timeout=0.5", "--grace=0.1", *words)
    assert (ran.status, ran.out) == (124, b"")
    assert "no answer to the handshake in 0.5 s (--start-timeout)" in ran.err
    assert graveyard.words() == []


def test_input_that_a_server_needs_is_named(thrall):
    form = {"method": "elicitation/create", "params": {"message": "Which city?"}}
    answers(t={"resultType": "input_required", "inputRequests": {"city": form}})
    assert thrall("call", "t", "a=1", *MODERN) == (
        7,
        b"",
        (
            'thrall: t: the server needs input that was not given: city (elicitation/create): "Which city?";'
            " give --answer NAME=VALUE, --accept-defaults or --decline\n"
        ),
    )


def test_a_signal_ends_the_call_the_server_and_then_thrall(thrall, graveyard):
    ran = thrall("call", "signal", "a=1", "--", *command("good", graveyard.path))
    assert ran == (128 + signal.SIGTERM, b"", "")
    assert graveyard.words() == ["called", "eof"]


def test_a_signal_during_the_teardown_takes_nothing_back(thrall):
    offering(answers={"t": text("done")}, stop=int(signal.SIGINT))
    ran = thrall("call", "t", "a=1", *GOOD)
    assert ran == (128 + signal.SIGINT, b"done\n", "")
