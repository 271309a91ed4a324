"""A server of the standard library alone, with one tool: big(n), a text of n bytes.

It writes its answer in pieces and holds none of it, so that the memory seen for a client
and its children is the client's.
"""

import json
import sys

from samples import pieces

TOOL = {
    "name": "big",
    "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
}
IS_CACHEABLE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
ENDING = b'"}]}}\n'


def beginning(number):
    number = json.dumps(number)
    content = '"content":[{"type":"text","text":"'
    return f'{{"jsonrpc":"2.0","id":{number},"result":{{"resultType":"complete",{content}'.encode()


def answer(request):
    """The answer's line, in pieces."""
    number, method = request["id"], request["method"]
    if method == "tools/call":
        yield beginning(number)
        for piece in pieces(request["params"]["arguments"]["n"]):
            yield piece.replace("\n", "\\n").encode()
        yield ENDING
        return
    results = {
        "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
        "tools/list": {"tools": [TOOL]},
    }
    reply = {"jsonrpc": "2.0", "id": number}
    if method in results:
        reply["result"] = results[method] | IS_CACHEABLE
    else:
        reply["error"] = {"code": -32601, "message": "Method not found"}
    yield json.dumps(reply).encode() + b"\n"


def main():
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if "id" in request:
            sys.stdout.buffer.writelines(answer(request))
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
