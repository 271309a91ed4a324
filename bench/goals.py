"""What thrall wants to reach, and whether it does; other clients are in rivals.py."""
# ruff: noqa: INP001 - beside a script

import os
from collections.abc import Iterator
from typing import NamedTuple

import cases
import figures
from figures import answered, ended, leaving, median, over
from sampling import Samples
from targets import PIPE

OVERHEAD, HELLO = 0.045, 0.040  # seconds over the pipeline, where a click hello world takes so many
STREAM = 1.5  # times the wall of cat and one scan
MEMORY = 2.5  # times the message
END = 0.005  # seconds
EACH = 0.030  # seconds of processor time for a server
ECHOED = "call, minimal"


class Goal(NamedTuple):
    """One goal."""

    name: str
    figure: str
    met: bool | None  # None: it has no bound
    why: str = ""  # it may be missed


def reached(taken: dict[str, Samples]) -> list[Goal]:
    """Compare what was measured (samples by the name of a case) with each goal."""
    largest, most = f"answer of {cases.SIZES[-1]} MB", f"check of {cases.SERVERS[-1]} servers"
    found: list[Goal] = []
    if ECHOED in taken:
        found += [overhead(taken[ECHOED]), end(taken[ECHOED])]
    if largest in taken:
        found += stream(taken[largest], cases.SIZES[-1] * 1_000_000)
    if most in taken and "check of 1 servers" in taken:
        found += checks(taken[most], taken["check of 1 servers"], cases.SERVERS[-1])
    name = f"catalog of {cases.TOOLS[-1]:,} tools"
    if name in taken:
        found.append(large(taken[name], cases.TOOLS[-1]))
    return found


def overhead(samples: Samples) -> Goal:
    """The start: what `thrall call` adds to the server."""
    hello = median(samples[cases.CLICK], ended)
    own = over(samples, cases.CALL, PIPE, ended)
    bound = OVERHEAD * hello / HELLO
    return Goal(
        f"own overhead at most {ms(OVERHEAD)} where a click hello world takes {ms(HELLO)}",
        f"{ms(own)} where it takes {ms(hello)}, so at most {ms(bound)}",
        own <= bound,
        "imports and the conversation, beyond click",
    )


def end(samples: Samples) -> Goal:
    """The end: what the teardown adds to the server's own exit."""
    added = over(samples, cases.CALL, PIPE, leaving)
    interpreter = median(samples[cases.CLICK], leaving)
    return Goal(
        f"the teardown adds at most {ms(END)} to the exit of a server that leaves at end of input",
        f"{ms(added)}; the end of a Python with click alone is {ms(interpreter)}",
        added <= END,
        "what is left of its group is looked for",
    )


def stream(samples: Samples, size: int) -> Iterator[Goal]:
    """The stream: a large answer."""
    base = [
        samples[cases.CAT][n].ended
        + samples[cases.SCANNED][n].ended
        - samples[cases.STARTED][n].ended
        for n in sorted(samples[cases.CAT])
    ]
    for name in (cases.CALL, cases.JSON):
        ratios = [samples[name][n].ended / base[n] for n in sorted(samples[name])]
        middle = sorted(ratios)[len(ratios) // 2]
        yield Goal(
            f"{name}, {size // 1_000_000} MB: at most {STREAM} times cat and one scan",
            f"{middle:.2f} times",
            middle <= STREAM,
            "the start of an interpreter with click is in it, which cat and the scan are compared "
            "without",
        )
    held = median(samples[cases.JSON], figures.peak) / size
    yield Goal(
        f"{cases.JSON}, {size // 1_000_000} MB: peak memory at most {MEMORY} times the message",
        f"{held:.2f} times",
        held <= MEMORY,
        "it is held more than once",
    )


def checks(samples: Samples, one: Samples, count: int) -> Iterator[Goal]:
    """Scale: many servers."""
    check = samples[cases.CHECK]
    wall, cores = median(check, ended), os.cpu_count() or 1
    bound = median(check, figures.processor) / cores + median(one[cases.CHECK], ended)
    yield Goal(
        f"check of {count} servers bounded by the slowest and the cores",
        f"{ms(wall)}; the cores and one server: {ms(bound)}",
        wall <= bound,
        "the rest is waiting, or other load on the machine",
    )
    own = over(samples, cases.CHECK, cases.ALL_AT_ONCE, figures.processor) / count
    yield Goal(
        f"own CPU of check for each of {count} servers at most {ms(EACH)}",
        ms(own),
        own <= EACH,
        "a process and a conversation for each, with two lists",
    )


def large(samples: Samples, count: int) -> Goal:
    """Scale: a large catalog, for which there are figures and no bound."""
    pinned = samples[cases.PINNED]
    more = over(samples, cases.PINNED, cases.CALL, ended)
    own = over(samples, cases.PINNED, PIPE, figures.processor)
    return Goal(
        f"one call through a catalog of {count:,} tools reads no more than it needs",
        f"{ms(median(pinned, answered))} until the answer, {ms(more)} more than without a catalog, "
        f"{ms(own)} of CPU beyond the server's, "
        f"{median(pinned, figures.peak) / (1 << 20):.0f} MiB",
        None,
    )


def ms(seconds: float) -> str:
    """Write seconds as milliseconds."""
    return f"{1000 * seconds:,.0f} ms" if abs(seconds) >= 0.01 else f"{1000 * seconds:.1f} ms"  # noqa: PLR2004
