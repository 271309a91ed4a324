import asyncio
import errno
import gc
import os
import signal

import pytest
from gateway import CONNECTION, SETTINGS, Caller, do, entry, run, talking, text
from servers import TOOLS, command

from thrall_py.catalog.launch import LaunchSpec
from thrall_py.errors import ServerError, ServerGoneError, TimedOutError
from thrall_py.gateway.core.answering import Forward
from thrall_py.gateway.core.notices import look_into
from thrall_py.gateway.server import Drifted
from thrall_py.gateway.upstream import keeper, links, starting
from thrall_py.gateway.upstream.flight import Flight
from thrall_py.gateway.upstream.keeper import Keeper
from thrall_py.gateway.upstream.request import Request
from thrall_py.gateway.upstream.servers import Upstream, Upstreams
from thrall_py.gateway.upstream.waits import Outgoing
from thrall_py.protocol import mcp
from thrall_py.protocol.jsontext import Value
from thrall_py.transport import aside
from thrall_py.verbs.keeping import Opened

ECHO = Forward("it", "tools/call", "echo", '"name":"echo","arguments":{"text":"%s"}')
LARGE = 20_000_000  # bytes, more than any pipe holds


def using(scenario, pinned=None, **changes):
    async def play():
        upstream = Upstream("it", pinned or talking(), SETTINGS._replace(**changes))
        try:
            return await scenario(upstream)
        finally:
            await upstream.close()

    return run(play())


# -- pipes -----------------------------------------------------------------------------------------


def test_messages_larger_than_a_pipe_pass_side_by_side():
    async def scenario(upstream):
        calls = [ECHO._replace(members=ECHO.members % (each * LARGE)) for each in "abc"]
        answers = await asyncio.gather(*(upstream.request(call, Caller()) for call in calls))
        return [
            text(answer).count(each) >= LARGE for each, answer in zip("abc", answers, strict=True)
        ]

    pinned = entry(LaunchSpec(command("good"), {}), TOOLS)
    connection = CONNECTION._replace(max_message=1 << 26)
    assert using(scenario, pinned, connection=connection) == [True] * 3


def test_who_is_cancelled_while_the_pipe_is_full_leaves_it_in_order():
    async def scenario(upstream):
        await upstream.request(do("answer"), Caller())
        calls = [do("answer", fill="x" * 3_000_000) for _ in range(4)]
        slow = asyncio.create_task(upstream.request(do("nap", "answer"), Caller()))
        await asyncio.sleep(0.05)
        tasks = [asyncio.create_task(upstream.request(call, Caller())) for call in calls]
        await asyncio.sleep(0.05)
        tasks[0].cancel()
        tasks[2].cancel()
        ended = await asyncio.gather(slow, *tasks, return_exceptions=True)
        return [isinstance(each, asyncio.CancelledError) for each in ended]

    assert using(scenario) == [False, True, False, True, False]


def test_an_answer_without_a_line_end_counts_before_the_end():
    async def scenario(upstream):
        return text(await upstream.request(do("last-words"), Caller()))

    assert using(scenario) == "bye"


def test_a_line_without_an_end_is_too_long_at_some_time():
    async def scenario(upstream):
        with pytest.raises(
            ServerError, match="^the server sent more than 1048576 bytes in one line"
        ):
            await upstream.request(do("endless"), Caller())

    using(scenario)


def test_a_line_that_is_whole_at_once_may_be_too_long_as_well():
    async def scenario(upstream):
        call = ECHO._replace(members=ECHO.members % ("x" * 60_000))
        with pytest.raises(ServerError, match="sent more than 20000 bytes in one line"):
            await upstream.request(call, Caller())

    pinned = entry(LaunchSpec(command("good"), {}), TOOLS)
    using(scenario, pinned, connection=CONNECTION._replace(max_message=20_000))


def test_a_server_that_asks_and_does_not_read_is_ended():
    async def scenario(upstream):
        with pytest.raises(
            ServerError, match="^the server sends more requests than it reads replies"
        ):
            await upstream.request(do("pings"), Caller())

    using(scenario)


