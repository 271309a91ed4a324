"""What `--trace` writes: every byte both ways as JSON lines, secrets masked, for a bug report.

A record is written with one write(2), so processes that ask several servers side by side can share
the file. A message is masked whole, before anything is cut, and then cut into records that the
next one continues, so no secret is halved and no record is huge. Nobody waits long for whoever
reads a trace from a pipe: the call is what matters.
"""

import binascii
import errno
import json
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable

from thrall_py import __version__
from thrall_py.errors import InputError, UsageError
from thrall_py.protocol.watcher import Watcher
from thrall_py.redact import Redactor
from thrall_py.visible import visible

STDERR = "-"
_RECORD = 1 << 18  # characters of a message in one record
_PATIENCE = 1.0  # seconds of one trace, in all, that are spent on a reader who is slow
_PAUSE = 0.01  # seconds
_STREAMS = ("stdin", "stdout", "stderr")  # by descriptor


class Trace:
    """The file of a trace.

    Args:
        path: the file, which is emptied if it is there; `-` for stderr.
        files: what else the run reads or writes; paths, and None for what is not given.
        clock: the time in seconds.
        on_failure: is told, once, why the trace is not complete.

    Raises:
        UsageError: it is one of those files, under whatever name.
        InputError: the file cannot be written, or nobody reads from the pipe that it is.

    """

    def __init__(
        self,
        path: str,
        files: Iterable[str | None] = (),
        clock: Callable[[], float] = time.monotonic,
        on_failure: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._clock = clock
        self._on_failure = on_failure
        self._has_failed = False
        self._patience = _PATIENCE
        self._began = clock()
        self._fd = _STREAMS.index("stderr") if path == STDERR else _open(path, files)
        self.write(event="thrall", version=__version__, python=sys.version.split()[0],
                   platform=sys.platform)  # fmt: skip

    def write(self, **members: str | bool) -> None:
        """Write one record; a trace that cannot be written is no reason to fail."""
        record = {"at": round(self._clock() - self._began, 6), **members}
        line = memoryview(json.dumps(record).encode() + b"\n")
        try:
            while line and not self._has_failed:
                line = line[self._write_some(line) :]
        except BlockingIOError:
            self._fail("its reader stopped reading")
        except OSError as problem:
            self._fail(problem.strerror or str(problem))

    def close(self) -> None:
        """Close the file."""
        if self._fd != _STREAMS.index("stderr"):
            os.close(self._fd)

    def _write_some(self, line: memoryview) -> int:
        """Write as much as there is room for; the number of bytes."""
        while True:
            try:
                return os.write(self._fd, line)
            except BlockingIOError:
                if self._patience <= 0:
                    raise
                self._patience -= _PAUSE
                time.sleep(_PAUSE)

    def _fail(self, why: str) -> None:
        self._has_failed = True
        self._on_failure(why)


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
        text = data.decode("utf-8", "surrogateescape")
        text = self._redact.mask_cut(text) if end is None else self._redact.mask(text)
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


def _open(path: str, files: Iterable[str | None]) -> int:
    """Open a file, and empty it only once it is known to be nobody else's; its descriptor."""
    shown = visible(path)
    _refuse_what_is_in_use(path, files)
    try:
        # A pipe without a reader is refused at once, and a full one does not hold us.
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK, 0o600)
    except OSError as problem:
        why = "nobody reads from it" if problem.errno == errno.ENXIO else problem.strerror
        raise InputError(f"cannot write the trace to {shown}: {why}") from None
    mode = os.fstat(fd).st_mode
    if stat.S_ISREG(mode):
        os.ftruncate(fd, 0)
        os.fchmod(fd, 0o600)  # it may have been there before, for everybody
    elif not (stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)):
        os.close(fd)
        raise InputError(f"cannot write the trace to {shown}: it is no file, terminal or pipe")
    return fd


def _refuse_what_is_in_use(path: str, files: Iterable[str | None]) -> None:
    """Let a trace not destroy what the run reads, nor mix with what it writes."""
    # Only the name that was given for it is told: the others may be words of the server's argv.
    what = f"the trace would overwrite {visible(path)}, which"
    if any(_is_same(path, name) for name in files if name is not None):
        raise UsageError(f"{what} this run uses: name another FILE")
    for fd, name in enumerate(_STREAMS):
        if _is_same(path, fd):
            way = "say --trace - for that" if name == "stderr" else "name another FILE"
            raise UsageError(f"{what} is {name}: {way}")


def _is_same(path: str, other: str | int) -> bool:
    """Whether two are one file; terminals and devices can be shared."""
    try:
        one, two = os.stat(path), os.stat(other)
    except OSError:  # one of them is still to be made
        return isinstance(other, str) and os.path.realpath(path) == os.path.realpath(other)
    return os.path.samestat(one, two) and not stat.S_ISCHR(one.st_mode)
