"""`thrall unpin` on the command line."""

import click

from thrall_py import errors
from thrall_py.commands.invocation import Invocation, say
from thrall_py.errors import UsageError


@click.command(short_help="Remove servers from a catalog.")
@click.argument("catalog")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.pass_obj
def unpin(invocation: Invocation, *, catalog: str, names: tuple[str, ...]) -> int:
    """Remove the servers NAME from CATALOG; nothing is started.

    All of them are removed, or none.
    """
    from thrall_py.catalog import file

    if invocation.server is not None:
        raise UsageError("unpin starts no server")
    with invocation.interrupts as interrupts:
        with file.lock(catalog, interrupts.pause):
            pinned = file.read(catalog, may_be_edited=True)
            invocation.subject = catalog
            removed = {name: file.entry_of(pinned, name) for name in names}
            servers = {key: each for key, each in pinned.servers.items() if key not in removed}
            file.write(catalog, file.dumps(pinned._replace(servers=servers)))
        for name, entry in removed.items():
            say(f"removed, with {entry.counted}", name)
    return errors.ANSWERED
