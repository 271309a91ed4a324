import fcntl
import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from servers import TOOLS, command, offering

from thrall_py import cli

GOOD = ("--", *command("good"))
HEAD = "2 tools pinned; hints are the server's own word, nobody has verified them"
WOULD = "would pin 2 tools; nothing was written"


def servers(path="c.json"):
    """The servers of a catalog, by name."""
    return json.loads(Path(path).read_text())["servers"]


def test_a_pin_is_written_and_told(thrall):
    ran = thrall("pin", "c.json", *GOOD)
    assert (ran.status, ran.out) == (0, b"")
    assert ran.err == (
        f"thrall: fake: {HEAD}\n"
        "thrall: fake:   echo  (no hints)\n"
        "thrall: fake:   fail  (read-only)\n"
    )
    assert list(json.loads(Path("c.json").read_text())["servers"]["fake"]["tools"]) == [
        "echo",
        "fail",
    ]


def test_a_pin_for_stdout_leaves_no_file(thrall):
    ran = thrall("pin", "-", *GOOD)
    assert ran.status == 0
    assert json.loads(ran.out)["servers"]["fake"]["command"] == list(GOOD[1:])
    assert os.listdir() == []


def test_a_variable_is_filled_in_and_pinned_as_it_was_written(thrall, monkeypatch, graveyard):
    monkeypatch.setenv("STORY", graveyard.path)
    ran = thrall("pin", "-", "--env", "A=hunter22", "--", *command("good", "${STORY}"))
    assert graveyard.words() == ["eof"]
    pinned = json.loads(ran.out)["servers"]["fake"]
    assert pinned["command"][-1] == "${STORY}"
    assert pinned["env"] == {"A": "${A}"}
    assert b"hunter22" not in ran.out


def test_a_person_at_a_terminal_gets_a_table(thrall, replaced, terminal):
    replaced(2, terminal.theirs)
    ran = thrall("pin", "c.json", *GOOD)
    assert ran.status == 0
    assert "hints (unverified)" in ran.err
    assert "Say it again." in ran.err


def test_what_is_odd_about_a_server_is_a_warning(thrall):
    offering(tools=[])
    assert thrall("pin", "c.json", *GOOD).err.endswith(
        "thrall: fake: warning: no tools: the pin is empty\n"
    )


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("no/c.json", "cannot write no/c.json: there is no directory {}/no"),
        ("text", "text is no usable catalog: not JSON: Expecting value: line 1 column 1 (char 0)"),
    ],
)
def test_a_pin_that_cannot_be_written_starts_nothing(thrall, path, sentence):
    Path("text").write_text("text")
    ran = thrall("pin", path, "--", "no-such-program")
    assert ran == (3, b"", f"thrall: {sentence.format(os.getcwd())}\n")


def test_without_stdout_no_pin_for_it_is_started(thrall, replaced, graveyard):
    replaced(1)
    ran = thrall("pin", "-", "--", *command("good", graveyard.path))
    assert (ran.status, ran.err) == (
        3,
        "thrall: stdout is closed, so there is no place for an answer\n",
    )
    with pytest.raises(AssertionError, match="none has opened the FIFO"):
        graveyard.words()


def test_without_stdout_a_pin_is_written_to_its_file(thrall, replaced):
    replaced(1)
    assert thrall("pin", "c.json", *GOOD).status == 0
    assert list(json.loads(Path("c.json").read_text())["servers"]) == ["fake"]


def test_a_server_that_cannot_be_pinned_leaves_the_catalog_as_it_was(thrall):
    thrall("pin", "c.json", *GOOD)
    before = Path("c.json").read_bytes()
    offering(tools=[{}])
    ran = thrall("pin", "c.json", *GOOD)
    assert (ran.status, ran.out) == (4, b"")
    assert ran.err == "thrall: fake: entry 1 of the server's tools has no name\n"
    assert Path("c.json").read_bytes() == before


def test_a_server_that_is_pinned_again_is_told_of_by_its_name_in_the_catalog(thrall):
    thrall("pin", "c.json", "--name", "mine", *GOOD)
    offering(serverInfo={"name": "another", "version": "2"})
    ran = thrall("pin", "c.json", "--verbose", *GOOD)
    assert (ran.status, list(servers())) == (0, ["mine"])
    *lines, last = ran.err.splitlines()
    assert {line.split(":")[1] for line in lines} == {" mine"}
    assert last == "thrall: c.json: written"


