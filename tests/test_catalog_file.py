import copy
import errno
import json
import os
import stat
from pathlib import Path

import pytest

from thrall_py.catalog import file
from thrall_py.catalog.entry import Entry, pin_tool
from thrall_py.catalog.launch import LaunchSpec
from thrall_py.errors import CatalogError
from thrall_py.protocol import mcp
from thrall_py.protocol.numbers import ExactNumber

PLAIN = Entry(LaunchSpec(("server",), {}), mcp.ServerInfo("2025-11-25"), {})
FULL = Entry(
    LaunchSpec(
        ("server", "--x=${Y}", ""), {"B": "${B}", "A": "${A:-é}"}, clean_env=True, cwd="dir"
    ),
    mcp.ServerInfo("2026-07-28", "näme", "1.0", "Say \u202e \ud800 please.\n"),
    {
        "a": pin_tool({"name": "a", "x": [1, ExactNumber("0.5"), None, True, {}], "é": "\x1b"}),
        "b": pin_tool({"name": "b"}),
    },
)
TOOL = {"digest": pin_tool({"name": "t"}).digest, "definition": {"name": "t"}}
SERVER = {"command": ["x"], "protocol": "2025-11-25", "tools": {"t": TOOL}}


def catalog(**changes):
    """A catalog as JSON with one server; `None` takes a member away."""
    server = {**SERVER, **changes}
    server = {name: value for name, value in server.items() if value is not None}
    return json.dumps({"thrall": 1, "servers": {"s": server}}).encode()


def refusal(data):
    with pytest.raises(CatalogError) as refused:
        file.loads(data, "c\x1b.json")
    return str(refused.value)


# -- there and back ----------------------------------------------------------------------------


@pytest.mark.parametrize("content", [{}, {"s": PLAIN}, {"s": FULL, "": PLAIN, "ü\u200b": FULL}])
def test_what_is_written_is_read_again(content):
    text = file.dumps(content)
    assert file.loads(text.encode(), "c") == content
    assert file.dumps(file.loads(text.encode(), "c")) == text


def test_the_text_is_ascii_in_one_order_with_a_final_newline():
    text = file.dumps({"s": FULL, "r": PLAIN})
    assert text.isascii()
    assert text.endswith("\n}\n")
    assert list(json.loads(text)["servers"]) == ["r", "s"]
    assert list(json.loads(text)["servers"]["s"]) == [
        "command", "cwd", "env", "cleanEnv", "protocol", "server", "instructions", "tools"
    ]  # fmt: skip
    assert list(json.loads(text)["servers"]["s"]["env"]) == ["A", "B"]


def test_the_smallest_entry_says_no_more_than_it_must():
    assert file.dumps({"s": PLAIN}) == (
        '{\n  "thrall": 1,\n  "servers": {\n    "s": {\n      "command": [\n        "server"\n'
        '      ],\n      "protocol": "2025-11-25",\n      "server": {\n        "name": "",\n'
        '        "version": ""\n      },\n      "tools": {}\n    }\n  }\n}\n'
    )


@pytest.mark.parametrize("clean", [True, False])
def test_a_clean_environment_is_said_by_a_boolean(clean):
    (entry,) = file.loads(catalog(cleanEnv=clean), "c").values()
    assert entry.launch.clean_env is clean


def test_what_may_be_missing_may_be_missing():
    (entry,) = file.loads(catalog(), "c").values()
    assert entry.launch == LaunchSpec(("x",), {}, clean_env=False, cwd=None)
    assert entry.server == mcp.ServerInfo("2025-11-25")


