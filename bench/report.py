"""The figures as Markdown."""
# ruff: noqa: INP001 - beside a script

import os
import platform
from collections.abc import Iterator

import figures
import rivals
from goals import Goal
from sampling import Case, Sample, Samples

COLUMNS = "| what | answer ms | end ms | quarter to three quarters | CPU ms | peak MiB | times |"
RULE = "|---|---:|---:|---:|---:|---:|---:|"


def document(
    command: str, rounds: int, versions: list[str], goals: list[Goal], taken: dict[Case, Samples]
) -> str:
    """Write all that is told of one session of measurements."""
    return "\n".join(
        [
            "# Results\n",
            f"Made by `{command}`, which writes this file and the plots; [README.md](README.md)",
            "says what is measured, and how.\n",
            f"{machine()}; {rounds} rounds, interleaved.\n",
            *([f"Peers: {', '.join(versions)}.\n"] if versions else ["No peers were measured.\n"]),
            *table_of(goals),
            *beside(taken),
            *(line for case, samples in taken.items() for line in section(case, samples)),
        ]
    )


def machine() -> str:
    """Name the machine, without its name."""
    load = os.getloadavg()[0]
    return (
        f"{figures.processor_name()}, {os.cpu_count()} CPUs, load {load:.1f} at the end; "
        f"{platform.system()} {platform.release()}; Python {platform.python_version()}"
    )


def table_of(goals: list[Goal]) -> Iterator[str]:
    """Write a line for each goal."""
    yield "## Goals\n"
    yield "| goal | figure | met | why not |"
    yield "|---|---|---|---|"
    for goal in goals:
        met = {True: "yes", False: "**no**", None: ""}[goal.met]
        yield f"| {goal.name} | {goal.figure} | {met} | {goal.why if goal.met is False else ''} |"
    yield ""


def beside(taken: dict[Case, Samples]) -> Iterator[str]:
    """Write how near the nearest peer comes, case by case, and why one is faster."""
    found = list(rivals.comparisons({case.name: samples for case, samples in taken.items()}))
    if not found:
        return
    faster = [each for each in found if each.times < 1]
    yield "## Beside the fastest peer\n"
    yield "How many times as long as thrall it takes; thrall is the faster one in"
    yield f"{len(found) - len(faster)} of {len(found)} comparisons.\n"
    yield "| case | what of thrall | until | fastest peer | times |"
    yield "|---|---|---|---|---:|"
    for each in found:
        times = f"{each.times:.2f}" if each.times >= 1 else f"**{each.times:.2f}**"
        yield f"| {each.case} | {each.ours} | {each.until} | {each.peer} | {times} |"
    yield ""
    for peer in dict.fromkeys(each.peer for each in faster):
        yield f"*{peer}* may be the faster one: {rivals.WHY[peer]}.\n"


def section(case: Case, samples: Samples) -> Iterator[str]:
    """Write the table of one case."""
    yield f"## {case.name[0].upper()}{case.name[1:]}\n"
    yield COLUMNS
    yield RULE
    for name, taken in samples.items():
        yield row(name, taken, figures.times(samples, name, case.base, figures.ended))
    few = {len(taken) for taken in samples.values()}
    yield f"\nTimes: of *{case.base}*, until the end, in pairs of one round."
    if len(few) > 1:
        yield f"What is slow ran in {min(few)} of {max(few)} rounds."
    yield ""


def row(name: str, taken: dict[int, Sample], times: float) -> str:
    """Write the line of one subject."""
    low, high = figures.quarters(taken, figures.ended)
    answer = figures.median(taken, figures.answered)
    cells = (
        name,
        milliseconds(answer) if answer else "",  # some say nothing
        milliseconds(figures.median(taken, figures.ended)),
        f"{milliseconds(low)} to {milliseconds(high)}",
        milliseconds(figures.median(taken, figures.processor)),
        f"{figures.median(taken, figures.peak) / (1 << 20):.1f}",
        f"{times:.2f}",
    )
    return f"| {' | '.join(cells)} |"


def milliseconds(seconds: float) -> str:
    """Write seconds as milliseconds, with as many digits as mean something."""
    return f"{1000 * seconds:.1f}" if seconds < 0.1 else f"{1000 * seconds:,.0f}"  # noqa: PLR2004
