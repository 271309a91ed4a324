import asyncio
import gc
import os
import signal
import sys
import tracemalloc
import weakref

import children
import pytest
from gateway import CONNECTION, HEARD, SETTINGS, Caller, Told, do, entry, heard, run, talking, text
from servers import TOOLS, command

from thrall_py.catalog.launch import ExecSpec, LaunchSpec
from thrall_py.errors import (
    InputError,
    ProgramNotFoundError,
    ServerError,
    ServerGoneError,
    TimedOutError,
)
from thrall_py.gateway.core.answering import Forward
from thrall_py.gateway.server import Drifted
from thrall_py.gateway.upstream import backoff, starting
from thrall_py.gateway.upstream.request import Request
from thrall_py.gateway.upstream.servers import Upstream, Upstreams
from thrall_py.protocol import bounded

ASK = {
    "id": "q",
    "method": "elicitation/create",
    "params": {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}},
}
ERAS = pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])


def using(scenario, settings=SETTINGS, pinned=None, **changes):
    """Run a scenario with an upstream, and end that."""

    async def play():
        upstream = Upstream("it", pinned or talking(), settings._replace(**changes))
        try:
            return await scenario(upstream)
        finally:
            await upstream.close()

    return run(play())


def with_timeout(seconds, **more):
    return CONNECTION._replace(timeout=seconds, **more)


# -- one request, and many ------------------------------------------------------------------------


@ERAS
def test_a_request_is_answered_in_either_era(revision):
    async def scenario(upstream):
        assert upstream.is_modern is None
        message = await upstream.request(do("answer"), Caller())
        return message.id.text, text(message), upstream.is_modern

    modern = revision == "2026-07-28"
    assert using(scenario, pinned=talking(revision)) == ("102", "102", modern)


def test_arguments_and_results_pass_to_the_letter():
    spelled = '{"b":1.0,"a":1e400,"t":"\\u00e9\u00e9","n":\n[ 9007199254740993 ]}'
    members = f'"arguments":{spelled},"name":"echo"'.encode().decode("latin-1")
    call = Forward("it", "tools/call", "echo", members)

    async def scenario(upstream):
        return text(await upstream.request(call, Caller()))

    pinned = entry(LaunchSpec(command("good"), {}), TOOLS)
    line = using(scenario, pinned=pinned)
    assert spelled.replace("\n", " ") in line


def test_an_error_is_given_back_as_it_came():
    refusal = {"id": "$id", "error": {"code": -5, "message": "no", "data": [1.0]}}

    async def scenario(upstream):
        message = await upstream.request(do(refusal), Caller())
        return message.error.text

    assert using(scenario) == '{"code": -5, "message": "no", "data": [1.0]}'


def test_a_thousand_requests_at_once_are_not_crossed():
    async def scenario(upstream):
        calls = [do("hold", gives={"content": [], "n": n}) for n in range(1000)]
        tasks = [asyncio.create_task(upstream.request(call, Caller())) for call in calls]
        await upstream.start()
        methods = upstream._source._held.conversation._unanswered.methods
        while len(methods) < 1000:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await upstream.request(do("release", "answer"), Caller())
        return [(await task).result.load()["n"] for task in tasks]

    assert using(scenario) == list(range(1000))


def test_one_start_serves_all_who_wait():
    async def scenario(upstream):
        await asyncio.gather(*(upstream.request(do("answer"), Caller()) for _ in range(20)))
        return [each["method"] for each in await heard(upstream)]

    methods = using(scenario)
    assert methods.count("initialize") == 1
    assert methods.count("tools/list") == 1
    assert methods.count("tools/call") == 21


def test_what_answers_nothing_is_passed_over_and_counted_in_a_failure():
    strays = [
        "banner",
        {"id": 999, "result": {}},
        {"id": "$id", "method": "tools/call"},  # our own words come back
        {"id": [1], "method": "ping"},
        "[1]",
        " ",  # nothing at all
    ]

    async def scenario(upstream):
        await upstream.request(do(*strays, "answer", {"id": "$id", "result": {}}), Caller())
        with pytest.raises(ServerGoneError) as gone:
            await upstream.request(do("exit"), Caller())
        return str(gone.value)

    assert using(scenario) == (
        "the server exited with status 7 during tools/call; the tool may have run;"
        " skipped 5 lines (a later one is an answer with an id which nobody asked with)"
    )


def test_an_error_without_an_id_is_nobodys_while_two_requests_are_open():
    lost = {"id": None, "error": {"code": -1, "message": "lost"}}

    async def scenario(upstream):
        held = asyncio.create_task(upstream.request(do("hold", gives={"content": []}), Caller()))
        await asyncio.sleep(0.1)
        assert text(await upstream.request(do(lost, "answer"), Caller()))
        await upstream.request(do(lost), Caller())  # both are open when it comes
        return held

    async def bounded(upstream):
        with pytest.raises(TimedOutError):
            await scenario(upstream)

    using(bounded, connection=with_timeout(0.5))