def test_the_same_server_in_other_surroundings_can_take_the_place_of_its_pin(thrall):
    thrall("pin", "c.json", *GOOD)
    offering(serverInfo={"name": "another", "version": "2"})
    ran = thrall("pin", "c.json", "--cwd", ".", *GOOD)
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err == (
        "thrall: c.json: fake and another both have the tool echo:"
        " say --name fake if they are the same server, or give one of them a --prefix\n"
    )
    assert thrall("pin", "c.json", "--cwd", ".", "--name", "fake", *GOOD).status == 0
    assert list(servers()) == ["fake"]


def test_a_signal_during_the_teardown_keeps_a_pin_from_being_written(thrall):
    offering(stop=int(signal.SIGTERM))
    assert thrall("pin", "c.json", *GOOD) == (128 + signal.SIGTERM, b"", "")
    assert os.listdir() == ["server.json"]


# -- what a new pin changes --------------------------------------------------------------------

CHANGED = [{**TOOLS[0], "description": "New."}, TOOLS[1]]
DIFFERENCE = b"""fake: 1 difference (1 text)
  echo: description: text, changed
    - "Say it again."
    + "New."
"""


def test_what_changed_about_an_earlier_pin_is_printed(thrall):
    assert thrall("pin", "c.json", *GOOD).out == b""
    assert thrall("pin", "c.json", *GOOD).out == b""
    offering(tools=CHANGED)
    ran = thrall("pin", "c.json", *GOOD)
    assert (ran.status, ran.out) == (0, DIFFERENCE)
    assert ran.err.endswith("\nthrall: c.json: written\n")
    assert servers()["fake"]["tools"]["echo"]["definition"]["description"] == "New."


def test_a_dry_run_prints_the_same_and_writes_nothing(thrall):
    thrall("pin", "c.json", *GOOD)
    before = Path("c.json").read_bytes()
    same = thrall("pin", "c.json", "--dry-run", *GOOD)
    assert (same.status, same.out) == (0, b"")
    offering(tools=CHANGED)
    ran = thrall("pin", "c.json", "--dry-run", *GOOD)
    assert (ran.status, ran.out) == (1, DIFFERENCE)
    assert ran.err == f"thrall: fake: {WOULD}\n"
    assert Path("c.json").read_bytes() == before


@pytest.mark.parametrize("path", ["new.json", "-"])
def test_a_dry_run_without_an_earlier_pin_lists_the_tools_and_leaves_no_file(thrall, path):
    ran = thrall("pin", path, "--dry-run", *GOOD)
    assert (ran.status, ran.err) == (0, f"thrall: fake: {WOULD}\n")
    assert ran.out == b"echo\tfake\ttext:string\tSay it again.\nfail\tfake\ttext:string\t\n"
    assert os.listdir() == []


def test_a_dry_run_at_a_terminal_lists_them_as_show_does(thrall, replaced, terminal):
    replaced(1, terminal.theirs)
    ran = thrall("pin", "new.json", "--dry-run", *GOOD)
    text = ran.out.decode().replace("\n", "")  # the path of the program may be a long one
    assert text.startswith(f"fake: {GOOD[1]}, version 1, 2 tools")
    assert "echo  text:string  Say it again." in text


def test_what_a_dry_run_lists_has_secrets_masked(thrall):
    offering(tools=[{**TOOLS[0], "description": "My name is hunter22."}])
    ran = thrall("pin", "new.json", "--dry-run", "--env", "A=hunter22", *GOOD)
    assert b"\tMy name is ***.\n" in ran.out


def test_a_dry_run_without_stdout_starts_nothing(thrall, replaced):
    replaced(1)
    assert thrall("pin", "new.json", "--dry-run", "--", "no-such-program").status == 3


def test_what_is_listed_from_a_pin_on_stdout_is_what_a_dry_run_lists(thrall, replaced):
    told = thrall("pin", "-", "--dry-run", *GOOD).out
    read, write = os.pipe()
    os.write(write, thrall("pin", "-", *GOOD).out)
    os.close(write)
    replaced(0, read)
    assert thrall("show", "-") == (0, told, "")


def test_a_dry_run_of_a_server_that_cannot_be_pinned_is_no_verdict(thrall):
    offering(tools=[{}])
    assert thrall("pin", "c.json", "--dry-run", *GOOD).status == 4


