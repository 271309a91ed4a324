"""What holds for whatever a client or a server of the gateway sends."""

import json

from hypothesis import example, given, settings
from hypothesis import strategies as st
from offers import ENVELOPE, LEGACY, MODERN, loaded, offered
from test_properties import SHARP, SPELLINGS, VALUES

from thrall_py.gateway.caller import Facts
from thrall_py.gateway.core import answering as core
from thrall_py.gateway.core import envelope, incoming
from thrall_py.gateway.core.answering import Answer, Forward
from thrall_py.gateway.core.incoming import Malformed, Notification, Request, Response
from thrall_py.gateway.front import gate, ladder
from thrall_py.gateway.front.ladder import Posted, Refusal
from thrall_py.protocol import wire

OFFER = offered()
WHO = st.sampled_from([Facts(), LEGACY, MODERN])
METHODS = st.sampled_from([*core._LEGACY, *core._MODERN, "subscriptions/listen", "none"])
IDS = st.one_of(
    st.integers(-(10**300), 10**300).map(str),
    st.text(max_size=50).map(json.dumps),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=50).map(lambda text: json.dumps(text, ensure_ascii=False)),
)  # fmt: skip
# Params in which the names that count are there more often than by chance.
NAMES = st.sampled_from(
    [
        "name",
        "arguments",
        "uri",
        "cursor",
        "ref",
        "argument",
        "level",
        "protocolVersion",
        "capabilities",
        "_meta",
    ]
)
WORDS = st.sampled_from(
    [
        "read",
        "web_fetch",
        "review",
        "file:///a",
        "file:///docs/x",
        "info",
        "2025-11-25",
        "ref/prompt",
    ]
)
REFS = st.dictionaries(st.sampled_from(["type", "name", "uri"]), VALUES | WORDS)
PARAMS = st.dictionaries(NAMES, VALUES | WORDS | REFS | st.just({}) | st.just(ENVELOPE), max_size=6)
MESSAGES = st.dictionaries(
    st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]),
    VALUES | METHODS | PARAMS | st.just("2.0"),
)
HEADERS = st.lists(st.tuples(
    st.sampled_from([b"content-type", b"accept", b"mcp-protocol-version", b"mcp-method", b"Mcp-Name", b"mcp-param-n", b"mcp-param-region"]),
    st.binary(max_size=20) | st.sampled_from([b"application/json", b"*/*", b"2026-07-28", b"2025-11-25", b"tools/call", b"read", b"=?base64?", b"=?base64?YQ==?="]),
))  # fmt: skip
RIGHT = [(b"content-type", b"application/json"), (b"accept", b"*/*")]


def check(message, facts):
    """Whatever a message is, what follows from it is of one of few kinds, and can be sent."""
    match message:
        case Request():
            checked(core.answer(message, facts, OFFER))
            assert json.loads(message.id.encode("latin-1")) is not None
        case Malformed():
            checked(Answer(envelope.error(message.code, message.message)))
            json.loads(message.id.encode("latin-1"))
        case _:
            assert isinstance(message, (Notification, Response))


def checked(answer):
    if isinstance(answer, Forward):
        text, method = f"{{{answer.members}}}", answer.method
        assert answer.server in ("files", "web")
        assert "_meta" not in json.loads(text.encode("latin-1"))
        assert method in ("tools/call", "prompts/get", "resources/read", "completion/complete")
    else:
        text = f"{{{answer.outcome}}}"
        assert list(json.loads(text.encode("latin-1"))) in (["result"], ["error"])
    assert "\n" not in text
    assert "\r" not in text


@given(st.binary(), WHO)
def test_whatever_bytes_come_there_is_no_exception(line, facts):
    for message in incoming.read(line):
        check(message, facts)


@given(st.sampled_from(SHARP), WHO)
def test_neither_for_the_sharp_edges_of_json(line, facts):
    for message in incoming.read(line):
        check(message, facts)


