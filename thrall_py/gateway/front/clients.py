"""One connection or session of a client: what is open in both directions."""

import asyncio
from collections.abc import Callable

from thrall_py.gateway.caller import Facts, Refused
from thrall_py.gateway.core.envelope import INTERNAL_ERROR
from thrall_py.gateway.core.incoming import INVALID_REQUEST, Notification, Request, Response
from thrall_py.protocol import mcp
from thrall_py.protocol.jsontext import Value

MOST_OPEN = 1024  # requests of one client; each of them is bounded by its size
_MOST_ASKED = 64  # requests of ours to it
_PATIENCE = 300.0  # seconds for the client's answer: a person may have to make up their mind


Send = Callable[[str], None]  # takes a whole message as JSON text in Latin-1, and does not wait


class Client:
    """A client, its requests that are open here, and ours that are open there.

    Ids are compared as JSON text, so `1` is not `"1"` (JSON-RPC 2.0, section 4).

    Attributes:
        name: tells clients apart.
        owner: whose its calls are while they wait for answers; without sessions (2026-07-28 over
            HTTP) the answers come from what looks like another client.
        facts: what a legacy client said of itself in its handshake.

    """

    def __init__(self, name: str, owner: str = "") -> None:
        self.name = name
        self.owner = owner or name
        self.facts = Facts()
        self._open: dict[str, asyncio.Task[None]] = {}  # those that can be cancelled
        self._tasks: set[asyncio.Task[None]] = set()
        self._asked: dict[str, asyncio.Future[Response | None]] = {}
        self._count = 0

    def begin(self, request: Request, task: Callable[[], asyncio.Task[None]]) -> Refused | None:
        """Start work on a request, unless it cannot be told apart from one that is open.

        An id must not be that of an unanswered request (all revisions, "Base Protocol"): on one
        connection nobody could say whose the first response is.

        Args:
            request: what came.
            task: starts the work, which answers the request.

        Returns:
            Why it was not started.

        """
        if request.id in self._open:
            return Refused.because(INVALID_REQUEST, "a request with this id is still open")
        if len(self._tasks) >= MOST_OPEN:
            return Refused.because(
                INTERNAL_ERROR, f"too many requests are open, {MOST_OPEN}: wait for an answer"
            )
        work = self._open[request.id] = task()
        self._tasks.add(work)

        def over(_: asyncio.Task[None]) -> None:
            self._tasks.discard(work)
            if self._open.get(request.id) is work:
                del self._open[request.id]

        work.add_done_callback(over)
        return None

    def take(self, notification: Notification) -> None:
        """Heed a notification: one that cancels a request; all others ask for nothing here."""
        if notification.method != mcp.CANCELLED or notification.params is None:
            return
        id_ = notification.params.member("requestId")
        if id_ and id_.text in self._open:  # otherwise it is over, or never was
            self._open.pop(id_.text).cancel()

    def answered(self, response: Response) -> None:
        """Take the answer to a request of ours; one that comes too late is nobody's."""
        waiting = self._asked.get(response.id)
        if waiting and not waiting.done():
            waiting.set_result(response)

    async def ask(self, send: Send, method: str, params: str) -> Value:
        """Make a request to the client, and wait for its result.

        Args:
            send: the way to the client.
            method: what is asked.
            params: of the request, as JSON text.

        Raises:
            Refused: it answered with an error, too late, or with what cannot be read, or will not
                any more.

        """
        if len(self._asked) >= _MOST_ASKED:
            raise Refused.because(INTERNAL_ERROR, "the client has too many questions before it")
        self._count += 1
        id_ = str(self._count)
        answer: asyncio.Future[Response | None]
        answer = self._asked[id_] = asyncio.get_running_loop().create_future()
        send(f'{{"jsonrpc":"2.0","id":{id_},"method":"{method}","params":{params}}}')
        try:
            async with asyncio.timeout(_PATIENCE):
                response = await answer
        except TimeoutError:
            raise Refused.because(
                INTERNAL_ERROR, f"the client did not answer within {_PATIENCE:g} s"
            ) from None
        finally:
            del self._asked[id_]
            if answer.cancelled():  # nobody waits any more, so the client need not go on
                send(notification(mcp.CANCELLED, f'{{"requestId":{id_}}}'))
        if response is None:
            raise Refused.because(INTERNAL_ERROR, "the client is gone")
        if response.error:
            raise Refused(response.error.text)
        if response.result is None:
            raise Refused.because(INTERNAL_ERROR, "the client's answer is nested too deeply")
        return response.result

    @property
    def is_busy(self) -> bool:
        """Whether a request of it is open."""
        return bool(self._tasks)

    async def finished(self, seconds: float | None = None) -> bool:
        """Wait until none of its requests is open, or for so long; whether none is."""
        while self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=seconds)
            if late:
                return False
        return True

    async def close(self) -> None:
        """Cancel its requests, and expect nothing of it any more."""
        for waiting in self._asked.values():
            if not waiting.done():
                waiting.set_result(None)
        for work in self._tasks:
            work.cancel()
        await self.finished()


class Exchange:
    """A Caller: one open request of a client.

    Args:
        client: whose request it is.
        facts: what the request says of the client; None in the eras in which the handshake did.
        send: the way to the client, as long as the request is open.

    """

    def __init__(self, client: Client, facts: Facts | None, send: Send) -> None:
        self._client = client
        self._facts = facts
        self._send = send

    @property
    def client(self) -> str:
        """The client's name."""
        return self._client.name

    @property
    def owner(self) -> str:
        """The client's owner."""
        return self._client.owner

    @property
    def facts(self) -> Facts:
        """What the client says of itself."""
        return self._facts or self._client.facts

    def become(self, facts: Facts) -> None:
        """Let the client be this from now on."""
        self._client.facts = facts

    def notify(self, method: str, params: str) -> None:
        """Send a notification that belongs to the request."""
        self._send(notification(method, params))

    async def ask(self, method: str, params: str) -> Value:
        """Ask a legacy client something; raises `Refused` as `Client.ask` does."""
        if self.facts.revision == mcp.MODERN:  # its server only responds
            raise Refused.because(mcp.METHOD_NOT_FOUND, "the client takes no requests")
        return await self._client.ask(self._send, method, params)

    def end(self) -> None:
        """Send nothing more: what comes behind a response belongs to no request."""
        self._send = _nowhere


def notification(method: str, params: str) -> str:
    """Make a notification as JSON text."""
    return f'{{"jsonrpc":"2.0","method":"{method}","params":{params}}}'


def _nowhere(_: str) -> None:
    """Drop a message."""
