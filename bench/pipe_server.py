"""An MCP server on stdin and stdout of the standard library alone, for measuring gateways.

    pipe_server.py

Legacy, one tool, answers ready made but for the id and the text: nearly all the time that a call
takes through a gateway is the gateway's.
"""
# ruff: noqa: INP001 - a script

import json
import sys

TOOL = {
    "name": "echo",
    "description": "The text again.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
}


def result(method: str, params: dict) -> dict | None:
    """Answer a request; None for a method that there is not."""
    if method == "tools/call":
        return {"content": [{"type": "text", "text": params["arguments"]["text"]}]}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "pipe", "version": "1"},
        }
    return {} if method == "ping" else None


def main() -> None:
    """Serve to the end of the input."""
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        answer = result(message["method"], message.get("params", {}))
        outcome = (
            {"error": {"code": -32601, "message": "Method not found"}}
            if answer is None
            else {"result": answer}
        )
        text = json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome})
        sys.stdout.buffer.write(f"{text}\n".encode())
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
