import json
import os
import signal
from pathlib import Path

import pytest
from servers import MODERN, TOOLS, command, offering

from thrall_py import errors
from thrall_py.catalog import file
from thrall_py.catalog.drift import Slot
from thrall_py.catalog.entry import Entry, pin_tool
from thrall_py.catalog.launch import LaunchSpec
from thrall_py.protocol import mcp
from thrall_py.verbs import call, check, connect, pin
from thrall_py.verbs.connect import ConnectionOptions, prepare

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
    with connect.open_session(server, connection, interrupts, remembered) as session:
        assert session.server.revision == spoken
    assert graveyard.words()[-1] == "eof"


def test_a_session_that_does_not_open_leaves_nobody_alive(interrupts, graveyard):
    server = ready(LaunchSpec(command("modern", graveyard.path), {}))
    connection = CONNECTION._replace(revision="2025-11-25")
    session = connect.open_session(server, connection, interrupts)
    with pytest.raises(errors.JsonRpcError, match="^the server refused the handshake"), session:
        pytest.fail("it opened")
    assert graveyard.words() == ["eof"]


def test_a_session_that_breaks_leaves_nobody_alive(interrupts, graveyard):
    server = ready(LaunchSpec(command("good", graveyard.path), {}))
    with pytest.raises(KeyError), connect.open_session(server, CONNECTION, interrupts):
        raise KeyError
    assert graveyard.words() == ["eof"]


# -- call --------------------------------------------------------------------------------------


def called(interrupts, tool, *, catalog=None, launch=GOOD, arguments="{}"):
    """Call a tool; the answer, which is handed over once and is what the verb returns."""
    handed_over = []
    wanted = call.Call(tool, arguments)
    if catalog:
        rendered = call.call_pinned(wanted, catalog, CONNECTION, interrupts, handed_over.append)
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


def write_catalog(launch=GOOD, tools=TOOLS, **about):
    entry = Entry(
        launch,
        mcp.ServerInfo("2025-11-25", "fake", "1", **about),
        {tool["name"]: pin_tool(tool) for tool in tools},
    )
    Path("catalog.json").write_text(file.dumps({"fake": entry}))
    return entry


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
    with pytest.raises(errors.DriftError) as drifted:
        called(interrupts, "echo", catalog="catalog.json")
    assert str(drifted.value) == (
        f"not as pinned, so nothing was called: {changes}; review, re-pin"
    )
    assert graveyard.words() == ["eof"]


def test_the_drift_of_another_tool_does_not_matter_to_a_call(interrupts):
    write_catalog()
    offering(tools=[TOOLS[1], {"name": "new"}])
    assert called(interrupts, "fail", catalog="catalog.json").is_error


def test_a_tool_that_was_not_pinned_is_not_called(interrupts):
    write_catalog()
    with pytest.raises(errors.CatalogError, match="^the catalog does not have this tool$"):
        called(interrupts, "new", catalog="catalog.json")


# -- pin ---------------------------------------------------------------------------------------


def pinned(interrupts, launch=GOOD, **given):
    prepared = ready(launch, fill_in=True, **given)
    return pin.pin_server(launch, prepared, CONNECTION, interrupts)


def test_a_pin_holds_all_that_the_server_says(interrupts):
    offering(instructions="Do.", serverInfo={"name": "it", "version": "3"})
    found = pinned(interrupts)
    assert (found.name, found.warnings) == ("it", [])
    assert found.entry.launch == GOOD
    assert found.entry.server == mcp.ServerInfo("2025-11-25", "it", "3", "Do.", offers_tools=True)
    assert [pin.definition for pin in found.entry.tools.values()] == TOOLS


def test_a_server_without_a_name_gets_that_of_its_program(interrupts):
    offering(serverInfo={})
    assert pinned(interrupts).name == os.path.basename(GOOD.command[0])


