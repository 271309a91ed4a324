"""What stands on stdout beside, around and instead of one message a line."""

from zoo.expect import ECHO, PINNED, Case, Want, answers, broken_answer, same_for_all

WHOLE = Case(pin=PINNED)
SILENT = {"status": (4, 124), "cancels": True}
NOISY = {
    "status": (124,),
    "says": ("may have run",),
    "skipped": "still working",
    "at_least": 2,
    "never": (r"\d\.\d{4}",),  # the deadline is shown as it was given
}

CASES = {
    "noise": WHOLE,
    "ansi": WHOLE,
    "crlf": WHOLE,
    "padded": WHOLE,
    "bom": WHOLE,
    "bom-every-line": WHOLE,
    "nul-noise": WHOLE,
    "blank-flood": WHOLE,
    "long-noise": WHOLE,
    # The second mark is not JSON; what becomes of the first answer then is open.
    "two-boms": Case(
        call=Want(status=(0, 4, 124), out=ECHO, within=20),
        pin=Want(status=(0, 4, 124), has=PINNED.has, within=20, pins=1),
        check=None,
    ),
    "cr-only": same_for_all(status=(4, 124), never=("nobody asked",), run={"start_timeout": 3}),
    "utf16": same_for_all(status=(4, 124), says=("skip",), run={"start_timeout": 3}),
    "content-length": same_for_all(
        status=(4, 124), says=("Content-Length",), run={"start_timeout": 3}
    ),
    # Its own requests come back to the client; none of them is an answer.
    "echo-back": same_for_all(
        status=(4, 124, 5), never_sends=("tools/",), run={"start_timeout": 3}
    ),
    # Several lines are not a message.
    "pretty": Case(call=Want(**SILENT, skipped=r"\{"), timeout=2),
    "python-repr": Case(call=Want(**SILENT, says=("may have run",)), timeout=2),
    "nul-prefix": Case(call=Want(**SILENT), timeout=2),
    "log-echo": answers(status=(0, 4), out="sent\n"),
    "id-noise": answers(status=(0, 4), out="sent\n"),
    "pieces-of-two": answers(out="sent\n"),
    "chatter": Case(call=Want(**NOISY), timeout=2),
    # A deadline is one, however much there is to read.
    "noise-flood": Case(call=Want(**NOISY, megabytes=200), timeout=2),
    "note-flood": Case(
        call=Want(status=(124,), says=("may have run",), at_least=2, megabytes=200), timeout=2
    ),
    "flood-at-start": same_for_all(status=(124, 4), megabytes=200, run={"start_timeout": 3}),
    "answer-then-flood": answers(out="before it\n", megabytes=200),
    "trailing-words": broken_answer(),
    "two-in-one-line": broken_answer(),
    "raw-newline": broken_answer(),
    "trailing-comma": broken_answer(),
}
