import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import deque

import pytest
from servers import command

from thrall_py.errors import Interrupted
from thrall_py.protocol.channel import ChannelClosed, MessageTooLarge, ReceiveTimeout
from thrall_py.transport import descendants, spawn
from thrall_py.transport.process import Process
from thrall_py.transport.spawn import Command

SOON = 10.0  # seconds; for what should happen at once, on a busy machine
LONG = 60.0  # seconds; longer than any test may take
LIMIT = 1 << 20


def within(seconds):
    return time.monotonic() + seconds


@pytest.fixture
def start(interrupts, graveyard):
    """Start a fake server; it is ended with the test, whatever becomes of it."""
    started = []

    def begin(name, *words, grace=LONG, limit=LIMIT):
        argv = command(name, graveyard.path, *map(str, words))
        process = Process(Command(argv, dict(os.environ)), interrupts, grace=grace, limit=limit)
        started.append(process)
        return process

    yield begin
    for process in started:
        process._grace = 0.0
        process.close()


# -- what was not read --------------------------------------------------------------------------


def test_what_no_one_reads_any_more_counts_as_unread(start):
    process = start("closes_stdin")
    process.receive(within(SOON))
    process.send(b"12345\n")
    with pytest.raises(ChannelClosed):
        process.receive(within(SOON))
    assert process.unread_by_server() == 6


def test_the_end_of_a_server_is_seen_without_waiting_and_what_it_said_is_kept(start):
    process = start("cat")
    process.send(b"x\n")
    assert process.receive(within(SOON)) == b"x"
    assert not process.has_ended()
    process.send(b"last\n")
    process.receive(within(SOON))
    os.kill(process._child.pid, signal.SIGKILL)
    deadline = within(SOON)
    while not process.has_ended():
        assert time.monotonic() < deadline
    with pytest.raises(ChannelClosed):
        process.receive(within(SOON))


def test_a_signal_is_not_lost_while_the_end_is_looked_for(start):
    process = start("cat")
    os.kill(os.getpid(), signal.SIGTERM)
    with pytest.raises(Interrupted):
        process.has_ended()


# -- lines -------------------------------------------------------------------------------------


def test_what_is_sent_comes_back_line_by_line(start):
    process = start("cat")
    process.send(b"one\n\ntwo\r\nthr")
    process.send(b"ee\n")
    lines = [bytes(process.receive(within(SOON))) for _ in range(4)]
    assert lines == [b"one", b"", b"two\r", b"three"]


def test_an_empty_message_sends_nothing(start):
    process = start("cat")
    process.send(b"")
    process.send(b"x\n")
    assert process.receive(within(SOON)) == b"x"


def test_both_sides_may_write_megabytes_before_they_read(start):
    process = start("counts", limit=4_000_000)
    process.send(b"y" * 3_999_999 + b"\n")
    assert len(process.receive(within(SOON))) == 3_000_000
    assert process.receive(within(SOON)) == b"4000000"


def test_megabytes_come_back_as_they_were(start):
    sent = os.urandom(3_000_000).replace(b"\n", b"\0")
    process = start("cat", limit=4_000_000)
    process.send(sent + b"\n")
    assert process.receive(within(SOON)) == sent


@pytest.mark.parametrize(("size", "limit"), [(1000, 1000), (1000, 1001)])
def test_a_line_may_be_as_long_as_the_limit(start, size, limit):
    assert len(start("line", size, limit=limit).receive(within(SOON))) == size


@pytest.mark.parametrize("name", ["line", "big_line"])
@pytest.mark.parametrize("size", [1002, 300_000])
def test_a_longer_line_is_refused_whether_it_ends_or_not(start, name, size):
    with pytest.raises(MessageTooLarge) as refused:
        start(name, size, limit=1000).receive(within(SOON))
    assert refused.value.what == "sent more than 1000 bytes in one line"


