"""`thrall doctor --url`: the steps that only a server on a URL has."""

import time
from collections.abc import Iterator

from thrall_py.catalog.launch import UrlSpec
from thrall_py.errors import ThrallError, TlsError, UnauthorizedError
from thrall_py.output import checkup
from thrall_py.output.checkup import Check, Checks, Outcome
from thrall_py.protocol.opening import Opening
from thrall_py.protocol.session import Session
from thrall_py.protocol.watched import unwatched
from thrall_py.transport.endpoint import Endpoint
from thrall_py.transport.http.streamable import Streamable
from thrall_py.transport.http.url import Url, parse
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs import doctor, interview, reach, sessions
from thrall_py.verbs.connect import ConnectionOptions, PreparedServer
from thrall_py.visible import visible

NAMES = ("reached", "tls", "authorised", "handshake", "transport", "session",
         *interview.NAMES, "speed", "ended", "era")  # fmt: skip

_THIS_MACHINE = ("127.0.0.1", "::1", "localhost")
_DONE = range(200, 300)
_NOT_ALLOWED = 405  # "the server does not allow clients to terminate sessions" (2025-11-25)


def examine_url(
    spec: UrlSpec, server: PreparedServer, connection: ConnectionOptions, interrupts: Interrupts
) -> Checks:
    """Reach a server and ask it what every server has to know; arguments as `examine_process`.

    Returns:
        A check for each of NAMES, those last that a failure kept from being made.

    Raises:
        InputError: the URL of a proxy is none.

    """
    return doctor.complete(NAMES, _steps(spec, server, connection, interrupts))


def _steps(
    spec: UrlSpec, server: PreparedServer, connection: ConnectionOptions, interrupts: Interrupts
) -> Checks:
    endpoint = server.command
    assert isinstance(endpoint, Endpoint), "a process has steps of its own"
    watcher = connection.audience.follow(connection.subject, server.redact)
    watcher.waiting(f"connecting to {visible(parse(endpoint.url).origin)}")
    for check in _way(endpoint, connection, interrupts):
        yield check
        if check.outcome is Outcome.FAILED:
            return

    def begin() -> Opening:
        return sessions.begin(server, connection, interrupts, watcher)

    opening = begin()
    try:
        try:
            shaken = doctor.shake_hands(opening, connection, time.monotonic(), watcher)
        except UnauthorizedError as problem:
            advice = "look up how the server hands out tokens; thrall does not ask for one (OAuth)"
            yield checkup.failed("authorised", str(problem), advice)
            return
        yield checkup.ok("authorised", f"with {endpoint.credentials or 'no credentials'}")
        yield shaken
        if shaken.outcome is Outcome.FAILED:
            return
        yield from _transport(opening.session)
        yield from interview.Interview(opening.session, spec, connection).checks()
        yield doctor.speed(shaken, opening.detour)
        yield _ending(opening.session)
    finally:
        opening.session.end()
    yield doctor.era(opening, begin, connection)


def _way(
    endpoint: Endpoint, connection: ConnectionOptions, interrupts: Interrupts
) -> Iterator[Check]:
    """Make a connection and nothing more."""
    url, began = parse(endpoint.url), time.monotonic()
    try:
        reach.knock(endpoint, interrupts, connection.start_timeout)
    except TlsError as problem:
        yield checkup.ok("reached", "there is a server")
        advice = "serve a certificate for this name by an authority that clients trust"
        yield checkup.failed("tls", str(problem), advice)
    except ThrallError as problem:
        advice = "see that it runs, that the address is right, and that no proxy is in the way"
        yield checkup.failed("reached", str(problem), advice)
    else:
        yield checkup.ok("reached", "connected")._replace(seconds=time.monotonic() - began)
        yield _tls(url)


def _tls(url: Url) -> Check:
    if url.scheme == "https":
        return checkup.ok("tls", "the certificate is trusted")
    if url.host in _THIS_MACHINE:
        return checkup.skipped("tls", "not needed on this machine")
    advice = "serve it over https: tokens and answers pass in clear"
    return checkup.warned("tls", "there is none", advice)


def _transport(session: Session) -> Iterator[Check]:
    channel = unwatched(session.channel)
    if not isinstance(channel, Streamable):
        advice = "serve Streamable HTTP as well: it has replaced HTTP+SSE since 2025-03-26"
        yield checkup.warned("transport", "HTTP+SSE, and nothing newer", advice)
        yield checkup.skipped("session", "it lasts as long as the stream")
        return
    yield checkup.ok("transport", "Streamable HTTP")
    words = "it has an id" if channel.session_id else "there is none, each request is for itself"
    yield checkup.ok("session", words)


def _ending(session: Session) -> Check:
    """End the session, and judge how the server takes it (2025-11-25, "Session Management")."""
    channel = unwatched(session.channel)
    if not isinstance(channel, Streamable) or not channel.session_id:
        return checkup.skipped("ended", "there is no session to be ended")
    session.end()
    if channel.farewell in _DONE:
        return checkup.ok("ended", f"DELETE is accepted (status {channel.farewell})")
    if channel.farewell == _NOT_ALLOWED:
        return checkup.ok("ended", f"clients may not end sessions (status {_NOT_ALLOWED})")
    said = f"replied with {channel.farewell}" if channel.farewell else "did not reply"
    advice = "end a session at DELETE with its id, or refuse it with status 405"
    return checkup.warned("ended", f"at DELETE the server {said}", advice)
