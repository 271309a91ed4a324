"""What a start does not pay for: modules that only some verbs, or a terminal, need."""

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from loopback import legacy
from servers import command

from thrall_py import cli

ROOT = Path(__file__).parent.parent
SEPARATE = Path(click.__file__).parent.parent  # where packages are

# -I and -S: a development environment's .pth files import modules of their own.
PROGRAM = f"""
import sys
sys.path += [{str(ROOT)!r}, {str(SEPARATE)!r}]
at_spawn = []
sys.addaudithook(
    lambda event, _: at_spawn.extend(sorted(sys.modules)) if event == "os.posix_spawn" else None
)
import os
os._exit = sys.exit
from thrall_py.__main__ import main
try:
    main()
except SystemExit as ended:
    status = ended.code
import json
print(json.dumps([status, sorted(sys.modules), at_spawn]), file=sys.stderr)
"""

# Counts the instructions of the interpreter, which are the same in every run, until a process is
# started; with click alone, until its command runs.
COUNTING = f"""
import json, sys
sys.path += [{str(ROOT)!r}, {str(SEPARATE)!r}]
count, counted = 0, None
def trace(frame, event, _):
    global count
    frame.f_trace_opcodes, frame.f_trace_lines = True, False
    count += event == "opcode"
    return trace
def see(event, _):
    global counted
    if event in ("os.posix_spawn", "hello"):
        counted = counted or count
sys.addaudithook(see)
sys.settrace(trace)
"""
CALLING = f"""{COUNTING}
import os
os._exit = sys.exit
from thrall_py.__main__ import main
try:
    main()
finally:
    print(counted, file=sys.stderr)
"""
HELLO = f"""{COUNTING}
import click
@click.command()
@click.argument("name")
def hello(name):
    sys.audit("hello")
try:
    hello()
finally:
    print(counted, file=sys.stderr)
"""

LONGEST_WAY = 1.5  # times; 1.46 when it was measured

HEAVY = (
    "PIL", "asyncio", "ctypes", "difflib", "h11", "hashlib", "importlib.metadata", "jsonschema",
    "pathlib", "pickle", "pydantic", "rich", "secrets", "socket", "ssl", "starlette",
    "subprocess", "thrall_py.catalog.change", "thrall_py.catalog.codec",
    "thrall_py.catalog.credentials", "thrall_py.catalog.drift", "thrall_py.catalog.entry",
    "thrall_py.catalog.file", "thrall_py.catalog.machine", "thrall_py.catalog.nearest",
    "thrall_py.catalog.outline", "thrall_py.catalog.schema", "thrall_py.commands.asking",
    "thrall_py.commands.examining", "thrall_py.commands.serving", "thrall_py.commands.shells",
    "thrall_py.gateway", "thrall_py.output.checkup", "thrall_py.output.listing",
    "thrall_py.output.narration", "thrall_py.output.picture", "thrall_py.output.pretty",
    "thrall_py.output.status_line", "thrall_py.output.trace", "thrall_py.protocol.canonical",
    "thrall_py.protocol.elicitation", "thrall_py.protocol.fields",
    "thrall_py.protocol.http_handshake", "thrall_py.protocol.mirror",
    "thrall_py.protocol.watched", "thrall_py.transport.filter", "thrall_py.transport.forking",
    "thrall_py.transport.http",
    "thrall_py.transport.screen", "thrall_py.transport.sse", "thrall_py.transport.workers",
    "thrall_py.verbs.answers", "thrall_py.verbs.check", "thrall_py.verbs.doctor",
    "thrall_py.verbs.execute", "thrall_py.verbs.fitting", "thrall_py.verbs.pin",
    "thrall_py.verbs.reach", "urllib.parse", "urllib.request", "uvicorn", "xml",
)  # fmt: skip


