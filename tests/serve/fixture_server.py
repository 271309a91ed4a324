"""A server for the acceptance of the gateway: all that MCP has, in both eras, on stdin and stdout.

    fixture_server.py [both | legacy | modern]

It offers what the official conformance suite asks a server for, under the names that the suite wants
(fixture_tools.py, fixture_items.py), and some tools for tests of load (fixture_load.py).  The standard library only.
"""

import asyncio
import json
import sys

from fixture_call import (
    CAPABILITIES,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LEVELS,
    METHOD_NOT_FOUND,
    MODERN,
    VERSION,
    Call,
    InputRequired,
    Refusal,
    of_envelope,
)
from fixture_items import PROMPTS, RESOURCES, TEMPLATES, complete, get_prompt, read_resource
from fixture_load import TOOLS

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ME = {"name": "fixture", "title": "The fixture", "version": "1.0"}
OFFERED = {
    "tools": {},
    "prompts": {},
    "resources": {"subscribe": True},
    "completions": {},
    "logging": {},
}
CACHE = {"ttlMs": 0, "cacheScope": "private"}
ITEMS = {
    "tools/list": {"tools": [tool.definition for tool in TOOLS.values()]},
    "prompts/list": {"prompts": PROMPTS},
    "resources/list": {"resources": RESOURCES},
    "resources/templates/list": {"resourceTemplates": TEMPLATES},
}


class Server:
    """One connection: what is open in both directions."""

    def __init__(self, eras, write):
        self.eras = eras
        self.write = write
        self.capabilities = {}  # of a legacy client
        self.level = "info"
        self.open = {}  # the task of each request, by its id
        self.asked = {}  # the future of each request of ours
        self.cancelled = 0

    def say(self, **members):
        text = json.dumps({"jsonrpc": "2.0", **members}, separators=(",", ":"), ensure_ascii=False)
        self.write(f"{text}\n".encode())

    async def ask(self, method, params):
        """Ask a legacy client, and wait for its result."""
        number = len(self.asked) + 1
        self.asked[number] = asyncio.get_running_loop().create_future()
        self.say(id=number, method=method, params=params)
        response = await self.asked[number]
        if "error" in response:
            raise Refusal(response["error"]["code"], response["error"]["message"])
        return response["result"]

    def take(self, message):
        """Begin what a message asks for; the tasks end by themselves."""
        if "method" not in message:
            future = self.asked.get(message["id"])
            if future and not future.done():
                future.set_result(message)
        elif "id" in message:
            key = json.dumps(message["id"])
            self.open[key] = asyncio.ensure_future(self.answer(key, message))
        elif message["method"] == "notifications/cancelled":
            task = self.open.get(json.dumps(message["params"]["requestId"]))
            if task:
                self.cancelled += 1
                task.cancel()

    async def answer(self, key, message):
        try:
            call = self.call_of(message)
            result = await self.outcome(call)
        except InputRequired as needed:
            result = needed.result
        except Refusal as refusal:
            self.say(id=message["id"], error=refusal.error)
            return
        finally:
            del self.open[key]
        if call.is_modern:
            server = {"io.modelcontextprotocol/serverInfo": ME}
            result = {"resultType": "complete", "_meta": server, **result}
        self.say(id=message["id"], result=result)

    def call_of(self, message):
        params = message.get("params", {})
        meta = params.get("_meta", {})
        if VERSION not in meta or message["method"] == "initialize":
            return Call(self, message["method"], params, self.capabilities, self.level)
        if self.eras == "legacy":
            raise Refusal(METHOD_NOT_FOUND, "Method not found")
        if meta[VERSION] != MODERN:
            data = {"supported": [MODERN], "requested": meta[VERSION]}
            raise Refusal(-32022, "Unsupported protocol version", data)
        if not isinstance(meta.get(CAPABILITIES), dict):
            raise Refusal(INVALID_PARAMS, f"{CAPABILITIES} is missing")
        return of_envelope(self, message["method"], params)

    async def outcome(self, call):
        common = METHODS.get(call.method)
        if common:
            return await common(call)
        if call.method in ITEMS:
            return ITEMS[call.method] | (CACHE if call.is_modern else {})
        if call.is_modern and call.method == "server/discover":
            return {"supportedVersions": [MODERN], "capabilities": OFFERED} | CACHE
        if not call.is_modern and call.method in LEGACY_METHODS:
            return LEGACY_METHODS[call.method](self, call.params)
        raise Refusal(METHOD_NOT_FOUND, "Method not found")

    def initialize(self, params):
        if self.eras == "modern":
            raise Refusal(INVALID_REQUEST, f"this server speaks {MODERN} only")
        self.capabilities = params["capabilities"]
        asked = params["protocolVersion"]
        return {
            "protocolVersion": asked if asked in LEGACY else LEGACY[-1],
            "capabilities": OFFERED,
            "serverInfo": ME,
            "instructions": "Nothing here does harm.",
        }

    def set_level(self, params):
        if params.get("level") not in LEVELS:
            raise Refusal(INVALID_PARAMS, "no such level")
        self.level = params["level"]
        return {}


async def call_tool(call):
    tool = TOOLS.get(call.params["name"])
    if tool is None:
        raise Refusal(INVALID_PARAMS, f"Unknown tool: {call.params['name']}")
    given = call.params.get("arguments", {})
    schema = tool.definition["inputSchema"]
    if missing := [name for name in schema.get("required", ()) if name not in given]:
        raise Refusal(INVALID_PARAMS, f"missing: {', '.join(missing)}")
    return await tool.function(call, **{name: given[name] for name in schema["properties"] if name in given})  # fmt: skip


METHODS = {
    "tools/call": call_tool,
    "prompts/get": get_prompt,
    "resources/read": read_resource,
    "completion/complete": complete,
}
LEGACY_METHODS = {
    "initialize": Server.initialize,
    "logging/setLevel": Server.set_level,
    "ping": lambda _server, _params: {},
    "resources/subscribe": lambda _server, _params: {},
    "resources/unsubscribe": lambda _server, _params: {},
}


async def main():
    eras = sys.argv[1] if len(sys.argv) > 1 else "both"
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=64 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)

    def write(data):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    server = Server(eras, write)
    while line := await reader.readline():
        if line.strip():
            server.take(json.loads(line))


if __name__ == "__main__":
    asyncio.run(main())
