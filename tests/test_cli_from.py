"""`thrall pin --from`: the servers of an agent's configuration file."""

import json
import os
from pathlib import Path

import pytest
from servers import TOOLS, command, offering

TOKEN = "ghp_" + "a1B2" * 9
CRASH = {"command": "no-such"}
USELESS = "--env, --cwd, --header and the like are of no use"
ELSEWHERE = "is looked for from the directory of whoever runs thrall: write it absolute"
HEAD = "{} pinned; hints are the server's own word, nobody has verified them"


def configured(name, **more):
    """A server that is started in a directory of its own and offers one tool of its name."""
    os.makedirs(name, exist_ok=True)
    offering(name, tools=[{**TOOLS[0], "name": f"{name}_tool"}])
    first, *args = command("good")
    return {"command": first, "args": args, "cwd": name, **more}


def write(**servers):
    Path("mcp.json").write_text(json.dumps({"mcpServers": servers}))


def pinned():
    """The servers of the catalog, by name; none if there is no file."""
    if not os.path.exists("c.json"):
        return {}
    return json.loads(Path("c.json").read_text())["servers"]


def test_all_servers_of_a_file_are_pinned_under_their_names(thrall):
    write(b=configured("b", env={"LEVEL": "1"}), a=configured("a"))
    ran = thrall("pin", "c.json", "--from", "mcp.json")
    assert (ran.status, ran.out) == (0, b"")
    assert ran.err == "".join(
        f"thrall: {name}: {HEAD.format('1 tool')}\nthrall: {name}:   {name}_tool  (no hints)\n"
        f"thrall: {name}: warning: the directory {name} {ELSEWHERE}\n"
        for name in ("b", "a")
    )
    assert list(pinned()) == ["a", "b"]
    assert pinned()["b"]["env"] == {"LEVEL": "1"}
    assert thrall("check", "c.json") == (0, b"a: as pinned\nb: as pinned\n", "")


def test_one_that_fails_keeps_no_other_from_being_written(thrall):
    write(a=configured("a"), b=CRASH, c=configured("c"))
    ran = thrall("pin", "c.json", "--from", "mcp.json")
    assert (ran.status, ran.out) == (127, b"")
    assert ran.err.startswith("thrall: b: the program no-such was not found\n")
    assert list(pinned()) == ["a", "c"]


def test_one_that_is_of_no_use_in_the_file_neither(thrall):
    write(a={"type": "http"}, b=CRASH, c=configured("c"))
    ran = thrall("pin", "c.json", "--from", "mcp.json")
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err.startswith(
        'thrall: a: it has neither "command" nor "url"\n'
        "thrall: b: the program no-such was not found\n"
    )
    assert list(pinned()) == ["c"]


def test_nor_one_whose_tools_another_has(thrall):
    write(a=configured("a"), again=configured("a"))
    ran = thrall("pin", "c.json", "--from", "mcp.json")
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err.startswith(
        "thrall: again: a and again both have the tool a_tool: unpin a if they are"
        " the same server, or give one of them a --prefix\n"
    )
    assert list(pinned()) == ["a"]


def test_if_all_fail_nothing_is_written(thrall):
    write(a=CRASH, b={"command": "/"})
    assert thrall("pin", "c.json", "--from", "mcp.json").status == 127
    assert os.listdir() == ["mcp.json"]
    assert thrall("pin", "-", "--from", "mcp.json").out == b""


def test_named_servers_are_pinned_alone(thrall):
    write(a=configured("a"), b=CRASH, c=configured("c"))
    assert thrall("pin", "c.json", "c", "--from", "mcp.json").status == 0
    assert list(pinned()) == ["c"]
    assert thrall("pin", "c.json", "a", "c", "--from", "mcp.json").status == 0
    assert list(pinned()) == ["a", "c"]


def test_a_disabled_server_is_left_out_unless_it_is_named(thrall):
    write(a=configured("a"), b=configured("b", disabled=True))
    ran = thrall("pin", "c.json", "--from", "mcp.json")
    assert ran.status == 0
    assert ran.err.startswith("thrall: b: left out: it is disabled in mcp.json\n")
    assert list(pinned()) == ["a"]
    assert thrall("pin", "c.json", "b", "--from", "mcp.json").status == 0
    assert list(pinned()) == ["a", "b"]


def test_one_that_is_of_no_use_and_disabled_is_left_out_as_well(thrall):
    write(a=configured("a"), b={"type": "http", "disabled": True})
    ran = thrall("pin", "c.json", "--from", "mcp.json")
    assert ran.status == 0
    assert ran.err.startswith("thrall: b: left out: it is disabled in mcp.json\n")
    ran = thrall("pin", "c.json", "b", "--from", "mcp.json")
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err == 'thrall: b: it has neither "command" nor "url"\n'