def test_an_error_without_an_id_is_that_of_the_only_request():
    async def scenario(upstream):
        lost = {"id": None, "error": {"code": -1, "message": "lost"}}
        return (await upstream.request(do(lost), Caller())).error.load()["code"]

    assert using(scenario) == -1


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        ('{"id":$id,"result":{"a":1,"a":2}}', "sent an answer that is not JSON: .* twice"),
        ('{"id":"$id","result":[}', "sent an answer that is not JSON"),
        ({"id": "$id"}, "sent an answer with neither a result nor an error"),
    ],
)
def test_an_answer_that_cannot_be_used_fails_its_request_and_no_other(step, sentence):
    async def scenario(upstream):
        await upstream.request(do("answer"), Caller())
        with pytest.raises(ServerError, match=f"^the server {sentence}.*; the tool may have run"):
            await upstream.request(do(step), Caller())
        return text(await upstream.request(do("answer"), Caller()))

    assert using(scenario) == "104"


def test_an_answer_of_too_many_parts_fails_its_request_and_no_other(monkeypatch):
    monkeypatch.setattr(bounded, "_MOST_NESTED", 100)
    flood = '{"id":$id,"result":{"content":[' + "{}," * 100 + "{}]}}"

    async def scenario(upstream):
        with pytest.raises(ServerError, match="an answer that is made of more than 100 arrays"):
            await upstream.request(do(flood), Caller())
        return text(await upstream.request(do("answer"), Caller()))

    assert using(scenario)


def test_an_array_of_too_many_messages_is_passed_over_whole():
    flood = "[" + '{"id":$id,"result":{}},' * 1000 + '{"id":$id,"result":{}}]'

    async def scenario(upstream):
        with pytest.raises(ServerGoneError, match="skipped 1 line"):
            await upstream.request(do(flood, "exit"), Caller())

    using(scenario)


# -- deadlines, and who gives up -------------------------------------------------------------------


def test_a_request_without_an_answer_fails_in_time_and_the_server_is_told():
    async def scenario(upstream):
        with pytest.raises(TimedOutError) as late:
            await upstream.request(do("nothing"), Caller())
        return str(late.value), (await heard(upstream))[-2]

    sentence, told = using(scenario, connection=with_timeout(0.3))
    assert sentence.startswith(
        "no answer to tools/call in 0.3 s (--timeout); the tool may have run; skipped 1 line"
    )
    assert told["method"] == "notifications/cancelled"
    assert told["params"] == {"requestId": 102, "reason": "timeout"}


@pytest.mark.parametrize("how", ["timeout", "cancelled"])
def test_a_call_that_was_not_sent_is_told_so_and_is_nobodys_concern(how):
    fill = "x" * 3_000_000

    async def scenario(upstream):
        await upstream.request(do("answer"), Caller())
        deaf = asyncio.create_task(upstream.request(do("deaf"), Caller()))
        sent = asyncio.create_task(upstream.request(do("answer", fill=fill), Caller()))
        await asyncio.sleep(0.05)
        unsent = asyncio.create_task(upstream.request(do(fill=fill), Caller("other")))
        await asyncio.sleep(0.05)
        conversation = upstream._source._held.conversation
        open_ = conversation.clients()
        if how == "cancelled":
            unsent.cancel()
        [ended] = await asyncio.gather(unsent, return_exceptions=True)
        owed = conversation.owed.clients()
        await asyncio.gather(sent, deaf, return_exceptions=True)
        return str(ended), open_, owed - {"one"}

    sentence, open_, owed = using(scenario, connection=with_timeout(0.5))
    assert (
        sentence
        == {
            "timeout": "tools/call was not sent: the server read nothing more for 0.5 s (--timeout)",
            "cancelled": "",
        }[how]
    )
    assert (open_, owed) == ({"one"}, set())


class Held(str):
    """A text that can be seen to be gone."""

    __slots__ = ("__weakref__",)


@pytest.mark.parametrize("how", ["cancelled", "not started", "failed", "timed out", "ended"])
def test_a_call_without_an_answer_leaves_nothing_behind(how):
    async def scenario(upstream):
        if how != "not started":
            await upstream.request(do("answer"), Caller())
        step = {"failed": "exit", "ended": "leave"}.get(how, "hold")
        call = do(step, gives={})
        members = Held(call.members)
        gone = weakref.ref(members)
        task = asyncio.create_task(upstream.request(call._replace(members=members), Caller()))
        del members
        await asyncio.sleep(0 if how == "not started" else 0.1)
        if how in {"cancelled", "not started"}:
            task.cancel()
        await asyncio.wait([task])
        has_failed = task.cancelled() or task.exception() is not None
        del task
        await asyncio.sleep(0)
        return has_failed, gone()

    gc.collect()
    gc.disable()
    try:
        has_failed, left = using(scenario, connection=with_timeout(0.3))
        assert has_failed
        assert left is None
    finally:
        gc.enable()


