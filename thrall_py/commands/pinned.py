"""How `call` finds a pinned tool, and what a person is told when it is not as pinned."""

from thrall_py.catalog import file
from thrall_py.catalog.drift import Difference
from thrall_py.catalog.entry import Entry
from thrall_py.catalog.report import Report
from thrall_py.commands import differences
from thrall_py.commands.invocation import say
from thrall_py.redact import Redactor
from thrall_py.verbs.call import Call, OnResult
from thrall_py.verbs.pinned_call import Callbacks

_MOST_FAULTS = 20


def find(path: str, wanted: Call, *, validate: bool) -> Entry | None:
    """Find the server of a pinned tool; None, once it was told why, if the arguments do not fit.

    Raises:
        CatalogError: the catalog is of no use, or does not have the tool.
        UsageError, InputError: there is nothing to validate with.

    """
    entry = file.entry_offering(file.read(path), wanted.tool)
    if not validate:
        return entry
    from thrall_py.catalog import validation

    faults = list(validation.find_faults(entry.offered[wanted.tool], wanted.arguments))
    for fault in faults[:_MOST_FAULTS]:
        say(fault, wanted.tool)
    if len(faults) > _MOST_FAULTS:
        say(f"and {len(faults) - _MOST_FAULTS} more faults", wanted.tool)
    return None if faults else entry


def callbacks(tool: str, on_result: OnResult, *, verify: bool) -> Callbacks:
    """Say who is told what: the caller of the answer, the person of what changed."""
    if not verify:
        say("called without a look at its definition (--unverified)", tool)
        return Callbacks(on_result, None)

    def on_drift(found: list[Difference], redact: Redactor) -> None:
        differences.tell(Report("", "", differences=found, redact=redact), tool)

    return Callbacks(on_result, on_drift)
