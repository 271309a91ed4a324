import asyncio
import itertools
import os
import signal
import threading

import loopback
import pytest
from gateway import CONNECTION, SETTINGS, Caller, on_url, run, text
from loopback import HOLD, TEXT, TOOL, OldTransport, at, event, legacy, modern, reply, say, stream

from thrall_py.errors import (
    HttpStatusError,
    JsonRpcError,
    ServerError,
    SessionLostError,
    TimedOutError,
    UnauthorizedError,
)
from thrall_py.gateway.core.answering import Forward
from thrall_py.gateway.server import Drifted
from thrall_py.gateway.upstream import backoff
from thrall_py.gateway.upstream import servers as upstream_module
from thrall_py.gateway.upstream.servers import Upstream
from thrall_py.protocol import mcp

CALL = Forward("it", "tools/call", "echo", '"name":"echo","arguments":{}')
MARKED = {
    "name": "echo",
    "inputSchema": {
        "type": "object",
        "properties": {"where": {"type": "string", "x-mcp-header": "Where"}},
    },
}
MISMARKED = {"name": "echo", "inputSchema": {"type": "object", "x-mcp-header": "Where"}}


def using(scenario, server, revision="2025-11-25", tools=(TOOL,), **changes):
    async def play():
        pinned = on_url(server.url, tools, revision)
        upstream = Upstream("it", pinned, SETTINGS._replace(**changes))
        try:
            return await scenario(upstream)
        finally:
            await upstream.close()

    return run(play())


async def calls(upstream, count, caller=None):
    every = (upstream.request(CALL, caller or Caller()) for _ in range(count))
    return [text(each) for each in await asyncio.gather(*every)]


class Meeting:
    """A special of the loopback: calls are answered when as many are open as were expected."""

    def __init__(self, count):
        self._barrier = threading.Barrier(count)
        self.most = 0
        self._open = 0
        self._lock = threading.Lock()

    def __call__(self, asked):
        if asked.method != "tools/call":
            return None
        with self._lock:
            self._open += 1
            self.most = max(self.most, self._open)
        self._barrier.wait(20)
        with self._lock:
            self._open -= 1
        return [say(loopback.result(asked, **TEXT))]


def test_requests_that_are_open_at_once_share_one_session_which_is_ended_once(serve):
    server = serve(legacy(Meeting(4), session="s-1"))

    async def scenario(upstream):
        return await calls(upstream, 4)

    assert using(scenario, server) == ["hi"] * 4
    assert server.methods.count("initialize") == 1
    assert server.methods.count("tools/list") == 1
    assert server.methods.count("DELETE") == 1
    ids = {
        each.headers.get("mcp-session-id") for each in server.asked if each.method == "tools/call"
    }
    assert ids == {"s-1"}
    requests = [each.id for each in server.asked if each.id is not None]
    assert len(set(requests)) == len(requests)


@pytest.mark.parametrize("make", [legacy, modern])
def test_a_carrier_that_is_free_is_used_again(serve, make):
    server = serve(make())

    async def scenario(upstream):
        for _ in range(5):
            await calls(upstream, 1)
        return len(upstream._source._free), upstream.is_modern

    revision = "2026-07-28" if make is modern else "2025-11-25"
    assert using(scenario, server, revision) == (1, make is modern)
    assert server.methods.count("tools/call") == 5


def test_no_more_than_sixteen_requests_are_open_and_the_others_wait(serve):
    meeting = Meeting(16)
    server = serve(legacy(meeting, session="s"))

    async def scenario(upstream):
        return await calls(upstream, 32)

    assert using(scenario, server) == ["hi"] * 32
    assert meeting.most == 16


def test_what_is_mirrored_in_headers_is_taken_from_the_request(serve):
    server = serve(modern(tools=(MARKED,)))

    async def scenario(upstream):
        call = CALL._replace(members='"name":"echo","arguments":{"where":"h\u00c3\u00a9re"}')
        await upstream.request(call, Caller())
        for method, members, kind in [
            ("prompts/get", '"name":"p"', mcp.PROMPTS),
            ("resources/read", '"uri":"u:1"', mcp.RESOURCES),
            ("completion/complete", '"ref":{}', mcp.TEMPLATES),
        ]:
            await upstream.request(Forward("it", method, "p", members, kind), Caller())
        await upstream.request(CALL._replace(members='"name":"echo"'), Caller())

    using(scenario, server, "2026-07-28", tools=(MARKED,))
    sent = [
        each.headers
        for each in server.asked
        if each.method not in ("server/discover", "tools/list")
    ]
    assert [each.get("mcp-name") for each in sent] == ["echo", "p", "u:1", None, "echo"]
    assert sent[0]["mcp-param-where"] == "=?base64?aMOpcmU=?="
    assert {each["mcp-protocol-version"] for each in sent} == {"2026-07-28"}


