"""Tasks side by side, each in a process of its own.

A task starts a server and ends all that the server started; in a process of its own it is the
parent of exactly that, and a signal to it is one to be torn down by. Forking costs a millisecond.
"""

import os
import pickle
import select
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO, TypeVar, cast

from thrall_py.transport.forking import fork, live
from thrall_py.transport.interrupts import Interrupts

_Result = TypeVar("_Result")
_Task = Callable[[Interrupts], _Result]
_NEVER = float("inf")


def run_all(
    tasks: Sequence[_Task[_Result]],
    jobs: int,
    interrupts: Interrupts,
    on_wait: Callable[[Sequence[int]], None] = lambda _: None,
) -> Iterator[_Result]:
    """Run tasks, `jobs` at a time; their results in the order of the tasks.

    A single task, or one job, runs in this process.

    Args:
        tasks: what is run; each gets the signals of its process.
        jobs: how many run at a time.
        interrupts: the signals that stop it.
        on_wait: is told the places of the tasks that have not ended, before each wait for one.

    Raises:
        Interrupted: a signal came; every task has been torn down.
        RuntimeError: a task ended without a result, having said why on stderr.

    """
    if min(jobs, len(tasks)) <= 1:
        for task in tasks:
            yield task(interrupts)
            interrupts.poll()
            interrupts.check()
        return
    interrupts.check()
    results: dict[int, _Result] = {}
    pool = _Pool(interrupts)
    try:
        waiting, given = list(enumerate(tasks)), 0
        while given < len(tasks):
            while waiting and len(pool.running) < jobs:
                place, task = waiting.pop(0)
                pool.start(place, task)
            open_places = [*(place for place, _, _ in pool.running.values()), *dict(waiting)]
            on_wait(open_places)
            for place, data in pool.wait():
                results[place] = cast("_Result", _load(data))  # what the task returned
            while given in results:
                yield results.pop(given)
                given += 1
    finally:
        pool.end()


def _load(data: bytes) -> object:
    try:
        return pickle.loads(data)  # noqa: S301 - our own child wrote it
    except (EOFError, pickle.UnpicklingError):
        raise RuntimeError("a worker ended without a result") from None


class _Pool:
    """The processes that run, by the descriptors on which their results arrive."""

    def __init__(self, interrupts: Interrupts) -> None:
        self.running: dict[int, tuple[int, int, IO[bytes]]] = {}
        self._interrupts = interrupts
        self._poll = select.poll()
        self._poll.register(interrupts.fileno(), select.POLLIN)

    def start(self, place: int, task: Callable[[Interrupts], object]) -> None:
        """Start a task; `place` comes back with its result."""
        reading, writing = os.pipe()

        def copy() -> None:
            os.close(reading)
            _work(task, writing)

        try:
            pid = fork(copy)
        except OSError:
            os.close(reading)
            os.close(writing)
            raise
        os.close(writing)
        self.running[reading] = place, pid, open(reading, "rb")  # noqa: SIM115 - until _collect
        self._poll.register(reading, select.POLLIN)

    def wait(self) -> Iterator[tuple[int, bytes]]:
        """Wait until something happens; the places and results of tasks that have ended."""
        left = max(0.0, self._interrupts.idle() - time.monotonic())
        for fd, _ in self._poll.poll(None if left == _NEVER else left * 1000):
            if fd == self._interrupts.fileno():
                self._interrupts.poll()
                self._interrupts.check()
            else:
                yield self._collect(fd)

    def end(self) -> None:
        """Tell what still runs to stop, and wait until it has."""
        for _, pid, _ in self.running.values():
            os.kill(pid, signal.SIGTERM)
        for fd in list(self.running):
            self._collect(fd)

    def _collect(self, fd: int) -> tuple[int, bytes]:
        place, pid, pipe = self.running.pop(fd)
        self._poll.unregister(fd)
        with pipe:
            data = pipe.read()
        os.waitpid(pid, 0)
        return place, data


def _work(task: Callable[[Interrupts], object], writing: int) -> None:
    """Be the process of one task, and hand over its result."""

    def give(interrupts: Interrupts) -> None:
        data = pickle.dumps(task(interrupts))
        with open(writing, "wb") as pipe:
            pipe.write(data)

    live(give)
