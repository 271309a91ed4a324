"""What clients post over HTTP, and what they get: both eras, sessions, streams, cancelling."""

import asyncio
import json

import pytest
from posting import (
    JSON,
    Exchange,
    Service,
    application,
    begin,
    call,
    call_modern,
    message,
    modern,
    within,
)

from thrall_py.gateway.front import posts as posts_module
from thrall_py.gateway.front import sessions, streams
from thrall_py.gateway.front.unread import Unread

SECONDS = 20


def run(test):
    """Run `test(service, app, posts)`."""

    async def make():
        service = Service()
        app, posts = application(service)
        try:
            await test(service, app, posts)
        finally:
            await posts.close()

    within(SECONDS, make)


def test_a_modern_request_is_answered_in_json_without_a_session():
    async def test(_service, app, _posts):
        answer = await Exchange(
            app, headers=modern("tools/list"), body=message("tools/list", "a", modern=True)
        ).answer()
        assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
        assert int(answer.headers["content-length"]) == len(answer.body)
        assert "mcp-session-id" not in answer.headers
        assert answer.json["id"] == "a"
        assert answer.json["result"]["tools"] == []

    run(test)


@pytest.mark.parametrize(
    "id_", ["1", '"1"', "1.0", "-0", '"\\u0031"', '"é"', "123456789012345678901234567890"]
)
def test_an_id_comes_back_as_it_was_written(id_):
    async def test(_service, app, _posts):
        headers = await begin(app)
        body = f'{{"jsonrpc":"2.0","id":{id_},"method":"ping"}}'.encode()
        answer = await Exchange(app, headers=headers, body=body).answer()
        assert answer.body == f'{{"jsonrpc":"2.0","id":{id_},"result":{{}}}}'.encode()

    run(test)


def test_arguments_come_back_byte_for_byte():
    async def test(_service, app, _posts):
        headers = await begin(app)
        text = '{"b":1.0,"a":[1e400,-0, "é\\u00e9"],"c":9007199254740993}'
        body = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{text}}}}}'
        answer = await Exchange(app, headers=headers, body=body.encode()).answer()
        assert answer.body == f'{{"jsonrpc":"2.0","id":1,"result":{{"echoed":{text}}}}}'.encode()

    run(test)


def test_an_error_of_a_modern_request_has_the_status_of_its_code_and_a_legacy_one_200():
    async def test(_service, app, _posts):
        answer = await call_modern(app, "fail").answer()
        assert (answer.status, answer.json["error"]["code"]) == (404, -32601)
        answer = await call(app, await begin(app), "fail").answer()
        assert (answer.status, answer.json["error"]["code"]) == (200, -32601)

    run(test)


def test_what_the_ladder_refuses_is_refused_with_its_status_and_an_error():
    async def test(_service, app, _posts):
        answer = await Exchange(app, body=b"[").answer()
        assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (
            400,
            -32700,
            None,
        )
        answer = await Exchange(
            app, headers={**JSON, "accept": "text/html"}, body=message("ping")
        ).answer()
        assert answer.status == 406
        answer = await Exchange(
            app, headers={**JSON, "content-type": "text/plain"}, body=message("ping")
        ).answer()
        assert answer.status == 415

    run(test)


def test_a_modern_notification_is_accepted_and_dropped():
    async def test(_service, app, _posts):
        body = message("notifications/cancelled", None, modern=True, requestId=1)
        answer = await Exchange(app, headers=modern("notifications/cancelled"), body=body).answer()
        assert (answer.status, answer.body) == (202, b"")

    run(test)


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_what_is_told_before_the_outcome_makes_the_reply_an_event_stream(era):
    async def test(_service, app, _posts):
        exchange = (
            call_modern(app, "tell", 7)
            if era == "modern"
            else call(app, await begin(app), "tell", 7)
        )
        answer = await exchange.answer()
        assert answer.status == 200
        assert answer.headers["cache-control"] == "no-cache"
        assert answer.headers["x-accel-buffering"] == "no"
        progress, log, outcome = answer.events
        assert progress == {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progress": 1},
        }
        assert log["params"] == {"data": "é"}
        assert outcome == {"jsonrpc": "2.0", "id": 7, "result": {"told": True}}

    run(test)