def test_a_broken_pipe_wakes_all_who_wait_to_write_and_who_gave_up_is_forgotten():
    async def play():
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        broken = []
        outgoing = Outgoing(writing, lambda: broken.append(1))
        outgoing.put(b"x" * 3_000_000)
        tasks = [asyncio.create_task(outgoing.room()) for _ in range(3)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.wait(tasks[1:2])
        waiting = len(outgoing._waiting)
        os.close(reading)
        await asyncio.wait(tasks)
        outgoing.put(b"z")
        outgoing.close()
        os.close(writing)
        return broken, waiting, len(outgoing._waiting)

    assert run(play()) == ([1], 2, 0)


def test_who_gives_up_when_there_is_room_has_given_up():
    async def play():
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        outgoing = Outgoing(writing, lambda: None)
        outgoing.put(b"x" * 3_000_000)
        task = asyncio.create_task(outgoing.room())
        await asyncio.sleep(0)
        task.cancel()
        outgoing.close()
        await asyncio.wait([task])
        os.close(reading)
        os.close(writing)
        return task.cancelled()

    assert run(play())


# -- conversations ---------------------------------------------------------------------------------


def test_a_server_that_is_gone_is_not_asked():
    async def scenario(upstream):
        await upstream.request(do("answer"), Caller())
        conversation = upstream._source._held.conversation
        await conversation.close()
        await conversation.close()
        with pytest.raises(ServerGoneError, match="^the server is gone, and was not asked$"):
            await conversation.request(Request("ping", "", 1))

    using(scenario)


def test_a_fault_of_a_listener_fails_the_requests_and_is_not_hidden():
    class Faulty(Caller):
        def progressed(self, _):
            raise ZeroDivisionError

    async def scenario(upstream):
        faults = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: faults.append(context.get("exception")))
        step = {"method": "notifications/progress", "params": {"progressToken": "$token"}}
        with pytest.raises(ServerError, match="^the server was left during tools/call"):
            await upstream.request(do(step), Faulty(progress=True))
        pump = upstream._source._held.conversation.pump
        await asyncio.wait([pump])
        return type(pump.exception()), text(await upstream.request(do("answer"), Caller()))

    assert using(scenario) == (ZeroDivisionError, "102")


@pytest.mark.parametrize("words", ['"x"', '{"a":1,"a":2}', '{"a":"' + "x" * (1 << 20) + '"}'])
def test_params_that_are_no_small_object_are_not_looked_into(words):
    assert look_into(Value(words, 0, len(words))) is None
    assert look_into(None) is None


# -- definitions -----------------------------------------------------------------------------------


def test_a_list_that_changes_while_it_is_read_is_read_again():
    async def scenario(upstream):
        with pytest.raises(Drifted):
            await upstream.request(do("answer"), Caller())

    using(scenario, talking("2025-11-25", "", "changes"))


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ("odd", "the server sent a page that cannot be used .* during tools/list"),
        ("bare", "the server offers no tools: it declares no such capability"),
        ("refuses", "the server refused tools/list with error -5"),
    ],
)
def test_a_list_that_cannot_be_had_is_a_failure(how, sentence):
    async def scenario(upstream):
        with pytest.raises(Exception, match=f"^{sentence}"):
            await upstream.request(do("answer"), Caller())

    using(scenario, talking("2025-11-25", "", how))


def test_a_list_of_several_pages_is_read_whole():
    async def scenario(upstream):
        return text(await upstream.request(do("answer"), Caller()))

    assert using(scenario, talking("2025-11-25", "", "pages")) == "103"


def test_a_list_that_does_not_come_is_a_failure_for_all_who_wait():
    async def scenario(upstream):
        calls = (upstream.request(do("answer"), Caller()) for _ in range(3))
        return {type(each) for each in await asyncio.gather(*calls, return_exceptions=True)}

    pinned = talking("2025-11-25", "", "silent")
    assert using(scenario, pinned, connection=CONNECTION._replace(timeout=0.3)) == {TimedOutError}


def test_a_tool_that_drifted_does_not_keep_an_eager_server_from_starting():
    pinned = talking()._replace(items={"tools": {"gone": talking().tools["do"]}})

    async def play():
        upstream = Upstream("it", pinned, SETTINGS)
        await upstream.start()
        modern = upstream.is_modern
        await upstream.close()
        return modern

    assert run(play()) is False


