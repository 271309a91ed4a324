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
    ran = shown(STARTED._replace(command=("/x",), env={}), options=options)
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


NEEDING = (
    STARTED._replace(command=("/x", *STARTED.command[1:])),
    REACHED,
    ExecSpec(LaunchSpec(("/y",), {"C": "${C}"})),
)
NAMES = ["A", "B", "C", "HOST", "T"]


@pytest.mark.parametrize(
    ("options", "spelling", "note"),
    [
        ((), "${{{}}}", "the agent has to have what the env passes on, or their values there"),
        (
            ("--for", "cursor"),
            "${{env:{}}}",
            "the agent has to have what the env passes on, or their values there",
        ),
        (
            ("--for", "vscode"),
            "${{env:{}}}",
            "the agent has to have what the env passes on, or their values there",
        ),
        (
            ("--for", "claude-desktop"),
            "",
            "it fills in nothing, so write the values into the env",
        ),
    ],
)
def test_what_the_catalog_takes_from_the_environment_is_passed_on_by_name(
    shown, monkeypatch, options, spelling, note
):
    monkeypatch.setenv("T", "hunter22")
    ran = shown(*NEEDING, options=options)
    (servers,) = json.loads(ran.out).values()
    assert servers["thrall"]["env"] == {name: spelling.format(name) for name in NAMES}
    assert (ran.status, ran.err) == (0, f"thrall: {note}: A, B, C, HOST, T\n")


def test_claude_code_gets_the_variables_of_the_shell_that_runs_the_command(
    shown, program, monkeypatch
):
    monkeypatch.setenv("T", "hunter22")
    ran = shown(*NEEDING, options=("--for", "claude-code"))
    assert b"hunter22" not in ran.out
    assert ran.err == (
        "thrall: run it where these are set, Claude Code keeps their values: A, B, C, HOST, T\n"
    )
    run = subprocess.run(
        ["sh", "-c", f"claude() {{ printf '%s\n' \"$@\"; }}; {ran.out.decode()}"],
        env={"A": "a b", "B": "", "C": "$T", "HOST": "h", "T": "*"},
        capture_output=True,
        check=True,
    )
    values = ["-e", "A=a b", "-e", "B=", "-e", "C=$T", "-e", "HOST=h", "-e", "T=*"]
    words = ["mcp", "add", "thrall", *values, "--", program, "serve", os.path.abspath("c d.json")]
    assert run.stdout.decode().splitlines() == words


def test_programs_that_are_looked_for_in_the_path_are_named_once(shown):
    uvx = LaunchSpec(("uvx",), {})
    ran = shown(uvx, uvx, ExecSpec(LaunchSpec(("cat",), {})), LaunchSpec(("/x",), {}))
    assert ran.err == (
        "thrall: a program without a path is looked for in the PATH of the agent, which at a desktop"
        " is often a short one: pin it absolute, or give the env a PATH: cat, uvx\n"
    )


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
