"""`thrall serve` on stdin and stdout, in this process."""

import json
import os
import signal
import sys
from subprocess import PIPE, Popen

import pytest
from gateways import EVERYTHING
from servers import TOOLS, command, offering

from thrall_py.gateway import hosting

INITIALIZE = {
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": json.loads(EVERYTHING),
        "clientInfo": {"name": "agent", "version": "1"},
    },
}


@pytest.fixture
def serve(thrall, feed):
    """Call with requests and options: what is answered, by id, and the run."""

    def run(*requests, options=(), catalog="c.json"):
        lines = [
            json.dumps({"jsonrpc": "2.0", "id": id_, **each})
            for id_, each in enumerate((INITIALIZE, *requests))
        ]
        feed("\n".join(lines).encode())
        ran = thrall("serve", catalog, *options)
        answers = [json.loads(line) for line in ran.out.splitlines()]
        return {answer["id"]: answer for answer in answers}, ran

    return run


def call(tool, **arguments):
    return {"method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def text(answer):
    return answer["result"]["content"][0]["text"]


def events(ran):
    return [json.loads(line) for line in ran.err.splitlines() if line.startswith("{")]


def test_the_tools_of_many_servers_are_those_of_one(pin, serve):
    pin("a")
    pin("b")
    listed = {"method": "tools/list"}
    answers, ran = serve(listed, call("echo", text="x"), call("b_fail"))
    names = [tool["name"] for tool in answers[1]["result"]["tools"]]
    assert names == ["echo", "fail", "b_echo", "b_fail"]
    assert '"arguments":{"text":"x"}' in text(answers[2]).replace(": ", ":")
    assert answers[3]["result"]["isError"] is True
    assert ran.status == 0


def test_every_call_has_a_line_of_the_log(pin, serve):
    pin("a")
    _, ran = serve(call("echo"), options=("--log", "json"))
    told = {event["event"]: event for event in events(ran)}
    assert list(told) == ["start", "client", "started", "call", "ended", "end"]
    assert (told["call"]["tool"], told["call"]["client"]) == ("echo", "agent")
    assert (told["started"]["server"], told["started"]["revision"]) == ("a", "2025-11-25")


def test_a_tool_that_changed_is_listed_as_pinned_and_not_called(pin, serve):
    pin("a")
    offering(
        "a", serverInfo={"name": "a", "version": "1"}, tools=[{**TOOLS[0], "description": "x"}]
    )
    answers, ran = serve({"method": "tools/list"}, call("echo"), options=("--log", "json"))
    assert answers[1]["result"]["tools"][0]["description"] == TOOLS[0]["description"]
    assert answers[2]["result"]["isError"] is True
    again = f"thrall pin {os.path.abspath('c.json')} --update a, and then start thrall serve again"
    assert text(answers[2]).endswith(f"pin it again at a terminal with: {again}")
    assert outcomes(ran) == ["drift"]


def test_only_what_is_pinned_as_reading_is_offered(pin, serve):
    pin("a")
    answers, _ = serve({"method": "tools/list"}, call("echo"), options=("--read-only",))
    assert [tool["name"] for tool in answers[1]["result"]["tools"]] == ["fail"]
    assert answers[2]["error"]["code"] == -32602


def test_without_an_approval_nothing_is_called(pin, serve):
    pin("a")
    answers, ran = serve(call("echo"), options=("--ask", "--grace", "0.2", "--log", "json"))
    questions = [json.loads(line) for line in ran.out.splitlines() if b"elicitation" in line]
    assert "Allow a call of echo on the server a" in questions[0]["params"]["message"]
    assert outcomes(ran) == ["cancelled"]
    assert answers.keys() == {0, 1}  # the handshake, and the question under an id of ours


def outcomes(ran):
    return [event["outcome"] for event in events(ran) if event["event"] == "call"]


@pytest.mark.parametrize("options", [("--eager",), ("--isolate",), ("--idle", "0.5")])
def test_however_servers_are_kept_a_call_is_answered(pin, serve, options):
    pin("a")
    answers, ran = serve(call("echo"), options=options)
    assert "isError" not in answers[1]["result"]
    assert ran.status == 0


@pytest.mark.parametrize("eager", [(), ("--eager",)])
def test_a_server_that_does_not_start_is_told_and_the_others_are_served(pin, serve, eager):
    pin("a")
    with open("c.json", encoding="ascii") as file:
        catalog = json.load(file)
    broken = json.loads(json.dumps(catalog["servers"]["a"]))
    broken.update(command=["./nothing"], prefix="x_")
    catalog["servers"]["x"] = broken
    with open("c.json", "w", encoding="ascii") as file:
        json.dump(catalog, file)
    options = (*eager, "--log", "json")
    answers, ran = serve(call("echo"), call("x_echo"), options=options)
    assert "isError" not in answers[1]["result"]
    assert answers[2]["result"]["isError"] is True
    assert ran.status == 0
    failed = [event for event in events(ran) if event["event"] == "failed"]
    assert {(each["server"], "nothing" in each["why"]) for each in failed} == {("x", True)}


def test_secrets_of_the_environment_are_in_no_line(pin, serve, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "hunter2hunter2")
    monkeypatch.setitem(INITIALIZE["params"], "clientInfo", {"name": "hunter2hunter2"})
    pin("a")
    _, ran = serve(call("echo"))
    assert "hunter2" not in ran.err
    assert "***" in ran.err


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (("nothing.json",), 3, "cannot read nothing.json"),
        (("empty.json",), 3, "has no servers, so there is nothing to serve"),
        (("c.json", "--", "x"), 2, "starts the servers that the catalog names, and no other"),
        (("c.json", "--allow-host", "x"), 2, "need --http HOST:PORT"),
        (("c.json", "--allow-origin", "x"), 2, "need --http HOST:PORT"),
        (("c.json", "--log", "xml"), 2, "--log"),
        (("c.json", "--idle", "-1"), 2, "is no number of seconds from 0 up"),
        (
            ("c.json", "--token-env", "NOT_SET", "--http", "127.0.0.1:0"),
            3,
            "the variable NOT_SET is not set",
        ),
    ],
)
def test_what_cannot_be_served_is_refused_before_anything(thrall, pin, words, status, sentence):
    pin("a")
    with open("empty.json", "w", encoding="ascii") as file:
        file.write('{"thrall":1,"servers":{}}')
    ran = thrall("serve", *words)
    assert ran.status == status
    assert ran.out == b""
    assert sentence in ran.err
    assert "start" not in ran.err.replace("starts", "")


