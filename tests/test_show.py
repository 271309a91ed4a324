"""`thrall show`: what it prints, and that the exports work for those they are made for."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from servers import command

from thrall_py import cli
from thrall_py.catalog import file, formats
from thrall_py.catalog.entry import Entry, pin_item
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.launch import LaunchSpec, UrlSpec
from thrall_py.output import usage
from thrall_py.protocol.mcp import ServerInfo

GREET = {
    "name": "greet",
    "title": "Greeter",
    "description": "Greets somebody.\nPolitely.",
    "annotations": {"readOnlyHint": True},
    "inputSchema": {
        "type": "object",
        "properties": {
            "who": {"type": "string", "description": "A name.\nOr two."},
            "times": {"type": "integer", "default": 1},
            "mood": {"enum": ["glad", "sad"]},
            "more": {"type": ["string", "null"]},
            "odd": True,
        },
        "required": ["who", "times"],
    },
}
BARE = {"name": "bare"}
ARGUMENTS = 'mood:"glad"|"sad" more:string|null odd:any times:integer!=1 who:string!'


SERVER = LaunchSpec(("server", "--x"), {})


def catalog(*tools, prefix="", launch=SERVER):
    items = {tool["name"]: pin_item(tool) for tool in tools}
    server = ServerInfo("2025-11-25", "s", "1")
    return Catalog({"s": Entry(launch, server, {"tools": items}, ("tools",), prefix)})


@pytest.fixture
def written():
    file.write("c.json", file.dumps(catalog(GREET, BARE, prefix="my_")))
    return "c.json"


def shown(capfd, *words):
    status = cli.run(["show", *words])
    printed = capfd.readouterr()
    return status, printed.out, printed.err


LINES = f"my_bare\ts\t\t\nmy_greet\ts\t{ARGUMENTS}\tGreets somebody.\n"


def test_tools_are_listed_with_their_server_their_arguments_and_what_they_do(written, capfd):
    assert shown(capfd, written) == (0, LINES, "")


def test_the_tools_of_a_server_stand_together(capfd):
    two = {name: catalog(*tools).servers["s"] for name, tools in (("b", [BARE]), ("a", [GREET]))}
    file.write("c.json", file.dumps(Catalog(two)))
    _, lines, _ = shown(capfd, "c.json")
    assert [line.split("\t")[:2] for line in lines.splitlines()] == [["greet", "a"], ["bare", "b"]]


def test_a_tab_in_a_name_separates_nothing(capfd):
    file.write("c.json", file.dumps(catalog({"name": "a\tb", "description": "c\td"})))
    assert shown(capfd, "c.json")[1] == "a\\tb\ts\t\tc\\td\n"


@pytest.mark.parametrize(
    ("launch", "origin"),
    [
        (LaunchSpec(("/opt/a b/server", "--token"), {}), "/opt/a b/server"),
        (UrlSpec("https://user:pa@ss@h.example:8443/mcp?key=1", {}), "https://h.example:8443/mcp"),
        (UrlSpec("http://${HOST:-h:1}/mcp", {}), "http://${HOST:-h:1}/mcp"),
        (UrlSpec("http://[::1]:80/mcp", {}), "http://[::1]:80/mcp"),
        (UrlSpec("${URL}", {}), "a URL"),
    ],
)
def test_servers_are_one_a_line_with_what_may_be_told_of_how_they_are_reached(
    capfd, launch, origin
):
    file.write("c.json", file.dumps(catalog(GREET, BARE, prefix="my_", launch=launch)))
    line = f"s\t{origin}\t1\t2\tmy_\n"
    assert shown(capfd, "c.json", "--format", "servers") == (0, line, "")
    assert shown(capfd, "c.json", "my_bare", "--format", "servers") == (0, line, "")


def test_of_several_servers_the_one_is_shown_that_has_the_tool(capfd):
    two = {name: catalog(tool).servers["s"] for name, tool in (("b", BARE), ("a", GREET))}
    file.write("c.json", file.dumps(Catalog(two)))
    assert (
        shown(capfd, "c.json", "--format", "servers")[1] == "a\tserver\t1\t1\t\nb\tserver\t1\t1\t\n"
    )
    assert shown(capfd, "c.json", "bare", "--format", "servers")[1] == "b\tserver\t1\t1\t\n"


# -- from stdin --------------------------------------------------------------------------------


def piped(replaced, text):
    read, write = os.pipe()
    os.write(write, text.encode())
    os.close(write)
    replaced(0, read)


def test_a_catalog_may_come_from_stdin(written, capfd, replaced):
    piped(replaced, Path(written).read_text())
    assert shown(capfd, "-") == (0, LINES, "")


def test_a_page_from_stdin_leaves_the_place_of_the_catalog_open(written, capfd, replaced):
    piped(replaced, Path(written).read_text())
    _, page, _ = shown(capfd, "-", "my_greet")
    assert page.endswith("  thrall call my_greet times:=... who=... --catalog CATALOG\n")


@pytest.mark.parametrize(
    ("text", "words", "status", "sentence"),
    [
        ("", [], 3, "stdin is no usable catalog: not JSON: "),
        (None, ["--format", "thrall"], 2, "the commands of --format thrall need a catalog in a file, not stdin"),
    ],
)  # fmt: skip
def test_what_stdin_is_of_no_use_for_is_refused(
    written, capfd, replaced, text, words, status, sentence
):
    piped(replaced, Path(written).read_text() if text is None else text)
    ran = shown(capfd, "-", *words)
    assert ran[:2] == (status, "")
    assert ran[2].startswith(f"thrall: {sentence}")


def test_names_are_one_a_line_and_visible(capfd):
    file.write("c.json", file.dumps(catalog({"name": "a"}, {"name": "new\nline\x1b"})))
    assert shown(capfd, "c.json", "--format", "names") == (0, "a\nnew\\nline\\x1b\n", "")


def test_one_tool_has_a_page_with_a_line_that_calls_it(written, capfd):
    status, page, _ = shown(capfd, written, "my_greet")
    assert status == 0
    assert page.startswith("my_greet - Greeter\nhints (the server's own word): read-only\n\n")
    assert "\n  Greets somebody.\n  Politely.\n" in page
    assert "\n  who: string (required)\n      A name.\n      Or two.\n" in page
    assert "\n  mood: one of glad, sad (optional)\n  more: string or null (optional)\n" in page
    assert "\n  odd: any value (optional)\n  times: integer (required)\n" in page
    assert "answer" not in page
    assert page.endswith("  thrall call my_greet times:=... who=... --catalog c.json\n")


def test_a_page_says_what_the_answer_looks_like():
    answers = {
        "properties": {"degrees": {"type": "number", "description": "Celsius\x1b."}, "x": {}}
    }
    tool = {"name": "a", "outputSchema": {**answers, "required": ["degrees"]}}
    page = "\n".join(usage.page("a", pin_item(tool), "c"))
    assert (
        "\n\nanswer (structured content, which --json prints):\n"
        "  degrees: number\n      Celsius\\x1b.\n  x: any value (may be missing)\n\nexample:"
    ) in page


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ({"enum": ["a b", "c"]}, "'x=a b'"),
        ({"enum": ["@a"]}, """'x:="@a"'"""),
        ({"const": 5}, "x:=5"),
        ({"type": "boolean"}, "x:=true"),
        ({"type": "string"}, "x=..."),
        ({"type": "integer"}, "x:=..."),
    ],
)
def test_an_example_has_a_value_where_only_some_are_taken(schema, word):
    tool = {"name": "a", "inputSchema": {"properties": {"x": schema}, "required": ["x"]}}
    assert list(usage.page("a", pin_item(tool), "c"))[-1] == f"  thrall call a {word} --catalog c"


def test_a_tool_without_arguments_has_a_short_page(written, capfd):
    status, page, _ = shown(capfd, written, "my_bare")
    hints = "my_bare\nhints (the server's own word): no hints\n\n"
    assert (status, page) == (
        0,
        f"{hints}example:\n  thrall call my_bare '{{}}' --catalog c.json\n",
    )


def test_a_tool_whose_arguments_are_all_optional_is_called_without_input():
    optional = {"name": "a", "inputSchema": {"properties": {"x": {}}}}
    assert list(usage.page("a", pin_item(optional), "c"))[-1] == (
        "  thrall call a '{}' --catalog c"
    )


@pytest.mark.parametrize(
    "schema", [None, [], {"properties": []}, {"properties": {"x": 1}, "required": "x"}]
)
def test_odd_schemas_are_shown_as_far_as_they_go(schema):
    item = pin_item({"name": "a", "description": 5, "inputSchema": schema})
    assert usage.row("a", item) in {("a", "", ""), ("a", "x:any", "")}


def test_what_a_server_wrote_is_shown_harmless(capfd):
    hostile = {"name": "a\x1b[2J", "title": "\u202e", "description": "x\x07\n\x9b"}
    file.write("c.json", file.dumps(catalog(hostile)))
    for words in (["c.json"], ["c.json", "a\x1b[2J"]):
        status, page, _ = shown(capfd, *words)
        assert status == 0
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(page)


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize("words", [["c.json", "nope"], ["none.json"], ["c.json", "greet"]])
def test_what_is_not_there_is_refused(capfd, words):
    status, out, err = shown(capfd, *words)
    assert (status, out) == (3, "")
    assert err.startswith("thrall: ")


def test_show_starts_no_server(written, capfd):
    assert shown(capfd, written, "--", "server")[0] == 2


def test_on_a_terminal_there_is_a_table(written, capfd, monkeypatch):
    monkeypatch.setattr(os, "isatty", lambda fd: fd == 1)
    status, table, _ = shown(capfd, written)
    assert status == 0
    heading, columns, *rows = table.splitlines()
    assert heading == "s: server, version 1, 2 tools, prefix my_"
    assert columns.split() == ["tool", "arguments", "summary"]
    assert [row.split()[0] for row in rows][:2] == ["my_bare", "my_greet"]


def test_on_a_terminal_each_server_has_a_heading_and_its_own_table(capfd, monkeypatch):
    monkeypatch.setattr(os, "isatty", lambda fd: fd == 1)
    empty = catalog().servers["s"]._replace(server=ServerInfo("2025-11-25", "s"))
    file.write("c.json", file.dumps(Catalog({"b": catalog(BARE).servers["s"], "a": empty})))
    lines = [line.rstrip() for line in shown(capfd, "c.json")[1].splitlines()]
    assert lines[:3] == ["a: server, no version, 0 tools", "", "b: server, version 1, 1 tool"]
    assert lines[3].split() == ["tool", "arguments", "summary"]
    assert lines[4:] == ["bare"]


@pytest.mark.parametrize(
    ("format_", "first"),
    [
        ("json", {**GREET, "name": "my_greet"}),
        (
            "anthropic",
            {
                "name": "my_greet",
                "description": GREET["description"],
                "input_schema": GREET["inputSchema"],
            },
        ),
        (
            "openai",
            {
                "type": "function",
                "function": {
                    "name": "my_greet",
                    "description": GREET["description"],
                    "parameters": GREET["inputSchema"],
                },
            },
        ),
    ],
)
def test_tools_are_exported_in_the_shapes_of_other_programs(written, capfd, format_, first):
    status, out, _ = shown(capfd, written, "--format", format_)
    assert (status, out.isascii()) == (0, True)
    assert json.loads(out)[1] == first


def test_a_tool_without_a_schema_is_exported_with_an_empty_one():
    tools = formats.offered(catalog(BARE))
    assert formats.as_anthropic(tools, ()) == [
        {"name": "bare", "description": "", "input_schema": {"type": "object"}}
    ]


def test_the_mcp_format_is_the_result_of_a_list(written, capfd):
    listed = json.loads(shown(capfd, written, "--format", "mcp")[1])["tools"]
    assert [tool["name"] for tool in listed] == ["my_bare", "my_greet"]


def test_servers_are_exported_with_their_variables_as_they_stand(capfd):
    launch = LaunchSpec(("npx", "-y", "${PACKAGE}"), {"TOKEN": "${TOKEN}"}, cwd="/srv")
    file.write("c.json", file.dumps(catalog(BARE, launch=launch)))
    assert json.loads(shown(capfd, "c.json", "--format", "mcp-json")[1]) == {
        "mcpServers": {
            "s": {
                "command": "npx",
                "args": ["-y", "${PACKAGE}"],
                "env": {"TOKEN": "${TOKEN}"},
                "cwd": "/srv",
            }
        }
    }


def test_a_server_without_surroundings_is_exported_with_its_words_alone():
    assert formats.as_servers(catalog(BARE)) == {
        "mcpServers": {"s": {"command": "server", "args": ["--x"]}}
    }


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer ${T}", "A": "b"}])
def test_a_server_on_a_url_is_exported_with_its_address_and_headers(headers):
    launch = UrlSpec("https://${HOST}/mcp", headers)
    sent = {"headers": headers} if headers else {}
    assert formats.as_servers(catalog(BARE, launch=launch)) == {
        "mcpServers": {"s": {"type": "http", "url": "https://${HOST}/mcp", **sent}}
    }


def test_an_executor_that_knows_argv_and_json_alone_runs_the_thrall_export(graveyard, capfd):
    assert (
        cli.run(["pin", "c.json", "--prefix", "my_", "--", *command("good", graveyard.path)]) == 0
    )
    capfd.readouterr()
    tools = json.loads(shown(capfd, "c.json", "--format", "thrall")[1])
    tool = next(each for each in tools if each["name"] == "my_echo")
    assert tool["command"][0] == sys.executable
    ran = subprocess.run(
        tool["command"], input=b'{"text":"hi"}', capture_output=True, cwd="/", check=False
    )
    asked = json.loads(ran.stdout)  # the good server repeats what it was asked
    assert (ran.returncode, asked["params"]["arguments"]) == (0, {"text": "hi"})


WITH_OTHERS = Entry(
    SERVER,
    ServerInfo("2025-11-25", "s", "1"),
    {
        "tools": {"t": pin_item({"name": "t"})},
        "prompts": {
            "p": pin_item({
                "name": "p",
                "description": " Ask\x1b\nnicely. ",
                "arguments": [
                    {"name": "a", "required": True, "description": "What\x1b for."},
                    {"name": "b", "description": 1},
                    "odd",
                ],
            }),
            "q": pin_item({"name": "q", "arguments": "odd"}),
        },
        "resources": {"a:b": pin_item({"uri": "a:b"})},
        "resourceTemplates": {"a:{b}": pin_item({"uriTemplate": "a:{b}"})},
    },
    prefix="x_",
)  # fmt: skip


@pytest.fixture
def others():
    file.write("c.json", file.dumps(Catalog({"s\x1b": WITH_OTHERS})))


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize(
    ("name", "page"),
    [
        (
            "x_p",
            r"""x_p: a prompt of s\x1b, which thrall serve offers
  Ask\x1b
  nicely.
arguments:
  a: required
      What\x1b for.
  b: optional
""",
        ),
        ("x_q", "x_q: a prompt of s\\x1b, which thrall serve offers\n"),
        ("a:b", "a:b: a resource of s\\x1b, which thrall serve offers\n"),
        ("a:{b}", "a:{b}: a resource template of s\\x1b, which thrall serve offers\n"),
    ],
)
def test_what_is_no_tool_is_shown_as_what_it_is(capfd, name, page):
    assert shown(capfd, "c.json", name) == (0, page, "")


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize(
    "words",
    [("show", "c.json", "x_p", "--format", "json"), ("call", "x_p", "--catalog", "c.json", "{}")],
)
def test_who_takes_it_for_a_tool_is_told(thrall, words):
    ran = thrall(*words)
    sentence = r"thrall: x_p: the catalog does not have this tool; it is a prompt of s\x1b"
    assert (ran.status, ran.err) == (3, f"{sentence}\n")


def test_the_heading_counts_what_there_is_of_each_kind():
    heading = usage.Shown("s", WITH_OTHERS).heading
    assert "1 tool, 2 prompts, 1 resource, 1 resource template, prefix x_" in heading
