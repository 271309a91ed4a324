"""What a server asks of the user, in a session."""

import json
import signal

import pytest
from fakes import Answering, Script, error, message, result, session_over

from thrall_py.errors import InputNeededError, Interrupted, ServerError, TimedOutError
from thrall_py.protocol import mcp, tools
from thrall_py.protocol.user import declaring

FORM = {"message": "Who?", "requestedSchema": {"properties": {"name": {"type": "string"}}}}
ASKED = message(id="q", method="elicitation/create", params=FORM)
MODERN = mcp.ServerInfo(mcp.MODERN)


def request(script, user=None):
    return session_over(script, user=user).request("tools/call", "{}", 10)


def test_a_legacy_server_is_told_what_the_user_says():
    user = Answering()
    script = Script(ASKED, result(1, content=[]))
    assert request(script, user).load() == {"content": []}
    assert user.asked == [{"": FORM}]
    told = {"jsonrpc": "2.0", "id": "q", "result": {"action": "accept", "content": {"n": 1}}}
    assert script.sent[1:] == [told]


@pytest.mark.parametrize(
    ("asked", "modes", "code"),
    [
        (ASKED, None, -32601),
        (message(id="q", method="roots/list"), ("form",), -32601),
        (message(id="q", method="elicitation/create", params={"mode": "url"}), ("form",), -32602),
        (message(id="q", method="elicitation/create", params={"mode": "?"}), ("form",), -32602),
        (message(id="q", method="elicitation/create", params={"mode": 7}), ("form",), -32602),
    ],
)
def test_what_was_not_declared_is_refused_and_the_call_goes_on(asked, modes, code):
    user = modes and Answering(*modes)
    script = Script(asked, result(1))
    assert request(script, user).load() == {}
    assert script.sent[1]["error"]["code"] == code
    assert not user or user.asked == []


UNREADABLE = message(id="q", method="elicitation/create", params={"requestedSchema": []})
WHY = "its requestedSchema is not an object"


def test_nobody_is_asked_with_a_form_that_cannot_be_read_but_told_of_it():
    user = Answering("form")
    script = Script(UNREADABLE, UNREADABLE, result(1))
    assert request(script, user).load() == {}
    refused = {"code": -32602, "message": f"the form cannot be read ({WHY})"}
    assert [each["error"] for each in script.sent[1:]] == [refused] * 2
    assert user.asked == []
    assert user.refusals == [
        f"the server asked with a form that cannot be read, which was refused ({WHY})"
    ]


@pytest.mark.parametrize("user", [None, Answering("form")])
@pytest.mark.parametrize("end", [error(1, -32000, "no"), result(1, content=[], isError=True)])
def test_a_call_that_fails_after_such_a_form_fails_because_of_it(user, end):
    session = session_over(Script(UNREADABLE, end), user=user)
    with pytest.raises(ServerError) as failed:
        tools.call(session, "t", "{}", 10, 1 << 20)
    assert str(failed.value) == (
        f"the server asked with a form that cannot be read ({WHY}) during tools/call"
        "; the tool may have run"
    )


def test_a_hundred_questions_are_enough_for_one_call():
    user = Answering()
    script = Script(respond=lambda _: [ASKED])
    with pytest.raises(ServerError) as failed:
        request(script, user)
    assert len(user.asked) == 100
    assert str(failed.value) == (
        "the server asked its user more than 100 questions during tools/call; the tool may have run"
    )


def test_whoever_answers_can_see_whether_the_server_is_there():
    class Looking(Answering):
        def answer(self, requests, redact, has_ended):
            looks.append(has_ended())
            return super().answer(requests, redact, has_ended)

    looks = []
    script = Script(ASKED, ASKED, result(1))
    script.has_ended = iter([False, True]).__next__
    request(script, Looking())
    assert looks == [False, True]


def test_input_that_is_not_given_cancels_the_call():
    script = Script(ASKED)
    with pytest.raises(InputNeededError, match="^give a; the tool may have run$"):
        request(script, Answering(failure=InputNeededError("give a")))
    assert script.sent[1]["params"] == {"requestId": 1, "reason": "input was not given"}


def test_a_signal_while_the_user_is_asked_cancels_the_call():
    script = Script(ASKED)
    with pytest.raises(Interrupted):
        request(script, Answering(failure=Interrupted(signal.SIGINT)))
    assert script.sent[1]["params"] == {"requestId": 1, "reason": "interrupted"}


def test_the_deadline_does_not_run_while_the_user_is_asked():
    script = Script(6.0, ASKED, 3.0, result(1))
    request(script, Answering(script=script, takes=100.0))
    assert script.now == 109.0


def test_the_deadline_of_the_server_is_as_long_as_ever():
    script = Script(6.0, ASKED, 5.0, result(1))
    with pytest.raises(TimedOutError, match="^no answer to tools/call in 10 s"):
        request(script, Answering(script=script, takes=100.0))
    assert script.now == 110.0


# -- 2026-07-28 --------------------------------------------------------------------------------


def rounds(*results, user=None, script=None):
    """The result of a call to a modern server with these results, and what was sent."""
    left = list(results)
    script = script or Script()
    script.respond = lambda asked: [result(asked["id"], **left.pop(0))]
    session = session_over(script, user=user)
    session.server = MODERN
    return tools.call(session, "t", '{"a": 1.0}', 10, 1 << 20).load(), script.sent


def wants(names="q", **more):
    requests = {name: {"method": "elicitation/create", "params": FORM} for name in names}
    return {"resultType": "input_required", "inputRequests": requests, **more}