@given(SPELLINGS, WHO)
def test_neither_for_whatever_json(text, facts):
    for message in incoming.read(text.encode("utf-8", "replace")):
        check(message, facts)


@given(st.lists(MESSAGES, max_size=3) | MESSAGES, WHO)
@example({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"_meta": {}}}, LEGACY)
def test_neither_for_whatever_looks_like_a_message(value, facts):
    messages = incoming.read(json.dumps(value).encode())
    if isinstance(value, list) and value:
        assert len(messages) == len(value)
    for message in messages:
        check(message, facts)


@given(METHODS, PARAMS, WHO, st.booleans())
@settings(max_examples=300)
def test_every_request_has_one_outcome(method, params, facts, is_modern):
    if is_modern:
        params = {**params, "_meta": ENVELOPE}
    [message] = incoming.read(
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    )
    assert isinstance(message, Request)
    check(message, facts)


@given(IDS)
def test_an_id_comes_back_as_it_was_written(id_):
    line = f'{{"jsonrpc":"2.0","id": {id_},"method":"ping"}}'.encode()
    [message] = incoming.read(line)
    assert (
        f'{{"id": {message.id}}}'.encode("latin-1")
        in line.replace(b"}", b",") + b'{"id": %b}' % id_.encode()
    )
    assert message.id.encode("latin-1") == id_.encode()


@given(SPELLINGS.filter(lambda text: text[0] == "{"))
def test_arguments_go_on_as_they_were_written(text):
    line = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"read","arguments":{text}}}}}'
    [message] = incoming.read(line.encode("utf-8", "replace"))
    if not isinstance(message, Request):
        assert message.message.startswith("not JSON: the name")
        return
    forward = core.answer(message, LEGACY, OFFER)
    sent = forward.members.removeprefix('"name":"read","arguments":').encode("latin-1")
    assert sent == text.replace("\r", " ").replace("\n", " ").encode("utf-8", "replace")


@given(HEADERS, st.binary() | MESSAGES.map(json.dumps).map(str.encode))
@settings(max_examples=300)
def test_whatever_is_posted_is_taken_or_refused(headers, body):
    for pairs in (headers, [*RIGHT, *(pair for pair in headers if pair[0] not in dict(RIGHT))]):
        found = ladder.read_post(pairs, body, OFFER)
        if isinstance(found, Refusal):
            assert found.status in (400, 404, 406, 415)
            checked(Answer(found.outcome))
            json.loads(found.id.encode("latin-1"))
        else:
            assert isinstance(found, Posted)
            assert found.messages


@given(SPELLINGS, st.sampled_from([LEGACY, MODERN]), st.sampled_from(["result", "error"]))
def test_whatever_a_server_answers_the_outcome_can_be_sent(text, facts, member):
    try:
        [message] = wire.read(f'{{"id":1,"{member}":{text}}}'.encode("utf-8", "replace"))
    except ValueError:  # a name twice
        return
    outcome = envelope.finish(message, facts)
    checked(Answer(outcome))
    assert ladder.status(outcome) in (200, 400, 404)
    if facts is MODERN and outcome.startswith('"result"'):
        assert "resultType" in loaded(outcome)


KNOCKS = st.lists(st.tuples(
    st.sampled_from([b"host", b"Host", b"origin", b"authorization"]),
    st.binary(max_size=20) | st.sampled_from([b"localhost:80", b"http://localhost:80", b"null", b"Bearer token"]),
))  # fmt: skip


@given(KNOCKS)
def test_whoever_knocks_is_let_in_or_refused(headers):
    rules = gate.rules("localhost", 80, "token")
    found = gate.refuse(headers, rules)
    if found:
        assert found.status in (401, 403, 421)
        assert not any(value in found.reason.encode() for _, value in headers if len(value) > 8)
    else:
        assert [value for name, value in headers if name == b"authorization"] == [b"Bearer token"]