@pytest.mark.parametrize(("revision", "is_sent"), [("2025-11-25", False), ("2026-07-28", True)])
def test_answers_to_a_modern_server_reach_no_other(revision, is_sent):
    async def scenario(upstream):
        extra = '"inputResponses":{"a":{}}'
        await upstream.request(do("answer"), Caller(), extra)
        return (await heard(upstream))[-2]["params"]

    assert ("inputResponses" in using(scenario, pinned=talking(revision))) == is_sent


def test_an_id_is_used_once_in_a_session_also_by_who_opened_it():
    async def scenario(upstream):
        await upstream.request(do("answer"), Caller())
        return [each["id"] for each in await heard(upstream) if "id" in each]

    assert using(scenario) == [1, 101, 102, 103]


@ERAS
def test_a_request_that_is_cancelled_is_cancelled_at_the_server(revision):
    async def scenario(upstream):
        await upstream.request(do("answer"), Caller())
        task = asyncio.create_task(upstream.request(do(), Caller()))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return (await heard(upstream))[-2]["params"]

    params = using(scenario, pinned=talking(revision))
    assert (params["requestId"], params["reason"]) == (103, "cancelled")


def test_who_is_cancelled_during_the_start_does_not_take_the_others_with_it():
    async def scenario(upstream):
        first = asyncio.create_task(upstream.request(do("answer"), Caller()))
        second = asyncio.create_task(upstream.request(do("answer"), Caller()))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        return text(await second)

    assert using(scenario)


def test_a_late_answer_is_nobodys():
    async def scenario(upstream):
        with pytest.raises(TimedOutError):
            await upstream.request(do("hold", gives={"content": []}), Caller())
        return text(await upstream.request(do("release", "answer"), Caller()))

    assert using(scenario, connection=with_timeout(0.3)) == "103"


def test_a_late_answer_and_a_repeated_one_leave_no_trace_in_anothers_failure():
    private = {"content": [{"type": "text", "text": "PRIVATE"}]}

    async def scenario(upstream):
        with pytest.raises(TimedOutError):
            await upstream.request(do("hold", gives=private), Caller())
        await upstream.request(do("release", "answer", {"id": "$id", "result": private}), Caller())
        assert not upstream._source._held.conversation.owed.clients()
        with pytest.raises(ServerGoneError) as gone:
            await upstream.request(do("exit"), Caller("two"))
        return str(gone.value)

    sentence = using(scenario, connection=with_timeout(0.3))
    assert sentence == "the server exited with status 7 during tools/call; the tool may have run"


def test_an_error_without_an_id_is_nobodys_while_an_answer_is_owed():
    lost = {"id": None, "error": {"code": -1, "message": "PRIVATE"}}

    async def scenario(upstream):
        with pytest.raises(TimedOutError):
            await upstream.request(do("hold", gives={}), Caller())
        return text(await upstream.request(do(lost, "answer"), Caller("two")))

    assert using(scenario, connection=with_timeout(0.3)) == "103"


# -- who is asked ----------------------------------------------------------------------------------


def test_a_question_of_the_server_is_the_clients_whose_call_is_open():
    async def scenario(upstream):
        caller = Caller()
        await upstream.request(do(ASK, "answer"), caller)
        return caller.questions, await heard(upstream)

    questions, sent = using(scenario)
    assert questions == [("elicitation/create", ASK["params"])]
    assert sent[-2]["id"] == "q"
    assert sent[-2]["result"] == {"action": "accept", "content": {"name": "\u00e9"}}
    declared = next(each for each in sent if each.get("method") == "initialize")
    assert declared["params"]["capabilities"] == {
        "sampling": {},
        "elicitation": {"form": {}, "url": {}},
    }


def test_a_question_while_several_clients_wait_is_refused_and_the_way_out_is_named():
    async def scenario(upstream):
        await upstream.request(do("answer"), Caller())
        other = asyncio.create_task(upstream.request(do("hold", gives={}), Caller("two")))
        await asyncio.sleep(0.1)
        caller = Caller()
        await upstream.request(do(ASK, "answer"), caller)
        assert caller.questions == []
        sent = await heard(upstream)
        await upstream.request(do("release", "answer"), caller)
        await other
        return next(each for each in sent if each.get("id") == "q")

    assert "serve with --isolate" in using(scenario)["error"]["message"]


