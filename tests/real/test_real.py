"""thrall against real servers: the reference ones and two on the official Python SDK."""

import base64
import json
import os
import re
import time
from typing import NamedTuple

import pytest
from real.bench import Bench, group, server
from real.samples import PNG

pytestmark = pytest.mark.real

MODERN, LEGACY = "2026-07-28", "2025-11-25"
SDK_SERVERS = ("modern", "legacy")
# Characters that a careless program would split a line at, escape or lose.
TEXT = 'h\u00e9 \u2028 \u0085 \U0001f600 \\ " \t/ e\u0301'


class Example(NamedTuple):
    """One call of each server; WORK and SITE stand for the test's own directory and web site."""

    protocol: str
    tool: str
    arguments: dict
    answer: str  # in what is printed
    words: tuple = ()  # after the server's program
    env: tuple = ()  # name and value
    unknown_tool: int = 1  # a tool error for some servers, a JSON-RPC error for others


THOUGHT = {
    "thought": "Think.",
    "nextThoughtNeeded": False,
    "thoughtNumber": 1,
    "totalThoughts": 1,
}
NOON_IN_TOKYO = {"source_timezone": "UTC", "time": "03:00", "target_timezone": "Asia/Tokyo"}

EXAMPLES = {
    "time": Example(MODERN, "convert_time", NOON_IN_TOKYO, "T12:00:00+09:00", unknown_tool=5),
    "git": Example(MODERN, "git_status", {"repo_path": "WORK"}, "\n\tnote.txt\n", unknown_tool=5),
    "fetch": Example(
        MODERN,
        "fetch",
        {"url": "SITE/page.txt"},
        "Contents of SITE/page.txt:\nWhat the page says.\n",
        words=("--allow-private-ips",),
        unknown_tool=5,
    ),
    "everything": Example(LEGACY, "echo", {"message": TEXT}, f"Echo: {TEXT}\n"),
    "filesystem": Example(
        LEGACY, "read_text_file", {"path": "WORK/note.txt"}, "noted\n", words=("WORK",)
    ),
    "memory": Example(
        LEGACY, "read_graph", {}, '"Ada"', env=("MEMORY_FILE_PATH", "WORK/memory.jsonl")
    ),
    "sequential-thinking": Example(
        LEGACY, "sequentialthinking", THOUGHT, '"thoughtHistoryLength": 1'
    ),
    "modern": Example(MODERN, "add", {"a": 2, "b": 3}, "5\n"),
    "legacy": Example(LEGACY, "add", {"a": 2, "b": 3}, "5\n"),
}


class Pinned(NamedTuple):
    name: str
    bench: Bench
    example: Example
    command: list
    env: dict


@pytest.fixture(scope="module", params=EXAMPLES)
def pinned(request, tmp_path_factory, site):
    """A server with a catalog that pins it."""
    name = request.param
    bench = Bench(tmp_path_factory.mktemp(name))
    bench.repository()
    with open(bench.path("note.txt"), "w", encoding="utf-8") as f:
        f.write("noted")
    with open(bench.path("memory.jsonl"), "w", encoding="utf-8") as f:
        f.write('{"type":"entity","name":"Ada","entityType":"person","observations":[]}\n')
    example = EXAMPLES[name]
    filled = json.dumps(example).replace("WORK", bench.work).replace("SITE", site.url)
    example = Example(*json.loads(filled))
    env = dict([example.env]) if example.env else {}
    command = server(name, *example.words)
    run = bench.run("pin", bench.catalog, *set_by(env), *command)
    assert run.status == 0, run
    return Pinned(name, bench, example, command, env)


def set_by(env):
    return [word for item in env.items() for word in ("--env", "=".join(item))]


def the_file_in(folder):
    """The name and the content of the only file there."""
    (name,) = os.listdir(folder)
    with open(os.path.join(folder, name), "rb") as f:
        return name, f.read()


# ===== every server =============================================================


def test_a_catalog_names_the_command_the_protocol_and_the_tools(pinned):
    entry = pinned.bench.pinned()
    assert entry["command"] == pinned.command[1:]
    assert entry["protocol"] == pinned.example.protocol
    definition = entry["tools"][pinned.example.tool]["definition"]
    assert definition["name"] == pinned.example.tool
    assert definition["inputSchema"]["type"] == "object"


