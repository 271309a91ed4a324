"""Requests on their way to a server, from clients of either era."""

import asyncio
import gc
import json
import weakref

import pytest
from gateways import (
    EVERYTHING,
    FORM,
    FakeClient,
    answer,
    envelope,
    error,
    made,
    raw,
    request,
    result,
    run,
    until,
    value,
)

from thrall_py.catalog import drift
from thrall_py.catalog.entry import pin_item
from thrall_py.errors import ServerError
from thrall_py.gateway.core.answering import Forward
from thrall_py.gateway.relay import call, outcome, pending, room
from thrall_py.gateway.server import Drifted
from thrall_py.protocol import mcp
from thrall_py.redact import Redactor

DONE = '"result":{"content":[],"n":1.0}'
ASKS = (
    '"result":{"resultType":"input_required","requestState":"s\\u0031","inputRequests":'
    '{"who":{"method":"elicitation/create","params":{"message":"who?"}}}}'
)
ACCEPT = '"result":{"action":"accept","content":{"n":1.0}}'
YES = '"result":{"action":"accept","content":{"approve":true}}'
ECHO = Forward("a", "tools/call", "echo", '"name":"echo","arguments":{"a":1e400}')
PROMPT = Forward("a", "prompts/get", "hello", '"name":"hello"', mcp.PROMPTS)

MODERN = {"_meta": envelope(EVERYTHING)}


def asking(method="elicitation/create", params=FORM):
    """A step: a legacy server asks, and its result is what it was told."""

    async def step(_forward, listener):
        told = await listener.asked(method, value(params) if params else None)
        return f'"result":{{"content":[],"told":{{{told}}}}}'

    return step


def legacy(**params):
    return request(name="echo", arguments={}, **params)


def modern(capabilities=EVERYTHING, **params):
    return request(name="echo", arguments={}, _meta=envelope(capabilities), **params)


def state_of(ended):
    return result(ended)["requestState"]


# -- outcomes ------------------------------------------------------------------------------------


def test_what_a_server_answers_comes_back_to_the_letter():
    relay, server = made(DONE)
    ended = run(relay.run(legacy(), ECHO, FakeClient().exchange()))
    assert (ended.outcome, ended.verdict) == (DONE, "ok")
    assert server.made == [('"name":"echo","arguments":{"a":1e400}', "")]


def test_a_modern_client_gets_what_its_revision_requires():
    relay, _ = made(DONE)
    ended = run(relay.run(modern(), ECHO, FakeClient("2026-07-28").exchange()))
    assert result(ended)["resultType"] == "complete"
    assert '"n":1.0' in ended.outcome


@pytest.mark.parametrize(
    ("answered", "verdict"),
    [
        ('"result":{"content":[],"isError":true}', "isError"),
        ('"result":{"content":[],"isError":false}', "ok"),
        (
            '"error":{"code":-32021,"message":"m","data":{"requiredCapabilities":{}}}',
            "error -32021",
        ),
    ],
)
def test_how_it_ended_is_told(answered, verdict):
    relay, _ = made(answered)
    ended = run(relay.run(legacy(), ECHO, FakeClient().exchange()))
    assert (ended.outcome, ended.verdict) == (answered, verdict)


def test_an_answer_that_is_none_is_an_error():
    ended = outcome.of(answer('"x":1'), FakeClient().facts)
    assert error(ended)["code"] == -32603
    assert ended.verdict == "error None"


@pytest.mark.parametrize("kind", ["null", "5", '"task"', "{}"])
def test_a_result_of_a_type_that_is_none_is_an_error_for_a_modern_client(kind):
    relay, _ = made(f'"result":{{"content":[],"resultType":{kind}}}')
    ended = run(relay.run(modern(), ECHO, FakeClient("2026-07-28").exchange()))
    assert error(ended)["message"] == "the server's answer is of a resultType that is none"
    assert ended.verdict == "failed"


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_a_server_that_fails_is_told_as_the_tools_own_failure(revision):
    relay, _ = made(ServerError("the server exited with status 1"))
    sent = legacy() if revision != mcp.MODERN else modern()
    ended = run(relay.run(sent, ECHO, FakeClient(revision).exchange()))
    assert result(ended)["isError"] is True
    assert result(ended)["content"][0]["text"] == "a/echo: the server exited with status 1"
    assert ended.verdict == "failed"


