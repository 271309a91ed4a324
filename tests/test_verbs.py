import json
import os
import signal
from pathlib import Path

import pytest
from servers import MODERN, TOOLS, command, offering

from thrall_py import errors
from thrall_py.catalog import file, report
from thrall_py.catalog.entry import Entry, pin_item
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.launch import LaunchSpec, UrlSpec
from thrall_py.protocol import mcp
from thrall_py.verbs import call, connect, sessions
from thrall_py.verbs.connect import ConnectionOptions, prepare
from thrall_py.verbs.pinned_call import Callbacks, call_pinned

CONNECTION = ConnectionOptions(timeout=10, start_timeout=10, grace=5, max_message=1 << 20)
GOOD = LaunchSpec(command("good"), {})
TOKEN = "sesame42sesame"  # what a secret looks like


def ready(launch, *, fill_in=False, **given):
    return prepare(launch, given, fill_in=fill_in)


# -- how a server is prepared, and a session opened ---------------------------------------------


def test_a_launch_spec_is_filled_in_from_our_environment_and_what_is_given(monkeypatch):
    monkeypatch.setenv("WORD", "w")
    monkeypatch.setenv("GIT_DIR", "x")
    launch = LaunchSpec(("server", "${WORD}"), {"A": "<${GIVEN}>"}, cwd="dir")
    command = ready(launch, fill_in=True, GIVEN="g").command
    assert (command.argv, command.cwd) == (("server", "w"), "dir")
    assert (command.environment["A"], command.environment["WORD"]) == ("<g>", "w")
    assert command.environment["GIVEN"] == "g"
    assert "GIT_DIR" not in command.environment


def test_the_words_of_a_command_line_are_not_filled_in():
    assert ready(LaunchSpec(("s", "${NONE}"), {})).command.argv == ("s", "${NONE}")


def test_a_clean_environment_has_what_it_needs_and_what_was_given(monkeypatch):
    monkeypatch.setenv("OTHER", "x")
    command = ready(LaunchSpec(("s",), {"A": "${A}"}, clean_env=True), A="1").command
    assert command.environment["A"] == "1"
    assert command.environment["PATH"] == os.environ["PATH"]
    assert "OTHER" not in command.environment


@pytest.mark.parametrize(
    "launch", [LaunchSpec(("s",), {"A": "${NONE}"}), LaunchSpec(("s", "${NONE}"), {})]
)
def test_a_variable_that_is_not_set_is_refused_before_the_start(launch):
    with pytest.raises(errors.InputError, match="^the variable NONE is not set"):
        ready(launch, fill_in=True)


@pytest.mark.parametrize(
    ("launch", "masked"),
    [
        (LaunchSpec(("s",), {"A": "${A}"}), {"aaaaaaaa": "***"}),
        (LaunchSpec(("s", "${A:-x}"), {}), {"aaaaaaaa": "***", "bbbbbbbb": "bbbbbbbb"}),
        (LaunchSpec(("s", "${NONE:-dddddddd}"), {}), {"dddddddd": "dddddddd"}),
        (LaunchSpec(("s",), {}), {"aaaaaaaa": "aaaaaaaa", TOKEN: "***"}),
    ],
)
def test_the_values_a_server_was_given_are_not_repeated(monkeypatch, launch, masked):
    monkeypatch.setenv("A", "aaaaaaaa")
    monkeypatch.setenv("B", "bbbbbbbb")
    monkeypatch.setenv("MY_TOKEN", TOKEN)
    redact = ready(launch, fill_in=True).redact
    assert {text: redact.mask(text) for text in masked} == masked


@pytest.mark.parametrize(
    ("name", "revision", "remembered", "spoken"),
    [
        ("good", None, None, "2025-11-25"),
        ("modern", None, None, MODERN),
        ("good", "2025-06-18", None, "2025-06-18"),
        ("good", "2025-06-18", "2025-03-26", "2025-06-18"),
        ("good", None, "2025-03-26", "2025-03-26"),
        ("modern", None, MODERN, MODERN),
        ("modern", None, "2025-03-26", MODERN),
    ],
)
def test_a_session_opens_in_the_revision_that_is_wanted_or_found(
    interrupts, graveyard, name, revision, remembered, spoken
):
    server = ready(LaunchSpec(command(name, graveyard.path), {}))
    connection = CONNECTION._replace(revision=revision)
    with sessions.open_session(server, connection, interrupts, remembered) as session:
        assert session.server.revision == spoken
    assert graveyard.words()[-1] == "eof"


