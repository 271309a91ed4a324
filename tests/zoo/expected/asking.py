"""Requests and notifications from the server, and silence."""

from zoo.expect import FINE, Case, Want, answers, unlisted

NOT_FOUND = -32601


def refused(method):
    return answers(out_has=(str(NOT_FOUND),), replies={method: NOT_FOUND}, within=5)


CASES = {
    "roots": refused("roots/list"),
    "elicit": refused("elicitation/create"),
    "sampling": refused("sampling/createMessage"),
    "unheard-of": refused("zoo/feed\x1b[31m"),
    "ping": answers(out="pong\n", replies={"ping": {}}, within=5),
    "ping-same-id": answers(out="pong\n", replies={"ping": {}}, within=5),
    "ping-odd-ids": answers(out="pong\n", replies={"ping": {}}, within=6),
    # More responses than a pipe holds; a limit may pass, but nothing blocks.
    "ping-storm": answers(status=(0, 4), out="calm\n", megabytes=200, within=15),
    "ping-flood": Case(
        call=Want(status=(124, 4), says=("may have run",), megabytes=200, within=10), timeout=3
    ),
    "modern-asks": answers(out="done\n", no_replies=True),
    "modern-asks-same-id": answers(out="done\n", no_replies=True),
    "asks-after-answer": answers(out="done\n"),
    "progress": answers(out="done\n"),
    "odd-notifications": answers(out="done\n"),
    # 240 MB, none of which is kept.
    "log-flood": Case(call=Want(out="done\n", megabytes=180, within=30), env={"ZOO_SIZE": "60000"}),
    "silent-call": Case(
        call=Want(status=(124,), says=("may have run",), cancels=True, at_least=2), timeout=2
    ),
    # The start timeout ends it, and a handshake is not cancelled on the wire.
    "silent": Case(
        call=Want(status=(124, 4), at_least=3, never_sends=("notifications/cancelled", "tools/")),
        pin=Want(status=(124, 4), at_least=3),
        check=FINE,
        old_check=Want(status=(124, 4), within=12),
        start_timeout=3,
    ),
    "silent-list": unlisted(status=(124,), run={"timeout": 2}, at_least=2),
}
