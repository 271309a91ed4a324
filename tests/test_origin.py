import contextlib
import os
import select
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path

import pytest
from loopback import CERTIFICATE, CLOSE, HOLD, RESET, TLS, chunk, reply, stream

from thrall_py.errors import InputError, Interrupted, ServerError
from thrall_py.protocol.channel import ReceiveTimeout, Unanswered
from thrall_py.redact import Redactor
from thrall_py.transport.endpoint import Endpoint
from thrall_py.transport.http import route
from thrall_py.transport.http.connection import Request
from thrall_py.transport.http.origin import Origin
from thrall_py.transport.http.tls import Trust
from thrall_py.transport.http.waiting import Waiting

OK = reply(200, b"ok")
GET = Request("GET", "/mcp")


@pytest.fixture
def visit(interrupts):
    """Make an Origin, closed in the end."""
    made = []

    def make(server, headers=None, url=None, secrets=()):
        endpoint = Endpoint(url or server.url, headers or {})
        made.append(Origin(endpoint, Waiting(interrupts), Redactor(secrets)))
        return made[-1]

    yield make
    for origin in made:
        origin.close()


@pytest.fixture
def raw():
    """Call with what is done with the one connection that is accepted; the URL."""
    with contextlib.ExitStack() as stack:

        def start(play, scheme):
            listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

            def serve():
                accepted, _ = listening.accept()
                stack.enter_context(accepted)
                play(accepted)

            thread = threading.Thread(target=serve)
            thread.start()
            stack.callback(thread.join)
            return f"{scheme}://127.0.0.1:{listening.getsockname()[1]}"

        yield start


def soon(seconds=20.0):
    return time.monotonic() + seconds


def ask(origin, sent=GET, deadline=None, **options):
    """The status and the body of a reply."""
    deadline = soon() if deadline is None else deadline
    reply_ = origin.request(sent, deadline, **options)
    try:
        return reply_.status, bytes(reply_.read_all(1 << 20, deadline))
    finally:
        origin.release(reply_)


def failure(origin, sent=GET, kind=ServerError, deadline=None):
    with pytest.raises(kind) as caught:
        ask(origin, sent, deadline)
    return caught.value


def connections(server):
    return [asked.connection for asked in server.asked]


# -- headers -----------------------------------------------------------------------------------


def test_every_request_carries_the_given_headers_and_those_that_are_ours(serve, visit):
    server = serve(lambda _: [OK])
    origin = visit(server, {"X-Key": "k", "X-Unicode": "ü"})
    ask(origin)
    ask(origin, Request("POST", "/mcp", [("Accept", "x")], b"body"))
    for asked in server.asked:
        assert asked.headers["x-key"] == "k"
        assert asked.headers["x-unicode"].encode("latin-1").decode() == "ü"
        assert asked.headers["user-agent"].startswith("thrall/")
        assert asked.headers["accept-encoding"] == "identity"
    assert server.asked[1].body == b"body"


def test_the_agent_may_be_another(serve, visit):
    server = serve(lambda _: [OK])
    ask(visit(server, {"user-agent": "x"}))
    assert server.asked[0].headers["user-agent"] == "x"


def test_the_user_of_the_url_is_sent_unless_there_is_another_authorization(serve, visit):
    server = serve(lambda _: [OK])
    url = server.url.replace("://", "://u:p@")
    ask(visit(server, url=url))
    ask(visit(server, {"Authorization": "Bearer t"}, url=url))
    sent = [asked.headers["authorization"] for asked in server.asked]
    assert sent == ["Basic dTpw", "Bearer t"]
    assert server.asked[0].headers["host"] == f"127.0.0.1:{server.port}"


# -- connections -------------------------------------------------------------------------------


def test_a_connection_is_kept_for_the_next_request(serve, visit):
    server = serve(lambda _: [OK])
    origin = visit(server)
    assert [ask(origin) for _ in range(3)] == [(200, b"ok")] * 3
    assert connections(server) == [1, 1, 1]


