"""A small MCP server for the captures: it asks the guest back, and has a plan of its tables."""

import json
import sys

PLAN = (
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAIAQAAAADsdIMmAAAAGElEQVR42mP4zyzFxMDwn4mBWYrhPxMDAB0xAz4h"
    "KJzTAAAAAElFTkSuQmCC"
)
FORM = {
    "type": "object",
    "properties": {
        "guests": {"type": "integer", "title": "Guests", "minimum": 1, "maximum": 8, "default": 2},
        "place": {
            "type": "string",
            "title": "Where would you like to sit?",
            "oneOf": [
                {"const": "terrace", "title": "on the terrace"},
                {"const": "inside", "title": "inside, by the window"},
            ],
        },
        "mail": {"type": "string", "format": "email", "description": "for the confirmation"},
        "vegetarian": {"type": "boolean", "default": False},
    },
    "required": ["guests", "place", "mail"],
}
TOOLS = [
    {"name": "book", "description": "Book a table.", "inputSchema": {"type": "object"}},
    {"name": "plan", "description": "Where the tables are.", "inputSchema": {"type": "object"}},
]


def say(**members: object) -> None:
    """Send one message."""
    print(json.dumps({"jsonrpc": "2.0", **members}), flush=True)


def ask(number: str, **params: object) -> dict[str, object]:
    """Ask the guest; the answer."""
    say(id=number, method="elicitation/create", params=params)
    for line in sys.stdin:
        heard = json.loads(line)
        if heard.get("id") == number:
            return heard["result"]
    sys.exit()


def book() -> str:
    """Ask for what is missing, and for a deposit."""
    form = ask("form", mode="form", message="A few questions", requestedSchema=FORM)
    if form["action"] != "accept":
        return "No table was booked."
    page = {"url": "https://pay.example/deposit/1482", "elicitationId": "1482"}
    paid = ask("page", mode="url", message="There is a deposit of 10 EUR", **page)
    state = "booked" if paid["action"] == "accept" else "held until noon"
    return f"A table for {form['content']['guests']} is {state}."


def answer(name: str) -> dict[str, object]:
    """Answer a call."""
    if name == "plan":
        return {"content": [{"type": "image", "mimeType": "image/png", "data": PLAN}]}
    return {"content": [{"type": "text", "text": book()}]}


for request in sys.stdin:
    asked = json.loads(request)
    if asked["method"] == "initialize":
        about = {"name": "restaurant", "version": "1.0"}
        offer = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
        say(id=asked["id"], result={**offer, "serverInfo": about})
    elif asked["method"] == "tools/list":
        say(id=asked["id"], result={"tools": TOOLS})
    elif asked["method"] == "tools/call":
        say(id=asked["id"], result=answer(asked["params"]["name"]))
    elif "id" in asked:
        say(id=asked["id"], error={"code": -32601, "message": "Method not found"})
