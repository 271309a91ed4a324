import os
import shutil

import pytest
from zoo.bench import Bench, program


@pytest.fixture
def bench():
    if not shutil.which(program()[0]) or not os.path.isdir("/proc/self"):
        pytest.skip(f"there is no {program()[0]}, or no /proc")
    bench = Bench()
    yield bench
    bench.close()


def pytest_collection_modifyitems(config, items):
    """Let several processes share the work: with ZOO_PART=1/3 this is the first of three."""
    part, _, parts = os.environ.get("ZOO_PART", "1/1").partition("/")
    zoo = [item for item in items if item.get_closest_marker("zoo")]
    others = {item for number, item in enumerate(zoo) if number % int(parts) != int(part) - 1}
    if others:
        config.hook.pytest_deselected(items=list(others))
        items[:] = [item for item in items if item not in others]
