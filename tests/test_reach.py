import pytest
from loopback import legacy, modern, reply, result, say

from thrall_py.catalog import entry
from thrall_py.catalog.launch import UrlSpec
from thrall_py.errors import InputError, UnauthorizedError
from thrall_py.protocol import mcp
from thrall_py.transport.endpoint import Endpoint
from thrall_py.verbs.connect import ConnectionOptions, prepare
from thrall_py.verbs.sessions import open_session
from thrall_py.verbs.survey import survey

URL = "http://127.0.0.1/mcp"


def prepared(url=URL, given=None, **headers):
    spec = UrlSpec(url, {name.replace("_", "-"): word for name, word in headers.items()})
    return prepare(spec, given or {}, fill_in=False)


def failure(call, *arguments, **options):
    with pytest.raises(UnauthorizedError) as caught:
        call(*arguments, **options)
    assert caught.value.exit_status == 8
    return str(caught.value)


# -- what is filled in -------------------------------------------------------------------------


def test_variables_are_filled_in_where_the_server_is_reached(monkeypatch):
    monkeypatch.setenv("HOST", "h.example")
    server = prepared("http://${HOST}/${PATH_:-mcp}", {"T": "abc"}, Authorization="Bearer ${T}")
    assert server.command == Endpoint(
        "http://h.example/mcp", {"Authorization": "Bearer abc"}, "Authorization (from ${T})"
    )


def test_a_variable_that_is_not_set_is_refused():
    with pytest.raises(InputError, match="the variable NOBODY is not set"):
        prepared(Authorization="Bearer ${NOBODY}")


REFUSED = {
    "a line break": ({"X": "a\r\nY: b"}, "the value of the header X has a line break"),
    "NUL": ({"X": "a\0"}, "the value of the header X has a line break or another control"),
    "an empty name": ({"": "a"}, 'no header can have the name ""'),
    "a blank in the name": ({"a b": "a"}, 'no header can have the name "a b"'),
    "the name of a session": (
        {"mcp-session-id": "a"},
        "the header mcp-session-id is set by thrall",
    ),
    "the name of a length": ({"Content-Length": "a"}, "the header Content-Length is set by thrall"),
    "the host": ({"Host": "a"}, "the header Host is set by thrall itself"),
}


@pytest.mark.parametrize(("headers", "words"), REFUSED.values(), ids=REFUSED)
def test_a_header_that_cannot_be_sent_is_refused(headers, words):
    with pytest.raises(InputError, match=words):
        prepare(UrlSpec(URL, headers), {}, fill_in=True)


def test_a_url_that_is_none_is_refused_without_repeating_it():
    with pytest.raises(InputError) as caught:
        prepared("http:/secret")
    assert "secret" not in str(caught.value)


def test_white_space_around_a_value_does_not_count():
    assert prepared(X=" a b ").command.headers == {"X": "a b"}


def test_secrets_of_the_address_are_masked(monkeypatch):
    monkeypatch.setenv("T", "value-of-t")
    server = prepared(
        "http://user:pass%20word@h/${T}?key=long%20value&v=1&short=2025",
        Authorization="Bearer token-01",
        X_Key="raw-key",
    )
    for secret in ("value-of-t", "token-01", "Bearer token-01", "raw-key", "user", "pass word",
                   "long%20value", "long value", "key=long%20value&v=1&short=2025"):  # fmt: skip
        assert server.redact.mask(f"<{secret}>") == "<***>", secret
    assert server.redact.mask("2025-11-25") == "2025-11-25"


def test_a_short_token_of_a_header_is_masked_like_a_short_value():
    server = prepared(Authorization="Bearer tok-1", X_Key="key-1")
    assert server.redact.mask("<key-1>") == "<***>"
    assert server.redact.mask("<tok-1>") == "<***>"


