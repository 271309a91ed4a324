"""One run of `thrall pin`: ask, compare, perhaps ask the person, write."""

import functools
import os
from collections.abc import Sequence
from typing import NamedTuple

from thrall_py import errors
from thrall_py.catalog import file, filing, report
from thrall_py.catalog.drift import Difference
from thrall_py.commands import differences, pin_targets, servers
from thrall_py.commands.invocation import Invocation, is_styled, say
from thrall_py.commands.pin_targets import PinOptions
from thrall_py.errors import CatalogError, ThrallError, UsageError
from thrall_py.output import listing
from thrall_py.output.listing import Occasion
from thrall_py.output.usage import Shown
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
    if wanted.catalog == file.STDOUT or wanted.dry_run:
        invocation.need_stdout()
    # What cannot be written is refused before anything is started.
    catalog = file.read_for_update(wanted.catalog)
    targets, failed = pin_targets.choose(invocation, wanted, catalog)
    asks = wanted.update and not (wanted.yes or wanted.dry_run)
    if asks and not (os.isatty(0) and os.isatty(2)):
        raise UsageError("--update asks before it writes: say --yes, or --dry-run to look only")
    invocation.subject = wanted.catalog
    with invocation.ready() as interrupts:
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
        _print(stored, wanted, interrupts)
        changes = [change for _, filed in stored.pins for change in filed.differences]
        refused = asks and changes and not _ask(changes, interrupts)
        if asks and stored.pins and not refused:
            _store(wanted, found, interrupts, write=True, shown=stored.text)
    if changes and not wanted.dry_run:
        invocation.note("nothing was written" if refused else "written", wanted.catalog)
    if failed:
        return failed[0].status
    return errors.ANSWER_IS_NO if refused or (wanted.dry_run and changes) else errors.ANSWERED


def _ask(changes: Sequence[Difference], interrupts: Interrupts) -> bool:
    """Ask the person, who may have seen a long report, or have it in a file."""
    return stdio.ask(f"{report.tally(changes)}: write this to the catalog?", interrupts)


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
            try:
                filed = filing.add(catalog, each.entry, each.target.wishes, each.redact)
                pins.append((each, filed))
            except ThrallError as problem:
                refused.append(Failed(each.target.name, str(problem), problem.exit_status))
        text = file.dumps(catalog) if pins else ""
        if shown not in (None, text):
            raise CatalogError("the catalog was changed meanwhile, so nothing was written")
        if pins and write and path != file.STDOUT:
            file.write(path, text)
    return Stored(pins, refused, text)


def _tell(stored: Stored, wanted: PinOptions, invocation: Invocation) -> None:
    """Tell on stderr what was pinned, or would be."""
    if invocation.is_quiet:
        return
    occasion = Occasion.UPDATE if wanted.update else Occasion.PIN
    if wanted.dry_run:
        occasion = Occasion.DRY_RUN
    for found, each in stored.pins:
        tell = functools.partial(say, about=each.name)
        odd = each._replace(warnings=[*found.oddities, *each.warnings])
        listing.tell(odd, found.redact, tell, occasion=occasion, terminal=is_styled(2))
        if found.target.given and wanted.source is not None:
            names = ", ".join(f"${{{name}}}" for name in found.target.given)
            tell(f"secrets of the file are left out: set {names} for check and call")


def _print(stored: Stored, wanted: PinOptions, interrupts: Interrupts) -> None:
    """Print what the pins change, or the catalog itself."""
    if wanted.catalog == file.STDOUT and not wanted.dry_run:
        stdio.write([stored.text.encode()], interrupts)
        return
    if wanted.dry_run:
        new = [Shown(each.name, each.entry, it.redact) for it, each in stored.pins if each.is_new]
        servers.show(new, interrupts)
    for found, each in stored.pins:
        if each.differences:
            changes = report.Report(
                wanted.catalog, each.name, differences=each.differences, redact=found.redact
            )
            differences.show(changes, report.heading(changes), interrupts)
