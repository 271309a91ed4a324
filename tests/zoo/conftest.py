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
