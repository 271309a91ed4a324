"""A well-behaved MCP server in both eras, cut into hooks that a case replaces."""

import json
import os
import re
import select
import sys
import time

from .osutil import event, event_received, open_descriptors, write_all

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
NAMESPACE = "io.modelcontextprotocol/"
SERVER_INFO = {"name": "zoo", "version": "1"}
CASES = {}


def animal(server):
    """Enter a class; its case is named after it, so `LeaderExits` is `leader-exits`."""
    CASES[re.sub(r"(?<!^)(?=[A-Z])", "-", server.__name__).lower()] = server
    return server


def replacing(hook, **members):
    """Make a function one hook of an otherwise good server, named after the function."""

    def enter(function):
        members_of_it = {hook: function, "__doc__": function.__doc__, **members}
        members_of_it["__module__"] = function.__module__
        CASES[function.__name__.replace("_", "-")] = type(
            function.__name__, (Server,), members_of_it
        )
        return function

    return enter


answering = replacing("answer")


def variant(name, about, module, **members):
    """Enter a server that differs from the good one by a few members only."""
    CASES[name] = type(name, (Server,), {"__doc__": about, "__module__": module, **members})


def encode(value):
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # half a surrogate pair has to stay an escape
        return json.dumps(value, separators=(",", ":")).encode()


def text_result(text, **more):
    return {"content": [{"type": "text", "text": text}], **more}


def tool(name, description="A tool of the zoo.", **more):
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    return {"name": name, "description": description, "inputSchema": schema, **more}


