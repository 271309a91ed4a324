import contextlib
import errno
import os
import pickle
import select
import signal
import time

import children
import pytest

from thrall_py.errors import Interrupted
from thrall_py.transport import forking, workers
from thrall_py.transport.interrupts import Interrupts, blocked, unblock
from thrall_py.transport.workers import run_all

LONG = 20_000  # milliseconds; no test waits for it unless something is wrong


class Ended(BaseException):
    """What stands in for the end of a process."""


def after(seconds, value):
    def task(_):
        time.sleep(seconds)
        return value

    return task


def pid(_):
    return os.getpid()


def until_interrupted(path):
    """A task that says who it is, waits for a signal, and tidies up."""

    def task(interrupts):
        with open(path, "a") as file:
            file.write(f"{os.getpid()} started\n")
        poll = select.poll()
        poll.register(interrupts.fileno(), select.POLLIN)
        poll.poll(LONG)
        interrupts.poll()
        with open(path, "a") as file:
            file.write(f"{os.getpid()} tidied up\n")
        interrupts.check()

    return task


def said(path, words):
    return {int(line.split()[0]) for line in path.read_text().splitlines() if line.endswith(words)}


def wait_for(path, words, count):
    deadline = time.monotonic() + LONG / 1000
    while not path.exists() or len(said(path, words)) < count:
        assert time.monotonic() < deadline, "nobody has come"
        time.sleep(0.005)


@pytest.fixture(autouse=True)
def nothing_is_left():
    """After every test: no process to be reaped, no descriptor more than before."""
    before, there = os.listdir("/dev/fd"), children.now()
    yield
    assert children.now() <= there
    assert len(os.listdir("/dev/fd")) == len(before)


@pytest.mark.parametrize(("count", "jobs"), [(0, 8), (1, 8), (3, 1), (3, 0)])
def test_one_job_or_one_task_runs_in_this_process(count, jobs, interrupts):
    assert list(run_all([pid] * count, jobs, interrupts)) == [os.getpid()] * count


def test_a_task_in_this_process_is_handed_the_interrupts_of_this_process(interrupts):
    assert list(run_all([lambda given: given], 1, interrupts)) == [interrupts]


def test_after_a_signal_no_further_task_runs_in_this_process(interrupts):
    ran = []

    def task(_):
        ran.append(1)
        os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Interrupted) as stopped:
        list(run_all([task, task], 1, interrupts))
    assert (ran, stopped.value.signum) == ([1], signal.SIGTERM)


def test_an_exception_in_this_process_goes_to_the_caller(interrupts):
    with pytest.raises(ZeroDivisionError):
        list(run_all([lambda _: 1 / 0], 4, interrupts))


def test_results_come_in_the_order_of_the_tasks(interrupts):
    delays = [0.15, 0, 0.1, 0, 0.05, 0]
    tasks = [after(delay, place) for place, delay in enumerate(delays)]
    for jobs in (2, 6, 100):
        assert list(run_all(tasks, jobs, interrupts)) == [0, 1, 2, 3, 4, 5]


def test_every_task_has_a_process_of_its_own(interrupts):
    found = list(run_all([pid] * 4, 2, interrupts))
    assert len(set(found)) == 4
    assert os.getpid() not in found


