import json
import os
import re
import time
from pathlib import Path

import pytest
from loopback import (
    CERTIFICATE,
    HOLD,
    TEXT,
    TLS,
    OldTransport,
    at,
    event,
    legacy,
    modern,
    reply,
    result,
    say,
    stream,
)
from servers import command, offering

from thrall_py.output import status_line

SECRET = "sesame42sesame"
GOOD = ("--", *command("good"))


def records(path="t.jsonl"):
    with open(path, encoding="ascii") as file:
        return [json.loads(line) for line in file]


def texts(way):
    return [each["text"] for each in records() if each.get("way") == way]


# -- --verbose -----------------------------------------------------------------------------------


def stages(err):
    return [re.sub(r"\d+ ms", "N ms", line) for line in err.splitlines()]


def test_verbose_tells_the_stages_of_a_call(thrall):
    ran = thrall("call", "echo", "a=1", "--verbose", *GOOD)
    assert (ran.status, len(ran.out.splitlines())) == (0, 1)
    words = [line.partition(" ms  ")[2] for line in stages(ran.err)]
    assert re.match(r"thrall: echo: +N ms  started ", stages(ran.err)[0])
    assert words[1:] == [
        "sent server/discover (the probe)",
        "answered in N ms",
        "sent initialize",
        "answered in N ms",
        'speaks 2025-11-25; it is "fake" 1',
        "if it logged errors: --protocol 2025-11-25 leaves the probe out",
        "sent tools/call",
        "answered in N ms",
        "leaving the server",
        "the server exited with status 0, after N ms",
    ]


@pytest.mark.parametrize(
    ("server", "words"), [("good", ("--protocol", "2025-11-25")), ("modern", ())]
)
def test_verbose_advises_nothing_where_no_probe_was_in_vain(thrall, server, words):
    ran = thrall("call", "echo", "a=1", "--verbose", *words, "--", *command(server))
    assert ran.status == 0
    assert "probe out" not in ran.err


def test_verbose_names_the_servers_of_a_catalog(thrall, pin):
    for name in "ab":
        pin(name)
    ran = thrall("check", "c.json", "--verbose")
    assert ran.status == 0
    for name in "ab":
        told = [line for line in stages(ran.err) if line.startswith(f"thrall: {name}: ")]
        assert told[-1].endswith("the server exited with status 0, after N ms")
        assert sum("listed 2 tools in 1 page" in line for line in told) == 2


def test_verbose_tells_of_connections(thrall, serve):
    server = serve(modern())
    ran = thrall("call", "echo", "a=1", "--verbose", "--url", server.url)
    assert f"connected to http://127.0.0.1:{server.port}" in ran.err
    assert "listed 1 tool in 1 page" in ran.err
    assert "the server was left" in ran.err


# -- --quiet -------------------------------------------------------------------------------------


def test_quiet_says_nothing_but_failures(thrall):
    offering(serverInfo={"name": "fake", "version": "1"}, tools=[{"name": "fail"}, {"name": "I0"}, {"name": "l0"}],
             answers={"empty": {"content": []}})  # fmt: skip
    assert thrall("pin", "c.json", *GOOD).err.count("\n") > 3
    assert thrall("pin", "d.json", "--quiet", *GOOD) == (0, b"", "")
    assert thrall("call", "empty", "a=1", *GOOD).err == "thrall: empty: the answer is empty\n"
    assert thrall("call", "empty", "a=1", "--quiet", *GOOD) == (0, b"", "")
    ran = thrall("call", "none", "a=1", "--quiet", *GOOD)
    assert (ran.status, ran.err.count("\n")) == (5, 1)


def test_quiet_leaves_out_the_notes_of_a_check(thrall, pin):
    pin("a")
    os.chdir("a")
    offering(serverInfo={"name": "a", "version": "2"})
    os.chdir("..")
    assert "the server's version is" in thrall("check", "c.json").err
    ran = thrall("check", "c.json", "--quiet")
    assert (ran.err, ran.out) == ("", b"a: as pinned\n")


def test_quiet_and_verbose_exclude_each_other(thrall):
    ran = thrall("call", "echo", "--quiet", "--verbose", *GOOD)
    assert (ran.status, ran.err) == (
        2,
        "thrall: echo: --quiet and --verbose exclude each other\n",
    )


