"""Reaches a server on a URL: apart, because it loads HTTP."""

import binascii
import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import quote, quote_plus, unquote

from thrall_py.catalog.launch import UrlSpec
from thrall_py.errors import InputError, TimedOutError
from thrall_py.protocol.channel import Channel, ReceiveTimeout
from thrall_py.protocol.http_handshake import HttpHandshake
from thrall_py.protocol.session import Session
from thrall_py.protocol.user import User
from thrall_py.redact import Redactor
from thrall_py.transport.endpoint import Endpoint
from thrall_py.transport.environment import expand, variable_names
from thrall_py.transport.http.contact import Contact
from thrall_py.transport.http.http_sse import HttpSse
from thrall_py.transport.http.proxy import proxy_for
from thrall_py.transport.http.route import Route
from thrall_py.transport.http.streamable import Streamable
from thrall_py.transport.http.url import Url, parse
from thrall_py.transport.http.waiting import Waiting
from thrall_py.transport.interrupts import Interrupts
from thrall_py.visible import visible

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2
_VALUE = re.compile(r"[^\x00-\x1f\x7f]*")
_OWN = re.compile(
    "accept|accept-encoding|connection|content-.*|expect|host|keep-alive|last-event-id|mcp-.*"
    "|proxy-connection|te|trailer|transfer-encoding|upgrade",
    re.IGNORECASE,
)
_SCHEMES = ("apikey", "basic", "bearer", "token")  # in front of a credential
_SHORTEST_PART = 8  # characters; a shorter one of a query or a header stands in every other word


def fill_in(spec: UrlSpec, values: Mapping[str, str]) -> tuple[Endpoint, list[str]]:
    """Fill in an address from the environment.

    Returns:
        The address, and what must not be repeated of it.

    Raises:
        InputError: a variable is not set, or is empty in a header; the URL is none; or a header
            cannot be sent.

    """
    filled = {name: expand(word, values, may_be_empty=False) for name, word in spec.headers.items()}
    headers = {name: _header(name, value) for name, value in filled.items()}
    text = expand(spec.url, values)
    _refuse_bytes("the URL", text)
    url = parse(text)
    proxy = proxy_for(url, values)
    _refuse_bytes("the user of the proxy", proxy.userinfo if proxy else "")
    words = (spec.url, *spec.headers.values())
    names = {name for word in words for name in variable_names(word)}
    secrets = [values[name] for name in names if name in values]
    secrets += [part for value in headers.values() for part in _header_secrets(value)]
    secrets += [*_query_secrets(url), *_user_secrets(url), *(_user_secrets(proxy) if proxy else ())]
    spelled = [spelling for secret in secrets for spelling in _spellings(secret)]
    return Endpoint(text, headers, _credentials(spec, url)), [*secrets, *spelled]


def begin(
    contact: Callable[[], Contact],
    redact: Redactor,
    watched: Callable[[Channel], Channel],
    seconds: float,
    user: User | None = None,
) -> HttpHandshake:
    """Begin a handshake with a server on a URL.

    Args:
        contact: makes contact with it, afresh.
        redact: makes its words fit to be repeated.
        watched: lets somebody follow what a channel carries.
        seconds: from now to the end of the handshake.
        user: answers what the server asks of its user, if there is somebody.

    """

    def start() -> Session:
        channel = watched(Streamable(contact(), may_ask=user is not None))
        return Session(channel, time.monotonic, redact, user)

    return HttpHandshake(start, lambda: watched(HttpSse(contact())), seconds)


def knock(endpoint: Endpoint, interrupts: Interrupts, seconds: float) -> None:
    """Make a connection to a server on a URL, TLS included, and close it again.

    Raises:
        TlsError: the server is reached, and is not who it should be.
        ServerError, TimedOutError: it is not reached.

    """
    url = parse(endpoint.url)
    route = Route(url, proxy_for(url, os.environ), Waiting(interrupts))
    try:
        route.connect(time.monotonic() + seconds).close()
    except ReceiveTimeout:
        waited = f"{seconds:g} s (--start-timeout)"
        raise TimedOutError(f"no connection to {visible(url.origin)} in {waited}") from None


def _header(name: str, value: str) -> str:
    if not _NAME.fullmatch(name):
        raise InputError(f'no header can have the name "{visible(name)}"')
    if _OWN.fullmatch(name):
        raise InputError(f"the header {name} is set by thrall itself")
    if not _VALUE.fullmatch(value):
        raise InputError(f"the value of the header {name} has a line break or another control")
    _refuse_bytes(f"the value of the header {name}", value)
    return value.strip()


def _refuse_bytes(what: str, text: str) -> None:
    """Refuse what came from the environment or the command line and was not UTF-8 there."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{what} is not UTF-8") from None


def _credentials(spec: UrlSpec, url: Url) -> str:
    """Say which headers are sent, and which variables they are from."""
    said = []
    for name, word in spec.headers.items():
        variables = " and ".join(f"${{{each}}}" for each in variable_names(word))
        said.append(f"{name} (from {variables})" if variables else name)
    if url.userinfo:
        said.append("the user of the URL")
    return ", ".join(said)


def _header_secrets(value: str) -> Iterator[str]:
    """What must not be repeated of a header: all of it, its parts, and what base64 hides."""
    yield value
    yield from (part for part in re.split(r"[\s;,=]+", value) if len(part) >= _SHORTEST_PART)
    scheme, _, coded = value.partition(" ")
    if scheme.lower() in _SCHEMES:
        yield coded
    if scheme.lower() == "basic":
        with contextlib.suppress(ValueError):
            pair = binascii.a2b_base64(coded.encode()).decode()
            yield from (pair, pair.partition(":")[2])


def _user_secrets(url: Url) -> Iterator[str]:
    """The user and the password of a URL, and the header that is made of them."""
    yield from map(unquote, url.userinfo.split(":"))
    yield url.credentials.rpartition(" ")[2]


def _query_secrets(url: Url) -> Iterator[str]:
    """The query is not repeated, nor what stands in it, however it is spelled."""
    query = url.target.partition("?")[2]
    values = (pair.partition("=")[2] for pair in query.split("&"))
    long = [value for value in values if len(value) >= _SHORTEST_PART]
    yield from (query, *long, *map(unquote, long))


def _spellings(secret: str) -> Iterator[str]:
    """How a URL, a header or a page spells a secret: some of these are our own doing."""
    yield from (quote(secret), quote(secret, safe=""), quote_plus(secret), secret.lower())
    data = secret.encode()
    yield binascii.b2a_base64(data, newline=False).decode()
    yield data.decode("latin-1")
