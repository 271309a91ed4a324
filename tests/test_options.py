from pathlib import Path

import pytest
from servers import command

from thrall_py import options
from thrall_py.catalog.launch import LaunchSpec, UrlSpec
from thrall_py.commands import call
from thrall_py.errors import UsageError
from thrall_py.options import ServerOptions
from thrall_py.protocol import mcp
from thrall_py.verbs.connect import ConnectionOptions


@pytest.fixture
def handed_on(thrall, monkeypatch):
    """Call with options; what the verb gets of them: the server and the connection."""
    got = []

    def started(server, connection, _interrupts):
        got.append((server, connection))
        raise StopIteration  # what follows is not looked at

    def run(*words):
        monkeypatch.setattr(call, "started", started)
        thrall("call", "t", "a=1", *words, "--", "server", "${A}", "--", "--timeout=1")
        return got[-1]

    return run


def test_the_defaults_are_those_of_the_contract(handed_on):
    server, connection = handed_on()
    assert connection == ConnectionOptions(300.0, 120.0, 2.0, 64 << 20, None)
    assert server.command.cwd is None


def test_the_revisions_that_can_be_asked_for_are_those_of_the_protocol():
    assert options._REVISIONS == mcp.REVISIONS


def test_the_words_behind_the_dashes_are_the_servers_alone(handed_on):
    assert handed_on()[0].command.argv == ("server", "${A}", "--", "--timeout=1")


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        (["--timeout", "0.001"], {"timeout": 0.001}),
        (["--timeout=1e3"], {"timeout": 1000.0}),
        (["--start-timeout", "5"], {"start_timeout": 5.0}),
        (["--grace", "0"], {"grace": 0.0}),
        (["--max-message", "1"], {"max_message": 1}),
        (["--max-message", "4096b"], {"max_message": 4096}),
        (["--max-message", "2k"], {"max_message": 2048}),
        (["--max-message", "3MiB"], {"max_message": 3 << 20}),
        (["--max-message", "1G"], {"max_message": 1 << 30}),
        (["--protocol", "2025-06-18"], {"revision": "2025-06-18"}),
    ],
)
def test_each_option_of_a_connection_can_be_set(handed_on, words, changed):
    assert handed_on(*words)[1] == ConnectionOptions(300.0, 120.0, 2.0, 64 << 20, None)._replace(
        **changed
    )


@pytest.mark.parametrize(
    ("variable", "value", "changed"),
    [
        ("THRALL_CALL_TIMEOUT", "7", {"timeout": 7.0}),
        ("THRALL_CALL_START_TIMEOUT", "8", {"start_timeout": 8.0}),
        ("THRALL_CALL_GRACE", "9", {"grace": 9.0}),
        ("THRALL_CALL_MAX_MESSAGE", "1K", {"max_message": 1024}),
        ("THRALL_CALL_PROTOCOL", "2024-11-05", {"revision": "2024-11-05"}),
    ],
)
def test_each_option_of_a_connection_can_be_set_for_a_whole_job(
    handed_on, monkeypatch, variable, value, changed
):
    monkeypatch.setenv(variable, value)
    assert handed_on()[1] == ConnectionOptions(300.0, 120.0, 2.0, 64 << 20, None)._replace(
        **changed
    )


def test_the_command_line_goes_before_the_environment(handed_on, monkeypatch):
    monkeypatch.setenv("THRALL_CALL_TIMEOUT", "7")
    assert handed_on("--timeout", "8")[1].timeout == 8.0


def test_each_option_of_a_server_can_be_set(handed_on, monkeypatch):
    monkeypatch.setenv("PASSED", "on")
    monkeypatch.setenv("KEPT", "away")
    server, _ = handed_on(
        "--clean-env", "--env", "PASSED", "--env", "A=b=c", "--env=E=", "--cwd", "d"
    )
    environment = server.command.environment
    assert {name: environment.get(name) for name in ("PASSED", "A", "E", "KEPT")} == {
        "PASSED": "on",
        "A": "b=c",
        "E": "",
        "KEPT": None,
    }
    assert server.command.cwd == "d"


def test_a_launch_spec_names_variables_and_holds_no_value():
    spec = ServerOptions(("A=secret", "B"), clean_env=True, cwd="d").spec(("s", "${C}"))
    assert spec == LaunchSpec(("s", "${C}"), {"A": "${A}", "B": "${B}"}, clean_env=True, cwd="d")


def test_an_address_has_the_headers_of_words_of_a_file_and_of_a_variable_in_this_order():
    Path("h").write_text("B: 2\n# C: 3\n\nD: ${D}\n")
    given = ServerOptions(url="http://${H}/", header=("A: 1",), bearer_env="T", header_file="h")
    spec = given.spec(None)
    assert spec == UrlSpec(
        "http://${H}/", {"A": "1", "B": "2", "D": "${D}", "Authorization": "Bearer ${T}"}
    )
    assert list(spec.headers) == ["A", "B", "D", "Authorization"]
    assert ServerOptions(url="u").spec(None) == UrlSpec("u", {})
    assert given.given == {}


