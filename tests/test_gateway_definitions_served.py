"""What `thrall serve` says of a prompt, a resource or a template that its server changed meanwhile."""

import contextlib
import json
import os
import sys
from subprocess import PIPE, Popen

import pytest
import shelf
from gateways import envelope

HANDSHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "me"}}
ASKED = {
    "prompts": ("prompts/get", {"name": "x_greet"}),
    "resources": ("resources/read", {"uri": "shelf:a"}),
    "resourceTemplates": ("resources/read", {"uri": "shelf:7/data"}),
}
NAMES = {"prompts": "x_greet", "resources": "shelf:a", "resourceTemplates": "shelf:{id}/data"}
WHAT = {
    "prompts": "prompts/greet/title added",
    "resources": "resources shelf:a: title added",
    "resourceTemplates": "resourceTemplates shelf:{id}/data: title added",
}


class Served:
    """A gateway before a shelf, asked one thing after the other by a client of one revision."""

    def __init__(self, process, revision):
        self.process = process
        self.is_modern = revision == shelf.MODERN
        self.count = 0
        if not self.is_modern:
            self.ask("initialize", HANDSHAKE)

    def ask(self, method, params):
        self.count += 1
        more = {"_meta": envelope()} if self.is_modern else {}
        asked = {"id": self.count, "method": method, "params": {**params, **more}}
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **asked}).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert answer["id"] == self.count
        return answer

    def put(self, kind, tell):
        (item,) = shelf.ITEMS[kind]
        given = {"list": kind, "pages": [[{**item, "title": "new"}]], "tell": tell}
        assert "result" in self.ask("tools/call", {"name": "x_put", "arguments": given})


@pytest.fixture
def served(thrall):
    """Call with the revisions of the server and of the client: a gateway; `log` has its log at the end."""

    @contextlib.contextmanager
    def run(server, client, log, *options):
        words = (sys.executable, "-I", "-S", shelf.__file__, server)
        pinned = thrall("pin", "c.json", "--name", "it", "--prefix", "x_", *options, "--", *words)
        assert pinned.status == 0
        command = [sys.executable, "-m", "thrall_py", "serve", "c.json", "--log", "json"]
        with Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
            yield Served(process, client)
            process.stdin.close()
            log += [json.loads(line) for line in process.stderr]

    return run


@pytest.mark.parametrize("server", ["2025-11-25", shelf.MODERN])
@pytest.mark.parametrize("client", ["2025-11-25", shelf.MODERN])
def test_what_a_server_changes_meanwhile_is_listed_as_pinned_and_not_asked_for(
    served, server, client
):
    log, catalog = [], os.path.abspath("c.json")
    with served(server, client, log) as gateway:
        for kind, (method, params) in ASKED.items():
            assert "result" in gateway.ask(method, params)
            gateway.put(kind, "prompts" if kind == "prompts" else "resources")
            assert gateway.ask(method, params)["error"] == {
                "code": -32603,
                "message": f"{NAMES[kind]} is not as it was pinned, so it was not asked for: {WHAT[kind]};"
                f" a person has to review it with: thrall check {catalog}, pin it again at a terminal"
                f" with: thrall pin {catalog} --update it, and then start thrall serve again",
            }
        listed = gateway.ask("prompts/list", {})["result"]["prompts"]
        ref = {"type": "ref/prompt", "name": "x_greet"}
        completed = gateway.ask(
            "completion/complete", {"ref": ref, "argument": {"name": "who", "value": ""}}
        )
    assert listed == [{**shelf.PROMPT, "name": "x_greet"}]
    assert completed["error"]["code"] == -32603
    outcomes = [each["outcome"] for each in log if each["event"] == "call"]
    assert outcomes == ["ok", "ok", "drift"] * 3 + ["drift"]


def test_what_is_not_part_of_the_pinned_surface_is_not_there_and_its_list_is_not_read(served):
    log = []
    with served("2025-11-25", "2025-11-25", log, "--surface", "instructions") as gateway:
        refused = gateway.ask(*ASKED["prompts"])["error"]["code"]
        listed = gateway.ask("prompts/list", {})["result"]["prompts"]
        heard = gateway.ask("tools/call", {"name": "x_heard", "arguments": {}})["result"]
    assert (refused, listed) == (-32602, [])
    methods = json.loads(heard["content"][0]["text"])
    assert [each for each in methods if each.endswith("/list")] == ["tools/list"]