async def given_up(upstream, caller):
    """Have a call given up that the server is still at work on."""
    await upstream.request(do("answer"), caller)
    call = asyncio.create_task(upstream.request(do("hold", gives={}), caller))
    await asyncio.sleep(0.1)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)


def test_a_question_may_be_about_a_call_that_was_given_up_until_that_is_answered():
    async def scenario(upstream):
        await given_up(upstream, Caller())
        other = Caller("two", level="debug")
        await upstream.request(do(ASK, log(), "release", log(), "answer"), other)
        before = len(other.questions), len(other.told)
        sent = await heard(upstream)
        await upstream.request(do(ASK, "answer"), other)
        refused = next(each for each in sent if each.get("id") == "q")
        return refused["error"]["code"], before, len(other.questions)

    assert using(scenario) == (-32603, (0, 1), 1)


def test_a_server_that_could_not_ask_because_of_it_is_replaced_for_the_next_call():
    async def scenario(upstream):
        await given_up(upstream, Caller())
        other = Caller("two")
        old = upstream._source._held.conversation.server.version
        await upstream.request(do(ASK, "answer"), other)
        assert (other.questions, upstream._source._held.conversation.server.version) == ([], old)
        await upstream.request(do(ASK, "answer"), other)
        return old, upstream._source._held.conversation.server.version, len(other.questions)

    old, new, asked = using(scenario)
    assert (old != new, asked) == (True, 1)


def test_a_server_that_is_replaced_finishes_the_calls_that_it_has():
    async def scenario(upstream):
        await given_up(upstream, Caller())
        other, last = Caller("two"), {"content": [{"type": "text", "text": "late"}]}
        slow = asyncio.create_task(upstream.request(do(ASK, "hold", gives=last), other))
        old = upstream._source._held.conversation
        while not old.owed.has_hindered:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await upstream.request(do("answer"), other)
        assert not old.is_over
        await old.request(Request("tools/call", do("answer", "release").members, 5))
        said = text(await slow)
        await asyncio.wait([old.pump])
        return said

    assert using(scenario) == "late"


def test_a_server_that_is_being_replaced_is_ended_with_the_gateway():
    async def scenario(upstream):
        await given_up(upstream, Caller())
        slow = asyncio.create_task(upstream.request(do(ASK), Caller("two")))
        old = upstream._source._held.conversation
        while not old.owed.has_hindered:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await upstream.request(do("answer"), Caller("two"))
        return old, slow

    old, slow = using(scenario)
    assert old.is_over
    assert isinstance(slow.exception(), ServerError)


def test_a_question_that_no_client_may_be_asked_replaces_no_server():
    async def scenario(upstream):
        await given_up(upstream, Caller())
        await upstream.request(do({"id": 1, "method": "roots/list"}, "answer"), Caller("two"))
        return upstream._source._held.conversation.owed.has_hindered

    assert using(scenario) is False


def test_a_call_that_was_given_up_leaves_no_doubt_to_its_own_client():
    async def scenario(upstream):
        await given_up(upstream, Caller())
        again = Caller()
        await upstream.request(do(ASK, "answer"), again)
        return len(again.questions)

    assert using(scenario) == 1


def test_two_calls_of_one_client_leave_no_doubt():
    async def scenario(upstream):
        await upstream.request(do("answer"), Caller())
        one = Caller()
        other = asyncio.create_task(upstream.request(do("hold", gives={}), one))
        await asyncio.sleep(0.1)
        await upstream.request(do(ASK, "answer"), Caller())
        await upstream.request(do("release", "answer"), Caller())
        await other
        return len(one.questions)

    assert using(scenario) == 1


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        ("ping", {"result": {}}),
        ("roots/list", {"error": {"code": -32601, "message": "Method not found"}}),
    ],
)
def test_what_is_no_question_for_a_user_is_answered_at_once(method, answer):
    async def scenario(upstream):
        await upstream.request(do({"id": 1, "method": method}, "answer"), Caller())
        return (await heard(upstream))[-2]

    assert using(scenario) == {"jsonrpc": "2.0", "id": 1, **answer}


def test_a_modern_server_is_not_answered():
    async def scenario(upstream):
        await upstream.request(do(ASK, "answer"), Caller())
        return [each.get("method") for each in await heard(upstream)]

    sent = using(scenario, pinned=talking("2026-07-28"))
    assert sent == ["server/discover", "tools/list", "tools/call", "tools/call"]


def test_the_deadline_stands_still_while_the_client_is_asked():
    async def scenario(upstream):
        answered = {"id": "$id", "result": {"content": [{"type": "text", "text": "in time"}]}}

        async def think():
            await asyncio.sleep(0.8)

        caller = Caller(before=think)
        task = asyncio.create_task(
            upstream.request(do(ASK, "hold", gives=answered["result"]), caller)
        )
        await asyncio.sleep(0.9)
        await upstream.request(do("release", "answer"), caller)
        return text(await task)

    assert using(scenario, connection=with_timeout(0.5)) == "in time"