def test_a_line_without_end_is_not_read_to_its_end(start):
    process = start("big_line", 50_000_000, limit=100_000, grace=0.0)
    with pytest.raises(MessageTooLarge):
        process.receive(within(SOON))
    assert len(process._partial) < 1_000_000
    process.close()


# -- deadlines ---------------------------------------------------------------------------------


def test_nothing_is_said_until_the_deadline(start):
    process = start("silent")
    process.send(b"x\n")
    began = time.monotonic()
    with pytest.raises(ReceiveTimeout) as silence:
        process.receive(began + 0.2)
    assert 0.2 <= time.monotonic() - began < SOON
    assert (silence.value.partial, silence.value.unsent) == (b"", False)


def test_a_server_that_never_reads_blocks_until_the_deadline(start):
    process = start("never_reads")
    assert process.receive(within(SOON)) == b"ready"
    process.send(b"z" * 3_000_000)
    with pytest.raises(ReceiveTimeout) as silence:
        process.receive(within(0.2))
    assert silence.value.unsent


def test_the_beginning_of_an_unfinished_line_is_handed_on(start):
    process = start("big_line", 9000)
    with pytest.raises(ReceiveTimeout) as silence:
        process.receive(within(0.5))
    assert silence.value.partial == b"x" * 4096


def test_a_passed_deadline_is_told_at_once(start):
    with pytest.raises(ReceiveTimeout):
        start("silent").receive(time.monotonic() - 1)


def test_a_deadline_beyond_what_poll_can_wait_is_no_error(start):
    process = start("cat")
    process.send(b"x\n")
    assert process.receive(within(1e12)) == b"x"


def test_output_without_end_does_not_move_the_deadline(start):
    process = start("floods")
    until = within(0.5)
    lines = iter(lambda: time.monotonic() < until + 3 and process.receive(until), False)
    with pytest.raises(ReceiveTimeout):
        deque(lines, maxlen=0)


# -- what the server left unread ---------------------------------------------------------------


def test_unread_counts_what_the_server_has_not_read(start):
    process = start("never_reads")
    assert process.receive(within(SOON)) == b"ready"
    assert process.unread_by_server() == 0
    process.send(b"x\n")
    process.send(b"yy\n")
    assert process.unread_by_server() == 5  # queued
    with pytest.raises(ReceiveTimeout):
        process.receive(within(0.05))
    assert process.unread_by_server() == 5  # in the pipe
    process.send(b"z" * 3_000_000)
    with pytest.raises(ReceiveTimeout):
        process.receive(within(0.05))
    assert process.unread_by_server() == 3_000_005  # some of it in the pipe, the rest queued


def test_nothing_is_unread_after_an_answer(start):
    process = start("cat")
    process.send(b"x\n")
    process.receive(within(SOON))
    assert process.unread_by_server() == 0


# -- servers that hang up ----------------------------------------------------------------------


def test_a_server_that_exits_hangs_up_and_leaves_its_last_words(start):
    process = start("crash")
    with pytest.raises(ChannelClosed) as hangup:
        process.receive(within(LONG))
    assert (hangup.value.partial, hangup.value.input_closed) == (b'{"half', False)
    assert process.close() == "exited with status 7"


def test_a_server_that_closes_its_output_hangs_up(start):
    process = start("closes_stdout")
    with pytest.raises(ChannelClosed) as hangup:
        process.receive(within(LONG))
    assert not hangup.value.input_closed
    assert process.close() == "closed its output"


def test_a_server_that_closes_its_output_on_the_way_out_has_exited(start):
    process = start("closes_stdout_and_exits")
    with pytest.raises(ChannelClosed):
        process.receive(within(LONG))
    assert process.close() == "exited with status 3"


def test_a_server_that_closes_its_input_hangs_up(start):
    process = start("closes_stdin", grace=0.0)
    assert process.receive(within(SOON)) == b"ready"
    process.send(b"x\n")
    with pytest.raises(ChannelClosed) as hangup:
        process.receive(within(LONG))
    assert hangup.value.input_closed


