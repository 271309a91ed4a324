"""Runs `thrall serve --http` as a command, before the fixture, and sees what it leaves behind."""

import contextlib
import json
import os
import secrets
import subprocess
import sys
import time

from real.bench import LIMIT, MARK, THRALL, ended_at_last, nothing_left

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURE = os.path.join(HERE, "fixture_server.py")
PAGE = os.sysconf("SC_PAGE_SIZE")


def fixture(era="both"):
    """The words that start the fixture."""
    return [sys.executable, FIXTURE, era]


def pin(catalog, name, words, *options):
    """Add a server to a catalog."""
    argv = [*THRALL, "pin", catalog, "--name", name, *options, "--", *words]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return catalog


class Running:
    """A gateway that is up."""

    def __init__(self, process, log, mark):
        self.process, self.mark, self._log = process, mark, log
        self.url = ""

    def log(self):
        """The lines of the log so far, as values."""
        # The servers share standard error; the last line may be half written.
        lines = self.told().split("\n")[:-1]
        return [json.loads(line) for line in lines if line.startswith("{")]

    def told(self):
        with open(self._log, encoding="utf-8") as file:
            return file.read()

    def listens(self):
        """Wait until it does."""
        end = time.monotonic() + LIMIT
        while not self.url:
            assert self.process.poll() is None, self.told()
            assert time.monotonic() < end, "the gateway does not listen"
            time.sleep(0.02)
            for line in self.log():
                self.url = line.get("url", self.url)

    @property
    def address(self):
        host, _, port = self.url.removeprefix("http://").partition("/")[0].rpartition(":")
        return host, int(port)

    def memory(self):
        """The resident memory in bytes."""
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * PAGE

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def end(self):
        self.process.terminate()
        self.process.wait(LIMIT)


@contextlib.contextmanager
def serving(catalog, *words):
    """Serve a catalog over HTTP; when it is over nothing of it is alive."""
    mark = secrets.token_hex(16)
    log = f"{catalog}.log"
    argv = [*THRALL, "serve", catalog, "--http", "127.0.0.1:0", "--log", "json", *words]
    with open(log, "wb") as file:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stderr=file, env=os.environ | {MARK: mark}
        )
    with process, ended_at_last(process, mark):
        gateway = Running(process, log, mark)
        gateway.listens()
        yield gateway
        if process.poll() is None:
            gateway.end()
        nothing_left_soon(mark)


def nothing_left_soon(mark):
    """Nothing is alive; after a SIGKILL the guards need a moment to see it."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        with contextlib.suppress(AssertionError):
            nothing_left(mark)
            return
        time.sleep(0.05)
    nothing_left(mark)
