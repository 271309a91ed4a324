import pytest
from fakes import (
    PROBE,
    Servers,
    channel_closed,
    dies,
    discover_result,
    error,
    initialize_result,
    legacy,
    message,
    modern,
    probed,
    result,
    silent,
)

from thrall_py.errors import JsonRpcError, ServerError, TimedOutError
from thrall_py.protocol import mcp, tools
from thrall_py.protocol.handshake import Handshake

OURS = "2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05"
LEGACY_ONLY = {"supported": ["2025-11-25"]}


def negotiated(servers, seconds=120):
    handshake = Handshake(servers, seconds)
    handshake.negotiate()
    return handshake.session


def failure(servers, kind=ServerError, seconds=120):
    with pytest.raises(kind) as caught:
        negotiated(servers, seconds)
    return str(caught.value)


LEGACY = {
    "refuses the probe": [error(PROBE)],
    "refuses the params": [error(PROBE, -32602, "Invalid request parameters", data="")],
    "refuses with a code of Go": [error(PROBE, 0, "invalid during session initialization")],
    "refuses without an id": [error(None, -32700, "Parse error")],
    "knows legacy versions only": [discover_result(PROBE, "2025-11-25", "2025-06-18")],
    "responds with something else": [result(PROBE, tools=[])],
    "responds with no object": [message(id=PROBE, result="hello")],
    "refuses the version, naming legacy ones": [error(PROBE, -32022, data=LEGACY_ONLY)],
    "refuses the version, naming none": [error(PROBE, -32022, data={})],
    "refuses the version without data": [error(PROBE, -32022)],
    "chatters before it refuses": [
        b"banner",
        message(method="notifications/message"),
        error(PROBE),
    ],
}


@pytest.mark.parametrize("steps", LEGACY.values(), ids=LEGACY)
def test_a_server_that_is_not_modern_gets_initialize_on_the_same_pipe(steps):
    servers = Servers(probed(*steps, then=legacy("2025-06-18")))
    session = negotiated(servers)
    assert session.server == mcp.ServerInfo("2025-06-18")
    assert servers.sent == [["server/discover", "initialize", "notifications/initialized"]]
    assert servers.started[0].sent[1]["params"]["protocolVersion"] == "2025-11-25"
    assert session.clock() == 0.0


def test_a_modern_server_is_open_with_its_response_to_the_probe():
    servers = Servers(modern)
    assert negotiated(servers).server == mcp.ServerInfo("2026-07-28")
    assert servers.sent == [["server/discover"]]
    assert servers.started[0].sent[0]["id"] == PROBE


def test_a_server_that_wants_the_version_it_was_sent_is_probed_once_more():
    again = error(PROBE, -32022, data={"supported": ["2026-07-28"]})
    servers = Servers(probed(again, then=modern))
    assert negotiated(servers).server.is_modern
    assert servers.sent == [["server/discover"] * 2]


def test_a_server_that_refuses_the_second_probe_too_is_told():
    def stubborn(asked):
        return [error(asked["id"], -32022, "no", data={"supported": ["2026-07-28"]})]

    assert failure(Servers(stubborn), ServerError) == (
        "the server refused 2026-07-28, which it says it supports, during the handshake"
    )


@pytest.mark.parametrize("code", [-32020, -32021])
def test_a_code_that_only_a_modern_server_knows_is_no_reason_to_go_back(code):
    servers = Servers(legacy(probe=code))
    assert failure(servers, JsonRpcError).startswith(
        f"the server refused the handshake with error {code}"
    )
    assert servers.sent == [["server/discover"]]


def test_a_server_that_speaks_other_modern_versions_only_is_told_with_both_lists():
    refused = error(PROBE, -32022, data={"supported": ["2027-01-01", "2027-06-01"]})
    assert failure(Servers(probed(refused))) == (
        "no common protocol version: the server speaks 2027-01-01, 2027-06-01,"
        f" thrall asked for {OURS}"
    )


DYING = {
    "of the probe": probed(channel_closed()),
    "of what follows a probe without a response": probed(then=dies),
    "of initialize after the probe": probed(error(PROBE), then=dies),
    "of the probe, without a word": silent,
    "of the probe, closing its input first": probed(channel_closed(input_closed=True)),
}


@pytest.mark.parametrize("first", DYING.values(), ids=DYING)
def test_a_server_that_does_not_survive_the_probe_gets_initialize_in_a_fresh_process(first):
    servers = Servers(first, legacy())
    assert negotiated(servers).server.revision == "2025-11-25"
    assert servers.sent[1] == ["initialize", "notifications/initialized"]
    assert servers.started[0].closed
    assert not servers.started[1].closed


def test_a_server_that_the_probe_has_spoilt_gets_a_fresh_process():
    servers = Servers(lambda asked: [error(asked["id"], -32600)], legacy())
    assert negotiated(servers).server.revision == "2025-11-25"
    assert servers.sent == [
        ["server/discover", "initialize"],
        ["initialize", "notifications/initialized"],
    ]


