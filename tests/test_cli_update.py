"""`thrall pin --update`: what is in a catalog is pinned again, and a person is asked."""

import json
import os
import signal
from pathlib import Path

import pytest
from loopback import modern
from servers import MODERN, TOOLS, command, offering

from thrall_py.transport import stdio

CHANGED = [{**TOOLS[0], "description": "New."}, TOOLS[1]]
DIFFERENCE = b'  echo: description: text, changed\n    - "Say it again."\n    + "New."\n'
HEADED = b"a: 1 difference (1 text)\n" + DIFFERENCE
WRITTEN = "thrall: c.json: written\n"
HEAD = "2 tools"
UPDATE = ("pin", "c.json", "--update")


def description(name="a"):
    catalog = json.loads(Path("c.json").read_text())
    return catalog["servers"][name]["tools"]["echo"]["definition"]["description"]


@pytest.fixture
def drifted(pin):
    """Pin two servers, of which the first offers something else now."""
    offer = pin("a")
    pin("b")
    offering("a", **{**offer, "tools": CHANGED})
    return Path("c.json").read_bytes()


@pytest.fixture
def answering(replaced, terminal, typist):
    """Call with what a person at the terminal answers, and has typed before, in the test itself."""

    def answer(words, ahead=b""):
        replaced(0, terminal.theirs)
        replaced(2, terminal.theirs)
        return typist(words, ahead)

    return answer


@pytest.mark.usefixtures("drifted")
def test_all_servers_are_pinned_again(thrall):
    ran = thrall(*UPDATE, "--yes")
    assert (ran.status, ran.out) == (0, HEADED)
    assert ran.err == f"thrall: a: {HEAD}\nthrall: b: {HEAD}\n{WRITTEN}"
    assert description() == "New."
    assert thrall("check", "c.json") == (0, b"a: as pinned\nb: as pinned\n", "")


@pytest.mark.usefixtures("drifted")
def test_a_named_server_is_pinned_again_alone(thrall):
    ran = thrall(*UPDATE, "b", "--yes")
    assert (ran.status, ran.out, ran.err) == (0, b"", f"thrall: b: {HEAD}\n")
    assert description() == "Say it again."
    assert thrall(*UPDATE, "a", "--yes").out == HEADED
    assert description() == "New."


def revision():
    return json.loads(Path("c.json").read_text())["servers"]["a"]["protocol"]


@pytest.mark.usefixtures("drifted")
def test_a_server_of_the_legacy_era_is_not_probed_again_and_may_have_moved_on_in_it(thrall):
    older = ("--protocol", "2024-11-05", "--cwd", "a", "--", *command("good"))
    assert thrall("pin", "c.json", *older).status == 0
    assert revision() == "2024-11-05"
    ran = thrall(*UPDATE, "a", "--yes", "--verbose")
    assert ran.status == 0
    assert "sent initialize" in ran.err
    assert "server/discover" not in ran.err
    assert revision() == "2025-11-25"


def test_a_server_that_refuses_its_era_is_probed(thrall, pin):
    offer = pin("a")
    offering("a", **{**offer, "refuses": ["initialize"]})
    ran = thrall(*UPDATE, "--yes", "--verbose")
    assert ran.status == 5
    assert "sent server/discover (the probe)" in ran.err


def test_a_modern_server_on_a_url_is_asked_what_it_is(thrall, serve):
    server = serve(modern())
    assert thrall("pin", "c.json", "--name", "a", "--url", server.url).status == 0
    before = Path("c.json").read_bytes()
    ran = thrall(*UPDATE, "--yes")
    assert (ran.status, revision()) == (0, MODERN)
    assert Path("c.json").read_bytes() == before


def test_a_dry_run_asks_nobody_and_writes_nothing(thrall, drifted):
    ran = thrall(*UPDATE, "--dry-run")
    assert (ran.status, ran.out) == (1, HEADED)
    assert thrall(*UPDATE, "--dry-run", "--yes").status == 1
    assert thrall(*UPDATE, "b", "--dry-run").status == 0
    assert Path("c.json").read_bytes() == drifted


def test_without_a_terminal_nobody_can_be_asked(thrall, drifted):
    assert thrall(*UPDATE) == (
        2,
        b"",
        "thrall: --update asks before it writes: say --yes, or --dry-run to look only\n",
    )
    assert Path("c.json").read_bytes() == drifted