def test_a_value_given_with_env_is_not_in_the_catalog(pinned):
    assert pinned.bench.pinned().get("env", {}) == {name: f"${{{name}}}" for name in pinned.env}


def test_pinning_again_writes_the_same_bytes(pinned, tmp_path):
    again = str(tmp_path / "catalog.json")
    run = pinned.bench.run("pin", again, *set_by(pinned.env), *pinned.command)
    assert run.status == 0, run
    with open(pinned.bench.catalog, "rb") as first, open(again, "rb") as second:
        assert first.read() == second.read()


def test_a_check_finds_no_drift(pinned):
    run = pinned.bench.run("check", pinned.bench.catalog, env=pinned.env)
    assert run.status == 0, run


def test_a_tool_is_called_by_the_catalog(pinned):
    example = pinned.example
    words = ["--catalog", pinned.bench.catalog]
    run = pinned.bench.call(example.tool, example.arguments, *words, env=pinned.env)
    assert run.status == 0, run
    assert example.answer in run.out


def test_a_tool_is_called_by_the_command(pinned):
    example = pinned.example
    words = [*set_by(pinned.env), *pinned.command]
    run = pinned.bench.call(example.tool, example.arguments, *words)
    assert run.status == 0, run
    assert example.answer in run.out


def test_the_era_can_be_fixed(pinned):
    example = pinned.example
    words = ["--protocol", example.protocol, *set_by(pinned.env), *pinned.command]
    run = pinned.bench.call(example.tool, example.arguments, *words)
    assert run.status == 0, run
    assert example.answer in run.out


def test_json_is_the_whole_result_on_one_line(pinned):
    example = pinned.example
    words = ["--json", *set_by(pinned.env), *pinned.command]
    run = pinned.bench.call(example.tool, example.arguments, *words)
    assert run.status == 0, run
    assert run.out.count("\n") == 1
    assert run.out.endswith("\n")
    result = json.loads(run.out)
    assert example.answer.rstrip("\n") in result["content"][0]["text"]
    assert ("resultType" in result) == (example.protocol == MODERN)


def test_an_unknown_tool_is_the_servers_to_refuse(pinned):
    words = [*set_by(pinned.env), *pinned.command]
    run = pinned.bench.call("no-such-tool", {}, *words)
    assert run.status == pinned.example.unknown_tool, run
    if run.status == 1:
        assert "no-such-tool" in run.out
    else:
        assert run.out == ""
        assert "-32602" in run.sentence("no-such-tool")
        assert "no-such-tool" in run.sentence("no-such-tool").partition("-32602")[2]


def test_an_unknown_tool_is_not_in_the_catalog(pinned):
    words = ["--catalog", pinned.bench.catalog]
    run = pinned.bench.call("no-such-tool", {}, *words, env=pinned.env)
    assert run.status == 3, run
    assert run.out == ""
    assert run.sentence("no-such-tool")


def test_the_other_era_is_refused_or_spoken(pinned):
    example = pinned.example
    other = LEGACY if example.protocol == MODERN else MODERN
    words = ["--protocol", other, *set_by(pinned.env), *pinned.command]
    run = pinned.bench.call(example.tool, example.arguments, *words)
    if other == LEGACY:  # the SDK from 2.0 on serves both
        assert run.status == 0, run
        assert example.answer in run.out
    else:
        assert run.status == 4, run
        assert run.out == ""
        assert run.sentence(example.tool)


# ===== time, git, fetch =========================================================


def test_time_refuses_a_zone_that_there_is_not(bench):
    arguments = NOON_IN_TOKYO | {"target_timezone": "Asia/Nowhere"}
    run = bench.call("convert_time", arguments, *server("time"))
    assert run.status == 1, run
    assert "Asia/Nowhere" in run.out


