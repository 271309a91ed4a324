"""A server on the Python SDK from 2.0 on, which speaks 2026-07-28."""

import asyncio
import os
from typing import Annotated

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ImageContent,
    InputRequiredResult,
    TextContent,
)
from pydantic import Field
from samples import PNG, pieces
from serving import serve

server = MCPServer("modern", version="1.0", instructions="For the tests of thrall.")


# A test changes the description, as a new version of a server would.
@server.tool(description=os.environ.get("ADD_SAYS", "The sum of two integers."))
def add(a: int, b: int) -> int:
    return a + b


@server.tool(structured_output=False)
def echo(text: str) -> str:
    """The text again."""
    return text


@server.tool(structured_output=False)
def marked(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    """The text again, which over HTTP has to stand in a header as well."""
    return region


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
    return [TextContent(text="before"), pixel, TextContent(text="after")]


@server.tool()
def weather(city: str) -> dict[str, str | int]:
    """A structured result, and the same as text."""
    return {"city": city, "degrees": 21}


@server.tool()
def only_structured() -> CallToolResult:
    """A structured result without a text."""
    return CallToolResult(content=[], structured_content={"answer": 42})


@server.tool(structured_output=False)
def big(n: int) -> str:
    """A text of n bytes."""
    return "".join(pieces(n))


@server.tool()
async def slow(seconds: float, ctx: Context) -> str:
    """Take a while, with progress."""
    for step in range(4):
        await ctx.report_progress(step, 4)
        await asyncio.sleep(seconds / 4)
    return f"slept {seconds:g} s"


@server.tool()
def ask() -> InputRequiredResult:
    """Ask the person at the client for a name."""
    question = ElicitRequestFormParams(
        message="Your name?",
        requested_schema={"type": "object", "properties": {"name": {"type": "string"}}},
    )
    return InputRequiredResult(input_requests={"name": ElicitRequest(params=question)})


@server.tool()
def whoami() -> dict[str, int]:
    """The numbers of this process, its group and its session."""
    return {"pid": os.getpid(), "group": os.getpgrp(), "session": os.getsid(0)}


def streamable(stateless, json):
    return server.streamable_http_app(stateless_http=stateless, json_response=json)


if __name__ == "__main__":
    serve(server, streamable, server.sse_app)