@pytest.mark.parametrize("descriptor", [0, 2])
def test_one_descriptor_at_a_terminal_is_not_enough(
    thrall, drifted, replaced, terminal, descriptor
):
    replaced(descriptor, terminal.theirs)
    replaced(2 - descriptor, os.open(os.devnull, os.O_RDWR))
    assert thrall(*UPDATE).status == 2
    assert Path("c.json").read_bytes() == drifted


def test_yes_is_written(thrall, drifted, answering):
    end = answering(b"y\n")
    ran = thrall(*UPDATE)
    assert (ran.status, ran.out) == (0, HEADED)
    assert b"1 difference (1 text): write this to the catalog? [y/N] " in end()
    assert ran.err.endswith(WRITTEN)
    assert description() == "New."
    assert Path("c.json").read_bytes() != drifted


@pytest.mark.parametrize("typed", [b"n\n", b"\n", b"\x04"])
def test_anything_else_is_not(thrall, drifted, answering, typed):
    answering(typed)
    ran = thrall(*UPDATE)
    assert (ran.status, ran.out) == (1, HEADED)
    assert ran.err.endswith("\nthrall: c.json: nothing was written\n")
    assert Path("c.json").read_bytes() == drifted


@pytest.mark.parametrize("meanwhile", ["b", None])
def test_a_catalog_that_was_changed_meanwhile_is_not_written(
    thrall, drifted, answering, monkeypatch, meanwhile
):
    catalog = json.loads(drifted)
    catalog["servers"].pop(meanwhile, None)
    changed = json.dumps(catalog).encode() if meanwhile else None

    def answer(_question, _interrupts):
        if changed:
            Path("c.json").write_bytes(changed)
        else:
            os.unlink("c.json")
        return True

    answering(b"")
    monkeypatch.setattr(stdio, "ask", answer)
    ran = thrall(*UPDATE)
    assert (ran.status, ran.out) == (3, HEADED)
    assert ran.err.endswith(
        "thrall: c.json: the catalog was changed meanwhile, so nothing was written\n"
    )
    assert (Path("c.json").read_bytes() if os.path.exists("c.json") else None) == changed


def test_one_that_was_changed_into_the_same_is_written(thrall, drifted, answering, monkeypatch):
    def answer(_question, _interrupts):
        Path("c.json").write_bytes(json.dumps(json.loads(drifted)).encode())
        return True

    answering(b"")
    monkeypatch.setattr(stdio, "ask", answer)
    assert thrall(*UPDATE)[:2] == (0, HEADED)
    assert description() == "New."


def test_where_nothing_changed_nobody_is_asked(thrall, pin, answering):
    pin("a")
    before = Path("c.json").read_bytes()
    end = answering(b"n\n")
    assert (thrall(*UPDATE)[:2], Path("c.json").read_bytes()) == ((0, b""), before)
    assert b"[y/N]" not in end()


def test_another_version_is_written_without_a_question(thrall, pin, answering):
    offer = pin("a")
    offering("a", **{**offer, "serverInfo": {"name": "a", "version": "2"}})
    answering(b"n\n")
    assert thrall(*UPDATE)[:2] == (0, b"")
    assert json.loads(Path("c.json").read_text())["servers"]["a"]["server"]["version"] == "2"


def test_a_signal_instead_of_an_answer_writes_nothing(thrall, drifted, answering, monkeypatch):
    answering(b"")
    ask = stdio.ask

    def interrupted(question, interrupts):
        os.kill(os.getpid(), signal.SIGINT)
        return ask(question, interrupts)

    monkeypatch.setattr(stdio, "ask", interrupted)
    assert thrall(*UPDATE)[:2] == (128 + signal.SIGINT, HEADED)
    assert Path("c.json").read_bytes() == drifted


@pytest.mark.usefixtures("drifted")
def test_a_server_that_fails_keeps_no_other_from_being_written(thrall, answering):
    catalog = json.loads(Path("c.json").read_text())
    catalog["servers"]["b"]["command"] = ["no-such"]
    Path("c.json").write_text(json.dumps(catalog))
    answering(b"y\n")
    ran = thrall(*UPDATE)
    assert (ran.status, ran.out) == (127, HEADED)
    assert ran.err.startswith("thrall: b: the program no-such was not found\n")
    assert description() == "New."


