"""Seven real servers in one catalog, from a configuration file; then one of them is upgraded."""

import json
import os

import pytest
from real.bench import Bench
from real.install import command

pytestmark = pytest.mark.real

UPGRADED = "sequential-thinking"
SEVEN = ("time", "git", "fetch", "everything", "filesystem", "memory", UPGRADED)
INPUT = "inputSchema/properties"
# Read by hand in both releases of the server, 2025.7.1 and 2026.8.31.
UPGRADE = {
    "annotations/destructiveHint": "behaviour",
    "annotations/idempotentHint": "behaviour",
    "annotations/openWorldHint": "behaviour",
    "annotations/readOnlyHint": "behaviour",
    "description": "text",
    "execution": "behaviour",
    "inputSchema/$schema": "breaking",
    f"{INPUT}/branchFromThought/maximum": "breaking",
    f"{INPUT}/isRevision/type": "additive",
    f"{INPUT}/needsMoreThoughts/type": "additive",
    f"{INPUT}/nextThoughtNeeded/type": "additive",
    f"{INPUT}/revisesThought/maximum": "breaking",
    f"{INPUT}/thoughtNumber/description": "text",
    f"{INPUT}/thoughtNumber/maximum": "breaking",
    f"{INPUT}/totalThoughts/description": "text",
    f"{INPUT}/totalThoughts/maximum": "breaking",
    "outputSchema": "additive",
    "title": "text",
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """A catalog of the seven, with an old release of one behind a link that can be moved."""
    bench = Bench(tmp_path_factory.mktemp("seven"))
    link(bench, f"{UPGRADED}-before")
    servers = {name: {"command": command(name)[0]} for name in SEVEN}
    servers[UPGRADED] = {"command": bench.path(UPGRADED)}
    servers["filesystem"]["args"] = [bench.work]
    servers["memory"]["env"] = {"MEMORY_FILE_PATH": bench.path("memory.jsonl")}
    with open(bench.path(".mcp.json"), "w", encoding="utf-8") as file:
        json.dump({"mcpServers": servers}, file)
    pinned = bench.run("pin", bench.catalog, "--from", bench.path(".mcp.json"))
    assert pinned.status == 0, pinned.err
    return bench


def link(bench, name):
    path = bench.path(UPGRADED)
    if os.path.lexists(path):
        os.unlink(path)
    os.symlink(command(name)[0], path)


def tool(bench):
    with open(bench.catalog, encoding="ascii") as file:
        return json.load(file)["servers"][UPGRADED]["tools"]["sequentialthinking"]["definition"]


def at(value, path):
    for step in path.split("/"):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def test_nothing_has_changed_five_times(bench):
    for _ in range(5):
        checked = bench.run("check", bench.catalog)
        assert checked.status == 0
        assert checked.out == "".join(f"{name}: as pinned\n" for name in sorted(SEVEN))


def test_the_report_of_an_upgrade_is_right_line_by_line(bench):
    before = tool(bench)
    link(bench, UPGRADED)
    checked = bench.run("check", bench.catalog, "--format", "json")
    assert checked.status == 1
    differences = json.loads(checked.out)["differences"]
    assert {(each["server"], each["tool"]) for each in differences} == {
        (UPGRADED, "sequentialthinking")
    }
    assert {each["path"]: each["class"] for each in differences} == UPGRADE
    assert len(differences) == len(UPGRADE)
    refused = bench.call("sequentialthinking", {}, "--catalog", bench.catalog)
    assert (refused.status, refused.out) == (6, "")
    updated = bench.run("pin", bench.catalog, "--update", UPGRADED, "--yes")
    assert updated.status == 0
    text = bench.run("check", bench.catalog)
    assert (text.status, len(text.out.splitlines())) == (0, len(SEVEN))
    after = tool(bench)
    for each in differences:
        assert at(before, each["path"]) == each["before"]
        assert at(after, each["path"]) == each["after"]
    lines = updated.out.splitlines()
    heading, *places = [line for line in lines if not line.startswith("    ")]
    counts = "18 differences (5 breaking, 4 text, 5 behaviour, 4 additive)"
    assert heading == f"sequential-thinking: {counts}"
    assert sorted(places) == sorted(
        f"  sequentialthinking: {path}: {kind}, {'changed' if at(before, path) else 'added'}"
        for path, kind in UPGRADE.items()
    )
