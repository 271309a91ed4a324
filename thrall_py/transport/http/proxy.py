"""Which proxy stands before a server: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY."""

from collections.abc import Mapping

from thrall_py.errors import InputError
from thrall_py.transport.http.url import Url, parse


def proxy_for(url: Url, environment: Mapping[str, str]) -> Url | None:
    """Choose the proxy for a URL, as curl does; None to go there directly.

    A lower-case name goes before the upper-case one. HTTP_PROXY is not looked at in a CGI program,
    where it is the `Proxy` header of whoever sent the request.

    Raises:
        InputError: the variable holds no URL of http or https.

    """
    names = (f"{url.scheme}_proxy", f"{url.scheme.upper()}_PROXY", "all_proxy", "ALL_PROXY")
    foreign = {"HTTP_PROXY"} if "REQUEST_METHOD" in environment else set()
    name = next((name for name in names if environment.get(name) and name not in foreign), None)
    if name is None or _is_exempt(url, environment):
        return None
    value = environment[name]
    try:
        return parse(value if "://" in value else f"http://{value}")
    except InputError:
        raise InputError(f"the variable {name} holds no http://HOST:PORT of a proxy") from None


def _is_exempt(url: Url, environment: Mapping[str, str]) -> bool:
    listed = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    return any(_covers(item, url) for item in listed.lower().replace(",", " ").split())


def _covers(item: str, url: Url) -> bool:
    """Whether an item of NO_PROXY is the host, a domain above it, or a network it is in."""
    if item == "*":
        return True
    if "/" in item:
        return _contains(item, url.host)
    host, _, port = item.rpartition(":") if item.count(":") == 1 else (item, "", "")
    if port and port != str(url.port):
        return False
    domain = host.strip("[]").removeprefix("*").removeprefix(".")
    return url.host == domain or (bool(domain) and url.host.endswith(f".{domain}"))


def _contains(network: str, host: str) -> bool:
    import ipaddress

    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False