def test_what_a_person_should_know_is_said(interrupts):
    offering(tools=[{"name": "a b"}, {"name": "a b"}], instructions="\u200b")
    assert pinned(interrupts).warnings == [
        '"a b" is listed twice',
        r"hidden characters in the server's instructions: \u200b",
        '"a b": an odd name, outside 1 to 128 of A-Z a-z 0-9 _ . -',
        '"a b": no inputSchema',
    ]
    offering(tools=[])
    assert pinned(interrupts).warnings == ["the server offers no tools: the pin is empty"]


@pytest.mark.parametrize(
    ("offer", "sentence"),
    [
        (
            {"tools": [{"name": "a", "description": f"x {TOKEN} y"}]},
            'the definition of "a" repeats a secret of its environment',
        ),
        ({"instructions": f"Use {TOKEN}."}, "the server repeats a secret of its environment in"),
        ({"serverInfo": {"name": TOKEN}}, "the server repeats a secret of its environment in"),
    ],
)
def test_a_secret_that_the_server_repeats_is_not_pinned(interrupts, offer, sentence):
    offering(**offer)
    with pytest.raises(errors.ServerError) as refused:
        pinned(interrupts, GOOD._replace(env={"A": "${A}"}), A=TOKEN)
    assert str(refused.value).startswith(sentence)
    assert TOKEN not in str(refused.value)


def test_a_pin_joins_those_that_are_there(interrupts):
    entry = write_catalog()
    offering(serverInfo={"name": "another"})
    text = pin.write_catalog("catalog.json", pinned(interrupts))
    assert Path("catalog.json").read_text() == text
    assert list(file.read("catalog.json")) == ["another", "fake"]
    assert file.read("catalog.json")["fake"] == entry


def test_a_pin_takes_the_place_of_the_old_one(interrupts):
    write_catalog(tools=[])
    pin.write_catalog("catalog.json", pinned(interrupts))
    assert list(file.read("catalog.json")["fake"].tools) == ["echo", "fail"]


def test_a_pin_for_stdout_is_text_only(interrupts):
    text = pin.write_catalog("-", pinned(interrupts))
    assert list(file.loads(text.encode(), "-")) == ["fake"]
    assert os.listdir() == []


# -- check -------------------------------------------------------------------------------------


def checked(interrupts, entry):
    found = check.check_server(entry, CONNECTION, interrupts)
    return found.differences, found.notes


def test_what_is_as_pinned_has_no_difference(interrupts):
    assert checked(interrupts, write_catalog()) == ([], [])


def test_what_changed_is_a_difference(interrupts):
    offering(instructions="New.", tools=TOOLS[:1])
    differences, notes = checked(interrupts, write_catalog())
    assert notes == []
    assert [(d.tool, d.path) for d in differences] == [(None, ("instructions",)), ("fail", ())]
    assert differences[0].after == Slot("New.")


def test_a_list_that_changes_within_a_session_is_a_difference(interrupts):
    offering(later=TOOLS[1:])
    ((tool, path, _, after),) = checked(interrupts, write_catalog())[0]
    assert (tool, path, after) == ("echo", (), None)


def test_another_version_and_an_odd_list_are_only_noted(interrupts):
    offering(tools=[*TOOLS, TOOLS[0]], serverInfo={"name": "fake", "version": "2\x1b"})
    assert checked(interrupts, write_catalog()) == (
        [],
        [
            '"echo" is listed twice',
            r"""the server's version is "2\x1b", was "1" when pinned""",
        ],
    )


def test_a_server_that_refuses_could_not_be_checked(interrupts):
    entry = write_catalog(LaunchSpec(command("good"), {}))
    offering(refuses=["tools/list"])
    with pytest.raises(
        errors.ServerError, match="^the server refused tools/list with error -32601"
    ):
        checked(interrupts, entry)


def test_a_signal_while_an_answer_is_awaited_ends_the_server(interrupts, graveyard):
    with pytest.raises(errors.Interrupted) as interrupted:
        called(interrupts, "signal", launch=LaunchSpec(command("good", graveyard.path), {}))
    assert interrupted.value.signum == signal.SIGTERM
    assert graveyard.words() == ["called", "eof"]