def test_what_runs_something_gets_a_connection_of_its_own(serve, visit):
    server = serve(lambda _: [OK])
    origin = visit(server)
    for runs in (False, True, False):
        ask(origin, runs=runs)
    assert connections(server) == [1, 2, 1]


NOT_KEPT = {
    "the server closes it": [reply(200, b"ok", Connection="close")],
    "it is of HTTP/1.0": [b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"],
    "it ended": [OK, CLOSE],
    "more came than the reply": [OK + b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"],
}


@pytest.mark.parametrize("steps", NOT_KEPT.values(), ids=NOT_KEPT)
def test_a_connection_that_cannot_be_used_again_is_not(serve, visit, steps):
    server = serve(lambda _: steps)
    origin = visit(server)
    assert [ask(origin) for _ in range(2)] == [(200, b"ok")] * 2
    assert connections(server) == [1, 2]


def test_a_reply_that_goes_on_is_not_waited_for(serve, visit):
    server = serve(lambda _: [*stream(b"data: x\n\n", end=False), HOLD])
    origin = visit(server)
    for _ in range(2):
        reply_ = origin.request(GET, soon())
        assert reply_.read(soon()) == b"data: x\n\n"
        origin.release(reply_)
    assert connections(server) == [1, 2]


def test_a_reply_that_floods_is_not_read_to_keep_the_connection(serve, visit):
    flood = [chunk(b"x" * 60_000)] * 200
    server = serve(lambda _: [*stream(*flood, end=False), HOLD])
    origin = visit(server)
    origin.release(origin.request(GET, soon()))
    origin.release(origin.request(GET, soon()))
    assert connections(server) == [1, 2]


def test_a_used_connection_that_is_closed_without_a_byte_is_replaced(serve, visit):
    seen = []

    def respond(asked):
        seen.append(asked.connection)
        return [CLOSE] if seen.count(1) == 2 and asked.connection == 1 else [OK]

    server = serve(respond)
    origin = visit(server)
    assert [ask(origin) for _ in range(2)] == [(200, b"ok")] * 2
    assert connections(server) == [1, 1, 2]


def test_a_used_connection_that_breaks_in_the_reply_is_the_failure(serve, visit):
    replies = [[OK], [b"HTTP/1.1 200 OK\r\nContent-Le", CLOSE]]
    server = serve(lambda _: replies.pop(0))
    origin = visit(server)
    ask(origin)
    assert failure(origin, kind=Unanswered).what == (
        "closed the connection in the middle of its answer"
    )
    assert connections(server) == [1, 1]


def test_a_long_request_is_sent_whole(serve, visit):
    server = serve(lambda _: [OK])
    ask(visit(server), Request("POST", "/mcp", (), b"x" * 3_000_000))
    assert server.asked[0].body == b"x" * 3_000_000


def test_a_server_that_does_not_want_to_read_everything_is_heard_or_told(raw, visit):
    def refuse(accepted):
        accepted.recv(100)
        accepted.sendall(reply(413))
        accepted.close()

    origin = visit(None, url=raw(refuse, "http"))
    try:
        outcome = ask(origin, Request("POST", "/", (), b"x" * 9_000_000))
    except Unanswered as problem:  # the reset came before the reply was read
        outcome = problem.what
    assert outcome in ((413, b""), "closed the connection without an answer")


# -- redirects ---------------------------------------------------------------------------------


def redirecting(status, location, to="/new"):
    return lambda asked: [OK if asked.target == to else reply(status, Location=location)]


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_within_the_origin_is_followed_and_remembered(serve, visit, status):
    server = serve(redirecting(status, "/new?x", to="/new?x"))
    origin = visit(server, {"Authorization": "Bearer t"})
    sent = Request("POST", "/mcp", (), b"body")
    assert [ask(origin, sent) for _ in range(2)] == [(200, b"ok")] * 2
    assert [asked.target for asked in server.asked] == ["/mcp", "/new?x", "/new?x"]
    for asked in server.asked:
        assert (asked.verb, asked.body) == ("POST", b"body")
        assert asked.headers["authorization"] == "Bearer t"


def test_a_redirect_may_be_relative_to_the_one_before(serve, visit):
    moves = {"/mcp": "/a/b", "/a/b": "c"}
    server = serve(
        lambda asked: [reply(307, Location=moves[asked.target]) if asked.target in moves else OK]
    )
    assert ask(visit(server)) == (200, b"ok")
    assert server.asked[-1].target == "/a/c"


NOT_FOLLOWED = {
    "turns POST into GET": (301, "/new", "http://127.0.0.1:{port}/new"),
    "is found elsewhere": (302, "/new", "http://127.0.0.1:{port}/new"),
    "wants another look": (303, "/new", "http://127.0.0.1:{port}/new"),
    "leaves the port": (307, "http://127.0.0.1:1/x?token=t", "http://127.0.0.1:1/x"),
    "leaves the host": (308, "//u:p@example.org/x", "http://example.org/x"),
    "leaves the scheme": (307, "https://127.0.0.1:{port}/x", "https://127.0.0.1:{port}/x"),
    "has no target": (307, "", "nowhere"),
    "has a target that is none": (307, "http://[", "nowhere"),
    "hides something": (307, "//e\x1b/", "nowhere"),
}


@pytest.mark.parametrize(("status", "location", "shown"), NOT_FOLLOWED.values(), ids=NOT_FOLLOWED)
def test_any_other_redirect_is_the_failure_and_names_its_target(
    serve, visit, status, location, shown
):
    server = serve(lambda _: [reply(status, Location=location.format(port=server.port))])
    told = failure(visit(server), kind=Unanswered)
    shown = shown.format(port=server.port)
    assert told.status == status
    assert told.what == (
        f"redirects (status {status}) to {shown}, which is not followed"
        " (if that is right, give it as the URL),"
    )
    assert len(server.asked) == 1


def test_redirects_that_do_not_end_are_the_failure(serve, visit):
    server = serve(lambda _: [reply(307, Location="/mcp")])
    told = failure(visit(server), kind=Unanswered)
    assert (told.what, told.status) == ("redirects without end (5 times)", 307)
    assert len(server.asked) == 5


# -- the way there -----------------------------------------------------------------------------


def test_a_port_on_which_nobody_listens_is_told(visit, serve):
    server = serve(lambda _: [OK])
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    listening.close()
    origin = visit(server, url=f"http://127.0.0.1:{port}/?x=y")
    assert str(failure(origin)) == f"cannot connect to http://127.0.0.1:{port}: Connection refused"


@pytest.mark.parametrize("host", ["nowhere.invalid", "a" * 64 + ".example"])
def test_a_name_that_is_not_there_is_told(visit, serve, host, monkeypatch):
    def unknown(*_args, **_options):
        if host == "nowhere.invalid":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        raise UnicodeError("label too long")

    server = serve(lambda _: [OK])
    origin = visit(server, url=f"http://{host}/")
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    why = "Name or service not known" if host == "nowhere.invalid" else "no such name"
    assert str(failure(origin)) == f"cannot find http://{host}: {why}"


def addresses(monkeypatch, *ports, host="127.0.0.1"):
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port)) for port in ports]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_options: found)