def test_no_keeps_the_status_of_a_failure(thrall, drifted, answering):
    catalog = json.loads(drifted)
    catalog["servers"]["b"]["command"] = ["no-such"]
    Path("c.json").write_text(json.dumps(catalog))
    answering(b"n\n")
    assert thrall(*UPDATE)[:2] == (127, HEADED)
    assert json.loads(Path("c.json").read_text()) == catalog


def test_if_all_fail_nobody_is_asked(thrall, pin, answering):
    pin("a")
    offering("a", tools=[{}])
    end = answering(b"y\n")
    assert thrall(*UPDATE).status == 4
    assert b"[y/N]" not in end()


def test_what_it_was_pinned_with_is_kept_or_given_anew(thrall, pin):
    pin("b")
    assert thrall(*UPDATE, "b", "--yes", "--prefix", "x_", "--only", "e*").status == 0
    held = json.loads(Path("c.json").read_text())["servers"]["b"]
    assert (held["prefix"], held["only"], list(held["tools"])) == ("x_", ["e*"], ["echo"])
    assert thrall(*UPDATE, "--yes").status == 0
    assert json.loads(Path("c.json").read_text())["servers"]["b"] == held


# -- what is refused ---------------------------------------------------------------------------


def test_a_server_that_the_catalog_does_not_have_starts_none(thrall, drifted):
    ran = thrall(*UPDATE, "--yes", "a", "x")
    assert ran == (3, b"", "thrall: the catalog has no server x\n")
    assert Path("c.json").read_bytes() == drifted


@pytest.mark.parametrize("text", [None, "", '{"thrall": 1, "servers": {}}'])
def test_a_catalog_without_servers_has_nothing_to_be_pinned_again(thrall, text):
    if text is not None:
        Path("c.json").write_text(text)
    assert thrall(*UPDATE, "--yes") == (
        3,
        b"",
        "thrall: c.json has no servers, so there is nothing to pin\n",
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--", "s"], "a server behind -- and --update exclude each other"),
        (["--name", "x"], "with --update, --prefix needs one NAME, and --name is of no use"),
        (["--prefix", "x"], "with --update, --prefix needs one NAME, and --name is of no use"),
        (["--url", "http://h/"], "--url and --update exclude each other"),
        *(
            (words, "with --update, --env, --cwd, --header and the like are of no use")
            for words in (["--cwd", "x"], ["--header", "A: b"], ["--bearer-env", "A"])
        ),
    ],
)
def test_options_that_do_not_fit_together_are_refused(
    thrall, drifted, monkeypatch, words, sentence
):
    monkeypatch.setenv("A", "x")
    for yes in ((), ("--yes",)):
        assert thrall(*UPDATE, *yes, *words) == (2, b"", f"thrall: {sentence}\n")
    assert Path("c.json").read_bytes() == drifted


@pytest.mark.parametrize("option", ["--prefix", "--only", "--except"])
def test_what_is_not_utf_8_starts_none(thrall, drifted, option):
    ran = thrall(*UPDATE, "a", "--yes", option, "\udcff")
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err.endswith("\\udcff is not UTF-8\n")
    assert Path("c.json").read_bytes() == drifted


def test_stdout_is_no_catalog_that_is_there(thrall):
    assert thrall("pin", "-", "--update", "--yes") == (
        2,
        b"",
        "thrall: --update needs a catalog that is there\n",
    )


def test_a_yes_that_was_typed_before_the_question_is_none(thrall, drifted, answering):
    answering(b"\n", ahead=b"y\n")
    assert thrall(*UPDATE).status == 1
    assert Path("c.json").read_bytes() == drifted


# -- a pin over an earlier one -----------------------------------------------------------------


def over(*words):
    return ("pin", "c.json", *words, "--cwd", "a", "--", *command("good"))


@pytest.mark.usefixtures("drifted")
def test_in_a_script_a_pin_over_another_is_written_at_once(thrall):
    ran = thrall(*over())
    assert (ran.status, ran.out) == (0, HEADED)
    assert ran.err.endswith(WRITTEN)
    assert description() == "New."