def test_what_is_no_tool_fails_with_an_error():
    relay, _ = made(ServerError("the server exited with status 1"))
    ended = run(relay.run(request("prompts/get", name="hello"), PROMPT, FakeClient().exchange()))
    assert error(ended) == {"code": -32603, "message": "a/hello: the server exited with status 1"}


def test_a_tool_that_drifted_is_answered_with_what_changed_and_what_to_do():
    before = pin_item({"name": "echo", "description": "a"})
    after = pin_item({"name": "echo", "description": "b\x1b"})
    relay, _ = made(Drifted(drift.compare_tool("echo", before, after), Redactor()))
    ended = run(relay.run(request(name="a_echo"), ECHO, FakeClient().exchange()))
    assert result(ended)["isError"] is True
    assert result(ended)["content"][0]["text"] == (
        "a_echo is not as it was pinned, so it was not called: description changed; a person has to"
        " review it with: thrall check /c.json, pin it again at a terminal with: thrall pin /c.json"
        " --update a, and then start thrall serve again"
    )
    assert ended.verdict == "drift"


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_what_is_no_tool_and_drifted_is_answered_with_an_error_that_says_the_same(revision):
    found = drift.compare_item(mcp.PROMPTS, "hello", pin_item({"name": "hello"}), None)
    relay, _ = made(Drifted(found, Redactor()))
    meta = {"_meta": envelope()} if revision == mcp.MODERN else {}
    asked = request("prompts/get", name="hello", **meta)
    ended = run(relay.run(asked, PROMPT, FakeClient(revision).exchange()))
    assert error(ended) == {
        "code": -32603,
        "message": "hello is not as it was pinned, so it was not asked for: prompts/hello removed;"
        " a person has to review it with: thrall check /c.json, pin it again at a terminal with:"
        " thrall pin /c.json --update a, and then start thrall serve again",
    }
    assert ended.verdict == "drift"


# -- progress and logs ---------------------------------------------------------------------------


def telling(*notes, then=DONE):
    """A step: a server that tells of its progress and of other things."""

    async def step(_forward, listener):
        for kind, params in notes:
            getattr(listener, kind)(raw(params))
        return then

    return step


def test_progress_has_the_clients_own_token_and_is_otherwise_to_the_letter():
    sent = []
    relay, _ = made(telling(("progressed", '{"progressToken":7,"progress":1.50}')))
    client = FakeClient()
    client.take = sent.append
    run(relay.run(legacy(_meta={"progressToken": "mine"}), ECHO, client.exchange()))
    assert sent == [
        '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"mine","progress":1.50}}'
    ]


@pytest.mark.parametrize(
    ("params", "meta"),
    [
        ('{"progressToken":7}', {}),
        ('{"progress":1}', {"progressToken": 1}),
        ('{"progressToken":7}', {"progressToken": 1}),
        ('{"progressToken":7,"progress":"x"}', {"progressToken": 1}),
        ('{"progressToken":7,"progress":null}', {"progressToken": 1}),
        ('{"progressToken":7,"progress":[]}', {"progressToken": 1}),
        ('{"progressToken":7,"progress":1e400}', {"progressToken": 1}),
        ("[]", {"progressToken": 1}),
        ('{"a":1,"\\u0061":1}', {"progressToken": 1}),
    ],
)
def test_progress_that_nobody_asked_for_or_that_is_none_is_dropped(params, meta):
    relay, _ = made(telling(("progressed", params)))
    client = FakeClient()
    run(relay.run(legacy(_meta=meta), ECHO, client.exchange()))
    assert client.sent == []


def test_log_messages_are_passed_on_from_the_level_that_the_client_wants():
    notes = [
        ("logged", f'{{"level":"{level}","data":1}}')
        for level in ("debug", "warning", "error", "loud")
    ]
    relay, _ = made(telling(*notes), telling(*notes))
    client, silent = FakeClient(level="warning"), FakeClient()
    run(relay.run(legacy(), ECHO, client.exchange()))
    run(relay.run(legacy(), ECHO, silent.exchange()))
    assert [message["params"]["level"] for message in client.sent] == ["warning", "error"]
    assert silent.sent == []


