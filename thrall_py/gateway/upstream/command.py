"""A plain command of the catalog as the relay sees it: it runs once for each call."""

import asyncio
import contextlib

from thrall_py.catalog.entry import Entry
from thrall_py.catalog.launch import ExecSpec
from thrall_py.errors import ServerError, ThrallError
from thrall_py.gateway import audit
from thrall_py.gateway.audit import Log
from thrall_py.gateway.core.answering import Forward
from thrall_py.gateway.listener import Listener
from thrall_py.gateway.upstream.background import Background
from thrall_py.gateway.upstream.keeper import Keeper
from thrall_py.protocol import wire
from thrall_py.protocol.jsontext import decode, scan
from thrall_py.transport.aside import Line, Task
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs import execute
from thrall_py.verbs.connect import ConnectionOptions
from thrall_py.verbs.keeping import Failed

_MOST = 64  # runs of one command at a time; further calls wait
_PATIENCE = 20.0  # seconds for a run to end that was told to


class PlainCommand:
    """One command. Its definitions are the catalog's own, so none of its tools can drift.

    Args:
        name: in the catalog.
        entry: what the catalog holds about it.
        connection: how long a run may take, and how much it may say.
        log: is told if it could not be started, when that is looked into before a call.

    """

    def __init__(
        self, name: str, entry: Entry, connection: ConnectionOptions, log: Log | None = None
    ) -> None:
        assert isinstance(entry.launch, ExecSpec), "a server is another matter"
        self.name = name
        self._spec = entry.launch
        self._connection = connection
        self._log = log
        self._room = asyncio.Semaphore(_MOST)
        self._background = Background()

    async def start(self) -> None:
        """See whether it could be started.

        Raises:
            ThrallError: it could not; the log was told.

        """
        with audit.failures(self._log, self.name):
            execute.look_for(self._spec)

    async def request(self, forward: Forward, _: Listener, __: str = "", /) -> wire.Message:
        """Run it for a tools/call, in a process of its own; a call that is cancelled ends the run.

        Nothing else is forwarded to a command: it has no prompts, and no resources.

        Raises:
            ThrallError: there is no answer.

        """
        await self._room.acquire()
        try:
            keeper = Keeper(_running(self._spec, forward, self._connection))
        except ServerError:
            self._room.release()
            raise
        try:
            said = await keeper.hear()
        except asyncio.CancelledError:
            keeper.stop()
            raise
        finally:
            self._background.run(self._end(keeper))
        if isinstance(said, Failed):
            raise said.problem
        if not isinstance(said, bytes):
            raise ServerError(
                "the process that runs the command ended without a word: look at what is on stderr"
            )
        (message,) = wire.read(b'{"result":%s}' % said)
        return message

    async def close(self) -> None:
        """Wait until every run is over; whoever waits for one has been cancelled before."""
        await self._background.finish()

    async def _end(self, keeper: Keeper) -> None:
        await keeper.gone(_PATIENCE)
        keeper.close()
        self._room.release()


def _running(spec: ExecSpec, forward: Forward, connection: ConnectionOptions) -> Task:
    """Make the task of a process that runs a command once; its word is a result in JSON."""

    def task(line: Line, interrupts: Interrupts) -> None:
        said: bytes | Failed
        given = scan(f"{{{forward.members}}}", {}).member("arguments")
        text = decode(given.text) if given else "{}"
        try:
            result = execute.run(spec, forward.name, text, connection, interrupts).result()
            said = result.encode()
        except ThrallError as problem:
            said = Failed(problem)
        with contextlib.suppress(ConnectionError):  # the gateway is gone: nobody wants to know
            line.tell(said)

    return task