NO_SERVER = "no server is given"
NOT_STARTED = "--env, --clean-env and --cwd are for servers that are started"
NOT_REACHED = "--header, --bearer-env and --header-file need a --url"


@pytest.mark.parametrize(
    ("options", "server", "sentence"),
    [
        ({}, None, NO_SERVER),
        ({}, (), NO_SERVER),
        ({"env": ("A",)}, None, NO_SERVER),
        ({"url": "u"}, ("s",), "a server behind -- and --url exclude each other"),
        ({"url": "u"}, (), "a server behind -- and --url exclude each other"),
        ({"url": "u", "env": ("A",)}, None, NOT_STARTED),
        ({"url": "u", "clean_env": True}, None, NOT_STARTED),
        ({"url": "u", "cwd": ""}, None, NOT_STARTED),
        ({"header": ("A: b",)}, ("s",), NOT_REACHED),
        ({"bearer_env": "A"}, ("s",), NOT_REACHED),
        ({"header_file": "h"}, ("s",), NOT_REACHED),
        ({"header_file": "h"}, None, NOT_REACHED),
    ],
)
def test_a_server_is_started_or_reached_and_options_fit_only_one(options, server, sentence):
    with pytest.raises(UsageError, match=f"^{sentence}"):
        ServerOptions(**options).spec(server)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--timeout", "0"],
            "Invalid value for '--timeout': '0' is no number of seconds from 0.001 up",
        ),
        (
            ["--timeout", "x"],
            "Invalid value for '--timeout': 'x' is no number of seconds from 0.001 up",
        ),
        (["--timeout", "nan"], "'nan' is no number of seconds from 0.001 up"),
        (["--timeout", "inf"], "'inf' is no number of seconds from 0.001 up"),
        (["--timeout", ""], "'' is no number of seconds from 0.001 up"),
        (["--start-timeout", "-1"], "'-1' is no number of seconds from 0.001 up"),
        (["--grace", "-0.1"], "'-0.1' is no number of seconds from 0 up"),
        (["--max-message", "0"], "'0' is no size: write bytes, or a number with K, M or G"),
        (["--max-message", ""], "'' is no size: write bytes, or a number with K, M or G"),
        (["--max-message", "M"], "'M' is no size: write bytes, or a number with K, M or G"),
        (["--max-message", "1KK"], "'1KK' is no size: write bytes, or a number with K, M or G"),
        (["--max-message", "1.5M"], "'1.5M' is no size: write bytes, or a number with K, M or G"),
        (["--max-message", "-1"], "'-1' is no size: write bytes, or a number with K, M or G"),
        (["--max-message", "²"], "'²' is no size: write bytes, or a number with K, M or G"),
        (["--max-message", "9" * 3000], "is no size: write bytes, or a number with K, M or G"),
        (["--env", "=x"], "Invalid value for '--env': a variable is given as NAME or NAME=VALUE"),
        (["--env", "A B=x"], "a variable is given as NAME or NAME=VALUE"),
        (["--env", "é"], "a variable is given as NAME or NAME=VALUE"),
        (["--env", "1A"], "a variable is given as NAME or NAME=VALUE"),
        (
            ["--bearer-env", "gh-hunter22"],
            "Invalid value for '--bearer-env': the variable is not set (or not exported); give its name,",
        ),
        (
            ["--bearer-env", ""],
            "the variable is not set (or not exported); give its name, not the token",
        ),
        (
            ["--bearer-env", "é"],
            "the variable is not set (or not exported); give its name, not the token",
        ),
        (
            ["--bearer-env", "ghp_hunter22"],
            "the variable is not set (or not exported); give its name,",
        ),
        (
            ["--protocol", "2020-01-01"],
            "Invalid value for '--protocol': '2020-01-01' is not one of",
        ),
    ],
)
def test_a_value_that_makes_no_sense_is_a_mistake_of_the_command_line(thrall, words, sentence):
    ran = thrall("call", "t", *words, "--", *command("crash"))
    assert (ran.status, ran.out) == (2, b"")
    assert sentence in ran.err
    assert ran.err.endswith(" (see thrall call --help)\n")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["--env", "A-B=hunter22", "--", "server"],
        ["--bearer-env", "gh-hunter22", "--url", "http://h/"],
        ["--header", "hunter22", "--url", "http://h/"],
        ["--url", "hunter22"],
        ["--url", "http://h/?token=hunter22", "--", "server"],
    ],
)
def test_a_value_that_may_be_secret_is_not_repeated(thrall, words):
    ran = thrall("call", "t", "a=1", *words)
    assert (ran.status in {2, 3}, "hunter22" in ran.err) == (True, False)


def test_a_value_with_more_digits_than_an_int_may_have_is_cut_in_the_sentence(thrall):
    ran = thrall("call", "t", "--max-message", "9" * 5000, "--", "server")
    assert (ran.status, ran.out) == (2, b"")
    assert ran.err.startswith("thrall: Invalid value for '--max-message': '999")
    assert len(ran.err) < 4100
