"""What an official client of the Python SDK 2.x sees of a gateway: `python2.py MODE URL | COMMAND...`."""

import json
import sys

import anyio
from mcp import Client, MCPError, StdioServerParameters, types

TEXT = "h\u00e9 \u2028 \U0001f600 \\"


async def answer(_context, params):
    content = dict.fromkeys(params.requested_schema["properties"], "an answer")
    return types.ElicitResult(action="accept", content=content)


async def main():
    seen = {"progress": []}
    mode, *words = sys.argv[1:]
    is_url = words[0].startswith("http")
    target = words[0] if is_url else StdioServerParameters(command=words[0], args=words[1:])

    async def progressed(done, total, _message):
        seen["progress"].append([done, total])

    async with Client(target, mode=mode, elicitation_callback=answer) as client:
        seen["revision"] = client.protocol_version
        seen["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        seen["echo"] = text(await client.call_tool("echo", {"text": TEXT}))
        seen["every"] = text(await client.call_tool("every_echo", {"message": TEXT}))
        failed = await client.call_tool("test_error_handling")
        seen["failed"] = [failed.is_error, text(failed)]
        try:
            await client.call_tool("refuse")
        except MCPError as error:
            seen["refused"] = [error.error.code, error.error.message, error.error.data]
        await client.call_tool("wait", {"seconds": 0.2}, progress_callback=progressed)
        seen["asked"] = text(await client.call_tool("test_elicitation", {"message": "who?"}))
        prompt = await client.get_prompt("test_simple_prompt")
        seen["prompt"] = prompt.messages[0].content.text
        seen["resource"] = (await client.read_resource("test://static-text")).contents[0].text
        with anyio.move_on_after(0.3):
            await client.call_tool("wait", {"seconds": 30})
        seen["cancelled"] = await cancelled(client)
    print(json.dumps(seen))


def text(result):
    return result.content[0].text


async def cancelled(client):
    """Wait until the server knows that a call was cancelled."""
    for _ in range(100):
        count = text(await client.call_tool("cancelled"))
        if count != "0":
            break
        await anyio.sleep(0.05)
    return count


anyio.run(main)