def test_a_session_that_does_not_open_leaves_nobody_alive(interrupts, graveyard):
    server = ready(LaunchSpec(command("modern", graveyard.path), {}))
    connection = CONNECTION._replace(revision="2025-11-25")
    session = sessions.open_session(server, connection, interrupts)
    with pytest.raises(errors.JsonRpcError, match="^the server refused the handshake"), session:
        pytest.fail("it opened")
    assert graveyard.words() == ["eof"]


def test_a_session_that_breaks_leaves_nobody_alive(interrupts, graveyard):
    server = ready(LaunchSpec(command("good", graveyard.path), {}))
    with pytest.raises(KeyError), sessions.open_session(server, CONNECTION, interrupts):
        raise KeyError
    assert graveyard.words() == ["eof"]


def test_a_server_that_is_started_ahead_is_the_one_that_is_spoken_to(interrupts, graveyard):
    server = ready(LaunchSpec(command("good", graveyard.path), {}))
    with connect.started(server, CONNECTION, interrupts) as ahead:
        assert ahead.started
        with sessions.open_session(ahead, CONNECTION, interrupts) as session:
            assert session.channel is ahead.started.channel
    assert graveyard.words() == ["eof"]


def test_a_server_that_is_started_ahead_and_dies_of_the_probe_is_started_once_more(
    interrupts, graveyard
):
    offering(dies_of=["server/discover"])
    server = ready(LaunchSpec(command("good", graveyard.path), {}))
    with connect.started(server, CONNECTION, interrupts) as ahead:
        assert ahead.started
        with sessions.open_session(ahead, CONNECTION, interrupts) as session:
            assert session.channel is not ahead.started.channel
    assert graveyard.words()[-1] == "eof"


def test_a_server_that_is_started_ahead_of_a_failure_is_ended(interrupts, graveyard):
    server = ready(LaunchSpec(command("good", graveyard.path), {}))
    with pytest.raises(KeyError), connect.started(server, CONNECTION, interrupts):
        raise KeyError
    assert graveyard.words() == ["eof"]


def test_a_server_on_a_url_is_not_reached_ahead(interrupts):
    server = prepare(UrlSpec("http://127.0.0.1:1/", {}), {}, fill_in=False)
    with connect.started(server, CONNECTION, interrupts) as ahead:
        assert ahead is server


# -- call --------------------------------------------------------------------------------------


def called(interrupts, tool, *, catalog=None, launch=GOOD, arguments="{}", told=None):
    """Call a tool; the answer, which is handed over once and is what the verb returns.

    Differences are added to `told`; without it there should be none.
    """
    handed_over, drifted = [], []
    wanted = call.Call(tool, arguments)
    if catalog:
        pinned = file.entry_offering(file.read(catalog), tool)

        def on_drift(*given):
            (drifted if told is None else told).append(given)
            return "look"

        callbacks = Callbacks(handed_over.append, on_drift)
        server = ready(pinned.launch, fill_in=True)
        rendered = call_pinned(wanted, pinned, server, CONNECTION, interrupts, callbacks=callbacks)
        assert drifted == []
    else:
        server = ready(launch)
        rendered = call.call_server(wanted, server, CONNECTION, interrupts, handed_over.append)
    assert [id(answer) for answer in handed_over] == [id(rendered)]
    return rendered


def test_the_arguments_arrive_as_they_were_typed(interrupts):
    sent = '{"z": 1.0, "a":1e400,"\\u00e9":[ ]}'
    answer = called(interrupts, "echo", arguments=sent)
    line = json.loads(b"".join(answer.lines({}, terminal=False)))
    assert not answer.is_error
    assert line["method"] == "tools/call"
    request = b"".join(answer.lines({}, terminal=False)).decode()
    assert f'"name":"echo","arguments":{sent}' in request


def test_a_tool_that_fails_says_so(interrupts):
    answer = called(interrupts, "fail")
    assert (answer.is_error, list(answer.lines({}, terminal=False))) == (True, [b"no", b"\n"])


def test_the_answer_is_handed_over_before_the_server_is_ended(interrupts, graveyard):
    alive = []

    def on_result(_):
        with pytest.raises(AssertionError, match="is alive"):
            graveyard.words()
        alive.append(True)

    server = ready(LaunchSpec(command("good", graveyard.path), {}))
    call.call_server(call.Call("echo", "{}"), server, CONNECTION, interrupts, on_result)
    assert alive == [True]
    assert graveyard.words() == ["called", "eof"]


@pytest.mark.parametrize(
    ("tool", "error", "sentence"),
    [
        (
            "unknown",
            errors.JsonRpcError,
            'the server refused tools/call with error -32602: "Unknown tool: unknown"',
        ),
        (
            "die",
            errors.ServerError,
            "the server exited with status 7 during tools/call; the tool may have run",
        ),
    ],
)
def test_a_call_without_an_answer_says_why(interrupts, tool, error, sentence):
    with pytest.raises(error) as failed:
        called(interrupts, tool)
    assert str(failed.value) == sentence


