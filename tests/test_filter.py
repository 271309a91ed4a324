"""A plain command as a process: all of its input, all of its output, and how it ended."""

import os
import signal
import time

import pytest
from servers import command

from thrall_py.errors import Interrupted
from thrall_py.protocol.channel import MessageTooLarge, ReceiveTimeout
from thrall_py.protocol.watcher import Watcher
from thrall_py.transport import filter as filter_
from thrall_py.transport.endpoint import Command
from thrall_py.transport.filter import Filter

SOON = 10.0  # seconds; for what should happen at once, on a busy machine
LONG = 60.0  # seconds; longer than any test may take
LIMIT = 1 << 20


class Told(Watcher):
    """Remembers what came of the command."""

    def __init__(self):
        self.came = []

    def from_server(self, data, end="\n"):
        self.came.append((bytes(data), end))


@pytest.fixture
def start(interrupts):
    started = []

    def begin(*argv, grace=LONG, limit=LIMIT, **more):
        environment = dict(os.environ)
        running = Filter(Command(argv, environment), interrupts, grace=grace, limit=limit, **more)
        started.append(running)
        return running

    yield begin
    for running in started:
        running._grace = 0.0
        running.close()


def sh(script, *words):
    return ("sh", "-c", script, "sh", *words)


def finish(running, text=b"", seconds=SOON):
    """All of the output, and the status."""
    output = running.finish(text, time.monotonic() + seconds)
    running.close()
    return bytes(output), running.status


def test_the_input_comes_whole_and_ends_and_the_output_is_what_was_written(start):
    assert finish(start("cat"), b'{"a":\n\n 1}') == (b'{"a":\n\n 1}', 0)


def test_both_may_be_larger_than_a_pipe(start):
    sent = os.urandom(3_000_000)
    assert finish(start("cat", limit=3_000_000), sent) == (sent, 0)


def test_what_it_wrote_stays_whatever_its_status(start):
    assert finish(start(*sh("echo no; exit 3"))) == (b"no\n", 3)


def test_a_command_need_not_read_its_input(start):
    script = "exec <&-; sleep 0.5; echo late"
    assert finish(start(*sh(script)), b"x" * 3_000_000) == (b"late\n", 0)


def test_a_command_that_closes_its_output_is_waited_for(start):
    assert finish(start(*sh("exec >&-; sleep 0.2; exit 3"))) == (b"", 3)


def test_the_status_is_that_of_a_signal(start):
    assert finish(start(*sh("kill -SEGV $$"))) == (b"", -signal.SIGSEGV)


def test_a_process_that_is_left_with_the_output_is_listened_to(start):
    assert finish(start(*sh("(sleep 0.3; echo late) & echo now"))) == (b"now\nlate\n", 0)


def test_a_process_that_keeps_the_output_is_not_waited_for_long(start, graveyard, monkeypatch):
    monkeypatch.setattr(filter_, "_LAST_WORDS", 0.1)
    running = start(*command("crashes_with_helper", graveyard.path))
    assert finish(running) == (b"", 7)
    assert graveyard.words(SOON)[-1:] in ([], ["helper-term"])


def test_one_that_does_not_end_in_time_is_ended(start, graveyard):
    running = start(*command("never_reads", graveyard.path), grace=0)
    with pytest.raises(ReceiveTimeout) as late:
        running.finish(b"x" * 3_000_000, time.monotonic() + 0.3)
    assert late.value.unsent
    assert running.close() == "was ended by SIGTERM"
    assert graveyard.words() == []


@pytest.mark.parametrize("name", ["floods", "big_line"])
def test_one_that_writes_too_much_is_stopped(start, graveyard, name):
    words = ("2000000",) if name == "big_line" else ()
    running = start(*command(name, graveyard.path, *words), grace=0)
    with pytest.raises(MessageTooLarge):
        running.finish(b"", time.monotonic() + SOON)
    running.close()
    assert graveyard.words() == []


def test_a_limit_may_be_reached(start):
    assert finish(start(*sh("printf 12345"), limit=5)) == (b"12345", 0)
    with pytest.raises(MessageTooLarge):
        finish(start(*sh("printf 123456"), limit=5))


def test_a_signal_ends_the_wait(start, graveyard):
    running = start(*command("signals_parent", graveyard.path, str(int(signal.SIGTERM))), grace=0)
    with pytest.raises(Interrupted):
        running.finish(b"", time.monotonic() + SOON)
    running.close()
    assert graveyard.words() == []


def test_who_follows_it_is_told_of_lines_and_of_what_has_no_end(start):
    told = Told()
    finish(start(*sh("echo one; printf two"), watcher=told))
    assert told.came == [(b"one", "\n"), (b"two", "")]


def test_no_status_is_known_before_it_was_closed(start):
    assert start("cat").status is None