def test_git_works_on_the_repository_it_is_told(bench):
    bench.repository()
    with open(bench.path("new.txt"), "w", encoding="utf-8") as f:
        f.write("new")
    command = server("git", "--repository", bench.work)
    # As in a git hook, where these name the repository of the commit.
    hook = {"GIT_DIR": bench.path("nowhere"), "GIT_INDEX_FILE": bench.path("no-index")}
    words = ["git_add", f"repo_path={bench.work}", 'files:=["new.txt"]', *command]
    assert bench.run("call", *words, env=hook).status == 0
    run = bench.call("git_status", {"repo_path": bench.work}, *command, env=hook)
    assert run.status == 0, run
    assert run.out.startswith("Repository status:\nOn branch main\n")
    assert "new file:   new.txt" in run.out
    assert not os.path.exists(bench.path("no-index"))


def test_git_refuses_a_directory_without_a_repository(bench):
    run = bench.call("git_status", {"repo_path": bench.home}, *server("git"))
    assert run.status == 1, run
    assert bench.home in run.out


def test_fetch_obeys_robots_txt(bench, site):
    words = server("fetch", "--allow-private-ips")
    run = bench.run("call", "fetch", f"url={site.url}/private/page.txt", *words)
    assert run.status == 1, run
    assert "robots.txt" in run.out
    assert "/private/page.txt" not in site.asked_for


def test_fetch_can_be_told_to_ignore_robots_txt(bench, site):
    words = server("fetch", "--allow-private-ips", "--ignore-robots-txt")
    run = bench.run("call", "fetch", f"url={site.url}/private/page.txt", "raw:=true", *words)
    assert run.status == 0, run
    assert "What no robot reads." in run.out


def test_fetch_keeps_off_the_loopback_interface_by_default(bench, site):
    run = bench.run("call", "fetch", f"url={site.url}/page.txt", *server("fetch"))
    assert run.status == 1, run
    assert "127.0.0.1" in run.out


# ===== everything ===============================================================


def test_everything_adds(bench):
    run = bench.run("call", "get-sum", "a:=2", "b:=3.5", *server("everything"))
    assert (run.status, run.out) == (0, "The sum of 2 and 3.5 is 5.5.\n"), run


def test_everything_refuses_arguments_of_another_type(bench):
    run = bench.call("get-sum", {"a": "two"}, *server("everything"))
    assert run.status == 1, run
    assert "get-sum" in run.out


def test_everything_answers_with_a_picture(bench):
    command = server("everything")
    result = json.loads(bench.call("get-tiny-image", {}, "--json", *command).out)
    (picture,) = [part for part in result["content"] if part["type"] == "image"]
    content = base64.b64decode(picture["data"])
    run = bench.call("get-tiny-image", {}, "--save", bench.folder("saved"), *command)
    assert run.status == 0, run
    name, saved = the_file_in(bench.path("saved"))
    assert saved == content
    before, line, after = run.out.splitlines()
    assert [before, after] == [part["text"] for part in result["content"] if "text" in part]
    for word in ("image/png", str(len(content)), name):
        assert word in line


def test_everything_answers_with_an_embedded_resource(bench):
    arguments = {"resourceType": "Blob", "resourceId": 1}
    words = ["--save", bench.folder("saved"), *server("everything")]
    run = bench.call("get-resource-reference", arguments, *words)
    assert run.status == 0, run
    name, saved = the_file_in(bench.path("saved"))
    assert saved.startswith(b"Resource 1: This is a base64 blob created at ")
    assert name in run.out.splitlines()[1]


def test_everything_answers_with_links(bench):
    run = bench.call("get-resource-links", {"count": 3}, *server("everything"))
    assert run.status == 0, run
    lines = run.out.splitlines()
    assert len([line for line in lines if "demo://resource/" in line]) == 3, run.out


def test_everything_answers_with_structured_content(bench):
    words = ["get-structured-content", "location=Chicago", "--json", *server("everything")]
    run = bench.run("call", *words)
    assert run.status == 0, run
    result = json.loads(run.out)
    assert result["structuredContent"]["temperature"] == 36
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


def test_everything_reports_progress_before_its_answer(bench):
    arguments = {"duration": 1, "steps": 5}
    run = bench.call("trigger-long-running-operation", arguments, *server("everything"))
    expected = "Long running operation completed. Duration: 1 seconds, Steps: 5.\n"
    assert (run.status, run.out) == (0, expected), run


