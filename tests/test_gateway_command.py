"""A plain command behind the gateway: one run for each call, and nothing left of it."""

import asyncio
import os
import select
import signal
import sys

import children
import pytest
from gateway import CONNECTION, SETTINGS, Caller, Told, run, text

from thrall_py.catalog.entry import command_entry, pin_item
from thrall_py.catalog.launch import ExecSpec, LaunchSpec
from thrall_py.errors import InputError, ProgramNotFoundError, ServerError, TimedOutError
from thrall_py.gateway.core.answering import Forward
from thrall_py.gateway.upstream import command as command_
from thrall_py.gateway.upstream.command import PlainCommand
from thrall_py.gateway.upstream.servers import Upstreams
from thrall_py.transport import aside


def entry(*words, env=None):
    return command_entry(ExecSpec(LaunchSpec(words, env or {})), {"t": pin_item({"name": "t"})})


def sh(script, **more):
    return entry("sh", "-c", script, **more)


def call(arguments='{"a":1}'):
    return Forward("it", "tools/call", "t", f'"name":"t","arguments":{arguments}')


BARE = Forward("it", "tools/call", "t", '"name":"t"')


def using(scenario, pinned, **changes):
    """Run a scenario with a plain command, and end what runs."""

    async def play():
        plain = PlainCommand("it", pinned, CONNECTION._replace(**changes))
        try:
            return await scenario(plain)
        finally:
            await plain.close()

    return run(play())


def answer(pinned, forward=BARE, **changes):
    return using(lambda plain: plain.request(forward, Caller()), pinned, **changes)


def test_arguments_pass_to_the_letter():
    spelled = '{"b":1.0,"a":1e400,"t":"\\u00e9\u00e9","n":\n[ 9007199254740993 ]}'
    assert text(answer(sh("cat"), call(spelled.encode().decode("latin-1")))) == spelled


def test_no_arguments_are_an_empty_object():
    assert text(answer(sh("cat"))) == "{}"


def test_a_failure_is_a_result_that_says_so():
    message = answer(sh("echo no; exit 1"))
    assert message.result.load() == {"content": [{"type": "text", "text": "no"}], "isError": True}


@pytest.mark.parametrize(
    ("pinned", "error"),
    [
        (entry("./no-such"), ProgramNotFoundError),
        (entry("x", env={"A": "${NO}"}), InputError),
        (sh("sleep 9"), TimedOutError),
        (sh(r"printf '\377'"), ServerError),
    ],
)
def test_what_keeps_it_from_answering_is_raised(pinned, error):
    with pytest.raises(error):
        answer(pinned, timeout=1, grace=0)


class Line:
    """What a process aside tells."""

    def __init__(self, *, is_cut=False):
        self.told = []
        self.is_cut = is_cut

    def tell(self, value):
        if self.is_cut:
            raise BrokenPipeError
        self.told.append(value)


def test_a_run_tells_its_result_or_why_there_is_none(interrupts):
    line = Line()
    for pinned in (sh("echo yes"), entry("./no-such")):
        command_._running(pinned.launch, BARE, CONNECTION)(line, interrupts)
    result, failed = line.told
    assert result == b'{"content":[{"type":"text","text":"yes"}]}'
    assert isinstance(failed.problem, ProgramNotFoundError)


def test_a_run_of_which_nobody_wants_to_know_is_over(interrupts):
    line = Line(is_cut=True)
    command_._running(sh("cat").launch, BARE, CONNECTION)(line, interrupts)
    assert line.told == []


def test_many_calls_run_side_by_side_and_no_answer_is_crossed():
    async def scenario(plain):
        asked = [call(f'{{"n":{number}}}') for number in range(40)]
        messages = await asyncio.gather(*(plain.request(each, Caller()) for each in asked))
        return [text(message) for message in messages]

    assert using(scenario, sh("cat")) == [f'{{"n":{number}}}' for number in range(40)]


def test_no_more_run_at_a_time_than_there_is_room_for(monkeypatch, tmp_path):
    monkeypatch.setattr(command_, "_MOST", 1)
    script = f"set -C; echo > {tmp_path}/busy && sleep 0.1 && rm {tmp_path}/busy"

    async def scenario(plain):
        messages = await asyncio.gather(*(plain.request(BARE, Caller()) for _ in range(3)))
        return [message.result.member("isError") for message in messages]

    assert using(scenario, sh(script)) == [None] * 3


def begins(graveyard):
    """A command that holds the FIFO, says that it has begun, and does not end."""
    return sh(f"exec 9> {graveyard.path}; echo begun >&9; sleep 60")


def test_a_call_that_is_cancelled_ends_the_run(graveyard):
    async def scenario(plain):
        loop, spoke = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(graveyard._reading, spoke.set)
        asking = asyncio.create_task(plain.request(BARE, Caller()))
        await spoke.wait()
        loop.remove_reader(graveyard._reading)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    using(scenario, begins(graveyard), grace=0)
    assert graveyard.words() == ["begun"]


def test_a_process_that_ends_without_a_word_is_a_failure():
    script = f"kill -{int(signal.SIGKILL)} $PPID"
    with pytest.raises(ServerError, match="^the process that runs the command ended without a wor"):
        answer(sh(script))


def test_no_process_is_no_answer_and_takes_no_room(monkeypatch):
    monkeypatch.setattr(command_, "_MOST", 1)

    def refuse(_):
        raise OSError(11, "Resource temporarily unavailable")

    async def scenario(plain):
        with monkeypatch.context() as patch:
            patch.setattr(aside, "start", refuse)
            with pytest.raises(ServerError):
                await plain.request(BARE, Caller())
        return text(await plain.request(BARE, Caller()))

    assert using(scenario, sh("cat")) == "{}"


def test_a_run_ends_with_a_gateway_that_is_gone(graveyard):
    program = (
        "import asyncio, sys\n"
        f"sys.path[:0] = {sys.path!r}\n"
        "from test_gateway_command import BARE, CONNECTION, Caller, PlainCommand, sh\n"
        f"pinned = sh({begins(graveyard).launch.run.command[2]!r})\n"
        "async def main():\n"
        "    await PlainCommand('it', pinned, CONNECTION).request(BARE, Caller())\n"
        "asyncio.run(main())\n"
    )
    before = children.now()
    pid = os.posix_spawn(sys.executable, [sys.executable, "-c", program], os.environ)
    poll = select.poll()
    poll.register(graveyard._reading, select.POLLIN)
    assert poll.poll(20_000)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert graveyard.words(20) == ["begun"]
    for orphan in children.now() - before:  # ours by now, if orphans are
        os.waitpid(orphan, 0)


def test_a_catalog_has_both_servers_and_commands():
    async def scenario():
        servers = Upstreams(
            {"c": sh("cat"), "d": entry("./no-such")}, SETTINGS._replace(eager=True, log=told)
        )
        servers.begin()
        await told.has("failed")
        message = await servers["c"].request(BARE, Caller())
        await servers.close()
        return [facts["server"] for _, facts in told.events], text(message)

    told = Told()
    assert run(scenario()) == (["d"], "{}")
