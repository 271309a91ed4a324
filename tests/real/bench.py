"""Runs thrall as a caller would, and sees to it that every run leaves nothing behind."""

import contextlib
import json
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

import pytest
from real import install

MARK = "REAL_TESTS_MARK"
LIMIT = 120  # seconds after which a run is given up

BESIDE = os.path.join(os.path.dirname(os.path.abspath(sys.executable)), "thrall")
THRALL = shlex.split(os.environ.get("THRALL_UNDER_TEST", shlex.quote(BESIDE)))


class Run(NamedTuple):
    status: int  # negative for a signal
    out: str
    err: str
    seconds: float

    def sentence(self, tool):
        """What thrall itself said about `tool`; the servers write to stderr as well."""
        start = f"thrall: {tool}: "
        return "\n".join(line for line in self.err.splitlines() if line.startswith(start))


class Bench:
    """A directory and an environment for runs of thrall."""

    def __init__(self, root):
        self.work, self.home = str(root / "bench" / "work"), str(root / "bench" / "home")
        os.makedirs(self.work)
        os.makedirs(self.home)
        self.catalog = os.path.join(self.work, "catalog.json")

    def path(self, name):
        return os.path.join(self.work, name)

    def folder(self, name):
        os.mkdir(self.path(name))
        return self.path(name)

    def repository(self):
        """Make the directory a git repository."""
        words = ["git", "init", "-q", "-b", "main", self.work]
        subprocess.run(words, check=True, env=self.environment(""))

    def environment(self, mark, more=None):
        kept = {name: os.environ[name] for name in ("PATH", "TZ") if name in os.environ}
        ours = {"HOME": self.home, "TMPDIR": self.home, "LANG": "C.UTF-8", MARK: mark}
        return kept | ours | (more or {})

    def call(self, tool, arguments, *words, **how):
        return self.run("call", tool, *words, stdin=json.dumps(arguments), **how)

    def pinned(self):
        """The one entry of the catalog."""
        with open(self.catalog, encoding="ascii") as f:
            (entry,) = json.load(f)["servers"].values()
        return entry

    def run(self, *words, stdin="", env=None, terminate_after=None, terminate_once=None):
        """Run thrall to its end.

        SIGTERM is sent to it `terminate_after` so many seconds, or as soon as `terminate_once`,
        a function, returns.
        """
        mark = secrets.token_hex(16)
        started = time.monotonic()
        # Files, since a process left behind would keep the other end of a pipe open.
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(
                [*THRALL, *words],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
                cwd=self.work,
                env=self.environment(mark, env),
                start_new_session=True,
            )
            with process, ended_at_last(process, mark):
                # It may end without reading.
                with contextlib.suppress(BrokenPipeError), process.stdin:
                    process.stdin.write(stdin.encode())
                if terminate_after is not None:
                    time.sleep(max(0, started + terminate_after - time.monotonic()))
                if terminate_once is not None:
                    terminate_once()
                if terminate_after is not None or terminate_once is not None:
                    process.send_signal(signal.SIGTERM)
                process.wait(LIMIT)
                seconds = time.monotonic() - started
                nothing_left(mark)
                assert group(process.pid) == []
            out.seek(0)
            err.seek(0)
            return Run(process.returncode, out.read().decode(), err.read().decode(), seconds)


@contextlib.contextmanager
def ended_at_last(process, mark):
    """A failed test must not leave processes to the next one."""
    try:
        yield
    finally:
        if process.returncode is None:
            process.kill()
        for pid in processes_with(mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def nothing_left(mark):
    left = [described(pid) for pid in processes_with(mark)]
    assert not left, f"still alive after thrall has returned: {left}"


def processes_with(mark):
    """Processes whose environment holds the mark, whatever group they have gone to.

    Where there is no /proc, none: only the groups are looked at then.
    """
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        # It may be gone meanwhile, or somebody else's.
        with contextlib.suppress(OSError):
            if name.isdigit():
                with open(f"/proc/{name}/environ", "rb") as f:
                    if mark.encode() in f.read():
                        found.append(int(name))
    return found


def described(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f"{pid}: {f.read().replace(bytes(1), b' ').decode()}"
    except OSError:
        return f"{pid}: on its way out"


def group(number):
    """The processes of a group, as pgrep sees them."""
    return subprocess.run(
        ["pgrep", "-g", str(number), "-l"], stdout=subprocess.PIPE, text=True
    ).stdout.split("\n")[:-1]


def server(name, *words):
    """The words that start a real server, after the `--`; the test is skipped without it."""
    if not install.installed(name):
        pytest.skip(f"the {name} server is not installed: make real installs it")
    if install.SERVERS[name].npm and not shutil.which("node"):
        pytest.skip(f"the {name} server needs node, which is not installed; make real needs it too")
    return ["--", *install.command(name), *words]
