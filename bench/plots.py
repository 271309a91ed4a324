"""Plots of what was measured, as SVG."""
# ruff: noqa: INP001 - beside a script

import html
import itertools
import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import cases
from figures import ended, median
from rivals import WHY
from sampling import Samples

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 240, 44, 56  # margins; the names of the lines are on the right
# thrall in colours that are told apart without seeing red and green (Okabe and Ito, Color
# Universal Design), what is no client in black, peers in grey.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
FLOOR, PEER = "#000000", "#888888"
FONT = 'font-family="sans-serif" font-size="13"'

Point = tuple[float, float]


class Plot(NamedTuple):
    """Lines over two logarithmic axes."""

    title: str
    across: str  # the names of the axes
    up: str
    lines: dict[str, list[Point]]


def plots(taken: dict[str, Samples]) -> dict[str, str]:
    """Draw each plot for which there are points, by the name of its file."""
    drawn = {
        "bench-size.svg": Plot(
            "An answer, until the process has ended",
            "MB",
            "seconds",
            lines(taken, {size: f"answer of {size} MB" for size in cases.SIZES}),
        ),
        "bench-servers.svg": Plot(
            "A check of many servers, until the process has ended",
            "servers",
            "seconds",
            lines(taken, {count: f"check of {count} servers" for count in cases.SERVERS}),
        ),
        "bench-tools.svg": Plot(
            "A server with many tools, until the process has ended",
            "tools",
            "seconds",
            lines(taken, {count: f"catalog of {count:,} tools" for count in cases.TOOLS}),
        ),
    }
    return {name: svg(plot) for name, plot in drawn.items() if plot.lines}


def lines(taken: dict[str, Samples], names: dict[int, str]) -> dict[str, list[Point]]:
    """Make a line for each subject, of its medians in several cases."""
    found: dict[str, list[Point]] = {}
    for place, name in names.items():
        for subject, samples in taken.get(name, {}).items():
            if subject not in (cases.STARTED, cases.SCANNED):
                found.setdefault(subject, []).append((place, median(samples, ended)))
    return found


def svg(plot: Plot) -> str:
    """Draw a plot."""
    points = list(itertools.chain(*plot.lines.values()))
    across = Axis.around([x for x, _ in points], LEFT, WIDTH - RIGHT)
    up = Axis.around([y for _, y in points], HEIGHT - BOTTOM, TOP)
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {FONT}>',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            text(LEFT, 24, plot.title, 'font-size="16"'),
            *grid(plot, across, up),
            *curves(plot, across, up),
            "</svg>\n",
        ]
    )


class Axis(NamedTuple):
    """A logarithmic axis: the values that are marked, and where it is in the picture."""

    marks: list[float]
    start: float
    end: float

    @classmethod
    def around(cls, values: list[float], start: float, end: float) -> "Axis":
        """Make an axis from the mark below the least value to the one above the greatest."""
        low, high = min(values), max(values)
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        marks = [float(f"{mark}e{power}") for power in powers for mark in (1, 2, 5)]
        first = max(at for at, mark in enumerate(marks) if mark <= low)
        last = min(at for at, mark in enumerate(marks) if mark >= high and at > first)
        return cls(marks[first : last + 1], start, end)

    def place(self, value: float) -> float:
        """Tell where a value is in the picture."""
        low, high = self.marks[0], self.marks[-1]
        part = math.log(value / low) / math.log(high / low)
        return round(self.start + part * (self.end - self.start), 1)


def grid(plot: Plot, across: Axis, up: Axis) -> Iterator[str]:
    """Draw the marks of both axes, and their names."""
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for mark in across.marks:
        x = across.place(mark)
        yield stroke([(x, TOP), (x, bottom)], "#dddddd")
        yield text(x, bottom + 18, f"{mark:,g}", 'text-anchor="middle"')
    for mark in up.marks:
        y = up.place(mark)
        yield stroke([(LEFT, y), (right, y)], "#dddddd")
        yield text(LEFT - 8, y + 4, f"{mark:g}", 'text-anchor="end"')
    yield text((LEFT + right) / 2, HEIGHT - 12, plot.across, 'text-anchor="middle"')
    yield text(LEFT - 8, TOP - 14, plot.up, 'text-anchor="end"')


def curves(plot: Plot, across: Axis, up: Axis) -> Iterator[str]:
    """Draw the lines, and the name of each at its end, below that of the one above."""
    colours = colours_of(plot.lines)
    lowest = -math.inf
    for name, points in sorted(plot.lines.items(), key=lambda line: -line[1][-1][1]):
        colour = colours[name]
        places = [(across.place(x), up.place(y)) for x, y in points]
        yield stroke(places, colour, 'stroke-width="2"')
        for x, y in places:
            yield f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>'
        lowest = max(places[-1][1] + 4, lowest + 16)
        yield text(places[-1][0] + 10, lowest, name, f'fill="{colour}"')


def colours_of(names: Iterable[str]) -> dict[str, str]:
    """Give each subject a colour, by what it is."""
    ours = itertools.cycle(COLOURS)
    return {
        name: next(ours) if name.startswith("thrall") else PEER if name in WHY else FLOOR
        for name in names
    }


def stroke(points: list[Point], colour: str, more: str = "") -> str:
    """Draw a line."""
    joined = " ".join(f"{x},{y}" for x, y in points)
    return f'<polyline points="{joined}" fill="none" stroke="{colour}" {more}/>'


def text(x: float, y: float, words: str, more: str = "") -> str:
    """Write words."""
    return f'<text x="{x}" y="{y}" {more}>{html.escape(words)}</text>'
