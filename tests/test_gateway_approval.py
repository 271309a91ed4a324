"""What a person is asked before a call."""

import json

import pytest
from gateways import raw

from thrall_py.gateway.relay import approval


def asked(tool="t", arguments="{}"):
    return json.loads(approval.question(tool, "a", arguments.encode().decode("latin-1")))


def test_the_question_names_tool_server_and_arguments_and_wants_a_yes():
    question = asked("drop", '{"table": "é"}')
    assert question["message"] == (
        "Allow a call of drop on the server a, which may change something, with these arguments?"
        ' {"table": "é"}'
    )
    assert question["requestedSchema"]["required"] == ["approve"]


def test_hidden_characters_in_it_are_visible():
    message = asked("t\x1b", '{"a":"\u202e\U000e0041"}')["message"]
    assert "of t\\x1b on" in message
    assert '"\\u202e\\U000e0041"' in message


def test_long_arguments_are_cut_and_their_size_is_told():
    arguments = '{"a":"' + "é" * 100_000 + '"}'
    message = asked(arguments=arguments)["message"]
    assert len(message) < 1200
    assert message.endswith(f"... ({len(arguments.encode())} bytes in all)")


@pytest.mark.parametrize(
    ("answer", "given"),
    [
        ('{"action":"accept","content":{"approve":true}}', True),
        ('{"action":"accept","content":{"approve":false}}', False),
        ('{"action":"accept","content":{"approve":"true"}}', False),
        ('{"action":"accept","content":{"approve":1}}', False),
        ('{"action":"accept","content":{}}', False),
        ('{"action":"accept"}', False),
        ('{"action":"decline","content":{"approve":true}}', False),
        ('{"action":"cancel"}', False),
        ("[]", False),
        ('{"a":1,"\\u0061":2}', False),
    ],
)
def test_only_a_yes_is_one(answer, given):
    assert approval.is_given(raw(answer)) is given