def test_a_server_that_ended_before_it_read_the_probe_is_not_started_again():
    servers = Servers(probed(channel_closed()), unread=1, ending="exited with status 1")
    assert failure(servers) == "the server exited with status 1 during the handshake"
    assert len(servers.started) == 1


@pytest.mark.parametrize(("seconds", "waited"), [(120, 5.0), (6, 2.0)])
def test_the_probe_is_given_up_in_time_and_initialize_decides(seconds, waited):
    servers = Servers(probed(then=legacy()))
    assert negotiated(servers, seconds).clock() == waited
    assert servers.sent == [["server/discover", "initialize", "notifications/initialized"]]


def slow(asked):
    """Responds to the probe a second after it was given up, and refuses `initialize`."""
    if asked["method"] == "initialize":
        return [1, discover_result(PROBE), error(asked["id"], -32022)]
    return [discover_result(asked["id"])] if asked["id"] != PROBE else []


def test_a_slow_modern_server_that_refuses_initialize_is_probed_again():
    servers = Servers(slow)
    assert negotiated(servers).server.is_modern
    assert servers.sent == [["server/discover", "initialize", "server/discover"]]


def test_a_late_response_to_the_probe_decides_if_initialize_stays_without_one():
    servers = Servers(probed(7, discover_result(PROBE)))
    session = negotiated(servers)
    assert session.server.is_modern
    assert session.clock() == 12.0
    assert len(servers.started) == 1


def test_a_late_request_for_the_version_that_was_sent_is_followed():
    again = error(PROBE, -32022, data={"supported": ["2026-07-28"]})

    def respond(asked):
        if asked["method"] == "initialize":
            return []
        return [7, again] if asked["id"] == PROBE else [discover_result(asked["id"])]

    assert negotiated(Servers(respond)).server.is_modern


def test_a_late_error_for_the_probe_leaves_the_decision_to_initialize():
    def respond(asked):
        if asked["method"] == "server/discover":
            return [6, error(PROBE)]
        return [1, initialize_result(asked["id"])] if asked["method"] == "initialize" else []

    session = negotiated(Servers(respond))
    assert (session.server.revision, session.clock()) == ("2025-11-25", 7.0)


def test_initialize_decides_even_if_the_response_to_the_probe_came_just_before():
    def both(asked):
        if asked["method"] == "server/discover":
            return [6, discover_result(PROBE)]
        return [initialize_result(asked["id"])] if asked["method"] == "initialize" else []

    assert negotiated(Servers(both)).server.revision == "2025-11-25"


def test_both_late_responses_may_stand_in_one_array():
    def both(asked):
        if asked["method"] == "initialize":
            return [b"[" + error(PROBE) + b"," + initialize_result(asked["id"]) + b"]"]
        return []

    session = negotiated(Servers(both))
    assert (session.server.revision, session.clock()) == ("2025-11-25", 5.0)


@pytest.mark.parametrize("late", [discover_result(PROBE), error(PROBE)], ids=["result", "error"])
def test_a_response_to_the_probe_behind_that_to_initialize_in_one_array_is_nobodys(late):
    def respond(asked):
        if asked["method"] == "initialize":
            return [b"[" + initialize_result(asked["id"]) + b"," + late + b"]"]
        if asked["method"] == "tools/list":
            return [result(asked["id"], tools=[{"name": "a"}])]
        return []

    session = negotiated(Servers(respond))
    (tool,) = tools.list_all(session, mcp.TOOLS, 10, 1000)
    assert tool.load() == {"name": "a"}
    assert session.server == mcp.ServerInfo("2025-11-25")


def test_a_late_error_for_initialize_is_not_the_response_to_the_second_probe():
    def respond(asked):
        if asked["id"] == PROBE:
            return []
        if asked["method"] == "initialize":
            return [1, error(PROBE, -32022, "no", data={"supported": ["2026-07-28"]})]
        if asked["method"] == "server/discover":
            return [error(1, -32601), discover_result(asked["id"])]
        return []

    assert negotiated(Servers(respond)).server.is_modern


def late_probe(*late):
    """Responds to `initialize` first; what it has to say to the probe comes with the next request."""

    def respond(asked):
        if asked["method"] == "initialize":
            return [initialize_result(asked["id"])]
        if asked["method"] == "tools/list":
            return [*late, result(asked["id"], tools=[{"name": "a"}])]
        return []

    return respond


@pytest.mark.parametrize("late", [discover_result(PROBE), error(PROBE)], ids=["result", "error"])
def test_a_response_to_the_probe_after_the_handshake_is_nobodys(late):
    session = negotiated(Servers(late_probe(late)))
    (tool,) = tools.list_all(session, mcp.TOOLS, 10, 1000)
    assert tool.load() == {"name": "a"}


