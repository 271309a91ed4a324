"""The end of input, signals, and processes that would rather stay."""

from zoo.expect import ANSWERED, ECHO, PINNED, Case, Want, answers

WHOLE = Case(pin=PINNED)


def stays(*, lead=None, logs=(), grace=None):
    """Make the case of a server that has to be ended: the answer is out before that."""
    call = Want(out=ECHO, lead=lead, logs=logs)
    return Case(call=call, pin=Want(has=PINNED.has, logs=logs), grace=grace)


CASES = {
    # The default grace is enough for it.
    "slow-exit": stays(lead=0.5, logs=("clean-exit",)),
    "ignore-eof": stays(lead=1.0),
    "ignore-term": stays(lead=1.0),
    "slow-term": stays(logs=("clean-exit",), grace=0.3),
    "stops-at-call": Case(
        call=Want(status=(124,), says=("may have run",), at_least=2), timeout=2, grace=0.3
    ),
    "stops-at-eof": stays(lead=0.3, grace=0.3),
    "grandchild": WHOLE,
    "setsid": WHOLE,
    "stubborn-helper": WHOLE,
    "stubborn-escapee": WHOLE,
    "stopped-helper": WHOLE,
    "brood": Case(call=Want(out=ECHO, within=12), pin=Want(has=PINNED.has, within=12)),
    "dynasty": Case(call=ANSWERED, pin=PINNED),
    "hopper": WHOLE,
    "forks-at-eof": WHOLE,
    "forks-on-term": stays(grace=0.3),
    "flood-after-eof": Case(
        call=Want(out=ECHO, megabytes=150), pin=Want(has=PINNED.has, megabytes=150), grace=0.3
    ),
    "flooding-helpers": Case(
        call=Want(out=ECHO, megabytes=150), pin=Want(has=PINNED.has, megabytes=150), grace=0.3
    ),
    # What is written then has to be read, or there is no clean exit.
    "last-flood": stays(logs=("clean-exit",)),
    "late-write": stays(logs=("clean-exit",)),
    # stdin stays open until the answer is there.
    "eof-abandons": answers(out="kept my stdin open\n", never_logs=("abandoned",)),
    "log-signals": answers(out="done\n", never_logs=("signal",)),
}
