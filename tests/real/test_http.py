"""thrall against real servers over HTTP, in both eras and over both transports."""

import concurrent.futures
import json
import signal
from typing import NamedTuple

import pytest
from real.bench import Bench
from real.samples import pieces
from real.served import KINDS, LEGACY, MODERN, TOKEN, Served, serving

pytestmark = pytest.mark.real

OLDER = ("2024-11-05", "2025-03-26", "2025-06-18")
PYTHON = [name for name, kind in KINDS.items() if kind.is_python]
# Characters that a careless program would split an event at, escape or lose.
TEXT = 'h\u00e9 \u2028 \u0085 \U0001f600 \\ " \t/ e\u0301\ndata: {}\r\n\r\nend'
BIG = "".join(pieces(3_000_000))  # the servers take 4 MiB
ECHO = {
    "legacy-stateful": ["initialize", "notifications/initialized", "tools/call", "DELETE"],
    "legacy-stateless": ["initialize", "notifications/initialized", "tools/call"],
    "legacy-json": ["initialize", "notifications/initialized", "tools/call", "DELETE"],
    "legacy-sse": ["GET", "initialize", "notifications/initialized", "tools/call"],
    "modern-stateful": ["server/discover", "tools/list", "tools/call"],
    "modern-stateless": ["server/discover", "tools/list", "tools/call"],
    "modern-json": ["server/discover", "tools/list", "tools/call"],
    "modern-sse": ["GET", "initialize", "notifications/initialized", "tools/call"],
}
# The SDK before 2.0 refuses the probe with status 400 and an error whose id is "server-error".
# thrall counts it among what was nobody's answer, and tells of it with whatever fails later.


class Up(NamedTuple):
    """A server that is up, and a bench with a catalog that pins it."""

    name: str
    served: Served
    bench: Bench

    @property
    def kind(self):
        return self.served.kind

    @property
    def url(self):
        return ["--url", self.served.url]

    @property
    def catalog(self):
        return ["--catalog", self.bench.catalog]

    def echo(self, text, *words, **how):
        """Have a text echoed, and take it out of the answer if the tool answered."""
        arguments = {"text" if self.kind.is_python else "message": text}
        run = self.bench.call("echo", arguments, *words, **how)
        if run.status == 0:
            assert run.out.endswith("\n")
            return run.out[:-1].removeprefix("" if self.kind.is_python else "Echo: ")
        return run