def test_a_server_is_told_what_the_client_wants_and_what_it_can_be_asked():
    seen = []

    async def step(_forward, listener):
        seen.append((listener.client, listener.wants_progress, listener.log_level))
        seen.append(json.loads(listener.capabilities))
        return DONE

    relay, _ = made(step)
    run(relay.run(legacy(_meta={"progressToken": 1}), ECHO, FakeClient(level="info").exchange()))
    assert seen[0] == ("me", True, "info")
    assert seen[1].keys() == {"elicitation", "sampling", "roots"}


# -- a legacy server asks ------------------------------------------------------------------------


@pytest.mark.parametrize("params", ['{"message":  "who?"}', None])
def test_a_legacy_client_is_asked_by_a_request(params):
    relay, _ = made(asking("sampling/createMessage", params))
    client = FakeClient()
    client.answers = [ACCEPT]
    ended = run(relay.run(legacy(), ECHO, client.exchange()))
    assert client.sent[0]["method"] == "sampling/createMessage"
    assert client.sent[0]["params"] == ({"message": "who?"} if params else {})
    assert f'"told":{{{ACCEPT}}}' in ended.outcome


def test_a_client_that_did_not_declare_it_is_not_asked():
    relay, _ = made(asking("roots/list"))
    client = FakeClient(capabilities='{"elicitation":{}}')
    ended = run(relay.run(legacy(), ECHO, client.exchange()))
    assert result(ended)["told"]["error"]["code"] == -32601
    assert client.sent == []


def test_what_a_client_refuses_is_told_to_the_server_to_the_letter():
    relay, _ = made(asking())
    client = FakeClient()
    client.answers = ['"error":{"code":-1,"message":"no",  "data":1.0}']
    ended = run(relay.run(legacy(), ECHO, client.exchange()))
    assert '"told":{"error":{"code":-1,"message":"no",  "data":1.0}}' in ended.outcome


def test_a_modern_client_is_asked_by_a_result_and_calls_again_with_the_answer():
    async def story():
        relay, server = made(asking())
        client = FakeClient("2026-07-28")
        first = await relay.run(modern(), ECHO, client.exchange())
        given = {"1": {"action": "decline"}, "extra": {}}
        sent = modern(requestState=state_of(first), inputResponses=given)
        second = await relay.run(sent, ECHO, client.exchange())
        return first, second, server.made

    first, second, requests = run(story())
    assert first.verdict == "input_required"
    assert result(first)["resultType"] == "input_required"
    assert result(first)["inputRequests"] == {
        "1": {"method": "elicitation/create", "params": json.loads(FORM)}
    }
    assert result(second)["told"] == {"result": {"action": "decline"}}
    assert len(requests) == 1


def test_whoever_comes_back_without_the_answers_is_asked_again_under_a_new_state():
    async def story():
        async def step(_forward, listener):
            both = (listener.asked("elicitation/create", value(FORM)) for _ in range(2))
            told = await asyncio.gather(*both)
            return f'"result":{{"content":[],"told":[{{{told[0]}}},{{{told[1]}}}]}}'

        relay, _ = made(step)
        exchange = FakeClient("2026-07-28").exchange()
        ended = [await relay.run(modern(), ECHO, exchange)]
        for given in ({}, {"1": {"n": 1}}, {"2": {"n": 2}}):
            sent = modern(requestState=state_of(ended[-1]), inputResponses=given)
            ended.append(await relay.run(sent, ECHO, exchange))
        return ended

    *asked, last = run(story())
    assert [list(result(ended)["inputRequests"]) for ended in asked] == [
        ["1", "2"],
        ["1", "2"],
        ["2"],
    ]
    assert len({state_of(ended) for ended in asked}) == 3
    assert result(last)["told"] == [{"result": {"n": 1}}, {"result": {"n": 2}}]


def test_a_state_without_responses_at_all_is_asked_again():
    async def story():
        relay, _ = made(asking())
        exchange = FakeClient("2026-07-28").exchange()
        first = await relay.run(modern(), ECHO, exchange)
        second = await relay.run(modern(requestState=state_of(first)), ECHO, exchange)
        await relay.close()
        return second

    assert run(story()).verdict == "input_required"


