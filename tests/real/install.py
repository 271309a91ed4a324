"""Install the real MCP servers that tests/real talks to, each into a folder of its own.

    python tests/real/install.py [--into DIR] [NAME...]

Without a NAME, all of them.  A stamp beside each one holds what was asked for; where it
matches the table below, nothing is done and no registry is asked.
"""

import argparse
import os
import shutil
import subprocess
import sys
import venv
from typing import NamedTuple

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROOT = os.path.join(REPOSITORY, "build", "real")
STAMP = "installed.txt"
HERE = os.path.dirname(os.path.abspath(__file__))
CLIENT = "@modelcontextprotocol/client"


class Server(NamedTuple):
    requirements: tuple[str, ...]
    program: str  # below the server's folder
    script: str = ""  # in this folder, for the program to run
    npm: bool = False

    @property
    def stamp(self):
        return "".join(f"{requirement}\n" for requirement in self.requirements)


def from_pypi(name, version, sdk="2.3.0"):
    return Server((f"{name}=={version}", f"mcp=={sdk}"), f"bin/{name}")


def from_npm(name, version, sdk="1.32.2"):
    scope = "@modelcontextprotocol"
    requirements = (f"{scope}/server-{name}@{version}", f"{scope}/sdk@{sdk}")
    return Server(requirements, f"node_modules/.bin/mcp-server-{name}", npm=True)


# The SDK is pinned along with each server: it decides which era the server speaks.
SERVERS = {
    "time": from_pypi("mcp-server-time", "2026.10.19"),
    "git": from_pypi("mcp-server-git", "2026.10.19"),
    "fetch": from_pypi("mcp-server-fetch", "2026.10.24"),
    "everything": from_npm("everything", "2026.8.31"),
    "filesystem": from_npm("filesystem", "2026.8.31"),
    "memory": from_npm("memory", "2026.8.31"),
    "sequential-thinking": from_npm("sequential-thinking", "2026.8.31"),
    # An old release, to upgrade from.
    "sequential-thinking-before": from_npm("sequential-thinking", "2025.7.1", sdk="0.5.0"),
    "modern": Server(("mcp==2.3.0",), "bin/python", "modern_server.py"),
    "legacy": Server(("mcp==1.30.0",), "bin/python", "legacy_server.py"),
    # No server: the other clients come with the servers above.
    "typescript-client": Server(
        (f"{CLIENT}@2.4.0",), f"node_modules/{CLIENT}/package.json", npm=True
    ),
}


def installed(name, into=ROOT):
    """Whether the server is there, at the version in the table."""
    try:
        with open(os.path.join(into, name, STAMP), encoding="utf-8") as f:
            return f.read() == SERVERS[name].stamp
    except FileNotFoundError:
        return False


def command(name, into=ROOT):
    """The words that start the server."""
    server = SERVERS[name]
    words = [os.path.join(into, name, server.program)]
    return [*words, os.path.join(HERE, server.script)] if server.script else words


def install(name, into=ROOT):
    server, folder = SERVERS[name], os.path.join(into, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    if server.npm:
        quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]
        run(["npm", "install", *quiet, "--prefix", folder, *server.requirements])
    else:
        venv.create(folder, with_pip=True)
        python = os.path.join(folder, "bin", "python")
        quiet = ["-qq", "--disable-pip-version-check", "--no-input"]
        run([python, "-m", "pip", "install", *quiet, *server.requirements])
    program = os.path.join(folder, server.program)
    if not os.path.exists(program):
        sys.exit(f"install: {name}: installed, but there is no {program}")
    # Last, so that a broken-off installation is taken up again.
    with open(os.path.join(folder, STAMP), "w", encoding="utf-8") as f:
        f.write(server.stamp)


def run(words):
    try:
        subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        sys.exit(f"install: {words[0]} is not installed")
    except subprocess.CalledProcessError as error:
        sys.exit(f"install: {words[0]} ended with status {error.returncode}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--into", metavar="DIR", default=ROOT)
    parser.add_argument("names", metavar="NAME", nargs="*", help=", ".join(SERVERS))
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in SERVERS]
    if unknown:
        parser.error(f"no such server: {', '.join(unknown)}")
    into = os.path.abspath(options.into)
    for name in options.names or SERVERS:
        if installed(name, into):
            print(f"{name}: already there")
        else:
            print(f"{name}: installing {' '.join(SERVERS[name].requirements)}", flush=True)
            install(name, into)


if __name__ == "__main__":
    main()
