"""Clients: requests in flight by their ids, and what they are asked."""

import asyncio
import json

import pytest
from gateways import FakeClient, request, run, until, value

from thrall_py.gateway.caller import Facts, Refused
from thrall_py.gateway.core import incoming
from thrall_py.gateway.core.incoming import Notification
from thrall_py.gateway.front import clients
from thrall_py.gateway.front.clients import Client, Exchange


def cancelled(id_):
    return Notification("notifications/cancelled", value(f'{{"requestId":{id_}}}'))


def forever():
    return asyncio.create_task(asyncio.sleep(1000))


def test_an_id_that_is_open_is_refused_and_free_again_when_its_request_is_over():
    async def story():
        client, tasks = Client("c"), []

        def start():
            tasks.append(forever())
            return tasks[-1]

        assert client.begin(request(id_="1"), start) is None
        refused = client.begin(request(id_="1"), start)
        assert json.loads(refused.error)["code"] == -32600
        client.take(cancelled("1"))
        await client.finished()
        assert client.begin(request(id_="1"), start) is None
        await client.close()
        return tasks

    tasks = run(story())
    assert [task.cancelled() for task in tasks] == [True, True]


def test_ids_of_different_types_are_different():
    async def story():
        client, tasks = Client("c"), {}
        for id_ in ("1", '"1"', "1.0"):
            assert client.begin(request(id_=id_), lambda: tasks.setdefault(id_, forever())) is None  # noqa: B023
        client.take(cancelled('"1"'))
        await asyncio.wait([tasks['"1"']])
        states = {id_: task.cancelled() for id_, task in tasks.items()}
        await client.close()
        return states

    assert run(story()) == {"1": False, '"1"': True, "1.0": False}


def test_requests_beyond_a_number_are_refused(monkeypatch):
    monkeypatch.setattr(clients, "MOST_OPEN", 2)

    async def story():
        client = Client("c")
        begun = [client.begin(request(id_=str(id_)), forever) for id_ in range(3)]
        await client.close()
        return begun

    assert [refused and json.loads(refused.error)["code"] for refused in run(story())] == [
        None,
        None,
        -32603,
    ]


@pytest.mark.parametrize(
    "notification",
    [
        Notification("notifications/initialized", None),
        Notification("notifications/cancelled", None),
        Notification("notifications/cancelled", value("{}")),
        cancelled("7"),
        cancelled("[]"),
    ],
)
def test_a_notification_that_cancels_nothing_is_passed_over(notification):
    async def story():
        client = Client("c")
        client.begin(request(id_="1"), forever)
        client.take(notification)
        await asyncio.sleep(0)
        is_open = bool(client._open)
        await client.close()
        return is_open

    assert run(story())


def test_a_client_is_asked_under_ids_of_ours_and_its_result_comes_back():
    async def story():
        client = FakeClient()
        client.answers = ['"result":{"roots":[1.0]}', '"result":{}']
        first = await client.exchange().ask("roots/list", '{"a":1}')
        second = await client.exchange().ask("roots/list", "{}")
        return client.sent, first.text, second.text

    sent, first, second = run(story())
    assert sent[0] == {"jsonrpc": "2.0", "id": 1, "method": "roots/list", "params": {"a": 1}}
    assert (sent[1]["id"], first, second) == (2, '{"roots":[1.0]}', "{}")


def test_an_error_of_the_client_is_kept_to_the_letter():
    async def story():
        client = FakeClient()
        client.answers = ['"error":{"code":-1,  "message":"no"}']
        await client.exchange().ask("roots/list", "{}")

    with pytest.raises(Refused) as refused:
        run(story())
    assert refused.value.error == '{"code":-1,  "message":"no"}'


def test_an_answer_that_is_nested_too_deeply_is_none():
    client = FakeClient()
    client.answers = [f'"result":{"[" * 201}{"]" * 201}']
    with pytest.raises(Refused, match="the client's answer is nested too deeply"):
        run(client.exchange().ask("roots/list", "{}"))


def test_a_client_that_does_not_answer_is_told_that_nobody_waits(monkeypatch):
    monkeypatch.setattr(clients, "_PATIENCE", 0.01)
    client = FakeClient()
    with pytest.raises(Refused, match=r"did not answer within 0\.01 s"):
        run(client.exchange().ask("roots/list", "{}"))
    assert client.sent[1] == {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 1},
    }


def test_an_answer_that_nobody_waits_for_is_passed_over():
    async def story():
        client = FakeClient()
        asking = asyncio.create_task(client.exchange().ask("roots/list", "{}"))
        await until(lambda: client.sent)
        asking.cancel()
        await asyncio.wait([asking])
        (late,) = incoming.read(b'{"jsonrpc":"2.0","id":1,"result":{}}')
        client.client.answered(late)
        return [message["method"] for message in client.sent]

    assert run(story()) == ["roots/list", "notifications/cancelled"]


def test_only_the_first_answer_counts():
    async def story():
        client = FakeClient()
        asking = asyncio.create_task(client.exchange().ask("roots/list", "{}"))
        await until(lambda: client.sent)
        for text in (b'"result":1', b'"result":2'):
            (response,) = incoming.read(b'{"jsonrpc":"2.0","id":1,' + text + b"}")
            client.client.answered(response)
        return (await asking).text

    assert run(story()) == "1"


def test_questions_beyond_a_number_are_refused(monkeypatch):
    monkeypatch.setattr(clients, "_MOST_ASKED", 0)
    with pytest.raises(Refused, match="too many questions"):
        run(FakeClient().exchange().ask("roots/list", "{}"))


def test_a_question_to_a_client_that_leaves_is_over():
    async def story():
        client = FakeClient()
        asking = asyncio.create_task(client.exchange().ask("roots/list", "{}"))
        answered = asyncio.create_task(client.exchange().ask("roots/list", "{}"))
        await until(lambda: len(client.sent) == 2)
        (response,) = incoming.read(b'{"jsonrpc":"2.0","id":2,"result":{}}')
        client.client.answered(response)
        await client.client.close()
        return await asyncio.gather(asking, answered, return_exceptions=True)

    refused, answered = run(story())
    assert json.loads(refused.error)["message"] == "the client is gone"
    assert answered.text == "{}"


def test_a_modern_client_takes_no_requests():
    client = FakeClient("2026-07-28")
    with pytest.raises(Refused, match="-32601"):
        run(client.exchange().ask("roots/list", "{}"))
    assert client.sent == []


def test_an_exchange_says_who_asks_and_is_silent_after_its_end():
    client = FakeClient()
    exchange = client.exchange()
    assert exchange.client == "me"
    exchange.notify("notifications/message", '{"data":1}')
    exchange.end()
    exchange.notify("notifications/message", '{"data":2}')
    assert [message["params"] for message in client.sent] == [{"data": 1}]


def test_what_a_handshake_says_holds_for_every_request_and_what_an_envelope_says_for_its_own():
    client = Client("c")
    legacy, modern = (Exchange(client, facts, print) for facts in (None, Facts("2026-07-28")))
    legacy.become(Facts("2025-11-25", log_level="info"))
    assert legacy.facts is client.facts
    assert (legacy.facts.log_level, modern.facts) == ("info", Facts("2026-07-28"))
