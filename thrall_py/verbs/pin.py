"""`thrall pin`: what servers offer now, as a catalog to be reviewed and committed."""

import functools
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from thrall_py.catalog import credentials
from thrall_py.catalog.entry import SURFACE, Entry, command_entry, pin_item
from thrall_py.catalog.filing import Wishes
from thrall_py.catalog.launch import EntrySpec, ExecSpec, ServerSpec, UrlSpec
from thrall_py.errors import InputError, ThrallError
from thrall_py.protocol.jsontext import Json, JsonError
from thrall_py.protocol.user import declaring
from thrall_py.redact import Redactor, holds_secret
from thrall_py.transport import spawn, workers
from thrall_py.transport.endpoint import Command, Endpoint
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs import whereabouts
from thrall_py.verbs.connect import ConnectionOptions, PreparedServer, prepare
from thrall_py.verbs.sessions import open_session
from thrall_py.verbs.survey import survey
from thrall_py.visible import visible


class Target(NamedTuple):
    """A server to be pinned, or a plain command.

    Attributes:
        launch: how it is started or reached, as the catalog will say it.
        given: values for its variables that are not in our environment.
        wishes: how it is filed.
        surface: what is looked at.
        allow_literal: whether words that look like credentials may be stored.
        remembered: the revision to open with, where an earlier pin tells the era.
        name: what it is called in the catalog; None as long as it has not said its own name.
        modes: the modes of elicitation that are declared, for servers that list tools by that.
        source: the configuration file that names it, where one does.
        definition: of the tool that a plain command is; a server is asked.

    """

    launch: EntrySpec
    given: Mapping[str, str]
    wishes: Wishes
    surface: tuple[str, ...] = SURFACE
    allow_literal: bool = False
    remembered: str | None = None
    name: str | None = None
    modes: tuple[str, ...] = ()
    source: str | None = None
    definition: dict[str, Json] | None = None


class Found(NamedTuple):
    """What a server offers, and what a person should know.

    Attributes:
        target: that was asked.
        entry: what it offers.
        oddities: what was odd about its lists, or why a plain command could not be called now.
        redact: makes its words fit to be repeated.
        elsewhere: what about its command means something else in another directory.

    """

    target: Target
    entry: Entry
    oddities: list[str]
    redact: Redactor
    elsewhere: Sequence[str] = ()


class Failed(NamedTuple):
    """A server that could not be pinned: the failure in a sentence, and the status it earns."""

    name: str | None  # that it would have had, if that is known
    sentence: str
    status: int


def pin_server(target: Target, connection: ConnectionOptions, interrupts: Interrupts) -> Found:
    """Ask a server for everything that is pinned; all of it or a failure.

    A plain command is not started: all that there is to know of it was given.

    Args:
        target: the server.
        connection: how it is spoken to.
        interrupts: the signals that stop it.

    Raises:
        InputError: its words do not belong in a catalog; it was not started.
        ThrallError: the server does not open, or its lists cannot be pinned.

    """
    launch = target.launch
    spec = launch.run if isinstance(launch, ExecSpec) else launch
    words = "the server's command" if spec is launch else "the command"
    if not target.allow_literal:
        _refuse_credentials(spec, words, target.source)
    server = prepare(spec, target.given, fill_in=True)
    _refuse_known_secrets(spec, words, target.given, server)
    command = server.command
    elsewhere = [] if isinstance(command, Endpoint) else list(whereabouts.remarks(command))
    if isinstance(launch, ExecSpec):
        assert isinstance(command, Command), "it has no URL"
        found = _entry_of(launch, target.definition)
        return Found(target, found, _missing(command), server.redact, elsewhere)
    connection = connection._replace(user=declaring(target.modes, connection.user))
    with open_session(server, connection, interrupts, target.remembered) as session:
        if session.find_out:  # what it says of itself is pinned, too
            session.find_out()
        live = survey(session, target.surface, connection, server.redact)
    found = Entry(launch, live.server, live.items, target.surface, modes=target.modes)
    return Found(target, found, live.oddities, server.redact, elsewhere)


