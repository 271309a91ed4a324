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


def test_of_a_long_text_both_ends_are_shown_and_how_much_is_not():
    message = asked(arguments='{"a":"' + "é" * 100_000 + 'end","zz_evil":"rm -rf"}')["message"]
    assert len(message) < 1000
    assert 'éé" (99845 characters are not shown) "éé' in message
    assert 'end","zz_evil":"rm -rf"} (this is not all of it: 99845 characters of 1 long' in message
    assert "the digest of the whole is sha256:" in message


def test_no_name_is_left_out_however_deep_and_long_it_is():
    name = "n" * 1000
    long = "x" * 3000
    message = asked(arguments=f'{{"a":{{"b":["{long}",{{"{name}" : 1}}]}},"c":"{long}"}}')[
        "message"
    ]
    assert f'{{"{name}" : 1}}' in message
    assert "of 2 long texts" in message


def test_blanks_between_values_hide_nothing():
    message = asked(arguments='{"a":1,' + " \n\t" * 5000 + '"b":"  "}')["message"]
    assert message.endswith('{"a":1, "b":"  "}')


def test_a_text_with_an_escaped_quotation_mark_is_one_text():
    message = asked(arguments='{"a":"' + '\\"' * 200 + '","b":"\\\\"}')["message"]
    assert message.count("characters are not shown)") == 1
    assert '"b":"\\\\"}' in message


@pytest.mark.parametrize("odd", ["", "x"])
def test_no_text_is_cut_within_an_escape_and_looks_like_another_value(odd):
    text = odd + '\\"' * 300 + odd
    message = asked(arguments=f'{{"a":"{text}"}}')["message"]
    begun, ended = message.split(" characters are not shown) ")
    head = begun.rpartition(" (")[0].partition('{"a":')[2]
    tail = ended.partition("} (this is")[0]
    assert json.loads(head) in json.loads(f'"{text}"')
    assert json.loads(tail) in json.loads(f'"{text}"')


@pytest.mark.parametrize(
    "arguments",
    [
        '{"a":[' + ",".join("1" * 2001) + "]}",
        '{"' + "n" * 5000 + '":1}',
        '{"a":' + "1" * 5000 + "}",
        '{"a":"' + "\u202e" * 4000 + '","b":["' + '","'.join("\u202e" * 700) + '"]}',
    ],
)
def test_what_cannot_be_shown_is_not_asked(arguments):
    assert approval.question("t", "a", arguments.encode().decode("latin-1")) is None


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
