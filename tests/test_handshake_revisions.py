"""A handshake in a revision that is given, or remembered from a pin."""

import pytest
from fakes import (
    Servers,
    channel_closed,
    dies,
    discover_result,
    error,
    legacy,
    modern,
    silent,
)

from thrall_py.errors import ServerError, ServerGoneError, TimedOutError
from thrall_py.protocol import mcp
from thrall_py.protocol.handshake import Handshake


@pytest.mark.parametrize("revision", mcp.LEGACY)
def test_a_fixed_legacy_revision_is_offered_without_a_probe(revision):
    servers = Servers(legacy(revision))
    handshake = Handshake(servers, 120)
    handshake.open_with(revision)
    assert handshake.session.server.revision == revision
    assert servers.sent == [["initialize", "notifications/initialized"]]
    assert servers.started[0].sent[0]["params"]["protocolVersion"] == revision


@pytest.mark.parametrize("probes", [1, 2])
def test_a_fixed_modern_revision_is_probed_for_twice_at_most(probes):
    again = error(1, -32022, data={"supported": ["2026-07-28"]})
    servers = Servers(lambda asked: modern(asked) if asked["id"] == probes else [again])
    handshake = Handshake(servers, 120)
    handshake.open_with("2026-07-28")
    assert handshake.session.server.is_modern
    assert servers.sent == [["server/discover"] * probes]


@pytest.mark.parametrize(
    ("revision", "respond", "kind", "words"),
    [
        (
            "2025-11-25",
            legacy("2024-11-05"),
            ServerError,
            "no common protocol version: the server speaks 2024-11-05, thrall asked for 2025-11-25",
        ),
        (
            "2026-07-28",
            legacy(),
            ServerError,
            "no common protocol version: the server speaks an older one, thrall asked for 2026-07-28",
        ),
        ("2025-11-25", dies, ServerError, "the server exited during the handshake"),
        (
            "2026-07-28",
            silent,
            TimedOutError,
            "no answer to the handshake in 120 s (--start-timeout)",
        ),
    ],
)
def test_a_server_that_does_not_speak_the_fixed_revision_is_told(revision, respond, kind, words):
    servers = Servers(respond)
    with pytest.raises(kind) as caught:
        Handshake(servers, 120).open_with(revision)
    assert str(caught.value) == words
    assert len(servers.started) == 1


def test_a_server_that_is_asked_for_the_modern_revision_and_lists_others_is_told():
    servers = Servers(lambda asked: [discover_result(asked["id"], "2025-11-25")])
    with pytest.raises(
        ServerError, match=r"^no common protocol version: .* thrall asked for 2026-07-28$"
    ):
        Handshake(servers, 120).open_with("2026-07-28")


@pytest.mark.parametrize(
    ("revision", "respond"), [("2025-06-18", legacy("2025-06-18")), ("2026-07-28", modern)]
)
def test_a_remembered_revision_is_not_probed_for(revision, respond):
    servers = Servers(respond)
    handshake = Handshake(servers, 120)
    handshake.reopen(revision)
    assert handshake.session.server.revision == revision
    assert len(servers.sent[0]) == (1 if respond is modern else 2)


@pytest.mark.parametrize(
    ("revision", "respond", "era"),
    [("2025-11-25", modern, "2026-07-28"), ("2026-07-28", legacy(), "2025-11-25")],
)
def test_a_remembered_revision_that_fails_is_found_anew_in_a_fresh_process(revision, respond, era):
    servers = Servers(respond, respond)
    handshake = Handshake(servers, 120)
    handshake.reopen(revision)
    assert handshake.session.server.revision == era
    assert [script.closed for script in servers.started] == [1, 0]


def test_a_remembered_revision_that_gets_no_response_is_not_tried_again():
    servers = Servers(silent)
    with pytest.raises(TimedOutError):
        Handshake(servers, 120).reopen("2025-11-25")
    assert len(servers.started) == 1


def test_a_remembered_server_that_ended_before_it_read_anything_is_not_started_again():
    servers = Servers(lambda _: [channel_closed()], unread=1, ending="exited with status 1")
    with pytest.raises(ServerGoneError, match="^the server exited with status 1 during the hands"):
        Handshake(servers, 120).reopen("2025-11-25")
    assert len(servers.started) == 1
