"""`thrall pin` on the command line."""

import functools
import os
import time

import click

from thrall_py import errors, options
from thrall_py.commands.invocation import Invocation, say
from thrall_py.errors import InputError
from thrall_py.options import ServerOptions
from thrall_py.transport import stdio
from thrall_py.verbs.connect import ConnectionOptions, PreparedServer

_LOCK_PAUSE = 0.01  # seconds between two tries to get the catalog for oneself


@click.command(short_help="Write what a server offers to a catalog.")
@click.argument("catalog")
@click.option("--name", metavar="NAME", help="File the server under NAME, not its own.")
@click.option("--prefix", metavar="PREFIX", help="Call its tools by PREFIX and name.")
@click.option("--dry-run", is_flag=True, help="Show what would change; write nothing.")
@click.option("--allow-literal", is_flag=True, help="Store words that look like credentials.")
@options.server_options
@options.connection
@click.pass_obj
def pin(  # noqa: PLR0913 - one for each option of its own
    invocation: Invocation,
    *,
    catalog: str,
    name: str | None,
    prefix: str | None,
    dry_run: bool,
    allow_literal: bool,
    server_options: ServerOptions,
    connection: ConnectionOptions,
) -> int:
    """Ask a server for what it offers and write that to CATALOG (- for stdout).

    \b
    thrall pin CATALOG -- SERVER [ARG]...
    ${NAME} in the server's words is filled in from the environment, and stays
    ${NAME} in the catalog. What changed about an earlier pin is printed.
    """  # noqa: D301 - click's mark against wrapping
    from thrall_py.catalog import file, report
    from thrall_py.output import listing
    from thrall_py.verbs import arguments
    from thrall_py.verbs import pin as verb

    command = invocation.server_argv()
    for word in (*command, server_options.cwd or "", name or "", prefix or ""):
        arguments.decode_argument(word)  # what is not UTF-8 cannot be stored
    if catalog == file.STDOUT:
        invocation.need_stdout()
    file.read_for_update(catalog)  # what cannot be written is refused before anything is started
    if not allow_literal:
        _refuse_credentials(command)
    server = server_options.prepare(command, fill_in=True)
    _refuse_known_secrets(command, server)
    invocation.subject = catalog
    with invocation.interrupts as interrupts:
        naming = verb.Naming(name, prefix)
        launch = server_options.launch_spec(command)
        pinned = verb.pin_server(launch, naming, server, connection, interrupts)
        interrupts.poll()
        interrupts.check()  # a signal during the teardown: nothing is written then

        def wait() -> None:
            time.sleep(_LOCK_PAUSE)
            interrupts.poll()
            interrupts.check()

        with file.lock(catalog, wait):
            update = verb.update(catalog, pinned)
            if catalog != file.STDOUT and not dry_run:
                file.write(catalog, update.text)
        tell = functools.partial(say, about=pinned.name)
        listing.tell(pinned.entry, pinned.warnings, pinned.redact, tell, terminal=os.isatty(2))
        changes = report.Report(
            catalog, pinned.name, (), update.differences, frozenset(), [], None, 0, pinned.redact
        )
        lines = [f"{line}\n" for line in report.describe_differences(changes)]
        if catalog == file.STDOUT and not dry_run:
            lines = [update.text]
        stdio.write((line.encode() for line in lines), interrupts)
    return errors.ANSWER_IS_NO if dry_run and update.differences else errors.ANSWERED


def _refuse_credentials(command: tuple[str, ...]) -> None:
    from thrall_py.catalog import credentials

    for place, spelling in credentials.find(command):
        raise InputError(
            f"word {place} behind -- looks like a credential, which does not belong into a catalog:"
            f" write '{spelling}' and set the variable, or say --allow-literal"
        )


def _refuse_known_secrets(command: tuple[str, ...], server: PreparedServer) -> None:
    for place, word in enumerate(command, 1):
        if server.redact.leaks(word):
            raise InputError(
                f"word {place} behind -- holds the value of a secret variable in clear:"
                " write ${NAME} in its place"
            )
