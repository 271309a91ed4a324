"""A server that does what a call tells it, many calls at a time: `python -I -S talker.py [FIFO]`.

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
    def __init__(self, revision):
        self.revision = revision
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
                self.lists += 1
                self.result(asked, tools=self.tools)
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

    def about(self):
        return {
            "capabilities": {"tools": {}, "logging": {}},
            "serverInfo": {"name": "talker", "version": str(os.getpid())},
        }

    def result(self, asked, **members):
        self.say({"id": asked["id"], "result": members})

    def do(self, step, asked):
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
    held = os.open(sys.argv[2], os.O_WRONLY) if sys.argv[2:] else -1
    Talker(sys.argv[1]).run()
