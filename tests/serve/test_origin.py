"""A page on another origin, with the headers that browsers send, and the running command.

What a page can do without asking is a *simple request* (Fetch, 3.2.2): GET or POST of text/plain
without headers of its own.  Anything else the browser asks for first, with OPTIONS.  A page whose name
was bound to this machine meanwhile (DNS rebinding) is of the gateway's own origin for the
browser; its name in `Host` gives it away.
"""

import asyncio
import json

import pytest
from serve.clients import LEGACY, MODERN, Connection, HttpClient, request
from serve.running import fixture, pin, serving

# What Chrome and Firefox add to a request of a page, besides Origin.
CHROME = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36",
    "sec-ch-ua": '"Google Chrome";v="143", "Chromium";v="143", "Not A(Brand";v="24"',
    "sec-ch-ua-mobile": "?0",
    "sec-ch-ua-platform": '"Linux"',
    "Sec-Fetch-Site": "cross-site",
    "Sec-Fetch-Mode": "no-cors",
    "Sec-Fetch-Dest": "empty",
    "Accept": "*/*",
    "Accept-Encoding": "gzip, deflate, br, zstd",
    "Accept-Language": "en-US,en;q=0.9",
    "Referer": "https://evil.example/",
    "Connection": "keep-alive",
}
FIREFOX = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
    "Accept": "*/*",
    "Accept-Language": "en-US,en;q=0.5",
    "Accept-Encoding": "gzip, deflate, br, zstd",
    "Referer": "https://evil.example/",
    "Connection": "keep-alive",
    "Sec-Fetch-Dest": "empty",
    "Sec-Fetch-Mode": "no-cors",
    "Sec-Fetch-Site": "cross-site",
    "Priority": "u=4",
}
BROWSERS = pytest.mark.parametrize("browser", [CHROME, FIREFOX], ids=["chrome", "firefox"])
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    folder = tmp_path_factory.mktemp("origin")
    catalog = pin(str(folder / "catalog.json"), "fixture", fixture())
    with serving(catalog) as running:
        yield running


def exchange(gateway, headers, body, method="POST", path="/mcp"):
    async def one():
        async with asyncio.timeout(20):
            connection = Connection(gateway.address)
            try:
                return await connection.exchange(method, path, headers, body)
            finally:
                await connection.close()

    return asyncio.run(one())


def messages(gateway):
    """A call of a tool in each era, as a program would send it: headers and body."""
    for revision in (LEGACY, MODERN):
        client = HttpClient(gateway.address, revision=revision)
        message = client.call_of(1, "echo", {"text": "called"})
        yield client.headers(message), json.dumps(message).encode()


def calls(gateway):
    """How many tools were called so far."""
    return sum(line["event"] == "call" for line in gateway.log())


@BROWSERS
@pytest.mark.parametrize("kind", ["text/plain;charset=UTF-8", "application/x-www-form-urlencoded"])
def test_a_page_that_posts_what_needs_no_permission_calls_nothing(gateway, browser, kind):
    before = calls(gateway)
    for _, body in messages(gateway):
        headers = browser | {"Origin": "https://evil.example", "Content-Type": kind}
        reply = exchange(gateway, headers, body)
        assert reply.status == 403
        assert "access-control-allow-origin" not in reply.headers
    assert calls(gateway) == before


def test_a_page_in_a_sandbox_has_the_origin_null_and_calls_nothing(gateway):
    for headers, body in messages(gateway):
        assert exchange(gateway, CHROME | headers | {"Origin": "null"}, body).status == 403


@pytest.mark.parametrize("kind", ["text/plain", "application/json; charset=UTF-8", None])
def test_without_an_origin_only_json_is_taken(gateway, kind):
    headers = {"Accept": "application/json, text/event-stream"}
    if kind:
        headers["Content-Type"] = kind
    body = json.dumps(request(1, "initialize")).encode()
    is_json = bool(kind) and "json" in kind
    assert (exchange(gateway, headers, body).status in {400, 415}) is not is_json


@BROWSERS
def test_a_browser_that_asks_whether_a_page_may_is_not_told_yes(gateway, browser):
    asking = {
        "Origin": "https://evil.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type,mcp-method,mcp-name,mcp-protocol-version",
        "Access-Control-Request-Private-Network": "true",
    }
    reply = exchange(gateway, browser | asking, b"", method="OPTIONS")
    assert reply.status >= 400
    assert not [name for name in reply.headers if name.startswith("access-control-allow")]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example"])
@pytest.mark.parametrize("origin", [None, "http://evil.example:{port}"])
def test_a_name_that_was_bound_to_this_machine_is_refused(gateway, host, origin):
    before, port = calls(gateway), gateway.address[1]
    for headers, body in messages(gateway):
        rebound = (
            CHROME | headers | {"Host": host.format(port=port), "Sec-Fetch-Site": "same-origin"}
        )
        if origin:
            rebound["Origin"] = origin.format(port=port)
        assert exchange(gateway, rebound, body).status in {403, 421}
    assert calls(gateway) == before


@BROWSERS
@pytest.mark.parametrize("path", ["/mcp", "/healthz"])
def test_a_page_that_gets_reads_nothing_of_other_origins(gateway, browser, path):
    headers = browser | {"Origin": "https://evil.example"}
    reply = exchange(gateway, headers, b"", method="GET", path=path)
    assert "access-control-allow-origin" not in reply.headers
    assert b"fixture" not in reply.body


def test_a_program_on_this_machine_calls_the_tool(gateway):
    """The same requests without a page behind them."""
    *_, (headers, body) = messages(gateway)
    reply = exchange(gateway, headers, body)
    assert (reply.status, reply.message["result"]["content"][0]["text"]) == (200, "called")


def test_a_page_on_an_origin_that_is_allowed_calls_the_tool(tmp_path):
    catalog = pin(str(tmp_path / "catalog.json"), "fixture", fixture())
    origin = "https://ours.example"
    with serving(catalog, "--allow-origin", origin) as allowing:
        *_, (headers, body) = messages(allowing)
        page = CHROME | headers | {"Origin": origin, "Sec-Fetch-Mode": "cors"}
        assert exchange(allowing, page, body).status == 200
        assert exchange(allowing, page | {"Origin": f"{origin}.evil.example"}, body).status == 403
