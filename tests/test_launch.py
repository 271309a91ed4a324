"""How a server is started or reached: what it is called, and when it is the same one."""

import pytest

from thrall_py.catalog.launch import ExecSpec, LaunchSpec, UrlSpec, as_headers
from thrall_py.protocol.jsontext import JsonError

STARTED = LaunchSpec(("/usr/bin/server", "x"), {})
REACHED = UrlSpec("https://h.example/mcp", {"A": "b"})


@pytest.mark.parametrize(
    ("url", "program"),
    [
        ("https://h.example/mcp", "h.example"),
        ("http://h.example:8080", "h.example"),
        ("http://h?x=1", "h"),
        ("https://user:pass@h/mcp", "h"),
        ("https://${USER}:${PASS}@h/mcp", "h"),
        ("http://${HOST}/mcp", "${HOST}"),
        ("${URL}", "server"),
        ("", "server"),
    ],
)
def test_a_server_without_a_name_has_that_of_its_host(url, program):
    assert UrlSpec(url, {}).program == program


def test_a_host_may_be_an_address_of_ipv6():
    assert "::1" in UrlSpec("http://[::1]:8080/mcp", {}).program


def test_a_server_that_is_started_has_that_of_its_program():
    assert STARTED.program == "server"


def test_a_server_is_the_same_whatever_surrounds_it():
    assert STARTED.is_same(STARTED._replace(env={"A": "b"}, cwd="d"))
    assert REACHED.is_same(REACHED._replace(headers={}))
    assert not STARTED.is_same(STARTED._replace(command=("server",)))
    assert not REACHED.is_same(REACHED._replace(url="https://h.example/"))
    assert not STARTED.is_same(REACHED)
    assert not REACHED.is_same(STARTED)


def test_a_plain_command_is_not_the_server_that_has_its_words():
    command = ExecSpec(STARTED)
    assert command != STARTED
    assert command.program == "server"
    assert command.is_same(ExecSpec(STARTED._replace(env={"A": "b"})))
    assert not command.is_same(STARTED)
    assert not STARTED.is_same(command)


def test_no_header_is_there_twice_however_it_is_spelled():
    assert as_headers({"A": "1", "b": "2"}) == {"A": "1", "b": "2"}
    with pytest.raises(JsonError, match='^"headers" has a name twice$'):
        as_headers({"X-A": "1", "x-a": "2"})
