import pytest

from thrall_py.catalog.entry import Entry, pin_item
from thrall_py.catalog.filing import Filed
from thrall_py.catalog.launch import LaunchSpec
from thrall_py.output import listing
from thrall_py.output.listing import Occasion
from thrall_py.protocol import mcp
from thrall_py.redact import Redactor

HEAD = "{} pinned; hints are the server's own word, nobody has verified them"


def told(
    *tools, warnings=(), left_out=(), occasion=Occasion.PIN, terminal=False, prefix="", **others
):
    """What is said of these tools."""
    said = []
    pins = {tool["name"]: pin_item(tool) for tool in tools}
    items = {"tools": pins, **others}
    entry = Entry(LaunchSpec(("x",), {}), mcp.ServerInfo("2025-11-25"), items, prefix=prefix)
    filed = Filed("s", entry, [], list(left_out), list(warnings), is_new=True)
    listing.tell(filed, Redactor(["hunter22"]), said.append, occasion=occasion, terminal=terminal)
    return said


def test_no_tools_are_told_as_such():
    assert told() == [HEAD.format("0 tools")]


def test_each_tool_is_a_line_with_its_hints():
    tools = ({"name": "a\x1b", "annotations": {"readOnlyHint": True}}, {"name": "hunter22"})
    assert told(*tools) == [
        HEAD.format("2 tools"),
        r"  a\x1b  (read-only)",
        "  ***  (no hints)",
    ]


def test_one_tool_is_told_in_the_singular():
    assert told({"name": "a"})[0] == HEAD.format("1 tool")


def test_what_are_no_tools_is_counted():
    prompts = {name: pin_item({"name": name}) for name in "pq"}
    resources = {"a:b": pin_item({"uri": "a:b"})}
    assert told({"name": "a"}, prompts=prompts, resources=resources, resourceTemplates={})[0] == (
        HEAD.format("1 tool, 2 prompts, 1 resource")
    )


def test_tools_are_named_as_they_are_called():
    assert told({"name": "a"}, prefix="my_")[1] == "  my_a  (no hints)"


def test_many_tools_are_cut_short():
    said = told(*({"name": f"t{n:02}"} for n in range(42)))
    assert said[1] == "  t00  (no hints)"
    assert said[40:] == ["  t39  (no hints)", "  and 2 more tools"]


@pytest.mark.parametrize(("count", "tail"), [(30, "warning: 29"), (31, "and 1 more warnings")])
def test_many_warnings_are_cut_short(count, tail):
    said = told(warnings=map(str, range(count)))
    assert said[1] == "warning: 0"
    assert said[-1] == tail
    assert len(said) == 1 + count


def test_a_terminal_gets_a_table(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    description = "\n [red]First[/red] line\x1b. \nSecond line."
    said = told(
        {"name": "lookup", "description": description, "annotations": {"openWorldHint": False}},
        {"name": "other", "description": 7},
        terminal=True,
    )
    assert said == [HEAD.format("2 tools")]
    out, err = capsys.readouterr()
    assert out == ""
    head, first, second = (line.rstrip() for line in err.splitlines())
    assert head.split("  ")[0] == "tool"
    assert head.endswith("summary")
    assert first.split() == ["lookup", "closed", "world", "[red]First[/red]", r"line\x1b."]
    assert second.split() == ["other", "no", "hints"]


def test_a_long_summary_stays_on_one_line_of_the_table(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    told({"name": "a", "description": "word " * 100}, terminal=True)
    assert len(capsys.readouterr().err.splitlines()) == 2


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize(
    ("occasion", "words"),
    [
        (Occasion.UPDATE, "2 tools"),
        (Occasion.DRY_RUN, "would pin 2 tools; nothing was written"),
    ],
)
def test_where_the_tools_stand_elsewhere_their_number_is_told_alone(
    capsys, terminal, occasion, words
):
    tools = ({"name": "a"}, {"name": "b"})
    assert told(*tools, occasion=occasion, terminal=terminal) == [words]
    assert capsys.readouterr() == ("", "")


def test_a_server_without_tools_gets_no_empty_table(capsys):
    assert told(terminal=True) == [HEAD.format("0 tools")]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("names", "line"),
    [
        (["a"], "left out: a"),
        (["a\x1b", "hunter22"], r"left out: a\x1b, ***"),
        (["x" * 41], f"left out: {'x' * 40}..."),
        (["a"] * 40, f"left out: {', '.join(['a'] * 40)}"),
        (["a"] * 42, f"left out: {', '.join(['a'] * 40)}, and 2 more"),
    ],
)
def test_tools_that_are_left_out_are_named_on_one_line(names, line):
    assert told(left_out=names, warnings=["odd"]) == [HEAD.format("0 tools"), line, "warning: odd"]
