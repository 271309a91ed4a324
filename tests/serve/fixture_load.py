"""The tools of the fixture that are for tests of load, of cancelling and of death."""

import asyncio
import json
import os

from fixture_call import Refusal
from fixture_tools import TOOLS, text, tool

__all__ = ["TOOLS"]  # with these among them

WORD = {"text": {"type": "string"}}
SECONDS = {"seconds": {"type": "number"}}
SUM = {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}


@tool("The text again.", WORD, annotations={"readOnlyHint": True})
async def echo(_call, text):
    return {"content": [{"type": "text", "text": text}]}


@tool("The text again, later.", WORD | SECONDS)
async def echo_later(_call, text, seconds):
    await asyncio.sleep(seconds)
    return {"content": [{"type": "text", "text": text}]}


@tool("Adds.", {"a": {"type": "number"}, "b": {"type": "number"}}, outputSchema=SUM)
async def total(_call, a, b):
    return text(json.dumps({"sum": a + b}), structuredContent={"sum": a + b})


@tool("Waits, and tells how far it is every 50 ms.", SECONDS)
async def wait(call, seconds):
    steps = max(1, round(seconds / 0.05))
    for step in range(steps):
        call.progress(step + 1, steps, f"step {step + 1}")
        await asyncio.sleep(0.05)
    return text("waited")


@tool("How many calls were cancelled.")
async def cancelled(call):
    return text(str(call.server.cancelled))


@tool("Is answered with an error.")
async def refuse(_call):
    raise Refusal(-32000, "refused on purpose", {"why": "a test"})


@tool("Ends the server in the middle of the call.")
async def die(_call):
    os._exit(3)


@tool("The number of the server's process.")
async def process(_call):
    return text(str(os.getpid()))
