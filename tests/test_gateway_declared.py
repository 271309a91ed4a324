"""What a client may be asked."""

import json

import pytest
from gateways import EVERYTHING, value

from thrall_py.gateway.caller import Refused
from thrall_py.gateway.relay import declared


def refusal(capabilities, method, params="{}"):
    try:
        declared.check(capabilities, method, value(params))
    except Refused as refused:
        return json.loads(refused.error)["code"]
    return None


@pytest.mark.parametrize("method", ["elicitation/create", "sampling/createMessage", "roots/list"])
def test_what_was_declared_may_be_asked_and_nothing_else(method):
    assert refusal(EVERYTHING, method) is None
    assert refusal("{}", method) == -32601


@pytest.mark.parametrize("capabilities", ["[]", '{"roots":true}', '{"roots":1,"roots":2}', ""])
def test_what_cannot_be_read_declares_nothing(capabilities):
    assert refusal(capabilities, "roots/list") == -32601
    assert declared.relayed(capabilities) == "{}"
    assert declared.modes(capabilities) == set()


def test_an_unknown_request_is_no_method():
    assert refusal(EVERYTHING, "tasks/get") == -32601


@pytest.mark.parametrize(
    ("elicitation", "modes"),
    [
        ("{}", {"form"}),
        ('{"form":{}}', {"form"}),
        ('{"url":{}}', {"url"}),
        ('{"form":{},"url":{}}', {"form", "url"}),
        ('{"form":false}', {"form"}),
    ],
)
def test_a_mode_that_was_not_declared_is_refused(elicitation, modes):
    capabilities = f'{{"elicitation":{elicitation}}}'
    assert declared.modes(capabilities) == modes
    for mode in ("form", "url"):
        code = refusal(capabilities, "elicitation/create", f'{{"mode":"{mode}"}}')
        assert code == (None if mode in modes else -32602)


def test_only_what_can_be_relayed_is_told_to_a_server():
    told = declared.relayed('{"tasks":{},"roots":{"listChanged":true},"sampling":{"tools":{}}}')
    assert json.loads(told) == {"roots": {"listChanged": True}, "sampling": {"tools": {}}}
