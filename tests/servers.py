"""Small servers, good and bad: `python -I -S servers.py NAME [FIFO [WORD...]]`.

The FIFO is held open by the server and all its helpers, so it hangs up when the last is dead, and
tells in words what happened to them. The ones that speak the protocol take what they offer from
`server.json` in their directory, if it is there.
"""

import contextlib
import json
import os
import signal
import sys

MODERN = "2026-07-28"
LIFE = 60  # seconds after which a server, or a helper, ends itself

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
FORM = {
    "message": "Who?",
    "requestedSchema": {"properties": {"name": {"type": "string"}}, "required": ["name"]},
}
LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
TOOLS = [
    {"name": "echo", "description": "Say it again.", "inputSchema": SCHEMA},
    {"name": "fail", "annotations": {"readOnlyHint": True}, "inputSchema": SCHEMA},
]


def command(name, *words):
    """The argv of a server."""
    return (sys.executable, "-I", "-S", os.path.abspath(__file__), name, *words)


def offering(folder=".", **offer):
    """Let the servers that are started in `folder` offer something else."""
    with open(os.path.join(folder, "server.json"), "w", encoding="utf-8") as file:
        json.dump(offer, file)


class Story:
    """What a server writes into its FIFO."""

    fd = -1

    def open(self, path):
        self.fd = os.open(path, os.O_WRONLY)

    def tell(self, word):
        if self.fd >= 0:
            os.write(self.fd, f"{word}\n".encode())


story = Story()


def say(text):
    left = text if isinstance(text, bytes) else f"{text}\n".encode()
    while left:
        left = left[os.write(1, left) :]


def until_eof():
    """Read and throw away; the number of bytes."""
    count = 0
    while chunk := os.read(0, 65536):
        count += len(chunk)
    story.tell("eof")
    return count


def forever():
    while True:
        signal.pause()


def on_term(word="term", status=None):
    """Tell of SIGTERM; leave with a status, or go on."""

    def handle(_signum, _frame):
        story.tell(word)
        if status is not None:
            os._exit(status)

    signal.signal(signal.SIGTERM, handle)


def fork_helper(*, leave):
    """Start a helper that tells of SIGTERM and lives on; told of when it is there."""
    ready, reached = os.pipe()
    if os.fork():  # noqa: TID251 - a server's helper, not thrall's
        os.close(reached)
        os.read(ready, 1)
        os.close(ready)
        return
    if leave:
        os.setsid()
    signal.alarm(LIFE)
    on_term("helper-term")
    os.write(reached, b".")
    os.close(reached)
    forever()


# -- servers of lines --------------------------------------------------------------------------


def silent():
    until_eof()


def cat():
    while chunk := os.read(0, 1 << 16):
        say(chunk)
    story.tell("eof")


def counts():
    """Say a huge line before reading anything, then how many bytes came."""
    say(b"x" * 3_000_000 + b"\n")
    count = 0
    while not (chunk := os.read(0, 1 << 16)).endswith(b"\n"):
        count += len(chunk)
    say(count + len(chunk))
    until_eof()


def ignores_eof():
    on_term(status=0)
    say("ready")
    until_eof()
    forever()


def ignores_term():
    on_term()
    say("ready")
    until_eof()
    forever()


def helper_in_group():
    fork_helper(leave=False)
    say("ready")
    until_eof()


def helper_in_own_session():
    fork_helper(leave=True)
    say("ready")
    until_eof()


def crashes_with_helper():
    """Fail while a helper holds its output open."""
    fork_helper(leave=False)
    sys.exit(7)


def hands_over():
    """Leave another process serving on the same pipes, as a launcher does."""
    if os.fork():  # noqa: TID251 - likewise
        os._exit(0)
    signal.alarm(LIFE)
    cat()


def crash(status="7"):
    say(b'{"half')
    sys.exit(int(status))


def dies_of(signum):
    os.kill(os.getpid(), int(signum))


def closes_stdout():
    os.close(1)
    until_eof()


def closes_stdout_and_exits():
    os.close(1)
    sys.exit(3)


def closes_stdin():
    os.close(0)
    say("ready")
    forever()


def never_reads():
    say("ready")
    forever()


def floods(line="noise"):
    """Write lines as fast as they are taken, for a few seconds."""
    signal.alarm(8)
    chunk = f"{line}\n".encode() * 2000
    with contextlib.suppress(BrokenPipeError):
        while True:
            say(chunk)


def big_line(size):
    """Write one line without an end."""
    say(b"x" * int(size))
    forever()


def line(size):
    say(b"x" * int(size) + b"\n")
    until_eof()


def signals_parent(signum, moment="now"):
    """Send a signal to who started us: at once, or at the end of input."""
    say("ready")
    if moment == "eof":
        until_eof()
    os.kill(os.getppid(), int(signum))
    forever()


# -- servers of the protocol -------------------------------------------------------------------


def offered():
    offer = {"tools": TOOLS, "serverInfo": {"name": "fake", "version": "1"}}
    with contextlib.suppress(FileNotFoundError), open("server.json", encoding="utf-8") as file:
        offer.update(json.load(file))
    return offer


