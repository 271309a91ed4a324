"""Tools that a server lists only to clients that can be asked: pinned, checked and called."""

import json
from pathlib import Path

import pytest
from servers import TOOLS, command, offering

ASK = {"name": "ask", "inputSchema": {"type": "object"}}
FORMS_AND_PAGES = {"elicitation": {"form": {}, "url": {}}}
ERAS = ("good", "modern")


def pinned():
    return json.loads(Path("c.json").read_text())["servers"]["fake"]


@pytest.fixture(params=ERAS)
def declared(thrall, request):
    """Pin a server as one that may ask; how it is started."""
    offering(tools=TOOLS, asking=[ASK])
    words = ("--", *command(request.param))
    assert thrall("pin", "c.json", "--elicitation", *words).status == 0
    return words


def test_what_was_declared_is_pinned_with_the_tools_that_it_brings(declared, thrall):
    assert pinned()["clientCapabilities"] == FORMS_AND_PAGES
    assert list(pinned()["tools"]) == ["ask", "echo", "fail"]
    assert thrall("pin", "plain.json", *declared).status == 0
    plain = json.loads(Path("plain.json").read_text())["servers"]["fake"]
    assert (plain["clientCapabilities"], list(plain["tools"])) == ({}, ["echo", "fail"])


@pytest.mark.usefixtures("declared")
def test_check_declares_the_same(thrall):
    assert thrall("check", "c.json") == (0, b"fake: as pinned\n", "")


def test_a_pin_over_it_and_an_update_declare_the_same(thrall, declared):
    before = Path("c.json").read_bytes()
    assert thrall("pin", "c.json", "--update", "--yes")[:2] == (0, b"")
    assert thrall("pin", "c.json", *declared)[:2] == (0, b"")
    assert Path("c.json").read_bytes() == before


@pytest.mark.usefixtures("declared")
def test_a_call_without_anybody_to_answer_compares_the_same_and_ends_with_what_is_asked(thrall):
    assert thrall("call", "echo", "a=1", "--catalog", "c.json").status == 0
    ran = thrall("call", "ask", "a=1", "--catalog", "c.json", "--unverified")
    assert (ran.status, ran.out) == (7, b"")
    ran = thrall("call", "ask", "a=1", "--catalog", "c.json")
    assert (ran.status, ran.out) == (7, b"")
    assert "the server needs input that was not given: " in ran.err
    assert "with the fields name" in ran.err


@pytest.mark.usefixtures("declared")
def test_a_call_with_answers_gives_them_and_tells_of_what_is_left(thrall):
    words = ("a=1", "--catalog", "c.json", "--answer", "name=Ada", "--answer", "more=1")
    ran = thrall("call", "ask", *words)
    assert (ran.status, b'"name": "Ada"' in ran.out) == (0, True)
    assert ran.err == "thrall: ask: nothing asked for the answer more\n"


@pytest.mark.usefixtures("declared")
def test_a_person_at_the_terminal_declares_as_much_already(thrall, replaced, terminal, typist):
    replaced(0, terminal.theirs)
    replaced(2, terminal.theirs)
    typist(b"/decline\n")
    ran = thrall("call", "ask", "a=1", "--catalog", "c.json")
    assert (ran.status, b"decline" in ran.out) == (0, True)


def test_without_the_declaration_the_refusal_says_how_to_pin_such_a_tool(thrall):
    offering(tools=TOOLS, asking=[ASK])
    assert thrall("pin", "c.json", "--", *command("good")).status == 0
    ran = thrall("call", "ask", "a=1", "--catalog", "c.json")
    assert (ran.status, "pin with --elicitation\n" in ran.err) == (3, True)


def test_a_declaration_that_is_new_is_told(thrall):
    words = ("--", *command("good"))
    assert thrall("pin", "c.json", *words).status == 0
    ran = thrall("pin", "c.json", "--elicitation", *words)
    assert (ran.status, ran.out.decode().splitlines()) == (
        0,
        [
            "fake: started or reached in another way",
            "  elicitation: changed",
            "    - none",
            "    + form, url",
        ],
    )
