"""What somebody writes who has the official SDK for Python and wants one call.

sdk_script.py call TOOL ARGUMENTS SERVER [WORD...]
sdk_script.py list '' '' SERVER [WORD...]
"""
# ruff: noqa: INP001, T201 - a script

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    """Open a session, list or call, print."""
    method, tool, arguments, command, *words = sys.argv[1:]
    server = StdioServerParameters(command=command, args=words)
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        if method == "list":
            result = await session.list_tools()
        else:
            result = await session.call_tool(tool, json.loads(arguments))
        print(result.model_dump_json(by_alias=True, exclude_none=True))


asyncio.run(main())