def test_everything_offers_no_tool_that_would_ask_back(bench):
    assert bench.run("pin", bench.catalog, *server("everything")).status == 0
    tools = bench.pinned()["tools"]
    assert "echo" in tools
    asking = ("roots", "sampling", "elicitation")
    assert [name for name in tools if any(word in name for word in asking)] == []


def test_everything_is_ended_when_it_stays_after_the_end_of_input(bench):
    # The timer that this tool starts keeps the server alive.
    words = ["--grace", "0.5", *server("everything")]
    run = bench.call("toggle-simulated-logging", {}, *words)
    assert run.status == 0, run
    assert "Started" in run.out


def test_everything_sees_the_environment_it_is_given(bench):
    words = ["--env", "COLOUR=red", "--env", "FRUIT", *server("everything")]
    seen = json.loads(bench.call("get-env", {}, *words, env={"FRUIT": "fig", "GIT_DIR": "x"}).out)
    assert (seen["COLOUR"], seen["FRUIT"], seen["HOME"]) == ("red", "fig", bench.home)
    assert "GIT_DIR" not in seen


# ===== filesystem, memory =======================================================


def test_filesystem_writes_and_reads(bench):
    command = server("filesystem", bench.work)
    arguments = {"path": bench.path("new.txt"), "content": TEXT}
    assert bench.call("write_file", arguments, *command).status == 0
    with open(bench.path("new.txt"), encoding="utf-8", newline="") as f:
        assert f.read() == TEXT
    run = bench.run("call", "read_text_file", f"path={bench.path('new.txt')}", *command)
    assert (run.status, run.out) == (0, TEXT + "\n"), run


def test_filesystem_writes_what_stands_in_a_file(bench):
    with open(bench.path("source.txt"), "w", encoding="utf-8", newline="") as f:
        f.write(TEXT * 1000)
    words = [f"path={bench.path('copy.txt')}", "content=@source.txt"]
    run = bench.run("call", "write_file", *words, *server("filesystem", bench.work))
    assert run.status == 0, run
    with open(bench.path("copy.txt"), encoding="utf-8", newline="") as f:
        assert f.read() == TEXT * 1000


def test_filesystem_reads_a_picture(bench):
    with open(bench.path("pixel.png"), "wb") as f:
        f.write(PNG)
    words = ["--save", bench.folder("saved"), *server("filesystem", bench.work)]
    run = bench.call("read_media_file", {"path": bench.path("pixel.png")}, *words)
    assert run.status == 0, run
    name, saved = the_file_in(bench.path("saved"))
    assert name in run.out
    assert saved == PNG


def test_filesystem_refuses_a_path_outside(bench):
    arguments = {"path": os.path.join(bench.home, "note.txt")}
    run = bench.call("read_text_file", arguments, *server("filesystem", bench.work))
    assert run.status == 1, run
    assert "denied" in run.out


def test_filesystem_starts_in_the_directory_that_is_given(bench):
    words = ["--cwd", bench.folder("inside"), *server("filesystem", ".")]
    run = bench.call("list_allowed_directories", {}, *words)
    assert run.status == 0, run
    assert bench.path("inside") in run.out.splitlines()


def test_memory_remembers_from_one_process_to_the_next(bench):
    words = ["--env", f"MEMORY_FILE_PATH={bench.path('memory.jsonl')}", *server("memory")]
    ada = {"name": "Ada", "entityType": "person", "observations": ["wrote a program"]}
    assert bench.call("create_entities", {"entities": [ada]}, *words).status == 0
    run = bench.call("read_graph", {}, "--json", *words)
    assert run.status == 0, run
    graph = json.loads(run.out)["structuredContent"]
    assert graph == {"entities": [ada], "relations": []}
    assert os.path.exists(bench.path("memory.jsonl"))


# ===== servers on the Python SDK ================================================


@pytest.fixture(params=SDK_SERVERS)
def sdk(request):
    return server(request.param)


def test_sdk_echo_is_the_text_again(bench, sdk):
    run = bench.call("echo", {"text": TEXT}, *sdk)
    assert (run.status, run.out) == (0, TEXT + "\n"), run