# -- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not JSON: Expecting value: line 1 column 1 (char 0)"),
        (b"\xff", "not UTF-8 (invalid start byte)"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"thrall":1,"thrall":1}', "not JSON: the name 'thrall' stands twice in one object"),
        (b"[]", 'it has no member "thrall"'),
        (b"{}", 'it has no member "thrall"'),
        (b'{"thrall":1}', 'it should have "thrall" and "servers" and nothing else'),
        (
            b'{"thrall":1,"servers":[]}',
            'it should have "thrall" and "servers" and nothing else',
        ),
        (
            b'{"thrall":1,"servers":{},"x":1}',
            'it should have "thrall" and "servers" and nothing else',
        ),
        (b'{"thrall":1,"servers":{"s":1}}', "a server should be an object"),
        (catalog(x=1), "a server has the unknown member 'x'"),
        (catalog(command=None), 'a server has no "command"'),
        (catalog(command=[]), 'a server has no "command"'),
        (catalog(command="x y"), 'a server has no "command"'),
        (catalog(command=[1]), '"command" should be text'),
        (catalog(command=["\0"]), '"command" holds what no argument can'),
        (catalog(command=["\ud800"]), '"command" holds what no argument can'),
        (catalog(cwd=1), '"cwd" should be text'),
        (catalog(cwd="\0"), '"cwd" holds what no argument can'),
        (catalog(env=[]), '"env" should be an object'),
        (catalog(env={"A": 1}), '"env" should be text'),
        (catalog(env={"": "x"}), '"env" has a name that no variable can have'),
        (catalog(env={"A=B": "x"}), '"env" has a name that no variable can have'),
        (catalog(env={"A\0": "x"}), '"env" holds what no argument can'),
        (catalog(cleanEnv="true"), '"cleanEnv" should be true or false'),
        (catalog(cleanEnv=1), '"cleanEnv" should be true or false'),
        (
            catalog(cleanEnv=1).replace(b'"cleanEnv": 1', b'"cleanEnv": null'),
            '"cleanEnv" should be true or false',
        ),
        (catalog(protocol=None), '"protocol" should be text'),
        (catalog(protocol="2024-01-01"), "it names the unknown protocol '2024-01-01'"),
        (catalog(server=1), '"server" should be an object'),
        (catalog(server={"x": 1}), "\"server\" has the unknown member 'x'"),
        (catalog(server={"name": 1}), '"name" should be text'),
        (catalog(server={"version": 1}), '"version" should be text'),
        (catalog(instructions=1), '"instructions" should be text'),
        (catalog(tools=None), '"tools" should be an object'),
        (catalog(tools={"t": 1}), "the tool 't' should be an object"),
        (catalog(tools={"t": {**TOOL, "y": 1, "x": 1}}), "the tool 't' has the unknown member 'x'"),
        (catalog(tools={"t": {}}), "the definition of 't' should be an object"),
        (catalog(tools={"u": TOOL}), "the definition of 'u' has another name"),
        (catalog(tools={"u\x1b": TOOL}), r"the definition of 'u\x1b' has another name"),
        (
            catalog(tools={"t": {"definition": {"name": "t"}}}),
            "the definition of 't' does not have its digest: it was edited, pin it again",
        ),
        (
            catalog(tools={"t": {**TOOL, "definition": {"name": "t", "title": "new"}}}),
            "the definition of 't' does not have its digest: it was edited, pin it again",
        ),
    ],
)
def test_a_catalog_that_cannot_be_used_is_refused_saying_why(data, why):
    assert refusal(data) == rf"c\x1b.json is no usable catalog: {why}"


def test_a_definition_nested_too_deeply_is_refused():
    deep = f'{{"name":"t","x":{"[" * 250}{"]" * 250}}}'
    data = catalog().decode().replace('{"name": "t"}', deep).encode()
    assert refusal(data) == (r"c\x1b.json is no usable catalog: nested deeper than 200 levels")


@pytest.mark.parametrize("version", [0, 2, "1", True, None, 1.5])
def test_another_format_needs_another_thrall(version):
    data = json.dumps({"thrall": version, "servers": {}}).encode()
    assert refusal(data) == r"c\x1b.json is of another format than 1: it needs another thrall"


# -- reading -----------------------------------------------------------------------------------


def test_a_file_is_read_whole_and_checked():
    Path("c.json").write_bytes(catalog())
    assert list(file.read("c.json")["s"].tools) == ["t"]


@pytest.mark.parametrize(
    ("path", "why"), [("no\x1bne", "No such file or directory"), (".", "Is a directory")]
)
def test_a_file_that_cannot_be_read_is_told_of(path, why):
    with pytest.raises(CatalogError) as refused:
        file.read(path)
    assert str(refused.value) == "cannot read {}: {}".format(path.replace("\x1b", r"\x1b"), why)


