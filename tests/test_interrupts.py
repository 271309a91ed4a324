import os
import signal
import subprocess
import sys
import time

import pytest

from thrall_py.errors import Interrupted
from thrall_py.transport import interrupts as module
from thrall_py.transport.interrupts import Interrupts, die_by_signal, forget

STOPPING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]


@pytest.mark.parametrize("signum", STOPPING)
def test_a_signal_is_noted_and_nothing_else_happens(signum):
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signum)
        assert interrupts.poll()
        assert interrupts.signum == signum


def test_only_the_first_signal_is_kept():
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupts.poll()
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.poll()
        assert interrupts.signum == signal.SIGTERM


def test_without_a_signal_there_is_nothing_to_see():
    with Interrupts() as interrupts:
        assert not interrupts.poll()
        assert interrupts.signum is None


def test_a_signal_just_before_the_end_is_not_lost():
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGTERM)
    assert interrupts.signum == signal.SIGTERM


def test_a_signal_while_the_handlers_are_given_back_is_not_lost(monkeypatch):
    restore = signal.signal

    def kill_then_restore(signum, handler):
        if handler is signal.default_int_handler:
            os.kill(os.getpid(), signal.SIGINT)
        return restore(signum, handler)

    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Interrupts() as interrupts:
            monkeypatch.setattr(signal, "signal", kill_then_restore)
    finally:
        restore(signal.SIGINT, previous)
    assert interrupts.signum == signal.SIGINT


def test_a_pause_without_a_signal_just_ends(monkeypatch):
    slept = []
    monkeypatch.setattr(time, "sleep", slept.append)
    with Interrupts() as interrupts:
        interrupts.idle = lambda: slept.append("idle")
        assert interrupts.pause() is None
    assert slept == ["idle", 0.01]


def test_a_pause_raises_what_a_signal_asks_for(monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda _: os.kill(os.getpid(), signal.SIGTERM))
    with Interrupts() as interrupts, pytest.raises(Interrupted) as interrupted:
        interrupts.pause()
    assert interrupted.value.signum == signal.SIGTERM


def test_the_handlers_of_before_are_given_back():
    before = [signal.getsignal(signum) for signum in STOPPING]
    descriptor = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(descriptor)
    with Interrupts():
        assert [signal.getsignal(signum) for signum in STOPPING] == [module._noted] * 4
    assert [signal.getsignal(signum) for signum in STOPPING] == before
    assert signal.set_wakeup_fd(descriptor) == descriptor


def test_a_signal_that_was_ignored_on_entry_stays_ignored():
    previous = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            os.kill(os.getpid(), signal.SIGHUP)
            assert not interrupts.poll()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, previous)


def test_the_deaths_of_children_are_not_ignored_whatever_was_so_before():
    previous = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            assert signal.getsignal(signal.SIGCHLD) is signal.SIG_DFL
            child = subprocess.Popen([sys.executable, "-c", "raise SystemExit(7)"])
            assert child.wait() == 7
            assert not interrupts.poll()
        assert signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGCHLD, previous)


def test_a_signal_with_a_handler_of_another_is_not_ours():
    seen = []
    previous = signal.signal(signal.SIGUSR1, lambda signum, _: seen.append(signum))
    try:
        with Interrupts() as interrupts:
            os.kill(os.getpid(), signal.SIGUSR1)
            assert not interrupts.poll()
            assert interrupts.signum is None
    finally:
        signal.signal(signal.SIGUSR1, previous)
    assert seen == [signal.SIGUSR1]


@pytest.mark.parametrize("ignored", ["", "signal.signal(signal.SIGTERM, signal.SIG_IGN);"])
def test_death_is_by_the_signal_itself(ignored):
    code = f"""
import signal
from thrall_py.transport.interrupts import die_by_signal
{ignored}
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
die_by_signal(signal.SIGTERM)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGTERM


def test_a_signal_that_does_not_kill_leaves_the_status_of_a_shell():
    previous = signal.getsignal(signal.SIGWINCH)
    try:
        assert die_by_signal(signal.SIGWINCH) == 128 + signal.SIGWINCH
    finally:
        signal.signal(signal.SIGWINCH, previous)


def test_a_copy_of_a_process_notes_nothing_for_it():
    with Interrupts() as interrupts:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        forget()
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.set_wakeup_fd(-1) == -1
        assert not interrupts.poll()