def test_a_call_that_ends_is_not_asked_for_any_more():
    async def scenario(upstream):
        cancelled = asyncio.Event()

        async def think():
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.set()
                raise

        await upstream.request(do(ASK, "answer", "x"), Caller(before=think))
        await cancelled.wait()
        return next(each for each in await heard(upstream) if each.get("id") == "q")

    # the question may not have begun to be asked when the answer comes: then nobody is cancelled
    assert using(scenario)["error"]["message"] == "the call is over"


def test_a_question_that_the_server_takes_back_is_not_answered():
    taken_back = {"method": "notifications/cancelled", "params": {"requestId": "q"}}

    async def scenario(upstream):
        async def think():
            await asyncio.sleep(60)

        caller = Caller(before=think)
        await upstream.request(do(ASK, taken_back, "answer"), caller)
        return [each.get("id") for each in await heard(upstream)]

    assert "q" not in using(scenario)


def test_a_fault_while_a_client_is_asked_is_an_error_for_the_server():
    async def scenario(upstream):
        async def think():
            raise ZeroDivisionError

        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        await upstream.request(do(ASK, "hold", gives={}), Caller(before=think))

    async def bounded(upstream):
        await upstream.request(do("answer"), Caller())
        task = asyncio.create_task(scenario(upstream))
        await asyncio.sleep(0.4)
        found = next(each for each in await heard(upstream) if each.get("id") == "q")
        await upstream.request(do("release", "answer"), Caller())
        await task
        return found

    assert using(bounded)["error"]["message"] == "the client could not be asked"


def test_more_questions_than_anybody_can_answer_are_refused():
    async def scenario(upstream):
        async def think():
            await asyncio.sleep(60)

        asks = [{**ASK, "id": n} for n in range(20)]
        await upstream.request(do(*asks, "answer"), Caller(before=think))
        return [each["error"]["message"] for each in await heard(upstream) if "error" in each]

    words = using(scenario)
    assert words.count("too many requests are open") == 4
    assert words.count("the call is over") == 16


def test_questions_end_with_the_server_and_only_those_of_a_call_with_the_call():
    unknown = {"method": "notifications/cancelled", "params": {"requestId": "x"}}

    async def scenario(upstream):
        async def think():
            await asyncio.sleep(60)

        one = Caller(before=think)
        await upstream.request(do("answer"), one)
        first = asyncio.create_task(upstream.request(do(ASK), one))
        await asyncio.sleep(0.1)
        await upstream.request(do(unknown, "answer"), Caller())
        with pytest.raises(ServerGoneError):
            await upstream.request(do("exit"), Caller())
        with pytest.raises(ServerGoneError):
            await first
        return one.questions

    assert len(using(scenario)) == 1


# -- what is told meanwhile ------------------------------------------------------------------------


def progress(token, done=1):
    params = {"progressToken": token, "progress": done}
    return {"method": "notifications/progress", "params": params}


def log(level="info", data="x"):
    return {"method": "notifications/message", "params": {"level": level, "data": data}}


@ERAS
def test_progress_goes_to_who_asked_for_it(revision):
    async def scenario(upstream):
        one, other = Caller(progress=True), Caller()
        await upstream.request(do(progress("$token"), progress(99), progress([1]), "answer"), one)
        await upstream.request(do(progress(103), "answer"), other)
        return one.told, other.told

    told, untold = using(scenario, pinned=talking(revision))
    assert told == [{"progressToken": 102, "progress": 1}]
    assert untold == []


@ERAS
def test_log_messages_go_to_the_client_whose_call_is_open_and_the_lowest_level_is_asked_for(
    revision,
):
    async def scenario(upstream):
        quiet, loud = Caller(level="error"), Caller(level="info")
        await upstream.request(do("answer"), quiet)
        await upstream.request(
            do(log(), log("debug"), {"method": "notifications/message"}, "answer"), loud
        )
        await upstream.request(do(log(), log("error"), "answer"), quiet)
        sent = await heard(upstream)
        return (
            loud.told,
            quiet.told,
            [each for each in sent if each.get("method") == "logging/setLevel"],
        )

    loud, quiet, levels = using(scenario, pinned=talking(revision))
    assert [each["level"] for each in loud] == ["info", "debug"]
    assert [each["level"] for each in quiet] == ["info", "error"]
    wanted = [] if revision == "2026-07-28" else ["error", "info"]
    assert [each["params"]["level"] for each in levels] == wanted


def test_a_log_message_of_nobody_in_particular_is_dropped():
    async def scenario(upstream):
        one, two = Caller(level="debug"), Caller("two", level="debug")
        other = asyncio.create_task(upstream.request(do("hold", gives={}), two))
        await asyncio.sleep(0.3)
        await upstream.request(do(log(), "release", "answer"), one)
        await other
        return one.told + two.told

    assert using(scenario) == []


