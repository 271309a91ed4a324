"""The options that verbs share: how they are written, read, and handed on as values."""

import functools
import math
import os
import re
from collections.abc import Callable
from typing import NamedTuple

import click

from thrall_py.catalog.launch import LaunchSpec, ServerSpec, UrlSpec
from thrall_py.errors import UsageError
from thrall_py.verbs.connect import ConnectionOptions

_UNITS = {
    spelling: 1 << 10 * power
    for power, letter in enumerate(("", "K", "M", "G"))
    for spelling in (letter, f"{letter}B", f"{letter}IB" if letter else "B")
}
_VARIABLE = r"[A-Z_][A-Z0-9_]*"  # a token has small letters, or a shape of its own
# protocol.mcp has the same; loading the protocol before the server starts is too slow.
_REVISIONS = ("2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
_DIGITS = 20  # of a size; int() refuses thousands of them, and nobody means so many

# A verb of cli.py: each has other options, so their names are checked by click alone.
Command = Callable[..., int]  # type: ignore[explicit-any]


class _Line(click.types.StringParamType):
    """A header, or an answer: they hold blanks, so several in a variable stand on lines."""

    def split_envvar_value(self, rv: str) -> list[str]:  # type: ignore[explicit-override]  # of 3.12
        """Take the lines that say something."""
        return [line for line in rv.splitlines() if line.strip()]


class ServerOptions(NamedTuple):
    """What the command line says of the server beside its words."""

    env: tuple[str, ...] = ()
    clean_env: bool = False
    cwd: str | None = None
    url: str | None = None
    header: tuple[str, ...] = ()
    bearer_env: str | None = None
    header_file: str | None = None

    @property
    def given(self) -> dict[str, str]:
        """The values that are given with `NAME=VALUE`."""
        items = (item.partition("=") for item in self.env)
        return {name: value for name, equals, value in items if equals}

    def spec(self, command: tuple[str, ...] | None) -> ServerSpec:
        """How the server is started or reached, naming variables only: no value of one is in it.

        Args:
            command: the words behind `--`; None if there is none.

        Raises:
            UsageError: the options do not fit together, or there is no server.
            InputError: the file of headers cannot be read.

        """
        if self.url is not None:
            if command is not None:
                raise UsageError("a server behind -- and --url exclude each other")
            if self.env or self.clean_env or self.cwd is not None:
                raise UsageError("--env, --clean-env and --cwd are for servers that are started")
            return UrlSpec(self.url, self._headers())
        if self.header or self.bearer_env is not None or self.header_file is not None:
            raise UsageError("--header, --bearer-env and --header-file need a --url")
        if not command:
            raise UsageError(
                "no server is given: write it behind --, as in -- uvx mcp-server-time,"
                " or give a --url"
            )
        names = (item.partition("=")[0] for item in self.env)
        return LaunchSpec(command, {n: f"${{{n}}}" for n in names}, self.clean_env, self.cwd)

    def _headers(self) -> dict[str, str]:
        from thrall_py.verbs import headers

        lines = [*self.header]
        if self.header_file is not None:
            lines += headers.read(self.header_file)
        if self.bearer_env is not None:
            lines.append(f"Authorization: Bearer ${{{self.bearer_env}}}")
        return headers.parse(lines)


def refuse_two_servers(command: tuple[str, ...] | None, given: ServerOptions) -> None:
    """Refuse a second server, or what surrounds one, beside a catalog.

    Raises:
        UsageError: one of the two is given.

    """
    if command is not None or given.url is not None:
        raise UsageError("a server and --catalog exclude each other")
    if given != NO_SERVER_OPTIONS:
        raise UsageError("--env, --cwd, --header and the like come from the catalog")


class AnswerOptions(NamedTuple):
    """What the command line says of what a server may ask."""

    answer: tuple[str, ...] = ()
    answers: str | None = None
    accept_defaults: bool = False
    decline: bool = False


NO_SERVER_OPTIONS = ServerOptions()
NO_ANSWERS = AnswerOptions()


class WatchOptions(NamedTuple):
    """What is told of the conversation: nothing but failures, its stages, or every byte of it."""

    quiet: bool
    verbose: bool
    trace: str | None  # a file


def seconds(least: float) -> Callable[[click.Context, click.Parameter, str], float]:
    """Make what reads a number of seconds, `least` or more (a callback of click's)."""

    def read(_: click.Context, __: click.Parameter, value: str) -> float:
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not least <= seconds < math.inf:
            raise click.BadParameter(f"{value!r} is no number of seconds from {least:g} up")
        return seconds

    return read


def _size(_: click.Context, __: click.Parameter, value: str) -> int:
    digits = value.rstrip("BIKMGbikmg")
    unit = value[len(digits) :].upper()
    number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < _DIGITS else 0
    if not number or unit not in _UNITS:
        raise click.BadParameter(f"{value!r} is no size: write bytes, or a number with K, M or G")
    return number * _UNITS[unit]


def variable(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Take the name of a variable that holds a token (a callback of click's)."""
    if value is None:
        return None
    from thrall_py.catalog import credentials

    # A name that is certainly none of a token may be shown: by prepare(), if it is not set.
    is_name = re.fullmatch(_VARIABLE, value) and not any(credentials.find([value]))
    if not (value.isascii() and value.isidentifier() and (is_name or value in os.environ)):
        raise click.BadParameter(
            "the variable is not set (or not exported); give its name, not the token"
        )
    return value


def _variables(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        name = value.partition("=")[0]
        if not (name.isascii() and name.isidentifier()):  # the rest may be a secret
            raise click.BadParameter("a variable is given as NAME or NAME=VALUE")
    return values


def connection(command: Command, start_timeout: str = "120", timeout: str = "300") -> Command:
    """Add how a server is spoken to, with these defaults; the command gets it as `connection`."""

    @functools.wraps(command)
    def with_connection(
        *,
        timeout: float,
        start_timeout: float,
        grace: float,
        max_message: int,
        protocol: str | None,
        **rest: object,
    ) -> int:
        agreed = ConnectionOptions(timeout, start_timeout, grace, max_message, protocol)
        return command(connection=agreed, **rest)

    return _added(
        with_connection,
        click.option("--protocol", type=click.Choice(_REVISIONS), metavar="REVISION",
                     help="Speak this protocol revision only."),
        click.option("--timeout", callback=seconds(0.001), default=timeout, metavar="SECONDS",
                     help=f"For each request after the handshake ({timeout})."),
        click.option("--start-timeout", callback=seconds(0.001), default=start_timeout,
                     metavar="SECONDS",
                     help=f"From the spawn to the end of the handshake ({start_timeout})."),
        click.option("--grace", callback=seconds(0), default="2", metavar="SECONDS",
                     help="From the end of its input to SIGTERM (2)."),
        click.option("--max-message", callback=_size, default="64M", metavar="SIZE",
                     help="The most bytes in one message (64M)."),
    )  # fmt: skip


def watching(command: Command) -> Command:
    """Add what is told of the conversation; the command gets it as `watch`."""

    @functools.wraps(command)
    def with_watch(*, quiet: bool, verbose: bool, trace: str | None, **rest: object) -> int:
        return command(watch=WatchOptions(quiet, verbose, trace), **rest)

    return _added(
        with_watch,
        click.option("--quiet", is_flag=True, help="Say nothing but failures (the server may)."),
        click.option("--verbose", is_flag=True, help="Tell the stages and their times on stderr."),
        click.option("--trace", metavar="FILE",
                     help="Write every byte both ways to FILE, secrets masked."),
    )  # fmt: skip


def jobs(command: Command) -> Command:
    """Add how many servers are asked at a time; the command gets it as `jobs`."""
    return click.option("--jobs", type=click.IntRange(1), default=8, metavar="N",
                        help="Ask N servers at a time (8).")(command)  # fmt: skip


def server_options(command: Command) -> Command:
    """Add what surrounds the server; the command gets it as `server_options`."""

    @functools.wraps(command)
    def with_server_options(  # noqa: PLR0913 - one for each option
        *,
        env: tuple[str, ...],
        clean_env: bool,
        cwd: str | None,
        url: str | None,
        header: tuple[str, ...],
        bearer_env: str | None,
        header_file: str | None,
        **rest: object,
    ) -> int:
        given = ServerOptions(env, clean_env, cwd, url, header, bearer_env, header_file)
        return command(server_options=given, **rest)

    return _added(
        with_server_options,
        click.option("--env", multiple=True, callback=_variables, metavar="NAME[=VALUE]",
                     help="Pass a variable on, or set it; repeatable."),
        click.option("--clean-env", is_flag=True,
                     help="Pass on PATH, HOME and a few others only."),
        click.option("--cwd", metavar="DIR", help="Start the server in DIR."),
        click.option("--url", metavar="URL", help="Reach a server instead of starting one."),
        click.option("--header", multiple=True, type=_Line(), metavar="LINE",
                     help="Send 'NAME: VALUE', ${VAR} filled in; repeatable."),
        click.option("--bearer-env", callback=variable, metavar="VAR",
                     help="Send the token in the variable VAR."),
        click.option("--header-file", metavar="FILE", help="Send the headers in FILE."),
    )  # fmt: skip


def answer_options(command: Command) -> Command:
    """Add what a server is told that asks the user; the command gets it as `answer_options`."""

    @functools.wraps(command)
    def with_answers(
        *,
        answer: tuple[str, ...],
        answers: str | None,
        accept_defaults: bool,
        decline: bool,
        **rest: object,
    ) -> int:
        given = AnswerOptions(answer, answers, accept_defaults, decline)
        return command(answer_options=given, **rest)

    return _added(
        with_answers,
        click.option("--answer", multiple=True, type=_Line(), metavar="NAME=VALUE",
                     help="Answer what it asks (:=JSON); repeatable."),
        click.option("--answers", metavar="FILE", help="Take answers from FILE, a JSON object."),
        click.option("--accept-defaults", is_flag=True,
                     help="Take defaults where there is no answer."),
        click.option("--decline", is_flag=True, help="Decline whatever the server asks."),
    )  # fmt: skip


def _added(command: Command, *added: Callable[[Command], Command]) -> Command:
    for option in reversed(added):
        command = option(command)
    return command
