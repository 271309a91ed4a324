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


def load():
    """All servers: their names and their classes."""
    for theme in THEMES:
        importlib.import_module(f"{__name__}.{theme}")
    return importlib.import_module(f"{__name__}.server").CASES
