"""Pipes that are closed, full or held, and servers that end too early."""

from zoo.expect import ECHO, PINNED, Case, Want, answers, same_for_all

MEGABYTE = b'{"text":"' + b"0" * (1 << 20) + b'"}'
FLOOD = ("e{99}",)
PATIENT = Want(has=PINNED.has, within=20, pins=1)


def ended(*says, status=(4,), **want):
    return Want(status=status, says=("may have run", *says), **want)


CASES = {
    "stderr-flood": Case(
        call=Want(out=ECHO, server_says=FLOOD, megabytes=200),
        pin=Want(has=PINNED.has, server_says=FLOOD),
        check=Want(server_says=FLOOD),
    ),
    # A write that blocks is under the deadline as well.
    "no-read": Case(
        call=Want(status=(124,), input=MEGABYTE, at_least=2, within=10),
        pin=Want(status=(124,), at_least=2, within=10),
        old_check=Want(status=(124,), within=10),
        timeout=2,
        grace=0.3,
    ),
    "duplex": answers(input=MEGABYTE, out=MEGABYTE.decode() + "\n"),
    "stdin-closed": same_for_all(status=(4,), run={"grace": 0.3}),
    # The answer counts, whatever became of the other pipe.
    "late-answer": answers(out="late but fine\n"),
    "stdout-closed": Case(call=ended(within=4), grace=0.3, timeout=6),
    "stdout-closed-at-start": same_for_all(status=(4,), run={"grace": 0.3}),
    "answer-on-stderr": Case(
        call=ended(
            status=(124,), cancels=True, never=("wrong door",), server_says=(".*wrong door.*",)
        ),
        timeout=2,
    ),
    "no-newline-exit": answers(out="last words\n"),
    "mid-line-exit": Case(call=ended(r"\b3\b", within=5)),
    "exit-on-call": Case(
        call=ended(r"\b7\b", within=5, server_says=("panic: the zoo is on fire",))
    ),
    "exit-zero-on-call": Case(call=ended(r"\b0\b", within=5)),
    "exit-after-noise": Case(call=ended(r"\b9\b", "3 lines", within=5, skipped="famous")),
    "killed-on-call": Case(call=ended(r"KILL|\b9\b|137", within=5)),
    # Whether a helper still answers cannot be known; to wait for the deadline is right, too.
    "crash-beside-helper": Case(call=ended(status=(4, 124), cancels=False), timeout=3),
    "crash-beside-escapee": Case(call=ended(status=(4, 124), cancels=False), timeout=3),
    "heir-answers": answers(out="from the heir\n"),
    "crash-after-answer": answers(
        out="done\n", server_says=("Traceback: something after the answer",)
    ),
    "exit-after-answer": answers(out="done\n"),
    "exit-at-start": same_for_all(
        status=(4,), says=(r"\b1\b",), server_says=("fatal: ZOO_API_KEY is not set",)
    ),
    "slow-start": Case(call=Want(out=ECHO, within=20), pin=PATIENT, check=Want(within=20)),
    # What it printed so far is shown.
    "prompt": same_for_all(
        status=(4, 124),
        says=("Ok to proceed|Need to install giraffe",),
        run={"start_timeout": 3},
    ),
    # The end of the leader is not the end of the server.
    "leader-exits": Case(pin=PINNED),
    "daemon-serves": Case(pin=PINNED),
}
