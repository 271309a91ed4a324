"""The servers by theme; `server.py` is the well-behaved one that all of them vary."""

import importlib

THEMES = (
    "eras",
    "lines",
    "bytestream",
    "envelopes",
    "asking",
    "dying",
    "stopping",
    "listing",
    "results",
    "rounds",
)


def load(wanted=None):
    """Servers, their names and their classes: all of them, or as many as it takes to find one."""
    cases = importlib.import_module(f"{__name__}.server").CASES
    for theme in THEMES:
        if wanted in cases:
            break
        importlib.import_module(f"{__name__}.{theme}")
    return cases
