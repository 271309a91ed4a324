"""What a start does not pay for: modules that only some verbs, or a terminal, need."""

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from loopback import legacy
from servers import command

ROOT = Path(__file__).parent.parent
SEPARATE = Path(click.__file__).parent.parent  # where packages are

# -I and -S: a development environment's .pth files import modules of their own.
PROGRAM = f"""
import sys
sys.path += [{str(ROOT)!r}, {str(SEPARATE)!r}]
from thrall_py.__main__ import main
try:
    main()
except SystemExit as ended:
    status = ended.code
import json
print(json.dumps([status, sorted(sys.modules)]), file=sys.stderr)
"""

HEAVY = (
    "PIL", "thrall_py.commands.serving", "thrall_py.gateway", "starlette", "uvicorn",
    "asyncio", "difflib", "h11", "hashlib", "importlib.metadata", "jsonschema", "pathlib", "pickle",
    "pydantic", "rich", "secrets", "socket", "ssl", "thrall_py.catalog.change",
    "thrall_py.catalog.codec", "thrall_py.catalog.credentials", "thrall_py.catalog.drift",
    "thrall_py.catalog.entry", "thrall_py.catalog.file", "thrall_py.catalog.machine",
    "thrall_py.catalog.schema", "thrall_py.commands.examining", "thrall_py.output.checkup",
    "thrall_py.output.listing", "thrall_py.output.picture", "thrall_py.output.pretty",
    "thrall_py.protocol.canonical", "thrall_py.protocol.http_handshake",
    "thrall_py.protocol.mirror", "thrall_py.transport.http", "thrall_py.transport.screen", "thrall_py.transport.sse",
    "thrall_py.transport.filter", "thrall_py.transport.workers", "thrall_py.verbs.check",
    "thrall_py.verbs.doctor", "thrall_py.verbs.execute",
    "thrall_py.verbs.pin",
    "thrall_py.catalog.nearest", "thrall_py.catalog.outline", "thrall_py.commands.shells",
    "thrall_py.catalog.schema", "thrall_py.output.listing", "thrall_py.output.pretty",
    "thrall_py.protocol.canonical", "thrall_py.protocol.http_handshake",
    "thrall_py.protocol.mirror", "thrall_py.transport.http", "thrall_py.transport.sse",
    "thrall_py.transport.workers", "thrall_py.verbs.check", "thrall_py.verbs.fitting", "thrall_py.verbs.pin",
    "thrall_py.catalog.schema", "thrall_py.commands.asking", "thrall_py.output.listing", "thrall_py.output.pretty",
    "thrall_py.protocol.canonical", "thrall_py.protocol.elicitation",
    "thrall_py.protocol.fields", "thrall_py.protocol.http_handshake",
    "thrall_py.protocol.mirror", "thrall_py.transport.http", "thrall_py.transport.sse",
    "thrall_py.transport.workers", "thrall_py.verbs.answers", "thrall_py.verbs.check", "thrall_py.verbs.pin",
    "thrall_py.catalog.schema", "thrall_py.output.listing", "thrall_py.output.narration",
    "thrall_py.output.pretty", "thrall_py.output.status_line", "thrall_py.output.trace",
    "thrall_py.protocol.canonical", "thrall_py.protocol.http_handshake",
    "thrall_py.protocol.mirror", "thrall_py.protocol.watched", "thrall_py.transport.http", "thrall_py.transport.sse",
    "thrall_py.transport.workers", "thrall_py.verbs.check", "thrall_py.verbs.pin",
    "thrall_py.verbs.reach", "urllib.parse", "urllib.request", "xml",
)  # fmt: skip


def loaded(*words):
    """The modules of a run that succeeds."""
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", PROGRAM, *words], capture_output=True, check=True
    )
    status, modules = json.loads(run.stderr.splitlines()[-1])
    assert status == 0
    return set(modules)


@pytest.mark.parametrize(
    "words",
    [
        ("call", "echo", "a=1", "--", *command("good")),
        ("call", "echo", "a=1", "--json", "--", *command("modern")),
        ("--help",),
        ("call", "--help"),
        ("--version",),
    ],
)
def test_a_start_loads_nothing_heavy(words):
    modules = loaded(*words)
    assert "thrall_py.cli" in modules
    assert modules.isdisjoint(HEAVY), sorted(modules & set(HEAVY))


def test_a_call_on_plain_http_loads_neither_tls_nor_what_starts_a_process(serve):
    server = serve(legacy())
    modules = loaded("call", "echo", "a=1", "--url", server.url)
    assert {"h11", "socket", "thrall_py.transport.http.streamable"} <= modules
    assert modules.isdisjoint(
        {"ssl", "subprocess", "thrall_py.transport.process", "rich", "asyncio"}
    )


def test_a_pin_that_nobody_watches_loads_no_table():
    modules = loaded("pin", "-", "--", *command("good"))
    assert "thrall_py.catalog.file" in modules
    assert modules.isdisjoint({"rich", "asyncio", "ssl", "importlib.metadata"})


def test_a_check_that_a_person_reads_loads_no_report_for_machines():
    loaded("pin", "c.json", "--", *command("good"))
    modules = loaded("check", "c.json")
    assert "thrall_py.catalog.report" in modules
    assert modules.isdisjoint({"rich", "asyncio", "ssl", "importlib.metadata", "xml"})
    assert modules.isdisjoint({"urllib.request", "thrall_py.catalog.machine"})