@pytest.mark.parametrize("how", ["another client", "other arguments", "another state", "twice"])
def test_a_state_is_good_for_one_client_one_request_and_once(how):
    async def story():
        relay, server = made(asking(), DONE)
        client = FakeClient("2026-07-28")
        state = state_of(await relay.run(modern(), ECHO, client.exchange()))
        forward, given = ECHO, {"1": {}}
        if how == "another client":
            client = FakeClient("2026-07-28", name="other")
        if how == "other arguments":
            forward = ECHO._replace(members='"name":"echo","arguments":{"a":2}')
        if how == "another state":
            state = f"{state}0"
        sent = modern(requestState=state, inputResponses=given)
        if how == "twice":
            await relay.run(sent, ECHO, client.exchange())
        ended = await relay.run(sent, forward, client.exchange())
        await relay.close()
        return ended, len(server.made)

    ended, requests = run(story())
    assert error(ended)["code"] == -32602
    assert ended.verdict == "error -32602"
    assert requests == 1


def test_a_state_that_nobody_gave_does_not_reach_a_server():
    relay, server = made(DONE)
    sent = modern(requestState="anything")
    ended = run(relay.run(sent, ECHO, FakeClient("2026-07-28").exchange()))
    assert error(ended)["code"] == -32602
    assert server.made == []


def test_a_state_of_ours_does_not_reach_a_modern_server():
    relay, server = made(DONE)
    sent = modern(requestState=f"{pending.MARK}0")
    ended = run(relay.run(sent, ECHO, FakeClient("2026-07-28").exchange()))
    assert error(ended)["code"] == -32602
    assert server.made == []


def test_a_state_means_nothing_where_nothing_is_asked():
    relay, _ = made('"result":{"completion":{"values":[]}}')
    sent = request("completion/complete", requestState="x", _meta=envelope())
    forward = Forward("a", "completion/complete", "", "")
    ended = run(relay.run(sent, forward, FakeClient("2026-07-28").exchange()))
    assert ended.verdict == "ok"


def test_progress_goes_to_whoever_waits_at_the_moment():
    async def story():
        async def step(_forward, listener):
            listener.progressed(value('{"progressToken":1,"progress":1}'))
            question = asyncio.create_task(listener.asked("elicitation/create", value(FORM)))
            await asyncio.sleep(0.01)
            listener.progressed(value('{"progressToken":1,"progress":2}'))
            listener.logged(value('{"level":"error"}'))
            await question
            listener.progressed(value('{"progressToken":1,"progress":3}'))
            return DONE

        relay, _ = made(step)
        client = FakeClient("2026-07-28", level="debug")
        meta = envelope()
        first = request(name="echo", _meta={**meta, "progressToken": "one"})
        asked = await relay.run(first, ECHO, client.exchange())
        await asyncio.sleep(0.02)
        again = request(
            name="echo",
            requestState=state_of(asked),
            inputResponses={"1": {}},
            _meta={**meta, "progressToken": "two"},
        )
        await relay.run(again, ECHO, client.exchange())
        return [
            (each["params"]["progressToken"], each["params"]["progress"]) for each in client.sent
        ]

    assert run(story()) == [("one", 1), ("two", 3)]


@pytest.mark.parametrize("given", [{}, {"1": {}}])
def test_a_question_that_the_server_takes_back_is_not_asked_again(given):
    async def story():
        questions = []

        async def step(_forward, listener):
            asked = listener.asked("elicitation/create", value(FORM))
            questions.append(asyncio.create_task(asked))
            await asyncio.wait(questions)
            return DONE

        relay, _ = made(step)
        exchange = FakeClient("2026-07-28").exchange()
        asked = await relay.run(modern(), ECHO, exchange)
        questions[0].cancel()  # in the turn of the loop in which the client comes back
        sent = modern(requestState=state_of(asked), inputResponses=given)
        return await relay.run(sent, ECHO, exchange)

    assert run(story()).verdict == "ok"


def test_questions_of_one_call_beyond_a_number_are_refused(monkeypatch):
    monkeypatch.setattr(call, "_MOST_ASKED", 0)
    relay, _ = made(asking())
    ended = run(relay.run(modern(), ECHO, FakeClient("2026-07-28").exchange()))
    assert "too many questions" in result(ended)["told"]["error"]["message"]


