"""Plain commands on the command line: pinned, called, looked for, shown."""

import json
import os
from pathlib import Path

import pytest
from servers import command

SCHEMA = '{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}'
DEFINITION = {"name": "say", "description": "Says it.", "inputSchema": json.loads(SCHEMA)}


@pytest.fixture(autouse=True)
def schema():
    Path("s.json").write_text(SCHEMA)


@pytest.fixture
def pinned(thrall):
    """Pin a command of a shell as the tool `say`; how that ended."""

    def pin(script="cat", *options, tool="say"):
        words = ("--exec", tool, "--schema", "s.json", "--description", "Says it.", *options)
        return thrall("pin", "c.json", *words, "--", "sh", "-c", script)

    return pin


def servers():
    return json.loads(Path("c.json").read_text())["servers"]


# -- pin ---------------------------------------------------------------------------------------


def test_a_command_is_pinned_without_being_started(pinned):
    ran = pinned("touch started")
    assert (ran.status, ran.out, ran.err) == (
        0,
        b"",
        "thrall: say: 1 tool pinned, a plain command\n",
    )
    entry = servers()["say"]
    assert entry["tools"]["say"]["definition"] == DEFINITION
    assert (entry["kind"], entry["command"]) == ("exec", ["sh", "-c", "touch started"])
    assert not os.path.exists("started")


ELSEWHERE = "is looked for from the directory of whoever runs thrall: write it absolute\n"
MISSING = "the program {} was not found{}, so it cannot be called yet\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("./here",), [f"the program ./here {ELSEWHERE}"]),
        (
            ("bin/no",),
            [
                MISSING.format("bin/no", " from the directory {here}"),
                f"the program bin/no {ELSEWHERE}",
            ],
        ),
        (("/no/such",), [MISSING.format("/no/such", "")]),
        (("no-such",), [MISSING.format("no-such", "")]),
        (("cat", "-n", "here"), [f"word 3 of the command names a file here, and {ELSEWHERE}"]),
        (("cat", "/dev/null", "no-such"), []),
    ],
)
def test_what_is_not_found_or_not_from_everywhere_is_told_when_it_is_pinned(thrall, words, told):
    Path("here").write_text("#!/bin/sh\n")
    Path("here").chmod(0o755)
    pin = ("pin", "c.json", "--exec", "t", "--schema", "s.json", "--description", "Says it.")
    ran = thrall(*pin, "--", *words)
    lines = [f"thrall: t: warning: {line.format(here=os.getcwd())}" for line in told]
    head = "thrall: t: 1 tool pinned, a plain command\n"
    assert (ran.status, ran.err) == (0, "".join([head, *lines]))
    again = thrall(*pin, "--", *words)  # what is not there is told again, where it stands is not
    assert again.err.count("warning") == ran.err.count("cannot be called yet")


@pytest.mark.parametrize(
    ("folder", "told"),
    [(".", f"thrall: t: warning: the directory . {ELSEWHERE}"), ("/", "")],
)
def test_with_a_directory_the_words_are_looked_for_there(thrall, folder, told):
    Path("here").write_text("")
    words = ("--description", "d", "--cwd", folder, "--", "cat", "here")
    ran = thrall("pin", "c.json", "--exec", "t", "--schema", "s.json", *words)
    assert ran.err == f"thrall: t: 1 tool pinned, a plain command\n{told}"


def test_surroundings_and_names_are_kept(pinned, monkeypatch):
    monkeypatch.setenv("B", "x")
    options = ("--env", "A=hunter22", "--env", "B", "--cwd", ".", "--clean-env")
    assert pinned("cat", *options, "--prefix", "my_", "--name", "n").status == 0
    entry = servers()["n"]
    assert entry["env"] == {"A": "${A}", "B": "${B}"}
    assert (entry["cwd"], entry["cleanEnv"], entry["prefix"]) == (".", True, "my_")
    assert list(entry["tools"]) == ["say"]


def test_what_changes_nothing_is_pinned_with_the_hint_shown_with_it_and_checked(thrall, pinned):
    pinned()
    ran = pinned("cat", "--read-only")
    assert (ran.status, b"readOnlyHint" in ran.out) == (0, True)
    hints = {"annotations": {"readOnlyHint": True}}
    assert servers()["say"]["tools"]["say"]["definition"] == {**DEFINITION, **hints}
    assert (
        json.loads(thrall("show", "c.json", "--format", "mcp").out)["tools"][0].items()
        >= hints.items()
    )
    assert b"read-only" in thrall("call", "say", "--catalog", "c.json", "--help").out


def test_a_schema_comes_from_stdin_and_a_description_may_be_missing(thrall, feed):
    feed(b'{"type": "object"}')
    ran = thrall("pin", "c.json", "--exec", "t", "--schema", "-", "--", "cat")
    assert ran.status == 0
    assert ran.err.endswith(
        'warning: "t": no description, so a model has to guess what it is for\n'
    )
    assert servers()["t"]["tools"]["t"]["definition"] == {
        "name": "t",
        "inputSchema": {"type": "object"},
    }


