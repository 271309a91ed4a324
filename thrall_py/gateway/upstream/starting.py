"""Starts those who keep a server, and waits until they have a session."""

import asyncio

from thrall_py.errors import ServerError
from thrall_py.gateway.upstream.keeper import Keeper
from thrall_py.gateway.upstream.links import CarrierLink, PipeLink
from thrall_py.transport.aside import Task
from thrall_py.verbs.carrier import Journey, carrying
from thrall_py.verbs.connect import ConnectionOptions, PreparedServer
from thrall_py.verbs.guard import guarding
from thrall_py.verbs.keeping import Failed, Opened

_PIPES = 2  # that a guard lends: to the server, and from it
_PATIENCE = 20.0  # seconds for a keeper to leave that has said why, or was told to


async def start_process(
    server: PreparedServer, connection: ConnectionOptions, remembered: str | None
) -> PipeLink:
    """Start a server, with a guard.

    Raises:
        ThrallError: it does not start, its session does not open, or there are too few
            descriptors for its pipes.

    """
    keeper, opened = await _opened(guarding(server, connection, remembered))
    if len(keeper.descriptors) != _PIPES:  # the kernel leaves out those there is no room for
        keeper.stop()
        await _away(keeper)
        raise ServerError("too many files are open to take the server's pipes: raise ulimit -n")
    return PipeLink(keeper, opened, limit=connection.max_message, grace=connection.grace)


async def start_carrier(
    server: PreparedServer, connection: ConnectionOptions, journey: Journey
) -> CarrierLink:
    """Start a carrier to a server on a URL.

    Raises:
        ThrallError: the server is not reached, or the session does not open.

    """
    keeper, opened = await _opened(carrying(server, connection, journey))
    return CarrierLink(keeper, opened, grace=connection.grace)


async def _opened(task: Task) -> tuple[Keeper, Opened]:
    keeper = Keeper(task)
    try:
        said = await keeper.hear()
    except asyncio.CancelledError:
        keeper.stop()
        await _away(keeper)
        raise
    if isinstance(said, Opened):
        return keeper, said
    await _away(keeper)
    if isinstance(said, Failed):
        raise said.problem
    raise ServerError(
        "the process that keeps the server ended without a word: look at what is on stderr"
    )


async def _away(keeper: Keeper) -> None:
    await keeper.gone(_PATIENCE)
    keeper.close()
