"""Heads of requests of which two readers may not see the same requests. Pure.

Behind a proxy that counts a body by another header than we do, what one client sends as a body is
another client's request. h11 reads such heads leniently, so they are refused before.
"""

import re

_END = re.compile(rb"\n\r?\n")
_LENGTH = re.compile(rb"\ncontent-length[ \t]*:", re.IGNORECASE)
_CODING = re.compile(rb"\ntransfer-encoding[ \t]*:", re.IGNORECASE)
_FOLD = re.compile(rb"\n[ \t]")
_LIST = re.compile(rb"\ncontent-length[ \t]*:[^\r\n]*,", re.IGNORECASE)
_BARE = re.compile(rb"(?<!\r)\n")


def is_ambiguous(received: bytes) -> bool:
    """Tell whether a request may begin where another reader sees none (RFC 9112, 2.2, 5.2 and 6.3).

    That is with two lengths, even of one value and in one header, with a length beside a transfer
    coding, with a header that goes on in the next line, or with a line that a line feed alone ends.

    Args:
        received: what there is of the head; what comes behind it is not looked at.

    """
    end = _END.search(received)
    head = received[: end.end()] if end else received
    lengths = len(_LENGTH.findall(head))
    if lengths > 1 or (lengths and _CODING.search(head)):
        return True
    return any(odd.search(head) for odd in (_FOLD, _LIST, _BARE))
