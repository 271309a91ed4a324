"""Small clients on asyncio, made for many calls at once: over HTTP in both eras, and on pipes."""

import asyncio
import contextlib
import json

MODERN, LEGACY = "2026-07-28", "2025-11-25"
PREFIX = "io.modelcontextprotocol/"
ENVELOPE = {
    f"{PREFIX}protocolVersion": MODERN,
    f"{PREFIX}clientInfo": {"name": "load", "version": "1"},
    f"{PREFIX}clientCapabilities": {},
}
OPENING = {
    "protocolVersion": LEGACY,
    "capabilities": {},
    "clientInfo": {"name": "load", "version": "1"},
}


def request(id_, method, **params):
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


class Reply:
    """A reply of HTTP: its status, its headers by lower name, and its body."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def message(self):
        """The message that it brings; of an event stream the last."""
        if "event-stream" not in self.headers.get("content-type", ""):
            return json.loads(self.body)
        data = [line[5:] for line in self.body.split(b"\n") if line.startswith(b"data:")]
        return json.loads(data[-1])


class Connection:
    """One connection of HTTP, which is kept."""

    def __init__(self, address):
        self.address = address
        self.reader = self.writer = None

    async def exchange(self, method, path, headers, body=b""):
        await self.send(method, path, headers, body)
        return await self.read()

    async def send(self, method, path, headers, body=b""):
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection(*self.address)
        headers = {"Host": "{}:{}".format(*self.address), "Content-Length": len(body)} | headers
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.writer.write(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body)
        await self.writer.drain()

    async def read(self):
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {}
        for line in head[1:-2]:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        if headers.get("transfer-encoding") == "chunked":
            body = b"".join([chunk async for chunk in self.chunks()])
        else:
            body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        return Reply(int(head[0].split()[1]), headers, body)

    async def chunks(self):
        while size := int(await self.reader.readline(), 16):
            yield (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readline()

    async def close(self):
        if self.writer:
            self.writer.close()
            with contextlib.suppress(ConnectionError):
                await self.writer.wait_closed()


class HttpClient:
    """A client with a connection for each call that is open; it is kept for the next ones."""

    def __init__(self, address, path="/mcp", revision=LEGACY):
        self.address, self.path, self.revision = address, path, revision
        self.session = {}
        self.all, self.free = [], []

    async def post(self, message):
        """Send a message on a connection that is free; the reply, however it ends."""
        connection = self.free.pop() if self.free else self.connection()
        reply = await connection.exchange(
            "POST", self.path, self.headers(message), json.dumps(message).encode()
        )
        self.free.append(connection)
        return reply

    def connection(self):
        self.all.append(Connection(self.address))
        return self.all[-1]

    def headers(self, message):
        common = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        if self.revision != MODERN:
            return common | self.session
        named = {"MCP-Protocol-Version": MODERN, "Mcp-Method": message["method"]}
        name = message["params"].get("name")
        return common | named | ({"Mcp-Name": name} if name else {})

    async def open(self):
        """Begin a session, if the revision has such a thing."""
        if self.revision != MODERN:
            reply = await self.post(request(0, "initialize", **OPENING))
            self.session = {"MCP-Protocol-Version": LEGACY}
            if "mcp-session-id" in reply.headers:
                self.session["Mcp-Session-Id"] = reply.headers["mcp-session-id"]
            await self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call_of(self, id_, tool, arguments):
        more = {"_meta": ENVELOPE} if self.revision == MODERN else {}
        return request(id_, "tools/call", name=tool, arguments=arguments, **more)

    async def call(self, id_, tool, **arguments):
        """Call a tool; the message that answered."""
        return (await self.post(self.call_of(id_, tool, arguments))).message

    async def begin(self, id_, tool, **arguments):
        """Call a tool; the connection on which the answer will come."""
        message, connection = self.call_of(id_, tool, arguments), self.connection()
        await connection.send(
            "POST", self.path, self.headers(message), json.dumps(message).encode()
        )
        return connection

    async def drop(self, id_, tool, **arguments):
        """Call a tool, and go away as soon as it tells of progress."""
        message = self.call_of(id_, tool, arguments)
        params = message["params"]
        params["_meta"] = params.get("_meta", {}) | {"progressToken": id_}
        connection = self.connection()
        await connection.send(
            "POST", self.path, self.headers(message), json.dumps(message).encode()
        )
        await connection.reader.readuntil(b"notifications/progress")
        await connection.close()

    async def close(self):
        for connection in self.all:
            await connection.close()


class StdioClient:
    """A client of a process, whose ids are given as JSON text."""

    def __init__(self, process):
        self.process = process
        self.waiting = {}
        self.reading = None

    @classmethod
    async def start(cls, *words, **how):
        pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
        process = await asyncio.create_subprocess_exec(*words, limit=64 << 20, **pipes, **how)
        client = cls(process)
        client.reading = asyncio.create_task(client.read())
        await client.request("0", "initialize", OPENING)
        client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return client

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    async def read(self):
        while line := await self.process.stdout.readline():
            message = json.loads(line, parse_float=str)
            future = self.waiting.pop(json.dumps(message.get("id")), None)
            if future:
                future.set_result(message)
        for future in self.waiting.values():
            future.cancel()

    async def request(self, id_, method, params):
        future = asyncio.get_running_loop().create_future()
        self.waiting[id_] = future
        text = json.dumps({"jsonrpc": "2.0", "method": method, "params": params})
        self.process.stdin.write(f'{text[:-1]}, "id": {id_}}}\n'.encode())
        return await future

    async def call(self, id_, tool, **arguments):
        """Call a tool; the message that answered."""
        return await self.request(id_, "tools/call", {"name": tool, "arguments": arguments})

    async def close(self):
        self.process.stdin.close()
        await self.process.wait()
        await self.reading


def text(message):
    """What a tool answered."""
    return message["result"]["content"][0]["text"]
