"""`thrall call` of a tool that asks the user, from options and at a terminal."""

import json

import pytest
from servers import command, offering

LEGACY, MODERN = (("--", *command(name)) for name in ("good", "modern"))
END = "give --answer NAME=VALUE for each, --accept-defaults or --decline"
NOT_GIVEN = "the server needs input that was not given"
OPTIONS = "--answer NAME=VALUE, --accept-defaults or --decline"
ADA = {"action": "accept", "content": {"name": "Ada"}}


@pytest.mark.parametrize("server", [LEGACY, MODERN])
def test_an_answer_goes_to_the_server_and_nowhere_else(thrall, server):
    ran = thrall("call", "ask", "a=1", "--answer", "name=Ada", *server)
    assert (ran.status, json.loads(ran.out)[0], ran.err) == (0, ADA, "")


@pytest.mark.parametrize("server", [LEGACY, MODERN])
def test_answers_may_stand_in_a_file(thrall, server):
    with open("answers.json", "w", encoding="utf-8") as file:
        file.write('{"name":"Ada","more":1}')
    ran = thrall("call", "ask", "a=1", "--answers", "answers.json", *server)
    assert (ran.status, json.loads(ran.out)[0]) == (0, ADA)
    assert ran.err == "thrall: ask: nothing asked for the answer more\n"


@pytest.mark.parametrize("server", [LEGACY, MODERN])
def test_what_is_asked_may_be_declined(thrall, server):
    ran = thrall("call", "ask", "a=1", "--decline", *server)
    assert (ran.status, json.loads(ran.out)[0]) == (0, {"action": "decline"})


@pytest.mark.parametrize(("server", "ran_"), [(LEGACY, "; the tool may have run"), (MODERN, "")])
def test_a_missing_answer_has_a_status_of_its_own(thrall, server, ran_):
    needed = f'the server needs input that was not given: "Who?" wants name (text); {END}'
    needed += f"; nothing asks for the answer x{ran_}"
    assert thrall("call", "ask", "a=1", "--answer", "x=secret", *server) == (
        7,
        b"",
        f"thrall: ask: {needed}\n",
    )


def test_several_answers_in_a_variable_stand_on_lines(thrall, monkeypatch):
    monkeypatch.setenv("THRALL_CALL_ANSWER", "name=Ada Lovelace\nx=1")
    ran = thrall("call", "ask", "a=1", *MODERN)
    assert json.loads(ran.out)[0]["content"] == {"name": "Ada Lovelace"}


def test_without_an_answer_nothing_is_declared_and_all_is_as_ever(thrall):
    assert b'"code": -32601' in thrall("call", "ask", "a=1", *LEGACY).out
    ran = thrall("call", "ask", "a=1", *MODERN)
    assert (ran.status, ran.out) == (7, b"")
    assert 'who (elicitation/create): "Who?" with the fields name (text); give --answer' in ran.err


@pytest.mark.parametrize(
    "refusal",
    [
        {"error": {"code": -32603, "message": "Method not found"}},
        {"result": {"content": [], "isError": True}},
    ],
)
def test_a_legacy_tool_that_fails_because_it_was_not_answered_says_what_it_asked(thrall, refusal):
    offering(refusal=refusal)
    needed = f'{NOT_GIVEN}: elicitation/create: "Who?" with the fields name (text)'
    assert thrall("call", "ask", "a=1", *LEGACY) == (
        7,
        b"",
        f"thrall: ask: {needed}; give {OPTIONS}; the tool may have run\n",
    )


@pytest.mark.parametrize(
    ("modes", "words", "end"),
    [
        ({}, (), f"give {OPTIONS}"),
        ({"form": {}}, (), f"give {OPTIONS}"),
        ({"url": {}}, (), "call from a terminal, or give --decline"),
        (
            {"url": {}, "form": {}},
            ("--accept-defaults",),
            "call from a terminal, or give --decline",
        ),
    ],
)
def test_a_modern_tool_that_wants_somebody_to_be_there_says_what_to_give(thrall, modes, words, end):
    why = {"message": "no", "data": {"requiredCapabilities": {"elicitation": modes}}}
    offering(refuses=["tools/call"], code=-32021, why=why)
    needed = f'{NOT_GIVEN}, and nobody can be asked: it refused tools/call with error -32021: "no"'
    assert thrall("call", "ask", "a=1", *words, *MODERN) == (
        7,
        b"",
        f"thrall: ask: {needed}; {end}\n",
    )


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), {}),
        ((), {"data": []}),
        ((), {"data": {"requiredCapabilities": ["elicitation"]}}),
        ((), {"data": {"requiredCapabilities": {"elicitation": True}}}),
        ((), {"data": {"requiredCapabilities": {"sampling": {}}}}),
        ((), {"data": {"requiredCapabilities": {"elicitation": {}, "sampling": {}}}}),
        (("--decline",), {"data": {"requiredCapabilities": {"elicitation": {}}}}),
        ((), {"code": -32603, "data": {"requiredCapabilities": {"elicitation": {}}}}),
    ],
)
def test_what_no_option_can_give_is_a_refusal_like_others(thrall, words, why):
    offering(refuses=["tools/call"], code=-32021, why=why)
    ran = thrall("call", "ask", "a=1", *words, *MODERN)
    assert (ran.status, ran.out) == (5, b"")
    assert "the server refused tools/call with error -32" in ran.err


