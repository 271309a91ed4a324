import json

import pytest
from fakes import value

from thrall_py.protocol import elicitation, mcp
from thrall_py.protocol.elicitation import Page
from thrall_py.protocol.fields import Field
from thrall_py.protocol.mcp import Asked
from thrall_py.redact import Redactor


def asked(method="elicitation/create", **params):
    return Asked(method, value(json.dumps(params)))


def test_a_form_is_its_message_and_its_fields():
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "boolean", "default": False}},
        "required": ["a"],
    }
    assert elicitation.read(asked(message="Why?", requestedSchema=schema)) == (
        "Why?",
        (Field("a", "string", is_required=True), Field("b", "boolean", default=False)),
    )


@pytest.mark.parametrize(
    "request_",
    [
        Asked("elicitation/create", None),
        Asked("elicitation/create", value("[]")),
        Asked("elicitation/create", value('{"message":1e' + "9" * 2000 + "}")),
        asked(message=7, requestedSchema=[]),
        asked(requestedSchema={"properties": [], "required": 7}),
    ],
)
def test_a_form_that_is_none_asks_for_a_yes(request_):
    assert elicitation.read(request_) == ("", ())


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://example.com/a?b=c#d", "example.com"),
        ("HTTP://Example.com:8080", "Example.com"),
        ("http://[::1]:8/x", "[::1]"),
        ("https://xn--bcher-kva.example/%20", "xn--bcher-kva.example"),
    ],
)
def test_a_page_is_an_address_of_http_or_https(url, host):
    assert elicitation.read(asked(mode="url", message="m", url=url)) == Page("m", url, host)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)", "file:///etc/passwd", "https://", "https:///x", "example.com",
        "https://bank.example@evil.example/", "https://evil.example\\@bank.example/",
        "https://b\u00fccher.example/", "https://example.com/\x1b[31m", "https://example.com/a b",
        "https://example.com/" + "x" * 2000, "https://example.com:x/", "https://[x]/", 7, None,
    ],
)  # fmt: skip
def test_no_other_address_has_a_host_to_be_shown(url):
    assert elicitation.read(asked(mode="url", url=url)).host == ""


def test_responses_are_those_of_the_protocol():
    assert json.loads(elicitation.DECLINE) == {"action": "decline"}
    assert json.loads(elicitation.CANCEL) == {"action": "cancel"}
    assert json.loads(elicitation.VISIT) == {"action": "accept"}
    response = elicitation.accept({"a": "\u00e9", "b": [True]})
    assert response == '{"action":"accept","content":{"a":"\\u00e9","b":[true]}}'


FORM = {"properties": {"a": {"type": "integer"}, "b\x1b": {}}, "required": ["a"]}
NEEDED = {
    "fields": (
        {"q": asked(message="Why?", requestedSchema=FORM)},
        (
            'q (elicitation/create): "Why?" with the fields a (a whole number),'
            r" b\x1b (a JSON value, optional)"
            "; give --answer NAME=VALUE, --accept-defaults or --decline"
        ),
    ),
    "a page": (
        {"q": asked(mode="url", message="Go", url="x:\x1b")},
        r'q (elicitation/create): "Go" at "x:\x1b"; call from a terminal, or give --decline',
    ),
    "something else": ({"q": asked("roots/list")}, "q (roots/list)"),
    "a mode to come": ({"q": asked(mode="dance", message="m")}, 'q (elicitation/create): "m"'),
    "a mode of no kind": ({"q": asked(mode=7)}, "q (elicitation/create)"),
}


@pytest.mark.parametrize(("requests", "words"), NEEDED.values(), ids=NEEDED)
def test_what_nobody_answers_is_named_with_every_field(requests, words):
    problem = elicitation.needed(requests, Redactor())
    assert str(problem) == f"the server needs input that was not given: {words}"


@pytest.mark.parametrize(
    ("revision", "modes", "capabilities"),
    [
        ("2026-07-28", (), {}),
        ("2026-07-28", ("form",), {"elicitation": {"form": {}}}),
        ("2025-11-25", ("form", "url"), {"elicitation": {"form": {}, "url": {}}}),
        ("2025-06-18", ("form", "url"), {"elicitation": {}}),
        ("2025-03-26", ("form", "url"), {}),
        ("2024-11-05", ("form",), {}),
    ],
)
def test_each_revision_has_its_way_to_declare_what_can_be_answered(revision, modes, capabilities):
    if revision == mcp.MODERN:
        meta = json.loads(mcp.request_params(revision, "", modes))["_meta"]
        declared = meta["io.modelcontextprotocol/clientCapabilities"]
    else:
        declared = json.loads(mcp.initialize_params(revision, modes))["capabilities"]
    assert declared == capabilities
