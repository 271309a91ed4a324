"""One run of `thrall doctor`: each check is shown as it is made, or all of them as JSON."""

import contextlib
import os

from thrall_py import errors
from thrall_py.catalog.launch import ServerSpec, UrlSpec
from thrall_py.commands.invocation import Invocation, say
from thrall_py.output import checkup
from thrall_py.output.checkup import Check, Checks, Outcome
from thrall_py.transport import stdio
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs import doctor
from thrall_py.verbs.connect import ConnectionOptions, PreparedServer

# The status of a check that failed, where the next step is not to look at the server.
_STATUSES = {
    "found": errors.ProgramNotFoundError.exit_status,
    "started": errors.CannotExecuteError.exit_status,
    "authorised": errors.UnauthorizedError.exit_status,
}


def run(
    invocation: Invocation,
    spec: ServerSpec,
    server: PreparedServer,
    connection: ConnectionOptions,
    *,
    as_json: bool,
) -> int:
    """Examine a server and print the report; the exit status, that of the first failure."""
    checks = []
    connection = connection._replace(subject=spec.program)
    with invocation.ready() as interrupts:
        steps = _steps(spec, server, connection, interrupts)
        with contextlib.closing(steps):  # which ends the server if the report cannot be written
            for check in steps:
                checks.append(check)
                if not as_json and check.words != checkup.UNREACHED:
                    connection.audience.asking(())
                    _show(check, interrupts)
        connection.audience.asking(())
        end = checkup.as_json(checks) if as_json else f"{checkup.summary(checks)}\n"
        stdio.write([end.encode()], interrupts)
    failed = [check.name for check in checks if check.outcome is Outcome.FAILED]
    if not failed:
        return errors.ANSWERED
    say(f"failed: {', '.join(failed)}", spec.program)
    return _STATUSES.get(failed[0], errors.ServerError.exit_status)


def _steps(
    spec: ServerSpec, server: PreparedServer, connection: ConnectionOptions, interrupts: Interrupts
) -> Checks:
    if isinstance(spec, UrlSpec):
        from thrall_py.verbs import doctor_url  # which loads HTTP

        return doctor_url.examine_url(spec, server, connection, interrupts)
    return doctor.examine_process(spec, server, connection, interrupts)


def _show(check: Check, interrupts: Interrupts) -> None:
    if os.isatty(1):
        from thrall_py.output import pretty

        pretty.print_check(check)
    else:
        stdio.write((f"{line}\n".encode() for line in checkup.lines(check)), interrupts)