def test_options_that_exclude_each_other_are_refused_before_anything_starts(thrall):
    ran = thrall("call", "ask", "a=1", "--decline", "--answer", "name=Ada", "--", "./no-such")
    assert ran.status == 2
    assert "--decline and --answer" in ran.err


def test_a_pinned_tool_asks_as_well(thrall, pin):
    pin("a", tools=[{"name": "ask", "inputSchema": {"type": "object"}}])
    ran = thrall("call", "ask", "a=1", "--catalog", "c.json", "--answer", "name=Ada")
    assert (ran.status, json.loads(ran.out)[0]) == (0, ADA)


def test_a_form_that_cannot_be_read_is_told_of_and_an_unusable_answer(thrall):
    offering(form={"message": "Sure?", "requestedSchema": []})
    why = "its requestedSchema is not an object"
    ran = thrall("call", "ask", "a=1", "--accept-defaults", *LEGACY)
    assert (ran.status, json.loads(ran.out)[0]["code"]) == (0, -32602)
    assert ran.err == (
        "thrall: ask: the server asked with a form that cannot be read, which was refused"
        f" ({why})\n"
    )
    ran = thrall("call", "ask", "a=1", "--accept-defaults", *MODERN)
    assert (ran.status, ran.out) == (4, b"")
    assert ran.err == (
        f"thrall: ask: the server asked with a form that cannot be read ({why})"
        " during tools/call; the tool may have run\n"
    )


# -- at a terminal -----------------------------------------------------------------------------


@pytest.fixture
def at_terminal(thrall, terminal, replaced, typist):
    """Call with what is answered, the words of a command line, and what is typed before."""

    def run(typed, *words, ahead=b""):
        replaced(0, terminal.theirs)
        replaced(2, terminal.theirs)
        end = typist(typed, ahead)
        return thrall(*words), end()

    return run


@pytest.mark.parametrize("server", [LEGACY, MODERN])
def test_a_person_is_asked_at_a_terminal(at_terminal, server):
    ran, shown = at_terminal(b"Ada\n\n", "call", "ask", "a=1", *server)
    assert (ran.status, json.loads(ran.out)[0]) == (0, ADA)
    assert b'thrall: ask: the server asks: "Who?"' in shown


def test_an_option_goes_before_the_person(at_terminal):
    ran, shown = at_terminal(b"", "call", "ask", "a=1", "--answer", "name=Ada", *MODERN)
    declared = {"elicitation": {"form": {}}}
    assert json.loads(ran.out) == [ADA, declared]
    assert shown == b""


@pytest.mark.parametrize("server", [LEGACY, MODERN])
def test_whoever_typed_the_arguments_is_there_to_be_asked_as_well(at_terminal, server):
    ran, shown = at_terminal(b"Ada\n\n", "call", "ask", *server, ahead=b"{}\n\x04")
    assert (ran.status, json.loads(ran.out)[0]) == (0, ADA)
    assert b"the server asks" in shown


def test_a_tool_without_arguments_asks_while_stdin_is_free(at_terminal):
    ran, _ = at_terminal(b"Ada\n\n", "call", "ask", "{}", *MODERN)
    assert (ran.status, json.loads(ran.out)[0]) == (0, ADA)


def test_nobody_is_asked_where_the_arguments_came_from_a_pipe(thrall, feed, replaced, terminal):
    feed(b"{}")
    replaced(2, terminal.theirs)
    assert thrall("call", "ask", *MODERN).status == 7


def test_a_tool_is_not_agreed_to_by_what_was_typed_before_it_asked(at_terminal):
    ran, _ = at_terminal(b"/decline\n", "call", "ask", "a=1", *LEGACY, ahead=b"Ada\n\n")
    assert json.loads(ran.out)[0] == {"action": "decline"}