def test_a_prefix_is_for_one_server(thrall):
    write(a=configured("a"), b=configured("b"))
    assert thrall("pin", "c.json", "a", "--from", "mcp.json", "--prefix", "x_").status == 0
    assert pinned()["a"]["prefix"] == "x_"
    assert thrall("pin", "c.json", "--from", "mcp.json").status == 0
    assert {name: each.get("prefix") for name, each in pinned().items()} == {"a": "x_", "b": None}


def test_patterns_and_the_surface_hold_for_each(thrall):
    write(a=configured("a"), b=configured("b"))
    words = ("--only", "*_tool", "--surface", "tools")
    assert thrall("pin", "c.json", "--from", "mcp.json", *words).status == 0
    assert [(each["only"], each["surface"]) for each in pinned().values()] == [
        (["*_tool"], ["tools"])
    ] * 2


def test_a_secret_of_the_file_stays_there_and_is_told_by_its_name(thrall, monkeypatch):
    write(a=configured("a", env={"GITHUB_TOKEN": TOKEN, "OTHER_SECRET": "letmein", "LEVEL": "1"}))
    ran = thrall("pin", "c.json", "--from", "mcp.json")
    assert ran.status == 0
    assert ran.err.endswith(
        "thrall: a: secrets of the file are left out:"
        " set ${GITHUB_TOKEN}, ${OTHER_SECRET} for check and call\n"
    )
    assert TOKEN not in ran.err + Path("c.json").read_text()
    assert pinned()["a"]["env"] == {
        "GITHUB_TOKEN": "${GITHUB_TOKEN}", "LEVEL": "1", "OTHER_SECRET": "${OTHER_SECRET}"
    }  # fmt: skip
    assert thrall("check", "c.json").status == 3
    monkeypatch.setenv("GITHUB_TOKEN", "x")
    monkeypatch.setenv("OTHER_SECRET", "x")
    assert thrall("check", "c.json").status == 0


def test_a_secret_among_the_words_is_refused_and_nothing_is_started(thrall):
    write(a={"command": "touch", "args": ["started", TOKEN]})
    ran = thrall("pin", "c.json", "--from", "mcp.json")
    assert ran.status == 3
    assert ran.err.startswith("thrall: a: word 3 of the server's command looks like a credential")
    assert TOKEN not in ran.err
    assert not os.path.exists("started")


def test_a_variable_among_the_words_is_filled_in_and_pinned_as_that(thrall, monkeypatch, graveyard):
    monkeypatch.setenv("STORY", graveyard.path)
    server = configured("a")
    write(a={**server, "args": [*server["args"], "${env:STORY}"]})
    assert thrall("pin", "c.json", "--from", "mcp.json").status == 0
    assert graveyard.words() == ["eof"]
    assert pinned()["a"]["command"][-1] == "${STORY}"


def test_a_value_of_the_file_repeated_among_the_words_is_refused(thrall):
    write(
        a={
            "command": "touch",
            "args": ["x", "sesame42sesame"],
            "env": {"S_TOKEN": "sesame42sesame"},
        }
    )
    ran = thrall("pin", "c.json", "--from", "mcp.json")
    assert ran.status == 3
    assert ran.err.startswith(
        "thrall: a: word 3 of the server's command holds the value of a secret"
    )


def test_what_changed_is_printed_below_a_heading_for_each_of_several(thrall):
    write(a=configured("a"), b=configured("b"), c=configured("c"))
    thrall("pin", "c.json", "--from", "mcp.json")
    for name in ("a", "c"):
        offering(name, tools=[{**TOOLS[0], "name": f"{name}_tool", "title": "T"}])
    before = Path("c.json").read_bytes()
    printed = (
        b'a: 1 difference (1 text)\n  a_tool: title: text, added\n    + "T"\n'
        b'c: 1 difference (1 text)\n  c_tool: title: text, added\n    + "T"\n'
    )
    ran = thrall("pin", "c.json", "--from", "mcp.json", "--dry-run")
    assert (ran.status, ran.out) == (1, printed)
    assert Path("c.json").read_bytes() == before
    ran = thrall("pin", "c.json", "--from", "mcp.json")
    assert (ran.status, ran.out) == (0, printed)
    assert thrall("check", "c.json").status == 0


def test_a_failure_goes_before_the_verdict_of_a_dry_run(thrall):
    write(a=configured("a"), b=CRASH)
    thrall("pin", "c.json", "a", "--from", "mcp.json")
    offering("a", tools=[])
    assert thrall("pin", "c.json", "--from", "mcp.json", "--dry-run").status == 127


def test_for_stdout_there_is_one_catalog_of_all(thrall):
    write(a=configured("a"), b=configured("b"))
    ran = thrall("pin", "-", "--from", "mcp.json")
    assert ran.status == 0
    assert list(json.loads(ran.out)["servers"]) == ["a", "b"]
    assert sorted(os.listdir()) == ["a", "b", "mcp.json"]


def test_servers_are_asked_one_at_a_time_if_that_is_wanted(thrall):
    write(a=configured("a"), b=configured("b"))
    assert thrall("pin", "c.json", "--from", "mcp.json", "--jobs=1").status == 0
    assert list(pinned()) == ["a", "b"]


