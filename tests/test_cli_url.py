"""`pin`, `check` and `call` of servers on a URL, from the command line to the bytes that are sent."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from loopback import CLOSE, TEXT, TOOL, at, error, legacy, modern, reply, result, say
from servers import TOOLS

ROOT = Path(__file__).parent.parent
SECRET = "sesame42sesame"
TOKEN = "ghp_" + "a1B2" * 9
HEAD = "1 tool pinned; hints are the server's own word, nobody has verified them"
PINNED = f"thrall: loop: {HEAD}\nthrall: loop:   echo  (no hints)\n"
LITERAL = "looks like a credential, which does not belong in a catalog: write {} and set the variable, or say --allow-literal"


def pinned():
    """The servers of the catalog, by name; none if there is no file."""
    if not os.path.exists("c.json"):
        return {}
    return json.loads(Path("c.json").read_text())["servers"]


def write(**servers):
    Path("mcp.json").write_text(json.dumps({"mcpServers": servers}))


@pytest.fixture
def loop(serve, monkeypatch):
    """Serve one tool; the variable TOKEN holds a secret."""
    monkeypatch.setenv("TOKEN", SECRET)
    return serve(legacy())


# -- there and back ----------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["--timeout=30"], ["--json"]])
def test_a_tool_on_a_url_is_called(thrall, loop, words):
    ran = thrall("call", "echo", "a=1", "--url", loop.url, *words)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == b"hi\n" or json.loads(ran.out) == TEXT
    (asked,) = (each for each in loop.asked if each.method == "tools/call")
    assert asked.message["params"] == {"name": "echo", "arguments": {"a": "1"}}


def test_the_arguments_come_from_stdin_as_ever(thrall, loop, feed):
    feed(b'{"a": 1.0}')
    assert thrall("call", "echo", "--url", loop.url) == (0, b"hi\n", "")
    assert b'"arguments":{"a": 1.0}' in loop.asked[-1].body


@pytest.mark.parametrize("revision", ["2025-11-25", "2024-11-05"])
def test_a_server_is_pinned_checked_and_called_as_it_was_pinned(thrall, serve, revision):
    server = serve(legacy(revision=revision))
    assert thrall("pin", "c.json", "--url", server.url) == (0, b"", PINNED)
    entry = pinned()["loop"]
    assert (entry["url"], entry["protocol"]) == (server.url, revision)
    assert "headers" not in entry
    for words, ran in (
        (("check", "c.json"), (0, b"loop: as pinned\n", "")),
        (("call", "echo", "a=1", "--catalog", "c.json"), (0, b"hi\n", "")),
    ):
        server.asked.clear()
        assert thrall(*words) == ran
        assert server.methods[0] == "initialize"  # no probe


def test_a_server_of_the_modern_era_is_called_without_a_handshake_and_checked_with_one(
    thrall, serve
):
    server = serve(modern())
    ran = thrall("pin", "c.json", "--url", server.url)
    assert (ran.status, list(pinned())) == (0, ["127.0.0.1"])  # it gave no name
    server.asked.clear()
    assert thrall("call", "echo", "a=1", "--catalog", "c.json") == (0, b"hi\n", "")
    assert server.methods == ["tools/list", "tools/call"]
    server.asked.clear()
    assert thrall("check", "c.json") == (0, b"127.0.0.1: as pinned\n", "")
    assert server.methods == ["server/discover", "tools/list", "tools/list"]


def test_instructions_of_the_modern_era_are_compared_too(thrall, serve):
    said = {"instructions": "Do."}

    def discovered(asked):
        members = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        return say(result(asked, **members, **said))

    server = serve(modern(at("server/discover", discovered)))
    assert thrall("pin", "c.json", "--url", server.url).status == 0
    assert thrall("check", "c.json").status == 0
    said["instructions"] = "Do not."
    ran = thrall("check", "c.json")
    assert ran.status == 1
    assert b'instructions: text, changed\n    - "Do."\n    + "Do not."\n' in ran.out


def test_a_server_that_is_of_another_era_by_now_is_called_and_checked(thrall, serve):
    server = serve(modern(tools=[TOOL]))
    assert thrall("pin", "c.json", "--url", server.url, "--surface", "tools").status == 0
    server.respond = legacy()
    assert thrall("call", "echo", "a=1", "--catalog", "c.json") == (0, b"hi\n", "")
    assert thrall("check", "c.json").out.startswith(b"127.0.0.1: ")
    assert server.methods[-1] == "tools/list"


def test_a_catalog_of_one_server_on_a_url_and_one_process_is_checked(thrall, pin, loop):
    pin("a")
    words = ("--url", loop.url, "--header", "X-Key: ${TOKEN}", "--prefix", "u_")
    assert thrall("pin", "c.json", *words).status == 0
    as_pinned = (0, b"a: as pinned\nloop: as pinned\n", "")
    assert thrall("check", "c.json", "--jobs=1") == as_pinned
    ran = subprocess.run(  # side by side it forks, which a process with threads should not
        [sys.executable, "-m", "thrall_py", "check", "c.json"],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert (ran.returncode, ran.stdout, ran.stderr.decode()) == as_pinned
    assert thrall("call", "u_echo", "a=1", "--catalog", "c.json") == (0, b"hi\n", "")
    assert loop.asked[-1].message["params"]["name"] == "echo"


def test_a_server_that_is_away_does_not_keep_the_others_from_being_checked(thrall, pin, loop):
    pin("a")
    assert thrall("pin", "c.json", "--url", loop.url, "--prefix", "u_").status == 0
    catalog = Path("c.json").read_text()
    loop.close()
    Path("c.json").write_text(catalog.replace("/mcp", "/mcp?key=hunter22"))
    ran = thrall("check", "c.json", "--jobs=1")
    assert (ran.status, ran.out) == (4, b"a: as pinned\n")
    address = loop.url.removesuffix("/mcp")
    assert ran.err == f"thrall: loop: cannot connect to {address}: Connection refused\n"


# -- drift -------------------------------------------------------------------------------------


@pytest.fixture
def drifting(thrall, serve):
    """Pin a server that offers what stands in a list."""
    offered = [TOOL]
    server = serve(legacy(tools=offered))
    assert thrall("pin", "c.json", "--url", server.url).status == 0
    offered[0] = {**TOOL, "description": "New."}
    server.asked.clear()
    return server


def test_a_tool_that_drifted_is_not_called(thrall, drifting):
    ran = thrall("call", "echo", "a=1", "--catalog", "c.json")
    assert (ran.status, ran.out) == (6, b"")
    assert (
        "thrall: echo: not as pinned, so nothing was called: description added; review, then re-pin"
    ) in ran.err
    assert "tools/call" not in drifting.methods
    ran = thrall("call", "echo", "a=1", "--catalog", "c.json", "--unverified")
    assert (ran.status, ran.out) == (0, b"hi\n")


DRIFTED = "echo: not as pinned, so nothing was called: "
CALL = ("call", "echo", "a=1", "--catalog", "c.json")


def marking(listed):
    """A modern server with these lists, the last for ever; its first call has headers that do not fit."""
    refusals = [-32020]

    def special(asked):
        if asked.method == "tools/list":
            return [say(result(asked, tools=listed.pop(0) if len(listed) > 1 else listed[0]))]
        if asked.method == "tools/call" and refusals:
            return [say(error(asked, refusals.pop()), 400)]
        return None

    return modern(special)


LEAKING = {**TOOL, "inputSchema": {"properties": {"a": {"type": "string", "x-mcp-header": "Leak"}},
                                   "type": "object"}}  # fmt: skip
CHANGED = {
    "the words": ([{**TOOL, "description": "EVIL"}], "description added"),
    "the parameters": ([LEAKING], "inputSchema"),
    "its existence": ([], "the tool removed"),
}


@pytest.fixture
def pinned_modern(thrall, serve):
    server = serve(modern())
    assert thrall("pin", "c.json", "--url", server.url, "--name", "loop").status == 0
    server.asked.clear()
    return server


@pytest.mark.parametrize("when", ["while it is listed for the headers", "after that"])
@pytest.mark.parametrize(("changed", "what"), CHANGED.values(), ids=CHANGED)
def test_headers_that_do_not_fit_are_no_way_around_a_pin(
    thrall, pinned_modern, changed, what, when
):
    before = [[TOOL]] if when.startswith("while") else [[TOOL], [TOOL]]
    pinned_modern.respond = marking([*before, changed])
    ran = thrall(*CALL)
    assert (ran.status, ran.out) == (6, b"")
    assert DRIFTED + what in ran.err
    assert pinned_modern.methods.count("tools/call") == 1
    assert not any("mcp-param-leak" in asked.headers for asked in pinned_modern.asked)


def test_a_pinned_tool_that_is_as_it_was_is_called_again_after_headers_that_did_not_fit(
    thrall, pinned_modern
):
    pinned_modern.respond = marking([[TOOL]])
    assert thrall(*CALL) == (0, b"hi\n", "")
    assert pinned_modern.methods.count("tools/call") == 2
    assert pinned_modern.methods[-2:] == ["tools/list", "tools/call"]


def test_without_a_look_at_the_pin_it_is_called_again_as_it_is(thrall, pinned_modern):
    pinned_modern.respond = marking([[TOOL], [LEAKING]])
    ran = thrall(*CALL, "--unverified")
    assert (ran.status, ran.out) == (0, b"hi\n")
    assert pinned_modern.asked[-1].headers["mcp-param-leak"] == "1"


def generations(offers, forget):
    """A server whose sessions g1, g2... offer each its own tools; `forget` says what g1 forgets."""
    begun = []

    def special(asked):
        session = asked.headers.get("mcp-session-id")
        if asked.method == "initialize":
            begun.append(f"g{len(begun) + 1}")
            about = {"name": "loop", "version": "1"}
            members = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
            return [say(result(asked, serverInfo=about, **members), Mcp_Session_Id=begun[-1])]
        if session == "g1" and forget(asked):
            return [reply(404)]
        if asked.method != "tools/list":
            return None
        first, *more = offers[session]
        if not more:
            return [say(result(asked, tools=first))]
        page = more[0] if "cursor" in asked.message["params"] else first
        following = {} if page is more[0] else {"nextCursor": "2"}
        return [say(result(asked, tools=page, **following))]

    return legacy(special)


def forgets_calls(asked):
    return asked.method == "tools/call"


def sessions(server, method):
    return [each.headers["mcp-session-id"] for each in server.asked if each.method == method]


@pytest.mark.parametrize(("changed", "what"), CHANGED.values(), ids=CHANGED)
def test_a_session_that_is_lost_is_no_way_around_a_pin(thrall, loop, changed, what):
    assert thrall("pin", "c.json", "--url", loop.url).status == 0
    loop.asked.clear()
    loop.respond = generations({"g1": [[TOOL]], "g2": [changed]}, forgets_calls)
    ran = thrall(*CALL)
    assert (ran.status, ran.out) == (6, b"")
    assert DRIFTED + what in ran.err
    assert sessions(loop, "tools/call") == ["g1"]
    assert sessions(loop, "tools/list") == ["g1", "g2"]
    assert loop.methods[-1] == "DELETE"


def test_a_pinned_tool_that_is_as_it_was_is_called_in_the_new_session(thrall, loop):
    assert thrall("pin", "c.json", "--url", loop.url).status == 0
    loop.asked.clear()
    loop.respond = generations({"g1": [[TOOL]], "g2": [[TOOL]]}, forgets_calls)
    assert thrall(*CALL) == (0, b"hi\n", "")
    assert sessions(loop, "tools/call") == sessions(loop, "tools/list") == ["g1", "g2"]


def test_a_list_is_never_of_two_sessions(thrall, loop):
    def named(name):
        return [{**TOOL, "name": name}]

    offers = {each: [named(f"{each}-a"), named(f"{each}-b")] for each in ("g1", "g2")}
    loop.respond = generations(
        offers, lambda asked: "cursor" in (asked.message.get("params") or {})
    )
    assert thrall("pin", "c.json", "--url", loop.url).status == 0
    assert list(pinned()["loop"]["tools"]) == ["g2-a", "g2-b"]
    assert sessions(loop, "tools/list") == ["g1", "g1", "g2", "g2"]


def test_drift_is_found_by_check_and_pinned_by_update(thrall, drifting):
    shown = b'loop: 1 difference (1 text)\n  echo: description: text, added\n    + "New."\n'
    advice = "thrall: review, then re-pin: thrall pin c.json --update loop\n"
    assert thrall("check", "c.json") == (1, shown, advice)
    url = pinned()["loop"]["url"]
    ran = thrall("pin", "c.json", "--update", "--yes")
    assert (ran.status, ran.out) == (0, shown)
    assert pinned()["loop"]["url"] == url == drifting.url
    assert thrall("check", "c.json").status == 0


def test_a_tool_that_is_marked_wrongly_is_left_out_with_a_warning(thrall, serve):
    wrong = {"name": "bad", "inputSchema": {"type": "object", "x-mcp-header": "Root"}}
    server = serve(modern(tools=[wrong, TOOL]))
    ran = thrall("pin", "c.json", "--url", server.url, "--name", "loop")
    assert (ran.status, ran.out) == (0, b"")
    why = 'the tool "bad" is left out: x-mcp-header "Root" marks what is no parameter'
    assert why in ran.err
    assert list(pinned()["loop"]["tools"]) == ["echo"]
    ran = thrall("check", "c.json")
    assert (ran.status, ran.out) == (0, b"loop: as pinned\n")
    assert ran.err == f"thrall: loop: {why}\n"
    ran = thrall("call", "bad", "a=1", "--url", server.url)
    assert (ran.status, ran.out) == (4, b"")
    assert "in a way that nobody can call it" in ran.err


# -- headers -----------------------------------------------------------------------------------


def headers_of(server):
    """What the server got beside what every request has; the same each time."""
    own = {"host", "user-agent", "accept", "accept-encoding", "content-type", "content-length"}
    sent = [
        {
            name: value
            for name, value in each.headers.items()
            if name not in own and not name.startswith("mcp-")
        }
        for each in server.asked
    ]
    assert sent
    assert all(each == sent[0] for each in sent)
    return sent[0]


WAYS = {
    "a header": (["--header", "Authorization: Bearer ${TOKEN}"], "Bearer ${TOKEN}"),
    "a token": (["--bearer-env", "TOKEN"], "Bearer ${TOKEN}"),
    "a file": (["--header-file", "headers"], "Bearer ${TOKEN}"),
    "a default": (["--header", "Authorization: ${X:-Bearer} ${TOKEN}"], "${X:-Bearer} ${TOKEN}"),
}


@pytest.mark.parametrize(("words", "stored"), WAYS.values(), ids=WAYS)
def test_a_variable_is_filled_in_where_it_is_sent_and_stored_as_it_is_written(
    thrall, loop, words, stored
):
    Path("headers").write_text("# of the job\n\nAuthorization: Bearer ${TOKEN}\n")
    assert thrall("pin", "c.json", "--url", loop.url, *words) == (0, b"", PINNED)
    assert pinned()["loop"]["headers"] == {"Authorization": stored}
    assert SECRET not in Path("c.json").read_text()
    assert headers_of(loop) == {"authorization": f"Bearer {SECRET}"}
    loop.asked.clear()
    assert thrall("call", "echo", "a=1", "--url", loop.url, *words) == (0, b"hi\n", "")
    assert thrall("call", "echo", "a=1", "--catalog", "c.json") == (0, b"hi\n", "")
    assert thrall("check", "c.json") == (0, b"loop: as pinned\n", "")
    assert headers_of(loop) == {"authorization": f"Bearer {SECRET}"}


def test_a_variable_of_the_address_is_filled_in_where_it_is_reached(thrall, loop, monkeypatch):
    monkeypatch.setenv("AT", f"127.0.0.1:{loop.port}")
    url = "http://user:${TOKEN}@${AT}/mcp?token=${TOKEN}"
    assert thrall("pin", "c.json", "--url", url) == (0, b"", PINNED)
    assert pinned()["loop"]["url"] == url
    assert loop.asked[0].target == f"/mcp?token={SECRET}"
    assert headers_of(loop) == {"authorization": "Basic dXNlcjpzZXNhbWU0MnNlc2FtZQ=="}


@pytest.mark.parametrize("verb", [("pin", "c.json"), ("call", "echo", "a=1")])
def test_a_variable_that_is_not_set_is_told_before_anything_is_asked(thrall, loop, verb):
    ran = thrall(*verb, "--url", loop.url, "--header", "A: ${NOBODY}")
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err.endswith(
        ": the variable NOBODY is not set (or not exported), and the server needs it\n"
    )
    assert loop.asked == []


@pytest.mark.parametrize("verb", [("pin", "c.json"), ("call", "echo", "a=1")])
def test_a_token_in_the_place_of_its_variable_is_a_mistake_and_not_repeated(thrall, loop, verb):
    ran = thrall(*verb, "--url", loop.url, "--bearer-env", SECRET)
    assert (ran.status, ran.out) == (2, b"")
    assert ran.err == (
        "thrall: Invalid value for '--bearer-env': the variable is not set (or not exported);"
        f" give its name, not the token (see thrall {verb[0]} --help)\n"
    )
    assert (loop.asked, pinned()) == ([], {})


@pytest.mark.parametrize("verb", [("pin", "c.json"), ("call", "echo", "a=1")])
@pytest.mark.parametrize(
    ("name", "words"),
    [("EMPTY", "is set and empty"), ("MY_TOKEN_2", "is not set (or not exported)")],
)
def test_a_variable_without_a_token_is_named_and_the_status_is_that_of_a_catalog(
    thrall, loop, monkeypatch, verb, name, words
):
    monkeypatch.setenv("EMPTY", "")
    ran = thrall(*verb, "--url", loop.url, "--bearer-env", name)
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err.endswith(f": the variable {name} {words}, and the server needs it\n")
    assert (loop.asked, pinned()) == ([], {})


@pytest.mark.parametrize("name", ["A-B", "A:-x"])
def test_a_variable_with_a_name_that_cannot_be_filled_in_is_no_token(
    thrall, loop, monkeypatch, name
):
    monkeypatch.setenv(name, SECRET)
    ran = thrall("call", "echo", "a=1", "--url", loop.url, "--bearer-env", name)
    assert ran.status != 0 or headers_of(loop) == {"authorization": f"Bearer {SECRET}"}


def test_a_variable_of_a_pin_that_is_not_set_is_told_by_call_and_check(thrall, loop, monkeypatch):
    assert thrall("pin", "c.json", "--url", loop.url, "--bearer-env", "TOKEN").status == 0
    loop.asked.clear()
    for value, told in (("", "set and empty"), (None, "not set (or not exported)")):
        monkeypatch.setenv("TOKEN", value) if value is not None else monkeypatch.delenv("TOKEN")
        for words in (("call", "echo", "a=1", "--catalog", "c.json"), ("check", "c.json")):
            ran = thrall(*words)
            assert (ran.status, ran.out) == (3, b"")
            assert f"the variable TOKEN is {told}, and the server needs it" in ran.err
    assert loop.asked == []


def test_headers_for_a_whole_job_stand_on_lines_of_one_variable(thrall, loop, monkeypatch):
    monkeypatch.setenv("THRALL_CALL_HEADER", "X-A: one  two\nAuthorization: Bearer ${TOKEN}")
    monkeypatch.setenv("THRALL_CALL_URL", loop.url)
    assert thrall("call", "echo", "a=1") == (0, b"hi\n", "")
    assert headers_of(loop) == {"x-a": "one  two", "authorization": f"Bearer {SECRET}"}
    loop.asked.clear()
    assert thrall("call", "echo", "a=1", "--header", "X-B: c").status == 0
    assert headers_of(loop) == {"x-b": "c"}  # words go before a variable


def test_a_line_break_at_the_end_of_that_variable_is_no_header(thrall, loop, monkeypatch):
    monkeypatch.setenv("THRALL_CALL_HEADER", "X-A: b\nX-C: d\n")
    assert thrall("call", "echo", "a=1", "--url", loop.url) == (0, b"hi\n", "")


def test_a_file_has_headers_blank_lines_and_comments(thrall, loop):
    Path("headers").write_text("# one\n\n X-A: b # c \n#X-D: e\nX-F: é\r\n")
    words = ("--header-file", "headers", "--header", "X-G: h")
    assert thrall("call", "echo", "a=1", "--url", loop.url, *words).status == 0
    sent = headers_of(loop)
    assert sent.pop("x-f").encode("latin-1").decode() == "é"
    assert sent == {"x-a": "b # c", "x-g": "h"}


@pytest.mark.parametrize("verb", [("pin", "c.json"), ("call", "echo", "a=1")])
@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (["--header", "hunter22"], 2, "a header is given as 'NAME: VALUE'"),
        (["--header", ""], 2, "a header is given as 'NAME: VALUE'"),
        (["--header", "X-A: b", "--header", "x-a: c"], 2, "the header x-a is given twice"),
        (
            ["--header", "authorization: x", "--bearer-env", "TOKEN"],
            2,
            "the header Authorization is given twice",
        ),
        (["--header-file", "twice"], 2, "the header x-a is given twice"),
        (["--header-file", "none\x1b"], 3, r"cannot read none\x1b: No such file or directory"),
        (["--header-file", "latin"], 3, "latin is not UTF-8"),
        (["--header-file", "."], 3, "cannot read .: Is a directory"),
        (["--header", "X-A: b\nX-C: d"], 3, "the value of the header X-A has a line break or"),
        (["--header", "Host: h"], 3, "the header Host is set by thrall itself"),
        (["--header", "Mcp-Session-Id: h"], 3, "the header Mcp-Session-Id is set by thrall"),
        (["--header", "X\x1bA: b"], 3, r'no header can have the name "X\x1bA"'),
    ],
)
def test_headers_that_cannot_be_used_are_told_before_anything_is_asked(
    thrall, loop, verb, words, status, sentence
):
    Path("latin").write_bytes(b"X-A: hunter22 \xe9\n")
    Path("twice").write_text("X-A: hunter22\nx-a: hunter23\n")
    ran = thrall(*verb, "--url", loop.url, *words)
    assert (ran.status, ran.out, ran.err.count("\n")) == (status, b"", 1)
    assert sentence in ran.err
    assert "hunter" not in ran.err
    assert (loop.asked, pinned()) == ([], {})


@pytest.mark.parametrize(
    "words",
    [
        ("--header", "X-A: hunter22\udcff"),
        ("--bearer-env", "BROKEN"),
        ("--header", "X-A: ${BROKEN}"),
        ("--url", "http://user:hunter22\udcff@127.0.0.1:1/"),
    ],
)
def test_what_is_not_utf_8_is_refused_by_a_call(thrall, loop, monkeypatch, words):
    monkeypatch.setenv("BROKEN", "hunter22\udcff")
    ran = thrall("call", "echo", "a=1", "--url", loop.url, *words)
    assert (ran.status, ran.out, ran.err.count("\n")) == (3, b"", 1)
    assert "hunter22" not in ran.err


@pytest.mark.parametrize("words", [["--header", "X-A: \udcff"], ["--url", "http://\udcff/"]])
def test_what_is_not_utf_8_is_refused_by_a_pin(thrall, loop, words):
    ran = thrall("pin", "c.json", "--url", loop.url, *words)
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err.endswith(r"\udcff is not UTF-8" + "\n") or "http://" in ran.err
    assert (loop.asked, pinned()) == ([], {})


# -- who is not let in -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("--bearer-env", "TOKEN"),
            "does not accept the credentials (status 401); sent was Authorization (from ${TOKEN});",
        ),
        (
            ("--header", "X-Key: ${TOKEN}", "--header", "X-Team: t"),
            "sent was X-Key (from ${TOKEN}), X-Team; the challenge is",
        ),
        (
            (),
            "wants a token (status 401): give it with --bearer-env or --header; none was sent;",
        ),
    ],
)
@pytest.mark.parametrize("verb", [("pin", "c.json"), ("call", "echo", "a=1")])
def test_a_server_that_does_not_let_us_in_is_told_with_what_was_sent(
    thrall, serve, monkeypatch, words, sentence, verb
):
    monkeypatch.setenv("TOKEN", SECRET)
    server = serve(lambda _: [reply(401, WWW_Authenticate=f'Bearer error="{SECRET}"')])
    ran = thrall(*verb, "--url", server.url, *words)
    assert (ran.status, ran.out) == (8, b"")
    assert sentence in ran.err
    assert ran.err.endswith('; the challenge is Bearer error="***"\n')
    assert pinned() == {}


def test_a_token_that_ran_out_is_told_by_check_and_call_of_a_catalog(thrall, loop):
    assert thrall("pin", "c.json", "--url", loop.url, "--bearer-env", "TOKEN").status == 0
    loop.respond = lambda _: [reply(401, f"{SECRET} expired".encode(), "text/plain")]
    for words in (("check", "c.json"), ("call", "echo", "a=1", "--catalog", "c.json")):
        ran = thrall(*words)
        assert (ran.status, ran.out) == (8, b"")
        assert ran.err.endswith('sent was Authorization (from ${TOKEN}); it says "*** expired"\n')


# -- what does not belong in a catalog -------------------------------------------------------

BEARER = "'Authorization: Bearer ${AUTHORIZATION}' (or --bearer-env AUTHORIZATION)"
CLEAR = {
    "a token": (["--header", f"Authorization: Bearer {SECRET}"],
                "the header Authorization", BEARER),
    "a password": (["--header", "Authorization: Basic dTpw"],
                   "the header Authorization", "'Authorization: Basic ${AUTHORIZATION}'"),
    "a short one": (["--header", "X-Api-Key: x"],
                    "the header X-Api-Key", "'X-Api-Key: ${X_API_KEY}'"),
    "a shape": (["--header", f"X-Team: {TOKEN}"], "the header X-Team", "'X-Team: ${X_TEAM}'"),
    "one of a file": (["--header-file", "headers"], "the header cookie", "'cookie: ${COOKIE}'"),
    "a default": (["--header", f"Authorization: Bearer ${{T:-{SECRET}}}"],
                  "the header Authorization", BEARER),
}  # fmt: skip


@pytest.mark.parametrize(("words", "what", "spelling"), CLEAR.values(), ids=CLEAR)
def test_a_header_that_holds_a_credential_in_clear_is_refused_with_the_spelling_to_use(
    thrall, loop, words, what, spelling
):
    Path("headers").write_text(f"X-A: b\ncookie: {SECRET}\n")
    ran = thrall("pin", "c.json", "--url", loop.url, *words)
    assert ran == (3, b"", f"thrall: c.json: {what} {LITERAL.format(spelling)}\n")
    assert (loop.asked, pinned()) == ([], {})


@pytest.mark.parametrize(
    "url",
    [
        "http://user:hunter22@{}/mcp",
        "http://:hunter22@{}/mcp",
        "http://user:${{TOKEN}}hunter22@{}/mcp",
        "http://user:${{T:-hunter22}}@{}/mcp",
        "http://{}/mcp?x=1&password=hunter22",
        "http://{}/mcp?token=abcd1234hunter22",
        f"http://{{}}/mcp/{TOKEN}",
    ],
)
def test_an_address_that_holds_one_in_clear_is_refused_without_repeating_it(thrall, loop, url):
    url = url.format(f"127.0.0.1:{loop.port}")
    ran = thrall("pin", "c.json", "--url", url)
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err.startswith("thrall: c.json: the URL looks like a credential, which does not")
    assert not any(secret in ran.err for secret in ("hunter22", TOKEN))
    assert (loop.asked, pinned()) == ([], {})


def test_a_call_may_hold_it_in_clear(thrall, loop):
    url = loop.url.replace("://", "://user:hunter22@") + "?password=hunter22"
    words = ("--url", url, "--header", f"X-Api-Key: {SECRET}")
    assert thrall("call", "echo", "a=1", *words) == (0, b"hi\n", "")
    assert headers_of(loop)["x-api-key"] == SECRET


@pytest.mark.parametrize(
    "words",
    [
        ["--header", "X-Api-Key: letmein"],
        pytest.param(
            ["--header", "Authorization: Bearer abcd1234efgh5678"],
        ),
        ["--url", "http://user:hunter22@{}/mcp"],
        pytest.param(
            ["--url", "http://{}/mcp?token=abcd1234hunter22"],
        ),
    ],
)
def test_what_holds_one_is_stored_if_that_is_allowed(thrall, loop, words):
    words = [word.format(f"127.0.0.1:{loop.port}") for word in words]
    ran = thrall("pin", "c.json", "--url", loop.url, *words, "--allow-literal")
    assert ran == (0, b"", PINNED)
    entry = pinned()["loop"]
    stored = {"--url": [entry["url"]], "--header": [f"{name}: {value}" for name, value in
                                                   entry.get("headers", {}).items()]}  # fmt: skip
    assert stored[words[0]] == words[1:]


@pytest.mark.parametrize(
    "words",
    [
        ["--header", "X-Team: one"],
        pytest.param(
            ["--header", "X-Team: engineering-platform-42"],
        ),
        ["--url", "http://{}/mcp?v=1"],
        pytest.param(
            ["--url", "http://{}/mcp?profile=readonly-2025"],
        ),
    ],
)
def test_what_only_is_long_is_stored(thrall, loop, words):
    words = [word.format(f"127.0.0.1:{loop.port}") for word in words]
    assert thrall("pin", "c.json", "--url", loop.url, *words) == (0, b"", PINNED)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--header", f"X-Team: a{SECRET}"], "the header X-Team"),
        (["--url", "http://{}/{}"], "the URL"),
    ],
)
@pytest.mark.parametrize("allowed", [[], ["--allow-literal"]])
def test_the_value_of_a_secret_variable_is_refused_wherever_it_stands(
    thrall, loop, words, what, allowed
):
    words = [word.format(f"127.0.0.1:{loop.port}", SECRET) for word in words]
    ran = thrall("pin", "c.json", "--url", loop.url, *words, *allowed)
    assert (ran.status, ran.out) == (3, b"")
    assert ran.err == (
        f"thrall: c.json: {what} holds the value of a secret variable in clear:"
        " write ${NAME} in its place\n"
    )
    assert (loop.asked, pinned()) == ([], {})


def test_a_server_that_repeats_the_token_in_a_definition_is_not_pinned(thrall, serve, monkeypatch):
    monkeypatch.setenv("T", SECRET)
    server = serve(legacy(tools=[{**TOOL, "description": f"For {SECRET}."}]))
    ran = thrall("pin", "c.json", "--url", server.url, "--bearer-env", "T")
    assert (ran.status, ran.out, pinned()) == (4, b"", {})
    assert 'the definition of "echo" repeats a secret' in ran.err
    assert SECRET not in ran.err


# -- what is not printed -----------------------------------------------------------------------


def echoes(status):
    """Repeat what was asked and for whom."""

    def respond(asked):
        told = f"{asked.target} {asked.headers['authorization']} hunter22".encode()
        return [reply(status, told, "text/plain")]

    return respond


def redirects(asked):
    return [reply(301, Location=f"//user:hunter22@h.example{asked.target}")]


FAILURES = {
    "not let in": (echoes(401), 8, "(status 401)"),
    "forbidden": (echoes(403), 8, "(status 403)"),
    "broken": (echoes(500), 4, "status 500"),
    "gone": (lambda _: [CLOSE], 4, "closed the connection"),
    "elsewhere": (redirects, 4, "to http://h.example/mcp, which is not followed"),
    "refused": (modern(at("tools/call", lambda asked: say(error(asked, 1, asked.target)))), 5, "error 1"),
}  # fmt: skip


@pytest.mark.parametrize(("respond", "status", "words"), FAILURES.values(), ids=FAILURES)
def test_neither_user_nor_query_of_an_address_is_printed_whatever_happens(
    thrall, serve, respond, status, words
):
    server = serve(respond)
    url = server.url.replace("://", "://swordfish:hunter22@") + "?key=letmein99"
    ran = thrall("call", "echo", "a=1", "--url", url)
    assert (ran.status, ran.out) == (status, b"")
    assert words in ran.err
    assert not any(word in ran.err for word in ("swordfish", "hunter22", "letmein99"))


def test_nor_is_the_header_that_is_made_of_the_user(thrall, serve):
    url = serve(echoes(500)).url.replace("://", "://swordfish:hunter22@")
    ran = thrall("call", "echo", "a=1", "--url", url)
    assert ran.status == 4
    assert "c3dvcmRmaXNoOmh1bnRlcjIy" not in ran.err


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("http://swordfish:hunter22@127.0.0.1:1/mcp?key=letmein99", 4),
        ("ftp://swordfish:hunter22@h/mcp?key=letmein99", 3),
        ("http://swordfish:hunter22@h:x/mcp?key=letmein99", 3),
        ("swordfish:hunter22@h?key=letmein99", 3),
    ],
)
def test_nor_where_nobody_can_be_reached(thrall, serve, url, status):
    assert callable(serve)  # no proxy is in the way
    ran = thrall("call", "echo", "a=1", "--url", url)
    assert (ran.status, ran.out) == (status, b"")
    assert not any(word in ran.err for word in ("swordfish", "hunter22", "letmein99"))


def test_a_server_without_a_name_has_that_of_its_host_and_no_more_of_its_address(
    thrall, serve, monkeypatch
):
    monkeypatch.setenv("T", SECRET)
    one, other = serve(modern()), serve(modern())
    url = one.url.replace("://", "://user:${T}@") + "?key=${T}"
    assert thrall("pin", "c.json", "--url", url).status == 0
    assert list(pinned()) == ["127.0.0.1"]
    ran = thrall("pin", "c.json", "--url", other.url)
    assert ran == (
        3,
        b"",
        "thrall: c.json: 127.0.0.1 is another server: give this one a --name\n",
    )


# -- the servers of an agent's configuration file ----------------------------------------------


@pytest.mark.parametrize("member", ["url", "serverUrl", "httpUrl"])
def test_a_server_of_a_file_is_reached_with_its_headers(thrall, loop, member):
    write(a={member: loop.url, "headers": {"Authorization": "Bearer ${env:TOKEN}"}})
    ran = thrall("pin", "c.json", "--from", "mcp.json")
    assert (ran.status, ran.out) == (0, b"")
    assert ran.err.startswith(f"thrall: a: {HEAD}\n")
    assert pinned()["a"]["url"] == loop.url
    assert pinned()["a"]["headers"] == {"Authorization": "Bearer ${TOKEN}"}
    assert headers_of(loop) == {"authorization": f"Bearer {SECRET}"}
    assert thrall("check", "c.json") == (0, b"a: as pinned\n", "")


def test_servers_of_a_file_with_secrets_in_clear_are_refused_and_the_others_pinned(thrall, loop):
    write(
        a={"url": loop.url, "headers": {"Authorization": f"${{X}} {TOKEN}"}},
        b={"serverUrl": f"{loop.url}?token={TOKEN}"},
        c={"httpUrl": loop.url, "headers": {"A": "${input:token}"}},
        d={"url": loop.url, "headers": {"X-Team": "one"}},
    )
    ran = thrall("pin", "c.json", "--from", "mcp.json", "--jobs=1")
    assert (ran.status, ran.out) == (3, b"")
    assert "thrall: a: the header Authorization looks like a credential" in ran.err
    assert ": write ${AUTHORIZATION} in mcp.json and set the variable, or say --allow" in ran.err
    assert "thrall: c.json: written, 1 of 4 servers\n" in ran.err
    assert "thrall: b: the URL looks like a credential" in ran.err
    assert "thrall: c: ${input:token} means nothing here" in ran.err
    assert TOKEN not in ran.err
    assert list(pinned()) == ["d"]
    assert headers_of(loop) == {"x-team": "one"}


def test_the_name_of_a_header_of_a_file_does_not_act_on_the_terminal(thrall, loop):
    write(a={"url": loop.url, "headers": {"X\x1b[31m-Token": "x"}})
    ran = thrall("pin", "c.json", "--from", "mcp.json")
    assert (ran.status, ran.out) == (3, b"")
    assert "\x1b" not in ran.err


def test_a_header_of_a_file_with_a_secret_in_clear_is_stored_by_a_name(thrall, loop):
    write(a={"url": loop.url, "headers": {"Authorization": f"Bearer {TOKEN}"}})
    ran = thrall("pin", "c.json", "--from", "mcp.json")
    assert (ran.status, ran.out) == (0, b"")
    assert "thrall: a: secrets of the file are left out: set ${A_AUTHORIZATION} for" in ran.err
    assert TOKEN not in ran.err + Path("c.json").read_text()
    assert pinned()["a"]["headers"] == {"Authorization": "Bearer ${A_AUTHORIZATION}"}
    assert headers_of(loop) == {"authorization": f"Bearer {TOKEN}"}


def test_a_header_of_an_odd_name_keeps_no_other_server_from_being_pinned(thrall, loop):
    write(a={"url": loop.url, "headers": {":": TOKEN}}, b={"url": loop.url})
    ran = thrall("pin", "c.json", "--from", "mcp.json", "--jobs=1")
    assert (ran.status, ran.out, list(pinned())) == (3, b"", ["b"])


# -- exports -----------------------------------------------------------------------------------


def test_what_is_exported_can_be_pinned_again(thrall, loop):
    words = ("--url", loop.url, "--header", "X-A: b", "--bearer-env", "TOKEN")
    assert thrall("pin", "c.json", *words).status == 0
    before = Path("c.json").read_bytes()
    ran = thrall("show", "c.json", "--format", "mcp-json")
    assert (ran.status, ran.err) == (0, "")
    assert json.loads(ran.out) == {
        "mcpServers": {
            "loop": {
                "type": "http",
                "url": loop.url,
                "headers": {"Authorization": "Bearer ${TOKEN}", "X-A": "b"},
            }
        }
    }
    Path("mcp.json").write_bytes(ran.out)
    os.unlink("c.json")
    assert thrall("pin", "c.json", "--from", "mcp.json").status == 0
    assert Path("c.json").read_bytes() == before


def test_the_catalog_of_stdout_has_the_address(thrall, loop):
    ran = thrall("pin", "-", "--url", loop.url)
    assert (ran.status, ran.err) == (0, PINNED)
    assert json.loads(ran.out)["servers"]["loop"]["url"] == loop.url


# -- options that do not fit together ----------------------------------------------------------

URL = ["--url", "http://127.0.0.1:1/"]
NOT_STARTED = "--env, --clean-env and --cwd are for servers that are started"
NOT_REACHED = "--header, --bearer-env and --header-file need a --url"
OF_THE_CATALOG = "--env, --cwd, --header and the like come from the catalog"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([*URL, "--", "s"], "a server behind -- and --url exclude each other"),
        ([*URL, "--"], "a server behind -- and --url exclude each other"),
        ([*URL, "--catalog", "c"], "a server and --catalog exclude each other"),
        (["--catalog", "c", "--header", "A: b"], OF_THE_CATALOG),
        (["--catalog", "c", "--bearer-env", "A"], OF_THE_CATALOG),
        (["--catalog", "c", "--header-file", "h"], OF_THE_CATALOG),
        ([*URL, "--env", "A"], NOT_STARTED),
        ([*URL, "--clean-env"], NOT_STARTED),
        ([*URL, "--cwd", "d"], NOT_STARTED),
        (["--header", "A: b", "--", "s"], NOT_REACHED),
        (["--bearer-env", "A", "--", "s"], NOT_REACHED),
        (["--header-file", "h"], NOT_REACHED),
        (
            [*URL, "--unverified"],
            "--unverified and --validate are about a pin: they need --catalog",
        ),
    ],
)
def test_a_call_is_of_one_server_with_options_that_are_its_own(
    thrall, monkeypatch, words, sentence
):
    monkeypatch.setenv("A", "x")
    assert thrall("call", "t", "a=1", *words) == (2, b"", f"thrall: t: {sentence}\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([*URL, "--", "s"], "a server behind -- and --url exclude each other"),
        ([*URL, "--from", "f"], "--url and --from exclude each other"),
        ([*URL, "--update"], "--url and --update exclude each other"),
        ([*URL, "d"], "d is too much: one server is given"),
        ([*URL, "--env", "A=b"], NOT_STARTED),
        ([*URL, "--clean-env"], NOT_STARTED),
        ([*URL, "--cwd", "d"], NOT_STARTED),
        (["--header", "A: b", "--", "s"], NOT_REACHED),
        (["--bearer-env", "A", "--", "s"], NOT_REACHED),
        (["--header-file", "h", "--", "s"], NOT_REACHED),
    ],
)
def test_so_is_a_pin(thrall, monkeypatch, words, sentence):
    monkeypatch.setenv("A", "x")
    assert thrall("pin", "c.json", *words) == (2, b"", f"thrall: {sentence}\n")
    assert pinned() == {}


def test_a_check_has_no_headers_of_its_own(thrall):
    for option in ("--url", "--header", "--bearer-env", "--header-file"):
        ran = thrall("check", "c.json", option, "x")
        assert (ran.status, ran.out) == (2, b"")
        assert ran.err.startswith("thrall: No such option")


def test_a_server_on_a_url_is_taken_out_like_any_other(thrall, loop, pin):
    pin("b", tools=TOOLS)
    assert thrall("pin", "c.json", "--url", loop.url).status == 0
    assert thrall("unpin", "c.json", "loop").status == 0
    assert list(pinned()) == ["b"]