def test_a_token_means_nothing_without_http(thrall, pin, monkeypatch):
    monkeypatch.setenv("A_TOKEN", "x")
    pin("a")
    assert "need --http" in thrall("serve", "c.json", "--token-env", "A_TOKEN").err


def test_a_closed_stdout_is_refused(thrall, pin, replaced):
    pin("a")
    replaced(1)
    assert thrall("serve", "c.json").status == 3


def test_the_signal_that_ended_it_is_its_own_end(thrall, pin, monkeypatch):
    pin("a")
    monkeypatch.setattr(hosting, "run", lambda *_: signal.SIGHUP)
    assert thrall("serve", "c.json").status == 128 + signal.SIGHUP


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_after_its_servers(thrall, graveyard, signum):
    offering(".", serverInfo={"name": "a", "version": "1"}, tools=TOOLS)
    assert thrall("pin", "c.json", "--", *command("good", graveyard.path)).status == 0
    graveyard.words(5)
    words = [sys.executable, "-m", "thrall_py", "serve", "c.json"]
    with Popen(words, stdin=PIPE, stdout=PIPE, stderr=PIPE) as running:
        for id_, each in enumerate((INITIALIZE, call("echo"))):
            running.stdin.write(json.dumps({"jsonrpc": "2.0", "id": id_, **each}).encode() + b"\n")
        running.stdin.flush()
        answers = [json.loads(running.stdout.readline()) for _ in range(2)]
        running.send_signal(signum)
        assert running.wait(20) == -signum
        assert running.stdout.read() == b""
    assert [answer["id"] for answer in answers] == [0, 1]
    graveyard.words(5)


def test_at_a_terminal_it_says_what_it_is(thrall, pin, terminal, replaced):
    pin("a")
    os.write(terminal.ours, b"\x04")
    replaced(0, terminal.theirs)
    ran = thrall("serve", "c.json")
    assert "serving on stdin and stdout, for a program that speaks MCP" in ran.err
    assert ran.status == 0
