"""A client on our stdin and stdout: a message is a line (all revisions, "Transports", "stdio")."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterator
from typing import NamedTuple

from thrall_py.errors import OutputError
from thrall_py.gateway.core import envelope, incoming
from thrall_py.gateway.core.incoming import Incoming, Malformed, Notification, Request, Response
from thrall_py.gateway.front.clients import Client, Exchange
from thrall_py.gateway.front.lines import Lines
from thrall_py.gateway.front.outlet import Outlet
from thrall_py.gateway.front.stopping import signalled
from thrall_py.gateway.service import Service

_CHUNK = 1 << 16  # bytes read at once
_MOST_WAITING = 1 << 23  # bytes of answers that are not read; then nothing more is taken in
_SMALL = 1 << 16  # bytes of an answer for which there is always room
_TOO_MUCH = envelope.error(
    envelope.INTERNAL_ERROR,
    "the answer is too large while so many are not read: read them, and call again",
)
_NAME = "stdio"


class Ends(NamedTuple):
    """The descriptors of a client: where it writes, and where it reads."""

    reading: int
    writing: int


@contextlib.contextmanager
def taken() -> Iterator[Ends]:
    """Take stdin and stdout away from whoever prints by accident, and from every server.

    Meanwhile stdin is empty, and what is written to stdout lands on stderr.
    """
    ends = Ends(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        yield ends
    finally:
        os.dup2(ends.reading, 0)
        os.dup2(ends.writing, 1)
        os.close(ends.reading)
        os.close(ends.writing)


async def serve(service: Service, ends: Ends, max_message: int, grace: float) -> int | None:
    """Serve the one client until it is gone, or a signal comes.

    Args:
        service: who answers.
        ends: where the client is.
        max_message: bytes of one message.
        grace: seconds that open requests have when there is no more input, and no server is being
            started; they are answered with an error then.

    Returns:
        The signal; None for the end of input.

    Raises:
        BrokenPipeError: nobody reads what is answered.
        OutputError: it cannot be written for another reason.

    """
    outlet = Outlet(ends.writing)
    front = _Front(service, outlet, max_message)
    with signalled() as signum:
        serving = asyncio.create_task(front.serve(ends.reading, grace))
        broken = asyncio.create_task(outlet.broken())
        try:
            await asyncio.wait((signum, serving, broken), return_when=asyncio.FIRST_COMPLETED)
            if serving.done():
                serving.result()
        finally:
            serving.cancel()
            broken.cancel()
            await asyncio.gather(serving, broken, return_exceptions=True)
            await front.close()
            await outlet.close(grace)
        if isinstance(outlet.failure, BrokenPipeError):
            raise outlet.failure
        if outlet.failure:
            raise OutputError(f"cannot write to stdout: {outlet.failure.strerror}")
        return signum.result() if signum.done() else None


class _Batch:
    """The responses to an array of messages, an array as well (JSON-RPC 2.0, section 6).

    Args:
        messages: of the array; those to which nothing is answered count for nothing.

    """

    def __init__(self, messages: list[Incoming]) -> None:
        self.responses: list[str] = []
        self._open = sum(isinstance(each, (Request, Malformed)) for each in messages)

    def end_one(self) -> bool:
        """Take note that a message is done with, answered or cancelled; whether it was the last."""
        self._open -= 1
        return not self._open


class _Front:
    """Brings the requests of the one client to a service, and the outcomes back."""

    def __init__(self, service: Service, outlet: Outlet, max_message: int) -> None:
        self._service = service
        self._outlet = outlet
        self._max_message = max_message
        self._client = Client(_NAME)
        self._held = 0  # characters of responses in arrays that are not complete
        self._too_late = ""  # the outcome of what is open when nobody waits any more

    async def serve(self, reading: int, grace: float) -> None:
        """Take in what comes; at its end give the open requests some seconds."""
        lines = Lines(self._max_message)
        async for chunk in _chunks(reading):
            for line in lines.feed(chunk):
                await self._take(line)
        for line in lines.end():
            await self._take(line)
        while not await self._client.finished(grace):
            if not await self._service.started():
                self._too_late = _too_late(grace)
                return

    async def close(self) -> None:
        """Cancel what is open."""
        await self._client.close()

    async def _take(self, line: bytes | None) -> None:
        if line is None:
            words = f"a message has at most {self._max_message} bytes (--max-message)"
            self._take_in(Malformed(incoming.NO_ID, incoming.INVALID_REQUEST, words))
        else:
            messages = incoming.read(line)
            is_one_fault = len(messages) == 1 and isinstance(messages[0], Malformed)
            batch = _Batch(messages) if incoming.is_batch(line) and not is_one_fault else None
            for message in messages:
                self._take_in(message, batch)
        await asyncio.sleep(0)  # a burst of requests is worked on while it is read
        await self._outlet.room(_MOST_WAITING)

    def _take_in(self, message: Incoming, batch: _Batch | None = None) -> None:
        if isinstance(message, Request):
            refused = self._client.begin(message, lambda: self._start(message, batch))
            if refused:
                self._respond(message.id, f'"error":{refused.error}', batch)
                self._ended(batch)
        elif isinstance(message, Notification):
            self._client.take(message)
        elif isinstance(message, Response):
            self._client.answered(message)
        else:
            self._respond(message.id, envelope.error(message.code, message.message), batch)
            self._ended(batch)

    def _start(self, request: Request, batch: _Batch | None) -> asyncio.Task[None]:
        task = asyncio.create_task(self._work(request, batch))
        task.add_done_callback(lambda _: self._ended(batch))
        return task

    def _ended(self, batch: _Batch | None) -> None:
        """Take note that a message is done with; the last one of an array has that answered."""
        if batch and batch.end_one() and batch.responses:
            responses = ",".join(batch.responses)
            self._held -= sum(map(len, batch.responses))
            self._outlet.write(f"[{responses}]\n".encode("latin-1"))

    async def _work(self, request: Request, batch: _Batch | None) -> None:
        try:
            # The outcome has no name here: it would be kept for as long as nobody reads.
            self._respond(request.id, await self._outcome(request), batch)
        except asyncio.CancelledError:
            if self._too_late:
                self._respond(request.id, self._too_late, batch)
            raise
        await self._outlet.room(_MOST_WAITING)  # until then the request counts as open

    async def _outcome(self, request: Request) -> str:
        facts = envelope.facts_of(request) if envelope.is_modern(request) else None
        exchange = Exchange(self._client, facts, self._send)
        try:
            outcome = await self._service.handle(request, exchange)
        finally:
            exchange.end()
        return outcome if self._has_room(outcome) else _TOO_MUCH

    def _has_room(self, outcome: str) -> bool:
        """Tell whether an answer may wait, behind one of the largest size; a small one always."""
        waiting = self._outlet.waiting + self._held
        return len(outcome) <= _SMALL or waiting <= max(self._max_message, _MOST_WAITING)

    def _respond(self, id_: str, outcome: str, batch: _Batch | None) -> None:
        response = f'{{"jsonrpc":"2.0","id":{id_},{outcome}}}'
        if batch:
            batch.responses.append(response)
            self._held += len(response)
        else:
            self._outlet.write(f"{response}\n".encode("latin-1"))

    def _send(self, message: str) -> None:
        """Send what is no response; to a client that does not read it is lost."""
        if self._outlet.waiting <= _MOST_WAITING:
            self._outlet.write(f"{message}\n".encode("latin-1"))


def _too_late(grace: float) -> str:
    words = (
        f"the input ended, and {grace:g} s later (--grace) there was no answer; what was called may"
        " have run: keep the input open until everything is answered"
    )
    return envelope.error(envelope.INTERNAL_ERROR, words)


async def _chunks(descriptor: int) -> AsyncIterator[bytes]:
    """Read a pipe, a terminal, a socket or a file to its end."""
    while True:
        await _readable(descriptor)
        try:
            chunk = os.read(descriptor, _CHUNK)
        except BlockingIOError:  # somebody else made it so, and was faster
            continue
        except OSError:  # the terminal is gone, or the peer of a socket
            return
        if not chunk:
            return
        yield chunk


async def _readable(descriptor: int) -> None:
    """Wait until something can be read; it is watched only as long as somebody waits."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    try:
        loop.add_reader(descriptor, ready.set)
    except PermissionError:  # a file is not watched: it is always ready
        await asyncio.sleep(0)
        return
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