def test_a_person_at_a_terminal_gets_what_changed_word_by_word(thrall, replaced, terminal):
    thrall("pin", "c.json", *GOOD)
    offering(tools=[{**TOOLS[0], "description": "Say it\u200b never."}, TOOLS[1]])
    replaced(1, terminal.theirs)
    ran = thrall("pin", "c.json", *GOOD)
    assert ran.status == 0
    assert [line.rstrip() for line in ran.out.decode().splitlines()] == [
        "fake: 1 difference (1 text)",
        "  echo: description: text, changed",
        r"    Say it{+\u200b+} [-again-]{+never+}.",
    ]


def test_tools_that_look_alike_are_a_warning(thrall):
    offering(tools=[TOOLS[0], {**TOOLS[0], "name": "Echo"}])
    assert thrall("pin", "c.json", *GOOD).err.endswith(
        'thrall: fake: warning: names that look alike: "Echo" of fake, "echo" of fake\n'
    )


@pytest.mark.parametrize("words", [("--yes",), ("--jobs=2",)])
def test_what_is_for_several_servers_does_no_harm_to_one(thrall, words):
    assert thrall("pin", "c.json", *words, *GOOD).status == 0


def test_a_secret_in_what_changed_is_masked(thrall):
    words = ("--env", "A=sesame42", *GOOD)
    thrall("pin", "c.json", *words)
    offering(tools=[{**TOOLS[0], "description": "x sesame42 y"}, TOOLS[1]])
    assert b'+ "x *** y"' in thrall("pin", "c.json", "--dry-run", *words).out


# -- names -------------------------------------------------------------------------------------


def test_a_server_is_filed_under_the_name_that_is_given(thrall):
    ran = thrall("pin", "c.json", "--name", "mine", *GOOD)
    assert ran.err.startswith("thrall: mine: 2 tools pinned")
    assert list(servers()) == ["mine"]
    assert servers()["mine"]["server"]["name"] == "fake"
    assert thrall("check", "c.json") == (0, b"mine: as pinned\n", "")


def test_two_servers_with_the_same_tools_need_a_prefix(thrall):
    thrall("pin", "c.json", "--name", "one", *GOOD)
    before = Path("c.json").read_bytes()
    ran = thrall("pin", "c.json", "--name", "other", *GOOD)
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err == (
        "thrall: other: one and other both have the tool echo:"
        " unpin one if they are the same server, or give one of them a --prefix\n"
    )
    assert Path("c.json").read_bytes() == before
    assert thrall("pin", "c.json", "--name", "other", "--prefix", "o_", *GOOD).status == 0
    assert {name: server.get("prefix") for name, server in servers().items()} == {
        "one": None,
        "other": "o_",
    }


def test_a_server_without_a_name_does_not_take_the_place_of_another(thrall):
    offering(serverInfo={})
    thrall("pin", "c.json", *GOOD)
    before = Path("c.json").read_bytes()
    name = os.path.basename(GOOD[1])
    again = ("--", *command("modern"))
    assert thrall("pin", "c.json", *again) == (
        3,
        b"",
        f"thrall: c.json: {name} is another server: give this one a --name\n",
    )
    assert Path("c.json").read_bytes() == before
    assert thrall("pin", "c.json", "--name", "other", "--prefix", "o_", *again).status == 0
    assert sorted(servers()) == sorted([name, "other"])


def test_a_server_without_a_name_can_be_pinned_again_under_the_name_that_is_given(thrall):
    offering(serverInfo={})
    thrall("pin", "c.json", "--name", "mine", *GOOD)
    assert thrall("pin", "c.json", "--name", "mine", "--", *command("modern")).status == 0
    assert servers()["mine"]["command"] == list(command("modern"))


def test_the_prefix_of_an_earlier_pin_stays_until_another_is_given(thrall):
    thrall("pin", "c.json", "--prefix", "p_", *GOOD)
    assert servers()["fake"]["prefix"] == "p_"
    thrall("pin", "c.json", *GOOD)
    assert servers()["fake"]["prefix"] == "p_"
    thrall("pin", "c.json", "--prefix", "", *GOOD)
    assert "prefix" not in servers()["fake"]