def test_the_next_address_of_a_host_is_tried(visit, serve, monkeypatch):
    server = serve(lambda _: [OK])
    origin = visit(server)
    addresses(monkeypatch, 1, server.port)
    assert ask(origin) == (200, b"ok")


@pytest.fixture
def full():
    """The port of a listener that takes no more connections, and lets them wait."""
    with socket.socket() as listening, contextlib.ExitStack() as stack:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        yield listening.getsockname()[1]


def test_an_address_that_is_silent_gets_its_share_of_the_time(visit, serve, monkeypatch, full):
    server = serve(lambda _: [OK])
    origin = visit(server)
    monkeypatch.setattr(route, "_ATTEMPT", 0.1)
    addresses(monkeypatch, full, server.port)
    assert ask(origin) == (200, b"ok")
    origin.close()
    addresses(monkeypatch, full, 1)
    assert "Connection refused" in str(failure(visit(server)))


def test_the_deadline_ends_a_connection_that_is_not_made(visit, serve, full):
    server = serve(lambda _: [OK])
    origin = visit(server, url=f"http://127.0.0.1:{full}/")
    assert failure(origin, kind=ReceiveTimeout, deadline=soon(0.2)).unsent


@pytest.fixture
def stop():
    """A signal that comes in a moment, whatever is waited for then."""
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGTERM))
    timer.start()
    yield
    timer.join()