def test_sending_again_to_a_closed_input_changes_nothing(start):
    process = start("closes_stdin", grace=0.0)
    process.receive(within(SOON))
    process.send(b"x\n")
    with pytest.raises(ChannelClosed):
        process.receive(within(LONG))
    process.send(b"y\n")
    with pytest.raises(ChannelClosed):
        process.receive(within(LONG))
    assert process.close() == "was ended by SIGTERM"


def test_a_helper_that_holds_the_output_of_a_failed_server_is_not_waited_for(start, graveyard):
    process = start("crashes_with_helper", grace=0.05)
    with pytest.raises(ChannelClosed) as hangup:
        process.receive(within(LONG))
    assert not hangup.value.input_closed
    assert process.close() == "exited with status 7"
    assert graveyard.words() == ["helper-term"]


def test_a_process_that_was_left_serving_is_listened_to(start, graveyard):
    process = start("hands_over")
    process.send(b"one\n")
    assert process.receive(within(SOON)) == b"one"
    process.send(b"two\n")
    assert process.receive(within(SOON)) == b"two"
    assert process.close() == "exited with status 0"
    assert graveyard.words() == ["eof"]


def test_output_that_is_readable_no_more_is_no_error(start):
    process = start("silent")
    process._read()
    assert process._partial == b""


# -- the teardown ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "grace", "ending", "words"),
    [
        ("silent", LONG, "exited with status 0", ["eof"]),
        ("ignores_eof", 0.05, "exited with status 0", ["eof", "term"]),
        ("ignores_term", 0.05, "was ended by SIGKILL", ["eof", "term"]),
        ("never_reads", 0.05, "was ended by SIGTERM", []),
        ("helper_in_group", LONG, "exited with status 0", ["eof", "helper-term"]),
        ("helper_in_own_session", LONG, "exited with status 0", ["eof"]),
    ],
)
def test_a_server_is_asked_then_told_then_killed(start, graveyard, name, grace, ending, words):
    process = start(name, grace=grace)
    if name != "silent":
        assert process.receive(within(SOON)) == b"ready"
    assert process.close() == ending
    assert graveyard.words() == words


@pytest.mark.parametrize(
    ("name", "grace", "left", "helpers"),
    [
        ("silent", LONG, True, 0),
        ("ignores_eof", 0.05, False, 0),
        ("helper_in_group", LONG, True, 1),
        ("helper_in_own_session", LONG, True, 1),
    ],
)
def test_the_teardown_may_be_watched_step_by_step(start, graveyard, name, grace, left, helpers):
    process = start(name, grace=grace)
    if name != "silent":
        assert process.receive(within(SOON)) == b"ready"
    assert process.end_input() is left
    assert process.end_input() is left  # and nothing more happens
    assert process.helpers() == (helpers if descendants.SUPPORTED else 0)
    assert not process.is_ended
    assert process.close() == "exited with status 0"
    assert process.is_ended
    graveyard.words()


def test_a_process_that_another_one_serves_for_has_left_when_that_one_has(start):
    process = start("hands_over")
    process.send(b"x\n")
    assert process.receive(within(SOON)) == b"x"
    assert process.end_input()
    assert process.close() == "exited with status 0"


def test_the_second_close_only_says_again_how_it_ended(start):
    process = start("crash", 5)
    assert process.close() == "exited with status 5"
    assert process.close() == "exited with status 5"


def test_a_server_that_ends_by_itself_is_not_waited_for_longer(start):
    process = start("silent", grace=LONG)
    began = time.monotonic()
    process.close()
    assert time.monotonic() - began < SOON


