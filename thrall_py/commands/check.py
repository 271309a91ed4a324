"""`thrall check` on the command line."""

import os
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from thrall_py import errors, options
from thrall_py.commands import watching
from thrall_py.commands.invocation import Invocation, say
from thrall_py.errors import CatalogError, ServerError, UsageError
from thrall_py.options import WatchOptions
from thrall_py.transport import stdio
from thrall_py.verbs.connect import ConnectionOptions
from thrall_py.visible import visible

if TYPE_CHECKING:
    from thrall_py.catalog.report import Report
    from thrall_py.verbs.check import Target

# catalog.change and catalog.machine have the same names; importing them for every verb is too slow.
_CLASSES = ("breaking", "text", "behaviour", "additive", "cosmetic")
_BROKEN = ServerError.exit_status
_FORMATS = ("text", "json", "github", "junit", "sarif")


@click.command(short_help="Compare catalogs with what their servers offer now.")
@click.argument("catalogs", metavar="CATALOG...", nargs=-1, required=True)
@click.option(
    "--allow",
    multiple=True,
    type=click.Choice(_CLASSES),
    metavar="CLASS",
    help="Let a class of differences pass; repeatable.",
)
@click.option(
    "--format",
    "format_",
    envvar="THRALL_CHECK_FORMAT",
    type=click.Choice(_FORMATS),
    default="text",
    metavar="FORMAT",
    help="text, json, github, junit or sarif (text).",
)
@options.jobs
@options.connection
@options.watching
@click.pass_obj
def check(  # noqa: PLR0913 - one for each option of its own
    invocation: Invocation,
    *,
    catalogs: tuple[str, ...],
    allow: tuple[str, ...],
    format_: str,
    jobs: int,
    connection: ConnectionOptions,
    watch: WatchOptions,
) -> int:
    """Ask every server in CATALOG again, and print what is not as it was pinned.

    Differences are breaking, text, behaviour, additive or cosmetic. The status is 1
    with one that is neither allowed nor cosmetic, and that of the failure (4, 124,
    ...) when a server could not be asked.
    """
    from thrall_py.catalog import file, report
    from thrall_py.commands import differences
    from thrall_py.verbs import check as verb

    if invocation.server is not None:
        raise UsageError("check starts the servers that the catalogs name, and no other")
    invocation.need_stdout()
    connection = watching.begin(invocation, watch, connection, files=catalogs)
    targets: list[verb.Target] = []
    for path in catalogs:
        _refuse_server(path, targets)
        pinned = file.read(path)
        if not pinned.servers:
            raise CatalogError(f"{visible(path)} has no servers, so there is nothing to check")
        allowed = frozenset((*allow, *pinned.allow))
        targets += [verb.Target(path, *each, allowed) for each in pinned.servers.items()]
    reports = []
    with invocation.ready() as interrupts:
        for each in verb.check_all(targets, connection, jobs, interrupts):
            reports.append(each)
            for note in each.notes:
                invocation.note(note, each.server)
            if each.failure is not None:
                say(each.failure, each.server)
            if format_ == "text":
                heading = report.heading(each, with_catalog=len(catalogs) > 1)
                differences.show(each, heading, interrupts)
        if format_ != "text":
            from thrall_py.catalog import machine

            stdio.write([machine.FORMATS[format_](reports).encode()], interrupts)
    _advise(invocation, reports)
    broken = [(each.catalog, each.server) for each in reports if each.status == _BROKEN]
    _point_to_doctor(invocation, broken)
    # "Could not check" goes before any verdict on the rest.
    failed = next((each.status for each in reports if each.failure is not None), None)
    if failed is not None:
        return failed
    drifted = any(each.has_drifted for each in reports)
    return errors.ANSWER_IS_NO if drifted else errors.ANSWERED


def _refuse_server(path: str, targets: Sequence["Target"]) -> None:
    """Refuse the name of a server in the place of a catalog, as other verbs take it."""
    owner = next((each.catalog for each in targets if each.name == path), None)
    if owner is not None and not os.path.exists(path):
        raise UsageError(
            f"{visible(path)} is a server of {visible(owner)} and no catalog: leave it out, check"
            " asks all servers of a catalog"
        )


def _advise(invocation: Invocation, reports: Sequence["Report"]) -> None:
    """Tell for each catalog what to do about the servers that have drifted."""
    from thrall_py.commands import differences

    drifted: dict[str, list[str]] = {}
    for each in reports:
        if each.has_drifted:
            drifted.setdefault(each.catalog, []).append(each.server)
    for path, names in drifted.items():
        invocation.note(differences.advice(path, names))


def _point_to_doctor(invocation: Invocation, broken: list[tuple[str, str]]) -> None:
    """Tell a person at a terminal what looks at servers that failed; once, by the first."""
    if broken and os.isatty(2):
        catalog, server = broken[0]
        words = ["thrall", "doctor", "--catalog", catalog, server]
        invocation.note(f"to see what is wrong with it: {visible(shlex.join(words))}", server)