def test_a_modern_request_carries_the_words_of_its_client():
    async def scenario(upstream):
        caller = Caller(capabilities='{"elicitation":{"form":{}}}', level="info", progress=True)
        await upstream.request(do("answer"), caller, '"requestState":"s"')
        return (await heard(upstream))[-2]["params"]

    params = using(scenario, pinned=talking("2026-07-28"))
    meta = params["_meta"]
    assert params["requestState"] == "s"
    assert meta["io.modelcontextprotocol/clientCapabilities"] == {"elicitation": {"form": {}}}
    assert meta["io.modelcontextprotocol/logLevel"] == "info"
    assert meta["progressToken"] == 102


# -- pins ------------------------------------------------------------------------------------------


def test_a_tool_that_is_not_as_pinned_is_not_called_and_says_what_changed():
    pinned = talking()
    drifted = pinned.items["tools"]["do"]._replace(digest="x", definition={"name": "do"})
    pinned = pinned._replace(items={"tools": {**pinned.items["tools"], "do": drifted}})

    async def scenario(upstream):
        with pytest.raises(Drifted) as drift:
            await upstream.request(do("answer"), Caller())
        assert len(await heard(upstream)) == 4
        return [(each.tool, each.change.path) for each in drift.value.differences]

    assert using(scenario, pinned=pinned) == [("do", ("inputSchema",))]


def test_a_list_that_changed_is_compared_again_before_the_next_call():
    changed = {"method": "notifications/tools/list_changed"}

    async def scenario(upstream):
        await upstream.request(do("drift", "answer"), Caller())
        await upstream.request(do("answer"), Caller())  # nobody said that it changed
        await upstream.request(do(changed, "answer"), Caller())
        with pytest.raises(Drifted):
            await upstream.request(do("answer"), Caller())
        return text(await upstream.request(HEARD, Caller()))

    assert using(scenario)


def test_a_restarted_server_is_compared_again():
    async def scenario(upstream):
        with pytest.raises(ServerGoneError):
            await upstream.request(do("exit"), Caller())
        await upstream.request(do("answer"), Caller())
        return [each["method"] for each in (await heard(upstream))[2:4]]

    assert using(scenario) == ["tools/list", "tools/call"]


# -- how servers live ------------------------------------------------------------------------------


def test_when_a_server_dies_every_open_request_fails_and_the_next_one_starts_it_again():
    async def scenario(upstream):
        await upstream.request(do("answer"), Caller())
        calls = [upstream.request(do(), Caller()) for _ in range(5)]
        tasks = [asyncio.create_task(call) for call in calls]
        await asyncio.sleep(0.1)
        dying = asyncio.create_task(upstream.request(do("exit"), Caller()))
        ended = await asyncio.gather(*tasks, dying, return_exceptions=True)
        again = text(await upstream.request(do("answer"), Caller()))
        return {str(each) for each in ended}, again

    sentences, again = using(scenario)
    assert sentences == {"the server exited with status 7 during tools/call; the tool may have run"}
    assert again == "102"


@pytest.mark.parametrize("step", ["leave", "close"])
def test_a_server_that_leaves_or_goes_dumb_is_ended(step):
    async def scenario(upstream):
        ending = "^the server exited with status 0 during tools/call"
        with pytest.raises(ServerGoneError, match=ending):
            await upstream.request(do(step), Caller())
        return text(await upstream.request(do("answer"), Caller()))

    assert using(scenario) == "102"


def test_a_server_that_does_not_listen_any_more_is_ended():
    async def scenario(upstream):
        first = asyncio.create_task(upstream.request(do("close-input"), Caller()))
        await asyncio.sleep(0.3)
        with pytest.raises(ServerGoneError, match="^the server closed its input during tools/call"):
            await upstream.request(do("answer"), Caller())
        with pytest.raises(ServerGoneError):
            await first
        return text(await upstream.request(do("answer"), Caller()))

    assert using(scenario, connection=CONNECTION._replace(grace=0.2)) == "102"


def test_a_line_that_is_too_long_ends_the_server():
    async def scenario(upstream):
        with pytest.raises(
            ServerError, match="^the server sent more than 1048576 bytes in one line"
        ):
            await upstream.request(do("x" * 1_100_000), Caller())
        return text(await upstream.request(do("answer"), Caller()))

    assert using(scenario) == "102"


def test_a_server_that_is_not_needed_for_a_while_is_ended(graveyard):
    async def scenario(upstream):
        await upstream.request(do("answer"), Caller())
        while upstream._source._held:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.02)
        await upstream._source._background.finish()
        assert graveyard.words() == []
        return text(await upstream.request(do("answer"), Caller()))

    assert using(scenario, pinned=talking("2025-11-25", graveyard.path), idle=0.1) == "102"


