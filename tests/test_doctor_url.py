import json
import socket
import ssl

import pytest
from loopback import CERTIFICATE, CLOSE, OldTransport, at, legacy, modern, reply, result, say
from servers import MODERN

from thrall_py.verbs import doctor_url

TOOL = {"name": "echo", "description": "Say it again.", "inputSchema": {"type": "object"}}


def good(special=None, **options):
    """A server of a handshake that knows what every server has to know."""

    def first(asked):
        steps = special(asked) if special else None
        if steps is None and asked.method == "ping":
            steps = [say(result(asked))]
        if steps is None and asked.method == "tools/call":
            steps = [say(result(asked, content=[], isError=True))]
        return steps

    return legacy(first, tools=(TOOL,), **options)


@pytest.fixture
def examine(thrall, serve):
    """Examine a server that responds so; its checks by name, and the status."""

    def run(respond, *words, tls=False, url=None):
        server = serve(respond, tls=tls)
        ran = thrall("doctor", "--format=json", *words, "--url", url or server.url)
        checks = {check["name"]: check for check in json.loads(ran.out)["checks"]}
        assert sorted(checks) == sorted(doctor_url.NAMES)
        return ran.status, {name: (it["status"], it["words"]) for name, it in checks.items()}

    return run


def test_a_good_server_passes_every_check(examine):
    status, checks = examine(good(session="abc"))
    assert status == 0
    assert [name for name, (outcome, _) in checks.items() if outcome != "ok"] == ["tls"]
    assert checks["tls"] == ("skipped", "not needed on this machine")
    assert checks["authorised"] == ("ok", "with no credentials")
    assert checks["transport"] == ("ok", "Streamable HTTP")
    assert checks["session"] == ("ok", "it has an id")
    assert checks["ended"] == ("ok", "DELETE is accepted (status 200)")
    legacy = "clients that begin with initialize (2025-11-25)"
    harmless = "it turns down server/discover, the first request of newer ones, and goes on"
    without = "--protocol 2025-11-25 leaves it out"
    assert checks["era"] == ("ok", f"{legacy}; {harmless}, perhaps logging it ({without})")


def test_a_modern_server_has_no_session_and_mirrors_the_name_of_no_tool(examine):
    seen = []

    def special(asked):
        if asked.method != "tools/call":
            return None
        seen.append(asked.headers["mcp-name"])
        return [say({"jsonrpc": "2.0", "id": asked.id, "error": {"code": -32602, "message": ""}})]

    status, checks = examine(modern(special, tools=(TOOL,)))
    assert (status, seen) == (0, ["thrall-doctor-no-such-tool"])
    assert checks["session"] == ("ok", "there is none, each request is for itself")
    assert checks["ended"] == ("skipped", "there is no session to be ended")
    assert checks["era"][0] == "warning"
    assert checks["handshake"] == ("ok", f"{MODERN}, with tools")


def test_the_old_transport_is_worth_a_warning(examine):
    old = OldTransport(good())
    status, checks = examine(old)
    old.events.put(None)
    assert status == 0
    assert checks["transport"] == ("warning", "HTTP+SSE, and nothing newer")
    assert checks["session"] == ("skipped", "it lasts as long as the stream")
    assert checks["ended"] == ("skipped", "there is no session to be ended")


@pytest.mark.parametrize(
    ("step", "outcome", "words"),
    [
        (reply(405), "ok", "clients may not end sessions (status 405)"),
        (reply(500), "warning", "at DELETE the server replied with 500"),
        (CLOSE, "warning", "at DELETE the server did not reply"),
    ],
)
def test_how_the_end_of_a_session_is_taken_is_told(examine, step, outcome, words):
    status, checks = examine(good(at("DELETE", step), session="abc"))
    assert (status, checks["ended"]) == (0, (outcome, words))


def test_who_is_not_let_in_has_a_status_of_his_own(examine):
    status, checks = examine(lambda _: [reply(401, WWW_Authenticate="Bearer")])
    assert (status, checks["authorised"][0]) == (8, "failed")
    assert "wants a token (status 401)" in checks["authorised"][1]
    assert checks["handshake"] == ("skipped", "not possible after what failed")


def test_credentials_are_told_by_their_names(examine, monkeypatch):
    monkeypatch.setenv("KEY", "sesame42sesame")
    _, checks = examine(good(), "--bearer-env", "KEY")
    assert checks["authorised"] == ("ok", "with Authorization (from ${KEY})")


def test_a_server_that_speaks_something_else_fails_the_handshake(examine):
    status, checks = examine(lambda _: [reply(500, b"boom", "text/plain")])
    assert (status, checks["handshake"][0]) == (4, "failed")
    assert checks["transport"][0] == "skipped"


def test_nobody_there_is_told(examine):
    status, checks = examine(good(), url="http://127.0.0.1:1/")
    assert status == 4
    assert checks["reached"] == (
        "failed",
        "cannot connect to http://127.0.0.1:1: Connection refused",
    )


def test_a_certificate_that_is_not_trusted_is_no_question_of_the_way(examine):
    status, checks = examine(good(), tls=True)
    assert status == 4
    assert checks["reached"][0] == "ok"
    assert checks["tls"][0] == "failed"
    assert "is not trusted: self-signed certificate" in checks["tls"][1]


def test_a_certificate_may_be_trusted(examine, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", CERTIFICATE)
    assert ssl.get_default_verify_paths().cafile == CERTIFICATE
    status, checks = examine(good(), tls=True)
    assert (status, checks["tls"]) == (0, ("ok", "the certificate is trusted"))


def test_plain_http_beyond_this_machine_is_worth_a_warning(examine, monkeypatch):
    monkeypatch.setattr(doctor_url, "_THIS_MACHINE", ())
    status, checks = examine(good())
    assert (status, checks["tls"]) == (0, ("warning", "there is none"))


def test_a_server_that_says_nothing_to_tls_is_not_reached_in_time(examine):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"https://127.0.0.1:{listening.getsockname()[1]}"
        status, checks = examine(good(), "--start-timeout=0.2", url=url)
    assert status == 4
    said = f"no connection to {url} in 0.2 s (--start-timeout)"
    assert checks["reached"] == ("failed", said)
