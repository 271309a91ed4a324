import os
import subprocess
import sys

import pytest

from thrall_py.transport import descendants

# Starts a grandchild in a session of its own, tells its number and leaves it to its heirs.
ORPHAN = """
import os, sys, time
if os.fork():
    os._exit(0)
os.setsid()
print(os.getpid(), flush=True)
os.close(1)
time.sleep(60)
"""

pytestmark = pytest.mark.skipif(
    not descendants.SUPPORTED, reason="only Linux tells who the descendants are"
)


def test_an_orphan_becomes_our_child_and_is_ended():
    preexisting = descendants.become_subreaper()
    started = subprocess.run([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, check=True)
    orphan = int(started.stdout)
    assert descendants._parent(str(orphan)) == os.getpid()
    descendants.kill_all(preexisting)
    assert not os.path.exists(f"/proc/{orphan}")


def test_the_children_of_before_are_strangers_and_live_on():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as stranger:
        preexisting = descendants.become_subreaper()
        assert stranger.pid in preexisting
        descendants.kill_all(preexisting)
        assert stranger.poll() is None
        stranger.communicate(b"\n")
    assert stranger.returncode == 0


def test_the_descendants_of_a_stranger_are_strangers_too():
    children = {1: [2, 3], 2: [4], 3: [5], 5: [6]}
    assert sorted(descendants._below(1, children, frozenset([2]))) == [3, 5, 6]


def test_without_children_there_is_nothing_to_end():
    descendants.kill_all(frozenset())
    assert not descendants._has_children()
    assert descendants.become_subreaper() == frozenset()


def test_a_name_with_parentheses_does_not_hide_a_parent(tmp_path):
    odd = tmp_path / ") R 1 ("
    os.symlink("/bin/sh", odd)
    with subprocess.Popen([odd, "-c", "read x"], stdin=subprocess.PIPE) as child:
        assert descendants._parent(str(child.pid)) == os.getpid()
        child.communicate(b"\n")
    assert child.returncode == 0


def test_other_systems_have_no_such_thing(monkeypatch):
    monkeypatch.setattr(descendants, "SUPPORTED", False)
    monkeypatch.setattr(os, "listdir", None)  # nothing is looked for
    assert descendants.become_subreaper() == frozenset()
    assert descendants.kill_all(frozenset()) is None


def test_the_living_are_told_from_the_dead():
    preexisting = descendants.become_subreaper()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert descendants.alive(preexisting) == [child.pid]
        child.stdin.close()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert descendants.alive(preexisting) == []  # it is a zombie
    assert descendants._is_dead(child.pid)  # and now not even that


def test_where_nobody_knows_the_descendants_none_is_told(monkeypatch):
    monkeypatch.setattr(descendants, "SUPPORTED", False)
    assert descendants.alive(frozenset()) == []
