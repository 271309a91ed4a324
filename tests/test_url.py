import pytest

from thrall_py.errors import InputError
from thrall_py.transport.http.proxy import proxy_for
from thrall_py.transport.http.url import Url, parse, resolve

URLS = {
    "http://h/mcp": Url("http", "h", 80, "/mcp"),
    "https://h": Url("https", "h", 443, "/"),
    "HTTP://Host:8080/a?b=c": Url("http", "host", 8080, "/a?b=c"),
    "http://h/#fragment": Url("http", "h", 80, "/"),
    "http://u:p@h/": Url("http", "h", 80, "/", "u:p"),
    "http://[::1]:81/x": Url("http", "::1", 81, "/x"),
    "http://bücher.example/ü?ü": Url("http", "xn--bcher-kva.example", 80, "/%C3%BC?%C3%BC"),
    "http://h/a%20b{c}": Url("http", "h", 80, "/a%20b%7Bc%7D"),
    "http://h/?": Url("http", "h", 80, "/"),
}


@pytest.mark.parametrize(("text", "url"), URLS.items())
def test_a_url_is_taken_apart(text, url):
    assert parse(text) == url


@pytest.mark.parametrize(
    "text",
    ["", "h/mcp", "ftp://h/", "file:///x", "http://", "http:///x", "http://h:99999/", "http://h:x/",
     "http://h:0/", "http://[::1/", "http://a b/", "http://" + "ü" * 99 + "/", "//h/x", "http://é\0/",
     "http://h/a b", " http://h/", "http://h/ ", "http://h/a\tb", "http://h/\r\nx", "http://h/\x7f", "http://h/\x1b[0m",
     "http://h\\@g/", "http://h/a\\b", "ht\ntp://h/", "http://u:p\\q@h/", "http://h/?a=b c"],
)  # fmt: skip
def test_what_is_no_url_of_http_is_refused(text):
    with pytest.raises(InputError, match=r"^the URL .*: write http://HOST/PATH"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("127.0.0.1:8932/mcp", "does not begin with http:// or https://"),
        ("ftp://h/", "is not one of http or https"),
        ("HTTP://h:x/", "has no host, or something in it that no URL has"),
    ],
)
def test_it_is_said_what_is_wrong_with_a_url(text, fault):
    with pytest.raises(InputError, match=f"^the URL {fault}: write "):
        parse(text)


def test_what_is_shown_of_a_url_has_neither_user_nor_query():
    assert parse("http://u:p@h:81/a?token=x").shown == "http://h:81/a"
    assert parse("https://[::1]/a").shown == "https://[::1]/a"
    assert parse("https://h:443/").origin == "https://h"
    assert parse("http://h:443/").origin == "http://h:443"


def test_the_user_of_a_url_is_basic_authentication():
    assert parse("http://h/").credentials == ""
    assert parse("http://u%40x:p%3Aq:r@h/").credentials == "Basic dUB4OnA6cTpy"
    assert parse("http://u@h/").credentials == "Basic dTo="


REFERENCES = {
    "/x?y": "http://h:81/x",
    "x": "http://h:81/a/x",
    "?z": "http://h:81/a/b",
    "//other/x": "http://other/x",
    "https://h:81/x": "https://h:81/x",
    "": "http://h:81/a/b",
}


@pytest.mark.parametrize(("reference", "shown"), REFERENCES.items())
def test_a_reference_is_read_where_it_came_from(reference, shown):
    assert resolve(parse("http://h:81/a/b"), reference).shown == shown


@pytest.mark.parametrize("reference", ["http://[", "ftp://h/", "http://h:x/", "javascript:1"])
def test_a_reference_to_something_else_is_none(reference):
    assert resolve(parse("http://h/"), reference) is None


PROXY = "http://p:3128"
PROXIES = {
    "none": ("http://h/", {}, None),
    "for http": ("http://h/", {"HTTP_PROXY": PROXY}, "http://p:3128"),
    "not for https": ("https://h/", {"HTTP_PROXY": PROXY}, None),
    "for https": ("https://h/", {"HTTPS_PROXY": PROXY}, "http://p:3128"),
    "for all": ("https://h/", {"ALL_PROXY": PROXY}, "http://p:3128"),
    "lower case first": ("http://h/", {"http_proxy": "http://q", "HTTP_PROXY": PROXY}, "http://q"),
    "an empty one": ("http://h/", {"http_proxy": "", "HTTP_PROXY": PROXY}, "http://p:3128"),
    "without a scheme": ("http://h/", {"HTTP_PROXY": "p:3128"}, "http://p:3128"),
    "over TLS": ("http://h/", {"HTTP_PROXY": "https://p"}, "https://p"),
    "in a CGI program": ("http://h/", {"HTTP_PROXY": PROXY, "REQUEST_METHOD": "GET"}, None),
    "the safe name there": (
        "http://h/",
        {"http_proxy": PROXY, "REQUEST_METHOD": "GET"},
        "http://p:3128",
    ),
}


@pytest.mark.parametrize(("url", "environment", "origin"), PROXIES.values(), ids=PROXIES)
def test_a_proxy_is_found_in_the_environment(url, environment, origin):
    proxy = proxy_for(parse(url), environment)
    assert (proxy and proxy.origin) == origin


EXEMPT = {
    "the host": ("http://h.example/", "h.example"),
    "one of several": ("http://h/", "a, h,b"),
    "everything": ("http://h/", "*"),
    "capitals": ("http://h/", "H"),
    "a domain": ("http://a.h.example/", "h.example"),
    "a domain with a dot": ("http://a.h.example/", ".h.example"),
    "the domain itself": ("http://h.example/", ".h.example"),
    "a pattern": ("http://a.h.example/", "*.h.example"),
    "an address": ("http://127.0.0.1:8000/", "127.0.0.1"),
    "an address of IPv6": ("http://[::1]:8000/", "::1"),
    "the same in brackets": ("http://[::1]:8000/", "[::1]"),
    "a port": ("http://h:81/", "h:81"),
    "a network": ("http://10.1.2.3/", "10.0.0.0/8"),
    "a network of IPv6": ("http://[fd00::1]/", "fd00::/8"),
}


@pytest.mark.parametrize(("url", "listed"), EXEMPT.values(), ids=EXEMPT)
def test_a_host_that_no_proxy_names_is_reached_directly(url, listed):
    for name in ("no_proxy", "NO_PROXY"):
        assert proxy_for(parse(url), {"HTTP_PROXY": PROXY, name: listed}) is None


NOT_EXEMPT = {
    "another host": ("http://h/", "g"),
    "the end of a name": ("http://ah/", "h"),
    "another port": ("http://h:82/", "h:81"),
    "another network": ("http://11.1.2.3/", "10.0.0.0/8"),
    "a name and a network": ("http://h/", "10.0.0.0/8"),
    "a network that is none": ("http://10.1.2.3/", "10.0.0.0/x"),
    "nothing": ("http://h/", " , "),
    "a dot": ("http://h/", "."),
}


@pytest.mark.parametrize(("url", "listed"), NOT_EXEMPT.values(), ids=NOT_EXEMPT)
def test_any_other_host_is_reached_through_the_proxy(url, listed):
    assert proxy_for(parse(url), {"HTTP_PROXY": PROXY, "NO_PROXY": listed})


def test_a_proxy_that_is_no_url_of_http_is_refused_without_its_value():
    with pytest.raises(
        InputError, match="the variable ALL_PROXY holds no http://HOST:PORT"
    ) as told:
        proxy_for(parse("http://h/"), {"ALL_PROXY": "socks5://user:secret@p"})
    assert "secret" not in str(told.value)