LONG_ENOUGH = 10


def test_isolated_calls_have_a_server_of_their_own():
    async def scenario(upstream):
        calls = [upstream.request(do("answer"), Caller()) for _ in range(3)]
        return [text(each) for each in await asyncio.gather(*calls)]

    assert using(scenario, isolate=True) == ["102", "102", "102"]


def test_an_isolated_server_that_does_not_start_leaves_room_for_others():
    async def scenario(upstream):
        with pytest.raises(
            ProgramNotFoundError, match="^the program no-such-program was not found$"
        ):
            await upstream.request(do("answer"), Caller())
        return upstream._source._room._value

    launch = LaunchSpec(("no-such-program",), {})
    assert using(scenario, pinned=entry(launch), isolate=True) == 64


def test_isolated_servers_that_do_not_start_are_not_started_all_the_time(monkeypatch):
    begun = []

    async def fail(*_):
        begun.append(True)
        raise ServerError("it does not start")

    monkeypatch.setattr(starting, "start_process", fail)
    monkeypatch.setattr(backoff, "_SHORTEST", 30.0)

    async def scenario(upstream):
        for _ in range(3):
            with pytest.raises(ServerError, match="^it does not start$"):
                await upstream.request(do("answer"), Caller())
        return len(begun), upstream._source._room._value

    assert using(scenario, isolate=True) == (1, 64)


def test_a_variable_that_is_not_set_is_told_by_the_request():
    async def scenario(upstream):
        with pytest.raises(InputError, match="^the variable NONE is not set"):
            await upstream.request(do("answer"), Caller())

    using(scenario, pinned=entry(LaunchSpec(("${NONE}",), {})))


@pytest.mark.usefixtures("no_child_left")
def test_failed_starts_leave_nothing():
    pinned = entry(LaunchSpec(("sh", "-c", "exit 7"), {}))

    async def fail(upstream, times):
        for _ in range(times):
            upstream._source._backoff.succeeded()
            with pytest.raises(
                ServerError, match="^the server exited with status 7 during the handshake"
            ):
                await upstream.request(do("answer"), Caller())
        gc.collect()

    async def scenario(upstream):
        tracemalloc.start()
        try:
            await fail(upstream, 20)
            before, _ = tracemalloc.get_traced_memory()
            await fail(upstream, 60)
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()  # it makes whatever runs after it several times as slow
        return after - before

    assert using(scenario, pinned=pinned) < 30_000


def test_a_start_that_failed_is_waited_with_or_told_again():
    pinned = entry(LaunchSpec(command("crash"), {}))

    async def scenario(upstream):
        for _ in range(3):  # 0.1 s, 0.2 s, 0.4 s
            with pytest.raises(ServerError):
                await upstream.request(do("answer"), Caller())
        began = asyncio.get_running_loop().time()
        with pytest.raises(ServerError, match="exited with status 7"):
            await upstream.request(do("answer"), Caller())
        return asyncio.get_running_loop().time() - began

    assert using(scenario, pinned=pinned, connection=with_timeout(0.3)) < 0.3


def test_a_server_that_ends_right_after_the_handshake_has_failed_to_start():
    async def scenario(upstream):
        await upstream.start()
        conversation = upstream._source._held.conversation
        conversation.has_answered = False
        os.kill(int(conversation.server.version), signal.SIGKILL)
        await asyncio.wait([conversation.pump])
        with pytest.raises(ServerGoneError, match="^the server ended as soon as it was started$"):
            await upstream.request(do("answer"), Caller())
        await asyncio.sleep(0.1)
        return text(await upstream.request(do("answer"), Caller()))

    assert using(scenario, connection=with_timeout(0.05)) == "102"


def test_a_request_after_the_end_of_the_start_is_told():
    async def play():
        upstream = Upstream("it", talking(), SETTINGS)
        task = asyncio.create_task(upstream.request(do("answer"), Caller()))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await upstream.close()
        with pytest.raises(ServerError, match="^the server is being ended$"):
            await task

    assert run(play()) is None


def test_why_a_server_does_not_start_is_told_once_whoever_waits_or_asks_again():
    async def scenario(upstream):
        asked = (upstream.request(do("answer"), Caller()) for _ in range(3))
        failed = await asyncio.gather(*asked, return_exceptions=True)
        with pytest.raises(ServerError):
            await upstream.request(do("answer"), Caller())  # during the pause
        return {str(each) for each in failed}

    told = Told()
    pinned = entry(LaunchSpec(("sh", "-c", "exit 7"), {}))
    (why,) = using(scenario, pinned=pinned, log=told, connection=with_timeout(0.01))
    assert told.events == [("failed", {"server": "it", "why": why})]
    assert "exited with status 7 during the handshake" in why


