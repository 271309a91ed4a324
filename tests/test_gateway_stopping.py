"""Signals that stop a gateway."""

import asyncio
import os
import signal

from gateways import run

from thrall_py.gateway.front.stopping import signalled


def test_the_first_signal_counts_and_those_behind_it_do_not_cut_off_what_follows():
    async def story():
        with signalled() as first:
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGHUP)
            number = await first
        for signum in (signal.SIGINT, signal.SIGTERM):
            os.kill(os.getpid(), signum)
            await asyncio.sleep(0.01)
        return number

    assert run(story()) in {signal.SIGTERM, signal.SIGHUP}


def test_a_signal_that_was_ignored_stays_ignored():
    async def story():
        with signalled() as first:
            os.kill(os.getpid(), signal.SIGHUP)
            await asyncio.sleep(0.01)
            return first.done()

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert run(story()) is False
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
