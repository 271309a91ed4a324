"""What is measured, each in a folder of its own below build/bench, as a user has it.

A development environment is never measured: its `.pth` files are executed at each start of Python.
"""
# ruff: noqa: INP001, S603, T201 - beside a script; starts what it measures

import os
import shutil
import subprocess
import venv
from typing import NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(HERE)
ROOT = os.path.join(REPOSITORY, "build", "bench")
STAMP = "installed.txt"
NPM = ("--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
PIP = ("-m", "pip", "-qq", "--disable-pip-version-check", "--no-input")


class Package(NamedTuple):
    """Something from a registry, at versions that are fixed."""

    name: str
    requirements: tuple[str, ...]  # as pip or npm takes them
    program: str  # its name
    npm: bool = False

    @property
    def folder(self) -> str:
        """Where it is installed."""
        return os.path.join(ROOT, self.name)

    @property
    def path(self) -> str:
        """Its program."""
        below = ("node_modules", ".bin") if self.npm else ("bin",)
        return os.path.join(self.folder, *below, self.program)

    @property
    def version(self) -> str:
        """The version of what is asked for first."""
        return self.requirements[0].replace("==", "@").rpartition("@")[2]


THRALL = Package("thrall", (REPOSITORY,), "thrall")
EVERYTHING = Package(
    "server-everything",
    ("@modelcontextprotocol/server-everything@2026.8.31", "@modelcontextprotocol/sdk@1.32.2"),
    "mcp-server-everything",
    npm=True,
)
TIME = Package("server-time", ("mcp-server-time==2026.10.19", "mcp==2.3.0"), "mcp-server-time")


def thrall() -> None:
    """Install the working copy afresh, compiled to byte code.  Raises CalledProcessError."""
    python = environment(THRALL.folder)
    subprocess.run((python, *PIP, "install", "--compile", REPOSITORY), check=True)


def environment(folder: str) -> str:
    """Make an environment and return its Python.

    setuptools, which Python 3.11 puts there, has a file that is executed at each start; it is
    removed before anything is installed, which may bring it back.
    """
    venv.create(folder, clear=True, with_pip=True)
    python = os.path.join(folder, "bin", "python")
    words = (python, *PIP, "uninstall", "-y", "setuptools")
    subprocess.run(words, check=True, stderr=subprocess.DEVNULL)
    return python


def present(package: Package) -> bool:
    """Install a package unless it is there; tell of a failure, and whether it is there now."""
    stamp = os.path.join(package.folder, STAMP)
    asked = "\n".join(package.requirements)
    if os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as file:
            if file.read() == asked:
                return True
    print(f"installing {' '.join(package.requirements)}", flush=True)
    shutil.rmtree(package.folder, ignore_errors=True)
    try:
        fetch(package)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"  left out, because it could not be installed: {error}", flush=True)
        return False
    # Last, so that an installation that broke off is begun again.
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(asked)
    return True


def fetch(package: Package) -> None:
    """Have pip or npm install a package.

    Raises OSError if one of them or the program is not there, CalledProcessError if it fails.
    """
    if package.npm:
        where = ("--prefix", package.folder)
        words = ("npm", "install", *NPM, *where, *package.requirements)
    else:
        python = environment(package.folder)
        words = (python, *PIP, "install", "--compile", *package.requirements)
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    if not os.path.exists(package.path):
        raise FileNotFoundError(package.path)
