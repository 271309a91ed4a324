"""`thrall unpin`: servers leave a catalog, nothing is started."""

import fcntl
import json
import os
import signal
import time
from pathlib import Path

import pytest


def servers(path="c.json"):
    return list(json.loads(Path(path).read_text())["servers"])


@pytest.fixture
def three(pin):
    for name in ("a", "b", "c"):
        pin(name)
    return Path("c.json").read_bytes()


@pytest.mark.usefixtures("three")
def test_a_server_is_removed_and_told(thrall):
    assert thrall("unpin", "c.json", "b") == (0, b"", "thrall: b: removed, with 2 tools\n")
    assert servers() == ["a", "c"]
    assert thrall("check", "c.json") == (0, b"a: as pinned\nc: as pinned\n", "")


def test_one_tool_is_told_in_the_singular(thrall, pin):
    pin("a", tools=[{"name": "x"}])
    assert thrall("unpin", "c.json", "a") == (0, b"", "thrall: a: removed, with 1 tool\n")
    assert servers() == []


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("names", [("c", "a"), ("c", "a", "c")])
def test_several_servers_are_removed_in_one_step(thrall, names):
    ran = thrall("unpin", "c.json", *names)
    assert (ran.status, ran.out) == (0, b"")
    assert ran.err == "thrall: c: removed, with 2 tools\nthrall: a: removed, with 2 tools\n"
    assert servers() == ["b"]


def test_what_is_removed_comes_back_with_the_same_bytes(thrall, pin, three):
    assert thrall("unpin", "c.json", "b").status == 0
    pin("b")
    assert Path("c.json").read_bytes() == three


@pytest.mark.usefixtures("three")
def test_the_policy_stays(thrall):
    catalog = json.loads(Path("c.json").read_text())
    Path("c.json").write_text(json.dumps({**catalog, "policy": {"allow": ["text"]}}))
    assert thrall("unpin", "c.json", "a").status == 0
    assert json.loads(Path("c.json").read_text())["policy"] == {"allow": ["text"]}


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (("a", "d"), "the catalog has no server d"),
        (("x\x1b",), r"the catalog has no server x\x1b"),
        (("b_echo",), "the catalog has no server b_echo"),
    ],
)
def test_all_are_removed_or_none(thrall, three, names, sentence):
    assert thrall("unpin", "c.json", *names) == (3, b"", f"thrall: c.json: {sentence}\n")
    assert Path("c.json").read_bytes() == three


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("none.json", "cannot read none.json: No such file or directory"),
        ("no/c.json", "cannot lock {}/no: No such file or directory"),
        ("-", "cannot read -: No such file or directory"),
    ],
)
def test_a_catalog_that_is_not_there_is_told_of(thrall, path, sentence):
    ran = thrall("unpin", path, "a")
    assert ran == (3, b"", f"thrall: {sentence.format(os.getcwd())}\n")
    assert os.listdir() == []


def test_it_starts_no_server(thrall, three):
    assert thrall("unpin", "c.json", "a", "--", "touch", "started") == (
        2,
        b"",
        "thrall: unpin starts no server\n",
    )
    assert Path("c.json").read_bytes() == three
    assert not os.path.exists("started")


def test_it_waits_for_a_pin_of_the_same_file(thrall, three, monkeypatch):
    holder = os.open(".", os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    seen = []

    def sleep(_):
        seen.append(Path("c.json").read_bytes() == three)
        if len(seen) == 3:
            fcntl.flock(holder, fcntl.LOCK_UN)

    monkeypatch.setattr(time, "sleep", sleep)
    assert thrall("unpin", "c.json", "a").status == 0
    os.close(holder)
    assert (seen, servers()) == ([True] * 3, ["b", "c"])


def test_a_signal_ends_the_waiting(thrall, three, monkeypatch):
    holder = os.open(".", os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    monkeypatch.setattr(time, "sleep", lambda _: os.kill(os.getpid(), signal.SIGTERM))
    assert thrall("unpin", "c.json", "a") == (128 + signal.SIGTERM, b"", "")
    os.close(holder)
    assert Path("c.json").read_bytes() == three
