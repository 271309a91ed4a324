"""Real servers over HTTP on free ports of the loopback interface."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from typing import NamedTuple

import pytest
from real.bench import LIMIT, server

MODERN, LEGACY = "2026-07-28", "2025-11-25"
TOKEN = "correct-horse-battery-9"  # what a server with a token wants


class Kind(NamedTuple):
    """A server, how it is to be served, and what it speaks then."""

    name: str  # in install.SERVERS
    how: str
    protocol: str

    @property
    def is_python(self):
        return self.name != "everything"

    @property
    def is_sse(self):
        return self.how == "sse"


KINDS = {
    "everything-streamable": Kind("everything", "streamableHttp", LEGACY),
    "everything-sse": Kind("everything", "sse", LEGACY),
    "legacy-stateful": Kind("legacy", "stateful", LEGACY),
    "legacy-stateless": Kind("legacy", "stateless", LEGACY),
    "legacy-json": Kind("legacy", "json", LEGACY),
    "legacy-sse": Kind("legacy", "sse", LEGACY),
    "modern-stateful": Kind("modern", "stateful", MODERN),
    "modern-stateless": Kind("modern", "stateless", MODERN),
    "modern-json": Kind("modern", "json", MODERN),
    "modern-sse": Kind("modern", "sse", LEGACY),
}


class Served:
    """A server that is up."""

    def __init__(self, kind, port, log):
        self.kind, self._log = kind, log
        self.url = f"http://127.0.0.1:{port}/{'sse' if kind.is_sse else 'mcp'}"

    def log(self):
        with open(self._log, encoding="utf-8") as file:
            return file.read()

    def heard(self):
        """The requests so far: the HTTP method, the path, and the method of the message."""
        lines = self.log().splitlines()
        return [line.removeprefix("heard ") for line in lines if line.startswith("heard ")]

    def wait_for(self, said, times):
        """Wait until it has said something so many times."""
        end = time.monotonic() + LIMIT
        while self.log().count(said) < times:
            assert time.monotonic() < end, f"never said: {said}\n{self.log()}"
            time.sleep(0.02)


@contextlib.contextmanager
def serving(kind, folder, **env):
    """Serve it, and end it with whatever it started."""
    log = str(folder / "server.log")
    words = server(kind.name)[1:]
    if kind.is_python:
        with listening() as ours:
            words += [kind.how, str(ours.fileno())]
            with started(words, log, env, pass_fds=[ours.fileno()]):
                port = ours.getsockname()[1]
                ours.close()  # or nobody would see that the server is dead
                yield Served(kind, port, log)
        return
    with listening() as ours:
        port = ours.getsockname()[1]
    with started([*words, kind.how], log, env | {"PORT": str(port)}) as process:
        wait_until_it_listens(process, port, log)
        yield Served(kind, port, log)


def listening():
    return socket.create_server(("127.0.0.1", 0), backlog=100)


@contextlib.contextmanager
def started(words, log, env, **how):
    with (
        open(log, "wb") as output,
        subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"} | env,
            start_new_session=True,
            **how,
        ) as process,
    ):
        try:
            yield process
            assert not has_ended(process), "the server has ended"
        finally:
            # It is not reaped yet, so the group is its own.
            os.killpg(process.pid, signal.SIGKILL)


def has_ended(process):
    """Whether it has, without reaping it."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def wait_until_it_listens(process, port, log):
    end = time.monotonic() + LIMIT
    while True:
        with (
            contextlib.suppress(ConnectionRefusedError),
            socket.create_connection(("127.0.0.1", port)),
        ):
            return
        if has_ended(process) or time.monotonic() > end:
            with open(log, encoding="utf-8") as file:
                pytest.fail(f"the server does not listen on port {port}: {file.read()}")
        time.sleep(0.05)