def test_a_tool_that_marks_its_parameters_wrongly_cannot_be_called(serve):
    server = serve(modern(tools=(MISMARKED,)))

    async def scenario(upstream):
        with pytest.raises(
            ServerError, match="^the server defines the tool so that nobody can call"
        ):
            await upstream.request(CALL, Caller())

    using(scenario, server, "2026-07-28", tools=(MISMARKED,))
    assert "tools/call" not in server.methods


def once(method, make):
    """A special that answers a method once in another way."""
    done = []

    def special(asked):
        if asked.method != method or done:
            return None
        done.append(1)
        return [make(asked)]

    return special


def test_headers_that_do_not_fit_are_made_again_from_a_new_list_once(serve):
    mismatch = once("tools/call", lambda asked: say(loopback.error(asked, -32020), 400))
    server = serve(modern(mismatch))

    async def scenario(upstream):
        return await calls(upstream, 1)

    assert using(scenario, server, "2026-07-28") == ["hi"]
    assert server.methods == [
        "server/discover",
        "tools/list",
        "tools/call",
        "tools/list",
        "tools/call",
    ]


def test_a_session_that_is_lost_is_begun_anew_and_the_tool_is_compared_again(serve):
    lost = once("tools/call", lambda _: reply(404))
    server = serve(legacy(lost, session="s"))

    async def scenario(upstream):
        return await calls(upstream, 1)

    assert using(scenario, server) == ["hi"]
    assert server.methods.count("initialize") == 2
    assert server.methods.count("tools/list") == 2
    assert server.methods.count("tools/call") == 2


def test_a_session_that_is_lost_again_is_the_failure(serve):
    server = serve(legacy(at("tools/call", reply(404)), session="s"))

    async def scenario(upstream):
        with pytest.raises(HttpStatusError, match="^the server does not know the session any more"):
            await upstream.request(CALL, Caller())

    using(scenario, server)
    assert server.methods.count("tools/call") == 2


def test_carriers_of_a_lost_session_are_not_used_any_more(serve):
    server = serve(legacy(Meeting(2), session="s"))

    async def scenario(upstream):
        await calls(upstream, 2)
        upstream._source._forget_session()
        return await calls(upstream, 2)

    assert using(scenario, server) == ["hi"] * 2
    assert server.methods.count("initialize") == 2


def test_a_request_that_lost_an_earlier_session_leaves_the_present_one_alone(serve):
    async def scenario(upstream):
        await calls(upstream, 1)
        pool = upstream._source
        lease = pool.lease(5.0)
        await lease.__aenter__()
        present = pool._ticket = pool._ticket._replace()
        lost = SessionLostError("lost")
        assert not await lease.__aexit__(type(lost), lost, None)
        return pool._ticket is present

    assert using(scenario, serve(legacy(session="s")))


def test_a_session_that_was_opened_during_a_pause_is_used(serve, monkeypatch):
    server = serve(legacy(session="s"))

    async def scenario(upstream):
        await calls(upstream, 1)
        pool = upstream._source
        ticket, pool._ticket = pool._ticket, None

        async def opened_meanwhile(_):
            pool._ticket = ticket

        monkeypatch.setattr(pool._backoff, "wait", opened_meanwhile)
        return await calls(upstream, 1)

    assert using(scenario, server) == ["hi"]
    assert server.methods.count("initialize") == 1


def test_a_server_that_does_not_let_us_in_says_so_at_once_to_all(serve):
    server = serve(lambda _: iter([reply(401)]))

    async def scenario(upstream):
        every = (upstream.request(CALL, Caller()) for _ in range(5))
        return {type(each) for each in await asyncio.gather(*every, return_exceptions=True)}

    assert using(scenario, server) == {UnauthorizedError}
    assert len(server.asked) == 1


