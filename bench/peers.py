"""Other command-line clients of MCP, each at a fixed version, and called as it wants."""
# ruff: noqa: INP001, S603 - beside a script; starts what it measures

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from typing import NamedTuple

import installing
from installing import Package
from sampling import ENVIRONMENT, WORK, Subject
from targets import ECHO, EVERYTHING, MEGABYTE, TIME, Target, written

SDK = "mcp==2.3.0"
ANY = 1_000  # MB
WORDS = Callable[[Target], tuple[str, ...]]


class Peer(NamedTuple):
    """A client: how it is installed, and how it lists and calls."""

    package: Package
    to_call: WORDS
    to_list: WORDS | None = None  # None: it only lists for a person at a terminal
    most: int = ANY  # the largest answer that it takes, in MB
    quick: bool = False  # quick enough for a hundred calls in a row
    why: str = "nothing is known that explains it"  # that it may be faster

    def calls(self, target: Target) -> list[Subject]:
        """Make what calls the tool of a target; nothing if the answer is too large for it."""
        if target.size > self.most * MEGABYTE:
            return []
        words = (self.package.path, *self.to_call(target))
        return [Subject(self.package.name, words, target.expected, size=target.size, peer=True)]

    def lists(self, target: Target) -> list[Subject]:
        """Make what lists the tools of a target; nothing if it cannot."""
        if not self.to_list:
            return []
        words = (self.package.path, *self.to_list(target))
        return [Subject(self.package.name, words, peer=True, size=len(target.tool))]


def dashed(target: Target) -> str:
    """Name the tool as mcp2cli does."""
    return target.tool.replace("_", "-")


PEERS = (
    Peer(
        Package("mcp-call", ("mcp-cli-skill==0.12.0",), "mcp-call"),
        lambda to: (to.name, to.tool, "--input-json", to.arguments),
        lambda to: (to.name, "--tools", "-o", "json"),
        quick=True,
        why="it has no command-line library, no probe for the era and no deadline, keeps the list "
        "of tools from earlier calls, and ends the server by SIGTERM as soon as it has answered",
    ),
    Peer(
        Package("cli-mcp", ("cli-mcp==0.18.0",), "cli-mcp"),
        lambda to: ("call", to.name, to.tool, to.arguments, "--configpath", CONFIGURATION),
        lambda to: ("list", to.name, "--configpath", CONFIGURATION),
        most=0,  # a line of 64 KiB
        why="it has no probe for the era and ends the server by SIGTERM as soon as it has answered",
    ),
    Peer(
        Package("mcporter", ("mcporter@0.12.3",), "mcporter", npm=True),
        lambda to: ("call", "--stdio", shlex.join(to.words), to.tool, f"{to.key}={to.value}"),
        lambda to: ("list", "--stdio", shlex.join(to.words), "--json"),
        most=10,
    ),
    Peer(
        Package(
            "inspector", ("@modelcontextprotocol/inspector@2.12.0",), "mcp-inspector", npm=True
        ),
        lambda to: (
            *("--cli", *to.words, "--method", "tools/call", "--tool-name", to.tool),
            *("--tool-args-json", to.arguments),
        ),
        lambda to: ("--cli", *to.words, "--method", "tools/list"),
        most=10,
    ),
    Peer(
        Package("wong2", ("@wong2/mcp-cli@2.0.0",), "mcp-cli", npm=True),
        lambda to: (
            "-c",
            CONFIGURATION,
            "call-tool",
            f"{to.name}:{to.tool}",
            "--args",
            to.arguments,
        ),
        most=10,
    ),
    Peer(
        Package("mcp2cli", ("mcp2cli==3.8.0", SDK), "mcp2cli"),
        lambda to: ("--mcp-stdio", shlex.join(to.words), dashed(to), f"--{to.key}", str(to.value)),
        lambda to: ("--mcp-stdio", shlex.join(to.words), "--list"),
    ),
    Peer(
        Package("fastmcp", ("fastmcp==4.1.6", SDK), "fastmcp"),
        lambda to: (
            *("call", "--command", shlex.join(to.words), "--target", to.tool),
            *("--input-json", to.arguments),
        ),
        lambda to: ("list", "--command", shlex.join(to.words), "--json"),
    ),
    Peer(
        Package("sdk-script", (SDK,), "python"),
        lambda to: (SCRIPT, "call", to.tool, to.arguments, *to.words),
        lambda to: (SCRIPT, "list", "", "", *to.words),
    ),
)
SCRIPT = os.path.join(installing.HERE, "sdk_script.py")
CONFIGURATION = os.path.join(WORK, "mcp.json")


def present() -> list[Peer]:
    """Install the peers, and tell them of the servers; those that cannot be are left out."""
    servers = {
        target.name: {"command": target.words[0], "args": target.words[1:]}
        for target in (ECHO, EVERYTHING, TIME)
    }
    written("mcp.json", json.dumps({"mcpServers": servers}))
    found = [peer for peer in PEERS if installing.present(peer.package)]
    for peer in found:
        if peer.package.name == "mcp-call":
            for name, server in servers.items():
                words = (peer.package.path, "--add", name, server["command"], *server["args"])
                subprocess.run(words, check=True, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
    return found
