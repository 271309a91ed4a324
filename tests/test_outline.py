import json
import os

import pytest

from thrall_py.catalog import file, outline
from thrall_py.catalog.entry import Entry, pin_item
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.launch import LaunchSpec
from thrall_py.catalog.outline import Outline
from thrall_py.protocol.mcp import ServerInfo

NOTHING = Outline((), {})
TOOL = {"name": "now", "inputSchema": {"properties": {"a": {"enum": [0.5, 1]}}}}


def test_the_names_are_those_that_the_strict_reader_finds():
    entry = Entry(
        LaunchSpec(("s",), {}), ServerInfo("2025-11-25", "s", "1"), {"tools": {"now": pin_item(TOOL)}},
        prefix="clock_",
    )  # fmt: skip
    catalog = Catalog({"clock": entry, "empty": entry._replace(items={})})
    file.write("c.json", file.dumps(catalog))
    names = outline.read("c.json")
    assert names.servers == tuple(catalog.servers)
    assert list(names.tools) == list(entry.offered)
    assert names.tools["clock_now"] == file.read("c.json").servers["clock"].tools["now"].definition


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"5",
        b"[" * 100_000,
        b"1" * 5000,
        b'{"x":' + b"1." + b"1" * 5000 + b"}",
        b'{"servers": []}',
        b'{"thrall": 1}',
    ],
)
def test_what_is_no_catalog_names_nothing(data):
    with open("c.json", "wb") as written:
        written.write(data)
    assert outline.read("c.json") == NOTHING


def test_what_is_odd_in_a_catalog_is_passed_over():
    servers = {
        "a": 5,
        "b": {"tools": []},
        "c": {"prefix": 5, "tools": {"x": None, "y": {"definition": "z"}}},
    }
    with open("c.json", "w", encoding="utf-8") as written:
        json.dump({"servers": servers}, written)
    assert outline.read("c.json") == Outline(("a", "b", "c"), {"x": {}, "y": {}})


def test_only_a_file_is_read_and_only_if_it_is_not_huge(monkeypatch):
    os.mkfifo("pipe.json")
    os.mkdir("folder.json")
    for name in ("pipe.json", "folder.json", "missing.json", "/dev/zero", "a\0b"):
        assert outline.read(name) == NOTHING
    with open("c.json", "w", encoding="utf-8") as written:
        written.write('{"servers": {"a": {}}}')
    assert outline.read("c.json").servers == ("a",)
    monkeypatch.setattr(outline, "_LARGEST", 5)
    assert outline.read("c.json") == NOTHING