def write_catalog(launch=GOOD, prefix=""):
    items = {"tools": {tool["name"]: pin_item(tool) for tool in TOOLS}}
    entry = Entry(launch, mcp.ServerInfo("2025-11-25", "fake", "1"), items, prefix=prefix)
    Path("catalog.json").write_text(file.dumps(Catalog({"fake": entry})))


def test_a_pinned_tool_is_called_if_it_is_as_pinned(interrupts):
    write_catalog()
    assert called(interrupts, "fail", catalog="catalog.json").is_error


@pytest.mark.parametrize(
    ("tools", "changes"),
    [
        ([{**TOOLS[0], "description": "New."}], "description changed"),
        ([TOOLS[1]], "the tool removed"),
    ],
)
def test_a_tool_that_is_not_as_pinned_is_not_called(interrupts, graveyard, tools, changes):
    write_catalog(LaunchSpec(command("good", graveyard.path), {}))
    offering(tools=tools)
    told = []
    with pytest.raises(errors.DriftError) as drifted:
        called(interrupts, "echo", catalog="catalog.json", told=told)
    ((found, redact),) = told
    assert report.summarize(found, redact) == changes
    assert str(drifted.value) == (f"not as pinned, so nothing was called: {changes}; look")
    assert graveyard.words() == ["eof"]


def test_the_drift_of_another_tool_does_not_matter_to_a_call(interrupts):
    write_catalog()
    offering(tools=[TOOLS[1], {"name": "new"}])
    assert called(interrupts, "fail", catalog="catalog.json").is_error


def test_a_tool_that_was_not_pinned_is_not_called(interrupts):
    write_catalog()
    with pytest.raises(errors.CatalogError, match="^the catalog does not have this tool; some"):
        called(interrupts, "new", catalog="catalog.json")


def test_a_pinned_tool_with_a_prefix_is_called_by_its_own_name(interrupts):
    write_catalog(prefix="fail_")
    answer = called(interrupts, "fail_echo", catalog="catalog.json")
    assert b'"name":"echo"' in b"".join(answer.lines({}, terminal=False))
    with pytest.raises(errors.CatalogError, match="; the nearest: fail_echo$"):
        called(interrupts, "fai_echo", catalog="catalog.json")


def test_a_difference_that_nobody_depends_on_does_not_keep_a_tool_from_being_called(interrupts):
    write_catalog()
    offering(tools=[{**TOOLS[0], "_meta": {"x": 1}}, TOOLS[1]])
    assert not called(interrupts, "echo", catalog="catalog.json").is_error


def test_cosmetic_differences_are_not_named_beside_drift(interrupts):
    write_catalog()
    offering(tools=[{**TOOLS[0], "_meta": {"x": 1}, "title": "New"}])
    told = []
    with pytest.raises(errors.DriftError) as drifted:
        called(interrupts, "echo", catalog="catalog.json", told=told)
    assert [each.change.path for each in told[0][0]] == [("title",)]
    assert str(drifted.value) == ("not as pinned, so nothing was called: title added; look")


def test_without_a_look_at_it_a_tool_is_called_whatever_it_is(interrupts):
    write_catalog(prefix="p_")
    offering(tools="no list")
    pinned = file.entry_offering(file.read("catalog.json"), "p_fail")
    handed_over = []
    callbacks = Callbacks(handed_over.append, None)
    wanted = call.Call("p_fail", "{}")
    rendered = call_pinned(
        wanted,
        pinned,
        ready(pinned.launch, fill_in=True),
        CONNECTION,
        interrupts,
        callbacks=callbacks,
    )
    assert rendered.is_error
    assert handed_over == [rendered]


def test_a_variable_in_a_pinned_command_is_filled_in(interrupts, monkeypatch, graveyard):
    monkeypatch.setenv("STORY", graveyard.path)
    write_catalog(LaunchSpec(command("good", "${STORY}"), {}))
    assert called(interrupts, "fail", catalog="catalog.json").is_error
    assert graveyard.words() == ["called", "eof"]


def test_a_call_lists_nothing_but_tools(interrupts):
    write_catalog()
    offering(prompts="no list")
    assert called(interrupts, "fail", catalog="catalog.json").is_error


def test_a_signal_while_an_answer_is_awaited_ends_the_server(interrupts, graveyard):
    with pytest.raises(errors.Interrupted) as interrupted:
        called(interrupts, "signal", launch=LaunchSpec(command("good", graveyard.path), {}))
    assert interrupted.value.signum == signal.SIGTERM
    assert graveyard.words() == ["called", "eof"]