def test_tasks_run_side_by_side_and_no_more_than_were_asked_for(interrupts, tmp_path):
    trace = tmp_path / "trace"

    def put(sign):
        fd = os.open(trace, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(fd, sign)
        os.close(fd)

    def task(_):
        put(b"+")
        deadline = time.monotonic() + 20
        while trace.read_bytes().count(b"+") < 3 and time.monotonic() < deadline:
            time.sleep(0.01)  # until as many have been started, however long that takes
        time.sleep(0.1)  # in which one too many would be seen
        put(b"-")

    assert list(run_all([task] * 7, 3, interrupts)) == [None] * 7
    signs = trace.read_text()
    running = [signs[:end].count("+") - signs[:end].count("-") for end in range(len(signs) + 1)]
    assert max(running) == 3


def test_a_result_may_be_larger_than_a_pipe(interrupts):
    found = list(run_all([after(0, "x" * 3_000_000), after(0, None)], 2, interrupts))
    assert [found[0] == "x" * 3_000_000, found[1]] == [True, None]


def test_a_worker_that_raises_says_why_and_the_others_are_stopped(interrupts, tmp_path, capfd):
    path = tmp_path / "words"

    def fail(_):
        wait_for(path, "started", 2)
        raise ZeroDivisionError("of the worker")

    tasks = [until_interrupted(path), fail, until_interrupted(path)]
    with pytest.raises(RuntimeError, match="^a worker ended without a result$"):
        list(run_all(tasks, 3, interrupts))
    assert "ZeroDivisionError: of the worker" in capfd.readouterr().err
    assert said(path, "tidied up") == said(path, "started")


def test_a_worker_that_is_killed_is_a_worker_without_a_result(interrupts, tmp_path):
    path = tmp_path / "words"

    def die(_):
        wait_for(path, "started", 1)
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(RuntimeError, match="^a worker ended without a result$"):
        list(run_all([die, until_interrupted(path)], 2, interrupts))
    assert len(said(path, "tidied up")) == 1


def test_an_interrupt_ends_every_worker_and_nothing_more_is_started(interrupts, tmp_path):
    path = tmp_path / "words"

    def interrupt(interrupts):
        wait_for(path, "started", 2)
        os.kill(os.getppid(), signal.SIGINT)
        return until_interrupted(path)(interrupts)

    tasks = [until_interrupted(path), interrupt, until_interrupted(path), until_interrupted(path)]
    with pytest.raises(Interrupted) as stopped:
        list(run_all(tasks, 3, interrupts))
    assert stopped.value.signum == signal.SIGINT
    assert len(said(path, "started")) == 3
    assert said(path, "tidied up") == said(path, "started")


def test_a_caller_that_looks_no_further_leaves_no_worker(interrupts, tmp_path):
    path = tmp_path / "words"

    def first(_):
        wait_for(path, "started", 1)
        return "first"

    found = run_all([first, until_interrupted(path)], 2, interrupts)
    assert next(found) == "first"
    found.close()
    assert len(said(path, "tidied up")) == 1


def test_a_signal_that_is_none_to_stop_by_does_no_harm(interrupts):
    def task(_):
        os.kill(os.getppid(), signal.SIGUSR1)
        time.sleep(0.1)
        return 1

    previous = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        assert list(run_all([task, task], 2, interrupts)) == [1, 1]
    finally:
        signal.signal(signal.SIGUSR1, previous)


def test_a_system_without_processes_left_is_told_and_no_worker_is_left(
    interrupts, monkeypatch, tmp_path
):
    fork, path = os.fork, tmp_path / "words"  # noqa: TID251 - what the module uses

    def fork_once():
        monkeypatch.setattr(os, "fork", refuse)
        return fork()

    def refuse():
        wait_for(path, "started", 1)
        raise OSError(errno.EAGAIN, "no more")

    monkeypatch.setattr(os, "fork", fork_once)
    with pytest.raises(OSError, match="no more"):
        list(run_all([until_interrupted(path), pid], 2, interrupts))
    assert len(said(path, "tidied up")) == 1
    assert waiting() == set()


def test_an_interrupt_right_after_the_start_ends_every_worker(interrupts, monkeypatch):
    class Late(Interrupts):
        def __enter__(self):
            time.sleep(0.3)
            return super().__enter__()

    monkeypatch.setattr(forking, "Interrupts", Late)
    os.kill(os.getpid(), signal.SIGTERM)
    started = time.monotonic()
    with pytest.raises(Interrupted):
        list(run_all([slow] * 2, 2, interrupts))
    assert time.monotonic() - started < 1


def slow(interrupts):
    poll = select.poll()
    poll.register(interrupts.fileno(), select.POLLIN)
    poll.poll(1500)
    interrupts.poll()
    interrupts.check()


def test_a_worker_that_is_killed_while_it_writes_is_one_without_a_result(interrupts, monkeypatch):
    def work(_, writing):
        os.write(writing, pickle.dumps("x" * 1000)[:500])
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(workers, "_work", work)
    with pytest.raises(RuntimeError, match="^a worker ended without a result$"):
        list(run_all([pid] * 2, 2, interrupts))


def test_an_interrupt_that_was_seen_before_counts_too(interrupts):
    os.kill(os.getpid(), signal.SIGTERM)
    assert interrupts.poll()
    with pytest.raises(Interrupted) as stopped:
        list(run_all([lambda _: pytest.fail("started")] * 2, 2, interrupts))
    assert stopped.value.signum == signal.SIGTERM


@pytest.mark.parametrize("value", ["x" * 1000, ["a", 1.5, {"b": None}], Ended("x"), {"\xe9": b"x"}])
def test_whatever_is_left_of_a_torn_result_is_no_result(value):
    data = pickle.dumps(value)
    for end in range(len(data)):
        with pytest.raises(RuntimeError, match="^a worker ended without a result$"):
            workers._load(data[:end])
    assert repr(workers._load(data)) == repr(value)


def test_a_worker_that_is_stopped_while_it_writes_is_no_signal_to_its_parent(interrupts, tmp_path):
    def large(_):
        wait_for(tmp_path / "words", "now", 1)
        return "x" * 3_000_000  # more than a pipe holds

    found = run_all([pid, large], 2, interrupts)
    first = next(found)
    (tmp_path / "words").write_text(f"{first} now\n")
    select.select(list(found.gi_frame.f_locals["pool"].running), [], [])
    found.close()
    assert not interrupts.poll()


# Signals that wait.


def waiting():
    """The signals that are kept waiting in this process."""
    return signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_signals_to_stop_wait_while_they_are_blocked(interrupts):
    with blocked():
        assert waiting() == {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}
        os.kill(os.getpid(), signal.SIGHUP)
        assert not interrupts.poll()
    assert waiting() == set()
    assert interrupts.poll()
    assert interrupts.signum == signal.SIGHUP


def test_signals_to_stop_are_not_blocked_after_an_exception():
    with pytest.raises(ZeroDivisionError), blocked():
        1 / 0  # noqa: B018 - raises
    assert waiting() == set()


def test_signals_to_stop_come_once_they_are_unblocked_even_inside(interrupts):
    with blocked():
        os.kill(os.getpid(), signal.SIGTERM)
        unblock()
        assert waiting() == set()
        assert interrupts.poll()


def test_a_worker_starts_while_signals_wait_and_lets_them_come(interrupts, monkeypatch):
    fork, seen = os.fork, []  # noqa: TID251 - what the module uses

    def look():
        seen.append(waiting())
        return fork()

    monkeypatch.setattr(os, "fork", look)
    assert list(run_all([lambda _: waiting()] * 2, 2, interrupts)) == [set(), set()]
    assert seen == [{signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}] * 2
    assert waiting() == set()


# The process of a worker, in this one.


@pytest.fixture
def work(monkeypatch):
    """Call with a task: how its process ends, and what arrives."""
    ends = []

    def end(status):
        ends.append(status)
        raise Ended

    def run(task):
        reading, writing = os.pipe()
        with open(reading, "rb") as pipe:
            with pytest.raises(Ended):
                workers._work(task, writing)
            with contextlib.suppress(OSError):
                os.close(writing)  # which the end of a process would do
            return ends, pipe.read()

    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setattr(forking, "die_by_signal", lambda signum: ends.append(("by", signum)))
    return run


def test_the_process_of_a_worker_writes_its_result_and_ends(work):
    ends, data = work(lambda interrupts: [type(interrupts).__name__, interrupts.signum])
    assert ends == [0]
    assert pickle.loads(data) == ["Interrupts", None]


def test_the_process_of_a_worker_that_raises_writes_nothing_and_ends(work, capsys):
    ends, data = work(lambda _: 1 / 0)
    assert (ends, data) == ([0], b"")
    assert capsys.readouterr().err.endswith("ZeroDivisionError: division by zero\n")


def test_the_process_of_a_worker_whose_result_cannot_be_sent_says_so(work, capsys):
    ends, data = work(lambda _: lambda: None)
    assert (ends, data) == ([0], b"")
    assert "pickle" in capsys.readouterr().err


def test_the_process_of_a_worker_dies_by_the_signal_that_came(work, capsys):
    def task(interrupts):
        os.kill(os.getpid(), signal.SIGHUP)
        assert interrupts.poll()
        interrupts.check()

    ends, data = work(task)
    assert (ends, data) == ([("by", signal.SIGHUP), 0], b"")
    assert capsys.readouterr().err == ""


def test_even_an_exit_does_not_escape_into_the_copy_of_the_parent(work, capsys):
    def leave(_):
        raise SystemExit(3)

    ends, data = work(leave)
    assert (ends, data) == ([0], b"")
    assert "SystemExit: 3" in capsys.readouterr().err


def test_the_copy_of_the_parent_does_the_work_and_nothing_else(interrupts, monkeypatch):
    seen = []

    def work(task, writing):
        seen.append(task)
        os.close(writing)
        raise Ended

    monkeypatch.setattr(workers, "_work", work)
    monkeypatch.setattr(os, "fork", lambda: 0)
    tasks = [pid, slow]
    with pytest.raises(Ended):
        list(run_all(tasks, 2, interrupts))
    assert seen == [pid]


def test_who_waits_is_told_what_has_not_ended_and_is_called_when_it_wants_to_be(interrupts):
    told, calls = [], []

    def idle():
        calls.append(time.monotonic())
        return calls[-1] + 0.01

    interrupts.idle = idle
    tasks = [after(0.3, "slow"), after(0, "fast"), after(0, "last")]
    assert list(run_all(tasks, 2, interrupts, told.append)) == ["slow", "fast", "last"]
    assert (told[0], told[-1]) == ([0, 1, 2], [0])
    assert len(calls) > 5
