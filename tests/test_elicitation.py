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
        asked(message=7),
        asked(requestedSchema={}),
        asked(requestedSchema={"properties": {}, "required": 7}),
    ],
)
def test_a_form_without_fields_asks_for_a_yes(request_):
    assert elicitation.read(request_) == ("", ())


NOT_OBJECTS = "the properties of its requestedSchema are not an object"
LONG = '{"requestedSchema":{"properties":{"f":{"maxLength":' + "9" * 5000 + "}}}}"
UNREADABLE = {
    "no params": (Asked("elicitation/create", None), "its params are not an object"),
    "a list": (Asked("elicitation/create", value("[]")), "its params are not an object"),
    "a number of absurd length": (
        Asked("elicitation/create", value(LONG)),
        "not JSON: a number of 5000 characters",
    ),
    "one name in two spellings": (
        Asked("elicitation/create", value(r'{"requestedSchema":{"\u00e9":1,"é":2}}')),
        "not JSON: the name 'é' stands twice in one object",
    ),
    "a schema that is a list": (asked(requestedSchema=[]), "its requestedSchema is not an object"),
    "a schema that is null": (asked(requestedSchema=None), "its requestedSchema is not an object"),
    "fields in a list": (asked(requestedSchema={"properties": []}), NOT_OBJECTS),
    "fields that are null": (asked(requestedSchema={"properties": None}), NOT_OBJECTS),
}


@pytest.mark.parametrize(("request_", "why"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_form_that_cannot_be_read_asks_for_nothing(request_, why):
    with pytest.raises(elicitation.UnreadableError) as unreadable:
        elicitation.read(request_)
    assert str(unreadable.value) == why


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
        {"q": asked(mode="url", message="Go", url="https://example.com/a")},
        (
            'q (elicitation/create): "Go" at "https://example.com/a"'
            "; call from a terminal, or give --decline"
        ),
    ),
    "a page that is none": (
        {"q": asked(mode="url", message="Go", url="javascript:alert(1)")},
        (
            'q (elicitation/create): "Go" at an address that is no plain one of http or https'
            "; call from a terminal, or give --decline"
        ),
    ),
    "a field that no option can name": (
        {"q": asked(message="Why?", requestedSchema={"properties": {"a=b": {}, "": {}}})},
        (
            'q (elicitation/create): "Why?" with the fields a=b (a JSON value, optional),'
            ' "" (a JSON value, optional); give --answers FILE, --accept-defaults or --decline'
        ),
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