@pytest.fixture(scope="module", params=KINDS)
def up(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    with serving(KINDS[request.param], folder) as served:
        bench = Bench(folder)
        run = bench.run("pin", bench.catalog, "--url", served.url)
        assert run.status == 0, (run, served.log())
        yield Up(request.param, served, bench)


@pytest.fixture(scope="module", params=PYTHON)
def locked(request, tmp_path_factory):
    """A server that wants a token; it is pinned with it."""
    folder = tmp_path_factory.mktemp(request.param)
    with serving(KINDS[request.param], folder, WANTED_TOKEN=TOKEN) as served:
        bench = Bench(folder)
        words = ["--url", served.url, "--bearer-env", "MY_TOKEN"]
        run = bench.run("pin", bench.catalog, *words, env={"MY_TOKEN": TOKEN})
        assert run.status == 0, (run, served.log())
        yield Up(request.param, served, bench)


# ===== every server =============================================================


def test_a_catalog_names_the_url_and_the_protocol(up):
    entry = up.bench.pinned()
    assert (entry["url"], entry["protocol"]) == (up.served.url, up.kind.protocol)
    assert not entry.keys() & {"command", "headers"}
    assert "echo" in entry["tools"]


def test_the_transport_is_the_one_of_the_server(up):
    if up.kind.is_python:
        posted = [line for line in up.served.heard() if line.endswith(" tools/list")]
        path = "/messages/" if up.kind.is_sse else "/mcp"
        assert set(posted) == {f"POST {path} tools/list"}
    else:
        said = "Client Message from" if up.kind.is_sse else "Session initialized with ID"
        assert said in up.served.log()


def test_pinning_again_writes_the_same_bytes(up, tmp_path):
    again = str(tmp_path / "catalog.json")
    run = up.bench.run("pin", again, *up.url)
    assert run.status == 0, run
    with open(up.bench.catalog, "rb") as first, open(again, "rb") as second:
        assert first.read() == second.read()


def test_a_check_finds_it_as_pinned(up):
    run = up.bench.run("check", up.bench.catalog)
    name = up.bench.pinned()["server"]["name"]
    assert (run.status, run.out, run.err) == (0, f"{name}: as pinned\n", ""), run


def test_a_tool_is_called_by_url(up):
    assert up.echo(TEXT, *up.url) == TEXT


def test_a_tool_is_called_by_the_catalog(up):
    assert up.echo(TEXT, *up.catalog) == TEXT


def test_a_failed_tool_is_status_1(up):
    if up.kind.is_python:
        run = up.bench.call("fail", {}, *up.url)
        assert (run.status, run.out) == (1, "Error executing tool fail: failed as asked\n"), run
    else:
        run = up.echo(None, *up.url)
        assert run.status == 1, run
        assert "expected string, received null at message" in run.out


@pytest.mark.parametrize("way", ["url", "catalog"])
def test_an_unknown_tool(up, way):
    run = up.bench.call("no-such-tool", {}, *getattr(up, way))
    if way == "catalog":
        assert (run.status, run.out) == (3, ""), run
        assert run.sentence("no-such-tool")
    else:
        # These servers say it as the tool's answer.
        assert run.status == 1, run
        assert "no-such-tool" in run.out


@pytest.mark.parametrize("way", ["url", "catalog"])
def test_each_of_ten_calls_at_once_gets_its_own_answer(up, way):
    texts = [f"number {number}" for number in range(10)]
    with concurrent.futures.ThreadPoolExecutor(len(texts)) as pool:
        answers = pool.map(lambda text: up.echo(text, *getattr(up, way)), texts)
        assert list(answers) == texts


@pytest.mark.parametrize("revision", OLDER)
def test_an_older_revision_can_be_fixed(up, revision, tmp_path):
    words = ["--protocol", revision, *up.url]
    assert up.echo(TEXT, *words) == TEXT
    catalog = str(tmp_path / "catalog.json")
    assert up.bench.run("pin", catalog, *words).status == 0
    with open(catalog, encoding="ascii") as file:
        (entry,) = json.load(file)["servers"].values()
    assert entry["protocol"] == revision
    assert up.echo(TEXT, "--catalog", catalog) == TEXT
    assert up.bench.run("check", catalog).status == 0


def test_a_big_question_and_a_big_answer_are_whole(up):
    assert up.echo(BIG, *up.url) == BIG


def test_an_answer_of_5_mb_is_whole(up):
    if not up.kind.is_python:
        pytest.skip("it has no tool that answers with more than it is sent, 4 MB at most")
    size = 5_000_000
    run = up.bench.call("big", {"n": size}, *up.url)
    assert run.status == 0, run.err
    assert run.out == "".join(pieces(size)) + "\n"


def test_sigterm_in_a_slow_call_ends_thrall_and_not_the_server(up):
    tool, arguments = "slow", {"seconds": 3600}
    said, more = " tools/call\n", 1
    if not up.kind.is_python:
        tool, arguments = "trigger-long-running-operation", {"duration": 3600, "steps": 1}
        # initialize, notifications/initialized, tools/call
        said, more = "Client Message" if up.kind.is_sse else "MCP POST", 3
    wanted = up.served.log().count(said) + more
    words = ["--protocol", up.kind.protocol, *up.url]
    run = up.bench.call(
        tool, arguments, *words, terminate_once=lambda: up.served.wait_for(said, wanted)
    )
    assert (run.status, run.out, run.err) == (-signal.SIGTERM, "", ""), run
    if up.kind.is_python:
        last = [line.split()[-1] for line in up.served.heard()][-2:]
        assert ("notifications/cancelled" in last) == (up.kind.protocol == LEGACY)
    assert up.echo(TEXT, *up.url) == TEXT


@pytest.mark.parametrize("up", KINDS, indirect=True)
def test_what_was_said_of_the_probe_is_not_told_when_a_call_fails(up):
    tool, arguments = "slow", {"seconds": 3600}
    if not up.kind.is_python:
        tool, arguments = "trigger-long-running-operation", {"duration": 3600, "steps": 1}
    run = up.bench.call(tool, arguments, "--timeout", "0.5", *up.url)
    assert (run.status, run.out) == (124, ""), run
    assert run.sentence(tool).endswith("in 0.5 s (--timeout); the tool may have run")
    assert up.echo(TEXT, *up.url) == TEXT


@pytest.mark.parametrize("up", [*list(KINDS)[:1], *list(KINDS)[2:5]], indirect=True)
def test_a_newer_revision_cannot_be_fixed(up):
    run = up.echo(TEXT, *up.url, "--protocol", MODERN)
    assert (run.status, run.out) == (4, ""), run
    assert "no common protocol version" in run.sentence("echo")


# ===== servers on the Python SDK ================================================


@pytest.mark.parametrize("up", PYTHON, indirect=True)
def test_a_call_makes_no_more_requests_than_it_needs(up):
    before = len(up.served.heard())
    words = ["--protocol", up.kind.protocol, *up.url]
    assert up.echo(TEXT, *words) == TEXT
    heard = [line.split() for line in up.served.heard()[before:]]
    assert [line[2] if len(line) > 2 else line[0] for line in heard] == ECHO[up.name]


@pytest.mark.parametrize("up", [name for name in PYTHON if "modern" in name], indirect=True)
@pytest.mark.parametrize("region", ["eu-west1", "K\u00f6ln", " padded ", "", "=?base64?eA==?="])
def test_an_argument_that_is_marked_stands_in_a_header(up, region):
    # In 2026-07-28 this SDK refuses a call whose header is not what the argument is.
    run = up.bench.call("marked", {"region": region}, *up.url)
    assert (run.status, run.out) == (0, region + "\n"), run


@pytest.mark.parametrize("up", ["modern-stateful", "modern-json"], indirect=True)
def test_a_question_back_is_status_7(up):
    assert up.kind.protocol == MODERN
    run = up.bench.call("ask", {}, *up.url)
    assert (run.status, run.out) == (7, ""), run
    assert run.sentence("ask")


# ===== servers that want a token ================================================


@pytest.mark.parametrize("token", [None, "wrong-horse-battery-9"])
def test_without_the_right_token_is_status_8_and_nothing_else_is_tried(locked, token):
    before = len(locked.served.heard())
    more = [] if token is None else ["--bearer-env", "MY_TOKEN"]
    run = locked.echo(TEXT, *locked.url, *more, env={"MY_TOKEN": token or TOKEN})
    assert (run.status, run.out) == (8, ""), run
    assert "401" in run.sentence("echo")
    assert "horse-battery" not in run.err
    (heard,) = locked.served.heard()[before:]
    assert heard.endswith(" 401")


def test_with_the_right_token_a_tool_is_called(locked):
    env = {"MY_TOKEN": TOKEN}
    assert locked.echo(TEXT, *locked.url, "--bearer-env", "MY_TOKEN", env=env) == TEXT
    header = ["--header", "authorization: Bearer ${MY_TOKEN}"]
    assert locked.echo(TEXT, *locked.url, *header, env=env) == TEXT


def test_a_catalog_names_the_variable_and_not_the_token(locked):
    entry = locked.bench.pinned()
    assert entry["headers"] == {"Authorization": "Bearer ${MY_TOKEN}"}
    assert entry["protocol"] == locked.kind.protocol
    with open(locked.bench.catalog, encoding="ascii") as file:
        assert TOKEN not in file.read()


def test_a_catalog_is_used_with_the_token(locked):
    env = {"MY_TOKEN": TOKEN}
    assert locked.echo(TEXT, *locked.catalog, env=env) == TEXT
    run = locked.bench.run("check", locked.bench.catalog, env=env)
    assert (run.status, run.out) == (0, f"{locked.kind.name}: as pinned\n"), run


def test_a_catalog_without_the_right_token(locked):
    env = {"MY_TOKEN": "wrong-horse-battery-9"}
    run = locked.echo(TEXT, *locked.catalog, env=env)
    assert (run.status, run.out) == (8, ""), run
    assert locked.bench.run("check", locked.bench.catalog, env=env).status == 8
    before = locked.served.heard()
    run = locked.echo(TEXT, *locked.catalog)
    assert (run.status, run.out) == (3, ""), run
    assert "MY_TOKEN" in run.err
    assert locked.served.heard() == before
