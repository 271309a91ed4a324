import pytest

from thrall_py.errors import UsageError
from thrall_py.gateway.front import gate

TOKEN = "s3cret-token"
LOCAL = gate.rules("127.0.0.1", 8080)


def refused(wanted=LOCAL, host="127.0.0.1:8080", **headers):
    """The status of a refusal; None if the request passes."""
    pairs = [
        (name.replace("_", "-").encode(), text.encode("latin-1"))
        for name, text in {"Host": host, **headers}.items()
    ]
    found = gate.refuse(pairs, wanted)
    return found and found.status


# -- Host --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080", " localhost:8080 "]
)
@pytest.mark.parametrize("bound", ["127.0.0.1", "localhost", "::1", "[::1]"])
def test_the_names_of_this_machine_are_served(bound, host):
    assert refused(gate.rules(bound, 8080), host) is None


@pytest.mark.parametrize(
    "host", ["evil.example:8080", "evil.example", "localhost", "localhost:8081", "127.0.0.1", "[::1]", "", ":8080", "localhost:8080.evil.example",
             "127.0.0.1:8080@evil.example", "10.0.0.1:8080", "localhost:08080"],
)  # fmt: skip
def test_any_other_host_is_misdirected(host):
    assert refused(host=host) == 421


@pytest.mark.parametrize(
    "pairs", [[], [(b"host", b"localhost:8080"), (b"Host", b"localhost:8080")]]
)
def test_there_is_one_host(pairs):
    assert gate.refuse(pairs, LOCAL).status == 421


def test_the_port_of_http_need_not_be_named():
    assert refused(gate.rules("localhost", 80), "localhost") is None
    assert refused(gate.rules("::1", 80), "[::1]") is None


def test_an_address_that_is_bound_is_served_alone():
    rules = gate.rules("192.168.1.5", 8080)
    assert refused(rules, "192.168.1.5:8080") is None
    assert refused(rules, "localhost:8080") == 421
    assert refused(rules, "192.168.1.6:8080") == 421


@pytest.mark.parametrize("bound", ["0.0.0.0", "::"])
def test_on_all_addresses_any_address_is_served_and_no_other_name(bound):
    rules = gate.rules(bound, 8080)
    for host in ("10.0.0.1:8080", "[fe80::1]:8080", "localhost:8080"):
        assert refused(rules, host) is None
    for host in (
        "evil.example:8080",
        "10.0.0.1:8081",
        "10.0.0.1",
        "10.0.0.1.evil.example:8080",
        "[evil]:8080",
    ):
        assert refused(rules, host) == 421


def test_more_hosts_may_be_allowed_with_a_port_or_any():
    rules = gate.rules("127.0.0.1", 8080, allow_hosts=["MCP.example", "other.example:9000"])
    for host in ("mcp.example", "mcp.example:443", "other.example:9000"):
        assert refused(rules, host) is None
    assert refused(rules, "other.example:9001") == 421


# -- Origin ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost:8080",
        "http://127.0.0.1:8080",
        "https://[::1]:8080",
        "HTTP://LOCALHOST:8080",
    ],
)
def test_a_page_of_ours_may_ask(origin):
    assert refused(Origin=origin) is None


@pytest.mark.parametrize(
    "origin", ["null", "", "https://evil.example", "http://localhost", "http://localhost:3000", "localhost:8080", "file://localhost:8080",
               "http://localhost:8080.evil.example", "http://localhost:8080@evil.example", "http://localhost:8080/"],
)  # fmt: skip
def test_a_page_of_any_other_origin_may_not(origin):
    assert refused(Origin=origin) == 403


def test_there_is_one_origin():
    same = [(b"origin", b"http://localhost:8080")] * 2
    assert gate.refuse([(b"host", b"localhost:8080"), *same], LOCAL).status == 403


def test_more_origins_may_be_allowed():
    rules = gate.rules(
        "127.0.0.1",
        8080,
        allow_hosts=["mcp.example"],
        allow_origins=["https://App.example/"],
    )
    for origin in ("https://app.example", "https://mcp.example"):
        assert refused(rules, Origin=origin) is None
    for origin in ("http://app.example", "https://app.example:444", "null"):
        assert refused(rules, Origin=origin) == 403


@pytest.mark.parametrize("value", ["*", "null", "NULL ", "", "https://*.example"])
def test_who_may_ask_is_named_one_by_one(value):
    with pytest.raises(UsageError, match="--allow-host .* let in everybody, or nobody: name each"):
        gate.check(["a.example", value], [])
    with pytest.raises(UsageError, match="--allow-origin "):
        gate.check([], ["https://a.example", value])


def test_a_name_that_was_bound_to_our_address_is_refused_though_page_and_host_agree():
    assert refused(host="evil.example:8080", Origin="http://evil.example:8080") == 421


# -- the token ---------------------------------------------------------------------------------

GUARDED = LOCAL._replace(token=TOKEN)


@pytest.mark.parametrize("sent", [f"Bearer {TOKEN}", f"bearer {TOKEN}", f"BEARER   {TOKEN} "])
def test_the_token_opens(sent):
    assert refused(GUARDED, Authorization=sent) is None


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "Bearer",
        "Bearer ",
        TOKEN,
        f"Basic {TOKEN}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer x {TOKEN}",
        "Bearer \xe9",
    ],
)
def test_anything_else_does_not(sent):
    assert refused(GUARDED, Authorization=sent) == 401


def test_the_refusal_says_how_and_repeats_nothing():
    pairs = [(b"host", b"localhost:8080"), (b"authorization", b"Bearer wr0ng")]
    found = gate.refuse(pairs, GUARDED)
    assert found.headers == ((b"www-authenticate", b"Bearer"),)
    assert not any(word in found.reason for word in ("wr0ng", TOKEN))


def test_the_refusal_tells_no_token_from_another_one():
    host = (b"host", b"localhost:8080")
    none = gate.refuse([host], GUARDED).reason
    assert none == "a bearer token is needed: send the header Authorization: Bearer TOKEN, once"
    assert (
        "is not Bearer and the token"
        in gate.refuse([host, (b"authorization", b"x")], GUARDED).reason
    )


def test_a_token_stands_there_once():
    pairs = [(b"host", b"localhost:8080"), *[(b"authorization", f"Bearer {TOKEN}".encode())] * 2]
    assert gate.refuse(pairs, GUARDED).status == 401
    assert gate.refuse(pairs[:1], GUARDED).status == 401


def test_host_and_origin_come_before_the_token():
    assert refused(GUARDED, host="evil.example") == 421
    assert refused(GUARDED, Origin="null") == 403


@pytest.mark.parametrize(
    ("host", "is_local"),
    [("localhost", True), ("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("[::1]", True), ("0.0.0.0", False), ("::", False),
     ("192.168.1.5", False), ("127.0.0.1.evil.example", False), ("example.org", False)],
)  # fmt: skip
def test_loopback_is_what_only_this_machine_reaches(host, is_local):
    assert gate.is_loopback(host) == is_local
