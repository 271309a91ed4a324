"""Measure thrall beside what does the same: `make bench`, `make bench-peers`.

    python bench/run.py [--peers] [--quick] [--rounds N] [--only KIND]

Writes bench/RESULTS.md and the plots in docs/; a trial (--quick or --only) writes them to
build/bench/trial.
"""
# ruff: noqa: INP001, T201 - a script

import argparse
import os
import sys
import time

import cases
import goals
import installing
import peers
import plots
import report
import sampling

LEAST_ROUNDS = 15
QUICK_ROUNDS = 2


def main() -> None:
    """Install, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--peers", action="store_true", help="beside other clients")
    parser.add_argument("--quick", action="store_true", help="a trial of two rounds")
    parser.add_argument("--rounds", type=int, default=LEAST_ROUNDS, metavar="N")
    parser.add_argument("--only", choices=cases.kinds([]), help="a trial of the cases of a kind")
    options = parser.parse_args()
    trial = options.quick or bool(options.only)
    rounds = QUICK_ROUNDS if options.quick else options.rounds
    if rounds < LEAST_ROUNDS and not trial:
        parser.error(f"at least {LEAST_ROUNDS} rounds, but for a trial")
    started = time.monotonic()
    os.makedirs(sampling.WORK, exist_ok=True)
    installing.thrall()
    others = peers.present() if options.peers else []
    taken = {case: sampling.measure(case, rounds) for case in cases.cases(others, options.only)}
    write(others, rounds, taken, trial=trial)
    print(f"{(time.monotonic() - started) / 60:.1f} minutes")


def write(
    others: list[peers.Peer],
    rounds: int,
    taken: dict[sampling.Case, sampling.Samples],
    *,
    trial: bool,
) -> None:
    """Write the table and the plots, those of a trial where they are in nobody's way."""
    by_name = {case.name: samples for case, samples in taken.items()}
    command = "make bench-peers" if others else "make bench"
    versions = [f"{peer.package.name} {peer.package.version}" for peer in others]
    text = report.document(command, rounds, versions, goals.reached(by_name), taken)
    table, folder = "bench", "docs"
    if trial:
        table = folder = os.path.join("build", "bench", "trial")
    files = {os.path.join(table, "RESULTS.md"): text}
    for name, plot in plots.plots(by_name).items():
        files[os.path.join(folder, name)] = plot
    for name, content in files.items():
        file = os.path.join(installing.REPOSITORY, name)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "w", encoding="utf-8") as opened:
            opened.write(content)
        print(f"wrote {name}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\nbench: interrupted, nothing was written")