# -- --trace -------------------------------------------------------------------------------------


def test_a_trace_has_every_message_both_ways(thrall):
    ran = thrall("call", "echo", "a=1", "--trace", "t.jsonl", *GOOD)
    assert (ran.status, ran.err) == (0, "")
    sent, came = texts("to server"), texts("from server")
    assert [json.loads(line)["method"] for line in sent] == [
        "server/discover",
        "initialize",
        "notifications/initialized",
        "tools/call",
    ]
    assert len(came) == 3
    assert all(line.endswith("\n") for line in sent + came)
    events = [each["event"] for each in records() if "event" in each]
    assert events == ["thrall", "spawn", "exit"]
    assert "server" not in records()[1]


def test_the_request_in_a_trace_is_the_one_of_every_other_run(thrall):
    plain = thrall("call", "echo", "a=1", *GOOD).out
    assert thrall("call", "echo", "a=1", "--trace", "t.jsonl", "--verbose", *GOOD).out == plain


def test_a_trace_masks_what_the_server_was_given(thrall, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", SECRET)
    ran = thrall("call", "surroundings", "a=1", "--trace", "t.jsonl", *GOOD)
    assert SECRET.encode() in ran.out  # the answer is the tool's own
    assert SECRET not in json.dumps(records())


def test_a_trace_of_several_servers_names_them(thrall, pin):
    for name in "abc":
        pin(name)
    assert thrall("check", "c.json", "--trace", "t.jsonl").status == 0
    assert {each.get("server") for each in records()} == {None, "a", "b", "c"}


def test_a_pin_names_a_server_by_the_name_it_was_given_or_by_its_program(thrall):
    thrall("pin", "c.json", "--trace", "t.jsonl", "--name", "x", *GOOD)
    assert records()[1]["server"] == "x"
    thrall("pin", "-", "--trace", "t.jsonl", *GOOD)
    assert records()[1]["server"] == os.path.basename(GOOD[1])


def test_a_trace_on_stderr_stands_beside_the_answer(thrall):
    ran = thrall("call", "echo", "a=1", "--trace", "-", *GOOD)
    assert all(json.loads(line)["at"] >= 0 for line in ran.err.splitlines())
    assert len(ran.err.splitlines()) == 10


def test_a_trace_that_cannot_be_completed_is_said(thrall):
    ran = thrall("call", "echo", "a=1", "--trace", "/dev/full", "--quiet", *GOOD)
    assert (ran.status, ran.err) == (
        0,
        "thrall: echo: the trace is not complete: No space left on device\n",
    )


def test_a_trace_that_cannot_be_begun_is_refused(thrall):
    ran = thrall("call", "echo", "a=1", "--trace", ".", *GOOD)
    assert (ran.status, ran.err) == (
        3,
        "thrall: echo: cannot write the trace to .: Is a directory\n",
    )


@pytest.mark.parametrize(
    "words",
    [
        ("check", "c.json", "--trace", "c.json"),
        ("call", "echo", "{}", "--catalog", "c.json", "--trace", "c.json"),
        ("pin", "c.json", "--trace", "c.json", *GOOD),
        ("pin", "new.json", "--from", "c.json", "--trace", "c.json"),
        ("call", "echo", "{}", "--answers", "c.json", "--trace", "c.json", *GOOD),
        ("call", "echo", "a:=@c.json", "--trace", "c.json", *GOOD),
        ("call", "echo", "{}", "--url", "http://h/", "--header-file", "c.json", "--trace", "c.json"),
        ("doctor", "--url", "http://h/", "--header-file", "h.txt", "--trace", "h.txt"),
        ("call", "echo", "no item", "--trace", "c.json", *GOOD),
        ("pin", "c.json", "--update", "--trace", "c.json"),
        ("call", "echo", "{}", "--trace", "h.txt", "--", "cat", "./h.txt"),
    ],
)  # fmt: skip
def test_a_trace_never_destroys_what_a_run_reads_or_refuses(thrall, pin, words):
    pin("a")
    Path("h.txt").write_text("X-A: b", encoding="ascii")
    before = {path: Path(path).read_bytes() for path in ("c.json", "h.txt")}
    ran = thrall(*words)
    assert (ran.status, ran.out) == (2, b"")
    assert {path: Path(path).read_bytes() for path in before} == before


def test_a_trace_is_not_emptied_by_a_command_line_that_is_refused(thrall):
    Path("t.jsonl").write_text("an older trace", encoding="ascii")
    assert thrall("call", "echo", "[]", "--trace", "t.jsonl", *GOOD).status == 2
    assert thrall("check", "none.json", "--trace", "t.jsonl").status == 3
    assert Path("t.jsonl").read_text(encoding="ascii") == "an older trace"
    assert thrall("call", "echo", "{}", "--trace", "t.jsonl", *GOOD).status == 0
    assert records()[0]["event"] == "thrall"


def test_a_trace_that_would_overwrite_a_catalog_says_so(thrall, pin):
    pin("a")
    assert thrall("check", "c.json", "--trace", "./c.json").err == (
        "thrall: the trace would overwrite ./c.json, which this run uses: name another FILE\n"
    )


def test_a_reader_of_a_trace_who_goes_away_is_told_of_once_and_costs_nothing(thrall):
    os.mkfifo("pipe")
    fd = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    offering(tools=[{"name": "x" * 2_000_000, "inputSchema": {"type": "object"}}])
    ran = thrall("pin", "-", "--quiet", "--trace", "pipe", *GOOD)
    os.close(fd)
    assert ran.status == 0
    assert ran.err == "thrall: -: the trace is not complete: its reader stopped reading\n"


def test_a_line_that_never_ended_and_the_signals_are_in_a_trace(thrall, graveyard):
    words = ("--grace", "0", "--start-timeout", "0.3", "--trace", "t.jsonl")
    ran = thrall("call", "echo", "a=1", *words, "--", *command("big_line", graveyard.path, "9"))
    assert ran.status == 124
    assert texts("from server") == ["x" * 9]
    assert [each["signal"] for each in records() if "signal" in each][:1] == ["SIGTERM"]


# -- over HTTP -----------------------------------------------------------------------------------


def traced_call(thrall, url, *words):
    return thrall("call", "echo", "a=1", "--trace", "t.jsonl", "--url", url, *words)


def test_heads_and_bodies_are_traced_without_the_headers_that_were_given(
    thrall, serve, monkeypatch
):
    monkeypatch.setenv("T", SECRET)
    server = serve(legacy(session="s1"))
    words = ("--bearer-env", "T", "--header", "X-Short: abc")
    assert traced_call(thrall, f"{server.url}?key={SECRET}x", *words).status == 0
    sent, came = texts("to server"), texts("from server")
    assert sent[0].startswith("POST /mcp?*** HTTP/1.1\r\nHost: 127.0.0.1")
    assert "\r\nX-Short: ***\r\nAuthorization: ***\r\n" in sent[0]
    assert sent[0].partition("\r\n\r\n")[2].startswith('{"jsonrpc":"2.0"')
    assert sent[-1].startswith("DELETE ")
    assert came[0].startswith("HTTP/1.1 200\r\n")
    assert "mcp-session-id: s1\r\n" in "".join(came)
    assert any(line.startswith('{"jsonrpc": "2.0", "id": 2, "result"') for line in came)
    everything = json.dumps(records())
    assert SECRET not in everything
    assert "abc" not in everything


def test_cookies_are_masked_as_well(thrall, serve):
    server = serve(legacy(at("initialize", lambda asked: say(
        result(asked, protocolVersion="2025-11-25", capabilities={}), Set_Cookie="id=xyz"))))  # fmt: skip
    assert traced_call(thrall, server.url).status == 0
    assert "set-cookie: ***\r\n" in "".join(texts("from server"))


def test_events_are_traced_in_whole_lines(thrall, serve, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", SECRET)

    def call(asked):
        body = b": " + SECRET.encode() + b"\n" + event(result(asked, **TEXT))
        yield from stream(body[:9], body[9:])

    def special(asked):
        return call(asked) if asked.method == "tools/call" else None

    assert traced_call(thrall, serve(legacy(special)).url).status == 0
    came = texts("from server")
    assert ": ***\n" in came
    assert any(line.startswith("data: {") for line in came)
    assert SECRET not in json.dumps(records())


def test_a_body_that_is_no_message_is_traced(thrall, serve):
    server = serve(legacy(at("server/discover", reply(500, b"<p>\nbroken", "text/html"))))
    assert traced_call(thrall, server.url).status == 4
    assert texts("from server")[1:] == ["<p>\n", "broken"]


def test_what_is_left_unread_of_a_stream_is_traced_as_far_as_it_came(thrall, serve):
    def call(asked):
        yield from stream(event(result(asked, **TEXT)) + b": half", end=False)

    def special(asked):
        return call(asked) if asked.method == "tools/call" else None

    assert traced_call(thrall, serve(legacy(special)).url).status == 0
    assert texts("from server")[-1] in (": half", "\n")


def test_the_stream_on_which_a_server_asks_is_traced(thrall, serve, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", SECRET)
    hello = f": hello {SECRET}\n\n: ha".encode()

    def special(asked):
        return [*stream(hello[:12], hello[12:], end=False), HOLD] if asked.verb == "GET" else None

    assert traced_call(thrall, serve(legacy(special)).url, "--answer", "a=1").status == 0
    assert [line for line in texts("to server") if line.startswith("GET ")]
    came = texts("from server")
    assert any("content-type: text/event-stream" in line for line in came)
    assert ": hello ***\n" in came
    assert SECRET not in json.dumps(records())


@pytest.mark.parametrize("opens", [True, False])
def test_a_tunnel_is_traced_without_the_password_of_the_proxy(thrall, serve, monkeypatch, opens):
    server = modern()

    def respond(asked):
        if asked.verb != "CONNECT":
            return server(asked)
        return [b"HTTP/1.1 200 Sure\r\n\r\n", TLS] if opens else [reply(407)]

    proxy = serve(respond)
    monkeypatch.setenv("HTTPS_PROXY", f"http://me:pw@127.0.0.1:{proxy.port}")
    monkeypatch.setenv("SSL_CERT_FILE", CERTIFICATE)
    assert traced_call(thrall, "https://localhost/mcp").status == (0 if opens else 4)
    assert texts("to server")[0] == (
        "CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\nProxy-Authorization: ***\r\n\r\n"
    )
    assert texts("from server")[0].startswith(f"HTTP/1.1 {200 if opens else 407}\r\n")
    origins = [each["origin"] for each in records() if "origin" in each]
    assert origins[:2] == [f"http://127.0.0.1:{proxy.port}", "https://localhost"][: 1 + opens]
    assert "bWU6cHc=" in next(each.headers for each in proxy.asked)["proxy-authorization"]
    assert not [word for word in ("bWU6", ":pw") if word in json.dumps(records())]


def test_the_old_transport_is_followed_too(thrall, serve):
    old = OldTransport(legacy())
    ran = traced_call(thrall, serve(old).url, "--verbose")
    old.events.put(None)
    assert ran.status == 0
    assert "sent tools/call" in ran.err
    assert any(line.startswith("data: ") for line in texts("from server"))


# -- at a terminal -------------------------------------------------------------------------------

SLOW = f"""
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    params = message.get("params", {{}})
    def say(**members):
        print(json.dumps({{"jsonrpc": "2.0", **members}}), flush=True)
    def answer(**result):
        say(id=message["id"], result=result)
    if message["method"] == "initialize":
        answer(protocolVersion="2025-11-25", capabilities={{"tools": {{}}}})
    elif message["method"] == "tools/list":
        time.sleep(0.4)
        answer(tools=[])
    elif message["method"] == "tools/call":
        token = params.get("_meta", {{}}).get("progressToken")
        for number in range(13):
            time.sleep(0.03)
            say(method="notifications/progress", params={{
                "progressToken": token, "progress": number, "total": 13, "message": "{SECRET}"}})
        answer(content=[{{"type": "text", "text": f"token {{token}}"}}])
    elif "id" in message:
        say(id=message["id"], error={{"code": -32601, "message": "no"}})
time.sleep(0.4)
"""


@pytest.fixture
def at_terminal(monkeypatch, replaced, terminal):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    return lambda: replaced(2, terminal.theirs)


@pytest.fixture
def slow(tmp_path, monkeypatch):
    """Name a server that takes twice as long for everything as a person is thought to wait for."""
    monkeypatch.setattr(status_line, "_PATIENCE", 0.2)
    monkeypatch.setattr(status_line, "_INTERVAL", 0.1)
    (tmp_path / "slow.py").write_text(SLOW)
    return ("--", *command("x")[:3], str(tmp_path / "slow.py"))


def test_progress_is_shown_and_gone_before_the_answer(thrall, at_terminal, slow, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", SECRET)
    at_terminal()
    ran = thrall("call", "work", "a=1", *slow)
    assert (ran.status, ran.out) == (0, b"token thrall-progress\n")
    assert "calling work" in ran.err
    assert "***" in ran.err
    assert SECRET not in ran.err
    assert ran.err.endswith("\x1b[J")


@pytest.mark.parametrize("words", [("--quiet",), ("--verbose",), ("--trace", "-")])
def test_where_there_is_no_line_no_progress_is_asked_for(thrall, at_terminal, slow, words):
    at_terminal()
    ran = thrall("call", "work", "a=1", *words, *slow)
    assert ran.out == b"token None\n"
    assert "\x1b" not in ran.err


def test_in_a_pipe_there_is_neither(thrall, slow):
    assert thrall("call", "work", "a=1", *slow) == (0, b"token None\n", "")


def test_in_ci_there_is_neither(thrall, at_terminal, slow, monkeypatch):
    monkeypatch.setenv("CI", "1")
    at_terminal()
    assert thrall("call", "work", "a=1", *slow) == (0, b"token None\n", "")


def test_a_check_of_several_servers_tells_which_are_still_asked(thrall, at_terminal, slow):
    for name in "ab":
        assert (
            thrall("pin", "c.json", "--name", name, "--surface", "instructions", *slow).status == 0
        )
    at_terminal()
    ran = thrall("check", "c.json", "--jobs", "2")
    assert ran.out == b"a: as pinned\nb: as pinned\n"
    assert "asking 2 servers: a, b" in ran.err
    assert ran.err.endswith("\x1b[J")


def test_a_doctor_tells_what_is_waited_for_and_wipes_it_before_each_check(
    thrall, at_terminal, slow, replaced, terminal
):
    at_terminal()
    replaced(1, terminal.theirs)
    ran = thrall("doctor", *slow)
    assert ran.status == 4
    for stage in ("listing tools", "waiting for the server to leave"):
        assert stage in ran.err
    assert ran.err.count("\x1b[J") > ran.err.count("\x1b8")


def test_a_doctor_is_followed_as_every_verb(thrall):
    ran = thrall("doctor", "--verbose", "--trace", "t.jsonl", *GOOD)
    words = [line.partition(" ms  ")[2] for line in stages(ran.err)]
    assert words[-3:] == [
        "waiting for the server to leave",
        "leaving the server",
        "the server exited with status 0, after N ms",
    ]
    assert "listed 2 tools in 1 page" in words
    assert {each.get("server") for each in records()} == {None, os.path.basename(GOOD[1])}
    assert any('"doctor/no-such-method"' in line for line in texts("to server"))


def test_a_doctor_follows_a_server_on_a_url(thrall, serve):
    server = serve(legacy(session="s"))
    ran = thrall("doctor", "--verbose", "--timeout", "5", "--url", server.url)
    words = [line.partition(" ms  ")[2] for line in stages(ran.err)]
    assert words[0] == f"connecting to http://127.0.0.1:{server.port}"
    assert b"ok       ended           DELETE is accepted" in ran.out


def test_progress_over_http_is_shown_while_events_come(thrall, at_terminal, serve):
    def call(asked):
        token = asked.message["params"]["_meta"]["progressToken"]
        params = {"progressToken": token, "progress": 1, "message": "indexing"}
        told = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
        yield from stream(event(told), lambda: time.sleep(1.3), event(result(asked, **TEXT)))

    def special(asked):
        return call(asked) if asked.method == "tools/call" else None

    server = serve(modern(special))
    at_terminal()
    ran = thrall("call", "echo", "a=1", "--url", server.url)
    assert (ran.status, ran.out) == (0, b"hi\n")
    assert "calling echo  1 s  1  indexing" in ran.err
    assert ran.err.endswith("\x1b[J")
