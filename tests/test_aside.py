import errno
import os
import select
import signal
import socket
import sys

import children
import pytest

from thrall_py.errors import Interrupted
from thrall_py.transport import aside, descendants
from thrall_py.transport.aside import Line, Values, packed
from thrall_py.transport.interrupts import Interrupts

LONG = 20_000  # milliseconds


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@pytest.fixture
def start():
    """Call with a task: the process aside; it is ended and reaped."""
    started = []

    def run(task):
        started.append(aside.start(task))
        return started[-1]

    before = os.listdir("/dev/fd")
    yield run
    for each in started:
        each.socket.close()
        select.select([each.exit], [], [], 20)
        aside.reap(each)
    assert len(os.listdir("/dev/fd")) == len(before)


def come(each, count=1):
    """The values that a process sent, and descriptors."""
    values, found, descriptors = Values(), [], []
    while len(found) < count:
        assert select.select([each.socket], [], [], LONG / 1000)[0]
        data, more = aside.take(each.socket)
        descriptors += more
        if not data:
            break
        found += values.feed(data)
    return found, descriptors


# -- values over a socket --------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_values_come_out_whole_however_they_are_cut(size):
    sent = [{"a": 1}, b"x" * 500, None, ("y",)]
    data = b"".join(map(packed, sent))
    values = Values()
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    assert [value for chunk in chunks for value in values.feed(chunk)] == sent


def test_a_line_tells_and_hears(pair, interrupts):
    ours, theirs = pair
    line = Line(theirs, interrupts)
    assert line.fileno() == theirs.fileno()
    ours.sendall(packed("one") + packed("two"))
    ours.shutdown(socket.SHUT_WR)
    assert [line.hear(), line.hear(), line.hear()] == ["one", "two", None]
    line.tell("back")
    assert list(Values().feed(ours.recv(1000))) == ["back"]


def test_a_line_hands_over_descriptors_that_no_program_inherits(pair, interrupts):
    ours, theirs = pair
    reading, writing = os.pipe()
    Line(theirs, interrupts).tell("x" * 100, (reading, writing))
    os.close(reading)
    os.close(writing)
    data, given = aside.take(ours)
    data += ours.recv(1000)
    assert list(Values().feed(data)) == ["x" * 100]
    assert [os.get_inheritable(each) for each in given] == [False, False]
    os.write(given[1], b".")
    assert os.read(given[0], 1) == b"."
    for each in given:
        os.close(each)


def test_a_signal_that_asks_for_nothing_does_not(pair, interrupts):
    ours, theirs = pair
    came = []

    def alarm(*_):
        came.append(1)
        if len(came) > 1:
            ours.sendall(packed("late"))

    before = signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    try:
        assert Line(theirs, interrupts).hear() == "late"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_signal_ends_the_waiting_for_a_value(pair, interrupts):
    os.kill(os.getpid(), signal.SIGTERM)
    with pytest.raises(Interrupted):
        Line(pair[1], interrupts).hear()


# -- the process -----------------------------------------------------------------------------------


def test_a_process_aside_has_our_stderr_and_nothing_else_of_ours(start):
    held = os.pipe()

    def task(line, _):
        line.tell(
            {
                each: os.readlink(f"/proc/self/fd/{each}")
                for each in os.listdir("/proc/self/fd")
                if os.path.lexists(f"/proc/self/fd/{each}")
            }
        )

    ((found,), _) = come(start(task))
    for each in held:
        os.close(each)
    assert (found["0"], found["1"]) == (os.devnull, os.devnull)
    assert found["2"] == os.readlink("/proc/self/fd/2")
    rest = [name.partition(":")[0] for number, name in found.items() if int(number) > 2]
    assert sorted(rest) == ["pipe", "pipe", "socket"]


def test_a_process_aside_hears_that_nothing_more_is_said(start):
    each = start(lambda line, _: line.tell([line.hear(), line.hear()]))
    each.socket.sendall(packed("word"))
    aside.hang_up(each)
    assert come(each)[0] == [["word", None]]
    aside.hang_up(each)  # to somebody who has gone is nothing special
    each.socket.close()


def test_a_process_aside_is_stopped_by_a_signal_and_dies_of_it(start):
    each = start(lambda line, _: line.tell(1) or line.hear())
    come(each)
    aside.stop(each)
    select.select([each.exit], [], [], 20)
    seen = os.waitid(os.P_PID, each.pid, os.WEXITED | os.WNOWAIT)
    assert seen.si_status == signal.SIGTERM