def test_after_a_silence_the_reply_is_a_stream_with_signs_of_life(monkeypatch):
    monkeypatch.setattr(streams, "_SILENCE", 0.01)
    monkeypatch.setattr(streams, "_HEARTBEAT", 0.01)

    async def test(service, app, _posts):
        exchange = call_modern(app, "wait")
        await exchange.seen(": working\n\n: working\n\n")
        service.go.set()
        answer = await exchange.answer()
        assert [event.get("id") for event in answer.events] == [None, 1]

    run(test)


def test_a_large_result_is_sent_in_pieces():
    async def test(_service, app, _posts):
        exchange = call_modern(app, "large")
        answer = await exchange.answer()
        assert len(answer.json["result"]["large"]) == 1_000_000
        assert max(len(sent.get("body", b"")) for sent in exchange.sent) == 1 << 18

    run(test)


def test_a_client_that_does_not_read_loses_notifications_and_no_outcome():
    async def test(_service, app, _posts):
        answer = await call_modern(app, "flood").answer()
        *told, outcome = answer.events
        assert 80 < len(told) < 90, "4 MiB of 50 kB each"
        assert outcome["result"] == {"flooded": True}

    run(test)


@pytest.mark.parametrize("tool", ["large", "flood"])
def test_while_too_much_is_unread_a_large_answer_is_an_error_and_a_message_is_lost(tool):
    async def test(_service, app, posts):
        posts._unread = Unread(100_000)
        posts._unread.add(100_001)
        answer = await call_modern(app, tool).answer()
        if tool == "large":
            assert "too large while so many replies are not read" in answer.json["error"]["message"]
        else:
            assert answer.json["result"] == {"flooded": True}

    run(test)


@pytest.mark.parametrize("tool", ["large", "flood"])
def test_what_was_read_or_whose_client_is_gone_is_not_counted_any_more(tool):
    async def test(_service, app, posts):
        await call_modern(app, tool).answer()
        await asyncio.sleep(0)
        assert posts._unread._size == 0

    run(test)


def test_a_handshake_opens_a_session_and_one_that_fails_does_not():
    async def test(_service, app, _posts):
        headers = await begin(app, "2024-11-05")
        assert len(headers["mcp-session-id"]) == 32
        assert set(headers["mcp-session-id"]) <= set("0123456789abcdef")
        answer = await Exchange(app, body=message("initialize", protocolVersion=5)).answer()
        assert answer.json["error"]["code"] == -32602
        assert "mcp-session-id" not in answer.headers

    run(test)


def test_without_a_session_a_legacy_request_is_refused_and_with_an_unknown_one_there_is_none():
    async def test(_service, app, _posts):
        answer = await Exchange(app, body=message("tools/list")).answer()
        assert (answer.status, answer.json["error"]["code"]) == (400, -32000)
        for id_ in ("0" * 32, "é"):
            answer = await Exchange(
                app, headers={**JSON, "mcp-session-id": id_}, body=message("tools/list")
            ).answer()
            assert (answer.status, answer.json["error"]["code"]) == (404, -32001)
        twice = [*(await begin(app)).items(), ("mcp-session-id", "1")]
        answer = await Exchange(app, headers=twice, body=message("tools/list")).answer()
        assert answer.status == 400

    run(test)


def test_a_session_that_was_ended_is_gone_and_what_it_had_open_is_cancelled():
    async def test(service, app, _posts):
        headers = await begin(app, "2025-03-26")
        exchange = call(app, headers, "wait")
        await service.open.wait()
        answer = await Exchange(app, "DELETE", headers=headers).answer()
        assert answer.status == 200
        assert service.cancelled == ["1"]
        answer = await exchange.answer()
        assert (answer.status, answer.body) == (200, b""), "an empty stream"
        pings = b"[" + b",".join([message("ping", 2)] * 2) + b"]"
        for method, body, id_ in (
            ("DELETE", b"", None),
            ("POST", message("ping", 2), 2),
            ("POST", pings, None),
        ):
            answer = await Exchange(app, method, headers=headers, body=body).answer()
            assert (answer.status, answer.json["id"]) == (404, id_)

    run(test)


