"""`thrall serve --http` as a command: what is refused first, one run from start to end."""

import contextlib
import http.client
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest

from thrall_py.gateway import front

TOKEN = "t0ken-of-the-clients"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--http", "8080"], '"8080" is no address to listen on'),
        (["--http", "0.0.0.0:0"], "0.0.0.0:0 can be reached from other machines"),
        (
            ["--http", "127.0.0.1:0", "--token-env", "none"],
            "the variable is not set (or not exported); give its name",
        ),
        (["--http", "127.0.0.1:0", "--allow-origin", "*"], '--allow-origin "*" would let in'),
        (["--http", "127.0.0.1:0", "--allow-host", "null"], '--allow-host "null" would let in'),
        (["--allow-host", "h"], "--token-env, --allow-origin and --allow-host need --http"),
    ],
)
def test_a_wrong_command_line_is_told_before_anything_is_started(thrall, pin, words, sentence):
    pin("a")
    ran = thrall("serve", "c.json", *words)
    assert (ran.status, ran.out) == (2, b"")
    assert sentence in ran.err


@pytest.mark.parametrize("token", [" ", "secret\n", "secret words", "secret\u00fc", "secret\x1b"])
def test_a_token_that_no_header_can_carry_is_status_3_and_not_repeated(
    thrall, pin, monkeypatch, token
):
    pin("a")
    monkeypatch.setenv("GATE", token)
    ran = thrall("serve", "c.json", "--http", "127.0.0.1:0", "--token-env", "GATE")
    assert ran.status == 3
    assert "the token in GATE has a blank, a control or another character" in ran.err
    assert "secret" not in ran.err


def test_an_address_in_use_is_status_3(thrall, pin):
    pin("a")
    with socket.create_server(("127.0.0.1", 0)) as other:
        where = f"127.0.0.1:{other.getsockname()[1]}"
        ran = thrall("serve", "c.json", "--http", where)
    assert ran.status == 3
    assert f"cannot listen on {where}: address already in use" in ran.err


def test_without_the_extra_the_sentence_names_it(thrall, pin, monkeypatch):
    pin("a")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "thrall_py.gateway.front.http", raising=False)
    monkeypatch.delattr(front, "http", raising=False)
    ran = thrall("serve", "c.json", "--http", "127.0.0.1:0")
    assert ran.status == 2
    assert "--http needs uvicorn, which thrall-py[http] brings: install that" in ran.err


class Running:
    """One run of the program, and its log."""

    def __init__(self, *words, **variables):
        argv = [
            sys.executable,
            "-m",
            "thrall_py",
            "serve",
            "c.json",
            "--http",
            "127.0.0.1:0",
            "--log",
            "json",
            *words,
        ]
        self.process = subprocess.Popen(argv, stderr=PIPE, env={**os.environ, **variables})
        self.log = []
        self.url = self.until("listening")["url"]

    def until(self, event):
        """The next line of the log that tells of `event`."""
        while not self.log or self.log[-1]["event"] != event:
            line = self.process.stderr.readline()
            assert line, self.log
            self.log.append(json.loads(line))
        return self.log[-1]

    def get(self, path, **headers):
        port = int(self.url.rpartition(":")[2].partition("/")[0])
        connection = http.client.HTTPConnection("127.0.0.1", port)
        with contextlib.closing(connection):
            connection.request("GET", path, headers=headers)
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())

    def curl(self, command, **filled):
        """Do what a command line of curl would: the `Mcp-Session-Id` of the reply, and the message."""
        for word, value in filled.items():
            command = command.replace(word, value)
        path, *words = shlex.split(command.replace("\\\n", ""))
        given = [words[at + 1] for at, word in enumerate(words) if word == "-H"]
        headers = dict(each.split(": ") for each in given)
        port = int(self.url.rpartition(":")[2].partition("/")[0])
        connection = http.client.HTTPConnection("127.0.0.1", port)
        with contextlib.closing(connection):
            connection.request("POST", path, words[words.index("-d") + 1], headers)
            reply = connection.getresponse()
            return reply.headers["Mcp-Session-Id"], json.loads(reply.read())

    def end(self, signum=signal.SIGTERM):
        self.process.send_signal(signum)
        rest = self.process.stderr.read()
        self.process.stderr.close()
        return self.process.wait(), rest.decode()


def children(process):
    return subprocess.run(["pgrep", "-P", str(process)], stdout=PIPE, text=True).stdout.split()


@pytest.fixture
def running():
    with contextlib.ExitStack() as stack:

        def start(*words, **variables):
            run = Running(*words, **variables)
            stack.callback(run.process.kill)
            return run

        yield start


@pytest.mark.parametrize("protocol", ["2025-06-18", "2026-07-28"])
def test_a_tool_is_called_over_http_and_a_signal_ends_all(
    thrall, pin, running, graveyard, protocol
):
    pin("a", graveyard=graveyard.path)
    run = running()
    assert run.get("/healthz") == (200, {"status": "ok", "servers": {"a": "unused"}})
    ran = thrall("call", "echo", "text=é", "--json", "--protocol", protocol, "--url", run.url)
    assert ran.status == 0, ran.err
    assert run.until("call")["outcome"] == "ok"
    assert run.get("/healthz") == (200, {"status": "ok", "servers": {"a": "ok"}})
    status, rest = run.end()
    assert status == -signal.SIGTERM
    assert json.loads(rest.splitlines()[-1])["event"] == "end"


def test_the_token_is_wanted_and_stands_in_no_line_and_in_no_server(
    thrall, pin, running, monkeypatch
):
    pin("a")
    monkeypatch.setenv("GATE", TOKEN)
    run = running("--token-env", "GATE")
    ran = thrall("call", "echo", "text=1", "--url", run.url)
    assert ran.status == 8
    ran = thrall("call", "echo", "text=1", "--bearer-env", "GATE", "--url", run.url)
    assert ran.status == 0, ran.err
    assert run.get("/healthz") == (200, {"status": "ok"})
    run.until("call")
    [guard] = children(run.process.pid)
    [server] = children(guard)
    assert TOKEN not in subprocess.run(["ps", "eww", server], stdout=PIPE, text=True).stdout
    _, rest = run.end()
    assert TOKEN not in rest + json.dumps(run.log)


def test_the_page_says_how_to_speak_to_it_by_hand(pin, running):
    pin("a")
    run = running()
    page = (Path(__file__).parent.parent / "man" / "thrall-serve.1").read_text()
    commands = re.findall(r"^curl .*?8080(/mcp.*?\}')$", page, re.MULTILINE | re.DOTALL)
    modern, opening, legacy = (each.replace(r"\e", "\\") for each in commands)
    assert "content" in run.curl(modern)[1]["result"]
    session, opened = run.curl(opening)
    assert opened["result"]["protocolVersion"] == "2025-11-25"
    assert "content" in run.curl(legacy, ID=session)[1]["result"]
    assert run.end()[0] == -signal.SIGTERM
