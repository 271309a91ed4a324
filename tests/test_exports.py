"""What `show` writes for agents that are to be served a catalog."""

import json
import os
import shlex
import subprocess
import sys

import pytest

from thrall_py.catalog import file
from thrall_py.catalog.entry import Entry, command_entry, pin_item
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.launch import ExecSpec, LaunchSpec, UrlSpec
from thrall_py.protocol.mcp import ServerInfo

STARTED = LaunchSpec(("x", "${A}", "$${NO}"), {"B": "${B:-b}"})
REACHED = UrlSpec("https://${HOST}/", {"Authorization": "Bearer ${T}"})


@pytest.fixture
def shown(thrall, monkeypatch, tmp_path):
    """Show how to serve a catalog with these specifications; how that ended."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))

    def show(*specs, options=()):
        items = {"t": pin_item({"name": "t"})}
        entries = {
            str(place): command_entry(spec, items, f"{place}_")
            if isinstance(spec, ExecSpec)
            else Entry(spec, ServerInfo("2025-11-25"), {"tools": items}, ("tools",), f"{place}_")
            for place, spec in enumerate(specs)
        }
        file.write("c d.json", file.dumps(Catalog(entries)))
        return thrall("show", "c d.json", "--format", "mcp-json", "--serve", *options)

    return show


@pytest.fixture
def program(tmp_path):
    """Install our own program beside the interpreter; its path."""
    path = tmp_path / "thrall"
    path.touch(0o755)
    return str(path)


@pytest.mark.parametrize("options", [(), ("--for", "claude-desktop"), ("--for", "cursor")])
def test_one_server_serves_the_catalog_from_wherever_it_is_started(shown, program, options):
    ran = shown(STARTED._replace(command=("x",), env={}), options=options)
    assert (ran.status, ran.err) == (0, "")
    assert json.loads(ran.out) == {
        "mcpServers": {
            "thrall": {"command": program, "args": ["serve", os.path.abspath("c d.json")]}
        }
    }


def test_vs_code_has_another_spelling(shown, program):
    args = ["serve", os.path.abspath("c d.json")]
    assert json.loads(shown(options=("--for", "vscode")).out) == {
        "servers": {"thrall": {"type": "stdio", "command": program, "args": args}}
    }


def test_claude_code_is_told_by_a_command_that_a_shell_takes(shown, program):
    line = shown(options=("--for", "claude-code")).out.decode()
    words = ["claude", "mcp", "add", "thrall", "--", program, "serve", os.path.abspath("c d.json")]
    assert shlex.split(line) == words


def test_without_a_program_beside_it_the_interpreter_is_named(shown, tmp_path):
    server = json.loads(shown().out)["mcpServers"]["thrall"]
    assert [server["command"], *server["args"][:2]] == [str(tmp_path / "python"), "-m", "thrall_py"]


def test_the_variables_that_the_agent_has_to_pass_on_are_named(shown):
    ran = shown(STARTED, REACHED, ExecSpec(LaunchSpec(("y",), {"C": "${C}"})))
    assert ran.err == "thrall: the agent has to pass on what the catalog names: A, B, C, HOST, T\n"
    assert ran.status == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--serve"], "--serve is about a whole catalog: it needs --format mcp-json, and no tool"),
        (["t", "--serve", "--format", "mcp-json"], "--serve is about a whole catalog"),
        (["--serve", "--format", "mcp-json"], "the commands of --serve need a catalog in a file"),
        (["--for", "cursor"], "--for is about the configuration of an agent: it needs --serve"),
    ],
)
def test_options_that_do_not_fit_are_refused(thrall, words, why):
    catalog = "-" if "in a file" in why else "c.json"
    ran = thrall("show", catalog, *words)
    assert (ran.status, why in ran.err) == (2, True)


def test_what_is_printed_starts_a_gateway(thrall):
    item = pin_item({"name": "say", "inputSchema": {"type": "object"}})
    entry = command_entry(ExecSpec(LaunchSpec(("cat",), {})), {"say": item})
    file.write("c.json", file.dumps(Catalog({"say": entry})))
    ran = thrall("show", "c.json", "--format", "mcp-json", "--serve")
    server = json.loads(ran.out)["mcpServers"]["thrall"]
    call = {"name": "say", "arguments": {"a": 1}}
    lines = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
         "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": call},
    ]  # fmt: skip
    sent = "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines)
    argv = [server["command"], *server["args"]]
    served = subprocess.run(argv, input=sent.encode(), capture_output=True, cwd="/", timeout=60)
    answers = {each["id"]: each for each in map(json.loads, served.stdout.splitlines())}
    assert answers[2]["result"] == {"content": [{"type": "text", "text": '{"a": 1}'}]}
