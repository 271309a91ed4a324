"""The signals that ask a gateway to stop, as something to wait for."""

import asyncio
import contextlib
import signal
from collections.abc import Iterator

_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


@contextlib.contextmanager
def signalled() -> Iterator[asyncio.Future[int]]:
    """Make a future of the number of the first that comes; one that is ignored (nohup) stays so.

    Afterwards they mean nothing until the loop is closed: what was started is ended first.
    """
    loop = asyncio.get_running_loop()
    first: asyncio.Future[int] = loop.create_future()
    heeded = [number for number in _STOPPING if signal.getsignal(number) is not signal.SIG_IGN]

    def note(number: int) -> None:
        if not first.done():
            first.set_result(number)

    for number in heeded:
        loop.add_signal_handler(number, note, number)
    try:
        yield first
    finally:
        for number in heeded:
            loop.add_signal_handler(number, _go_on)


def _go_on() -> None:
    """Take no notice."""