def pin_all(
    targets: Sequence[Target], connection: ConnectionOptions, jobs: int, interrupts: Interrupts
) -> Iterator[Found | Failed]:
    """Ask servers side by side, in their order; one that fails does not keep the others.

    Args:
        targets: the servers.
        connection: how they are spoken to.
        jobs: how many at a time.
        interrupts: the signals that stop it.

    """

    def task(target: Target, own: Interrupts) -> Found | Failed:
        try:
            return pin_server(target, connection._replace(subject=_shown(target)), own)
        except ThrallError as problem:
            return Failed(target.name, str(problem), problem.exit_status)

    def asking(places: Sequence[int]) -> None:
        connection.audience.asking([_shown(targets[place]) for place in places])

    tasks = [functools.partial(task, target) for target in targets]
    for result in workers.run_all(tasks, jobs, interrupts, asking):
        asking(())
        yield result


def _shown(target: Target) -> str:
    """Name a server before it has said its name."""
    if target.name:
        return target.name
    launch = target.launch
    return "the server" if isinstance(launch, UrlSpec) else launch.program


def _entry_of(command: ExecSpec, definition: dict[str, Json] | None) -> Entry:
    assert definition is not None, "a plain command comes with one"
    try:
        item = pin_item(definition)
    except JsonError as problem:
        raise InputError(f"the schema cannot be kept: {problem}") from None
    return command_entry(command, {item.text("name"): item})


def _missing(command: Command) -> list[str]:
    """Why a plain command could not be started now, if so: it may be there later."""
    try:
        spawn.look_for(command)
    except ThrallError as problem:
        return [f"{problem}, so it cannot be called yet"]
    return []


def _refuse_credentials(spec: ServerSpec, words: str, source: str | None) -> None:
    """Let nothing into a catalog that looks like a credential.

    `words` says what has an argv; a configuration file, `source`, is where to mend it.
    """
    if isinstance(spec, UrlSpec):
        found = [
            (f"the header {visible(name)}", how if source else _header(name, how))
            for name, how in credentials.find_in_headers(spec.headers)
        ]
        found += [("the URL", how) for _, how in credentials.find([spec.url])]
    else:
        found = [(f"word {place} of {words}", how)
                 for place, how in credentials.find(spec.command)]  # fmt: skip
        found += [
            (f"the variable {visible(name)}", shlex.quote(f"${{{visible(name)}}}"))
            for name, value in spec.env.items()
            if any(credentials.find([f"{name}={value}"]))
        ]
    for what, how in found:
        raise InputError(
            f"{what} looks like a credential, which does not belong in a catalog:"
            f" write {how}{f' in {visible(source)}' if source else ''} and set the variable,"
            " or say --allow-literal"
        )


def _header(name: str, value: str) -> str:
    """Say how a header is written, on the command line and in a file."""
    line = shlex.quote(f"{visible(name)}: {value}")
    scheme, _, variable = value.partition(" ")
    if (name.lower(), scheme.lower()) != ("authorization", "bearer"):
        return line
    return f"{line} (or --bearer-env {variable.strip('${}')})"


def _refuse_known_secrets(
    spec: ServerSpec, words: str, given: Mapping[str, str], server: PreparedServer
) -> None:
    """Let no value of a secret variable into a catalog; a literal of a URL is its own affair."""
    redact = server.redact
    if isinstance(spec, UrlSpec):
        values = {**os.environ, **given}.items()
        redact = Redactor(value for name, value in values if holds_secret(name, value))
        held = [("the URL", spec.url)]
        held += [(f"the header {visible(name)}", value) for name, value in spec.headers.items()]
    else:
        held = [(f"word {place} of {words}", word)
                 for place, word in enumerate(spec.command, 1)]  # fmt: skip
    for what, word in held:
        if redact.leaks(word):
            raise InputError(
                f"{what} holds the value of a secret variable in clear:"
                " write ${NAME} in its place"
            )
