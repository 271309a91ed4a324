"""Minimal MCP clients on asyncio, one session each, for measuring what stands behind them."""
# ruff: noqa: INP001 - beside a script

import asyncio
import json
from typing import Protocol, Self

REVISION = "2025-06-18"  # which all that are compared speak
INITIALIZE = {
    "protocolVersion": REVISION,
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Caller(Protocol):
    """A client with an open session."""

    async def call(self, text: str) -> None:
        """Have a text echoed, and look whether it came back."""

    async def rest(self) -> None:
        """Give up what the other side would give up during a longer pause."""

    async def close(self) -> None:
        """End the session."""


def echo(id_: int, text: str) -> dict:
    """Make the call of a tool."""
    params = {"name": "echo", "arguments": {"text": text}}
    return {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}


def check(message: dict, text: str) -> None:
    """Look whether an answer is the one to a call."""
    assert message["result"]["content"][0]["text"] == text, message


class PipeCaller:
    """A client of a process, on its stdin and stdout."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._waiting: dict[int, asyncio.Future[dict]] = {}
        self._number = 0
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, *words: str) -> Self:
        """Start the process, and open the session."""
        pipe, null = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, stderr=null)
        caller = cls(process)
        await caller._ask({"jsonrpc": "2.0", "method": "initialize", "params": INITIALIZE})
        caller._send(INITIALIZED)
        return caller

    async def call(self, text: str) -> None:
        """Have a text echoed."""
        check(await self._ask(echo(0, text)), text)

    async def rest(self) -> None:
        """Nothing: pipes last."""

    async def close(self) -> None:
        """End the process by the end of its input."""
        self.process.stdin.close()
        await self.process.wait()
        await self._reading

    async def _ask(self, message: dict) -> dict:
        self._number += 1
        future = self._waiting[self._number] = asyncio.get_running_loop().create_future()
        self._send(message | {"id": self._number})
        return await future

    def _send(self, message: dict) -> None:
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _read(self) -> None:
        while line := await self.process.stdout.readline():
            message = json.loads(line)
            if message.get("id") in self._waiting:
                self._waiting.pop(message["id"]).set_result(message)


class HttpCaller:
    """A client of a URL, with a connection for each call that is open; they are kept."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._headers = ""
        self._number = 0
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    @classmethod
    async def open(cls, port: int) -> Self:
        """Open the session."""
        caller = cls(port)
        opening = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE}
        headers, _ = await caller._post(opening)
        session = headers.get("mcp-session-id")
        caller._headers = f"MCP-Protocol-Version: {REVISION}\r\n"
        if session:
            caller._headers += f"Mcp-Session-Id: {session}\r\n"
        await caller._post(INITIALIZED)
        await caller.rest()
        return caller

    async def call(self, text: str) -> None:
        """Have a text echoed."""
        self._number += 1
        headers, body = await self._post(echo(self._number, text))
        if "event-stream" in headers["content-type"]:
            lines = [line[5:] for line in body.split(b"\n") if line.startswith(b"data:")]
            body = lines[-1]  # what stands before is empty, or not the answer
        check(json.loads(body), text)

    async def rest(self) -> None:
        """Close the connections, which servers keep for seconds only."""
        for _, writer in self._free:
            writer.close()
            await writer.wait_closed()
        self._free.clear()

    async def close(self) -> None:
        """Close the connections; the session ends with the gateway."""
        await self.rest()

    async def _post(self, message: dict) -> tuple[dict[str, str], bytes]:
        reader, writer = self._free.pop() if self._free else await self._connect()
        body = json.dumps(message).encode()
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
            f"{self._headers}Content-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        reply = await _read(reader)
        self._free.append((reader, writer))
        return reply

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self._port)


async def _read(reader: asyncio.StreamReader) -> tuple[dict[str, str], bytes]:
    """Read a reply to its end: its headers by lower name, and its body."""
    status, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[:-2]
    pairs = [line.partition(":") for line in lines]
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    assert status.split()[1] in ("200", "202"), (status, headers)
    if headers.get("transfer-encoding") != "chunked":
        return headers, await reader.readexactly(int(headers.get("content-length", "0")))
    body = b""
    while size := int(await reader.readline(), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readline()
    return headers, body