def test_at_a_terminal_it_is_asked_about(thrall, drifted, answering):
    shown = answering(b"n\n")
    ran = thrall(*over())
    assert (ran.status, ran.out) == (1, HEADED)
    assert b"1 difference (1 text): write this to the catalog? [y/N] " in shown()
    assert f"thrall: a: {HEAD}\n" in ran.err
    assert ran.err.endswith("\nthrall: c.json: nothing was written\n")
    assert Path("c.json").read_bytes() == drifted
    answering(b"y\n")
    assert thrall(*over())[:2] == (0, HEADED)
    assert description() == "New."


@pytest.mark.usefixtures("drifted")
def test_with_yes_nobody_is_asked_about_it(thrall, answering):
    shown = answering(b"n\n")
    assert thrall(*over("--yes"))[:2] == (0, HEADED)
    assert b"[y/N]" not in shown()
    assert description() == "New."


def test_what_is_new_or_cosmetic_is_not_asked_about(thrall, pin, answering):
    offer = pin("a")
    offering("a", **{**offer, "tools": [{**TOOLS[0], "_meta": {}}, TOOLS[1]]})
    shown = answering(b"n\n")
    assert thrall(*over()).status == 0
    assert thrall("pin", "new.json", "--", *command("good")).status == 0
    assert b"[y/N]" not in shown()
    assert '"_meta"' in Path("c.json").read_text()


def test_for_stdout_nobody_is_asked(thrall, answering):
    shown = answering(b"n\n")
    assert thrall("pin", "-", "--", *command("good")).status == 0
    assert b"[y/N]" not in shown()


def test_another_way_to_start_it_is_told_and_asked_about(thrall, pin, answering):
    pin("a")
    before = Path("c.json").read_bytes()
    shown = answering(b"n\n")
    words = ("--name", "a", "--env", "A=hunter22", "--cwd", "a", "--", *command("good"))
    ran = thrall("pin", "c.json", *words)
    assert (ran.status, ran.out) == (
        1,
        b"a: started or reached in another way\n  env: added, A\n",
    )
    asked = b"started or reached in another way: write this to the catalog? [y/N] "
    assert asked in shown()
    assert Path("c.json").read_bytes() == before


def edit(name):
    """Write into the description of a tool of the catalog, as a person might with an editor."""
    catalog = json.loads(Path("c.json").read_text())
    catalog["servers"][name]["tools"]["echo"]["definition"]["description"] = "Mine."
    Path("c.json").write_text(json.dumps(catalog, indent=2))


UNDONE = 'warning: the definition of "echo" was edited in the catalog: this undoes it'
REFUSED = "thrall: c.json is no usable catalog: its server 'a': the definition of 'echo' does not"


@pytest.fixture
def edited(pin):
    pin("a")
    pin("b")
    before = Path("c.json").read_bytes()
    edit("a")
    return before


@pytest.mark.parametrize("words", [(*UPDATE, "a", "--yes"), over()])
def test_what_was_edited_is_pinned_again(thrall, edited, words):
    assert thrall("check", "c.json").err.startswith(REFUSED)
    ran = thrall(*words)
    assert (ran.status, ran.out) == (0, b"")
    assert f"thrall: a: {UNDONE}\n" in ran.err
    assert Path("c.json").read_bytes() == edited


@pytest.mark.usefixtures("edited")
def test_a_pin_of_another_server_does_not_hide_that_one_was_edited(thrall):
    assert thrall(*UPDATE, "b", "--yes").status == 0
    assert description() == "Mine."
    ran = thrall("check", "c.json")
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err.startswith(REFUSED)


@pytest.mark.usefixtures("edited")
def test_an_edited_server_that_offers_something_else_now_is_compared_with_what_stands_there(thrall):
    offering("a", tools=CHANGED)
    ran = thrall(*UPDATE, "a", "--yes")
    assert ran.status == 0
    assert b'    - "Mine."\n    + "New."\n' in ran.out
    assert UNDONE in ran.err


@pytest.mark.usefixtures("edited")
def test_an_edited_server_can_be_removed(thrall):
    assert thrall("unpin", "c.json", "a") == (0, b"", "thrall: a: removed, with 2 tools\n")
    assert thrall("check", "c.json") == (0, b"b: as pinned\n", "")