def test_a_delete_without_a_session_is_refused():
    async def test(_service, app, _posts):
        assert (await Exchange(app, "DELETE").answer()).status == 400

    run(test)


def test_a_cancelled_request_is_not_answered_and_others_are():
    async def test(service, app, _posts):
        headers = await begin(app)
        one, other = call(app, headers, "wait", 1), call(app, headers, "wait", "1")
        await service.open.wait()
        cancel = message("notifications/cancelled", None, requestId=1)
        assert (await Exchange(app, headers=headers, body=cancel).answer()).status == 202
        assert (await one.answer()).body == b""
        service.go.set()
        assert [event.get("id") for event in (await other.answer()).events] == [None, "1"]
        assert service.cancelled == ["1"]

    run(test)


def test_a_modern_client_that_leaves_cancels():
    async def test(service, app, _posts):
        exchange = call_modern(app, "wait")
        await service.open.wait()
        exchange.leave()
        await exchange.task
        assert service.cancelled == ["1"]
        assert exchange.sent == []

    run(test)


def test_a_legacy_client_that_leaves_does_not_cancel():
    async def test(service, app, posts):
        headers = await begin(app)
        exchange = call(app, headers, "wait")
        await service.open.wait()
        exchange.leave()
        await exchange.task
        assert service.cancelled == []
        service.go.set()
        [client] = [entry[0] for entry in posts._sessions._clients.values()]
        await client.finished()
        assert service.cancelled == []
        assert exchange.sent == [], "what comes after it left is dropped"

    run(test)


def test_a_gateway_that_stops_cancels_what_both_eras_have_open():
    async def test(service, app, posts):
        legacy, new = call(app, await begin(app), "wait", 1), call_modern(app, "wait", 2)
        await service.open.wait()
        await asyncio.sleep(0)
        await posts.close()
        assert (await legacy.answer()).body == (await new.answer()).body == b""
        assert sorted(service.cancelled) == ["1", "2"]

    run(test)


def test_a_legacy_client_is_asked_on_the_stream_and_answers_by_a_post():
    async def test(_service, app, _posts):
        headers = await begin(app, capabilities={"roots": {}})
        exchange = call(app, headers, "ask")
        await exchange.seen('"method":"roots/list"')
        reply = b'{"jsonrpc":"2.0","id":1,"result":{"roots":[ ]}}'
        answer = await Exchange(app, headers=headers, body=reply).answer()
        assert (answer.status, answer.body) == (202, b"")
        question, outcome = (await exchange.answer()).events
        assert (question["id"], question["method"]) == (1, "roots/list")
        assert outcome["result"] == {"answered": {"roots": []}}

    run(test)


def test_the_answer_of_another_session_is_nobodys():
    async def test(_service, app, _posts):
        headers, stranger = await begin(app), await begin(app)
        exchange = call(app, headers, "ask")
        await exchange.seen("roots/list")
        reply = b'{"jsonrpc":"2.0","id":1,"result":{"roots":"%s"}}'
        assert (
            await Exchange(app, headers=stranger, body=reply % b"stolen").answer()
        ).status == 202
        assert (await Exchange(app, headers=headers, body=reply % b"mine").answer()).status == 202
        assert (await exchange.answer()).events[-1]["result"] == {"answered": {"roots": "mine"}}

    run(test)


def test_a_modern_client_is_asked_nothing():
    async def test(_service, app, _posts):
        answer = await call_modern(app, "ask").answer()
        assert answer.json["error"]["code"] == -32601

    run(test)


def test_callers_of_one_session_are_one_client_and_of_two_sessions_are_two():
    async def test(service, app, _posts):
        one, other = await begin(app), await begin(app)
        for headers in (one, one, other):
            await call(app, headers, "tell").answer()
        first, second, third = (caller.client for caller in service.callers)
        assert first == second != third
        assert {caller.facts.revision for caller in service.callers} == {"2025-11-25"}

    run(test)


