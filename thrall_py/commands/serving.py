"""One run of `thrall serve`: what is refused first, what the gateway is made of, how it ended."""

import math
import os
import re
import shlex
from typing import NamedTuple

from thrall_py import errors
from thrall_py.catalog import file
from thrall_py.catalog.file import Catalog
from thrall_py.commands.invocation import Invocation
from thrall_py.errors import CatalogError, InputError, Interrupted, UsageError
from thrall_py.gateway import hosting
from thrall_py.gateway.audit import Log
from thrall_py.gateway.core import offer
from thrall_py.gateway.core.offer import Offer
from thrall_py.gateway.front import stdio
from thrall_py.gateway.front.address import Door
from thrall_py.gateway.hosting import Settings
from thrall_py.gateway.service import Service
from thrall_py.gateway.upstream.servers import Settings as ServerSettings
from thrall_py.gateway.upstream.servers import Upstreams
from thrall_py.redact import Redactor, holds_secret
from thrall_py.verbs.connect import ConnectionOptions
from thrall_py.visible import visible

_TOKEN = re.compile(r"[!-~]+")
_AT_A_TERMINAL = (
    "serving on stdin and stdout, for a program that speaks MCP: give it this command line;"
    " ^D ends it"
)


class HttpOptions(NamedTuple):
    """What the command line says of HTTP."""

    address: str | None
    token_env: str | None
    origins: tuple[str, ...]
    hosts: tuple[str, ...]


class ServeOptions(NamedTuple):
    """What the command line says of the gateway."""

    catalog: str
    http: HttpOptions
    read_only: bool
    ask: bool
    eager: bool
    idle: float
    isolate: bool
    style: str


def run(invocation: Invocation, wanted: ServeOptions, connection: ConnectionOptions) -> int:
    """Serve what the options ask for, until the client is gone; the exit status."""
    if invocation.server is not None:
        raise UsageError("serve starts the servers that the catalog names, and no other")
    http = wanted.http
    if http.address is None and (http.token_env or http.origins or http.hosts):
        raise UsageError("--token-env, --allow-origin and --allow-host need --http HOST:PORT")
    catalog = file.read(wanted.catalog)
    if not catalog.servers:
        raise CatalogError(
            f"{visible(wanted.catalog)} has no servers, so there is nothing to serve"
        )
    offered = offer.make(catalog, read_only=wanted.read_only, ask=wanted.ask)
    token = _token(http.token_env)
    settings = _settings(wanted, offered, token, connection.max_message)
    opening = _opening(wanted, catalog, connection)
    if http.address is None:
        signum = _on_stdio(invocation, settings, opening, connection)
    else:
        door = Door(
            address=http.address,
            token=token,
            hosts=http.hosts,
            origins=http.origins,
            max_message=connection.max_message,
        )
        signum = hosting.run(settings, opening, _at(door))
    if signum is not None:
        raise Interrupted(signum)
    return errors.ANSWERED


def _token(name: str | None) -> str:
    """Take a token out of the environment: the servers inherit that, and it is not for them."""
    token = os.environ.pop(name, "") if name else ""
    if name and not token:
        raise InputError(f"the variable {name} is not set (or not exported), or is empty")
    if name and not _TOKEN.fullmatch(token):
        raise InputError(
            f"the token in {name} has a blank, a control or another character that no header can"
            " carry: set it to printable ASCII, without the end of a line"
        )
    return token


def _on_stdio(
    invocation: Invocation, settings: Settings, opening: hosting.Open, connection: ConnectionOptions
) -> int | None:
    invocation.need_stdout()
    if os.isatty(0):
        invocation.note(_AT_A_TERMINAL)
    with stdio.taken() as ends:

        async def serve(service: Service) -> int | None:
            return await stdio.serve(service, ends, connection.max_message, connection.grace)

        return hosting.run(settings, opening, serve)


def _at(door: Door) -> hosting.Serve:
    """Take the address, before any server is started."""
    try:
        from thrall_py.gateway.front import http
    except ModuleNotFoundError as missing:
        raise UsageError(
            f"--http needs {missing.name}, which thrall-py[http] brings: install that as thrall was"
            " installed, as in pipx install --force 'thrall-py[http]'"
        ) from None
    return http.listen(door)


def _settings(wanted: ServeOptions, offered: Offer, token: str, max_message: int) -> Settings:
    secrets = [value for name, value in os.environ.items() if holds_secret(name, value)]
    path = shlex.quote(visible(os.path.abspath(wanted.catalog)))  # clients work elsewhere
    return Settings(offered, path, wanted.style, Redactor([*secrets, token]), max_message)


def _opening(wanted: ServeOptions, catalog: Catalog, connection: ConnectionOptions) -> hosting.Open:
    """Make what makes the servers, and has those started that are to be there at once."""
    idle = wanted.idle or math.inf

    async def open_servers(log: Log) -> Upstreams:
        settings = ServerSettings(connection, idle, wanted.isolate, wanted.eager, log)
        servers = Upstreams(catalog.servers, settings)
        servers.begin()
        return servers

    return open_servers
