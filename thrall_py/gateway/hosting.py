"""One gateway from its start to its end: the log, the servers, and whoever brings requests in."""

import asyncio
import contextlib
import ctypes
import gc
import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import NamedTuple

from thrall_py.gateway.audit import Log
from thrall_py.gateway.core.offer import Offer
from thrall_py.gateway.front.outlet import Outlet
from thrall_py.gateway.relay.relay import Relay
from thrall_py.gateway.server import Servers
from thrall_py.gateway.service import Service
from thrall_py.redact import Redactor

_M_MMAP_THRESHOLD = -3  # <malloc.h>
_LARGE = 1 << 18  # bytes
_STDERR = 2
_SHOWN = 400  # characters of a complaint: the end of a traceback says most
_LAST_WORDS = 0.5  # seconds for the log to be read to its end


class Settings(NamedTuple):
    """What a gateway is made of.

    Attributes:
        offer: what clients are told there is.
        catalog: what that was made from: a path from anywhere, as a word for a shell.
        style: of the log (`audit.FORMATS`).
        redact: knows the secrets that must not stand in it.
        max_message: bytes that one message may have.

    """

    offer: Offer
    catalog: str
    style: str
    redact: Redactor
    max_message: int


Open = Callable[[Log], Awaitable[Servers]]  # in the loop; waits for none to start
Serve = Callable[[Service], Awaitable[int | None]]  # until a client or a signal ends it


def run(settings: Settings, open_servers: Open, serve: Serve) -> int | None:
    """Run a gateway.

    Args:
        settings: what it is made of.
        open_servers: makes the servers.
        serve: brings requests in, and returns the signal that ended it, if one did.

    Returns:
        That signal; all servers have been ended.

    """
    gc.enable()  # no short run, as all others are
    # A message of many small parts is as many objects; to look for garbage after every 700 of them
    # took most of the time in which it was read.
    gc.set_threshold(100_000, 10, 10)
    _give_large_blocks_back()
    return asyncio.run(_host(settings, open_servers, serve))


def _give_large_blocks_back() -> None:
    """Have the memory of a large message returned to the system once it is free (mallopt(3)).

    glibc learns to keep what was freed: after some messages of megabytes it held hundreds of them.
    """
    with contextlib.suppress(AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)


async def _host(settings: Settings, open_servers: Open, serve: Serve) -> int | None:
    outlet = Outlet(_STDERR)
    log = Log(outlet, settings.style, settings.redact)
    try:
        with complaints(log):
            log.tell("start", tools=len(settings.offer.tools))
            return await _serve(settings, log, await open_servers(log), serve)
    finally:
        await outlet.close(_LAST_WORDS)


async def _serve(settings: Settings, log: Log, servers: Servers, serve: Serve) -> int | None:
    try:
        most = settings.max_message
        relay = Relay(servers, settings.offer, settings.catalog, max_message=most)
        service = Service(settings.offer, relay, log)
        try:
            return await serve(service)
        finally:
            await service.close()
    finally:
        await servers.close()
        log.tell("end")


class _Complaints(logging.Handler):
    """Tells our log what uvicorn and asyncio log."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log
        self._last = ""

    def emit(self, record: logging.LogRecord) -> None:  # type: ignore[explicit-override]
        """Tell of one complaint, unless it is the last one over and over again."""
        words = self.format(record)[-_SHOWN:]
        if words != self._last:
            self._last = words
            self._log.tell("fault", words=words)


@contextlib.contextmanager
def complaints(log: Log) -> Iterator[None]:
    """Have our log told meanwhile what asyncio and uvicorn log, in its own form."""
    handler = _Complaints(log)
    loggers = [logging.getLogger(name) for name in ("uvicorn.error", "asyncio")]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
            logger.propagate = True