def test_a_renewal_shows_what_changes(pinned):
    pinned()
    Path("s.json").write_text('{"type":"object"}')
    ran = pinned("cat; true")
    assert ran.status == 0
    assert b"say: inputSchema/properties/text: breaking, removed" in ran.out
    assert b"started or reached in another way" in ran.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--schema", "s.json", "--", "x"],
            "--schema, --description and --read-only are about a plain command",
        ),
        (
            ["--description", "d", "--update"],
            "--schema, --description and --read-only are about a plain command",
        ),
        (["--exec", "t", "--", "x"], "--exec needs a name for its tool, and the --schema FILE"),
        (["--exec", "", "--schema", "s.json", "--", "x"], "--exec needs a name for its tool"),
        (["--exec", "t", "--schema", "s.json"], "--exec needs a command: write it behind --"),
        (["--exec", "t", "--schema", "s.json", "--"], "--exec needs a command: write it behind --"),
        (
            ["--exec", "t", "--schema", "s.json", "--from", "f", "--", "x"],
            "a server behind -- and --from exclude each other",
        ),
        (
            ["--exec", "t", "--schema", "s.json", "--only", "t", "--", "x"],
            "--only, --except and --surface are about what a server offers",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(thrall, words, sentence):
    ran = thrall("pin", "c.json", *words)
    assert (ran.status, os.path.exists("c.json")) == (2, False)
    assert sentence in ran.err


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        ("{", "the schema s.json cannot be used: not JSON"),
        ("[]", 'the schema s.json is no JSON object: give one, such as {"type": "object"}'),
        (
            '{"a": ' * 700 + "1" + "}" * 700,
            "the schema cannot be kept: nested deeper than 200 levels",
        ),
    ],
)
def test_a_schema_of_no_use_is_refused(pinned, schema, sentence):
    Path("s.json").write_text(schema)
    ran = pinned()
    assert (ran.status, os.path.exists("c.json")) == (3, False)
    assert sentence in ran.err


def test_a_schema_that_is_not_there_is_refused(pinned):
    os.remove("s.json")
    assert (pinned().status, os.listdir()) == (3, [])


def test_words_that_look_like_credentials_are_refused(thrall):
    words = ("pin", "c.json", "--exec", "t", "--schema", "s.json", "--", "x", "--password=hunter22")
    ran = thrall(*words)
    assert (ran.status, "looks like a credential" in ran.err) == (3, True)


def test_a_server_does_not_lose_its_place_to_a_command(thrall, pinned):
    assert thrall("pin", "c.json", "--", *command("good")).status == 0
    ran = pinned(tool="fake")
    assert ran.status == 3
    assert "fake is a server: give this one a --name, or unpin that one" in ran.err


def test_a_tool_document_is_pinned_tool_by_tool(thrall):
    tool = {"name": "a", "description": "A.", "input_schema": {"type": "object"}}
    document = [
        {**tool, "command": ["sh", "-c", 'cat; echo " ${HOME}"']},
        {**tool, "name": "b", "command": []},
        {**tool, "name": "c", "command": ["x", "--password=hunter22"]},
    ]
    Path("doc.json").write_text(json.dumps(document))
    ran = thrall("pin", "c.json", "--from", "doc.json")
    assert ran.status == 3
    assert 'thrall: b: "command" should be a list of words\n' in ran.err
    assert "thrall: c: word 2 of the command looks like a credential" in ran.err
    assert servers()["a"]["command"][2] == 'cat; echo " $${HOME}"'
    home = os.environ["HOME"]
    ran = thrall("call", "a", "x=1", "--catalog", "c.json")
    assert ran.out.decode() == f'{{"x":"1"}} {home}\n'


def test_what_show_writes_for_executors_can_be_pinned_again(thrall, pinned):
    pinned()
    Path("doc.json").write_bytes(thrall("show", "c.json", "--format", "thrall").out)
    assert thrall("pin", "d.json", "--from", "doc.json", "say").status == 0
    ran = thrall("call", "say", "text=hi", "--catalog", "d.json")
    assert (ran.status, ran.out) == (0, b'{"text":"hi"}\n')


def test_an_update_leaves_commands_alone(thrall, pinned):
    pinned()
    before = Path("c.json").read_bytes()
    ran = thrall("pin", "c.json", "--update", "--yes")
    assert (ran.status, Path("c.json").read_bytes()) == (0, before)
    assert ran.err == (
        "thrall: say: left alone: a plain command cannot be asked; --exec pins it again\n"
    )


# -- call --------------------------------------------------------------------------------------


def test_the_input_comes_verbatim_and_the_answer_is_the_text(thrall, pinned, feed):
    pinned()
    feed(b'{"text": "a",  "n": 1.0}\n')
    ran = thrall("call", "say", "--catalog", "c.json")
    assert (ran.status, ran.out, ran.err) == (0, b'{"text": "a",  "n": 1.0}\n', "")


