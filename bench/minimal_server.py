"""An MCP server on stdin and stdout that is up fast and does nearly nothing.

    python -I -S minimal_server.py [TOOLS]

Legacy.  It offers `echo` and `text`, or the tools of a file that holds the JSON of a list, which
is passed on as it is.  Each tool answers with its argument `text`; `text` with `n` characters,
written in pieces, so that the peak memory of a client is not the server's.
"""
# ruff: noqa: INP001 - a script

import json
import sys
from collections.abc import Iterator

LINE = b"The quick brown fox jumps over the lazy dog, and that is 64.\\n"  # as JSON; 61 characters
TOOLS = [
    {
        "name": "echo",
        "description": "The text again.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
        },
    },
    {
        "name": "text",
        "description": "A text of n characters.",
        "inputSchema": {
            "type": "object",
            "properties": {"n": {"type": "integer"}},
            "required": ["n"],
        },
    },
]
OPENED = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "minimal", "version": "1"},
}
UNKNOWN = {"code": -32601, "message": "Method not found"}


def main() -> None:
    """Serve to the end of the input."""
    output = sys.stdout.buffer
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" in message and "method" in message:
            output.write(b'{"jsonrpc":"2.0","id":%b,' % json.dumps(message["id"]).encode())
            for piece in outcome(message["method"], message.get("params", {})):
                output.write(piece)
            output.write(b"}\n")
            output.flush()


def outcome(method: str, params: dict) -> Iterator[bytes]:
    """Make what answers a request, behind its id."""
    if method == "tools/call":
        yield b'"result":{"content":[{"type":"text","text":"'
        yield from content(params["name"], params["arguments"])
        yield b'"}]}'
    elif method == "tools/list":
        yield b'"result":{"tools":%b}' % tools()
    elif method == "initialize":
        yield b'"result":%b' % json.dumps(OPENED).encode()
    elif method == "ping":
        yield b'"result":{}'
    else:
        yield b'"error":%b' % json.dumps(UNKNOWN).encode()


def content(name: str, arguments: dict) -> Iterator[bytes]:
    """Make the text of an answer, as the inside of a JSON string."""
    if name == "text":
        piece = LINE * 1000
        whole, rest = divmod(int(arguments["n"]), 61_000)
        for _ in range(whole):
            yield piece
        lines, rest = divmod(rest, 61)
        yield LINE * lines + b"x" * rest
    else:
        yield json.dumps(arguments["text"]).encode()[1:-1]


def tools() -> bytes:
    """Make the list."""
    if len(sys.argv) == 1:
        return json.dumps(TOOLS).encode()
    with open(sys.argv[1], "rb") as file:
        return file.read()


if __name__ == "__main__":
    main()
