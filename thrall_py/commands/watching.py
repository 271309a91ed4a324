"""Who follows the conversations of one run: a person at a terminal, `--verbose`, `--trace`."""

import functools
import os
from collections.abc import Callable, Collection, Iterable

from thrall_py.commands.invocation import Invocation, draw, say
from thrall_py.errors import UsageError
from thrall_py.options import WatchOptions
from thrall_py.protocol.watcher import Audience, Watcher
from thrall_py.redact import Redactor
from thrall_py.verbs.connect import ConnectionOptions

_STDERR = "-"  # as in output.trace, which not every run needs
_Follow = Callable[[str, Redactor], Watcher]


def begin(
    invocation: Invocation,
    wanted: WatchOptions,
    connection: ConnectionOptions,
    subject: str = "",
    *,
    files: Iterable[str | None],
) -> ConnectionOptions:
    """Let the conversations of this run be followed as the options ask.

    A trace is opened when the invocation is `ready`: until then its file is as it was.

    Args:
        invocation: the run; what is opened is closed at its end.
        wanted: what the options ask for.
        connection: how servers are spoken to.
        subject: the tool that is called; empty if each server has a name.
        files: what the command line says that the run reads or writes, beside the server's words,
            which no trace may be; None for what is not given.

    Returns:
        How they are spoken to, now before an audience.

    Raises:
        UsageError: the options exclude each other.

    """
    if wanted.quiet and wanted.verbose:
        raise UsageError("--quiet and --verbose exclude each other")
    invocation.is_quiet = wanted.quiet
    present = _Present()
    if wanted.trace is not None:
        used = (*files, *(invocation.server or ()), os.environ.get("SSL_CERT_FILE"))
        opening = functools.partial(_admit_trace, present, wanted.trace, invocation, used)
        invocation.at_start.append(functools.partial(opening, is_call=bool(subject)))
    if wanted.verbose:
        _admit_narrator(present)
    elif not wanted.quiet and wanted.trace != _STDERR:
        _admit_status_line(present, invocation)
    if not present.followers and wanted.trace is None:
        return connection
    return connection._replace(audience=present, subject=subject)


class _Present(Audience):
    """Those who follow, and who is told what is waited for side by side."""

    def __init__(self) -> None:
        self.followers: list[_Follow] = []
        self.on_asking: Callable[[Collection[str]], None] = super().asking

    def follow(self, subject: str, redact: Redactor) -> Watcher:  # type: ignore[explicit-override]  # @override is of 3.12
        """Provide a watcher for all of them."""
        from thrall_py.protocol.watched import SeveralWatchers

        watchers = [follow(subject, redact) for follow in self.followers]
        return watchers[0] if len(watchers) == 1 else SeveralWatchers(watchers)

    def asking(self, names: Collection[str]) -> None:  # type: ignore[explicit-override]  # likewise
        """Pass it on."""
        self.on_asking(names)


def _admit_trace(
    present: _Present,
    path: str,
    invocation: Invocation,
    files: Iterable[str | None],
    *,
    is_call: bool,
) -> None:
    from thrall_py.output.trace import Trace, Tracer

    def tell(why: str) -> None:  # at once: in `check` and `pin` it happens in other processes
        say(f"the trace is not complete: {why}", invocation.subject)

    trace = Trace(path, files, on_failure=tell)
    invocation.at_end.callback(trace.close)

    def follow(subject: str, redact: Redactor) -> Watcher:
        return Tracer(trace, "" if is_call else subject, redact)

    present.followers.append(follow)


def _admit_narrator(present: _Present) -> None:
    from thrall_py.output.narration import Narrator

    def follow(subject: str, redact: Redactor) -> Watcher:
        return Narrator(functools.partial(say, about=subject), redact)

    present.followers.append(follow)


def _admit_status_line(present: _Present, invocation: Invocation) -> None:
    if not os.isatty(2):
        return
    from thrall_py.output import status_line

    if status_line.is_welcome():
        line = status_line.StatusLine(draw)
        present.followers.append(line.follow)
        present.on_asking = line.asking
        invocation.interrupts.idle = line.tick
        invocation.at_end.callback(line.closing)
