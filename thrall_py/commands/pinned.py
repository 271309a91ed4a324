"""How `call` finds a pinned tool, and what a person is told when it is not as pinned.

The server is started as soon as that is found, so what is not needed for it is imported later.
"""

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from thrall_py.catalog import excerpt, file
from thrall_py.catalog.entry import Entry, PinnedItem
from thrall_py.catalog.launch import ExecSpec
from thrall_py.commands.invocation import Invocation, say
from thrall_py.errors import UsageError
from thrall_py.redact import Redactor
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs import connect
from thrall_py.verbs.connect import ConnectionOptions, PreparedServer

if TYPE_CHECKING:
    from thrall_py.catalog.drift import Difference
    from thrall_py.verbs.call import OnResult
    from thrall_py.verbs.items import Item
    from thrall_py.verbs.pinned_call import Callbacks

_MOST_FAULTS = 20


class Pinned(NamedTuple):
    """Where a pinned tool was found: the path of the catalog, and a server in it.

    The entry holds that tool, and not all the others.
    """

    catalog: str
    server: str
    entry: Entry


def find(
    path: str, tool: str, arguments: str, given: "Sequence[Item] | None", *, validate: bool
) -> Pinned | None:
    """Find the server of a pinned tool; None, once it was told why, if the arguments do not fit.

    Args:
        path: the catalog.
        tool: its name with the prefix.
        arguments: the JSON text of its arguments.
        given: the ITEMs that they came from; None if they are not to be looked at.
        validate: whether they are compared with all of the pinned schema.

    Raises:
        CatalogError: the catalog is of no use, or does not have the tool.
        UsageError: an ITEM does not fit, or there is nothing to validate with.
        InputError: the pinned schema is of no use to validate.

    """
    catalog = excerpt.read(path, tool)
    server = file.server_offering(catalog, tool)
    found = Pinned(path, server, catalog.servers[server])
    pinned = found.entry.offered[tool]
    if given is not None:
        _look_at(given, pinned, tool)
    if not validate:
        return found
    from thrall_py.catalog import validation

    faults = list(validation.find_faults(pinned, arguments))
    for fault in faults[:_MOST_FAULTS]:
        say(fault, tool)
    if len(faults) > _MOST_FAULTS:
        say(f"and {len(faults) - _MOST_FAULTS} more faults", tool)
    return None if faults else found


def takes_no_arguments(path: str, tool: str) -> bool:
    """Whether the pinned schema of a tool leaves nothing to be given.

    Raises:
        CatalogError: the catalog is of no use, or does not have the tool.

    """
    from thrall_py.catalog import parameters

    item = file.entry_offering(excerpt.read(path, tool), tool).offered[tool]
    return parameters.are_none(item.definition.get("inputSchema"))


def help_page(path: str, tool: str) -> str:
    """Describe how a pinned tool is called.

    Raises:
        CatalogError: the catalog is of no use, or does not have the tool.

    """
    from thrall_py.output import usage

    item = file.entry_offering(excerpt.read(path, tool), tool).offered[tool]
    return "\n".join(usage.help_page(tool, item, path))


def _look_at(given: "Sequence[Item]", pinned: PinnedItem, tool: str) -> None:
    from thrall_py.verbs import fitting

    fit = fitting.compare(given, pinned.definition.get("inputSchema"))
    for doubt in fit.doubts[:_MOST_FAULTS]:
        say(doubt, tool)
    if fit.faults:
        raise UsageError("; ".join(fit.faults))


@contextlib.contextmanager
def started(
    found: Pinned, connection: ConnectionOptions, interrupts: Interrupts
) -> Iterator[PreparedServer | None]:
    """Start the server of a pinned tool ahead of its session, as `connect.started`.

    Yields:
        The server; None for a plain command, which is started with its input.

    Raises:
        ThrallError: it cannot be started.

    """
    launch = found.entry.launch
    if isinstance(launch, ExecSpec):
        yield None
        return
    prepared = connect.prepare(launch, {}, fill_in=True)
    with connect.started(prepared, connection, interrupts) as server:
        yield server


def callbacks(
    invocation: Invocation, found: Pinned, on_result: "OnResult", *, verify: bool
) -> "Callbacks":
    """Say who is told what: the caller of the answer, the person of what changed."""
    from thrall_py.verbs.pinned_call import Callbacks

    if not verify:
        invocation.note(
            "called without a look at its definition (--unverified)", invocation.subject
        )
        return Callbacks(on_result, None)

    def on_drift(drifted: "list[Difference]", redact: Redactor) -> str:
        from thrall_py.catalog.report import Report
        from thrall_py.commands import differences

        # The sentences begin with the tool, so they need not name it again.
        nameless = [each._replace(tool=None) for each in drifted]
        differences.tell(Report("", "", differences=nameless, redact=redact), invocation.subject)
        again = differences.advice(found.catalog, [found.server])
        return f"{again} (--unverified calls it as it is)"

    return Callbacks(on_result, on_drift)
