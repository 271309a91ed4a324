"""Subjects that take turns: each runs once in a round, in an order that is shuffled for it."""
# ruff: noqa: INP001, S603, T201 - beside a script; starts what it measures

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterable
from typing import NamedTuple

import installing

ONCE = os.path.join(installing.HERE, "once.py")
WORK = os.path.join(installing.ROOT, "work")
# No variable that names a proxy, nor any of Python's.
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": WORK, "LANG": "C.UTF-8", "NO_COLOR": "1"}
LIMIT = 300  # seconds for one run
# A peer that takes longer than so many seconds in the warm-up runs in so many rounds only.
SLOW = ((15.0, 1), (2.0, 3))


class FailedError(Exception):
    """A run that is no measurement; says why."""


class Subject(NamedTuple):
    """A command that is measured."""

    name: str
    words: tuple[str, ...]
    expected: str = ""  # stands at the beginning of its output
    stdin: str = os.devnull  # a file
    size: int = 0  # the least bytes it has to write
    peer: bool = False


class Case(NamedTuple):
    """Subjects that do the same."""

    name: str
    subjects: tuple[Subject, ...]
    base: str = ""  # the subject that the others are compared with


class Sample(NamedTuple):
    """What one run took: seconds, and bytes."""

    answered: float  # until the last byte was on stdout
    ended: float  # until the process had ended
    processor: float  # the process and all that it started
    peak: int  # of the largest process


Samples = dict[str, dict[int, Sample]]  # by subject and by round


def once(subject: Subject) -> Sample:
    """Run a subject once.

    Raises FailedError if it fails, if its output is not what it should be, or
    after LIMIT seconds.
    """
    words = (sys.executable, "-I", "-S", ONCE, subject.stdin, *subject.words)
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, env=ENVIRONMENT, cwd=WORK, start_new_session=True
    ) as process:
        try:
            output, _ = process.communicate(timeout=LIMIT)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise FailedError(f"no end within {LIMIT} s") from None
            raise
    if process.returncode:
        raise FailedError("it could not be started")
    found = json.loads(output)
    beginning, size, status = (found.pop(name) for name in ("beginning", "size", "status"))
    if status:
        raise FailedError(f"status {status}")
    if subject.expected not in beginning or size < subject.size:
        raise FailedError(f"{size} bytes of output, beginning {beginning[:200]!r}")
    return Sample(**found)


def measure(case: Case, rounds: int) -> Samples:
    """Run the subjects of a case so many times, after a round that does not count.

    A peer that fails, or is slow, in the round before is left out, or runs in few rounds; of all
    others each failure ends the program.
    """
    print(f"{case.name}: ", end="", flush=True)
    every = dict.fromkeys(case.subjects, 1)
    for subject in case.subjects:
        try:
            warm = once(subject)
        except FailedError as error:
            give_up(case, subject, error)
            del every[subject]
        else:
            if subject.peer:
                every[subject] = every_so_many(rounds, warm.ended)
    taken: Samples = {subject.name: {} for subject in every}
    for number in range(rounds):
        for subject in shuffled(one for one, step in every.items() if number % step == 0):
            try:
                taken[subject.name][number] = once(subject)
            except FailedError as error:
                give_up(case, subject, error)
        print(".", end="", flush=True)
    print(flush=True)
    return {name: runs for name, runs in taken.items() if runs}


def every_so_many(rounds: int, seconds: float) -> int:
    """Tell after how many rounds a peer that takes so long runs again."""
    for slow, few in SLOW:
        if seconds > slow:
            return max(1, rounds // few)
    return 1


def shuffled(subjects: Iterable[Subject]) -> list[Subject]:
    """Put subjects into an order by chance."""
    order = list(subjects)
    random.shuffle(order)
    return order


def give_up(case: Case, subject: Subject, error: FailedError) -> None:
    """Tell of the failure of a peer; end with that of anything else."""
    sentence = f"{case.name}: {subject.name}: {error}"
    if not subject.peer:
        sys.exit(f"bench: {sentence}")
    print(f"\n  failed: {sentence}", flush=True)