def test_the_entry_that_offers_a_tool_is_found():
    assert file.entry_offering({"r": PLAIN, "s": FULL}, "a") is FULL


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({}, "the catalog does not have this tool"),
        ({"s": PLAIN}, "the catalog does not have this tool"),
        ({"s": FULL, "t\x1b": FULL}, r"several servers have this tool: s, t\x1b"),
    ],
)
def test_a_tool_that_not_exactly_one_server_offers_is_refused(content, sentence):
    with pytest.raises(CatalogError) as refused:
        file.entry_offering(content, "a")
    assert str(refused.value) == sentence


# -- before writing ----------------------------------------------------------------------------


def test_what_is_not_there_yet_is_an_empty_catalog():
    assert file.read_for_update("new.json") == {}
    Path("empty.json").touch()
    assert file.read_for_update("empty.json") == {}
    assert file.read_for_update("-") == {}
    os.symlink("to-be", "link.json")
    assert file.read_for_update("link.json") == {}


def test_what_is_there_is_read():
    Path("c.json").write_text(file.dumps({"s": FULL}))
    assert file.read_for_update("c.json") == {"s": FULL}


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("no\x1bne/c.json", r"cannot write no\x1bne/c.json: there is no directory {}/no\x1bne"),
        (".", "cannot write .: it is not a file"),
        ("/dev/null", "cannot write /dev/null: it is not a file"),
        (
            "words",
            "words is no usable catalog: not JSON: Expecting value: line 1 column 1 (char 0)",
        ),
    ],
)
def test_what_cannot_be_replaced_is_refused_early(path, sentence):
    Path("words").write_text("words")
    with pytest.raises(CatalogError) as refused:
        file.read_for_update(path)
    assert str(refused.value) == sentence.format(os.getcwd())


def test_a_directory_that_takes_no_file_is_refused_early(monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(CatalogError, match="^cannot write c: the directory does not allow it$"):
        file.read_for_update("c")


@pytest.mark.parametrize("step", [file.read_for_update, lambda path: file.write(path, "text")])
def test_a_working_directory_that_is_gone_is_told_of(step):
    os.mkdir("gone")
    os.chdir("gone")
    os.rmdir("../gone")
    with pytest.raises(CatalogError, match="^cannot write c: No such file or directory$"):
        step("c")


# -- writing -----------------------------------------------------------------------------------


def test_a_new_file_has_the_mode_that_the_user_gives_to_files():
    previous = os.umask(0o027)
    try:
        file.write("c.json", "text\n")
    finally:
        os.umask(previous)
    assert Path("c.json").read_text() == "text\n"
    assert stat.S_IMODE(os.stat("c.json").st_mode) == 0o640
    assert os.listdir() == ["c.json"]


def test_the_mode_of_the_old_file_is_kept():
    Path("c.json").write_text("old")
    os.chmod("c.json", 0o604)
    file.write("c.json", "new")
    assert Path("c.json").read_text() == "new"
    assert stat.S_IMODE(os.stat("c.json").st_mode) == 0o604


def test_a_symbolic_link_stays_one_and_its_target_is_written():
    os.mkdir("dir")
    Path("dir/real.json").write_text("old")
    os.symlink("dir/real.json", "link.json")
    file.write("link.json", "new")
    assert os.readlink("link.json") == "dir/real.json"
    assert Path("dir/real.json").read_text() == "new"
    assert os.listdir("dir") == ["real.json"]


def fail(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("step", ["open", "fchmod", "fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_no_other(monkeypatch, step):
    Path("c.json").write_text("old")
    with monkeypatch.context() as broken:
        broken.setattr(os, step, fail)
        with pytest.raises(CatalogError) as refused:
            file.write("c.json", "new")
    assert str(refused.value) == "cannot write c.json: No space left on device"
    assert os.listdir() == ["c.json"]
    assert Path("c.json").read_text() == "old"


def test_the_old_file_is_there_until_the_new_one_is_whole(monkeypatch):
    Path("c.json").write_text("old")
    seen = []

    def replace(source, target):
        seen.append((Path(target).read_text(), Path(source).read_text(), os.path.dirname(source)))

    monkeypatch.setattr(os, "replace", replace)
    file.write("c.json", "new")
    assert seen == [("old", "new", os.path.realpath("."))]


def test_reading_changes_nothing():
    content = {"s": copy.deepcopy(FULL)}
    file.dumps(content)
    assert content == {"s": FULL}