def test_an_error_without_an_id_is_the_requests_when_only_the_probe_was_left_without_a_response():
    def respond(asked):
        if asked["method"] == "tools/list":
            return [error(None, -32000, "no")]
        return late_probe()(asked)

    session = negotiated(Servers(respond))
    with pytest.raises(JsonRpcError) as caught:
        tools.list_all(session, mcp.TOOLS, 10, 1000)
    assert str(caught.value) == 'the server refused tools/list with error -32000: "no"'


def test_a_probe_without_a_response_is_never_cancelled():
    servers = Servers(probed(then=legacy()))
    session = negotiated(servers)
    with pytest.raises(TimedOutError):
        session.request("tools/list", "{}", 10)
    assert [sent["params"] for sent in servers.started[0].sent[4:]] == [
        {"requestId": 2, "reason": "timeout"}
    ]


def test_a_server_that_is_still_starting_gets_all_the_time_there_is():
    servers = Servers(probed(then=lambda _: [60, error(PROBE), initialize_result(1)]), unread=2)
    session = negotiated(servers)
    assert (session.server.revision, session.clock(), len(servers.started)) == (
        "2025-11-25",
        65.0,
        1,
    )


def test_a_server_that_reads_the_probe_and_then_nothing_more_gets_a_fresh_process():
    servers = Servers(silent, legacy(), unread=1)
    session = negotiated(servers)
    assert (session.server.revision, servers.started[0].now) == ("2025-11-25", 10.0)
    assert servers.sent == [
        ["server/discover", "initialize"],
        ["initialize", "notifications/initialized"],
    ]


def test_a_fresh_process_that_turns_out_to_be_modern_is_taken_as_that():
    def refuses(asked):
        if asked["method"] == "initialize":
            return [error(asked["id"], -32022, "no", data={"supported": ["2026-07-28"]})]
        return modern(asked)

    servers = Servers(silent, refuses)
    assert negotiated(servers).server.is_modern
    assert servers.sent[1] == ["initialize", "server/discover"]


def test_a_server_that_never_reads_times_out_at_the_deadline():
    servers = Servers(silent, unread=2)
    words = failure(servers, TimedOutError, seconds=12)
    assert words == "no answer to the handshake in 12 s (--start-timeout)"
    assert (servers.started[0].now, len(servers.started)) == (12.0, 1)


def test_two_silent_processes_share_one_deadline():
    servers = Servers(silent, silent)
    assert failure(servers, TimedOutError, seconds=60) == (
        "no answer to the handshake in 60 s (--start-timeout)"
    )
    assert servers.started[1].now == 60.0


INITIALIZE_RESULTS = {
    "no version": (
        result(1, capabilities={}),
        "the server answered initialize without a protocol version during the handshake",
    ),
    "a version of its own": (
        initialize_result(1, "2023-\x1b"),
        rf"no common protocol version: the server speaks 2023-\x1b, thrall asked for {OURS}",
    ),
    "the version without an initialize": (
        initialize_result(1, "2026-07-28"),
        "the server answered initialize with 2026-07-28, which has none, during the handshake",
    ),
    "nothing but null": (
        message(id=1, result=None),
        "the server answered initialize without a protocol version during the handshake",
    ),
}


@pytest.mark.parametrize(("response", "words"), INITIALIZE_RESULTS.values(), ids=INITIALIZE_RESULTS)
def test_an_initialize_result_without_a_version_we_speak_is_told(response, words):
    assert failure(Servers(probed(error(PROBE), then=lambda _: [response]))) == words


@pytest.mark.parametrize(
    ("response", "kind", "words"),
    [
        (
            error(1, -32602, "no", data={"supported": ["1", "2"]}),
            ServerError,
            f"no common protocol version: the server speaks 1, 2, thrall asked for {OURS}",
        ),
        (error(1, 5, "no"), JsonRpcError, 'the server refused the handshake with error 5: "no"'),
    ],
)
def test_a_fresh_process_that_refuses_initialize_is_told(response, kind, words):
    servers = Servers(dies, lambda _: [response])
    assert failure(servers, kind) == words


# -- what the probe cost -----------------------------------------------------------------------


def detour(*responders):
    handshake = Handshake(Servers(*responders), 120)
    handshake.negotiate()
    return handshake.detour


@pytest.mark.parametrize(
    ("responders", "told"),
    [
        ([legacy()], ""),
        ([modern], ""),
        ([dies, legacy()], "exited"),
        (
            [probed(error(PROBE), then=dies), legacy()],
            "refused it, and failed at the initialize that followed",
        ),
        (
            [probed(error(PROBE), then=lambda it: [error(it["id"])]), legacy()],
            "refused it, and then initialize as well",
        ),
        ([probed(then=legacy())], "did not answer it"),
        ([silent, legacy()], "answered neither it nor the initialize that followed"),
        ([probed(7.0, error(PROBE), then=legacy())], ""),
    ],
)
def test_what_a_server_did_at_the_probe_is_remembered_if_it_was_no_answer(responders, told):
    assert detour(*responders) == told
