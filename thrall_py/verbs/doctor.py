"""`thrall doctor`: what works with a server and what does not, step by step.

Here are the steps of a process, and those that a server on a URL has as well; what only that has
is in `doctor_url`. Each check is handed over as soon as it is made.
"""

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator, Sequence

from thrall_py.catalog.launch import LaunchSpec
from thrall_py.errors import (
    CannotExecuteError,
    ProgramNotFoundError,
    ThrallError,
    UnauthorizedError,
)
from thrall_py.output import checkup
from thrall_py.output.checkup import Check, Checks, Outcome
from thrall_py.protocol import mcp
from thrall_py.protocol.opening import Opening
from thrall_py.protocol.session import Session
from thrall_py.protocol.watched import unwatched
from thrall_py.protocol.watcher import Watcher
from thrall_py.transport import descendants
from thrall_py.transport.endpoint import Command
from thrall_py.transport.interrupts import Interrupts
from thrall_py.transport.process import Process
from thrall_py.verbs import interview, introduction, remedies, sessions
from thrall_py.verbs.connect import ConnectionOptions, PreparedServer
from thrall_py.visible import visible

NAMES = ("found", "started", "handshake", *interview.NAMES,
         "stdout", "speed", "leaves", "processes", "era")  # fmt: skip

_SLOW_START = 3.0  # seconds; a person who waits begins to wonder
_EXITED_WELL = "exited with status 0"  # this and the next: as Process.close says it
_KILLED = "was ended by SIGKILL"


def examine_process(
    spec: LaunchSpec, server: PreparedServer, connection: ConnectionOptions, interrupts: Interrupts
) -> Checks:
    """Start a server, ask it what every server has to know, and watch how it leaves.

    Args:
        spec: how the server is started.
        server: the same, ready to be started.
        connection: deadlines and limits, and the protocol revision unless it is to be found out.
        interrupts: the signals that stop it all.

    Returns:
        A check for each of NAMES, those last that a failure kept from being made.

    Raises:
        InputError: the directory to start it in is not there.

    """
    return complete(NAMES, _steps(spec, server, connection, interrupts))


def complete(names: Sequence[str], checks: Checks) -> Checks:
    """Hand `checks` on, and tell at the end which of `names` were not among them."""
    missing = dict.fromkeys(names)
    with contextlib.closing(checks):  # the server is ended if nobody wants to hear more
        for check in checks:
            del missing[check.name]
            yield check
    for name in missing:
        yield checkup.skipped(name, checkup.UNREACHED)


def _steps(
    spec: LaunchSpec, server: PreparedServer, connection: ConnectionOptions, interrupts: Interrupts
) -> Checks:
    assert isinstance(server.command, Command), "a server on a URL has steps of its own"

    watcher = connection.audience.follow(connection.subject, server.redact)

    def begin() -> Opening:
        return sessions.begin(server, connection, interrupts, watcher)

    began = time.monotonic()
    try:
        opening = begin()
    except ProgramNotFoundError as problem:
        advice = "give the path of the program, or put its directory on PATH"
        if " " in server.command.argv[0]:
            advice = "write its words apart, not as one between quotation marks: there is no shell"
        yield checkup.failed("found", str(problem), advice)
        return
    except CannotExecuteError as problem:
        yield checkup.ok("found", _place(server.command))
        advice = "make it executable (chmod +x), and see that its first line names an interpreter"
        yield checkup.failed("started", str(problem), advice)
        return
    try:
        yield checkup.ok("found", _place(server.command))
        yield checkup.ok("started", "it could be executed")
        shaken = shake_hands(opening, connection, began, watcher)
        yield shaken
        if shaken.outcome is Outcome.FAILED:
            yield from _stdout(opening.session, silent_is_fine=False)
            return
        yield from interview.Interview(opening.session, spec, connection).checks()
        yield from _stdout(opening.session, silent_is_fine=True)
        yield speed(shaken, opening.detour)
        yield from _departure(opening.session, connection.grace, interrupts)
    finally:
        opening.session.end()
    yield era(opening, begin, connection)


# -- also for servers on a URL -----------------------------------------------------------------


def shake_hands(
    opening: Opening, connection: ConnectionOptions, began: float, watcher: Watcher
) -> Check:
    """Open the session as every verb does.

    Args:
        opening: the session to be opened.
        connection: may fix the revision.
        began: when the server was started, or first spoken to, on the monotonic clock.
        watcher: follows what comes afterwards, too.

    Raises:
        UnauthorizedError: the server does not let us in.

    """
    try:
        if connection.revision:
            opening.open_with(connection.revision)
        else:
            opening.negotiate()
    except UnauthorizedError:
        raise
    except ThrallError as problem:
        advice = remedies.remedy(problem, opening.session.skipped.advice, connection.revision)
        words = str(problem)
        if opening.has_restarted:  # so its own words stand on stderr twice
            words += (
                "; it was started twice: the first time it was asked server/discover, as newer"
                f" clients do, and {opening.detour}"
            )
        return checkup.failed("handshake", words, advice)
    session = opening.session
    session.watcher = watcher
    watcher.agreed(session.server)
    seconds = time.monotonic() - began
    return introduction.check(session, opening.said)._replace(seconds=seconds)


