"""The command line: parse, run a verb, print, exit. The only module that does any of these."""

import contextlib
import errno
import importlib
import io
import os
import sys
from collections.abc import Sequence

import click

from thrall_py import __version__, errors
from thrall_py.commands.invocation import Invocation, say
from thrall_py.errors import Interrupted, OutputError, ThrallError, UsageError
from thrall_py.transport.interrupts import SIGPIPE, die_by_signal
from thrall_py.visible import visible

VERBS = ("call", "pin", "unpin", "check", "show", "serve", "doctor", "completion")
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def run(words: Sequence[str]) -> int:
    """Run the program with the words of its command line; its exit status.

    A signal, or a reader of stdout that went away, ends the process by that signal instead.
    """
    ours, server = _split(words)
    invocation = Invocation(server)
    if sys.stderr is None:  # it is closed, and print() would take stdout in its place
        sys.stderr = io.StringIO()
    try:
        with invocation.at_end:
            status = _invoke(ours, invocation)
    except Interrupted as interrupted:
        return die_by_signal(interrupted.signum)
    except BrokenPipeError:
        return die_by_signal(SIGPIPE)
    if invocation.interrupts.signum is not None:  # during the teardown
        return die_by_signal(invocation.interrupts.signum)
    return status


def _split(words: Sequence[str]) -> tuple[list[str], tuple[str, ...] | None]:
    """Cut at the first `--`: click would read the server's options, and eat a `--` of its own."""
    if "--" not in words:
        return list(words), None
    at = words.index("--")
    return list(words[:at]), tuple(words[at + 1 :])


def _invoke(ours: list[str], invocation: Invocation) -> int:
    """Run click, and turn every failure into its sentence and status."""
    try:
        return _click(ours, invocation)
    except ThrallError as problem:
        say(str(problem), invocation.subject)
        return problem.exit_status
    except BrokenPipeError:
        raise
    except Exception as problem:  # noqa: BLE001 - the one place where a bug is told from a failure
        if isinstance(problem, OSError) and problem.errno in _UNWRITABLE:
            say(f"cannot write to stdout: {problem.strerror}")  # the help, or the version
            _give_up_stdout()
            return OutputError.exit_status
        import traceback

        traceback.print_exc()
        return errors.BUG


def _give_up_stdout() -> None:
    """Let what it did not take go: the interpreter would try once more at its end, and fail."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _click(ours: list[str], invocation: Invocation) -> int:
    """Parse and run; click's own main() would turn ^C and EPIPE into statuses of its own."""
    try:
        context = thrall.make_context("thrall", ours, obj=invocation, auto_envvar_prefix="THRALL")
        with context:
            return int(thrall.invoke(context))
    except click.exceptions.Exit as problem:  # after the help, or the version
        invocation.need_stdout()
        return problem.exit_code
    except click.exceptions.NoArgsIsHelpError as problem:
        with contextlib.suppress(OSError):
            problem.show()
        return problem.exit_code
    except click.UsageError as problem:
        verb = f" {ours[0]}" if ours and ours[0] in VERBS else ""
        raise UsageError(f"{visible(problem.format_message())} (see thrall{verb} --help)") from None


def load(verb: str) -> click.Command:
    """Load the command of a verb: it has the name of its module."""
    command = getattr(importlib.import_module(f"thrall_py.commands.{verb}"), verb)
    assert isinstance(command, click.Command)
    return command


class _Verbs(click.Group):
    """Verbs that are loaded once they are named: all of them take as long as click itself."""

    def list_commands(self, _: click.Context, /) -> list[str]:  # type: ignore[explicit-override]  # @override is of 3.12
        return sorted(VERBS)

    def get_command(self, _: click.Context, name: str, /) -> click.Command | None:  # type: ignore[explicit-override]  # likewise
        # What is no verb may be near one: click looks, and says so.
        for verb in (name,) if name in VERBS else VERBS:
            self.add_command(load(verb))
        return self.commands.get(name)


def _version(context: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001
    if wanted:
        click.echo(f"thrall {__version__}")
        context.exit()


_STATUSES = "\n".join(f"  {row.code:<6} {row.meaning}" for row in errors.STATUSES)


@click.group(
    cls=_Verbs,
    epilog=f"\b\nExit status:\n{_STATUSES}\n\nThe pages are thrall(1) and thrall-VERB(1).",
    context_settings={"help_option_names": ["--help"], "max_content_width": 80},
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version,
              allow_from_autoenv=False,
              help="Print the version.")  # fmt: skip
def thrall() -> None:
    """Call MCP tools as Unix commands, and pin what their servers offer."""
