"""What an official client of the Python SDK 1.x sees of a gateway: `python1.py URL | COMMAND...`."""

import contextlib
import json
import sys

import anyio
from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

TEXT = "h\u00e9 \u2028 \U0001f600 \\"


@contextlib.asynccontextmanager
async def session():
    if sys.argv[1].startswith("http"):
        transport = streamable_http_client(sys.argv[1])
    else:
        transport = stdio_client(StdioServerParameters(command=sys.argv[1], args=sys.argv[2:]))
    async with (
        transport as (reading, writing, *_),
        ClientSession(reading, writing, elicitation_callback=answer) as opened,
    ):
        yield opened, await opened.initialize()


async def answer(_context, params):
    content = dict.fromkeys(params.requestedSchema["properties"], "an answer")
    return types.ElicitResult(action="accept", content=content)


async def main():
    seen = {"progress": []}

    async def progressed(done, total, _message):
        seen["progress"].append([done, total])

    async with session() as (client, opened):
        seen["revision"] = opened.protocolVersion
        seen["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        seen["echo"] = text(await client.call_tool("echo", {"text": TEXT}))
        seen["every"] = text(await client.call_tool("every_echo", {"message": TEXT}))
        failed = await client.call_tool("test_error_handling")
        seen["failed"] = [failed.isError, text(failed)]
        try:
            await client.call_tool("refuse")
        except McpError as error:
            seen["refused"] = [error.error.code, error.error.message, error.error.data]
        await client.call_tool("wait", {"seconds": 0.2}, progress_callback=progressed)
        seen["asked"] = text(await client.call_tool("test_elicitation", {"message": "who?"}))
        prompt = await client.get_prompt("test_simple_prompt")
        seen["prompt"] = prompt.messages[0].content.text
        seen["resource"] = (await client.read_resource("test://static-text")).contents[0].text
        await cancel(client)
        seen["cancelled"] = await cancelled(client)
    print(json.dumps(seen))


def text(result):
    return result.content[0].text


async def cancel(client):
    """Cancel a call; this SDK leaves the notification to its user."""
    async with anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "wait", {"seconds": 30})
        await anyio.sleep(0.3)
        params = types.CancelledNotificationParams(requestId=client._request_id - 1)
        note = types.CancelledNotification(params=params)
        await client.send_notification(types.ClientNotification(note))
        group.cancel_scope.cancel()


async def cancelled(client):
    """Wait until the server knows that a call was cancelled."""
    for _ in range(100):
        count = text(await client.call_tool("cancelled"))
        if count != "0":
            break
        await anyio.sleep(0.05)
    return count


anyio.run(main)
