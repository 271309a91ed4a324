"""The scripts of `thrall completion` in the shells they are for, keys pressed at a terminal."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from thrall_py.catalog import file
from thrall_py.catalog.entry import Entry, pin_item
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.launch import LaunchSpec
from thrall_py.protocol.mcp import ServerInfo

ROOT = Path(__file__).parent.parent
PATIENCE = 60  # seconds until a shell counts as stuck
PROMPT = b"READY> "
ISSUE = {
    "name": "create_issue",
    "inputSchema": {
        "properties": {
            "title": {"type": "string"},
            "status": {"enum": ["open", "In Progress", "it's $(touch ran)"]},
            "urgent": {"type": "boolean"},
            "file.name": {"type": "string"},
        }
    },
}
HOSTILE = ["$(touch ran)", "`touch ran`", "esc\x1b]0;x\x07", "new\ntouch ran", "semi;touch ran"]

RC = {
    "bash": """
        PS1='READY> '
        bind 'set bell-style none'
        source <(thrall completion bash)
    """,
    "zsh": """
        PS1='READY> '
        unsetopt BEEP PROMPT_SP
        autoload -Uz compinit; compinit -u
        bindkey -e
        source <(thrall completion zsh)
    """,
}
START = {"bash": ["bash", "--rcfile", ".zshrc", "-i"], "zsh": ["zsh", "-d", "-i"]}

CASES = [
    ("thrall ca\t", "thrall|call"),
    ("thrall call --cata\t", "thrall|call|--catalog"),
    ("thrall check my\t", "thrall|check|my tools.json"),
    ("thrall call --catalog=to\t", "thrall|call|--catalog=tools.json"),
    ("thrall call --catalog tools.json cr\t", "thrall|call|--catalog|tools.json|create_issue"),
    ("thrall call --catalog my\\ tools.json cr\t", "thrall|call|--catalog|my tools.json|create_issue"),
    ("thrall call --catalog 'my tools.json' cr\t", "thrall|call|--catalog|my tools.json|create_issue"),
    ("thrall call cr --catalog tools.json" + "\x02" * 21 + "\t\x05", "thrall|call|create_issue|--catalog|tools.json"),
    ("T ti\tx", "title=x"),
    ("T ur\tt\t", "urgent:=true"),
    ("T fi\t", r"file\.name="),
    ("T status=o\t", "status=open"),
    ("T status=I\t", "status=In Progress"),
    ("T 'status=I\t", "status=In Progress"),
    ("T status='I\t", "status=In Progress"),
    ("T status=it\t", "status=it's $(touch ran)"),
    ("T body=@re\t", "body=@report.md"),
    ("thrall call --catalog tools.json \\$\t", "thrall|call|--catalog|tools.json|$(touch ran)"),
    ("thrall call --catalog tools.json se\t", "thrall|call|--catalog|tools.json|semi;touch ran"),
    ("thrall call --catalog tools.json es\t", "thrall|call|--catalog|tools.json|es"),
    ("thrall call --catalog broken.json cr\t", "thrall|call|--catalog|broken.json|cr"),
    ("thrall unpin tools.json my\t", "thrall|unpin|tools.json|my server"),
    ("thrall check --format ju\t", "thrall|check|--format|junit"),
    ("thrall check --format=ju\t", "thrall|check|--format=junit"),
    ("thrall call x --save fo\tx", "thrall|call|x|--save|folder/x"),
    ("thrall call x -- cat rep\t", "thrall|call|x|--|cat|report.md"),
    ("thrall call x -- trut\t", "thrall|call|x|--|truth-teller"),
]  # fmt: skip
LINE = "thrall call create_issue --catalog tools.json"


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """A directory with catalogs and a command `thrall`; nothing may be run in it."""
    server = ServerInfo("2025-11-25", "s", "1")
    entry = Entry(LaunchSpec(("touch", "ran"), {}), server, {"tools": {}})
    tools = [ISSUE, *({"name": name} for name in HOSTILE)]
    full = entry._replace(items={"tools": {tool["name"]: pin_item(tool) for tool in tools}})
    for name in ("tools.json", "my tools.json"):
        file.write(name, file.dumps(Catalog({"tracker": full, "my server": entry})))
    Path("broken.json").write_text('{"thrall": 1, "servers": {')
    Path("report.md").touch()
    for folder in ("folder", "programs"):
        os.mkdir(folder)
    for program, line in (
        ("thrall", f'PYTHONPATH={ROOT} exec {sys.executable} -m thrall_py "$@"'),
        ("truth-teller", ":"),
    ):
        path = Path("programs", program)
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{os.getcwd()}/programs:/usr/bin:/bin")
    monkeypatch.setenv("TERM", "vt100")
    monkeypatch.setenv("ZDOTDIR", os.getcwd())
    yield
    assert not os.path.exists("ran")


class Shell:
    """A shell at a terminal of ours."""

    def __init__(self, name):
        Path(".zshrc").write_text(RC[name])
        self.pid, self.fd = pty.fork()
        if not self.pid:  # pragma: no cover - another process
            os.execvp(name, START[name])
        self.shown = b""
        self.read_until(PROMPT)

    def read_until(self, mark):
        deadline = time.monotonic() + PATIENCE
        while mark not in self.shown:
            left = max(0.0, deadline - time.monotonic())
            assert select.select([self.fd], [], [], left)[0], self.shown
            self.shown += os.read(self.fd, 65536)

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def words(self, keys):
        """The words of the line that the keys make; T stands for a call of a tool."""
        keys = keys.replace("T ", f"{LINE} ")
        self.shown = b""
        self.press(f"{keys}\x01printf '<%s>' BEGIN \x05 E''ND\r")
        self.read_until(b"<END>")
        line, _, self.shown = self.shown.rpartition(b"><END>")
        self.read_until(PROMPT)
        return line.rpartition(b"<BEGIN><")[2].decode().replace("><", "|")

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


@pytest.fixture(params=sorted(RC))
def shell(request):
    if not shutil.which(request.param):
        pytest.skip(f"there is no {request.param}")
    shell = Shell(request.param)
    yield shell
    shell.close()


def test_a_tab_completes_the_word(shell):
    call = LINE.replace(" ", "|")
    expected = {
        keys: f"{call}|{words}" if keys.startswith("T ") else words for keys, words in CASES
    }
    assert {keys: shell.words(keys) for keys in expected} == expected


@pytest.mark.parametrize(
    "program",
    ["~/programs/thrall", "$HOME/programs/thrall", "${HOME}/programs/thrall", "programs/thrall"],
)
def test_bash_asks_the_program_that_was_typed_wherever_it_is(monkeypatch, program):
    monkeypatch.setenv("HOME", os.getcwd())
    shell = Shell("bash")
    shell.shown = b""
    shell.press("PATH=/usr/bin:/bin\r")
    shell.read_until(PROMPT)
    completed = shell.words(f"{program} ca\t")
    shell.close()
    assert completed.endswith("programs/thrall|call")


@pytest.mark.parametrize(
    "program", ["$(touch ran)/thrall", "`touch ran`/thrall", "${x:=$(touch ran)}/thrall", "~nobody-here/thrall"]
)  # fmt: skip
def test_a_tab_runs_nothing_that_stands_in_the_word_of_the_program(program):
    shell = Shell("bash")
    shell.shown = b""
    shell.press(f"{program} ca\t\x01# \r")
    shell.read_until(PROMPT)
    shell.close()
    assert not os.path.exists("ran")


@pytest.fixture
def fish():
    if not shutil.which("fish"):
        pytest.skip("there is no fish")

    def complete(line):
        script = 'thrall completion fish | source; complete -C "$argv[1]"'
        ran = subprocess.run(
            ["fish", "--no-config", "-c", script, line], capture_output=True, text=True
        )
        assert (ran.returncode, ran.stderr) == (0, "")
        return sorted(line.partition("\t")[0] for line in ran.stdout.splitlines())

    return complete


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("thrall ca", ["call"]),
        ("thrall call --cata", ["--catalog"]),
        ("thrall check my", ["my tools.json"]),
        ("thrall call --catalog ", ["broken.json", "folder/", "my tools.json", "programs/", "tools.json"]),
        ("thrall call --catalog=to", ["--catalog=tools.json"]),
        ("thrall call --catalog my\\ tools.json cr", ["create_issue"]),
        ("thrall call --catalog 'my tools.json' cr", ["create_issue"]),
        (f"{LINE} ", [r"file\.name=", "status=", "title=", "urgent:="]),
        (f"{LINE} urgent:=", ["urgent:=false", "urgent:=true"]),
        (f"{LINE} 'status=In", ["status=In Progress"]),
        (f"{LINE} status=In\\ P", ["status=In Progress"]),
        (f"{LINE} status=it", ["status=it's $(touch ran)"]),
        (f"{LINE} body=@re", ["body=@report.md"]),
        ("thrall call --catalog tools.json ", ["$(touch ran)", "`touch ran`", "create_issue", "semi;touch ran"]),
        ("thrall call --catalog broken.json cr", []),
        ("thrall unpin tools.json my", ["my server"]),
        ("thrall check --format=ju", ["--format=junit"]),
        ("thrall call x --save fo", ["folder/"]),
        ("thrall call x -- cat rep", ["report.md"]),
        ("thrall call x -- trut", ["truth-teller"]),
    ],
)  # fmt: skip
def test_fish_is_told_what_may_stand_there(fish, line, found):
    assert fish(line) == sorted(found)
