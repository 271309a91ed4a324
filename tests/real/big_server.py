"""A server of the standard library alone that answers with a text or a picture of n bytes.

It writes its answer in pieces and holds none of it, so that the memory seen for a client
and its children is the client's.
"""

import base64
import json
import sys

from samples import pieces

PROPERTIES = {
    "n": {"type": "integer"},
    "first": {"type": "string", "description": "What each piece of the text begins with."},
    "escaped": {"type": "boolean", "description": "Whether it is written with JSON escapes."},
}
SCHEMA = {"type": "object", "properties": PROPERTIES, "required": ["n"]}
RESULTS = {
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
    "tools/list": {
        "tools": [{"name": name, "inputSchema": SCHEMA} for name in ("text", "picture")]
    },
}
IS_CACHEABLE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}


def part(tool, arguments):
    """The JSON of the answer's only part, in pieces."""
    n, first = arguments["n"], arguments.get("first", "\n")
    if tool == "text":
        yield '{"type":"text","text":"'
        for piece in pieces(n, first):
            yield json.dumps(piece, ensure_ascii=arguments.get("escaped", False))[1:-1]
    else:
        yield '{"type":"image","mimeType":"image/png","data":"'
        left = ""
        for piece in pieces(n):
            whole = left + piece
            # Three bytes are four characters, so that only the last piece is padded.
            left = whole[len(whole) // 3 * 3 :]
            yield base64.b64encode(whole[: len(whole) // 3 * 3].encode()).decode()
        yield base64.b64encode(left.encode()).decode()
    yield '"}'


def answer(request):
    """The line that answers a request, in pieces."""
    number, method = json.dumps(request["id"]), request["method"]
    yield f'{{"jsonrpc":"2.0","id":{number},'
    if method == "tools/call":
        yield '"result":{"resultType":"complete","content":['
        yield from part(request["params"]["name"], request["params"]["arguments"])
        yield "]}"
    elif method in RESULTS:
        yield f'"result":{json.dumps(RESULTS[method] | IS_CACHEABLE)}'
    else:
        yield '"error":{"code":-32601,"message":"Method not found"}'
    yield "}\n"


def main():
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if "id" in request:
            sys.stdout.buffer.writelines(piece.encode() for piece in answer(request))
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