class Good:
    """Speaks the legacy era, the modern one, or both."""

    def __init__(self, *, modern, legacy):
        self.modern = modern
        self.legacy = legacy
        self.offer = offered()
        self.lists = 0
        self.may_ask = False  # told so by the client

    def run(self):
        if "greets" in self.offer:
            say(self.offer["greets"])
        if "helper" in self.offer:
            fork_helper(leave=False)
        for line in sys.stdin:
            message = json.loads(line)
            if message.get("method") in self.offer.get("dies_of", ()):
                sys.exit(7)
            if message.get("method") in self.offer.get("ignores", ()):
                continue
            if "id" in message and "method" in message:
                outcome = self.answer(message["method"], message.get("params", {}), line)
                if outcome is not None:
                    say(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}))
        story.tell("eof")
        self.stop()

    def stop(self):
        if "stop" in self.offer:
            os.kill(os.getppid(), self.offer["stop"])
        match self.offer.get("at_the_end"):
            case "stays":
                forever()
            case "insists":
                on_term()
                forever()
            case "fails":
                sys.exit(3)

    def meets(self):
        """Wait at a FIFO for another server; whether an answer follows, or a signal to a process."""
        if "meets" in self.offer:
            with open(*self.offer["meets"]):
                story.tell("met")
        if "signals" in self.offer:
            os.kill(self.offer["signals"], signal.SIGTERM)
        return "waits" not in self.offer

    def capabilities(self):
        names = ("tools", "prompts", "resources")
        return self.offer.get("capabilities", {it: {} for it in names if it in self.offer})

    def answer(self, method, params, line):
        envelope = params.get("_meta", {}).get("io.modelcontextprotocol/clientCapabilities", {})
        self.may_ask |= "elicitation" in {**params.get("capabilities", {}), **envelope}
        about = {"capabilities": self.capabilities(), "serverInfo": self.offer["serverInfo"]}
        if "instructions" in self.offer:
            about["instructions"] = self.offer["instructions"]
        if method in self.offer.get("refuses", ()):
            why = {"code": self.offer.get("code", -32601), "message": "Method not found"}
            return {"error": {**why, **self.offer.get("why", {})}}
        known = {}
        if self.modern:
            known["server/discover"] = {"supportedVersions": [MODERN], **about}
        if self.legacy:
            known["initialize"] = {"protocolVersion": params.get("protocolVersion"), **about}
            known["ping"] = {}
        if method in known:
            return {"result": known[method]}
        if LISTS.get(method) in self.offer:
            return self.list(LISTS[method], params.get("cursor", ""))
        if method == "tools/call":
            story.tell("called")
            name = params["name"]
            return self.ask(params) if name == "ask" else self.call(name, line)
        return {"error": {"code": -32601, "message": "Method not found"}}

    def list(self, member, cursor):
        items = self.offer[member]
        if member == "tools" and self.may_ask:  # some list more then
            items = items + self.offer.get("asking", [])
        if member == "tools":
            self.lists += 1
            if self.lists == 1 and not self.meets():
                return None
        if self.lists > 1:  # whatever is listed after the tools were listed once more
            items = self.offer.get("later", {}).get(member, items)
        if "pages" in self.offer:  # an item on each, the cursor counts them
            more = {"nextCursor": cursor + "."} if items[len(cursor) + 1 :] else {}
            return {"result": {member: items[len(cursor) :][:1], **more}}
        return {"result": {member: items}}

    def call(self, name, line):
        if name in self.offer.get("answers", {}):
            return {"result": self.offer["answers"][name]}
        match name:
            case "echo":
                return text(line.rstrip("\n"))
            case "surroundings":
                return text(json.dumps({"cwd": os.getcwd(), "env": dict(os.environ)}))
            case "fail":
                return {"result": {"content": [{"type": "text", "text": "no"}], "isError": True}}
            case "die":
                sys.exit(7)
            case "hang" | "signal":
                if name == "signal":
                    os.kill(os.getppid(), signal.SIGTERM)
                return None
        return {"error": {"code": -32602, "message": f"Unknown tool: {name}"}}

    def ask(self, params):
        """Ask for a name in the way of the era, and repeat what was declared and what was told."""
        asked = {"method": "elicitation/create", "params": self.offer.get("form", FORM)}
        if not self.modern:
            say(json.dumps({"jsonrpc": "2.0", "id": "asked", **asked}))
            told = json.loads(sys.stdin.readline())
            if "error" in told and "refusal" in self.offer:
                return self.offer["refusal"]
            return text(json.dumps([told.get("result", told.get("error")), None]))
        declared = params["_meta"]["io.modelcontextprotocol/clientCapabilities"]
        if "inputResponses" in params:
            return text(json.dumps([params["inputResponses"]["who"], declared]))
        return {"result": {"resultType": "input_required", "inputRequests": {"who": asked}}}


def text(words):
    return {"result": {"content": [{"type": "text", "text": words}]}}


def good():
    Good(modern=False, legacy=True).run()


def modern():
    Good(modern=True, legacy=False).run()


def both():
    Good(modern=True, legacy=True).run()


def main(name, fifo="", *words):
    signal.alarm(LIFE)
    if fifo:
        story.open(fifo)
    globals()[name](*words)


if __name__ == "__main__":
    main(*sys.argv[1:])
