"""Who may speak to the gateway over HTTP: the headers Host, Origin and Authorization. Pure.

A page in a browser can send requests to this machine. Its origin gives it away; and if its name was
bound to our address meanwhile (DNS rebinding), the name does, which it sends as the host
("Streamable HTTP", "Security Warning", all revisions).
"""

import hmac
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from thrall_py.errors import UsageError
from thrall_py.redact import Redactor

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_ANY = ("0.0.0.0", "[::]")  # noqa: S104 - recognised, not bound
_HTTP_PORT = 80  # the one that a client does not name
# A name can be bound to our address by its owner, an address cannot.
_ADDRESS = re.compile(r"(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])(?::\d+)?", re.ASCII)
UNAUTHORIZED, _FORBIDDEN, _MISDIRECTED = 401, 403, 421
_NONE = "a bearer token is needed: send the header Authorization: Bearer TOKEN, once"
_ANOTHER = "the header Authorization is not Bearer and the token of this gateway, or is there twice"


class Rules(NamedTuple):
    """Who may speak.

    Attributes:
        hosts: what Host may be, in lower case: with a port, or with any if it has none.
        port: the one that is listened on.
        by_address: whether any address will do, since all of this machine are listened on.
        origins: what Origin may be besides these hosts, in lower case.
        token: what is expected as a bearer token; empty if none is.

    """

    hosts: frozenset[str]
    port: int
    by_address: bool = False
    origins: frozenset[str] = frozenset()
    token: str = ""


class Refusal(NamedTuple):
    """What is replied to who may not: a status of HTTP, a sentence, more headers."""

    status: int
    reason: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


def is_loopback(host: str) -> bool:
    """Tell whether an address that is bound is reached from this machine only."""
    bare = host.lower().strip("[]")
    return bare in {"localhost", "::1"} or bool(re.fullmatch(r"127(?:\.\d{1,3}){3}", bare))


def rules(
    host: str,
    port: int,
    token: str = "",
    allow_hosts: Iterable[str] = (),
    allow_origins: Iterable[str] = (),
) -> Rules:
    """Make the rules for what is bound.

    Args:
        host: the address or name that is listened on.
        port: the port.
        token: what clients have to send; empty for nothing.
        allow_hosts: more values of Host; one without a port goes with any.
        allow_origins: more values of Origin, such as `https://example.org`.

    """
    bound = host.lower()
    if ":" in bound and not bound.startswith("["):
        bound = f"[{bound}]"
    by_address = bound in _ANY
    names = (*_LOOPBACK, bound) if by_address or is_loopback(bound) else (bound,)
    hosts = {f"{name}:{port}" for name in names} | {each.lower() for each in allow_hosts}
    origins = frozenset(each.lower().rstrip("/") for each in allow_origins)
    return Rules(frozenset(hosts), port, by_address, origins, token)


def check(allow_hosts: Iterable[str], allow_origins: Iterable[str]) -> None:
    """Take what names somebody: `null` is the origin of a file, and of whoever hides one.

    Raises:
        UsageError: one of these stands for anybody.

    """
    named = [("--allow-host", value) for value in allow_hosts]
    for option, value in [*named, *(("--allow-origin", value) for value in allow_origins)]:
        if "*" in value or value.strip().lower() in {"", "null"}:
            raise UsageError(
                f"{option} {Redactor().quoted(value)} would let in everybody, or nobody: name each"
                " one, as in mcp.example.com or https://example.com"
            )


def refuse(headers: Sequence[tuple[bytes, bytes]], wanted: Rules) -> Refusal | None:
    """Refuse a request by its headers, or let it pass.

    Nothing that was sent is repeated.
    """
    hosts = _values(headers, b"host")
    if len(hosts) != 1 or not _is_ours(hosts[0], wanted):
        return Refusal(_MISDIRECTED, "this host is not served here: see --allow-host")
    origins = _values(headers, b"origin")
    if origins and not (len(origins) == 1 and _is_allowed(origins[0], wanted)):
        return Refusal(_FORBIDDEN, "pages of this origin may not ask: see --allow-origin")
    given = [value for name, value in headers if name.lower() == b"authorization"]
    if wanted.token and not _is_token(given, wanted.token):
        challenge = ((b"www-authenticate", b"Bearer"),)
        reason = _ANOTHER if given else _NONE
        return Refusal(UNAUTHORIZED, reason, challenge)
    return None


def _is_ours(host: str, wanted: Rules) -> bool:
    name, port = _parted(host)
    if not {host, name, f"{name}:{port}"}.isdisjoint(wanted.hosts):
        return True
    return wanted.by_address and port == str(wanted.port) and bool(_ADDRESS.fullmatch(host))


def _is_allowed(origin: str, wanted: Rules) -> bool:
    scheme, colon, host = origin.partition("://")
    if origin in wanted.origins:
        return True
    return bool(colon) and scheme in {"http", "https"} and _is_ours(host, wanted)


def _parted(host: str) -> tuple[str, str]:
    """A host without its port, and the port."""
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        return host, str(_HTTP_PORT)
    return name, port


def _is_token(given: Sequence[bytes], token: str) -> bool:
    """Compare in constant time, so that the time tells nothing of the token."""
    only = given[0].strip(b" \t") if len(given) == 1 else b""
    scheme, _, sent = only.partition(b" ")
    is_same = hmac.compare_digest(sent.strip(b" "), token.encode())
    return is_same and scheme.lower() == b"bearer"


def _values(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [
        value.decode("latin-1").strip(" \t").lower()
        for key, value in headers
        if key.lower() == name
    ]