@pytest.mark.usefixtures("stop")
@pytest.mark.parametrize(
    ("scheme", "size", "play"),
    [
        ("http", 1, lambda accepted: accepted.recv(9000)),
        ("http", 20 << 20, lambda _: None),
        ("http", 1, lambda accepted: accepted.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx")),
        ("https", 1, lambda _: None),
    ],
    ids=["for a head", "to be read", "for a body", "for TLS"],
)  # fmt: skip
def test_a_signal_ends_a_wait(visit, raw, scheme, size, play):
    origin = visit(None, url=raw(play, scheme))
    with pytest.raises(Interrupted):
        ask(origin, Request("POST", "/", (), bytes(size)))


@pytest.mark.usefixtures("stop")
def test_a_signal_ends_the_wait_for_a_connection(visit, serve, full):
    origin = visit(serve(lambda _: [OK]), url=f"http://127.0.0.1:{full}/")
    with pytest.raises(Interrupted):
        ask(origin)


def test_a_name_is_looked_up_once(visit, serve, monkeypatch):
    server = serve(lambda _: [OK])
    origin = visit(server)
    addresses(monkeypatch, server.port)
    ask(origin)
    addresses(monkeypatch, 1)
    assert ask(origin, runs=True) == (200, b"ok")


def test_a_server_that_does_not_read_is_no_reason_to_wait_for_ever(visit, serve):
    server = serve(lambda _: [OK])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        origin = visit(server, url=f"http://127.0.0.1:{listening.getsockname()[1]}/")
        huge = Request("POST", "/", (), bytes(20 << 20))
        assert failure(origin, huge, kind=ReceiveTimeout, deadline=soon(0.3)).unsent


# -- TLS ---------------------------------------------------------------------------------------


@pytest.fixture
def trusted(monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", CERTIFICATE)


@pytest.mark.usefixtures("trusted")
def test_a_certificate_of_a_trusted_authority_is_good(visit, serve):
    server = serve(lambda _: [OK], tls=True)
    origin = visit(server)
    assert [ask(origin, Request("POST", "/mcp", (), bytes(1 << 20))) for _ in range(2)] == (
        [(200, b"ok")] * 2
    )
    assert connections(server) == [1, 1]
    assert ask(origin, runs=True) == (200, b"ok")


def test_a_certificate_that_nobody_has_signed_is_told(visit, serve):
    server = serve(lambda _: [OK], tls=True)
    assert str(failure(visit(server))) == (
        f"the certificate of https://127.0.0.1:{server.port} is not trusted:"
        " self-signed certificate (SSL_CERT_FILE names other authorities)"
    )
    assert server.asked == []


@pytest.fixture
def hashed(tmp_path):
    """A directory of authorities, as OpenSSL looks for them."""
    folder = tmp_path / "authorities"
    folder.mkdir()
    pem = Path(CERTIFICATE).read_text()
    der = ssl.PEM_cert_to_DER_cert(pem[pem.index("-----BEGIN CERT") :])
    named = ["openssl", "x509", "-inform", "der", "-noout", "-subject_hash"]
    hash_ = subprocess.run(named, input=der, capture_output=True, check=True).stdout.decode()
    (folder / f"{hash_.strip()}.0").write_text(pem)
    return folder


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_a_directory_of_authorities_is_trusted_in_place_of_the_systems(
    visit, serve, monkeypatch, hashed
):
    monkeypatch.setenv("SSL_CERT_DIR", str(hashed))
    assert ask(visit(serve(lambda _: [OK], tls=True))) == (200, b"ok")


def test_a_file_of_authorities_is_all_that_is_trusted(monkeypatch):
    made = []

    def create(**given):
        made.append(given)
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    monkeypatch.setattr(ssl, "create_default_context", create)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    Trust()
    monkeypatch.setenv("SSL_CERT_FILE", "f")
    monkeypatch.setenv("SSL_CERT_DIR", "d")
    Trust()
    assert made == [{"cafile": None, "capath": None}, {"cafile": "f", "capath": "d"}]


UNUSABLE = {
    "nothing": ("/nowhere\x1b", "No such file or directory"),
    "a directory": ("/", "Is a directory"),
    "no certificates": (os.devnull, "no certificate or crl found"),
}


@pytest.mark.parametrize(("path", "why"), UNUSABLE.values(), ids=UNUSABLE)
def test_authorities_that_cannot_be_used_are_told_before_anything_is_sent(
    visit, serve, monkeypatch, path, why
):
    monkeypatch.setenv("SSL_CERT_FILE", path)
    server = serve(lambda _: [OK], tls=True)
    told = failure(visit(server), kind=InputError)
    assert told.exit_status == 3
    assert str(told).startswith(f"SSL_CERT_FILE and SSL_CERT_DIR cannot be used: {why}")
    assert "_ssl.c" not in str(told)
    assert server.asked == []


@pytest.mark.usefixtures("trusted")
def test_a_certificate_for_another_name_is_told(visit, serve, monkeypatch):
    server = serve(lambda _: [OK], tls=True)
    origin = visit(server, url=f"https://other.example:{server.port}/")
    addresses(monkeypatch, server.port)
    assert "other.example" in str(failure(origin))
    assert server.asked == []


def test_a_server_that_speaks_no_tls_is_told(visit, raw):
    url = raw(lambda accepted: accepted.sendall(b"SSH-2.0-x\r\n"), "https")
    told = str(failure(visit(None, url=url)))
    assert told == f"no TLS with {url}: wrong version number"


def test_a_server_that_leaves_in_the_tls_handshake_is_told(visit, raw):
    url = raw(lambda accepted: accepted.shutdown(socket.SHUT_WR), "https")
    told = str(failure(visit(None, url=url)))
    assert told.startswith(f"no TLS with {url}: ")
    assert "_ssl.c" not in told
    assert "[" not in told


@pytest.mark.parametrize("step", [CLOSE, RESET])
@pytest.mark.usefixtures("trusted")
def test_a_tls_connection_may_end_without_ceremony(visit, serve, step):
    server = serve(lambda _: [b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", step], tls=True)
    told = failure(visit(server), kind=Unanswered)
    assert told.what.startswith("closed the connection")


@pytest.mark.usefixtures("trusted")
def test_an_idle_tls_connection_that_ended_is_not_used(visit, serve):
    server = serve(lambda _: [OK, CLOSE], tls=True)
    origin = visit(server)
    assert ask(origin) == (200, b"ok")
    assert ask(origin) == (200, b"ok")
    assert connections(server) == [1, 2]


# -- proxies -----------------------------------------------------------------------------------


def test_a_proxy_for_http_is_told_the_whole_url(visit, serve, monkeypatch):
    proxy = serve(lambda _: [OK])
    monkeypatch.setenv("HTTP_PROXY", f"http://u:p@127.0.0.1:{proxy.port}")
    assert ask(visit(proxy, url="http://example.org:81/mcp")) == (200, b"ok")
    (asked,) = proxy.asked
    assert asked.target == "http://example.org:81/mcp"
    assert asked.headers["host"] == "example.org:81"
    assert asked.headers["proxy-authorization"] == "Basic dTpw"


@pytest.mark.usefixtures("trusted")
def test_a_proxy_for_https_opens_a_tunnel_that_it_cannot_look_into(visit, serve, monkeypatch):
    def respond(asked):
        if asked.verb == "CONNECT":
            return [b"HTTP/1.1 200 Connection established\r\n\r\n", TLS]
        return [OK]

    proxy = serve(respond)
    monkeypatch.setenv("HTTPS_PROXY", f"http://u:p@127.0.0.1:{proxy.port}")
    origin = visit(proxy, {"Authorization": "Bearer t"}, url="https://localhost/mcp")
    assert ask(origin) == (200, b"ok")
    connect, asked = proxy.asked
    assert (connect.target, connect.headers["host"]) == ("localhost:443", "localhost:443")
    assert connect.headers["proxy-authorization"] == "Basic dTpw"
    assert "authorization" not in connect.headers
    assert (asked.target, asked.headers["authorization"]) == ("/mcp", "Bearer t")
    assert "proxy-authorization" not in asked.headers


@pytest.mark.usefixtures("trusted")
def test_a_proxy_may_itself_be_reached_over_tls(visit, serve, monkeypatch):
    proxy = serve(lambda _: [OK], tls=True)
    monkeypatch.setenv("HTTP_PROXY", f"https://127.0.0.1:{proxy.port}")
    assert ask(visit(proxy, url="http://example.org/")) == (200, b"ok")


REFUSALS = {
    "a status": (reply(407), "answered with status 407 when asked for example.org:443"),
    "the end": (CLOSE, "closed the connection without an answer"),
}


@pytest.mark.parametrize(("step", "words"), REFUSALS.values(), ids=REFUSALS)
def test_a_proxy_that_opens_no_tunnel_is_told(visit, serve, monkeypatch, step, words):
    proxy = serve(lambda _: [step])
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
    told = str(failure(visit(proxy, url="https://example.org/")))
    assert told == f"the proxy http://127.0.0.1:{proxy.port} {words}"


def test_a_proxy_that_is_not_there_is_told(visit, serve, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    server = serve(lambda _: [OK])
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    told = str(failure(visit(server)))
    assert told == "cannot connect to the proxy http://127.0.0.1:1: Connection refused"


def test_a_url_that_is_none_is_refused(visit, serve):
    with pytest.raises(InputError):
        visit(serve(lambda _: [OK]), url="mailto:x")


# -- what is kept ------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [CLOSE, RESET])
def test_an_idle_connection_that_the_server_ends_is_not_used(visit, serve, step):
    released = threading.Event()
    server = serve(lambda _: [OK, lambda: released.wait(10), step])
    origin = visit(server)
    ask(origin)
    idle = origin._idle._link._socket
    released.set()
    poll = select.poll()
    poll.register(idle, select.POLLIN)
    assert poll.poll(10_000)
    assert ask(origin) == (200, b"ok")
    assert connections(server) == [1, 2]


def test_a_body_that_has_ended_stays_at_its_end(visit, serve):
    origin = visit(serve(lambda _: [OK]))
    reply_ = origin.request(GET, soon())
    assert [reply_.read(soon()) for _ in range(3)] == [b"ok", b"", b""]
    origin.release(reply_)


def test_an_address_that_is_refused_without_a_try_is_told(visit, serve):
    told = str(failure(visit(serve(lambda _: [OK]), url="http://255.255.255.255/")))
    assert told.startswith("cannot connect to http://255.255.255.255: ")
