"""The peer that comes nearest to thrall, or is ahead of it, in each case."""
# ruff: noqa: INP001 - beside a script

from collections.abc import Iterator
from typing import NamedTuple

import cases
import peers
from figures import Figure, answered, ended, times
from sampling import Samples

# What of thrall is compared, and until when; clients that end a server at once are like --grace 0.
COMPARED: tuple[tuple[str, str, Figure], ...] = (
    (cases.LIST, "the answer", answered),
    (cases.LIST, "the end", ended),
    (cases.CALL, "the answer", answered),
    (cases.CALL, "the end", ended),
    (cases.NO_GRACE, "the end", ended),
)
WHY = {peer.package.name: peer.why for peer in peers.PEERS}


class Comparison(NamedTuple):
    """The fastest peer of a case."""

    case: str
    ours: str
    until: str
    peer: str
    times: float  # below 1: it is faster than thrall


def comparisons(taken: dict[str, Samples]) -> Iterator[Comparison]:
    """Find the fastest peer of each case (samples by its name), for whatever is compared in it."""
    for case, samples in taken.items():
        theirs = [name for name in samples if name in WHY]
        for ours, until, figure in COMPARED:
            if theirs and ours in samples:
                ratios = {name: times(samples, name, ours, figure) for name in theirs}
                fastest = min(ratios, key=lambda name: ratios[name])
                yield Comparison(case, ours, until, fastest, ratios[fastest])
