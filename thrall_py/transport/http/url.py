"""URLs of http and https, taken apart (RFC 3986)."""

import binascii
import re
from typing import NamedTuple
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

from thrall_py.errors import InputError

_ODD = re.compile(r"[\x00-\x20\x7f\\]")
_PORTS = {"http": 80, "https": 443}
_SAFE = "/?:@!$&'()*+,;=-._~%[]"  # what a target holds as it is; the rest is escaped


class Url(NamedTuple):
    """A URL, its host in ASCII and its port spelled out."""

    scheme: str
    host: str
    port: int
    target: str  # path and query, as in a request's first line
    userinfo: str = ""

    @property
    def address(self) -> str:
        """Host and port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def authority(self) -> str:
        """The same, without the port where it is the scheme's own."""
        return self.address.removesuffix(f":{_PORTS[self.scheme]}")

    @property
    def origin(self) -> str:
        """What may see a header that was given for this URL (RFC 6454)."""
        return f"{self.scheme}://{self.authority}"

    @property
    def shown(self) -> str:
        """What may be printed: neither userinfo nor query."""
        return self.origin + self.target.partition("?")[0]

    @property
    def credentials(self) -> str:
        """The userinfo as the value of an Authorization header; empty without one."""
        if not self.userinfo:
            return ""
        user, _, password = self.userinfo.partition(":")
        pair = f"{unquote(user)}:{unquote(password)}".encode()
        return f"Basic {binascii.b2a_base64(pair, newline=False).decode()}"


def parse(text: str) -> Url:
    """Take a URL apart; its fragment is nobody's business.

    Raises:
        InputError: it is none of http or https.

    """
    try:  # urlsplit drops line ends and tabs, and takes a backslash for a part of a name
        url = None if _ODD.search(text) else _from_parts(urlsplit(text))
    except (UnicodeError, ValueError):  # the port, the brackets, a host that no IDNA has
        url = None
    if url is None:
        raise InputError(f"the URL {_fault(text)}: write http://HOST/PATH or https://HOST/PATH")
    return url


def resolve(base: Url, reference: str) -> Url | None:
    """Read a reference that a server sent, relative to `base`; None if it is no URL of ours."""
    try:
        return _from_parts(urlsplit(urljoin(base.origin + base.target, reference)))
    except (UnicodeError, ValueError):
        return None


def _fault(text: str) -> str:
    """Say what keeps a text from being a URL; the text itself may hold a password."""
    scheme, colon, _ = text.partition("://")
    if not colon:
        return "does not begin with http:// or https://"
    if scheme.lower() not in _PORTS:
        return "is not one of http or https"
    return "has no host, or something in it that no URL has"


def _from_parts(parts: SplitResult) -> Url | None:
    host = parts.hostname
    if parts.scheme not in _PORTS or not host or parts.port == 0:
        return None
    if not host.isascii():
        host = host.encode("idna").decode()
    if not all("!" <= character <= "~" for character in host):
        return None
    target = quote(parts.path or "/", safe=_SAFE)
    target += f"?{quote(parts.query, safe=_SAFE)}" if parts.query else ""
    userinfo = parts.netloc.rpartition("@")[0]
    return Url(parts.scheme, host, parts.port or _PORTS[parts.scheme], target, userinfo)
