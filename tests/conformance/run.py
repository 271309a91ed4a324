"""Run the client scenarios of the official MCP conformance suite, and compare with expected.toml.

    python tests/conformance/run.py [--revision V] [--verbose] [SCENARIO...]

THRALL is the command that is tried, by default the one beside this Python.  A SCENARIO may be a
pattern: 'auth/*'.  The scenarios run one after the other: the suite's own way, all at once, makes
them miss their deadlines on a small machine.  Status 1 if anything is not as expected.
"""

import argparse
import fnmatch
import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from typing import NamedTuple

import install

REVISIONS = ("2025-06-18", "2025-11-25", "2026-07-28")
HERE = os.path.dirname(os.path.abspath(__file__))
DRIVER = os.path.join(HERE, "driver.py")
EXPECTED = os.path.join(HERE, "expected.toml")
RESULTS = os.path.join(install.ROOT, "results")
BESIDE = os.path.join(os.path.dirname(os.path.abspath(sys.executable)), "thrall")
PATIENCE = "120000"  # milliseconds for one scenario; the driver ends sooner


class Failure(NamedTuple):
    """An entry of expected.toml."""

    revisions: list[str]
    scenarios: list[str]
    status: int  # thrall's
    reason: str

    def covers(self, revision, scenario):
        return revision in self.revisions and any(
            fnmatch.fnmatchcase(scenario, pattern) for pattern in self.scenarios
        )


class Outcome(NamedTuple):
    """What the suite said of one scenario."""

    checks: list[dict]  # none if it did not get as far as that
    passed: bool
    status: int  # the driver's
    told: str  # by the driver
    log: str

    def count(self, *words):
        return sum(check["status"] in words for check in self.checks)

    def problems(self):
        for check in self.checks:
            if check["status"] in {"FAILURE", "WARNING"}:
                text = check.get("errorMessage") or json.dumps(check.get("details"))
                yield f"{check['id']} ({check['name']}): {check['description']}: {text}"
        if self.status:
            yield f"the client ended with status {self.status}: {self.told.strip()}"
        if not self.checks:
            yield f"the suite reported no check: {self.log.strip()}"


def suite(*words, command=""):
    """Run the suite; return its status and everything it said."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("THRALL") and not name.lower().endswith("_proxy")
    }
    ended = subprocess.run(
        [*install.COMMAND, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env={**kept, "THRALL": command},
    )
    return ended.returncode, ended.stdout


@functools.cache
def scenarios(revision, side="--client"):
    status, text = suite("list", side, "--spec-version", revision)
    names = re.findall(r"^ +- (\S+)", text, re.MULTILINE)
    if status or not names:
        sys.exit(f"conformance: the suite lists nothing for {revision}: {text}")
    return names


def perform(revision, scenario, command):
    folder = os.path.join(RESULTS, revision, *scenario.split("/"))
    shutil.rmtree(folder, ignore_errors=True)
    # The suite takes this apart at the blanks and gives it to a shell, joined by blanks.
    driver = shlex.join([sys.executable, DRIVER])
    status, log = suite(
        *("client", "--command", driver, "--scenario", scenario, "--spec-version", revision),
        *("-o", folder, "--timeout", PATIENCE),
        command=command,
    )
    checks = json.loads(result(folder, "checks.json") or "[]")
    client = re.search(r"Client exited with code (-?\d+)", log)
    client_status = int(client[1]) if client else 0
    return Outcome(checks, status == 0, client_status, result(folder, "stderr.txt"), log)


def result(folder, name):
    """Read what the suite left somewhere below a folder of its own."""
    for place, _, names in os.walk(folder):
        if name in names:
            with open(os.path.join(place, name), encoding="utf-8") as f:
                return f.read()
    return ""


def verdict(outcome, failure):
    """Say whether this was to be expected, and in which words."""
    if not outcome.checks:
        return False, "THE SUITE FAILED"
    if outcome.passed:
        return failure is None, "passed" if failure is None else "UNEXPECTED PASS"
    if failure is None:
        return False, "UNEXPECTED FAILURE"
    if outcome.status != failure.status:
        return False, f"FAILED WITH STATUS {outcome.status}, NOT {failure.status}"
    return True, f"expected: {failure.reason}"


def show(revision, scenario, outcome, words):
    passed, failed = outcome.count("SUCCESS"), outcome.count("FAILURE", "WARNING")
    print(f"{revision}  {scenario:40} {passed:3} passed {failed:3} failed  {words}", flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--revision", action="append", choices=REVISIONS)
    parser.add_argument("--verbose", action="store_true", help="show all that the suite says")
    parser.add_argument("scenarios", metavar="SCENARIO", nargs="*", default=["*"])
    return parser.parse_args()


def read_expected():
    with open(EXPECTED, "rb") as f:
        return [Failure(**table) for table in tomllib.load(f)["failure"]]


def chosen(options):
    """List the pairs of revision and scenario to run."""
    return [
        (revision, scenario)
        for revision in options.revision or REVISIONS
        for scenario in scenarios(revision)
        if any(fnmatch.fnmatchcase(scenario, pattern) for pattern in options.scenarios)
    ]


def stale(expected):
    """Name what stands in expected.toml and is no scenario of the suite."""
    known = {revision: scenarios(revision) for revision in REVISIONS}
    for failure in expected:
        for revision in failure.revisions:
            for pattern in failure.scenarios:
                if not fnmatch.filter(known.get(revision, ()), pattern):
                    yield f"expected.toml: {revision} has no scenario {pattern}"


def main():
    options = parse_arguments()
    if not install.installed():
        sys.exit("conformance: run tests/conformance/install.py first")
    command = os.environ.get("THRALL", shlex.quote(BESIDE))
    if not shutil.which(shlex.split(command)[0]):
        sys.exit(f"conformance: there is no command {command}")
    expected, pairs = read_expected(), chosen(options)
    surprises = list(stale(expected))
    if not pairs:
        sys.exit(f"conformance: no such scenario: {' '.join(options.scenarios)}")
    for revision, scenario in pairs:
        outcome = perform(revision, scenario, command)
        failure = next((each for each in expected if each.covers(revision, scenario)), None)
        good, words = verdict(outcome, failure)
        show(revision, scenario, outcome, words)
        if options.verbose:
            print(outcome.log)
        if not good:
            surprises.append(f"{revision} {scenario}: {words}")
            surprises += [f"  {problem}" for problem in outcome.problems()]
    print(f"{len(pairs)} scenarios, of which not as expected:", *(surprises or ["none"]), sep="\n")
    sys.exit(bool(surprises))


if __name__ == "__main__":
    main()
