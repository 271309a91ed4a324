import gc
import io
import os
import runpy
import signal
import subprocess
import sys

import pytest

from thrall_py import __main__ as program
from thrall_py import __version__, cli


@pytest.fixture(autouse=True)
def untouched():
    """Give back what the program changes for the whole process."""
    handler = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, handler)
    gc.enable()


@pytest.fixture(autouse=True)
def survived(monkeypatch):
    """Tell the status with which the program ends this process, which goes on."""

    def end(status):
        raise SystemExit(status)

    monkeypatch.setattr(os, "_exit", end)


def test_the_program_ends_with_the_status_of_its_words(monkeypatch):
    seen = []

    def run(words):
        seen.append(words)
        return 7

    monkeypatch.setattr(cli, "run", run)
    monkeypatch.setattr(sys, "argv", ["thrall", "call", "x"])
    with pytest.raises(SystemExit) as ended:
        program.main()
    assert (ended.value.code, seen) == (7, [["call", "x"]])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (signal.default_int_handler, signal.SIG_DFL),
        (signal.SIG_IGN, signal.SIG_IGN),
        (signal.SIG_DFL, signal.SIG_DFL),
    ],
)
def test_an_interrupt_has_its_default_meaning_unless_it_is_ignored(monkeypatch, before, after):
    monkeypatch.setattr(cli, "run", lambda _: 0)
    signal.signal(signal.SIGINT, before)
    with pytest.raises(SystemExit):
        program.main()
    assert signal.getsignal(signal.SIGINT) is after


def test_the_package_can_be_run(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "thrall_py.__main__")
    monkeypatch.setattr(sys, "argv", ["thrall", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("thrall_py", run_name="__main__")
    assert (ended.value.code, capsys.readouterr().out) == (0, f"thrall {__version__}\n")


def test_what_is_said_is_written_before_the_end(monkeypatch):
    monkeypatch.setattr(cli, "run", lambda _: 0)
    said = [io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO())]
    for name, stream in zip(("stdout", "stderr"), said, strict=True):
        stream.write(name)
        monkeypatch.setattr(sys, name, stream)
    with pytest.raises(SystemExit):
        program.main()
    assert [stream.buffer.getvalue() for stream in said] == [b"stdout", b"stderr"]


def test_it_ends_where_stdout_was_closed(monkeypatch):
    monkeypatch.setattr(cli, "run", lambda _: 3)
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(SystemExit) as ended:
        program.main()
    assert ended.value.code == 3


def test_importing_the_program_runs_nothing():
    command = [sys.executable, "-c", "import thrall_py.__main__"]
    assert subprocess.run(command, capture_output=True).stdout == b""
