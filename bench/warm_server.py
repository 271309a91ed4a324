"""An MCP server over HTTP of the standard library alone, for measuring clients.

    warm_server.py legacy | modern

It prints its port.  All answers are JSON, ready made but for the id, so nearly all the time that a
client spends is the client's.  GET brings the requests since the last GET, as they came.
"""
# ruff: noqa: INP001, T201 - a script

import json
import socket
import sys
import threading
from typing import BinaryIO, NamedTuple

TOOL = {
    "name": "echo",
    "description": "The text again.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
}
COMPLETE = {"resultType": "complete"}
CACHEABLE = COMPLETE | {"ttlMs": 0, "cacheScope": "public"}
ANSWER = {"content": [{"type": "text", "text": "hi"}]}
RESULTS = {
    "legacy": {
        "initialize": {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "warm", "version": "1"},
        },
        "tools/list": {"tools": [TOOL]},
        "tools/call": ANSWER,
    },
    "modern": {
        "server/discover": CACHEABLE
        | {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
        "tools/list": CACHEABLE | {"tools": [TOOL]},
        "tools/call": COMPLETE | ANSWER,
    },
}
UNKNOWN = {"code": -32601, "message": "Method not found"}


class Request(NamedTuple):
    """An HTTP request, as it came."""

    method: str
    headers: list[list[str]]
    body: str


def main() -> None:
    """Serve until killed."""
    results = RESULTS[sys.argv[1]]
    seen: list[Request] = []
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            connection = listener.accept()[0]
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            arguments = (connection, results, seen)
            threading.Thread(target=serve, args=arguments, daemon=True).start()


def serve(connection: socket.socket, results: dict[str, dict], seen: list[Request]) -> None:
    """Answer the requests on one connection."""
    with connection, connection.makefile("rb") as file:
        while request := read(file):
            if request.method == "GET":
                body = json.dumps(seen)
                seen.clear()
                connection.sendall(reply("200 OK", body))
            else:
                seen.append(request)
                connection.sendall(answer(request, results))


def read(file: BinaryIO) -> Request | None:
    """Read a request; None at the end."""
    method = file.readline().decode("latin-1").partition(" ")[0]
    headers, length = [], 0
    while line := file.readline().strip():
        name, _, value = line.decode("latin-1").partition(": ")
        headers.append([name, value])
        if name.lower() == "content-length":
            length = int(value)
    return Request(method, headers, file.read(length).decode()) if method else None


def answer(request: Request, results: dict[str, dict]) -> bytes:
    """Answer a request with a whole HTTP reply."""
    message = json.loads(request.body) if request.body else {}
    if "id" not in message:
        return reply("204 No Content" if request.method == "DELETE" else "202 Accepted", "")
    result = results.get(message["method"])
    outcome = {"error": UNKNOWN} if result is None else {"result": result}
    body = json.dumps({"jsonrpc": "2.0", "id": message["id"]} | outcome)
    session = "Mcp-Session-Id: warm\r\n" if message["method"] == "initialize" else ""
    return reply("200 OK", body, session)


def reply(status: str, body: str, more: str = "") -> bytes:
    """Make a reply; all in one piece, so that nothing waits for an acknowledgement."""
    kind = "Content-Type: application/json\r\n" if body else ""
    length = "" if status.startswith("204") else f"Content-Length: {len(body)}\r\n"
    return f"HTTP/1.1 {status}\r\n{kind}{length}{more}\r\n{body}".encode()


if __name__ == "__main__":
    main()