def test_an_answer_that_is_none_is_a_failure_and_the_next_request_has_another_carrier(serve):
    broken = once("tools/call", lambda _: reply(500, b"oops", "text/plain"))
    server = serve(legacy(broken, session="s"))

    async def scenario(upstream):
        with pytest.raises(HttpStatusError, match="500.*the tool may have run"):
            await upstream.request(CALL, Caller())
        return await calls(upstream, 1)

    assert using(scenario, server) == ["hi"]
    assert server.methods.count("initialize") == 1


def test_an_answer_that_is_too_large_is_a_failure(serve):
    server = serve(
        legacy(at("tools/call", lambda asked: say(loopback.result(asked, x="x" * 2_000_000))))
    )

    async def scenario(upstream):
        with pytest.raises(
            ServerError, match="^the server sent more than 1048576 bytes in one body"
        ):
            await upstream.request(CALL, Caller())

    using(scenario, server)


@pytest.mark.parametrize(("make", "told"), [(legacy, 1), (modern, 0)])
def test_a_request_that_is_late_is_cancelled(serve, make, told):
    server = serve(make(at("tools/call", HOLD)))

    async def scenario(upstream):
        with pytest.raises(TimedOutError):
            await upstream.request(CALL, Caller())

    revision = "2026-07-28" if make is modern else "2025-11-25"
    using(scenario, server, revision, connection=CONNECTION._replace(timeout=0.5))
    assert server.methods.count("notifications/cancelled") == told


def test_a_request_that_is_cancelled_ends_its_carrier_and_not_the_session(serve):
    server = serve(legacy(at("tools/call", HOLD), session="s"))

    async def scenario(upstream):
        task = asyncio.create_task(upstream.request(CALL, Caller()))
        while "tools/call" not in server.methods:  # noqa: ASYNC110 - the server is in a thread
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await upstream.request(CALL._replace(method="prompts/get"), Caller())

    using(scenario, server)
    assert server.methods.count("notifications/cancelled") == 1
    assert server.methods.count("initialize") == 1
    assert server.methods.count("DELETE") == 1


def asking(asked):
    question = {
        "jsonrpc": "2.0",
        "id": "q",
        "method": "elicitation/create",
        "params": {"message": "Who?", "requestedSchema": {}},
    }
    progress = {
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {"progressToken": asked.id, "progress": 1},
    }
    if asked.method != "tools/call":
        return None
    answer = event(loopback.result(asked, **TEXT))
    return stream(
        event(progress),
        event(question),
        event([{"jsonrpc": "2.0", "id": 1, "method": "ping"}]),
        answer,
    )


def test_a_question_in_a_reply_is_asked_and_the_answer_posted(serve):
    server = serve(legacy(asking, session="s"))
    caller = Caller(progress=True)

    async def scenario(upstream):
        return await calls(upstream, 1, caller)

    assert using(scenario, server) == ["hi"]
    assert [method for method, _ in caller.questions] == ["elicitation/create"]
    assert [each["progress"] for each in caller.told] == [1]
    replies = [each.message for each in server.asked if each.verb == "POST" and not each.method]
    assert [each["id"] for each in replies] == ["q", 1]
    assert replies[0]["result"]["content"] == {"name": "\u00e9"}


def test_an_answer_that_cannot_be_read_is_a_failure(serve):
    def broken(asked):
        if asked.method != "tools/call":
            return None
        return stream(event(f'{{"jsonrpc":"2.0","id":{asked.id},"result":[}}'), HOLD)

    server = serve(legacy(broken, session="s"))

    async def scenario(upstream):
        with pytest.raises(ServerError, match="^the server sent an answer that is not JSON"):
            await upstream.request(CALL, Caller())

    using(scenario, server)


def test_carriers_that_are_not_needed_are_ended_and_the_session_with_the_last(serve):
    server = serve(legacy(Meeting(3), session="s"))

    async def scenario(upstream):
        await calls(upstream, 3)
        while "DELETE" not in server.methods:  # noqa: ASYNC110 - the server is in a thread
            await asyncio.sleep(0.01)
        return upstream._source._free, upstream._source._ticket

    assert using(scenario, server, idle=0.1) == ([], None)
    assert server.methods.count("DELETE") == 1


