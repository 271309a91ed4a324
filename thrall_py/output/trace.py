"""What `--trace` writes: every byte both ways as JSON lines, secrets masked, for a bug report.

A record is written with one write(2), so processes that ask several servers side by side can share
the file. A message is masked whole, before anything is cut, and then cut into records that the
next one continues, so no secret is halved and no record is huge.
"""

import binascii
import json
import os
import stat
import sys
import time
from collections.abc import Callable

from thrall_py import __version__
from thrall_py.errors import InputError
from thrall_py.protocol.watcher import Watcher
from thrall_py.redact import Redactor
from thrall_py.visible import visible

STDERR = "-"
_RECORD = 1 << 18  # characters of a message in one record


class Trace:
    """The file of a trace.

    Args:
        path: the file, which is emptied if it is there; `-` for stderr.
        clock: the time in seconds.

    Attributes:
        failure: why the trace is not complete; empty if it is.

    Raises:
        InputError: the file cannot be written.

    """

    def __init__(self, path: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.failure = ""
        self._clock = clock
        self._began = clock()
        self._fd = 2 if path == STDERR else _open(path)
        self.write(event="thrall", version=__version__, python=sys.version.split()[0],
                   platform=sys.platform)  # fmt: skip

    def write(self, **members: str | bool) -> None:
        """Write one record; a trace that cannot be written is no reason to fail."""
        record = {"at": round(self._clock() - self._began, 6), **members}
        line = memoryview(json.dumps(record).encode() + b"\n")
        try:
            while line and not self.failure:
                line = line[os.write(self._fd, line) :]
        except OSError as problem:
            self.failure = problem.strerror or str(problem)

    def close(self) -> None:
        """Close the file."""
        if self._fd != 2:  # noqa: PLR2004 - stderr
            os.close(self._fd)


class Tracer(Watcher):
    """Writes one conversation into a trace.

    Args:
        trace: the file.
        subject: which server it is with, where there are several; empty if not.
        redact: knows what must not be written.

    """

    wants_bytes = True

    def __init__(self, trace: Trace, subject: str, redact: Redactor) -> None:
        self._trace = trace
        self._about = {"server": subject} if subject else {}
        self._redact = redact

    def spawned(self, program: str) -> None:  # type: ignore[explicit-override]  # @override is of 3.12
        """Write it."""
        self._event("spawn", program=program)

    def connected(self, origin: str) -> None:  # type: ignore[explicit-override]  # likewise
        """Write it."""
        self._event("connect", origin=origin)

    def to_server(self, data: bytes) -> None:  # type: ignore[explicit-override]  # likewise
        """Write it."""
        self._bytes("to server", data)

    def from_server(self, data: bytes | bytearray, end: str | None = "\n") -> None:  # type: ignore[explicit-override]  # likewise
        """Write it."""
        self._bytes("from server", data, end)

    def signalled(self, name: str) -> None:  # type: ignore[explicit-override]  # likewise
        """Write it."""
        self._event("signal", signal=name)

    def closed(self, how: str) -> None:  # type: ignore[explicit-override]  # likewise
        """Write it."""
        self._event("exit", how=f"the server {how}")

    def _event(self, event: str, **details: str) -> None:
        masked = {name: self._redact.mask(value) for name, value in details.items()}
        self._trace.write(**self._about, event=event, **masked)

    def _bytes(self, way: str, data: bytes | bytearray, end: str | None = "") -> None:
        # The byte that is no UTF-8 must not keep a secret beside it from being found.
        text = self._redact.mask(data.decode("utf-8", "surrogateescape"))
        if end is None:
            text = text[: len(text) - self._redact.longest]
        last = max(0, len(text) - 1) // _RECORD * _RECORD
        for at in range(0, last + 1, _RECORD):
            piece = text[at : at + _RECORD] + (end or "" if at == last else "")
            more = {} if at == last else {"more": True}
            self._trace.write(**self._about, way=way, **_spelled(piece), **more)


def _spelled(text: str) -> dict[str, str]:
    try:
        text.encode()
    except UnicodeEncodeError:
        data = text.encode("utf-8", "surrogateescape")
        return {"base64": binascii.b2a_base64(data, newline=False).decode()}
    return {"text": text}


def _open(path: str) -> int:
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_TRUNC, 0o600)
        if stat.S_ISREG(os.fstat(fd).st_mode):
            os.fchmod(fd, 0o600)  # it may have been there before, for everybody
    except OSError as problem:
        raise InputError(f"cannot write the trace to {visible(path)}: {problem.strerror}") from None
    return fd