def test_the_number_of_a_server_that_exited_is_kept_until_its_group_is_killed(start, monkeypatch):
    states = []

    def note(group, signum):
        seen = os.waitid(os.P_PID, group, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        states.append((signum, seen is not None and seen.si_pid == group))
        real(group, signum)

    process = start("silent")
    real = os.killpg
    monkeypatch.setattr(os, "killpg", note)
    process.close()
    assert states[-1] == (signal.SIGKILL, True)
    assert all(not_reaped for _, not_reaped in states)


def test_what_is_queued_still_goes_out_before_the_end_of_input(start):
    process = start("cat")
    process.send(b"last\n")
    process.close()
    assert not process._outgoing


def test_a_queue_that_does_not_fit_is_dropped(start, graveyard):
    process = start("never_reads", grace=0.0)
    process.receive(within(SOON))
    process.send(b"z" * 3_000_000)
    assert process.close() == "was ended by SIGTERM"
    assert graveyard.words() == []


def test_output_is_drained_while_a_server_leaves(start):
    process = start("floods", grace=0.05)
    assert process.receive(within(SOON)) == b"noise"
    assert process.close() in ("was ended by SIGTERM", "was ended by SIGKILL")


@pytest.mark.parametrize(
    ("signum", "ending"),
    [(signal.SIGSEGV, "was ended by SIGSEGV"), (signal.SIGRTMIN + 3, "was ended by signal 37")],
)
def test_a_server_that_died_of_a_signal_is_told_of_by_its_name(start, signum, ending):
    process = start("dies_of", int(signum))
    with pytest.raises(ChannelClosed):
        process.receive(within(SOON))
    assert process.close() == ending


def test_a_process_that_the_kernel_does_not_end_is_told_of():
    assert spawn.ending(None) == "could not be ended"


def test_children_from_before_are_not_touched(start):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as stranger:
        start("helper_in_own_session").close()
        assert stranger.poll() is None
        stranger.communicate(b"\n")
    assert stranger.returncode == 0


# -- signals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_the_waiting(start, graveyard, signum):
    process = start("signals_parent", int(signum))
    with contextlib.suppress(Interrupted):  # it may come before what was said is read
        assert process.receive(within(SOON)) == b"ready"
    with pytest.raises(Interrupted) as interrupted:
        process.receive(within(LONG))
    assert interrupted.value.signum == signum
    process._grace = 0.0
    process.close()
    assert graveyard.words() == []


def test_a_signal_that_came_before_ends_the_waiting_at_once(start):
    process = start("silent")
    os.kill(os.getpid(), signal.SIGTERM)
    with pytest.raises(Interrupted):
        process.receive(within(LONG))


def test_a_signal_that_was_noted_before_ends_the_waiting_at_once(start, interrupts):
    os.kill(os.getpid(), signal.SIGTERM)
    assert interrupts.poll()
    process = start("silent")
    began = time.monotonic()
    with pytest.raises(Interrupted):
        process.receive(within(1.0))
    assert time.monotonic() - began < 0.9


def test_a_signal_during_the_grace_cuts_it_short(start, graveyard, interrupts):
    process = start("signals_parent", int(signal.SIGINT), "eof")
    process.receive(within(SOON))
    began = time.monotonic()
    process.close()
    assert time.monotonic() - began < SOON
    assert interrupts.signum == signal.SIGINT
    assert graveyard.words() == ["eof"]


def test_a_signal_that_does_not_stop_us_is_passed_over(start):
    seen = []
    previous = signal.signal(signal.SIGUSR1, lambda signum, _: seen.append(signum))
    try:
        process = start("signals_parent", int(signal.SIGUSR1), grace=0.0)
        assert process.receive(within(SOON)) == b"ready"
        with pytest.raises(ReceiveTimeout):
            process.receive(within(0.5))
        process.close()
    finally:
        signal.signal(signal.SIGUSR1, previous)
    assert seen == [signal.SIGUSR1]


# -- what is to be done while thrall waits -------------------------------------------------------


def test_a_wait_calls_who_is_idle_when_it_wants_to_be_called(start, interrupts):
    calls = []

    def idle():
        calls.append(time.monotonic())
        return calls[-1] + 0.02

    interrupts.idle = idle
    process = start("silent")
    with pytest.raises(ReceiveTimeout):
        process.receive(within(0.3))
    assert len(calls) > 3