def test_a_server_without_pinned_tools_is_started_and_compared_with_nothing():
    async def scenario(upstream):
        await upstream.start()
        return upstream.is_modern

    assert using(scenario, pinned=entry(LaunchSpec(command("good"), {}), ())) is False


def test_a_fault_at_the_start_is_not_hidden(monkeypatch):
    async def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(starting, "start_process", fail)
    faults = []

    async def play():
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: faults.append(context["exception"]))
        upstreams = Upstreams({"it": talking()}, SETTINGS._replace(eager=True))
        upstreams.begin()
        while upstreams._starting._tasks:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await upstreams.close()

    run(play())
    gc.collect()
    assert [type(fault) for fault in faults] == [ZeroDivisionError]


# -- keepers ---------------------------------------------------------------------------------------


def test_a_keeper_that_ends_without_a_word_is_a_failure():
    async def play():
        with pytest.raises(
            ServerError,
            match="^the process that keeps the server ended without a word: look at what is",
        ):
            await starting._opened(lambda *_: None)

    run(play())


def test_a_keeper_that_cannot_be_started_is_a_failure(monkeypatch):
    def refuse(_):
        raise OSError(errno.EAGAIN, "no more")

    monkeypatch.setattr(aside, "start", refuse)

    async def play():
        with pytest.raises(ServerError, match="^no process can be started for it: no more$"):
            Keeper(lambda *_: None)

    run(play())


def test_a_keeper_that_does_not_go_is_killed_and_what_it_sent_is_closed():
    def deaf(line, _):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        line.tell("x", (0, 1))
        line.hear()
        line.hear()

    async def play():
        held = Keeper(deaf)
        held._outgoing._on_broken()
        assert await held.hear() == "x"
        assert len(held.descriptors) == 2
        held.stop()
        await held.gone(0.05)
        held.stop()
        held.close()

    run(play())


@pytest.mark.usefixtures("no_child_left")
def test_a_server_whose_pipes_do_not_all_arrive_is_ended(monkeypatch):
    real = aside.take

    def take(end):
        data, descriptors = real(end)
        for descriptor in descriptors[1:]:  # as the kernel does without a free one
            os.close(descriptor)
        return data, descriptors[:1]

    async def scenario(upstream):
        monkeypatch.setattr(keeper.aside, "take", take)
        with pytest.raises(
            ServerError, match="^too many files are open to take the server's pipes: raise ulimit"
        ):
            await upstream.request(do("answer"), Caller())
        monkeypatch.setattr(keeper.aside, "take", real)
        return text(await upstream.request(do("answer"), Caller())).isdigit()

    assert using(scenario)


@pytest.mark.usefixtures("no_child_left")
def test_a_guard_that_says_nothing_more_is_killed_and_the_requests_fail(monkeypatch):
    monkeypatch.setattr(links, "_TEARDOWN", 0.1)

    def mute(line, _):
        ours, theirs = os.pipe(), os.pipe()
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        os.set_blocking(ours[0], False)
        line.tell(Opened(mcp.ServerInfo("2025-11-25")), (theirs[1], ours[0]))
        os.close(ours[1])  # the server is gone
        signal.pause()

    monkeypatch.setattr(starting, "guarding", lambda *_: mute)

    async def scenario(upstream):
        with pytest.raises(ServerGoneError, match="^the server was ended during tools/list"):
            await upstream.request(do("answer"), Caller())

    using(scenario, connection=CONNECTION._replace(grace=0.1))


def test_hearing_from_a_keeper_wakes_without_news_and_ends_with_a_broken_socket(monkeypatch):
    outcomes = [BlockingIOError, ConnectionResetError]
    real = aside.take

    def take(end):
        if outcomes:
            raise outcomes.pop(0)
        return real(end)

    monkeypatch.setattr(keeper.aside, "take", take)

    async def play():
        held = Keeper(lambda line, _: line.tell("x"))
        assert await held.hear() is None
        await held.gone(10)
        held.close()

    run(play())


def test_a_flight_whose_failure_nobody_saw_says_nothing():
    async def play():
        async def fail():
            await asyncio.sleep(0.01)
            raise ServerError("x")

        flight = Flight(fail)
        task = asyncio.create_task(flight.join())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        await asyncio.sleep(0.05)
        await flight.cancel()
        return task.cancelled()

    assert run(play())