def test_a_process_aside_that_does_not_listen_is_killed(start):
    def task(line, _):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        line.tell(1)
        select.select([], [], [], 20)

    each = start(task)
    come(each)
    aside.kill(each)
    assert come(each) == ([], [])


def test_a_process_aside_that_raises_says_why(start, capfd):
    def task(*_):
        sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115 - pytest's is closed
        raise ZeroDivisionError

    each = start(task)
    assert come(each) == ([], [])
    select.select([each.exit], [], [], 20)
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_a_process_aside_is_told_when_its_parent_is_gone():
    def inner(_, interrupts):
        select.select([interrupts.fileno()], [], [], 20)
        interrupts.poll()
        interrupts.check()

    def middle(*_):
        aside.start(inner)
        os.kill(os.getpid(), signal.SIGKILL)

    descendants.become_subreaper()
    before = children.now()
    each = aside.start(middle)
    assert os.waitstatus_to_exitcode(os.waitpid(each.pid, 0)[1]) == -signal.SIGKILL
    (orphan,) = children.now() - before
    assert os.waitstatus_to_exitcode(os.waitpid(orphan, 0)[1]) == -signal.SIGTERM
    os.close(each.exit)
    each.socket.close()


def test_a_process_that_cannot_be_started_leaves_nothing(monkeypatch):
    def refuse(_):
        raise OSError(errno.EAGAIN, "no more")

    before = os.listdir("/dev/fd")
    monkeypatch.setattr(aside, "fork", refuse)
    with pytest.raises(OSError, match="no more"):
        aside.start(lambda *_: None)
    assert os.listdir("/dev/fd") == before


@pytest.mark.usefixtures("no_child_left")
def test_a_process_that_cannot_be_watched_is_ended(monkeypatch):
    def refuse(_):
        raise OSError(errno.EMFILE, "too many")

    before = os.listdir("/dev/fd")
    monkeypatch.setattr(aside, "exit_descriptor", refuse)
    with pytest.raises(OSError, match="too many"):
        aside.start(lambda line, _: line.hear())
    assert os.listdir("/dev/fd") == before


# -- the process, in this one ----------------------------------------------------------------------


@pytest.mark.parametrize("null", [1, 9])
def test_being_a_process_aside(pair, interrupts, monkeypatch, null):
    closed, placed, frozen, followed = [], [], [], []
    monkeypatch.setattr(os, "closerange", lambda *border: closed.append(border))
    monkeypatch.setattr(os, "open", lambda *_: null)
    monkeypatch.setattr(os, "dup2", lambda *both: placed.append(both))
    monkeypatch.setattr(aside.gc, "freeze", lambda: frozen.append(1))
    monkeypatch.setattr(descendants, "follow", followed.append)
    real, shut = os.close, []
    monkeypatch.setattr(os, "close", shut.append)
    done = []
    aside.be(lambda line, given: done.append((line.fileno(), given)), pair[1], 42, interrupts)
    monkeypatch.setattr(os, "close", real)
    assert done == [(pair[1].fileno(), interrupts)]
    assert (placed, followed, frozen) == ([(null, 0), (null, 1)], [42], [1])
    assert shut == ([] if null == 1 else [9])
    kept = {0, 1, 2, pair[1].fileno(), *interrupts.descriptors}
    assert not kept.intersection(fd for low, high in closed for fd in range(low, min(high, 1000)))
    assert all(low < high for low, high in closed)


def test_a_parent_that_is_gone_already_is_a_signal(monkeypatch):
    calls = []
    monkeypatch.setattr("_ctypes.call_cdeclfunction", lambda _, words: calls.append(words))
    with pytest.raises(Interrupted):
        descendants.follow(0)
    descendants.follow(os.getppid())
    assert calls == [(1, signal.SIGTERM, 0, 0, 0)] * 2
    monkeypatch.setattr(descendants, "SUPPORTED", False)
    descendants.follow(0)
    assert len(calls) == 2


def test_the_task_is_done_in_the_copy(monkeypatch):
    lived = []

    def fork(copy):
        copy()
        raise OSError(errno.EAGAIN, "the end of the copy")

    def live(task):
        lived.append(task)
        with Interrupts() as interrupts:
            task(interrupts)

    been = []
    monkeypatch.setattr(aside, "fork", fork)
    monkeypatch.setattr(aside, "live", live)
    monkeypatch.setattr(aside, "be", lambda *words: been.append(words))

    def task(*_):
        raise AssertionError

    with pytest.raises(OSError, match="the end"):
        aside.start(task)
    assert been[0][0] is task
    assert been[0][2] == os.getpid()