def speed(shaken: Check, detour: str) -> Check:
    """Judge how long it took to the end of the handshake, unless the probe cost a detour."""
    assert shaken.seconds is not None, "it succeeded"
    words = "from the start to the end of the handshake"
    if detour:
        check = checkup.ok("speed", f"{words}, with what the probe cost")
    elif shaken.seconds > _SLOW_START:
        advice = "install it beforehand instead of at each start, and load late what is heavy"
        check = checkup.warned("speed", f"slow {words}", advice)
    else:
        check = checkup.ok("speed", words)
    return check._replace(seconds=shaken.seconds)


def era(opening: Opening, begin: Callable[[], Opening], connection: ConnectionOptions) -> Check:
    """Tell which clients the server serves: those with a handshake, those without, or both.

    Args:
        opening: how it was opened before.
        begin: starts it afresh, or makes contact anew.
        connection: one revision may have been asked for; then there is nothing to find out.

    """
    if connection.revision:
        return checkup.skipped("era", "one revision was asked for")
    if not opening.session.server.is_modern:
        # Servers made with an older Python SDK log a page of errors at it.
        without = f"--protocol {opening.session.server.revision} leaves it out"
        served = f"clients that begin with initialize ({opening.session.server.revision})"
        if not opening.detour:
            harmless = "it turns down server/discover, the first request of newer ones, and goes on"
            return checkup.ok("era", f"{served}; {harmless}, perhaps logging it ({without})")
        words = (
            f"{served}; asked server/discover, as newer ones do, it {opening.detour} ({without})"
        )
        advice = f"answer a request it does not know with error {mcp.METHOD_NOT_FOUND}, and go on"
        return checkup.warned("era", words, advice)
    try:
        revision = _revision_for_older_clients(begin)
    except ThrallError as problem:
        code = mcp.UNSUPPORTED_PROTOCOL_VERSION
        advice = f"answer initialize, or refuse it with error {code} that names {mcp.MODERN}"
        words = (
            f"clients of {mcp.MODERN} only; older ones, which begin with initialize, are not"
            f" told so: {problem}"
        )
        return checkup.warned("era", words, advice)
    if revision == mcp.MODERN:
        return checkup.ok("era", f"clients of {mcp.MODERN} only, and older ones are told so")
    return checkup.ok("era", f"clients of {mcp.MODERN}, and older ones ({revision})")


def _revision_for_older_clients(begin: Callable[[], Opening]) -> str:
    opening = begin()
    try:
        opening.initialize()
        return opening.session.server.revision
    finally:
        opening.session.end()


# -- of a process ------------------------------------------------------------------------------


def _place(command: Command) -> str:
    """Where the program is, as execve(2) finds it."""
    program = command.argv[0]
    if "/" in program:
        return visible(program)
    return visible(shutil.which(program, path=command.environment.get("PATH")) or program)


def _stdout(session: Session, *, silent_is_fine: bool) -> Iterator[Check]:
    """Tell of what was no message; of nothing at all only where there were messages."""
    noise = session.skipped.sentence().removeprefix("; ").removeprefix("skipped ")
    if noise:
        logs = "write logs to stderr; stdout is for messages, answers with the id of a request"
        advice = session.skipped.advice or logs
        yield checkup.failed("stdout", noise, advice)
    elif silent_is_fine:
        yield checkup.ok("stdout", "messages and nothing else")


def _departure(session: Session, grace: float, interrupts: Interrupts) -> Iterator[Check]:
    """Close the server's input, see whether it leaves by itself, and what it leaves behind."""
    process = unwatched(session.channel)
    assert isinstance(process, Process), "a server on a URL is not ended"
    if process.is_ended:
        return
    session.watcher.waiting("waiting for the server to leave")
    began = time.monotonic()
    has_left = process.end_input()
    seconds = time.monotonic() - began
    left_behind = _left_behind(process, grace, interrupts) if has_left else 0
    yield _leaving(session.end(), grace, has_left=has_left)._replace(seconds=seconds)
    if not has_left:
        yield checkup.skipped("processes", "it did not leave by itself")
    elif not descendants.SUPPORTED:
        yield checkup.skipped("processes", "only Linux tells")
    elif left_behind:
        words = f"{left_behind} left behind by the server, and ended by thrall"
        advice = "end what the server started before it leaves"
        yield checkup.failed("processes", words, advice)
    else:
        yield checkup.ok("processes", "none left behind")


def _leaving(how: str, grace: float, *, has_left: bool) -> Check:
    if has_left and how == _EXITED_WELL:
        return checkup.ok("leaves", "at the end of its input, with status 0")
    if has_left:
        advice = "exit with status 0 at the end of input: nothing went wrong"
        return checkup.warned("leaves", f"at the end of its input, but it {how}", advice)
    advice = "exit at the end of input: clients close it first"
    words = f"not within {grace:g} s of the end of its input (--grace)"
    if how == _KILLED:
        advice += ", and heed SIGTERM, which comes next"
        return checkup.failed("leaves", f"{words}, nor at SIGTERM: it {how}", advice)
    return checkup.warned("leaves", f"{words}; at SIGTERM it {how}", advice)


def _left_behind(process: Process, grace: float, interrupts: Interrupts) -> int:
    """Count what the server started and left, once it had the grace to follow."""
    deadline = time.monotonic() + grace
    while process.helpers() and time.monotonic() < deadline:
        interrupts.pause()
    return process.helpers()