def test_a_failure_is_an_answer_that_says_no(thrall, pinned):
    pinned("echo no; exit 3")
    ran = thrall("call", "say", "text=a", "--catalog", "c.json")
    assert (ran.status, ran.out) == (1, b"no\n")


def test_the_whole_result_can_be_had(thrall, pinned):
    pinned("echo no; exit 3")
    ran = thrall("call", "say", "text=a", "--catalog", "c.json", "--json")
    assert (ran.status, json.loads(ran.out)) == (
        1,
        {"content": [{"type": "text", "text": "no"}], "isError": True},
    )


def test_arguments_that_do_not_fit_the_schema_start_nothing(thrall, pinned):
    pinned("touch started")
    ran = thrall("call", "say", "other=a", "--catalog", "c.json")
    assert ran.status == 2
    ran = thrall("call", "say", "text:=1", "--catalog", "c.json", "--validate", "--unverified")
    assert (ran.status, os.path.exists("started")) == (3, False)


def test_a_program_that_is_not_there_is_127(thrall):
    thrall("pin", "c.json", "--exec", "t", "--schema", "s.json", "--", "./no-such")
    ran = thrall("call", "t", "text=a", "--catalog", "c.json")
    here = os.getcwd()
    sentence = f"thrall: t: the program ./no-such was not found from the directory {here}\n"
    assert (ran.status, ran.err) == (127, sentence)


@pytest.mark.parametrize("name", [(), ("say",)])
def test_the_doctor_has_no_server_to_examine(thrall, pinned, name):
    pinned()
    assert thrall("doctor", "--catalog", "c.json", *name) == (
        2,
        b"",
        "thrall: say is a plain command, so there is no server to examine\n",
    )


def test_a_person_is_told_of_the_stages(thrall, pinned):
    pinned()
    ran = thrall("call", "say", "text=a", "--catalog", "c.json", "--verbose")
    told = [line.split("  ")[-1] for line in ran.err.splitlines()]
    assert told[0] == "started sh"
    assert told[-1].startswith("the server exited with status 0")


def test_a_trace_has_the_input_and_the_output(thrall, pinned):
    pinned("cat; echo; echo end")
    assert thrall("call", "say", "text=a", "--catalog", "c.json", "--trace", "t").status == 0
    records = [json.loads(line) for line in Path("t").read_text().splitlines()]
    assert [each.get("text") for each in records if "way" in each] == [
        '{"text":"a"}',
        '{"text":"a"}\n',
        "end\n",
    ]


# -- check and show ----------------------------------------------------------------------------


def test_a_command_that_is_there_is_as_pinned(thrall, pinned):
    pinned("touch started")
    ran = thrall("check", "c.json")
    assert (ran.status, ran.out, os.path.exists("started")) == (0, b"say: as pinned\n", False)


def test_a_program_that_is_gone_could_not_be_checked(thrall):
    thrall("pin", "c.json", "--exec", "t", "--schema", "s.json", "--", "./no-such")
    ran = thrall("check", "c.json")
    assert (ran.status, ran.out) == (127, b"")
    where = f"from the directory {os.getcwd()}"
    assert ran.err == f"thrall: t: the program ./no-such was not found {where}\n"


def test_a_command_is_shown_like_any_tool(thrall, pinned):
    pinned("cat", "--prefix", "my_")
    assert thrall("show", "c.json").out == b"my_say\tsay\ttext:string!\tSays it.\n"
    assert thrall("show", "c.json", "--format", "servers").out == b"say\tsh\t\t1\tmy_\n"
    exported = json.loads(thrall("show", "c.json", "--format", "openai").out)
    assert exported[0]["function"]["name"] == "my_say"


def test_a_person_sees_that_it_is_a_command(thrall, pinned, monkeypatch):
    pinned()
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    assert b"say: sh, a plain command, 1 tool" in thrall("show", "c.json").out


def test_a_look_without_writing_says_what_would_be_pinned(pinned):
    ran = pinned("cat", "--dry-run")
    assert (ran.status, os.path.exists("c.json")) == (0, False)
    assert ran.err.startswith("thrall: say: would pin 1 tool; nothing was written")


def test_a_command_is_no_server_for_an_agent(thrall, pinned):
    pinned()
    thrall("pin", "c.json", "--", *command("good"))
    ran = thrall("show", "c.json", "--format", "mcp-json")
    assert list(json.loads(ran.out)["mcpServers"]) == ["fake"]
    assert ran.err == "thrall: say: left out: a plain command is no server\n"


def test_the_names_of_a_command_are_completed(thrall, pinned):
    pinned()
    words = ("completion", "zsh", "1", "--", "call", "s", "--catalog", "c.json")
    assert b"say" in thrall(*words).out