def test_over_the_old_transport_every_carrier_has_a_session_of_its_own(serve):
    transports = {}
    numbers = itertools.count()  # each connection has a thread

    def respond(asked):
        if asked.verb == "POST" and asked.target == "/mcp":
            return iter([reply(405)])
        if asked.verb == "GET":
            number = next(numbers)
            transports[number] = OldTransport(legacy(Meeting(1)), f"/messages?session={number}")
        else:
            number = int(asked.target.rpartition("=")[2])
        return transports[number](asked)

    server = serve(respond)

    async def scenario(upstream):
        answers = await calls(upstream, 2)
        for each in transports.values():
            each.events.put(None)
        return answers

    assert using(scenario, server) == ["hi", "hi"]
    assert server.methods.count("initialize") == 2 * len(transports)


def test_a_carrier_that_fails_where_no_session_is_shared_is_followed_by_a_pause(serve, monkeypatch):
    server = serve(legacy())
    begun = []

    async def fail(_):
        begun.append(True)
        raise ServerError("it is not reached")

    async def scenario(upstream):
        pool = upstream._source
        pool._can_share = False
        monkeypatch.setattr(backoff, "_SHORTEST", 30.0)
        monkeypatch.setattr(pool, "_start", fail)
        for _ in range(3):
            with pytest.raises(ServerError, match="^it is not reached$"):
                await upstream.request(CALL, Caller())
        return len(begun)

    assert using(scenario, server) == 1


def test_isolated_calls_have_a_session_of_their_own(serve):
    server = serve(legacy(session="s"))

    async def scenario(upstream):
        return await calls(upstream, 2)

    assert using(scenario, server, isolate=True) == ["hi", "hi"]
    assert server.methods.count("initialize") == 2
    assert server.methods.count("DELETE") == 2


@pytest.mark.parametrize(("seconds", "lists"), [(0.0, 2), (60.0, 1)])
def test_definitions_are_compared_again_when_the_last_time_is_a_while_ago(
    serve, monkeypatch, seconds, lists
):
    monkeypatch.setattr(upstream_module, "_UNTOLD", seconds)
    server = serve(legacy(session="s"))

    async def scenario(upstream):
        return await calls(upstream, 1) + await calls(upstream, 1)

    assert using(scenario, server) == ["hi", "hi"]
    assert server.methods.count("tools/list") == lists


def test_a_tool_that_drifted_on_a_url_is_not_called(serve):
    server = serve(legacy(tools=({**TOOL, "description": "new"},)))

    async def scenario(upstream):
        for _ in range(2):
            with pytest.raises(Drifted):
                await upstream.request(CALL, Caller())
        return len(upstream._source._free)

    assert using(scenario, server) == 1
    assert "tools/call" not in server.methods


def test_a_list_that_is_refused_is_the_failure_of_the_call(serve):
    server = serve(legacy(at("tools/list", lambda asked: say(loopback.error(asked, -5)))))

    async def scenario(upstream):
        with pytest.raises(JsonRpcError, match="^the server refused tools/list with error -5"):
            await upstream.request(CALL, Caller())

    using(scenario, server)


@pytest.mark.usefixtures("no_child_left")
def test_an_upstream_that_ends_during_the_opening_leaves_nothing(serve):
    server = serve(lambda _: iter([HOLD]))

    async def play():
        upstream = Upstream("it", on_url(server.url, (TOOL,)), SETTINGS)
        task = asyncio.create_task(upstream.request(CALL, Caller()))
        while not server.asked:  # noqa: ASYNC110 - the server is in a thread
            await asyncio.sleep(0.01)
        await upstream.close()
        with pytest.raises(ServerError, match="^the server is being ended$"):
            await task

    run(play())


def test_a_carrier_that_died_while_it_was_free_is_not_used(serve):
    server = serve(legacy(session="s"))

    async def scenario(upstream):
        await calls(upstream, 1)
        (carried,) = upstream._source._free
        os.kill(carried.link._keeper._aside.pid, signal.SIGKILL)
        await asyncio.wait([carried.conversation.pump])
        return await calls(upstream, 1)

    assert using(scenario, server) == ["hi"]
    assert server.methods.count("initialize") == 1


def test_a_session_of_which_no_carrier_is_left_is_ended_all_the_same(serve):
    server = serve(legacy(session="s"))

    async def scenario(upstream):
        await calls(upstream, 1)
        (carried,) = upstream._source._free
        os.kill(carried.link._keeper._aside.pid, signal.SIGKILL)
        await asyncio.wait([carried.conversation.pump])

    using(scenario, server)
    assert server.methods[-1] == "DELETE"