def test_a_client_that_leaves_its_calls_waiting_leaves_places_for_others(monkeypatch):
    monkeypatch.setattr(pending, "_SHARE", 1)

    async def story():
        relay, _ = made(*[asking()] * 3)
        clients = [FakeClient("2026-07-28", name=name) for name in ("one", "one", "two")]
        ended = [await relay.run(modern(), ECHO, client.exchange()) for client in clients]
        await relay.close()
        return [each.verdict for each in ended]

    assert run(story()) == ["input_required", "failed", "input_required"]


def test_calls_that_wait_beyond_a_number_are_given_up(monkeypatch):
    monkeypatch.setattr(pending, "_MOST", 0)
    relay, _ = made(asking())
    ended = run(relay.run(modern(), ECHO, FakeClient("2026-07-28").exchange()))
    assert "too many calls wait" in result(ended)["content"][0]["text"]


@pytest.mark.parametrize("how", ["expired", "closed"])
def test_a_call_whose_client_does_not_come_back_is_cancelled(how):
    async def story():
        ends = []

        async def step(_forward, listener):
            try:
                await listener.asked("elicitation/create", value(FORM))
            except asyncio.CancelledError:
                ends.append("cancelled")
                raise

        relay, _ = made(step, expiry=0.01 if how == "expired" else 100)
        exchange = FakeClient("2026-07-28").exchange()
        asked = await relay.run(modern(), ECHO, exchange)
        if how == "closed":
            await relay.close()
        await until(lambda: ends)
        return await relay.run(modern(requestState=state_of(asked)), ECHO, exchange)

    assert error(run(story()))["code"] == -32602


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_a_request_that_is_cancelled_is_cancelled_at_the_server(revision):
    async def story():
        story_so_far = []

        async def step(_forward, _listener):
            story_so_far.append("began")
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                story_so_far.append("cancelled")
                raise

        relay, _ = made(step)
        sent = legacy() if revision != mcp.MODERN else modern()
        running = asyncio.create_task(relay.run(sent, ECHO, FakeClient(revision).exchange()))
        await until(lambda: story_so_far)
        running.cancel()
        await asyncio.wait([running])
        await until(lambda: len(story_so_far) == 2)
        await relay.close()
        return running.cancelled(), story_so_far

    assert run(story()) == (True, ["began", "cancelled"])


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_beyond_what_may_be_open_a_request_is_refused_at_once(monkeypatch, revision):
    rooms = {1 << 26: room.Room(80_000, 40_000, "too much is open")}
    monkeypatch.setattr(room, "for_requests", rooms.__getitem__)

    async def story():
        going_on = asyncio.Event()

        async def waits(*_):
            await going_on.wait()
            return DONE

        relay, server = made(waits, waits, DONE)
        sent = legacy(pad="x" * 1000) if revision != mcp.MODERN else modern(pad="x" * 1000)

        def call(name="me"):
            caller = FakeClient(revision, name=name).exchange()
            return asyncio.create_task(relay.run(sent, ECHO, caller))

        tasks = [call(), call()]
        await until(lambda: len(server.made) == 2)
        refused, others = await call(), await call("you")
        tasks[0].cancel()
        going_on.set()
        await asyncio.wait(tasks)
        server.steps.append(DONE)
        return refused, others.verdict, (await call()).verdict, relay._open._held

    refused, *verdicts, held = run(story())
    assert error(refused) == {"code": -32603, "message": "too much is open"}
    assert refused.verdict == "error -32603"
    assert verdicts == ["ok", "ok"]
    assert not held


class Held(str):
    """A text that can be seen to be gone."""

    __slots__ = ("__weakref__",)


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_a_request_that_was_cancelled_leaves_nothing_behind(revision):
    async def story():
        relay, server = made(lambda *_: asyncio.sleep(60))
        sent = legacy() if revision != mcp.MODERN else modern()
        members = Held("")
        gone = weakref.ref(members)
        going = relay.run(sent, ECHO._replace(members=members), FakeClient(revision).exchange())
        del members
        task = asyncio.create_task(going)
        del going
        await until(lambda: server.made)
        server.made.clear()
        task.cancel()
        await asyncio.wait([task])
        del task
        await until(lambda: not relay._tasks)
        await asyncio.sleep(0)
        return gone()

    gc.collect()
    gc.disable()
    try:
        assert run(story()) is None
    finally:
        gc.enable()


# -- a modern server asks ------------------------------------------------------------------------