def test_a_signal_ends_a_pin_that_waits_for_the_lock(thrall, monkeypatch):
    holder = os.open(".", os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    real = time.sleep

    def interrupted(seconds):
        os.kill(os.getpid(), signal.SIGTERM)
        real(seconds)

    monkeypatch.setattr(time, "sleep", interrupted)
    died = []
    monkeypatch.setattr(cli, "die_by_signal", lambda signum: died.append(signum) or 128 + signum)
    assert thrall("pin", "c.json", *GOOD).status == 143
    os.close(holder)
    assert (died, os.path.exists("c.json")) == ([signal.SIGTERM], False)


# -- credentials -------------------------------------------------------------------------------

TOKEN = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize(
    ("words", "place", "spelling"),
    [
        ((TOKEN,), 4, "'${TOKEN}'"),
        (("--api-key", "abcd1234efgh5678"), 5, "--api-key '${API_KEY}'"),
        (("DB_PASSWORD=x",), 4, "'DB_PASSWORD=${DB_PASSWORD}'"),
        (("https://user:x@host/",), 4, "'${NAME}'"),
    ],
)
def test_a_credential_is_refused_and_nothing_is_started(thrall, words, place, spelling):
    ran = thrall("pin", "c.json", "--", "touch", "started", "x", *words)
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err == (
        f"thrall: c.json: word {place} of the server's command looks like a credential, which does not belong in a"
        f" catalog: write {spelling} and set the variable, or say --allow-literal\n"
    )
    assert os.listdir() == []


def test_a_credential_behind_a_variable_is_pinned_as_the_variable(thrall, monkeypatch):
    monkeypatch.setenv("TOKEN", TOKEN)
    assert thrall("pin", "c.json", *GOOD, "", "${TOKEN}").status == 4  # one word too many for it
    assert thrall("pin", "c.json", "--env", "TOKEN", *GOOD).status == 0
    assert servers()["fake"]["env"] == {"TOKEN": "${TOKEN}"}
    assert TOKEN not in Path("c.json").read_text()


@pytest.mark.parametrize("more", [(), ("--allow-literal",)])
def test_the_value_of_a_secret_variable_in_clear_is_refused_in_any_case(thrall, monkeypatch, more):
    monkeypatch.setenv("MY_TOKEN", "sesame42sesame")
    ran = thrall("pin", "c.json", *more, "--", "touch", "started", "x=sesame42sesame")
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err == (
        "thrall: c.json: word 3 of the server's command holds the value of a secret variable in"
        " clear: write ${NAME} in its place\n"
    )
    assert os.listdir() == []


@pytest.mark.parametrize(
    "words", [("--", "touch", "\udcff"), ("--cwd", "\udcff", "--", "touch", "x")]
)
def test_what_is_not_utf_8_cannot_be_pinned(thrall, words):
    ran = thrall("pin", "c.json", *words)
    assert (ran.status, ran.out, os.listdir()) == (3, b"", [])
    assert ran.err.endswith("\\udcff is not UTF-8\n")


def test_a_word_that_only_looks_like_a_credential_can_be_allowed(thrall, tmp_path):
    fifo = str(tmp_path / TOKEN)
    words = ("--", *command("good", fifo))
    assert thrall("pin", "c.json", *words).status == 3
    os.mkfifo(fifo)
    descriptor = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    assert thrall("pin", "c.json", "--allow-literal", *words).status == 0
    assert os.read(descriptor, 100) == b"eof\n"
    os.close(descriptor)
    assert servers()["fake"]["command"] == list(words[1:])


def test_a_server_that_calls_itself_otherwise_now_is_renewed_where_it_was(thrall):
    thrall("pin", "c.json", *GOOD)
    offering(serverInfo={"name": "renamed"})
    ran = thrall("pin", "c.json", *GOOD)
    assert ran.status == 0
    assert b"server/name: text, changed" in ran.out
    assert [(name, each["server"]["name"]) for name, each in servers().items()] == [
        ("fake", "renamed")
    ]


def test_no_server_gets_a_name_that_an_option_could_have(thrall):
    ran = thrall("pin", "c.json", "--name=-x", "--", *command("good"))
    assert ran.status == 2
    assert "--name may not begin with a dash" in ran.err
    offering(serverInfo={"name": "-x", "version": "1"})
    ran = thrall("pin", "c.json", "--", *command("good"))
    assert (ran.status, ran.err) == (
        3,
        "thrall: c.json: -x begins with a dash, as options do: give it a --name\n",
    )
    assert thrall("pin", "c.json", "--name", "x", "--", *command("good")).status == 0


def test_a_server_that_is_not_found_from_everywhere_is_told_of_once(thrall):
    os.symlink(sys.executable, "python")
    words = ("pin", "c.json", "--", "./python", *GOOD[2:])
    warning = "thrall: fake: warning: the program ./python is looked for from the directory of"
    assert warning in thrall(*words).err
    assert "warning" not in thrall("pin", "c.json", "--update", "--yes").err
