"""What `doctor` finds: one check after the other, as values, in words and in JSON. Pure."""

import json
from collections.abc import Collection, Generator
from enum import Enum
from typing import NamedTuple

NAME_WIDTH = 14  # columns; the longest name of a check
OUTCOME_WIDTH = 7  # columns; the longest outcome
UNREACHED = "not possible after what failed"  # why most checks are skipped


class Outcome(Enum):
    """How a check went; the values stand in reports."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


class Check(NamedTuple):
    """One step of an examination.

    Attributes:
        name: of the step, the same in every run.
        outcome: how it went.
        words: what was seen, safe to look at.
        advice: what to do about it; empty if there is nothing to be done.
        seconds: how long it took, where that says something.

    """

    name: str
    outcome: Outcome
    words: str
    advice: str = ""
    seconds: float | None = None

    @property
    def timed_words(self) -> str:
        """The words, and how long it took."""
        return self.words if self.seconds is None else f"{self.words} ({self.seconds:.2f} s)"


Checks = Generator[Check, None, None]  # to be closed: what is examined is ended with it


def ok(name: str, words: str) -> Check:
    """Make a check that went well."""
    return Check(name, Outcome.OK, words)


def warned(name: str, words: str, advice: str) -> Check:
    """Make a check that is no failure, and deserves a look."""
    return Check(name, Outcome.WARNING, words, advice)


def failed(name: str, words: str, advice: str) -> Check:
    """Make a check that failed."""
    return Check(name, Outcome.FAILED, words, advice)


def skipped(name: str, why: str) -> Check:
    """Make a check that was not made."""
    return Check(name, Outcome.SKIPPED, why)


def lines(check: Check) -> list[str]:
    """Write a check in ASCII: a line, and a second one with advice."""
    head = f"{check.outcome.value:{OUTCOME_WIDTH}}  {check.name:{NAME_WIDTH}}  "
    written = [head + check.timed_words]
    if check.advice:
        written.append(f"{'advice:':>{len(head) - 2}}  {check.advice}")
    return [line.encode("ascii", "backslashreplace").decode() for line in written]


def summary(checks: Collection[Check]) -> str:
    """Count them by outcome."""
    outcomes = [check.outcome for check in checks]
    counts = {each: outcomes.count(each) for each in Outcome}
    plural = {Outcome.WARNING: "warnings"} if counts[Outcome.WARNING] > 1 else {}
    return ", ".join(
        f"{count} {plural.get(each, each.value)}" for each, count in counts.items() if count
    )


def as_json(checks: Collection[Check]) -> str:
    """Write one object: the worst outcome, and every check."""
    outcomes = {check.outcome for check in checks}
    worst = next(
        (each for each in (Outcome.FAILED, Outcome.WARNING) if each in outcomes), Outcome.OK
    )
    told = [
        {
            "name": check.name,
            "status": check.outcome.value,
            "seconds": None if check.seconds is None else round(check.seconds, 3),
            "words": check.words,
            "advice": check.advice or None,
        }
        for check in checks
    ]
    return json.dumps({"status": worst.value, "checks": told}, indent=2) + "\n"
