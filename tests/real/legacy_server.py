"""A server on the Python SDK before 2.0, which speaks the revisions before 2026-07-28."""

import asyncio
import os

from mcp.server.fastmcp import Context, FastMCP, Image
from mcp.server.fastmcp.exceptions import ToolError
from mcp.types import CallToolResult, ImageContent, TextContent
from pydantic import BaseModel
from samples import PNG, pieces
from serving import serve

server = FastMCP("legacy", instructions="For the tests of thrall.")


# A test changes the description, as a new version of a server would.
@server.tool(description=os.environ.get("ADD_SAYS", "The sum of two integers."))
def add(a: int, b: int) -> int:
    return a + b


@server.tool(structured_output=False)
def echo(text: str) -> str:
    """The text again."""
    return text


@server.tool()
def fail() -> str:
    """Fail, always."""
    raise ToolError("failed as asked")


@server.tool(structured_output=False)
def image() -> Image:
    """One grey pixel."""
    return Image(data=PNG, format="png")


@server.tool(structured_output=False)
def several() -> list[TextContent | ImageContent]:
    """Two texts around an image."""
    pixel = Image(data=PNG, format="png").to_image_content()
    return [TextContent(type="text", text="before"), pixel, TextContent(type="text", text="after")]


@server.tool()
def weather(city: str) -> dict[str, str | int]:
    """A structured result, and the same as text."""
    return {"city": city, "degrees": 21}


@server.tool()
def only_structured() -> CallToolResult:
    """A structured result without a text."""
    return CallToolResult(content=[], structuredContent={"answer": 42})


@server.tool(structured_output=False)
def big(n: int) -> str:
    """A text of n bytes."""
    return "".join(pieces(n))


@server.tool()
async def slow(seconds: float, ctx: Context) -> str:
    """Take a while, with progress and log messages."""
    for step in range(4):
        await ctx.report_progress(step, 4)
        await ctx.info(f"step {step}")
        await asyncio.sleep(seconds / 4)
    return f"slept {seconds:g} s"


class Name(BaseModel):
    name: str


@server.tool()
async def ask(ctx: Context) -> str:
    """Ask the person at the client for a name; go on without when nobody can be asked."""
    try:
        answer = await ctx.elicit("Your name?", Name)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
        return f"refused: {error}"
    return f"answered: {answer.action}"


@server.tool()
def whoami() -> dict[str, int]:
    """The numbers of this process, its group and its session."""
    return {"pid": os.getpid(), "group": os.getpgrp(), "session": os.getsid(0)}


def streamable(stateless, json):
    server.settings.stateless_http, server.settings.json_response = stateless, json
    return server.streamable_http_app()


if __name__ == "__main__":
    serve(server, streamable, server.sse_app)
