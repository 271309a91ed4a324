"""Run the server scenarios of the official MCP conformance suite on `thrall serve --http`.

    python tests/conformance/run_server.py [--revision V] [--server S] [--verbose]

THRALL is the command that is tried, by default the one beside this Python.  What is served is a
catalog that pins tests/serve/fixture_server.py, which has all that the suite asks for; once as a server
of 2026-07-28, and once as one of the revisions before it, so that each era of clients meets each
era of servers.  Status 1 if anything is not as expected_server.toml says.
"""

import argparse
import contextlib
import fnmatch
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
import run

FIXTURE = os.path.join(os.path.dirname(run.HERE), "serve", "fixture_server.py")
EXPECTED = os.path.join(run.HERE, "expected_server.toml")
RESULTS = os.path.join(install.ROOT, "results-server")
# How the fixture is served.  The suite leaves questions unanswered, and each of its requests is a client
# of its own: on one legacy server nobody could tell any more who is asked.
SERVERS = {"modern": (), "legacy": ("--isolate",)}
FOLDER = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z")


class Failure(NamedTuple):
    """An entry of expected_server.toml."""

    servers: list[str]
    revisions: list[str]
    scenarios: list[str]
    reason: str

    def covers(self, server, revision, scenario):
        return (
            server in self.servers
            and revision in self.revisions
            and any(fnmatch.fnmatchcase(scenario, pattern) for pattern in self.scenarios)
        )


@contextlib.contextmanager
def served(server, command):
    """Serve the fixture from a catalog, and tell the URL."""
    os.makedirs(RESULTS, exist_ok=True)
    catalog = os.path.join(RESULTS, f"{server}.json")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(catalog)
    pin = [*command, "pin", catalog, "--name", "fixture", "--", sys.executable, FIXTURE, server]
    subprocess.run(pin, check=True, stderr=subprocess.DEVNULL)
    words = ["serve", catalog, "--http", "127.0.0.1:0", "--log", "json", *SERVERS[server]]
    log = os.path.join(RESULTS, f"{server}.log")
    with (
        open(log, "wb") as file,
        subprocess.Popen([*command, *words], stderr=file, stdin=subprocess.DEVNULL) as process,
    ):
        try:
            yield listening(process, log)
        finally:
            process.terminate()


def listening(process, log):
    """Wait for the line of the log that names the URL."""
    with open(log, encoding="utf-8") as file:
        while process.poll() is None:
            for line in file:
                with contextlib.suppress(json.JSONDecodeError):  # half a line
                    told = json.loads(line)
                    if told["event"] == "listening":
                        return told["url"]
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.05)
        file.seek(0)
        sys.exit(f"conformance: the gateway ended: {file.read()}")


def perform(server, revision, url):
    """Run all scenarios of a revision; their checks by name."""
    folder = os.path.join(RESULTS, server, revision)
    shutil.rmtree(folder, ignore_errors=True)
    where = ("--url", url, "-o", folder)
    _, log = run.suite("server", "--suite", "all", "--spec-version", revision, *where)
    checks = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name, "checks.json"), encoding="utf-8") as file:
            checks[FOLDER.fullmatch(name)[1]] = json.load(file)
    return checks, log


def required(revision):
    """Name the scenarios that a revision requires; none of the older ones, which have no such list."""
    status, text = run.suite("list", "--server", "--requirements", revision)
    return set(re.findall(r"^ +- (\S+)$", text, re.MULTILINE)) if status == 0 else set()


def problems(checks):
    for check in checks:
        if check["status"] in {"FAILURE", "WARNING"}:
            yield f"  {check['id']}: {check.get('errorMessage') or check['description']}"


def verdict(checks, failure):
    """Say whether this was to be expected, and in which words."""
    if checks is None:
        return False, "NOT RUN"
    if not any(problems(checks)):
        return failure is None, "passed" if failure is None else "UNEXPECTED PASS"
    if failure is None:
        return False, "UNEXPECTED FAILURE"
    return True, f"expected: {failure.reason}"


def judge(server, revision, outcomes, wanted):
    """Show what became of the scenarios; yield what is not as expected."""
    scenarios, passed = run.scenarios(revision, "--server"), set()
    scored = required(revision).intersection(scenarios)
    for scenario in scenarios:
        checks = outcomes.get(scenario)
        failure = next((each for each in wanted if each.covers(server, revision, scenario)), None)
        good, words = verdict(checks, failure)
        counts = [check["status"] for check in checks or ()]
        bad = sum(status in {"FAILURE", "WARNING"} for status in counts)
        print(
            f"{revision}  {scenario:45} {counts.count('SUCCESS'):3} passed {bad:3} failed  {words}"
        )
        if checks and not bad:
            passed.add(scenario)
        if not good:
            yield f"{server} {revision} {scenario}: {words}"
            yield from problems(checks or ())
    if scored:
        print(f"{revision}  {server}: {len(scored & passed)} of {len(scored)} that are required\n")


def stale(wanted):
    """Name what stands in expected_server.toml and is no scenario of the suite."""
    for failure in wanted:
        for revision in failure.revisions:
            for pattern in failure.scenarios:
                if not fnmatch.filter(run.scenarios(revision, "--server"), pattern):
                    yield f"expected_server.toml: {revision} has no scenario {pattern}"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--revision", action="append", choices=run.REVISIONS)
    parser.add_argument("--server", action="append", choices=SERVERS)
    parser.add_argument("--verbose", action="store_true", help="show all that the suite says")
    return parser.parse_args()


def main():
    options = parse_arguments()
    if not install.installed():
        sys.exit("conformance: run tests/conformance/install.py first")
    command = shlex.split(os.environ.get("THRALL", shlex.quote(run.BESIDE)))
    with open(EXPECTED, "rb") as file:
        wanted = [Failure(**table) for table in tomllib.load(file)["failure"]]
    surprises = list(stale(wanted))
    for server in options.server or SERVERS:
        print(f"thrall serve before a server of the {server} era")
        with served(server, command) as url:
            for revision in options.revision or run.REVISIONS:
                outcomes, log = perform(server, revision, url)
                if options.verbose:
                    print(log)
                surprises += judge(server, revision, outcomes, wanted)
    print("not as expected:", *(surprises or ["none"]), sep="\n")
    sys.exit(bool(surprises))


if __name__ == "__main__":
    main()
