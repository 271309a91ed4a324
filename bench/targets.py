"""Servers, the pipelines that need no client for them, and calls of thrall."""
# ruff: noqa: INP001 - beside a script

import json
import os
import sys
from typing import NamedTuple

import installing
from sampling import WORK, Subject

PYTHON = (sys.executable, "-I", "-S")
MINIMAL = (*PYTHON, os.path.join(installing.HERE, "minimal_server.py"))
THRALL = installing.THRALL.path
PIPE = "the bare pipeline"
MEGABYTE = 1_000_000  # in characters of a text

OPENING = (
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
)
# Sends three lines, and ends the input only when the second answer is there.
OPEN_STDIN = """
coproc "$@"
server=$COPROC_PID
printf %s "$0" >&${COPROC[1]}
read -r line <&${COPROC[0]}; read -r line <&${COPROC[0]}
printf '%s\\n' "$line"
exec {COPROC[1]}>&-
wait $server
"""
# The least that a command costs that uses click.
HELLO = """
import click

@click.command()
@click.argument("name")
def hello(name):
    click.echo(f"Hello, {name}")

hello()
"""


class Target(NamedTuple):
    """A server, and a tool of it that takes one argument."""

    name: str
    words: tuple[str, ...]
    tool: str
    key: str
    value: str | int
    expected: str  # what the answer has
    size: int = 0  # bytes of the answer
    patient: bool = False  # it loses what it has not answered at the end of its input

    @property
    def arguments(self) -> str:
        """The arguments as JSON."""
        return json.dumps({self.key: self.value})


def text_of(megabytes: int) -> Target:
    """Have the minimal server answer with so much text."""
    size = megabytes * MEGABYTE
    return Target("minimal", MINIMAL, "text", "n", size, "The quick brown fox", size)


ECHO = Target("minimal", MINIMAL, "echo", "text", "hi", "hi")
EVERYTHING = Target(
    "everything", (installing.EVERYTHING.path,), "echo", "message", "hi", "Echo: hi"
)
TIME = Target(
    "time",
    (installing.TIME.path, "--local-timezone", "UTC"),
    "get_current_time",
    "timezone",
    "UTC",
    "UTC",
    patient=True,
)


def real() -> list[Target]:
    """Install the real servers; the one that cannot be is left out."""
    pairs = ((installing.EVERYTHING, EVERYTHING), (installing.TIME, TIME))
    return [target for package, target in pairs if installing.present(package)]


def path(name: str) -> str:
    """Name a file of ours."""
    return os.path.join(WORK, name)


def written(name: str, text: str) -> str:
    """Write a file of ours."""
    with open(path(name), "w", encoding="utf-8") as file:
        file.write(text)
    return path(name)


def three_lines(method: str, params: dict) -> str:
    """Make what a bare pipeline sends."""
    messages = (*OPENING, {"id": 2, "method": method, "params": params})
    return "".join(f"{json.dumps({'jsonrpc': '2.0'} | message)}\n" for message in messages)


def pipeline(target: Target, method: str, params: dict) -> tuple[str, ...]:
    """Make the pipeline that sends one request to a server."""
    if target.patient:
        return ("bash", "-c", OPEN_STDIN, three_lines(method, params), *target.words)
    return ("sh", "-c", 'printf %s "$0" | "$@"', three_lines(method, params), *target.words)


def listed(target: Target) -> Subject:
    """List the tools without any client."""
    return Subject(PIPE, pipeline(target, "tools/list", {}), '"jsonrpc"')


def called(target: Target) -> Subject:
    """Call the tool without any client."""
    params = {"name": target.tool, "arguments": {target.key: target.value}}
    return Subject(PIPE, pipeline(target, "tools/call", params), '"jsonrpc"', size=target.size)


def calling(target: Target, name: str, *options: str) -> Subject:
    """Make a `thrall call` of a target, with its arguments on stdin."""
    stdin = written(f"{target.name}-{target.size}.json", target.arguments)
    words = (THRALL, "call", target.tool, *options, "--", *target.words)
    return Subject(name, words, target.expected, stdin, target.size)