def test_a_modern_call_comes_back_with_the_responses_and_the_state():
    state = 'b\u00fc"\u2713'
    answer, sent = rounds(wants("pq", requestState=state), {"content": []}, user=Answering())
    assert answer == {"content": []}
    first, second = sent
    assert first["id"] != second["id"]
    assert {**first["params"], **second["params"]} == second["params"]
    agreed = {"action": "accept", "content": {"n": 1}}
    assert second["params"]["inputResponses"] == {"p": agreed, "q": agreed}
    assert second["params"]["requestState"] == state
    for each in sent:
        declared = each["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
        assert declared == {"elicitation": {"form": {}, "url": {}}}


@pytest.mark.parametrize("state", [{}, {"requestState": None}])
def test_without_a_state_none_comes_back(state):
    _, (_, second) = rounds(wants(**state), {}, user=Answering())
    assert "requestState" not in second["params"]


def test_each_round_brings_its_own_responses_only():
    results = (
        wants("p", requestState="1"),
        wants("q"),
        {"resultType": "input_required", "requestState": "3"},
    )
    _, sent = rounds(*results, {}, user=Answering())
    responses = [each["params"].get("inputResponses") for each in sent]
    states = [each["params"].get("requestState") for each in sent]
    assert [each and list(each) for each in responses] == [None, ["p"], ["q"], None]
    assert states == [None, "1", None, "3"]


def test_ten_rounds_are_enough():
    user = Answering()
    with pytest.raises(ServerError, match="asked 10 times to come back"):
        rounds(*[wants()] * 10, user=user)
    assert len(user.asked) == 10


def test_the_deadline_of_a_modern_call_stands_still_too():
    script = Script()
    answer, _ = rounds(
        wants(), wants(), {"content": []}, script=script, user=Answering(script=script, takes=100.0)
    )
    assert answer == {"content": []}


def test_nothing_is_declared_where_nobody_answers():
    with pytest.raises(
        InputNeededError, match=r'^the server needs .*: q .*"Who\?" with the fields name'
    ):
        rounds(wants())


def test_one_request_that_is_none_for_a_user_keeps_all_from_being_asked():
    user = Answering()
    requests = {**wants()["inputRequests"], "r": {"method": "roots/list"}}
    with pytest.raises(InputNeededError, match=r"; r \(roots/list\)$"):
        rounds(wants(inputRequests=requests), user=user)
    assert user.asked == []


def test_initialize_declares_what_the_user_can_answer():
    from thrall_py.protocol.handshake import Handshake

    def respond(asked):
        if asked["method"] == "server/discover":
            return [error(asked["id"])]
        capabilities = json.dumps(asked.get("params", {}).get("capabilities"))
        declared.append(capabilities)
        return [result(asked["id"], protocolVersion="2025-11-25")] if "id" in asked else []

    declared = []
    Handshake(lambda: session_over(Script(respond=respond), user=Answering("form")), 10).negotiate()
    assert declared[0] == '{"elicitation": {"form": {}}}'


@pytest.mark.parametrize("user", [None, Answering()])
def test_a_modern_form_that_cannot_be_read_is_an_unusable_answer(user):
    asked = {"q": {"method": "elicitation/create", "params": {"requestedSchema": []}}}
    with pytest.raises(ServerError) as failed:
        rounds(wants(inputRequests=asked), user=user)
    assert str(failed.value) == (
        f"the server asked with a form that cannot be read ({WHY}) during tools/call"
        "; the tool may have run"
    )
    assert not user or user.asked == []


def test_a_hundred_questions_may_come_at_once_and_no_more():
    names = [str(number) for number in range(101)]
    rounds(wants(names[:100]), {}, user=Answering())
    with pytest.raises(ServerError, match="asked its user more than 100 questions"):
        rounds(wants(names), user=Answering())


# -- more is declared than can be answered -----------------------------------------------------


def test_without_pinned_modes_a_user_is_declared_as_he_is():
    user = Answering("form")
    assert declaring((), user) is user
    assert declaring((), None) is None


def test_what_was_refused_is_told_by_whoever_answers():
    user = Answering("form")
    user.refusals.append("no")
    assert declaring(("form",), user).refusals == ["no"]
    assert declaring(("form",), None).refusals == []


@pytest.mark.parametrize(
    ("pinned", "user", "modes"),
    [
        (("form", "url"), None, ("form", "url")),
        (("form", "url"), Answering("form"), ("form", "url")),
        (("url",), Answering("form"), ("form", "url")),
        (("form",), Answering("form", "url"), ("form", "url")),
    ],
)
def test_what_was_declared_for_the_pin_is_declared_beside_what_can_be_answered(pinned, user, modes):
    declared = declaring(pinned, user)
    assert (declared.modes, declared.listed_with) == (modes, pinned)
    assert list(declared.unused) == list(user.unused if user else ())


def test_what_can_be_answered_is_answered_and_the_rest_refused():
    user = Answering("form")
    script = Script(ASKED, result(1, content=[]))
    assert request(script, declaring(mcp.MODES, user)).load() == {"content": []}
    page = message(id="q", method="elicitation/create", params={"mode": "url", "url": "http://h"})
    for asked, whom in ((page, user), (ASKED, None)):
        with pytest.raises(InputNeededError, match="^the server needs input that was not given"):
            request(Script(asked), declaring(mcp.MODES, whom))
    assert user.asked == [{"": FORM}]
