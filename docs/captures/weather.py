"""A small MCP server for the captures: what it says of itself comes from WEATHER_NOTE."""

import json
import os
import sys
import time

STATIONS = 40
NOTE = os.environ.get("WEATHER_NOTE", "")
STATION = {"type": "string", "description": f"The station's name.{NOTE}"}
TOOLS = [
    {
        "name": "forecast",
        "description": "The weather at one station tomorrow.",
        "annotations": {"readOnlyHint": True},
        "inputSchema": {
            "type": "object",
            "properties": {"station": STATION, "days": {"type": "integer", "default": 1}},
            "required": ["station"],
        },
    },
    {
        "name": "recompute",
        "description": "Compute all forecasts anew, which takes a while.",
        "inputSchema": {"type": "object", "properties": {}},
    },
]
if NOTE:  # an upgrade with more than words
    TOOLS[0]["inputSchema"]["required"] = ["station", "days"]


def say(**members: object) -> None:
    """Send one message."""
    print(json.dumps({"jsonrpc": "2.0", **members}), flush=True)


def recompute(token: object) -> dict[str, object]:
    """Take a while, and tell the progress."""
    for number in range(1, STATIONS + 1):
        time.sleep(0.1)
        progress = {"progressToken": token, "progress": number, "total": STATIONS}
        say(method="notifications/progress", params={**progress, "message": f"station {number}"})
    return {"content": [{"type": "text", "text": f"{STATIONS} stations"}]}


NAMES = [tool["name"] for tool in TOOLS]

for line in sys.stdin:
    asked = json.loads(line)
    params = asked.get("params", {})
    if asked["method"] == "initialize":
        about = {"name": "weather", "version": "1.0"}
        offer = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
        say(id=asked["id"], result={**offer, "serverInfo": about})
    elif asked["method"] == "tools/list":
        say(id=asked["id"], result={"tools": TOOLS})
    elif asked["method"] == "ping":
        say(id=asked["id"], result={})
    elif asked["method"] == "tools/call" and params["name"] not in NAMES:
        say(id=asked["id"], error={"code": -32602, "message": f"Unknown tool: {params['name']}"})
    elif asked["method"] == "tools/call":
        say(id=asked["id"], result=recompute(params.get("_meta", {}).get("progressToken")))
    elif "id" in asked:
        say(id=asked["id"], error={"code": -32601, "message": "Method not found"})