def test_between_modern_sides_question_and_answer_pass_and_the_state_comes_back_to_the_letter():
    async def story():
        relay, server = made(ASKS, DONE)
        exchange = FakeClient("2026-07-28").exchange()
        first = await relay.run(modern(), ECHO, exchange)
        sent = modern(inputResponses_='{"who": {"n":1.0}}', requestState=state_of(first))
        second = await relay.run(sent, ECHO, exchange)
        return first, second, server.made

    first, second, requests = run(story())
    assert '{"method":"elicitation/create","params":{"message":"who?"}}' in first.outcome
    assert second.verdict == "ok"
    extra = '"inputResponses":{"who": {"n":1.0}},"requestState":"s\\u0031"'
    assert [more for _, more in requests] == ["", extra]


@pytest.mark.parametrize("how", ["client", "arguments", "tool", "server", "method", "letter"])
def test_the_state_of_a_modern_server_reaches_no_other_client_request_or_server(how):
    async def story():
        relay, server = made(ASKS, DONE)
        relay._servers["b"] = server
        client = FakeClient("2026-07-28")
        state = state_of(await relay.run(modern(), ECHO, client.exchange()))
        forward = {
            "arguments": ECHO._replace(members='"name":"echo","arguments":{"a":2}'),
            "tool": ECHO._replace(members='"name":"other","arguments":{"a":1e400}'),
            "server": ECHO._replace(server="b"),
            "method": ECHO._replace(method="prompts/get"),
        }.get(how, ECHO)
        if how == "client":
            client = FakeClient("2026-07-28", name="other")
        if how == "letter":
            state = f"{state[:-1]}{int(state[-1], 16) ^ 1:x}"
        sent = modern(requestState=state, inputResponses={})
        return await relay.run(sent, forward, client.exchange()), len(server.made)

    ended, requests = run(story())
    assert error(ended)["code"] == -32602
    assert requests == 1


def test_a_question_without_a_state_and_its_answers_pass_untouched():
    async def story():
        asks = ASKS.replace('"requestState":"s\\u0031",', "")
        relay, server = made(asks, DONE)
        exchange = FakeClient("2026-07-28").exchange()
        first = await relay.run(modern(), ECHO, exchange)
        await relay.run(modern(inputResponses={"who": {}}), ECHO, exchange)
        return result(first), server.made

    first, requests = run(story())
    assert "requestState" not in first
    assert requests[1][1] == '"inputResponses":{"who": {}}'


@pytest.mark.parametrize("odd", [{"requestState": 1}, {"inputResponses": []}])
def test_what_is_no_state_and_no_answers_reaches_no_server(odd):
    relay, server = made(DONE)
    ended = run(relay.run(modern(**odd), ECHO, FakeClient("2026-07-28").exchange()))
    assert error(ended)["code"] == -32602
    assert server.made == []


def test_the_state_and_the_answers_of_a_legacy_client_reach_no_server():
    relay, server = made(DONE)
    run(relay.run(legacy(requestState="s", inputResponses={}), ECHO, FakeClient().exchange()))
    assert [extra for _, extra in server.made] == [""]


def test_a_legacy_client_is_asked_by_requests_and_the_call_is_made_again():
    relay, server = made(ASKS, DONE)
    client = FakeClient()
    client.answers = [ACCEPT]
    ended = run(relay.run(legacy(), ECHO, client.exchange()))
    assert ended.verdict == "ok"
    assert client.sent[0]["params"] == {"message": "who?"}
    extra = (
        '"inputResponses":{"who":{"action":"accept","content":{"n":1.0}}},"requestState":"s\\u0031"'
    )
    assert [more for _, more in server.made] == ["", extra]


def test_a_server_that_only_gives_a_state_is_called_again_after_a_moment(monkeypatch):
    monkeypatch.setattr(call, "_PAUSE", 0)
    asks = '"result":{"resultType":"input_required","requestState":"s"}'
    relay, server = made(asks, DONE)
    ended = run(relay.run(legacy(), ECHO, FakeClient().exchange()))
    assert ended.verdict == "ok"
    assert server.made[1][1] == '"inputResponses":{},"requestState":"s"'


