"""The arithmetic: medians over rounds, two subjects round by round; and what they ran on."""
# ruff: noqa: INP001 - beside a script

import contextlib
import platform
import re
import statistics
from collections.abc import Callable

from sampling import Sample, Samples

Figure = Callable[[Sample], float]


def answered(sample: Sample) -> float:
    """Seconds until the answer was on stdout."""
    return sample.answered


def ended(sample: Sample) -> float:
    """Seconds until the process had ended."""
    return sample.ended


def leaving(sample: Sample) -> float:
    """Seconds from the answer to the end."""
    return sample.ended - sample.answered


def processor(sample: Sample) -> float:
    """Seconds of processor time."""
    return sample.processor


def peak(sample: Sample) -> float:
    """Bytes of memory."""
    return sample.peak


def median(samples: dict[int, Sample], figure: Figure) -> float:
    """Take the median of a figure over all rounds."""
    return statistics.median(figure(sample) for sample in samples.values())


def quarters(samples: dict[int, Sample], figure: Figure) -> tuple[float, float]:
    """Tell between which two values the middle half of the rounds lies."""
    values = [figure(sample) for sample in samples.values()]
    if len(values) == 1:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def over(samples: Samples, ours: str, theirs: str, figure: Figure) -> float:
    """Tell how much more one subject takes than another: the median over pairs of one round."""
    return statistics.median(a - b for a, b in pairs(samples, ours, theirs, figure))


def times(samples: Samples, ours: str, theirs: str, figure: Figure) -> float:
    """Tell how many times as much one subject takes: the median over pairs of one round."""
    return statistics.median(a / b for a, b in pairs(samples, ours, theirs, figure))


def pairs(samples: Samples, ours: str, theirs: str, figure: Figure) -> list[tuple[float, float]]:
    """Take a figure of two subjects from the rounds in which both ran."""
    mine, other = samples[ours], samples[theirs]
    return [(figure(mine[n]), figure(other[n])) for n in sorted(mine.keys() & other.keys())]


def processor_name() -> str:
    """Name the processor."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"model name\s*: (.*)", file.read())
        if found:
            return found[1]
    return platform.processor() or platform.machine()
