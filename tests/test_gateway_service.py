"""A gateway: answered from the catalog or by a server, and one line for each call."""

import asyncio
import json

import pytest
from gateways import FakeClient, catalog, envelope, error, made, request, result, run, until

from thrall_py.errors import TimedOutError
from thrall_py.gateway import audit
from thrall_py.gateway.caller import Facts
from thrall_py.gateway.core import digest, offer
from thrall_py.gateway.server import Drifted
from thrall_py.gateway.service import Service
from thrall_py.redact import Redactor

DONE = '"result":{"content":[]}'


class Lines:
    """Where the log goes."""

    waiting = 0

    def __init__(self):
        self.told = []

    def write(self, data):
        members = json.loads(data)
        del members["time"]
        self.told.append(members)


def service(*steps, ask=False):
    relay, server = made(*steps, ask=ask)
    lines = Lines()
    offered = offer.make(catalog(), ask=ask)
    return Service(offered, relay, audit.Log(lines, "json", Redactor())), server, lines.told


def handled(it, sent, client=None):
    return run(it.handle(sent, (client or FakeClient()).exchange()))


def test_what_the_catalog_says_is_answered_without_a_server_and_without_a_line():
    it, server, told = service()
    names = [tool["name"] for tool in result(handled(it, request("tools/list")))["tools"]]
    assert names == ["echo", "look"]
    assert (server.made, told) == ([], [])


def test_a_handshake_makes_the_client_what_it_says_and_is_told():
    it, _, told = service()
    client = FakeClient(revision="")
    about = {"name": "Agent\x1b", "version": "1"}
    sent = request("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=about)
    handled(it, sent, client)
    assert client.client.facts == Facts("2025-06-18", "{}", "", "Agent\x1b")
    assert told == [{"event": "client", "name": "Agent\\x1b", "revision": "2025-06-18"}]


def test_a_log_level_changes_nothing_else():
    it, _, told = service()
    client = FakeClient()
    handled(it, request("logging/setLevel", level="error"), client)
    assert client.client.facts == client.facts._replace(log_level="error")
    assert told == []


def test_a_call_has_a_line_with_digests_and_how_it_ended():
    async def step(_forward, _listener):
        await asyncio.sleep(0.02)
        return DONE

    it, _, told = service(step)
    client = FakeClient()
    client.client.facts = client.facts._replace(name="agent")
    assert handled(it, request(name="echo", arguments={"b": 1, "a": 2}), client) == DONE
    (line,) = told
    assert line.pop("ms") >= 20
    assert line == {
        "event": "call",
        "tool": "echo",
        "server": "a",
        "definition": it.offer.tools["echo"].item.digest,
        "arguments": digest.of('{"a":2,"b":1}'),
        "outcome": "ok",
        "client": "agent",
    }


def test_a_modern_client_is_named_by_its_envelope_and_a_prompt_by_its_method():
    it, _, told = service('"result":{"messages":[]}')
    sent = request("prompts/get", name="hello", _meta=envelope())
    handled(it, sent, FakeClient("2026-07-28"))
    assert (told[0]["method"], told[0]["client"]) == ("prompts/get", "modern")
    assert "tool" not in told[0]


@pytest.mark.parametrize("info", ["{}", "[]", '{"name":7}', '{"é":1,"\\u00e9":1}', "null"])
def test_a_client_without_a_name_has_none(info):
    it, _, told = service(DONE)
    meta = json.dumps(envelope())[1:].replace('{"name": "modern"}', info)
    handled(it, request(name="echo", _meta_=f"{{{meta}"), FakeClient("2026-07-28"))
    assert "client" not in told[0]


def test_a_call_without_arguments_has_the_digest_of_none():
    it, _, told = service(DONE)
    handled(it, request(name="echo"))
    assert told[0]["arguments"] == digest.of("{}")


def test_a_call_that_is_cancelled_is_told_as_such():
    async def story():
        began = []

        async def step(_forward, _listener):
            began.append(True)
            await asyncio.sleep(1000)

        it, _, told = service(step)
        call = asyncio.create_task(it.handle(request(name="echo"), FakeClient().exchange()))
        await until(lambda: began)
        call.cancel()
        await asyncio.wait([call])
        await it.close()
        return call.cancelled(), told[0]["outcome"]

    assert run(story()) == (True, "cancelled")


def test_why_there_was_no_answer_is_told():
    it, _, told = service(TimedOutError("no answer"), DONE)
    handled(it, request(name="echo"))
    handled(it, request(name="echo"))
    assert (told[0]["outcome"], told[0]["why"]) == ("failed", "a/echo: no answer")
    assert not told[1].get("why")


def test_a_bug_ends_one_request_and_not_the_gateway():
    it, _, told = service(ZeroDivisionError(), DONE)
    assert error(handled(it, request(name="echo")))["code"] == -32603
    assert [line["event"] for line in told] == ["call", "bug"]
    assert told[0]["outcome"] == "bug"
    assert "ZeroDivisionError" in told[1]["traceback"]
    assert handled(it, request(name="echo")) == DONE


def test_the_state_of_a_server_is_what_became_of_the_last_request_to_it():
    it, _, _ = service(DONE, TimedOutError("no answer"), Drifted([], Redactor()), DONE)
    assert it.states == {"a": "unused"}
    seen = []
    for _ in range(4):
        handled(it, request(name="echo", arguments={}))
        seen.append(it.states["a"])
    assert seen == ["ok", "failed", "drift", "ok"]


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_a_server_that_was_not_asked_because_of_an_approval_has_no_state(revision):
    async def story():
        it, server, told = service(ask=True)
        sent = request(name="echo", **({"_meta": envelope()} if revision == "2026-07-28" else {}))
        client = FakeClient(revision)
        client.answers = ['"result":{"action":"decline"}']
        await it.handle(sent, client.exchange())
        await it.close()
        return told[0]["outcome"], server.made, it.states

    outcome = {"2025-11-25": "refused", "2026-07-28": "input_required"}[revision]
    assert run(story()) == (outcome, [], {"a": "unused"})
