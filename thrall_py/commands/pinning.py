"""One run of `thrall pin`: ask, compare, perhaps ask the person, write."""

import functools
import os
from collections.abc import Sequence
from typing import NamedTuple

from thrall_py import errors
from thrall_py.catalog import file, filing, report
from thrall_py.catalog.launch import ExecSpec
from thrall_py.commands import differences, pin_targets
from thrall_py.commands.invocation import Invocation, is_styled, say
from thrall_py.commands.pin_targets import PinOptions
from thrall_py.errors import CatalogError, ThrallError, UsageError
from thrall_py.output import listing
from thrall_py.transport import stdio
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs import pin as verb
from thrall_py.verbs.connect import ConnectionOptions
from thrall_py.verbs.pin import Failed, Found

Pin = tuple[Found, filing.Filed]


class Stored(NamedTuple):
    """What became of the servers that were found, and the catalog with them as text."""

    pins: list[Pin]
    refused: list[Failed]
    text: str


def run(invocation: Invocation, wanted: PinOptions, connection: ConnectionOptions) -> int:
    """Pin what the options ask for; the exit status."""
    if wanted.catalog == file.STDOUT:
        invocation.need_stdout()
    # What cannot be written is refused before anything is started.
    catalog = file.read_for_update(wanted.catalog)
    targets, failed = pin_targets.choose(invocation, wanted, catalog)
    asks = wanted.update and not (wanted.yes or wanted.dry_run)
    if asks and not (os.isatty(0) and os.isatty(2)):
        raise UsageError("--update asks before it writes: say --yes, or --dry-run to look only")
    invocation.subject = wanted.catalog
    with invocation.interrupts as interrupts:
        results = [*failed, *verb.pin_all(targets, connection, wanted.jobs, interrupts)]
        interrupts.poll()
        interrupts.check()  # a signal during the teardown: nothing is written then
        found = [result for result in results if isinstance(result, Found)]
        failed = [result for result in results if isinstance(result, Failed)]
        stored = _store(wanted, found, interrupts, write=not (asks or wanted.dry_run))
        failed += stored.refused
        for failure in failed:
            say(failure.sentence, failure.name or wanted.catalog)
        _tell(stored, wanted, invocation)
        changed = any(filed.differences for _, filed in stored.pins)
        refused = asks and changed and not stdio.ask("write this to the catalog?", interrupts)
        if asks and stored.pins and not refused:
            _store(wanted, found, interrupts, write=True, shown=stored.text)
    if failed:
        return failed[0].status
    return errors.ANSWER_IS_NO if refused or (wanted.dry_run and changed) else errors.ANSWERED


def _store(
    wanted: PinOptions,
    found: Sequence[Found],
    interrupts: Interrupts,
    *,
    write: bool,
    shown: str | None = None,
) -> Stored:
    """Put what was found into the catalog, and the catalog into its file if that is wanted.

    Raises:
        CatalogError: it is not what was `shown`, since somebody changed it meanwhile.

    """
    path = wanted.catalog
    pins, refused = [], []
    with file.lock(path, interrupts.pause):
        catalog = file.read_for_update(path)
        for each in found:
            wishes = each.target.wishes
            try:
                pins.append((each, filing.add(catalog, each.entry, wishes, each.redact)))
            except ThrallError as problem:
                refused.append(Failed(wishes.name, str(problem), problem.exit_status))
        text = file.dumps(catalog) if pins else ""
        if shown not in (None, text):
            raise CatalogError("the catalog was changed meanwhile, so nothing was written")
        if pins and write and path != file.STDOUT:
            file.write(path, text)
    return Stored(pins, refused, text)


def _tell(stored: Stored, wanted: PinOptions, invocation: Invocation) -> None:
    """Tell on stderr what was pinned, and print what that changes, or the catalog itself."""
    for found, each in stored.pins:
        if invocation.is_quiet:
            break
        tell = functools.partial(say, about=each.name)
        odd = each._replace(warnings=[*found.oddities, *each.warnings])
        is_command = isinstance(each.entry.launch, ExecSpec)  # which gives no hints
        rows = 0 if wanted.update or is_command else listing.MOST_TOOLS
        listing.tell(odd, found.redact, tell, rows=rows, terminal=is_styled(2))
        if found.target.given and wanted.source is not None:
            names = ", ".join(f"${{{name}}}" for name in found.target.given)
            tell(f"secrets of the file are left out: set {names} for check and call")
    if wanted.catalog == file.STDOUT and not wanted.dry_run:
        stdio.write([stored.text.encode()], invocation.interrupts)
        return
    for found, each in stored.pins:
        changes = report.Report(
            wanted.catalog, each.name, differences=each.differences, redact=found.redact
        )
        heading = report.heading(changes) if len(stored.pins) > 1 and each.differences else ""
        differences.show(changes, heading, invocation.interrupts)
