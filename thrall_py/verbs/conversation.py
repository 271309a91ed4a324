"""Starts a server and opens a session with it, for as long as a verb needs it."""

import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from thrall_py.catalog.recipe import Recipe
from thrall_py.protocol.opening import Opening
from thrall_py.protocol.session import Session
from thrall_py.transport.environment import expanded, inherited, variables
from thrall_py.transport.interrupts import Interrupts
from thrall_py.transport.process import Process
from thrall_py.transport.spawn import Launch
from thrall_py.visible import Quoter, secret_values


class Terms(NamedTuple):
    """How a server is spoken to: seconds, bytes of one message, and the one revision to speak."""

    timeout: float
    start_timeout: float
    grace: float
    max_message: int
    revision: str | None = None


class Start(NamedTuple):
    """A server ready to be started, and what must not be repeated of what it says."""

    launch: Launch
    quote: Quoter


def prepare(recipe: Recipe, given: Mapping[str, str], *, expand: bool) -> Start:
    """Fill in a recipe from our environment and the values `given` on the command line.

    Args:
        recipe: how the server is started.
        given: values by name, which go before those of our environment.
        expand: whether `${NAME}` in the words of the command is filled in.

    Raises:
        InputError: a variable that it needs is not set.

    """
    ours = {**os.environ, **given}
    env = {name: expanded(value, ours) for name, value in recipe.env.items()}
    words = tuple(expanded(word, ours) if expand else word for word in recipe.command)
    secrets = [*env.values(), *secret_values(ours.items())]
    if expand:
        named = (name for word in recipe.command for name in variables(word))
        secrets += [ours[name] for name in named if name in ours]
    launch = Launch(words, inherited(ours, clean=recipe.clean_env) | env, recipe.cwd)
    return Start(launch, Quoter(secrets))


@contextlib.contextmanager
def conversation(
    start: Start, terms: Terms, interrupts: Interrupts, remembered: str | None = None
) -> Iterator[Session]:
    """Open a session; on every way out the server and all that it started is ended.

    Args:
        start: the server.
        terms: deadlines and limits, and the protocol revision unless it is to be found out.
        interrupts: the signals that stop it all.
        remembered: the revision that worked when the server was pinned.

    Raises:
        ThrallError: whatever keeps the server from starting or from opening.

    """

    def begin() -> Session:
        process = Process(start.launch, interrupts, grace=terms.grace, limit=terms.max_message)
        return Session(process, time.monotonic, start.quote)

    opening = Opening(begin, terms.start_timeout)
    try:
        if terms.revision:
            opening.fixed(terms.revision)
        elif remembered:
            opening.remembered(remembered)
        else:
            opening.automatic()
        yield opening.session
    finally:
        opening.session.end()
