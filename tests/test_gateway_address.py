import socket

import pytest

from thrall_py.errors import InputError, UsageError
from thrall_py.gateway.front import address
from thrall_py.gateway.front.address import Address


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:8080", "127.0.0.1", 8080),
        ("localhost:0", "localhost", 0),
        ("[::1]:0", "::1", 0),
        ("0.0.0.0:65535", "0.0.0.0", 65535),
    ],
)
def test_an_address_is_a_host_and_a_port_and_is_written_as_it_was(text, host, port):
    read = address.parse(text)
    assert read == Address(host, port)
    assert read.netloc == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "8080",
        ":8080",
        "::1:80",
        "[::1]",
        "localhost:",
        "localhost:1000000000",
        "http://h:1",
        "u@h:1",
        "a b:1",
    ],
)
def test_what_is_no_address_is_refused_with_an_example(text):
    with pytest.raises(UsageError, match=r"write HOST:PORT, as in 127\.0\.0\.1:8080 or \[::1\]:0"):
        address.parse(text)


@pytest.mark.parametrize("port", [65536, 99999, 999999999])
def test_a_port_that_there_is_not_is_refused_with_those_that_there_are(port):
    with pytest.raises(UsageError, match=f"^there is no port {port}: write one from 0 to 65535$"):
        address.parse(f"localhost:{port}")


def close(listening):
    for each in listening:
        each.close()


def test_a_free_port_is_taken_and_can_be_connected_to():
    listening = address.bind(Address("127.0.0.1", 0), has_token=False)
    try:
        taken = address.of(listening[0])
        assert taken.host == "127.0.0.1"
        socket.create_connection(taken).close()
    finally:
        close(listening)


def test_pieces_of_a_reply_will_not_wait_for_acknowledgements():
    [listening] = address.bind(Address("127.0.0.1", 0), has_token=False)
    with listening, socket.create_connection(address.of(listening)):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def places(monkeypatch, *numeric):
    found = [(0, 0, 0, "", (each, 0)) for each in numeric]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)


def test_a_name_of_several_addresses_gets_one_port_on_all(monkeypatch):
    places(monkeypatch, "127.0.0.1", "127.0.0.2", "127.0.0.1")
    listening = address.bind(Address("localhost", 0), has_token=False)
    try:
        first, second = map(address.of, listening)
        assert (first.host, second.host) == ("127.0.0.1", "127.0.0.2")
        assert first.port == second.port
    finally:
        close(listening)


@pytest.mark.parametrize("order", [("127.0.0.1", "203.0.113.7"), ("203.0.113.7", "127.0.0.1")])
def test_an_address_that_the_machine_does_not_have_is_passed_over(monkeypatch, order):
    places(monkeypatch, *order)
    listening = address.bind(Address("localhost", 0), has_token=True)
    try:
        assert [address.of(each).host for each in listening] == ["127.0.0.1"]
    finally:
        close(listening)


def test_an_address_of_another_machine_cannot_be_listened_on():
    with pytest.raises(InputError, match="cannot listen on 203.0.113.7:0: cannot assign requested"):
        address.bind(Address("203.0.113.7", 0), has_token=True)


def test_an_address_in_use_is_refused_and_nothing_stays_taken(monkeypatch):
    with socket.create_server(("127.0.0.2", 0)) as other:
        port = other.getsockname()[1]
        places(monkeypatch, "127.0.0.1", "127.0.0.2")
        with pytest.raises(
            InputError,
            match=f"cannot listen on localhost:{port}: address already in use; another port may be free",
        ):
            address.bind(Address("localhost", port), has_token=False)
        socket.create_server(("127.0.0.1", port)).close()


def test_a_name_that_nobody_knows_is_refused(monkeypatch):
    def unknown(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(InputError, match="cannot listen on no.such:1: name or service not known"):
        address.bind(Address("no.such", 1), has_token=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "203.0.113.7", "::"])
def test_beyond_this_machine_a_token_is_required_before_anything_is_taken(host):
    with pytest.raises(UsageError, match="can be reached from other machines: .*--token-env NAME"):
        address.bind(Address(host, 0), has_token=False)


def test_with_a_token_every_interface_may_be_listened_on():
    listening = address.bind(Address("0.0.0.0", 0), has_token=True)
    try:
        assert address.of(listening[0]).host == "0.0.0.0"
    finally:
        close(listening)


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6")
def test_ipv6_is_listened_on_alone():
    try:
        listening = address.bind(Address("::1", 0), has_token=False)
    except InputError:
        pytest.skip("no IPv6")
    try:
        assert address.of(listening[0]).netloc.startswith("[::1]:")
    finally:
        close(listening)