PARTS = {
    "a list": ("k=first-one; sid=second-one,third-one", ["first-one", "second-one", "third-one"]),
    "a name of its own": ("Token token=abcd-efgh", ["abcd-efgh", "token=abcd-efgh"]),
    "a pair in base64": (
        "bAsIc dXNlci0xOnBhc3M6d29yZA==",
        ["dXNlci0xOnBhc3M6d29yZA==", "dXNlci0xOnBhc3M6d29yZA", "user-1:pass:word", "pass:word"],
    ),
    "base64 of other bytes": ("Basic /////////w==", ["/////////w==", "/////////w"]),
    "no base64": ("Basic no-base-64", ["Basic no-base-64", "no-base-64"]),
}


@pytest.mark.parametrize(("value", "secrets"), PARTS.values(), ids=PARTS)
def test_parts_of_a_header_are_masked(value, secrets):
    mask = prepared(Authorization=value).redact.mask
    for secret in secrets:
        assert "***" in mask(f"<{secret}>"), secret
        assert secret not in mask(f"<{secret}>"), secret


def test_short_words_of_a_header_are_not_masked():
    mask = prepared(X_Note="every word of it 2025").redact.mask
    assert mask("every other word, in 2025") == "every other word, in 2025"


SPELLINGS = {
    "as it is": "Grüße /an+Sie",
    "percent-encoded": "Gr%C3%BC%C3%9Fe%20/an%2BSie",
    "percent-encoded throughout": "Gr%C3%BC%C3%9Fe%20%2Fan%2BSie",
    "of a form": "Gr%C3%BC%C3%9Fe+%2Fan%2BSie",
    "in base64": "R3LDvMOfZSAvYW4rU2ll",
    "in small letters": "grüße /an+sie",
    "in Latin-1": "GrÃ¼Ã\x9fe /an+Sie",
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_a_secret_is_masked_however_it_is_spelled(spelling):
    server = prepared(given={"T": "Grüße /an+Sie"}, X_Key="${T}")
    assert server.redact.mask(f"<{spelling}>") == "<***>"


def test_what_a_url_makes_of_a_host_in_capitals_is_masked():
    server = prepared("http://${T}/mcp", {"T": "Secret-Host"})
    assert server.redact.mask("cannot find http://secret-host") == "cannot find http://***"


def test_the_user_of_a_proxy_is_masked(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://proxy-user:pr0xy%2Fword@p:3128")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("http_proxy", raising=False)
    server = prepared("http://h.example/")
    for secret in ("proxy-user", "pr0xy/word", "pr0xy%2Fword", "cHJveHktdXNlcjpwcjB4eS93b3Jk"):
        assert server.redact.mask(f"<{secret}>") == "<***>", secret


def test_a_proxy_whose_user_is_not_utf_8_is_refused(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://user:hunter22\udcff@p:3128")
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("NO_PROXY", "")
    with pytest.raises(InputError) as caught:
        prepared("http://h.example/")
    assert "hunter22" not in str(caught.value)


# -- who is not let in -------------------------------------------------------------------------

CHALLENGE = 'Bearer error="invalid_token", error_description="The token\x80 of t-secret expired"'


def test_a_server_that_wants_a_token_is_told_so(serve, call):
    server = serve(lambda _: [reply(401)])
    assert failure(call, server) == (
        "the server wants a token (status 401): give it with --bearer-env or --header;"
        " none was sent"
    )
    assert server.methods == ["server/discover"]


def test_a_challenge_is_repeated_without_secrets_and_what_was_sent_is_named(
    serve, call, monkeypatch
):
    monkeypatch.setenv("MY_TOKEN", "t-secret")
    server = serve(lambda _: [reply(401, WWW_Authenticate=CHALLENGE)])
    headers = {"Authorization": "Bearer ${MY_TOKEN}", "X-Key": "literal"}
    assert failure(call, server, headers=headers) == (
        "the server does not accept the credentials (status 401); sent was"
        ' Authorization (from ${MY_TOKEN}), X-Key; the challenge is Bearer error="invalid_token",'
        ' error_description="The token\\x80 of *** expired"'
    )


def test_several_challenges_are_cut_at_a_length(serve, call):
    server = serve(lambda _: [reply(401, WWW_Authenticate="x" * 999)])
    assert failure(call, server).endswith(f"the challenge is {'x' * 500}...")


def test_a_server_that_forbids_is_told_with_its_words(serve, call):
    page = b"Invalid\n Origin header"
    server = serve(lambda _: [reply(403, page, "text/plain")])
    url = server.url.replace("://", "://user:password@")
    assert failure(call, server, url=url) == (
        "the server forbids it (status 403); sent was the user of the URL;"
        ' it says "Invalid Origin header"'
    )


def test_an_error_of_json_rpc_does_not_hide_that_nobody_is_let_in(serve, call):
    def respond(asked):
        body = {"jsonrpc": "2.0", "id": asked.id, "error": {"code": 1, "message": "no"}}
        return [say(body, 401)]

    assert "(status 401)" in failure(call, serve(respond))


def test_a_call_may_be_the_first_that_is_not_let_in(serve, call):
    def special(asked):
        return [reply(403)] if asked.method == "tools/call" else None

    server = serve(modern(special))
    assert failure(call, server) == "the server forbids it (status 403); none was sent"


# -- what is listed ----------------------------------------------------------------------------


@pytest.fixture
def surveyed(interrupts):
    """Call with a server to be surveyed; what it says of itself and offers, and its methods."""

    def run(server, surface=entry.SURFACE, remembered=None):
        connection = ConnectionOptions(30, 30, 2, 1 << 20)
        prepared_ = prepare(UrlSpec(server.url, {}), {}, fill_in=True)
        with open_session(prepared_, connection, interrupts, remembered) as session:
            return survey(session, surface, connection, prepared_.redact)

    return run


WRONG = {"name": "bad", "inputSchema": {"type": "object", "x-mcp-header": "Root"}}
GOOD = {"name": "echo", "inputSchema": {"type": "object"}}


def test_a_tool_that_is_marked_wrongly_is_left_out_with_a_warning(serve, surveyed):
    live = surveyed(serve(modern(tools=[WRONG, GOOD])))
    assert list(live.items["tools"]) == ["echo"]
    assert live.oddities == [
        'the tool "bad" is left out: x-mcp-header "Root" marks what is no parameter'
    ]


def test_tools_of_one_session_never_stand_beside_prompts_of_another(serve, surveyed):
    begun = []

    def special(asked):
        session = asked.headers.get("mcp-session-id")
        match asked.method:
            case "initialize":
                begun.append(f"g{len(begun) + 1}")
                about = {"serverInfo": {"name": begun[-1], "version": "1"}}
                offers = {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}, "prompts": {}},
                }
                return [say(result(asked, **about, **offers), Mcp_Session_Id=begun[-1])]
            case "tools/list":
                return [say(result(asked, tools=[{**GOOD, "name": session}]))]
            case "prompts/list" if session == "g1":
                return [reply(404)]
            case "prompts/list":
                return [say(result(asked, prompts=[{"name": session}]))]
        return None

    live = surveyed(serve(legacy(special)))
    assert {member: list(items) for member, items in live.items.items()} == {
        "tools": ["g2"],
        "prompts": ["g2"],
    }
    assert (live.server.name, begun) == ("g2", ["g1", "g2"])


def test_marks_mean_nothing_in_the_legacy_era(serve, surveyed):
    live = surveyed(serve(legacy(tools=[WRONG, GOOD])))
    assert list(live.items["tools"]) == ["bad", "echo"]
    assert live.oddities == []


def test_a_pinned_server_of_the_modern_era_is_listed_without_a_word_before(serve, surveyed):
    server = serve(modern())
    live = surveyed(server, surface=("tools",), remembered=mcp.MODERN)
    assert live.server.revision == mcp.MODERN
    assert server.methods == ["tools/list"]