# -- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "cannot read mcp.json: No such file or directory"),
        ("x\x1b", "mcp.json cannot be used: not JSON: "),
        ("{}", 'mcp.json cannot be used: it has neither "mcpServers" nor "servers"'),
        ('{"mcpServers": {}}', "mcp.json names no server to pin"),
        ('{"mcpServers": {"a": {"command": "x", "disabled": true}}}',
         "mcp.json names no server to pin"),
    ],
)  # fmt: skip
def test_a_file_that_is_of_no_use_is_told_of(thrall, text, sentence):
    if text is not None:
        Path("mcp.json").write_text(text)
    ran = thrall("pin", "c.json", "--from", "mcp.json")
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err.splitlines()[-1].startswith(f"thrall: {sentence}")
    assert not os.path.exists("c.json")


def test_a_file_has_a_limit(thrall):
    write(a=CRASH)
    text = Path("mcp.json").read_bytes()
    Path("mcp.json").write_bytes(text.ljust(1 << 24))
    assert thrall("pin", "c.json", "--from", "mcp.json").status == 127
    os.rename("mcp.json", "x\x1b")
    os.truncate("x\x1b", (1 << 24) + 1)
    ran = thrall("pin", "c.json", "--from", "x\x1b")
    assert ran == (3, b"", "thrall: x\\x1b is larger than 16777216 bytes\n")


@pytest.mark.parametrize("option", ["--prefix", "--only", "--except"])
def test_what_is_not_utf_8_starts_none(thrall, option):
    write(a={"command": "touch", "args": ["started"]})
    ran = thrall("pin", "c.json", "a", "--from", "mcp.json", option, "\udcff")
    assert (ran.status, ran.out, os.listdir()) == (3, b"", ["mcp.json"])
    assert ran.err.endswith("\\udcff is not UTF-8\n")


def test_a_server_that_the_file_does_not_have_starts_none(thrall):
    write(**{"a\x1b": {"command": "touch", "args": ["started"]}, "b": CRASH})
    assert thrall("pin", "c.json", "b", "d", "--from", "mcp.json") == (
        3,
        b"",
        r"thrall: mcp.json has no server d; it has a\x1b, b" + "\n",
    )
    assert os.listdir() == ["mcp.json"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--update"], "--from and --update exclude each other"),
        (["--", "s"], "a server behind -- and --from exclude each other"),
        (["--name", "x"], "with --from, --prefix needs one NAME, and --name is of no use"),
        (["--prefix", "x"], "with --from, --prefix needs one NAME, and --name is of no use"),
        (["a", "b", "--prefix", "x"], "with --from, --prefix needs one NAME, and --name is of no use"),
        (["--url", "http://h/"], "--url and --from exclude each other"),
        (["--header", "A: b"], f"with --from, {USELESS}"),
        (["--env", "A"], f"with --from, {USELESS}"),
        (["--clean-env"], f"with --from, {USELESS}"),
        (["--cwd", "d"], f"with --from, {USELESS}"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_together_are_refused(thrall, words, sentence):
    write(a=CRASH, b=CRASH)
    split = words.index("--") if "--" in words else len(words)
    ran = thrall("pin", "c.json", "--from", "mcp.json", "--yes", *words[:split], *words[split:])
    assert ran == (2, b"", f"thrall: {sentence}\n")


def test_one_that_is_new_is_not_told_as_pinned_while_a_person_is_asked_about_another(
    thrall, pin, replaced, terminal, typist
):
    offer = pin("a")
    launch = json.loads(Path("c.json").read_text())["servers"]["a"]
    offering("a", **{**offer, "tools": [{**TOOLS[0], "description": "New."}, TOOLS[1]]})
    program, *args = launch["command"]
    again = {"command": program, "args": args, "cwd": "a"}
    os.mkdir("n")
    offering("n", serverInfo={"name": "n", "version": "1"}, tools=[{"name": "only"}])
    new = {**again, "cwd": "n"}
    Path("m.json").write_text(json.dumps({"mcpServers": {"a": again, "n": new}}))
    before = Path("c.json").read_bytes()
    for descriptor in (0, 2):
        replaced(descriptor, terminal.theirs)
    typist(b"n\n")
    ran = thrall("pin", "c.json", "--from", "m.json")
    assert (ran.status, Path("c.json").read_bytes()) == (1, before)
    assert "thrall: n: 1 tool, to be pinned; hints are the server's own word" in ran.err
    assert "thrall: a: 2 tools\n" in ran.err


def test_a_name_that_begins_with_a_dash_is_refused_before_anything_is_started(thrall):
    Path("m.json").write_text(json.dumps({"mcpServers": {"-x": {"command": "none"}}}))
    ran = thrall("pin", "c.json", "--from", "m.json")
    assert (ran.status, ran.err) == (
        3,
        "thrall: -x: the name of a server is empty, or begins with a dash: rename it in the file\n",
    )
