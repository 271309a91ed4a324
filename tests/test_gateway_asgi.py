"""The doors of the gateway over HTTP: paths, methods, sizes, and what a page in a browser can do."""

import pytest
from posting import JSON, Exchange, Service, application, call_modern, message, modern, within

from thrall_py.gateway.front import asgi

SECONDS = 20


def run(test, **settings):
    """Run `test(service, app)`."""

    async def make():
        service = Service()
        app, posts = application(service, **settings)
        try:
            await test(service, app)
        finally:
            await posts.close()

    within(SECONDS, make)


def test_another_path_is_not_found_and_the_right_one_is_named():
    async def test(_service, app):
        for path in ("/", "/mcp/", "/sse", "/messages/"):
            answer = await Exchange(app, path=path, body=message("ping")).answer()
            assert answer.status == 404
            assert b"clients of MCP speak to /mcp" in answer.body

    run(test)


@pytest.mark.parametrize("method", ["GET", "PUT", "OPTIONS", "HEAD", "BREW"])
def test_other_methods_are_refused_with_those_that_are_taken(method):
    async def test(_service, app):
        answer = await Exchange(app, method).answer()
        assert (answer.status, answer.headers["allow"]) == (405, "POST, DELETE")
        answer = await Exchange(app, method, headers=modern("tools/list")).answer()
        assert (answer.status, answer.headers["allow"]) == (405, "POST")

    run(test)


def test_a_modern_delete_is_refused():
    async def test(_service, app):
        answer = await Exchange(app, "DELETE", headers=modern("tools/list")).answer()
        assert (answer.status, answer.headers["allow"]) == (405, "POST")

    run(test)


@pytest.mark.parametrize("pieces", [[b"x" * 1001], [b"x" * 600] * 10])
def test_a_body_is_read_up_to_its_bound_and_no_further(pieces):
    async def test(_service, app):
        exchange = Exchange(app, pieces=pieces)
        answer = await exchange.answer()
        assert answer.status == 413
        assert b"a body may have 1000 bytes" in answer.body
        assert exchange.arriving.qsize() == max(len(pieces) - 2, 0)

    run(test, max_message=1000)


def test_a_body_that_does_not_end_in_time_is_given_up(monkeypatch):
    monkeypatch.setattr(asgi, "_BODY", 0.01)

    async def test(_service, app):
        answer = await Exchange(app, pieces=[b"{"]).answer()
        assert (answer.status, answer.headers["connection"]) == (408, "close")

    run(test)


def test_of_many_large_bodies_at_once_the_last_are_sent_away_and_room_is_made_again():
    async def test(_service, app):
        slow = [Exchange(app, pieces=[b"x" * 1000]) for _ in range(4)]
        answer = await Exchange(app, pieces=[b"x"]).answer()
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        for exchange in slow:
            exchange.leave()
            await exchange.task
        answer = await Exchange(
            app, headers=modern("tools/list"), body=message("tools/list", modern=True)
        ).answer()
        assert answer.status == 200

    run(test, max_message=1000)


def test_a_client_that_leaves_within_its_body_is_let_go():
    async def test(service, app):
        exchange = Exchange(app, pieces=[b"{"])
        exchange.leave()
        await exchange.task
        assert exchange.sent == []
        assert service.callers == []

    run(test)


def test_a_body_in_pieces_is_one_body():
    async def test(_service, app):
        body = message("tools/list", modern=True)
        exchange = Exchange(app, headers=modern("tools/list"), pieces=[body[:9], body[9:50]])
        exchange.arriving.put_nowait(
            {"type": "http.request", "body": body[50:], "more_body": False}
        )
        assert (await exchange.answer()).json["result"]["tools"] == []

    run(test)


def bearing(token):
    return {**modern("tools/list"), "authorization": token}


def test_with_a_token_only_who_shows_it_comes_in():
    async def test(_service, app):
        body = message("tools/list", modern=True)
        for headers in (
            modern("tools/list"),
            bearing("Bearer other"),
            bearing("Basic s3cr3t-token"),
        ):
            answer = await Exchange(app, headers=headers, body=body).answer()
            assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
            assert b"s3cr3t" not in answer.body
        answer = await Exchange(app, headers=bearing("bearer s3cr3t-token"), body=body).answer()
        assert answer.status == 200

    run(test, token="s3cr3t-token")