class Server:
    """Serves `echo`, `raw`, `fail` and `whoami`."""

    era = "legacy"
    version = None  # None: the version that was asked for, if it is a known one

    def __init__(self):
        self.unread = b""
        self.postponed = []
        self.greeted = False
        self.ready = False  # past the handshake, or addressed in the modern way
        self.line = b""
        self.counted = 0

    # The wire.

    def send(self, message):
        write_all(encode(message) + b"\n")

    def say(self, words):
        write_all(words.encode() + b"\n", 2)

    def notify(self, method, **params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def log_message(self, data):
        self.notify("notifications/message", level="info", data=data)

    def read_line(self, patience=None):
        """One line without its end; None at the end of input, False when patience ran out."""
        deadline = None if patience is None else time.monotonic() + patience
        while b"\n" not in self.unread:
            if deadline is not None:
                left = max(0.0, deadline - time.monotonic())
                if not select.select([0], [], [], left)[0]:
                    return False
            chunk = os.read(0, 65536)
            if not chunk:
                return None
            self.unread += chunk
        line, _, self.unread = self.unread.partition(b"\n")
        return line

    def ask(self, method, params=None, identifier="zoo-1"):
        """Send a request of our own and return the response to it; None if there is none."""
        self.send({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params or {}})
        deadline = time.monotonic() + 5.0
        while line := self.read_line(max(0.0, deadline - time.monotonic())):
            message = json.loads(line)
            if "method" not in message and message.get("id") == identifier:
                event_received(message)
                event("asked", method=method, reply=message)
                return message
            self.postponed.append(line)
        event("asked", method=method, reply=None)
        return None

    def count(self):
        """How often this was asked, in all runs that share ZOO_STATE."""
        path = os.environ.get("ZOO_STATE")
        if path and os.path.exists(path):
            with open(path) as state:
                self.counted = int(state.read())
        self.counted += 1
        if path:
            with open(path, "w") as state:
                state.write(str(self.counted))
        return self.counted

    def reply(self, request, result):
        if self.is_modern(request):
            result = {"resultType": "complete", **result}
            result["_meta"] = {NAMESPACE + "serverInfo": SERVER_INFO}
            if request["method"] in ("server/discover", "tools/list"):
                result.update(ttlMs=0, cacheScope="private")
        self.send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def reply_raw(self, request, result):
        """Reply with JSON text that `json.dumps` would not write."""
        write_all(b'{"jsonrpc":"2.0","id":%s,"result":%s}\n' % (encode(request["id"]), result))

    def refuse(self, request, code, words, **data):
        error = {"code": code, "message": words, **({"data": data} if data else {})}
        self.send({"jsonrpc": "2.0", "id": request["id"], "error": error})

    # The conversation.

    def run(self):
        self.at_start()
        while (line := self.postponed.pop(0) if self.postponed else self.read_line()) is not None:
            if line.strip():
                self.line = line
                message = json.loads(line)
                event_received(message)
                self.handle(message)
        event("eof")
        self.at_eof()
        event("exit")

    def envelope(self, request):
        return (request.get("params") or {}).get("_meta") or {}

    def is_modern(self, request):
        return self.era != "legacy" and NAMESPACE + "protocolVersion" in self.envelope(request)

    def handle(self, message):
        if message.get("method") == "notifications/initialized":
            self.ready = True
        elif "method" in message and "id" in message:
            if self.is_modern(message):
                self.ready = True
                self.handle_modern(message)
            else:
                self.handle_legacy(message)

    def handle_modern(self, request):
        asked = self.envelope(request)[NAMESPACE + "protocolVersion"]
        if asked != MODERN:
            self.refuse(request, -32022, "Unsupported version", supported=[MODERN], requested=asked)
        elif NAMESPACE + "clientCapabilities" not in self.envelope(request):
            self.refuse(request, -32602, "The envelope has no clientCapabilities")
        elif request["method"] == "server/discover":
            self.discover(request)
        else:
            self.serve(request)

    def handle_legacy(self, request):
        if self.era == "modern":
            code = -32022 if request["method"] == "initialize" else -32602
            self.refuse(request, code, f"Only {MODERN} is spoken here", supported=[MODERN])
        elif request["method"] == "initialize":
            self.greeted = True
            self.initialize(request)
        elif request["method"] == "ping":
            self.reply(request, {})
        elif self.greeted:
            self.serve(request)
        else:
            self.before_handshake(request)

    def serve(self, request):
        if request["method"] == "tools/list":
            self.list_tools(request, (request.get("params") or {}).get("cursor"))
        elif request["method"] == "tools/call":
            self.call(request, request["params"]["name"])
        else:
            self.refuse(request, -32601, "Method not found")

    # The hooks.

    def at_start(self):
        """Before the first byte is read."""

    def at_eof(self):
        """After the end of input."""

    def before_handshake(self, request):
        self.refuse(request, -32601, "Method not found")

    def initialize(self, request):
        self.reply(request, self.greeting(request))

    def greeting(self, request):
        asked = request["params"].get("protocolVersion")
        version = self.version or (asked if asked in LEGACY else LEGACY[0])
        capabilities = self.capabilities()
        return {"protocolVersion": version, "capabilities": capabilities, "serverInfo": SERVER_INFO}

    def discover(self, request):
        versions = [MODERN, *(LEGACY if self.era == "dual" else ())]
        self.reply(request, {"supportedVersions": versions, "capabilities": self.capabilities()})

    def capabilities(self):
        return {"tools": {}}

    def tools(self):
        return [tool("echo"), tool("raw"), tool("fail"), tool("whoami")]

    def list_tools(self, request, _cursor):
        self.reply(request, {"tools": self.tools()})

    def call(self, request, name):
        if name == "echo":
            self.answer(request)
        elif name == "raw":
            self.reply(request, text_result(self.line.decode("utf-8", "replace")))
        elif name == "fail":
            self.reply(request, text_result("the tool failed", isError=True))
        elif name == "whoami":
            self.reply(request, text_result(json.dumps(self.whoami())))
        else:
            self.refuse(request, -32602, f"Unknown tool: {name}")

    def answer(self, request):
        """What the tool `echo` does: the hook that most cases replace."""
        arguments = request["params"].get("arguments") or {}
        self.reply(request, text_result(encode(arguments).decode("utf-8", "replace")))

    def whoami(self):
        return {
            "pid": os.getpid(),
            "group": os.getpgid(0),
            "session": os.getsid(0),
            "cwd": os.getcwd(),
            "argv": sys.argv[1:],
            "environment": sorted(os.environ),
            "descriptors": open_descriptors(),
        }


CASES["ok"] = Server
