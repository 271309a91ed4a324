"""The options that verbs share: how they are written, read, and handed on as values."""

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import click

from thrall_py.catalog.launch import LaunchSpec
from thrall_py.protocol import mcp
from thrall_py.verbs.connect import ConnectionOptions, PreparedServer, prepare

_UNITS = {
    spelling: 1 << 10 * power
    for power, letter in enumerate(("", "K", "M", "G"))
    for spelling in (letter, f"{letter}B", f"{letter}IB" if letter else "B")
}
_DIGITS = 20  # of a size; int() refuses thousands of them, and nobody means so many

# A verb of cli.py: each has other options, so their names are checked by click alone.
Command = Callable[..., int]  # type: ignore[explicit-any]


class ServerOptions(NamedTuple):
    """What the command line says of the server beside its words."""

    env: tuple[str, ...]
    clean_env: bool
    cwd: str | None

    @property
    def given(self) -> dict[str, str]:
        """The values that are given with `NAME=VALUE`."""
        items = (item.partition("=") for item in self.env)
        return {name: value for name, equals, value in items if equals}

    def launch_spec(self, command: tuple[str, ...]) -> LaunchSpec:
        """How the server is started, naming variables only: no value gets into a catalog."""
        names = (item.partition("=")[0] for item in self.env)
        return LaunchSpec(command, {n: f"${{{n}}}" for n in names}, self.clean_env, self.cwd)

    def prepare(self, command: tuple[str, ...], *, fill_in: bool) -> PreparedServer:
        """The server ready to be started.

        Args:
            command: its words.
            fill_in: whether `${NAME}` in them is filled in.

        Raises:
            InputError: a variable that it needs is not set.

        """
        return prepare(self.launch_spec(command), self.given, fill_in=fill_in)


NO_SERVER_OPTIONS = ServerOptions((), clean_env=False, cwd=None)


def _seconds(least: float) -> Callable[[click.Context, click.Parameter, str], float]:
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


def _variables(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        name = value.partition("=")[0]
        if not (name.isascii() and name.isidentifier()):  # the rest may be a secret
            raise click.BadParameter("a variable is given as NAME or NAME=VALUE")
    return values


def connection(command: Command) -> Command:
    """Add how a server is spoken to; the command gets it as `connection`."""

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
        click.option("--protocol", type=click.Choice(mcp.REVISIONS), metavar="REVISION",
                     help="Speak this protocol revision only."),
        click.option("--timeout", callback=_seconds(0.001), default="300", metavar="SECONDS",
                     help="For each request after the handshake (300)."),
        click.option("--start-timeout", callback=_seconds(0.001), default="120", metavar="SECONDS",
                     help="From the spawn to the end of the handshake (120)."),
        click.option("--grace", callback=_seconds(0), default="2", metavar="SECONDS",
                     help="From the end of its input to SIGTERM (2)."),
        click.option("--max-message", callback=_size, default="64M", metavar="SIZE",
                     help="The most bytes in one message (64M)."),
    )  # fmt: skip


def jobs(command: Command) -> Command:
    """Add how many servers are asked at a time; the command gets it as `jobs`."""
    return click.option("--jobs", type=click.IntRange(1), default=8, metavar="N",
                        help="Ask N servers at a time (8).")(command)  # fmt: skip


def server_options(command: Command) -> Command:
    """Add what surrounds the server; the command gets it as `server_options`."""

    @functools.wraps(command)
    def with_server_options(
        *, env: tuple[str, ...], clean_env: bool, cwd: str | None, **rest: object
    ) -> int:
        return command(server_options=ServerOptions(env, clean_env, cwd), **rest)

    return _added(
        with_server_options,
        click.option("--env", multiple=True, callback=_variables, metavar="NAME[=VALUE]",
                     help="Pass a variable on, or set it; repeatable."),
        click.option("--clean-env", is_flag=True,
                     help="Pass on PATH, HOME and a few others only."),
        click.option("--cwd", metavar="DIR", help="Start the server in DIR."),
    )  # fmt: skip


def _added(command: Command, *added: Callable[[Command], Command]) -> Command:
    for option in reversed(added):
        command = option(command)
    return command
