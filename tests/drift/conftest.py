import os
import shutil

import pytest
from drift.stage import COMMAND
from zoo.bench import CATALOG, Bench, limits, program, read_bytes


@pytest.fixture(scope="session")
def can_run():
    if not shutil.which(program()[0]) or not os.path.isdir("/proc/self"):
        pytest.skip(f"there is no {program()[0]}, or no /proc")


@pytest.fixture(scope="session")
def pinned(can_run):  # noqa: ARG001 - a fixture is asked for by its name
    """The catalog of the harbour as it was, by the era that the server spoke."""
    catalogs = {}
    for era in ("dual", "legacy", "modern"):
        bench = Bench()
        run = bench.run(["pin", CATALOG, *limits(), *COMMAND], stdin=b"", env={"ZOO_ERA": era})
        assert run.status == 0, run.report(["the harbour cannot be pinned"])
        catalogs[era] = read_bytes(bench.catalog)
        bench.close()
    return catalogs


@pytest.fixture
def bench(can_run):  # noqa: ARG001 - likewise
    bench = Bench()
    yield bench
    bench.close()
