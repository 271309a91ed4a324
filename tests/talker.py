"""A server that does what a call tells it, many calls at a time: `python -I -S talker.py REVISION [FIFO [MANNER]]`.

Its tool `do` takes a list of steps; every step is a message without "jsonrpc", or a word. In it `$id` is
the id of the call and `$token` its progress token. What it is sent is told by the tool `heard`.
"""

import json
import os
import sys
import time

SCHEMA = {"type": "object"}
TOOLS = [{"name": name, "inputSchema": SCHEMA} for name in ("do", "heard")]


class Talker:
    def __init__(self, revision, manner):
        self.revision = revision
        self.manner = manner
        self.tools = TOOLS
        self.lists = 0
        self.heard = []
        self.held = []

    def say(self, message):
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

    def run(self):
        for line in sys.stdin:
            message = json.loads(line)
            self.heard.append(message)
            if "method" in message and "id" in message:
                self.answer(message)

    def answer(self, asked):
        match asked["method"]:
            case "initialize" if self.revision != "2026-07-28":
                self.result(asked, protocolVersion=self.revision, **self.about())
            case "server/discover" if self.revision == "2026-07-28":
                self.result(asked, supportedVersions=[self.revision], **self.about())
            case "tools/list":
                self.list(asked)
            case "logging/setLevel":
                self.result(asked)
            case "tools/call" if asked["params"]["name"] == "heard":
                heard, self.heard = self.heard, []
                self.result(asked, content=[{"type": "text", "text": json.dumps(heard)}])
            case "tools/call":
                for step in asked["params"]["arguments"]["steps"]:
                    self.do(step, asked)
            case _:
                self.say({"id": asked["id"], "error": {"code": -32601, "message": "no"}})

    def list(self, asked):
        """List the tools, in the way that was asked for on the command line."""
        self.lists += 1
        match self.manner:
            case "changes" if self.lists == 1:
                self.say({"method": "notifications/tools/list_changed"})
                self.do("drift", asked)
                self.result(asked, tools=TOOLS)
            case "odd":
                self.result(asked, tools=1)
            case "refuses":
                self.say({"id": asked["id"], "error": {"code": -5, "message": "no"}})
            case "silent":
                return
            case "pages" if "cursor" not in asked["params"]:
                self.result(asked, tools=self.tools[:1], nextCursor="2")
            case "pages":
                self.result(asked, tools=self.tools[1:])
            case _:
                self.result(asked, tools=self.tools)

    def about(self):
        return {
            "capabilities": {"logging": {}, **({} if self.manner == "bare" else {"tools": {}})},
            "serverInfo": {"name": "talker", "version": str(os.getpid())},
        }

    def result(self, asked, **members):
        self.say({"id": asked["id"], "result": members})

    def do(self, step, asked):  # noqa: C901, PLR0912 - a list of all that it can do
        match step:
            case "answer":
                self.result(asked, content=[{"type": "text", "text": str(asked["id"])}])
            case "hold":
                self.held.append(asked)
            case "release":  # the last one first
                for each in reversed(self.held):
                    self.result(each, **each["params"]["arguments"]["gives"])
                self.held = []
            case "drift":
                self.tools = [{**TOOLS[0], "description": "new"}, TOOLS[1]]
            case "exit":
                os._exit(7)
            case "leave":
                os._exit(0)
            case "nap":
                time.sleep(0.5)
            case "last-words":
                words = {"content": [{"type": "text", "text": "bye"}]}
                message = {"jsonrpc": "2.0", "id": asked["id"], "result": words}
                print(json.dumps(message), end="", flush=True)
                os._exit(0)
            case "endless":
                print("x" * 1_200_000, end="", flush=True)
            case "pings":
                while True:
                    self.say({"id": "p" * 1000, "method": "ping"})
            case "deaf":
                time.sleep(60)
            case "close":
                os.close(1)
            case "close-input":
                os.close(0)
                time.sleep(60)
            case str():
                print(step.replace("$id", str(asked["id"])), flush=True)
            case dict():
                token = asked["params"].get("_meta", {}).get("progressToken")
                text = json.dumps(step).replace('"$id"', json.dumps(asked["id"]))
                self.say(json.loads(text.replace('"$token"', json.dumps(token))))


if __name__ == "__main__":
    revision, fifo, manner = [*sys.argv[1:], "", ""][:3]
    held = os.open(fifo, os.O_WRONLY) if fifo else -1
    Talker(revision, manner).run()
