"""A program that repeats its input is no server, but a server may repeat it as well."""

import json

import pytest
from fakes import (
    PROBE,
    Script,
    Servers,
    discover_result,
    error,
    initialize_result,
    result,
    session_over,
)

from thrall_py.errors import ServerError, TimedOutError
from thrall_py.protocol import mcp
from thrall_py.protocol.handshake import Handshake

NO_SERVER = "the program repeats its input: it is not an MCP server"


def echo(asked, end=b""):
    return json.dumps(asked, separators=(",", ":")).encode() + end


def opened(servers, revision=None, seconds=120):
    """A session with the one server that there is."""
    handshake = Handshake(servers, seconds)
    if revision:
        handshake.open_with(revision)
    else:
        handshake.negotiate()
    return handshake.session


@pytest.mark.parametrize(
    ("revision", "seconds", "waited"),
    [(None, 120, 10.0), (None, 3, 2.0), ("2025-11-25", 120, 5.0), (mcp.MODERN, 120, 5.0)],
)
def test_a_program_that_only_repeats_its_input_is_given_up_soon(revision, seconds, waited):
    servers = Servers(lambda asked: [echo(asked)])
    with pytest.raises(ServerError) as failed:
        opened(servers, revision, seconds)
    assert str(failed.value) == NO_SERVER
    assert servers.started[0].now == waited


@pytest.mark.parametrize("pause", [0, 1.5])
def test_a_modern_server_may_print_what_it_reads_before_it_answers(pause):
    servers = Servers(lambda asked: [echo(asked), pause, discover_result(asked["id"])])
    assert opened(servers).server.is_modern


@pytest.mark.parametrize("at_the_probe", [[], [error(PROBE)]], ids=["silent", "refused"])
def test_a_legacy_server_may_print_what_it_reads_before_it_answers(at_the_probe):
    def respond(asked):
        if asked["method"] == "initialize":
            return [echo(asked), 1, initialize_result(asked["id"])]
        return [echo(asked), *at_the_probe]

    assert opened(Servers(respond)).server.revision == "2025-11-25"


def test_a_late_answer_to_the_probe_tells_that_it_is_a_server():
    def respond(asked):
        if asked["id"] == PROBE:
            return [echo(asked)]
        return [echo(asked), 1, discover_result(PROBE)] if asked["method"] == "initialize" else []

    assert opened(Servers(respond)).server.is_modern


def test_a_terminal_that_repeats_is_no_sign_and_the_server_behind_it_may_start_slowly():
    def respond(asked):
        answer = [60, initialize_result(asked["id"])] if asked["method"] == "initialize" else []
        return [echo(asked, b"\r"), *answer]

    assert opened(Servers(respond), "2025-11-25").clock() == 60.0


def test_a_tool_may_take_its_time_after_its_call_was_repeated():
    script = Script(respond=lambda asked: [echo(asked), 9, result(asked["id"])])
    assert session_over(script).request("tools/call", "{}", 10).load() == {}
    with pytest.raises(TimedOutError, match="^no answer to tools/call in 5 s"):
        session_over(Script(respond=lambda asked: [echo(asked)])).request("tools/call", "{}", 5)
