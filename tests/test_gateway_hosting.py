"""A gateway from its start to its end."""

import gc
import json
import logging
import types

import pytest
from gateways import FakeClient, FakeServer, FakeServers, catalog, request

from thrall_py.gateway import hosting
from thrall_py.gateway.core import offer
from thrall_py.gateway.hosting import Settings
from thrall_py.redact import Redactor


@pytest.fixture
def err(capfd):
    """The lines of the log."""
    return lambda: [json.loads(line) for line in capfd.readouterr().err.splitlines()]


def host(serve, servers):
    async def open_servers(log):
        log.tell("opened")
        return servers

    settings = Settings(offer.make(catalog()), "/c", "json", Redactor(), 1 << 26)
    return hosting.run(settings, open_servers, serve)


def test_it_tells_of_its_start_and_end_and_ends_the_servers(err):
    servers = FakeServers(a=FakeServer('"result":{"content":[]}'))

    async def serve(service):
        await service.handle(request(name="echo"), FakeClient().exchange())
        return 15

    assert host(serve, servers) == 15
    assert servers.closed
    assert [line["event"] for line in err()] == ["start", "opened", "call", "end"]


def test_the_servers_are_ended_when_something_fails(err):
    servers = FakeServers()

    async def serve(_service):
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        host(serve, servers)
    assert servers.closed
    assert err()[-1]["event"] == "end"


def test_what_is_not_needed_any_more_is_freed(err):
    gc.disable()

    async def serve(_service):
        return gc.isenabled()

    assert host(serve, FakeServers())
    assert err()


@pytest.mark.parametrize("has_it", [True, False])
def test_large_blocks_are_given_back_where_the_c_library_can_be_told_so(err, monkeypatch, has_it):
    told = []
    library = types.SimpleNamespace()
    if has_it:
        library.mallopt = lambda *words: told.append(words)
    monkeypatch.setattr("ctypes.CDLL", lambda _: library)

    async def serve(_service):
        return None

    assert host(serve, FakeServers()) is None
    assert told == [(-3, 1 << 18)] * has_it
    assert [line["event"] for line in err()][-1] == "end"


def test_what_asyncio_complains_of_is_told_in_the_log_and_not_over_and_over_again(err):
    async def serve(_service):
        for words in ("too many", "too many", "other", "too many"):
            logging.getLogger("asyncio").error(words)

    assert host(serve, FakeServers()) is None
    told = [line.get("words") for line in err() if line["event"] == "fault"]
    assert told == ["too many", "other", "too many"]