def test_without_the_token_no_path_tells_anything():
    async def test(_service, app):
        for method, path in (
            ("POST", "/mcp"),
            ("DELETE", "/mcp"),
            ("GET", "/"),
            ("OPTIONS", "/mcp"),
        ):
            assert (await Exchange(app, method, path).answer()).status == 401

    run(test, token="s3cr3t-token")


def test_health_is_told_to_anybody_and_the_servers_to_who_may_call_them():
    async def test(_service, app):
        answer = await Exchange(app, "GET", "/healthz").answer()
        assert (answer.status, answer.json) == (200, {"status": "ok"})
        answer = await Exchange(app, "GET", "/healthz", headers=bearing("Bearer t0ken")).answer()
        assert answer.json == {"status": "ok", "servers": {"files": "ok"}}
        answer = await Exchange(app, "POST", "/healthz").answer()
        assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")

    run(test, token="t0ken", states={"files": "ok"})


def test_without_a_token_everybody_may_see_the_servers_but_for_pages():
    async def test(_service, app):
        answer = await Exchange(app, "GET", "/healthz").answer()
        assert answer.json == {"status": "ok", "servers": {"files": "ok"}}
        for page in ({"origin": "https://evil.example"}, {"host": "evil.example"}):
            answer = await Exchange(app, "GET", "/healthz", headers={**JSON, **page}).answer()
            assert answer.status in {403, 421}

    run(test, states={"files": "ok"})


# What browsers send (Chromium 130, Firefox 132) when a page at https://evil.example does
# fetch("http://localhost/mcp", ...): no header of these can be left out or forged by a page.
BROWSER = {
    "host": "localhost",
    "connection": "keep-alive",
    "accept": "*/*",
    "accept-encoding": "gzip, deflate, br, zstd",
    "accept-language": "en-US,en;q=0.9",
    "origin": "https://evil.example",
    "referer": "https://evil.example/",
    "sec-fetch-dest": "empty",
    "sec-fetch-mode": "cors",
    "sec-fetch-site": "cross-site",
    "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36",
}
BODY = message("tools/call", 1, modern=True, name="tell")


@pytest.mark.parametrize(
    "more",
    [
        {"content-type": "text/plain;charset=UTF-8"},  # a simple request, sent without asking first
        {"content-type": "application/json"},
        {"content-type": "text/plain;charset=UTF-8", "origin": "null"},  # a sandboxed frame, a file
        {
            "content-type": "application/x-www-form-urlencoded",
            "sec-fetch-mode": "navigate",
        },  # a form
    ],
)
def test_a_page_on_another_origin_cannot_call_a_tool(more):
    async def test(service, app):
        answer = await Exchange(app, headers={**BROWSER, **more}, body=BODY).answer()
        assert answer.status == 403
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert service.callers == []

    run(test)


def test_a_preflight_is_given_no_permission():
    async def test(_service, app):
        asking = {
            **BROWSER,
            "access-control-request-method": "POST",
            "access-control-request-headers": "content-type,mcp-method",
            "access-control-request-private-network": "true",
        }
        for origin, status in (("https://evil.example", 403), ("http://localhost", 405)):
            answer = await Exchange(app, "OPTIONS", headers={**asking, "origin": origin}).answer()
            assert answer.status == status
            assert not [name for name in answer.headers if name.startswith("access-control")]

    run(test)


@pytest.mark.parametrize("origin", [{}, {"origin": "http://evil.example"}])
def test_a_name_that_was_bound_to_our_address_meanwhile_is_not_ours(origin):
    """DNS rebinding: to the browser it is the page's own origin, so a GET carries no Origin."""

    async def test(service, app):
        same = {name: value for name, value in BROWSER.items() if name not in {"origin", "referer"}}
        headers = {**same, "host": "evil.example", "sec-fetch-site": "same-origin", **origin}
        answer = await Exchange(
            app, headers={**headers, "content-type": "application/json"}, body=BODY
        ).answer()
        assert answer.status == 421
        assert service.callers == []

    run(test)


def test_a_page_that_the_user_allowed_may_call():
    async def test(service, app):
        headers = {**modern("tools/call", "tell"), "origin": "https://good.example"}
        assert (await Exchange(app, headers=headers, body=BODY).answer()).status == 200
        assert len(service.callers) == 1

    run(test, allow_origins=["https://good.example"])


def test_a_program_sends_no_origin_and_may_call():
    async def test(service, app):
        assert (await call_modern(app, "tell").answer()).status == 200
        assert len(service.callers) == 1

    run(test)
