"""A server whose lists change while it runs: `python -I -S shelf.py REVISION [EMPTY]`, EMPTY being a list.

Its tool `put` takes the name of a list and what stands in it from now on, pages of definitions. Where null stands instead,
for the list or for a page, it knows no such method; where a number stands, that is its error. With `tell` it says that the
list changed, by the notification of that name. Its tool `heard` tells the methods that it was sent.
"""

import json
import sys

MODERN = "2026-07-28"
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("put", "heard")]
PROMPT = {"name": "greet", "description": "Says hello.", "arguments": [{"name": "who"}]}
RESOURCE = {"uri": "shelf:a", "name": "a", "mimeType": "text/plain"}
TEMPLATE = {"uriTemplate": "shelf:{id}/data", "name": "data"}
ITEMS = {
    "tools": TOOLS,
    "prompts": [PROMPT],
    "resources": [RESOURCE],
    "resourceTemplates": [TEMPLATE],
}
LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
ABOUT = {
    "capabilities": {"tools": {}, "prompts": {}, "resources": {}, "completions": {}},
    "serverInfo": {"name": "shelf", "version": "1"},
}
NO_METHOD = -32601


class Shelf:
    def __init__(self, revision, empty=""):
        self.revision = revision
        self.lists = {name: [items] for name, items in ITEMS.items()} | {empty: [[]]}
        self.heard = []

    def run(self):
        for line in sys.stdin:
            message = json.loads(line)
            self.heard.append(message["method"])
            if "id" in message:
                self.say(id=message["id"], **self.outcome(message["method"], message["params"]))

    def say(self, **members):
        print(json.dumps({"jsonrpc": "2.0", **members}), flush=True)

    def outcome(self, method, params):
        if method in LISTS:
            return self.page(LISTS[method], int(params.get("cursor", 0)))
        opening = "server/discover" if self.revision == MODERN else "initialize"
        made = {
            opening: lambda: {**self.versions(), **ABOUT},
            "tools/call": lambda: {"content": [{"type": "text", "text": self.call(params)}]},
            "prompts/get": lambda: {"messages": []},
            "resources/read": lambda: {"contents": [{"uri": params["uri"], "text": "x"}]},
            "completion/complete": lambda: {"completion": {"values": ["x"]}},
        }.get(method)
        return {"result": made()} if made else {"error": {"code": NO_METHOD, "message": "no"}}

    def versions(self):
        return {"supportedVersions": [MODERN], "protocolVersion": self.revision}

    def page(self, name, number):
        pages = self.lists[name]
        page = pages[number] if isinstance(pages, list) else pages
        if not isinstance(page, list):
            return {"error": {"code": page or NO_METHOD, "message": "no"}}
        more = {"nextCursor": str(number + 1)} if pages[number + 1 :] else {}
        return {"result": {name: page, **more}}

    def call(self, params):
        if params["name"] == "heard":
            heard, self.heard = self.heard, []
            return json.dumps(heard)
        given = params["arguments"]
        self.lists[given["list"]] = given["pages"]
        if "tell" in given:
            self.say(method=f"notifications/{given['tell']}/list_changed")
        return "done"


if __name__ == "__main__":
    Shelf(*sys.argv[1:]).run()
