"""Each server of the zoo, called and pinned. The rules for every run are in judge.py."""

import contextlib
import dataclasses
import socket
import subprocess
import sys

import pytest
from zoo import judge
from zoo.bench import CATALOG, HERE, read_bytes, server
from zoo.expect import FINE, Want, cases

pytestmark = pytest.mark.zoo

CASES = cases()


def named(chosen):
    return [pytest.param(name, case, id=name) for name, case in CASES.items() if chosen(case)]


def options(case):
    given = ["--timeout", f"{case.timeout:g}", "--start-timeout", f"{case.start_timeout:g}"]
    return given + (["--grace", f"{case.grace:g}"] if case.grace is not None else [])


def env_options(case):
    return [word for pair in case.server_env.items() for word in ("--env", "=".join(pair))]


def limit(want):
    return want.within + 12


def test_each_server_has_an_expectation():
    command = [sys.executable, "-I", "-S", f"{HERE}/servers.py", "--list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert sorted(line.split()[0] for line in listed.splitlines()) == sorted(CASES)


@pytest.mark.parametrize(("name", "case"), named(lambda case: case.call))
def test_call(bench, name, case):
    want = case.call
    arguments = ["call", "echo", *options(case), *env_options(case), *server(name)]
    run = bench.run(arguments, stdin=want.input, env=case.env, limit=limit(want))
    judge.check(bench, run, want)


@pytest.mark.parametrize(("name", "case"), named(lambda case: case.json))
def test_call_json(bench, name, case):
    want = dataclasses.replace(
        case.call,
        out=case.json + "\n",
        out_json=None,
        out_has=(),
        out_lines=None,
        out_bytes=None,
        warns=(),
        never=(),
    )
    arguments = ["call", "echo", "--json", *options(case), *env_options(case), *server(name)]
    run = bench.run(arguments, stdin=want.input, env=case.env, limit=limit(want))
    judge.check(bench, run, want)


class Pinner:
    """The pins and checks of one case."""

    def __init__(self, bench, name, case, env):
        self.bench, self.case = bench, case
        self.env = {**case.env, **env}
        given = options(case)
        self.pinning = ["pin", CATALOG, *given, *env_options(case), *server(name)]
        self.checking = ["check", CATALOG, *given]

    def pin(self, env=None):
        env = self.env if env is None else env
        return self.bench.run(self.pinning, stdin=b"", env=env, limit=limit(self.case.pin))

    def check(self, want):
        """Check, which never changes the catalog."""
        before = read_bytes(self.bench.catalog)
        env = {**self.env, **self.case.server_env}
        run = self.bench.run(self.checking, stdin=b"", env=env, limit=limit(want))
        judge.check(self.bench, run, want)
        assert read_bytes(self.bench.catalog) == before, run.report(["check changed the catalog"])


@pytest.mark.parametrize(("name", "case"), named(lambda case: case.pin))
def test_pin(bench, name, case):
    with contextlib.ExitStack() as stack:
        env, listener = {}, None
        if case.listener:
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            listener.setblocking(False)
            env["ZOO_REF"] = f"http://127.0.0.1:{listener.getsockname()[1]}/schema.json"
        if case.state:
            env["ZOO_STATE"] = f"{bench.notes}/state"
        pinner = Pinner(bench, name, case, env)
        if 0 not in case.pin.status or len(case.pin.status) > 1:
            a_good_day = pinner.pin({"ZOO_CASE": "ok"})
            judge.check(bench, a_good_day, FINE)
        before = read_bytes(bench.catalog)
        run = pinner.pin()
        judge.check(bench, run, case.pin)
        if run.status == 0:
            check_pinned(bench, pinner, case, run)
        else:
            unchanged = read_bytes(bench.catalog) == before
            assert unchanged, run.report(["a pin that failed changed the catalog"])
            if case.old_check:
                pinner.check(case.old_check)
        if listener:
            with pytest.raises(BlockingIOError):
                listener.accept()


def check_pinned(bench, pinner, case, run):
    catalog = read_bytes(bench.catalog)
    judge.check_catalog(run, catalog, case.pin)
    if case.check:
        pinner.check(case.check)
    for _ in range(case.pin.pins - 1):
        run = pinner.pin()
        judge.check(bench, run, Want(within=case.pin.within, server_says=case.pin.server_says))
        same = read_bytes(bench.catalog) == catalog
        wanted = {"same": True, "differs": False, "any": same}[case.pin.again]
        assert same == wanted, run.report(
            [f"another pin wrote {'the same' if same else 'other'} bytes"]
        )