@pytest.mark.parametrize("ask", [False, True])
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(
    ("asks", "words"),
    [
        ("", "without saying what for"),
        (',"inputRequests":{}', "without saying what for"),
        (',"inputRequests":{},"requestState":5', "without saying what for"),
        (',"inputRequests":null,"requestState":"s"', "that cannot be used"),
        (',"inputRequests":[]', "that cannot be used"),
        (',"inputRequests":{"a":5},"requestState":"s"', "that cannot be used"),
    ],
)
def test_a_server_that_asks_for_nothing_is_called_once(asks, words, revision, ask):
    step = f'"result":{{"resultType":"input_required"{asks}}}'

    async def story():
        relay, server = made(step, DONE, ask=ask)
        client = FakeClient(revision)
        client.answers = [YES]
        sent = legacy() if revision != mcp.MODERN else modern()
        ended = await relay.run(sent, ECHO, client.exchange())
        if ask and revision == mcp.MODERN:
            given = {"1": {"action": "accept", "content": {"approve": True}}}
            sent = modern(requestState=state_of(ended), inputResponses=given)
            ended = await relay.run(sent, ECHO, client.exchange())
        return ended, server.made

    ended, requests = run(story())
    assert ended.verdict == "failed"
    sentence = result(ended)["content"][0]["text"]
    assert sentence.endswith(f"{words} during tools/call; the tool may have run")
    assert len(requests) == 1


def test_a_prompt_for_which_nothing_is_asked_is_no_tool_that_may_have_run():
    relay, _ = made('"result":{"resultType":"input_required"}')
    ended = run(relay.run(request("prompts/get", name="hello"), PROMPT, FakeClient().exchange()))
    assert error(ended)["message"].endswith("without saying what for during prompts/get")


def test_a_server_that_is_never_content_is_given_up():
    relay, _ = made(*[ASKS] * 10)
    client = FakeClient()
    client.answers = [ACCEPT] * 10
    ended = run(relay.run(legacy(), ECHO, client.exchange()))
    assert "asked for input 10 times" in result(ended)["content"][0]["text"]


def test_a_question_that_the_client_cannot_be_asked_fails_the_call():
    relay, _ = made(ASKS)
    ended = run(relay.run(legacy(), ECHO, FakeClient(capabilities="{}").exchange()))
    assert result(ended)["content"][0]["text"] == (
        "a/echo: the server needs input that the client did not give: the client did not"
        " declare elicitation"
    )


@pytest.mark.parametrize(
    ("capabilities", "required"),
    [
        ("{}", {"elicitation": {"form": {}, "url": {}}, "roots": {}}),
        ('{"elicitation":{},"roots":{}}', {"elicitation": {"url": {}}}),
        ('{"elicitation":{"form":{},"url":{}}}', {"roots": {}}),
    ],
)
def test_a_modern_client_is_not_asked_what_it_did_not_declare(capabilities, required):
    form, page, roots = (
        '"a":{"method":"elicitation/create","params":{"message":"who?"}}',
        '"b":{"method":"elicitation/create","params":{"mode":"url","message":"who?"}}',
        '"c":{"method":"roots/list"}',
    )
    asks = f'"result":{{"resultType":"input_required","inputRequests":{{{form},{page},{roots}}}}}'
    relay, server = made(asks, DONE)
    client = FakeClient("2026-07-28", capabilities)
    ended = run(relay.run(modern(capabilities), ECHO, client.exchange()))
    assert error(ended) == {
        "code": -32021,
        "message": f"the server needs what the client did not declare: {', '.join(required)}",
        "data": {"requiredCapabilities": required},
    }
    assert ended.verdict == "error -32021"
    assert len(server.made) == 1


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_what_nobody_can_be_asked_fails_the_call(revision):
    relay, _ = made(ASKS.replace("elicitation/create", "x/y"))
    sent = legacy() if revision != mcp.MODERN else modern()
    ended = run(relay.run(sent, ECHO, FakeClient(revision).exchange()))
    assert "Method not found" in result(ended)["content"][0]["text"]


def test_a_question_without_a_method_fails_the_call():
    asks = ASKS.replace('"method":"elicitation/create",', "")
    relay, _ = made(asks)
    ended = run(relay.run(legacy(), ECHO, FakeClient().exchange()))
    assert "Method not found" in result(ended)["content"][0]["text"]


# -- approvals -----------------------------------------------------------------------------------


def test_a_legacy_client_is_asked_for_its_approval():
    relay, server = made(DONE, ask=True)
    client = FakeClient()
    client.answers = [YES]
    ended = run(relay.run(legacy(), ECHO, client.exchange()))
    assert ended.verdict == "ok"
    assert "Allow a call of echo on the server a" in client.sent[0]["params"]["message"]
    assert len(server.made) == 1


