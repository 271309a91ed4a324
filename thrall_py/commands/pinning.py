"""One run of `thrall pin`: ask, compare, perhaps ask the person, write."""

import functools
import os
from collections.abc import Sequence
from typing import NamedTuple

from thrall_py import errors
from thrall_py.catalog import file, filing, report
from thrall_py.catalog.filing import Filed
from thrall_py.catalog.launch import ExecSpec
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

Pin = tuple[Found, Filed]


class Stored(NamedTuple):
    """What became of the servers that were found, and the catalog with them as text."""

    pins: list[Pin]
    refused: list[Failed]
    text: str
    is_held: bool  # not written, because a person is to be asked


def run(invocation: Invocation, wanted: PinOptions, connection: ConnectionOptions) -> int:
    """Pin what the options ask for; the exit status."""
    if wanted.catalog == file.STDOUT or wanted.dry_run:
        invocation.need_stdout()
    # What cannot be written is refused before anything is started.
    catalog = file.read_for_update(wanted.catalog)
    targets, failed = pin_targets.choose(invocation, wanted, catalog)
    asks = _may_ask(wanted)
    invocation.subject = wanted.catalog
    with invocation.ready() as interrupts:
        results = [*failed, *verb.pin_all(targets, connection, wanted.jobs, interrupts)]
        interrupts.poll()
        interrupts.check()  # a signal during the teardown: nothing is written then
        found = [result for result in results if isinstance(result, Found)]
        failed = [result for result in results if isinstance(result, Failed)]
        stored = _store(wanted, found, interrupts, asks=asks)
        failed += stored.refused
        for failure in failed:
            say(failure.sentence, failure.name or wanted.catalog)
        _tell(stored, wanted, invocation)
        _print(stored, wanted, interrupts)
        changed = [filed for _, filed in stored.pins if filed.is_changed]
        refused = stored.is_held and not _ask(changed, interrupts)
        if stored.is_held and not refused:
            _store(wanted, found, interrupts, asks=False, shown=stored.text)
    if (changed or (failed and stored.pins)) and not wanted.dry_run:
        _tell_outcome(invocation, wanted, len(stored.pins), len(failed), refused=refused)
    if failed:
        return failed[0].status
    return errors.ANSWER_IS_NO if refused or (wanted.dry_run and changed) else errors.ANSWERED


def _may_ask(wanted: PinOptions) -> bool:
    """Whether a person is to be asked before an earlier pin is changed.

    Raises:
        UsageError: it would be necessary, and nobody is there.

    """
    if wanted.yes or wanted.dry_run or wanted.catalog == file.STDOUT:
        return False
    is_person = os.isatty(0) and os.isatty(2)
    if wanted.update and not is_person:
        raise UsageError("--update asks before it writes: say --yes, or --dry-run to look only")
    return is_person


def _ask(changed: Sequence[Filed], interrupts: Interrupts) -> bool:
    """Ask the person, who may have seen a long report, or have it in a file."""
    differences = [each for filed in changed for each in filed.differences]
    again = any(filed.relaunch for filed in changed)
    what = report.counted(differences, is_relaunched=again)
    return stdio.ask(f"{what}: write this to the catalog?", interrupts)


def _tell_outcome(
    invocation: Invocation, wanted: PinOptions, pinned: int, failed: int, *, refused: bool
) -> None:
    """Tell whether the catalog was written, and how much of what was wanted."""
    part = f", {pinned} of {pinned + failed} servers" if failed else ""
    invocation.note("nothing was written" if refused else f"written{part}", wanted.catalog)


def _store(
    wanted: PinOptions,
    found: Sequence[Found],
    interrupts: Interrupts,
    *,
    asks: bool,
    shown: str | None = None,
) -> Stored:
    """Put what was found into the catalog, and that into its file, unless a person is to be asked.

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
        is_held = asks and any(
            filed.matters or (filed.is_changed and wanted.update) for _, filed in pins
        )
        if pins and not (is_held or wanted.dry_run or path == file.STDOUT):
            file.write(path, text)
    return Stored(pins, refused, text, is_held)


def _tell(stored: Stored, wanted: PinOptions, invocation: Invocation) -> None:
    """Tell on stderr what was pinned, or would be."""
    if invocation.is_quiet:
        return
    for found, each in stored.pins:
        tell = functools.partial(say, about=each.name)
        elsewhere = found.elsewhere if each.is_new or each.relaunch else ()
        odd = each._replace(warnings=[*found.oddities, *elsewhere, *each.warnings])
        occasion = _occasion(stored, wanted, each)
        listing.tell(odd, found.redact, tell, occasion=occasion, terminal=is_styled(2))
        if found.target.given and wanted.source is not None:
            names = ", ".join(f"${{{name}}}" for name in found.target.given)
            tell(f"secrets of the file are left out: set {names} for check and call")


def _occasion(stored: Stored, wanted: PinOptions, filed: Filed) -> Occasion:
    if wanted.dry_run:
        return Occasion.DRY_RUN
    if wanted.update or (stored.is_held and filed.is_changed):
        return Occasion.UPDATE
    if stored.is_held:
        return Occasion.HELD
    return Occasion.COMMAND if isinstance(filed.entry.launch, ExecSpec) else Occasion.PIN


def _print(stored: Stored, wanted: PinOptions, interrupts: Interrupts) -> None:
    """Print what the pins change, or the catalog itself."""
    if wanted.catalog == file.STDOUT and not wanted.dry_run:
        stdio.write([stored.text.encode()], interrupts)
        return
    if wanted.dry_run:
        new = [Shown(each.name, each.entry, it.redact) for it, each in stored.pins if each.is_new]
        servers.show(new, interrupts)
    for found, each in stored.pins:
        if each.differences or each.relaunch:
            changes = report.Report(
                wanted.catalog,
                each.name,
                differences=each.differences,
                redact=found.redact,
                relaunch=each.relaunch,
            )
            differences.show(changes, report.heading(changes), interrupts)