def test_sdk_a_failed_tool_is_status_1(bench, sdk):
    run = bench.call("fail", {}, *sdk)
    assert (run.status, run.out) == (1, "Error executing tool fail: failed as asked\n"), run


def test_sdk_wrong_arguments_are_status_1(bench, sdk):
    run = bench.call("add", {"a": "two", "b": 3}, *sdk)
    assert run.status == 1, run
    assert "valid integer" in run.out


def test_sdk_a_picture_is_one_line_and_a_file(bench, sdk):
    run = bench.call("image", {}, *sdk)
    assert run.status == 0, run
    assert run.out.count("\n") == 1
    for word in ("image", "image/png", str(len(PNG))):
        assert word in run.out
    run = bench.call("image", {}, "--save", bench.folder("saved"), *sdk)
    name, saved = the_file_in(bench.path("saved"))
    assert name in run.out
    assert saved == PNG


def test_sdk_parts_keep_their_order(bench, sdk):
    run = bench.call("several", {}, *sdk)
    assert run.status == 0, run
    before, line, after = run.out.splitlines()
    assert (before, after) == ("before", "after")
    assert "image/png" in line


def test_sdk_a_structured_result(bench, sdk):
    run = bench.call("weather", {"city": "Oslo"}, *sdk)
    assert run.status == 0, run
    assert json.loads(run.out) == {"city": "Oslo", "degrees": 21}
    run = bench.call("weather", {"city": "Oslo"}, "--json", *sdk)
    assert json.loads(run.out)["structuredContent"] == {"city": "Oslo", "degrees": 21}


def test_sdk_a_structured_result_without_text(bench, sdk):
    run = bench.call("only_structured", {}, *sdk)
    assert run.status == 0, run
    assert re.fullmatch(r'\{"answer": ?42\}\n', run.out)


def test_sdk_a_slow_tool_is_waited_for(bench, sdk):
    run = bench.call("slow", {"seconds": 1}, *sdk)
    assert (run.status, run.out) == (0, "slept 1 s\n"), run


def test_sdk_a_tool_that_is_too_slow_is_given_up(bench, sdk):
    run = bench.call("slow", {"seconds": 60}, "--timeout", "1", *sdk)
    assert run.status == 124, run
    assert run.out == ""
    assert "may have run" in run.sentence("slow")
    assert run.seconds < 30


def test_sdk_a_server_leads_a_group_and_a_session_that_are_empty_afterwards(bench, sdk):
    run = bench.call("whoami", {}, *sdk)
    assert run.status == 0, run
    seen = json.loads(run.out)
    assert seen["pid"] == seen["group"] == seen["session"]
    assert group(seen["group"]) == []


def test_sdk_a_changed_tool_is_drift(bench, sdk):
    changed = {"ADD_SAYS": "The difference of two integers."}
    assert bench.run("pin", bench.catalog, *sdk).status == 0
    run = bench.run("check", bench.catalog, env=changed)
    assert run.status == 1, run
    assert "add" in run.out
    run = bench.call("add", {"a": 2, "b": 3}, "--catalog", bench.catalog, env=changed)
    assert (run.status, run.out) == (6, ""), run
    assert run.sentence("add")
    run = bench.call("echo", {"text": "hi"}, "--catalog", bench.catalog, env=changed)
    assert (run.status, run.out) == (0, "hi\n"), run


def test_modern_a_question_back_is_status_7(bench):
    run = bench.call("ask", {}, *server("modern"))
    assert (run.status, run.out) == (7, ""), run
    assert run.sentence("ask")


def test_legacy_a_question_back_is_refused_at_once(bench):
    started = time.monotonic()
    run = bench.call("ask", {}, *server("legacy"))
    assert run.status == 0, run
    assert run.out.startswith("refused: ")
    assert time.monotonic() - started < 30


def test_legacy_a_pinned_era_is_not_probed_again(bench):
    command = server("legacy")
    complaint = "Failed to validate request"  # what this SDK says of a probe
    assert complaint in bench.run("pin", bench.catalog, *command).err
    run = bench.call("add", {"a": 2, "b": 3}, "--catalog", bench.catalog)
    assert (run.status, run.out) == (0, "5\n"), run
    assert complaint not in run.err
