"""Heads of requests of which two readers may not see the same requests. Pure.

Behind a proxy that counts a body by another header than we do, what one client sends as a body is
another client's request. h11 reads such heads leniently, so they are refused before.
"""

import re

_END = re.compile(rb"\n\r?\n")
_LENGTH = re.compile(rb"\ncontent-length[ \t]*:", re.IGNORECASE)
_CODING = re.compile(rb"\ntransfer-encoding[ \t]*:", re.IGNORECASE)
_FOLD = re.compile(rb"\n[ \t]")


def is_ambiguous(received: bytes) -> bool:
    """Tell whether a request may begin where another reader sees none (RFC 9112, 5.2 and 6.3).

    That is with two lengths, even of one value, with a length beside a transfer coding, or with a
    header that goes on in the next line.

    Args:
        received: what there is of the head; what comes behind it is not looked at.

    """
    end = _END.search(received)
    head = received[: end.start()] if end else received
    lengths = len(_LENGTH.findall(head))
    return lengths > 1 or bool(lengths and _CODING.search(head)) or bool(_FOLD.search(head))