def test_a_modern_client_is_asked_for_its_approval_and_the_servers_questions_come_after_it():
    async def story():
        relay, server = made(ASKS, DONE, ask=True)
        exchange = FakeClient("2026-07-28").exchange()
        ended = [await relay.run(modern(), ECHO, exchange)]
        for given in (
            {"1": {"action": "accept", "content": {"approve": True}}},
            {"2": {"action": "cancel"}},
        ):
            sent = modern(requestState=state_of(ended[-1]), inputResponses=given)
            ended.append(await relay.run(sent, ECHO, exchange))
        return ended, server.made

    (first, second, third), requests = run(story())
    assert "Allow a call" in result(first)["inputRequests"]["1"]["params"]["message"]
    assert result(second)["inputRequests"]["2"]["params"] == {"message": "who?"}
    assert third.verdict == "ok"
    assert requests[1][1].startswith('"inputResponses":{"who":{"action": "cancel"}}')


def test_a_call_whose_arguments_cannot_be_shown_is_not_made():
    relay, server = made(DONE, ask=True)
    client = FakeClient()
    sent = request(name="echo", arguments={"a": [1] * 3000})
    ended = run(relay.run(sent, ECHO, client.exchange()))
    assert ended.verdict == "refused"
    assert "too many to be shown" in result(ended)["content"][0]["text"]
    assert (server.made, client.sent) == ([], [])


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_a_call_that_is_too_large_to_wait_is_not_made(monkeypatch, revision):
    monkeypatch.setattr(room, "for_questions", lambda: room.Room(80_000, 20_000, "too much waits"))
    relay, server = made(DONE, ask=True)
    client = FakeClient(revision)
    long = {"a": "x" * 10_000}
    sent = request(name="echo", arguments=long, **({} if revision != mcp.MODERN else MODERN))
    ended = run(relay.run(sent, ECHO, client.exchange()))
    assert ended.verdict == "refused"
    assert "too much waits" in result(ended)["content"][0]["text"]
    assert (server.made, client.sent) == ([], [])


def test_a_state_cannot_stand_for_an_approval():
    relay, server = made(DONE, ask=True)
    sent = modern(requestState="s1", inputResponses={})
    ended = run(relay.run(sent, ECHO, FakeClient("2026-07-28").exchange()))
    assert error(ended)["code"] == -32602
    assert server.made == []


def test_without_a_state_responses_do_not_reach_the_server_of_a_call_that_is_to_be_approved():
    async def story():
        relay, server = made(DONE, ask=True)
        exchange = FakeClient("2026-07-28").exchange()
        asked = await relay.run(modern(inputResponses={"1": {}}), ECHO, exchange)
        given = {"1": {"action": "accept", "content": {"approve": True}}}
        sent = modern(requestState=state_of(asked), inputResponses=given)
        await relay.run(sent, ECHO, exchange)
        return server.made

    assert [extra for _, extra in run(story())] == [""]


def test_a_tool_that_only_reads_needs_none():
    relay, _ = made(DONE, ask=True)
    client = FakeClient()
    forward = Forward("a", "tools/call", "look", '"name":"look"')
    assert run(relay.run(request(name="look"), forward, client.exchange())).verdict == "ok"
    assert client.sent == []


@pytest.mark.parametrize(
    ("capabilities", "answered", "words"),
    [
        (
            EVERYTHING,
            '"result":{"action":"decline"}',
            "the call was not approved, so nothing was called",
        ),
        (
            "{}",
            "",
            "since thrall serve runs with --ask, and this client cannot ask its user",
        ),
        (EVERYTHING, '"error":{"code":1,"message":"\\u001b"}', "and nobody did: \\x1b"),
    ],
)
def test_without_an_approval_nothing_is_called(capabilities, answered, words):
    relay, server = made(DONE, ask=True)
    client = FakeClient(capabilities=capabilities)
    client.answers = [answered]
    sent = request(name="a_echo")
    ended = run(relay.run(sent, ECHO, client.exchange()))
    assert result(ended)["isError"] is True
    assert words in result(ended)["content"][0]["text"]
    assert ended.verdict == "refused"
    assert server.made == []
