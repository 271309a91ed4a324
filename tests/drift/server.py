"""The harbour's MCP server on stdin and stdout, which changes as a case of `tables/` says.

python -I -S server.py          serve the harbour
python -I -S server.py --list   what each case is about

ZOO_DRIFT   the case to play; without it nothing changes
ZOO_ERA     `legacy`, `modern` (2026-07-28) or `dual`, the default
ZOO_LOG, ZOO_TTL   as in tests/zoo
"""

import json
import os
import signal
import sys
from collections import Counter

# `-I` leaves the folder of the tests out of the path.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from drift.edits import Surface
from zoo.animals.osutil import enter, write_all
from zoo.animals.server import LEGACY, MODERN, NAMESPACE, Server

LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


class Harbour(Server):
    """Serves the harbour, edited anew for every answer."""

    era = os.environ.get("ZOO_ERA", "dual")

    def __init__(self, edits):
        super().__init__()
        self.edits = edits
        self.listings = Counter()

    def write(self, data):
        write_all(data)

    def surface(self, method):
        surface = Surface(self.listings[method] or 1)
        for edit in self.edits:
            edit.make(surface)
        return surface

    def greeting(self, request):
        asked = request["params"].get("protocolVersion")
        return {"protocolVersion": asked if asked in LEGACY else LEGACY[0], **self.about()}

    def discover(self, request):
        versions = [MODERN, *(LEGACY if self.era == "dual" else ())]
        self.reply(request, {"supportedVersions": versions, **self.about()})

    def about(self):
        offer = self.surface("").offer
        about = {"capabilities": offer["capabilities"], "serverInfo": offer["server"]}
        return about | {key: offer[key] for key in ("instructions",) if key in offer}

    def serve(self, request):
        method, params = request["method"], request.get("params") or {}
        if method in LISTS:
            self.list_page(request, params.get("cursor"))
        elif method == "tools/call":
            self.reply(request, {"content": [{"type": "text", "text": f"{params['name']}: done"}]})
        else:
            self.refuse(request, -32601, "Method not found")

    def list_page(self, request, cursor):
        method = request["method"]
        self.listings[method] += cursor is None
        member, page = LISTS[method], int(cursor or 1)
        surface = self.surface(method)
        for act in surface.ahead:
            act(self, request)
        act = surface.instead.get((member, page)) or surface.instead.get((member, 0))
        if act:
            act(self, request)
            return
        items = surface.offer[member]
        sizes = surface.sizes.get(member, [len(items)])
        start = sum(sizes[: page - 1])
        shown = {member: items[start : start + sizes[page - 1]]}
        more = {"nextCursor": str(page + 1)} if page < len(sizes) else surface.last_cursor
        self.reply(request, {**surface.offer["envelope"], **shown, **more}, surface)

    def reply(self, request, result, surface=None):
        surface = surface or self.surface(request["method"])
        if self.is_modern(request):
            frame = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
            frame["_meta"] = {NAMESPACE + "serverInfo": surface.offer["server"]}
            result = {**frame, **result}
        message = {"jsonrpc": "2.0", "id": request["id"], "result": result}
        text = spell(message, surface)
        for member, old, new in surface.respellings:
            if LISTS.get(request["method"]) == member:
                assert old in text, f"nothing to respell: {old}"
                text = text.replace(old, new)
        self.write((text + surface.line_end).encode())


def spell(message, surface):
    ascii_only = surface.ascii_only
    text = json.dumps(message, ensure_ascii=ascii_only, separators=surface.separators)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair has to stay an escape
        return json.dumps(message, separators=surface.separators)
    return text


def main(arguments):
    from drift.tables import CASES

    if arguments == ["--list"]:
        for name, case in CASES.items():
            print(f"{name:26} {case.about}")
        return
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    enter("server")
    name = os.environ.get("ZOO_DRIFT")
    Harbour(CASES[name].edits if name else ()).run()


if __name__ == "__main__":
    main(sys.argv[1:])
