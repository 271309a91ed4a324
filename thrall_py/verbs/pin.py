"""`thrall pin`: what a server offers now, as a catalog to be reviewed and committed."""

from typing import NamedTuple

from thrall_py.catalog import entry, file, review
from thrall_py.catalog.recipe import Recipe
from thrall_py.errors import ServerError
from thrall_py.protocol import canonical, mcp, tools
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs.conversation import Start, Terms, conversation
from thrall_py.visible import Quoter


class Pinned(NamedTuple):
    """A server that was asked, and what a person should know before its pin is written."""

    name: str
    entry: entry.Entry
    warnings: list[str]
    quote: Quoter


def ask(recipe: Recipe, start: Start, terms: Terms, interrupts: Interrupts) -> Pinned:
    """Ask a server for everything that is pinned; all of it or a failure.

    Args:
        recipe: how the server is started, as the catalog will say it.
        start: the same, filled in.
        terms: how it is spoken to.
        interrupts: the signals that stop it.

    Raises:
        ThrallError: the server does not open, or its list cannot be pinned.

    """
    with conversation(start, terms, interrupts) as session:
        listed = tools.list_all(session, terms.timeout, terms.max_message)
        server = session.server
    offer = entry.offer(listed, start.quote)
    found = entry.Entry(recipe, server, offer.tools)
    _refuse_secrets(found, start.quote)
    warnings = [
        *offer.oddities,
        *review.of_instructions(server.instructions),
        *review.warnings(offer.tools, start.quote),
    ]
    if not offer.tools:
        warnings.append("the server offers no tools: the pin is empty")
    return Pinned(_name(server, recipe), found, warnings, start.quote)


def write(path: str, pinned: Pinned) -> str:
    """Put the pin into the catalog at `path`, new or not; its text.

    Raises:
        CatalogError: the file is no catalog, or cannot be written.

    """
    catalog = file.read_or_new(path)
    catalog[pinned.name] = pinned.entry
    text = file.dumps(catalog)
    if path != file.STDOUT:
        file.write(path, text)
    return text


def _name(server: mcp.Server, recipe: Recipe) -> str:
    return server.name or recipe.command[0].rpartition("/")[2]


def _refuse_secrets(found: entry.Entry, quote: Quoter) -> None:
    """Let no secret into the file that the server repeats in what it says of itself."""
    for name, pin in found.tools.items():
        if quote.finds(canonical.compact(pin.definition)):
            raise ServerError(
                f"the definition of {quote(name)} repeats a secret of its environment"
            )
    said = f"{found.server.name} {found.server.version} {found.server.instructions or ''}"
    if quote.finds(said):
        raise ServerError(
            "the server repeats a secret of its environment in what it says of itself"
        )