def test_each_modern_post_is_a_client_of_its_own_and_belongs_to_who_it_says_it_is_of():
    async def test(service, app, _posts):
        for _ in range(2):
            await call_modern(app, "tell").answer()
        first, second = service.callers
        assert first.client != second.client
        assert first.owner == second.owner == '{"name": "tester", "version": "1"}'
        assert first.facts.revision == "2026-07-28"

    run(test)


def test_a_modern_client_that_says_nothing_of_itself_is_nobody_in_particular():
    async def test(service, app, _posts):
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": "tell", "_meta": meta}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = modern("tools/call", "tell")
        await Exchange(app, headers=headers, body=json.dumps(body).encode()).answer()
        assert service.callers[0].owner == "post"

    run(test)


def test_the_same_id_twice_at_once_is_refused_in_a_session_and_is_no_matter_without_one():
    async def test(service, app, _posts):
        headers = await begin(app)
        exchange = call(app, headers, "wait")
        await service.open.wait()
        answer = await call(app, headers, "tell").answer()
        assert answer.json["error"]["code"] == -32600
        both = [call_modern(app, "wait"), call_modern(app, "wait")]
        service.go.set()
        for each in [exchange, *both]:
            assert (await each.answer()).events[-1]["result"] == {"waited": True}

    run(test)


def test_a_batch_of_2025_03_26_is_answered_by_an_array():
    async def test(_service, app, _posts):
        headers = await begin(app, "2025-03-26")
        parts = [message("ping", 1), message("notifications/x", None), b"5", message("ping", 2)]
        answer = await Exchange(app, headers=headers, body=b"[" + b",".join(parts) + b"]").answer()
        assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
        assert [(each["id"], "error" in each) for each in answer.json] == [
            (None, True),
            (1, False),
            (2, False),
        ]
        answer = await Exchange(app, headers=headers, body=b"[" + parts[0] + b"]").answer()
        assert len(answer.json) == 1

    run(test)


def test_a_batch_of_which_something_is_told_is_answered_by_events():
    async def test(_service, app, _posts):
        headers = await begin(app, "2025-03-26")
        parts = [message("tools/call", id_, name="tell") for id_ in (1, 2)]
        answer = await Exchange(app, headers=headers, body=b"[" + b",".join(parts) + b"]").answer()
        assert sorted(event["id"] for event in answer.events if "id" in event) == [1, 2]

    run(test)


def test_a_batch_without_requests_is_accepted():
    async def test(_service, app, _posts):
        headers = await begin(app, "2025-03-26")
        body = b"[" + message("notifications/initialized", None) + b"]"
        assert (await Exchange(app, headers=headers, body=body).answer()).status == 202

    run(test)


def sessions_with(now):
    return sessions.Sessions(lambda: now[0])


def client(*, is_busy=False):
    made = posts_module.Client("c")
    if is_busy:
        made._tasks.add(asyncio.get_running_loop().create_task(asyncio.Event().wait()))
    return made


def test_a_session_that_is_idle_for_half_an_hour_is_over_unless_something_is_open_in_it():
    async def test():
        now = [0.0]
        held = sessions_with(now)
        idle, busy, used = [await held.begin(client(is_busy=flag)) for flag in (False, True, False)]
        now[0] = 1000.0
        assert await held.find(used)
        now[0] = 1800.0
        assert await held.find(idle) is None
        assert await held.find(busy)
        assert await held.find(used)
        busy_client = held._clients[busy][0]
        busy_client._tasks.pop().cancel()
        await held.close()
        assert await held.find(used) is None

    within(SECONDS, test)


def test_of_too_many_sessions_the_longest_idle_one_ends(monkeypatch):
    monkeypatch.setattr(sessions, "_MOST", 3)

    async def test():
        now = [0.0]
        held = sessions_with(now)
        ids = []
        for flag in (True, False, False, False):
            now[0] += 1
            ids.append(await held.begin(client(is_busy=flag)))
        assert [bool(await held.find(id_)) for id_ in ids] == [True, False, True, True]
        held._clients[ids[0]][0]._tasks.pop().cancel()

    within(SECONDS, test)
