"""The JSON Schema of a catalog accepts what the reader accepts, and refuses what it refuses."""

import copy
import json
from pathlib import Path

import jsonschema_rs
import pytest
from servers import TOOLS

import thrall_py
from thrall_py.catalog import codec, entry, file
from thrall_py.catalog.change import FAILING
from thrall_py.catalog.choice import Choice
from thrall_py.catalog.entry import Entry, command_entry, pin_item
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.launch import ExecSpec, LaunchSpec, UrlSpec
from thrall_py.errors import CatalogError
from thrall_py.protocol import mcp

SCHEMA = json.loads(
    (Path(thrall_py.__file__).parent / "catalog" / "catalog.schema.json").read_text()
)
SERVER = SCHEMA["$defs"]["server"]["properties"]
VALIDATOR = jsonschema_rs.validator_for(SCHEMA)

LAUNCH = LaunchSpec(("x", "${A:-b}"), {"A": "${A}"}, clean_env=True, cwd="/tmp")
ITEMS = {"tools": {tool["name"]: pin_item(tool) for tool in TOOLS}}
ABOUT = mcp.ServerInfo("2025-11-25", "x", "1", "Do.")
WHOLE = Entry(LAUNCH, ABOUT, ITEMS, prefix="p_", choice=Choice(("*",), ("z*",)))
REACHED = WHOLE._replace(launch=UrlSpec("https://h/${A}", {"Authorization": "Bearer ${T}"}))
COMMAND = command_entry(ExecSpec(LAUNCH), ITEMS["tools"], "c_")
CATALOG = json.loads(
    file.dumps(Catalog({"x": WHOLE, "u": REACHED._replace(prefix="u_"), "c": COMMAND}, FAILING))
)


def read(content):
    return file.loads(json.dumps(content).encode(), "c.json")


@pytest.mark.parametrize("surface", [entry.SURFACE, ("tools",), ("instructions", "tools")])
def test_what_is_written_fits(surface):
    written = json.loads(file.dumps(Catalog({"x": WHOLE._replace(surface=surface), "y": WHOLE})))
    assert list(VALIDATOR.iter_errors(written)) == []
    reached = json.loads(file.dumps(Catalog({"u": REACHED._replace(surface=surface)})))
    assert list(VALIDATOR.iter_errors(reached)) == []
    assert read(reached).servers["u"].launch == REACHED.launch
    assert read(written).servers["x"].surface == surface


def test_a_plain_command_fits():
    assert list(VALIDATOR.iter_errors(CATALOG)) == []
    bare = command_entry(ExecSpec(LaunchSpec(("x",), {})), ITEMS["tools"])
    assert list(VALIDATOR.iter_errors(json.loads(file.dumps(Catalog({"b": bare}))))) == []


def test_it_describes_every_member_and_names_every_word():
    assert tuple(SERVER) == codec.ENTRY_MEMBERS
    assert SERVER["protocol"]["enum"] == list(mcp.REVISIONS)
    assert SERVER["surface"]["items"]["enum"] == list(entry.SURFACE)
    allow = SCHEMA["properties"]["policy"]["properties"]["allow"]
    assert allow["items"]["enum"] == list(FAILING)


def removed(*path):
    def change(content):
        holder = content
        for step in path[:-1]:
            holder = holder[step]
        del holder[path[-1]]

    return change


def put(value, *path):
    def change(content):
        holder = content
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = value

    return change


X, U, C = ("servers", "x"), ("servers", "u"), ("servers", "c")


SERVERS_ONLY = [name for name in CATALOG["servers"]["x"] if name not in codec.EXEC_MEMBERS]


@pytest.mark.parametrize(
    "change",
    [
        removed("thrall"),
        removed("servers"),
        put(2, "thrall"),
        put(1, "more"),
        put({"allow": ["cosmetic"]}, "policy"),
        put({"allow": ["text", "text"]}, "policy"),
        put({"deny": []}, "policy"),
        put([], "servers"),
        put(1, *X, "more"),
        removed(*X, "command"),
        put([], *X, "command"),
        put(["a\0b"], *X, "command"),
        put([1], *X, "command"),
        put("http://h/", *X, "url"),
        put({}, *X, "headers"),
        removed(*U, "url"),
        put(1, *U, "url"),
        put("a\0b", *U, "url"),
        put([], *U, "headers"),
        put({"A": 1}, *U, "headers"),
        put({"A": "\0"}, *U, "headers"),
        put({"\0": ""}, *U, "headers"),
        put(["x"], *U, "command"),
        put("d", *U, "cwd"),
        put({}, *U, "env"),
        put(True, *U, "cleanEnv"),
        put("server", *C, "kind"),
        put("exec", *X, "kind"),
        removed(*C, "kind"),
        removed(*C, "command"),
        removed(*C, "tools"),
        put({}, *C, "tools"),
        *(put(CATALOG["servers"]["x"][member], *C, member) for member in SERVERS_ONLY),
        put("http://h/", *C, "url"),
        put({}, *C, "headers"),
        put(1, *X, "cwd"),
        put({"a=b": ""}, *X, "env"),
        put({"": ""}, *X, "env"),
        put({"a": 1}, *X, "env"),
        put("yes", *X, "cleanEnv"),
        put(1, *X, "prefix"),
        put("a", *X, "only"),
        put([1], *X, "except"),
        removed(*X, "protocol"),
        put("2023-01-01", *X, "protocol"),
        put({"roots": {}}, *X, "clientCapabilities"),
        put({"elicitation": {}}, *X, "clientCapabilities"),
        put({"elicitation": {"form": 1}}, *X, "clientCapabilities"),
        put({"elicitation": {"other": {}}}, *X, "clientCapabilities"),
        removed(*X, "surface"),
        put(["tools", "other"], *X, "surface"),
        put(["tools"], *X, "surface"),
        put({"name": 1}, *X, "server"),
        put({"title": "a"}, *X, "server"),
        put(1, *X, "instructions"),
        removed(*X, "tools"),
        removed(*X, "prompts"),
        removed(*X, "tools", "echo", "digest"),
        removed(*X, "tools", "echo", "definition"),
        put("sha256:0", *X, "tools", "echo", "digest"),
        put([], *X, "tools", "echo", "definition"),
        put(1, *X, "tools", "echo", "more"),
    ],
)
def test_what_the_reader_refuses_does_not_fit(change):
    content = copy.deepcopy(CATALOG)
    change(content)
    with pytest.raises(CatalogError):
        read(content)
    assert not VALIDATOR.is_valid(content)