def test_the_end_of_a_server_is_told_when_it_is_gone():
    async def scenario(upstream):
        await upstream.start()
        pids.append(int(upstream._source._held.conversation.server.version))

    class Looking(Told):
        def tell(self, event, **facts):
            super().tell(event, **facts)
            if event == "ended":
                with pytest.raises(ProcessLookupError):
                    os.kill(pids[0], 0)

    pids, told = [], Looking()
    using(scenario, log=told)
    assert [event for event, _ in told.events] == ["started", "ended"]


# -- all of a catalog ------------------------------------------------------------------------------


def test_eager_servers_are_started_and_those_that_fail_say_why():
    entries = {
        "good": talking(),
        "empty": talking()._replace(items={}),
        "gone": entry(LaunchSpec(("no-such-program",), {})),
    }

    async def play(told):
        upstreams = Upstreams(entries, SETTINGS._replace(eager=True, log=told))
        upstreams.begin()
        await told.has("failed")
        await told.has("started")
        modern = upstreams["good"].is_modern
        await upstreams.close()
        # One that is ended while its tools are compared is told of as well.
        failed = [facts for event, facts in told.events if event == "failed"]
        return failed[0], modern

    why = "the program no-such-program was not found"
    assert run(play(Told())) == ({"server": "gone", "why": why}, False)


@pytest.mark.parametrize("isolate", [False, True])
def test_servers_that_are_still_being_started_are_gone_at_the_end(tmp_path, isolate):
    told = tmp_path / "told"
    never_answers = "import os, sys, time; print(os.getpid(), file=open(sys.argv[1], 'w'), flush=True); time.sleep(60)"
    deaf = entry(LaunchSpec((sys.executable, "-c", never_answers, str(told)), {}))

    async def play():
        upstreams = Upstreams({"deaf": deaf}, SETTINGS._replace(eager=True, isolate=isolate))
        upstreams.begin()
        while not (told.exists() and told.read_text().endswith("\n")):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await upstreams.close()

    run(play())
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


def test_a_list_that_an_eager_server_does_not_have_is_told():
    async def play(told):
        pinned = talking("2025-11-25", "", "refuses")
        upstreams = Upstreams({"it": pinned}, SETTINGS._replace(eager=True, log=told))
        upstreams.begin()
        await told.has("failed")
        await upstreams.close()
        return dict(told.events)["failed"]

    assert run(play(Told()))["server"] == "it"


def test_who_waits_for_servers_that_are_being_started_is_told_whether_there_were_any():
    async def play():
        entries = {"it": talking(), "c": entry(ExecSpec(LaunchSpec(("cat",), {})))}
        upstreams = Upstreams(entries, SETTINGS)
        before = await upstreams.started()
        task = asyncio.create_task(upstreams["it"].request(do("answer"), Caller()))
        while upstreams["it"].settled.is_set():  # noqa: ASYNC110
            await asyncio.sleep(0)
        meanwhile = await upstreams.started(), upstreams["it"].is_modern
        await task
        after = await upstreams.started()
        await upstreams.close()
        return before, meanwhile, after

    assert run(play()) == (False, (True, False), False)


def test_why_an_eager_server_does_not_start_need_not_be_told():
    async def play():
        settings = SETTINGS._replace(eager=True)
        upstreams = Upstreams({"it": entry(LaunchSpec(("no-such-program",), {}))}, settings)
        upstreams.begin()
        while upstreams._starting._tasks:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await upstreams.close()
        return upstreams["it"].is_modern

    assert run(play()) is None


def test_servers_that_are_not_eager_wait_until_they_are_needed():
    async def play():
        upstreams = Upstreams({"good": talking()}, SETTINGS)
        upstreams.begin()
        await asyncio.sleep(0)
        modern = upstreams["good"].is_modern
        await upstreams.close()
        return modern

    assert run(play()) is None


# -- a gateway that is gone ------------------------------------------------------------------------


def test_a_gateway_that_is_killed_leaves_nothing(graveyard):
    program = f"""
import sys, asyncio, os
sys.path[:0] = {[p for p in sys.path if p]!r}
from gateway import *
from thrall_py.gateway.upstream.servers import Upstream
async def main():
    upstream = Upstream("it", talking("2025-11-25", {graveyard.path!r}), SETTINGS)
    await upstream.request(do("answer"), Caller())
    print("there", flush=True)
    await upstream.request(do("deaf"), Caller())
asyncio.run(main())
"""
    import subprocess

    before = children.now()
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"there\n"
        process.kill()
    assert graveyard.words(LONG_ENOUGH) == []
    for orphan in children.now() - before:  # ours by now, if orphans are
        os.waitpid(orphan, 0)
