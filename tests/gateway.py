"""What the tests of the gateway's upstream side have in common: entries, a listener, a loop with an end."""

import asyncio
import json
import os
import sys
import time

import talker

from thrall_py.catalog.entry import Entry, pin_item
from thrall_py.catalog.launch import LaunchSpec, UrlSpec
from thrall_py.gateway.core.answering import Forward
from thrall_py.gateway.upstream.servers import Settings
from thrall_py.protocol import mcp
from thrall_py.verbs.connect import ConnectionOptions

CONNECTION = ConnectionOptions(timeout=10, start_timeout=10, grace=1, max_message=1 << 20)
SETTINGS = Settings(CONNECTION, idle=60)
LONG = 30  # seconds; nothing takes that long unless something is wrong


def run(coroutine):
    """Run to the end, and leave nothing: no task, no descriptor, no process."""

    async def bounded():
        async with asyncio.timeout(LONG):
            result = await coroutine
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return result

    before = open_descriptors()
    result = asyncio.run(bounded())
    deadline = time.monotonic() + 5
    while open_descriptors() != before and time.monotonic() < deadline:
        time.sleep(0.01)  # a server in a thread of ours sees later that its client is gone
    assert open_descriptors() == before
    return result


def open_descriptors():
    return len(os.listdir("/dev/fd"))


def entry(launch, tools=talker.TOOLS, revision="2025-11-25"):
    items = {tool["name"]: pin_item(tool) for tool in tools}
    return Entry(launch, mcp.ServerInfo(revision), {"tools": items})


def talking(revision="2025-11-25", *fifo):
    command = (sys.executable, "-I", "-S", talker.__file__, revision, *fifo)
    return entry(LaunchSpec(command, {}), revision=revision)


def on_url(url, tools, revision="2025-11-25"):
    return entry(UrlSpec(url, {}), tools, revision)


def do(*steps, **more):
    """A call of the talker that does these steps."""
    arguments = json.dumps({"steps": steps, **more})
    return Forward("it", "tools/call", "do", f'"name":"do","arguments":{arguments}')


HEARD = Forward("it", "tools/call", "heard", '"name":"heard","arguments":{}')


class Caller:
    """A Listener that remembers; it accepts what it is asked, after `before` has been awaited."""

    def __init__(self, client="one", capabilities="{}", progress=False, level="", before=None):
        self.client = client
        self.capabilities = capabilities
        self.wants_progress = progress
        self.log_level = level
        self.before = before
        self.told = []
        self.questions = []

    def progressed(self, params):
        self.told.append(params.load())

    def logged(self, params):
        self.told.append(params.load())

    async def asked(self, method, params):
        self.questions.append((method, params.load()))
        if self.before:
            await self.before()
        answer = '"result":{"action":"accept",\n"content":{"name":"\u00e9"}}'
        return answer.encode().decode("latin-1")


class Told:
    """A log that remembers."""

    def __init__(self):
        self.events = []

    def tell(self, event, **facts):
        self.events.append((event, facts))

    async def has(self, event):
        """Wait until something was told of."""
        while event not in dict(self.events):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def text(message):
    """The text that a tool answered with."""
    assert message.result is not None, message.error
    return message.result.load()["content"][0]["text"]


async def heard(upstream):
    """What the talker was sent since it was asked last."""
    return json.loads(text(await upstream.request(HEARD, Caller())))
