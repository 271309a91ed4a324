"""What a run of the command has to do: the vocabulary of the tables in `expected/`.

A pattern is a regular expression that is searched for.
"""

import importlib
from dataclasses import dataclass, field

THEMES = (
    "eras",
    "lines",
    "bytestream",
    "envelopes",
    "asking",
    "dying",
    "stopping",
    "listing",
    "results",
    "rounds",
)
ECHO = '{"text":"hi"}\n'
GOOD_TOOLS = ("echo", "raw", "fail", "whoami")


@dataclass(frozen=True, kw_only=True)
class Want:
    """What one run has to do."""

    status: tuple[int, ...] = (0,)  # those that are right, the best one first
    # stdout of `call` with status 0 or 1
    out: str | None = None
    out_json: str | None = None  # token for token
    out_has: tuple[str, ...] = ()
    out_lines: int | None = None
    out_bytes: int | None = None
    # stderr, without the server's own lines
    says: tuple[str, ...] = ()  # when the status is neither 0 nor 1
    warns: tuple[str, ...] = ()  # when it is
    skipped: str | None = None  # the first line that was skipped, on failure
    tells: tuple[str, ...] = ()  # in stdout and stderr together
    never: tuple[str, ...] = ()  # in neither
    server_says: tuple[str, ...] = ()  # whole lines that the server writes and that pass through
    # time, in seconds, and memory
    within: float = 8.0
    at_least: float | None = None  # with status 124
    lead: float | None = None  # between the last byte on stdout and the end
    megabytes: int | None = None  # resident at most
    # the traffic
    calls: int = 1  # so many tools/call at most
    cancels: bool = False  # with status 124: notifications/cancelled with the id of the call
    replies: dict[str, object] = field(default_factory=dict)  # method: an error code, or a result
    no_replies: bool = False
    sends: tuple[str, ...] = ()  # methods
    never_sends: tuple[str, ...] = ()  # beginnings of methods
    logs: tuple[str, ...] = ()  # events that the server gets to
    never_logs: tuple[str, ...] = ()
    input: bytes = b'{"text":"hi"}'
    # the catalog, after `pin`
    has: tuple[str, ...] = ()
    has_not: tuple[str, ...] = ()
    again: str = "same"  # bytes that a second pin writes: "same", "differs" or "any"
    pins: int = 2  # how many pins in all


FINE = Want()
ANSWERED = Want(out=ECHO)
PINNED = Want(has=GOOD_TOOLS)


@dataclass(frozen=True, kw_only=True)
class Case:
    """The runs of one server, and how they are made. None: there is no such run."""

    call: Want | None = ANSWERED
    pin: Want | None = None
    check: Want | None = FINE
    old_check: Want | None = None  # check after a pin that failed: the catalog is an older one
    json: str | None = None  # what `call --json` prints
    json_bytes: int | None = None
    timeout: float = 20
    start_timeout: float = 30
    grace: float | None = None
    env: dict[str, str] = field(default_factory=dict)
    server_env: dict[str, str] = field(default_factory=dict)  # given with --env
    state: bool = False  # pin and check share a ZOO_STATE
    listener: bool = False  # nobody may connect to ZOO_REF


def answers(*, json=None, **want):
    """Make the case of a server that differs in its answer to a call only."""
    return Case(call=Want(**want), json=json)


def broken_answer(*, timeout=5, **want):
    """Make the case of an answer that cannot be used: it fails at once, not at the timeout."""
    want = {"status": (4,), "within": 4.0, **want}
    return Case(call=Want(**want), timeout=timeout)


def same_for_all(*, status, run=None, **want):
    """Make the case of a server that fails before it could serve anything."""
    failed = Want(status=status, **want)
    # What the older catalog remembers may be tried first, so the traffic differs there.
    old_check = Want(status=status, server_says=failed.server_says, within=failed.within + 4)
    return Case(call=failed, pin=failed, old_check=old_check, **(run or {}))


def unlisted(*, status=(4,), call=ANSWERED, run=None, **want):
    """Make the case of a server whose list cannot be pinned."""
    failed = Want(status=status, **want)
    return Case(call=call, pin=failed, old_check=failed, **(run or {}))


def cases():
    """All cases by name."""
    found = {}
    for theme in THEMES:
        table = importlib.import_module(f"zoo.expected.{theme}").CASES
        assert not found.keys() & table.keys(), f"a name in two tables: {theme}"
        found.update(table)
    return found
