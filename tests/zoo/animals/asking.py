"""Requests and notifications from the server, and silence."""

import time

from .osutil import setting, write_all
from .server import Server, animal, answering, encode, replacing, text_result, variant


def asking(name, about, method, **params):
    """Enter a server that asks before it answers, and tells what it was told."""

    def answer(server, request):
        response = server.ask(method, params)
        told = encode(response).decode()
        server.reply(request, text_result("told " + told, isError=response is None))

    variant(name, about, __name__, answer=answer)


SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}}
asking("roots", "Asks for the roots.", "roots/list")
asking(
    "elicit", "Asks the user.", "elicitation/create", message="Your name?", requestedSchema=SCHEMA
)
asking("sampling", "Asks for a completion.", "sampling/createMessage", messages=[], maxTokens=1)
asking("unheard-of", "Asks something nobody knows.", "zoo/feed\x1b[31m")


@answering
def ping(server, request):
    """Pings, and fails the call unless the response is an empty result."""
    good = (server.ask("ping") or {}).get("result") == {}
    server.reply(request, text_result("pong" if good else "no pong", isError=not good))


@answering
def ping_same_id(server, request):
    """Pings under the id of the call that is open."""
    good = (server.ask("ping", identifier=request["id"]) or {}).get("result") == {}
    server.reply(request, text_result("pong" if good else "no pong", isError=not good))


@answering
def ping_odd_ids(server, request):
    """Pings under the oddest ids that are allowed."""
    for identifier in ("", 0, -1, 12345678901234567890123, "\u2713\0\ud83e", "x" * 5000):
        if (server.ask("ping", identifier=identifier) or {}).get("result") != {}:
            return server.reply(request, text_result(f"no pong to {identifier!r}", isError=True))
    return server.reply(request, text_result("pong"))


@answering
def ping_storm(server, request):
    """100,000 pings before the answer, and no response is read (ZOO_SIZE)."""
    ping = encode({"jsonrpc": "2.0", "id": "zoo-storm", "method": "ping"}) + b"\n"
    for _ in range(setting("SIZE", 100_000) // 100):
        write_all(ping * 100)
    server.reply(request, text_result("calm"))


@answering
def ping_flood(_server, _request):
    """Pings without end or pause instead of the answer, and no response is read."""
    ping = encode({"jsonrpc": "2.0", "id": "zoo-flood", "method": "ping"}) + b"\n"
    while True:
        write_all(ping * 100)


@replacing("answer", era="modern")
def modern_asks(server, request):
    """A modern server that sends a request, which it must not."""
    server.send({"jsonrpc": "2.0", "id": "zoo-1", "method": "ping"})
    time.sleep(setting("DELAY", 0.3))
    server.reply(request, text_result("done"))


@replacing("answer", era="modern")
def modern_asks_same_id(server, request):
    """A modern server that sends a request under the id of the call."""
    server.send({"jsonrpc": "2.0", "id": request["id"], "method": "roots/list"})
    time.sleep(setting("DELAY", 0.3))
    server.reply(request, text_result("done"))


@answering
def asks_after_answer(server, request):
    """Asks for the roots right behind the answer."""
    server.reply(request, text_result("done"))
    server.send({"jsonrpc": "2.0", "id": "zoo-1", "method": "roots/list"})


@answering
def progress(server, request):
    """Progress over 2 s, then the answer."""
    token = server.envelope(request).get("progressToken", "nobody-asked")
    for step in range(1, 6):
        server.notify("notifications/progress", progressToken=token, progress=step, total=5)
        time.sleep(setting("DELAY", 0.4))
    server.reply(request, text_result("done"))


@answering
def odd_notifications(server, request):
    """Notifications of all shapes, then the answer."""
    for params in (None, [], "x", 7, {"progressToken": None, "progress": "much"}, {"level": 3}):
        for method in (
            "notifications/progress",
            "notifications/message",
            "notifications/cancelled",
        ):
            server.send({"jsonrpc": "2.0", "method": method, "params": params})
    server.notify("notifications/cancelled", requestId=request["id"], reason="no reason")
    server.send({"jsonrpc": "2.0", "method": "zoo/\x1b[31m"})
    server.send({"jsonrpc": "2.0", "method": ["notifications/message"]})
    server.reply(request, text_result("done"))


@answering
def log_flood(server, request):
    """20,000 log messages of 4 KB before the answer (ZOO_SIZE)."""
    for number in range(setting("SIZE", 20_000)):
        server.log_message(f"line {number} " + "." * 4000)
    server.reply(request, text_result("done"))


@answering
def silent_call(_server, _request):
    """The call is never answered."""


@replacing("handle")
def silent(_server, _message):
    """Reads everything and never writes."""


@animal
class SilentList(Server):
    """The list is never answered."""

    def list_tools(self, _request, _cursor):
        pass
