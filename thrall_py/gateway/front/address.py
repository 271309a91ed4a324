"""Where a gateway listens: an address, and the sockets that take it."""

import contextlib
import errno
import re
import socket
from collections.abc import Sequence
from typing import NamedTuple

from thrall_py.errors import InputError, UsageError
from thrall_py.redact import Redactor

_ADDRESS = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\[\]/@\s]+)):([0-9]{1,9})")
_HIGHEST_PORT = 65535
_NOT_HERE = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}  # a machine may have no IPv6


Listening = list[socket.socket]


class Address(NamedTuple):
    """A host and a port; port 0 takes a free one."""

    host: str
    port: int

    @property
    def netloc(self) -> str:
        """The two as they stand in a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class Door(NamedTuple):
    """Where clients come in, and who may.

    Attributes:
        address: HOST:PORT to listen on.
        token: what clients have to show; empty for nothing.
        hosts: more names that they may call the gateway by.
        origins: of pages that may send requests.
        max_message: bytes that a body may have.

    """

    address: str
    token: str
    hosts: Sequence[str]
    origins: Sequence[str]
    max_message: int


def parse(text: str) -> Address:
    """Read HOST:PORT, where an IPv6 address stands in brackets.

    Raises:
        UsageError: it is something else.

    """
    found = _ADDRESS.fullmatch(text)
    if not found:
        raise UsageError(
            f"{Redactor().quoted(text)} is no address to listen on: write HOST:PORT, as in "
            "127.0.0.1:8080 or [::1]:0"
        )
    if int(found[3]) > _HIGHEST_PORT:
        raise UsageError(f"there is no port {found[3]}: write one from 0 to {_HIGHEST_PORT}")
    return Address(found[1] or found[2], int(found[3]))


def bind(address: Address, *, has_token: bool) -> Listening:
    """Take an address, so that nobody else can, before anything is started.

    A name may stand for several (localhost does); all get the same port.

    Args:
        address: to listen on.
        has_token: whether clients have to show one; beyond this machine they must.

    Returns:
        At least one socket that listens.

    Raises:
        InputError: the address cannot be had.
        UsageError: everybody could call the tools.

    """
    try:
        places = _resolved(address.host)
        if not has_token and not all(map(_is_loopback, places)):
            raise UsageError(
                f"{address.netloc} can be reached from other machines: have clients show a token "
                "with --token-env NAME, or listen on 127.0.0.1"
            )
        return _listen(places, address.port)
    except OSError as problem:
        words = str(problem.strerror).partition(" (")[0].lower()
        raise InputError(
            f"cannot listen on {address.netloc}: {words}; another port may be free, and 0 takes one"
        ) from None


def of(listening: socket.socket) -> Address:
    """Tell what a socket listens on."""
    host, port, *_ = listening.getsockname()
    return Address(host, port)


def _resolved(host: str) -> list[str]:
    """The numeric addresses that a name stands for, each once, the preferred one first."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


def _is_loopback(numeric: str) -> bool:
    return numeric == "::1" or numeric.startswith("127.")


def _listen(places: list[str], port: int) -> Listening:
    taken: Listening = []
    missing: OSError | None = None
    with contextlib.ExitStack() as undo:
        for numeric in places:
            family = socket.AF_INET6 if ":" in numeric else socket.AF_INET
            try:
                listening = socket.create_server((numeric, port), family=family)
            except OSError as problem:
                if problem.errno not in _NOT_HERE:
                    raise
                missing = problem
                continue
            taken.append(undo.enter_context(listening))
            # What it accepts inherits that; asyncio leaves sockets alone that name no protocol. A
            # reply is sent in pieces, and each would wait 40 ms for the client's acknowledgement.
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            port = of(listening).port
        if missing and not taken:
            raise missing
        undo.pop_all()
    return taken