# All of ours that is loaded when the server of a plain call is started. What is added here, every
# call waits for; what can wait is loaded while the server starts.
BEFORE_THE_SPAWN = {
    "__main__", "catalog", "catalog.launch", "cli", "commands", "commands.call", "commands.form",
    "commands.invocation", "commands.watching", "errors", "options", "protocol",
    "protocol.channel", "protocol.jsontext", "protocol.numbers", "protocol.watcher", "redact",
    "transport", "transport.descendants", "transport.endpoint", "transport.environment",
    "transport.interrupts", "transport.process", "transport.spawn", "transport.stdio", "verbs",
    "verbs.arguments", "verbs.connect", "visible",
}  # fmt: skip
# What a pinned tool needs on top of that: its definition, and how its server is started.
FOR_A_PIN = {
    "catalog.change", "catalog.choice", "catalog.codec", "catalog.entry", "catalog.excerpt",
    "catalog.file", "catalog.nearest", "commands.pinned", "protocol.canonical", "protocol.mcp",
    "protocol.wire",
}  # fmt: skip
# And of others, beyond what click loads by itself.
OTHERS_BEFORE_THE_SPAWN = {
    "fcntl", "json", "select", "signal", "termios",
}  # fmt: skip


def loaded(*words):
    """The modules of a run that succeeds."""
    return run(*words)[0]


def run(*words):
    """The modules of a run that succeeds, at its end and when the last server was started."""
    ran = python(PROGRAM, *words)
    status, modules, at_spawn = json.loads(ran.stderr.splitlines()[-1])
    assert status == 0
    return set(modules), set(at_spawn)


def python(program, *words, **options):
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, *words],
        capture_output=True,
        check=True,
        **options,
    )


def public(modules):
    """The names of modules of others, without packages' insides and the interpreter's own."""
    return {name for name in modules if "." not in name and not name.startswith("_")}


def test_a_server_is_started_before_what_reads_its_answer_is_loaded():
    modules, at_spawn = run("call", "echo", "a=1", "--", *command("good"))
    ours = {name.partition(".")[2] for name in at_spawn if name.startswith("thrall_py.")}
    assert ours <= BEFORE_THE_SPAWN | {"verbs.items", "catalog.parameters"}
    assert {"thrall_py.verbs.call", "thrall_py.output.render"} <= modules - at_spawn


def test_a_call_with_its_input_on_stdin_loads_what_is_listed_here_before_the_spawn():
    ran = python(PROGRAM, "call", "echo", "--", *command("good"), input=b"{}")
    at_spawn = json.loads(ran.stderr.splitlines()[-1])[2]
    ours = {name.partition(".")[2] for name in at_spawn if name.startswith("thrall_py.")}
    assert ours == BEFORE_THE_SPAWN


def test_the_server_of_a_pinned_tool_is_started_before_what_compares_and_reads_is_loaded():
    loaded("pin", "c.json", "--", *command("good"))
    ran = python(PROGRAM, "call", "echo", "--catalog", "c.json", input=b"{}")
    _, modules, at_spawn = json.loads(ran.stderr.splitlines()[-1])
    ours = {name.partition(".")[2] for name in at_spawn if name.startswith("thrall_py.")}
    assert ours == BEFORE_THE_SPAWN | FOR_A_PIN
    assert set(modules).isdisjoint({"difflib", "secrets", "thrall_py.catalog.drift"})


def test_a_call_loads_little_more_of_others_than_click_does_before_the_spawn():
    _, at_spawn = run("call", "echo", "a=1", "--", *command("good"))
    only_click = (
        f"import sys; sys.path += [{str(SEPARATE)!r}]; import click, locale; print(*sys.modules)"
    )
    clicks = set(python(only_click).stdout.decode().split())
    assert public(at_spawn - clicks) - {"thrall_py", "gc"} <= OTHERS_BEFORE_THE_SPAWN


def test_the_way_to_the_spawn_is_not_much_longer_than_that_of_the_least_that_click_can_do():
    ran = python(CALLING, "call", "echo", "--", *command("good"), input=b"{}")
    hello = python(HELLO, "you")
    least, ours = (int(each.stderr.split()[-1]) for each in (hello, ran))
    assert ours < LONGEST_WAY * least, ours / least


def test_a_verb_loads_no_other_verb():
    verbs = {f"thrall_py.commands.{verb}" for verb in cli.VERBS}
    modules = loaded("call", "echo", "a=1", "--", *command("good"))
    assert verbs & modules == {"thrall_py.commands.call"}


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
    assert modules.isdisjoint({"ssl", "thrall_py.transport.process", "rich", "asyncio"})


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
