"""Tool documents: an array of tools, a command for each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thrall_py.catalog import tool_document
from thrall_py.catalog.launch import ExecSpec, LaunchSpec
from thrall_py.protocol.jsontext import JsonError
from thrall_py.transport.environment import expand

SCHEMA = {"type": "object", "properties": {}}
TOOL = {"name": "t", "description": "Does.", "input_schema": SCHEMA, "command": ["x", "-y"]}


def refusal(read, *given):
    with pytest.raises(JsonError) as refused:
        read(*given)
    return str(refused.value)


def test_a_tool_is_a_command_and_a_definition():
    assert tool_document.read_tool(TOOL) == (
        ExecSpec(LaunchSpec(("x", "-y"), {})),
        {"name": "t", "description": "Does.", "inputSchema": SCHEMA},
    )


def test_a_description_may_be_missing():
    del (tool := {**TOOL})["description"]
    assert tool_document.read_tool(tool).definition == {"name": "t", "inputSchema": SCHEMA}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"env": {}}, "it has the unknown member 'env'"),
        ({"name": "a\0"}, '"name" holds what no argument can'),
        ({"description": 1}, '"description" should be text'),
        ({"input_schema": True}, '"input_schema" should be an object'),
        ({"command": "x"}, '"command" should be a list of words'),
        ({"command": []}, '"command" should be a list of words'),
        ({"command": ["x", 1]}, 'each word of "command" should be text'),
    ],
)
def test_a_tool_of_another_form_is_refused(changes, why):
    assert refusal(tool_document.read_tool, {**TOOL, **changes}) == why


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ([TOOL, 1], 'tool 2 of it has no "name"'),
        ([{}], 'tool 1 of it has no "name"'),
        ([{"name": ""}], 'tool 1 of it has no "name"'),
        ([{"name": 1}], 'tool 1 of it has no "name"'),
        ([TOOL, TOOL], "it has the tool 't' twice"),
    ],
)
def test_tools_that_cannot_be_told_apart_are_refused(document, why):
    assert refusal(tool_document.by_name, document) == why


def test_tools_stay_in_their_order():
    other = {**TOOL, "name": "a"}
    assert list(tool_document.by_name([TOOL, other])) == ["t", "a"]


@given(st.text("${}:-Aa1_"))
def test_a_word_is_run_as_it_stands_in_the_document(word):
    command, _ = tool_document.read_tool({**TOOL, "command": [word]})
    assert expand(command.run.command[0], {"A": "x"}) == word
