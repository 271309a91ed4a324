"""Official clients on `thrall serve`: both SDKs, before and after 2.0, over stdio and over HTTP."""

import json
import os
import subprocess

import pytest
from real import install
from real.bench import LIMIT, THRALL, server
from serve.running import fixture, pin, serving

pytestmark = pytest.mark.real

MODERN, LEGACY = "2026-07-28", "2025-11-25"
HERE = os.path.dirname(os.path.abspath(__file__))
TEXT = "h\u00e9 \u2028 \U0001f600 \\"
SEEN = {
    "progress": [[1, 4], [2, 4], [3, 4], [4, 4]],
    "echo": TEXT,
    "every": f"Echo: {TEXT}",
    "failed": [True, "This tool intentionally returns an error for testing"],
    "refused": [-32000, "refused on purpose", {"why": "a test"}],
    "asked": 'Elicitation completed: action=accept, content={"response": "an answer"}',
    "prompt": "This is a simple prompt for testing.",
    "resource": "This is the content of the static text resource.",
    "cancelled": "1",
}


def script(name):
    return os.path.join(HERE, "clients", name)


def python(name, *words):
    """A client in the environment of the server on the same SDK."""
    return [os.path.join(install.ROOT, name, "bin", "python"), *words]


def typescript(name, mode):
    return ["node", script("typescript.cjs"), os.path.join(install.ROOT, name), mode]


# The words that start each client, and the revision that it should agree on; the TypeScript SDK
# 1.x does not tell.
CLIENTS = {
    "python-1": (["legacy"], python("legacy", script("python1.py")), LEGACY),
    "python-2": (["modern"], python("modern", script("python2.py"), "auto"), MODERN),
    "python-2-legacy": (["modern"], python("modern", script("python2.py"), "legacy"), LEGACY),
    "typescript-1": (["everything"], typescript("everything", "1"), None),
    "typescript-2": (["typescript-client"], typescript("typescript-client", "auto"), MODERN),
    "typescript-2-legacy": (
        ["typescript-client"],
        typescript("typescript-client", "legacy"),
        LEGACY,
    ),
}


@pytest.fixture(scope="module", params=["legacy", "modern"])
def catalog(request, tmp_path_factory):
    """A catalog with the fixture, in one era, and a real server of the other SDK."""
    path = str(tmp_path_factory.mktemp("serve") / "catalog.json")
    pin(path, "fixture", fixture(request.param))
    return pin(path, "every", server("everything")[1:], "--prefix", "every_")


def run(client, *target):
    needed, words, _ = CLIENTS[client]
    for name in needed:
        if not install.installed(name):
            pytest.skip(f"{name} is not installed (make real)")
    done = subprocess.run(
        [*words, *target], stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check(client, seen):
    assert seen.get("revision") == CLIENTS[client][2]
    assert {"echo", "every_echo", "wait"} <= set(seen["tools"])
    assert {name: seen[name] for name in SEEN} == SEEN


@pytest.mark.parametrize("client", CLIENTS)
def test_an_official_client_on_pipes_sees_all_there_is(catalog, client):
    check(client, run(client, *THRALL, "serve", catalog))


@pytest.mark.parametrize("client", CLIENTS)
def test_an_official_client_over_http_sees_all_there_is(catalog, client):
    with serving(catalog) as gateway:
        check(client, run(client, gateway.url))


def test_a_client_of_one_sdk_and_thrall_itself_agree_on_a_tool(catalog, tmp_path):
    with serving(catalog) as gateway:
        out = subprocess.run(
            [*THRALL, "call", "every_echo", f"message={TEXT}", "--url", gateway.url],
            capture_output=True,
            cwd=tmp_path,
            timeout=LIMIT,
        ).stdout
    assert out.decode() == f"Echo: {TEXT}\n"
