"""One server process from its start to its teardown, as a Channel.

One loop, one clock, four descriptors: the server's output, its input while there is something to
say, its exit, and our own signals. Kill first, reap last: that frees the number of the group.
"""

import contextlib
import fcntl
import os
import select
import signal
import sys
import termios
import time
from collections import deque
from collections.abc import Callable

from thrall_py.protocol.channel import ChannelClosed, Label, MessageTooLarge, ReceiveTimeout
from thrall_py.protocol.watcher import NOBODY, Watcher
from thrall_py.transport import descendants, spawn
from thrall_py.transport.endpoint import Command
from thrall_py.transport.interrupts import Interrupts

_TERM_WAIT = 0.5  # seconds from SIGTERM to SIGKILL
_OWN_EXIT = 0.2  # seconds for a server that closed a pipe to exit: then that is what happened
_LAST_WORDS = 2.0  # seconds to listen on when the process failed and others hold its output open
_HELPERS_LEAVE = 0.05  # seconds for the rest of the group to follow a server that left
_KILL_WAIT = 5.0  # seconds for the kernel to end what was killed
_CHUNK = 1 << 18  # bytes moved at once
_SHOWN = 4096  # bytes of an unfinished line that are worth handing on
_LONGEST_POLL = 3600.0  # seconds; poll(2) takes its milliseconds as a C int
_NEVER = float("inf")


class Process:
    """A running server: a Channel over its pipes.

    Args:
        command: how it is started; failures are those of `spawn.spawn`.
        interrupts: the signals that end the waiting; entered by the caller, before.
        grace: seconds from the end of its input to SIGTERM.
        limit: bytes of one line.
        watcher: is told of every line both ways, of the signals and the spawn.

    """

    has_headers = False

    def __init__(
        self,
        command: Command,
        interrupts: Interrupts,
        *,
        grace: float,
        limit: int,
        watcher: Watcher = NOBODY,
    ) -> None:
        self._interrupts = interrupts
        self._grace = grace
        self._limit = limit
        self._watcher = watcher
        self._preexisting = descendants.become_subreaper()
        self._child = spawn.spawn(command)
        watcher.spawned(command.shown or command.argv[0])
        self._input, self._output = self._child.input.fileno(), self._child.output.fileno()
        self._poll = select.poll()
        for fd in (self._output, self._child.exit, interrupts.fileno()):
            self._poll.register(fd, select.POLLIN)
        self._outgoing: deque[memoryview] = deque()
        self._unwritten = 0  # bytes for which there is no reader any more
        self._lines: deque[bytearray] = deque()  # complete, not yet asked for
        self._partial = bytearray()
        self._listen_until = _NEVER  # past this moment no answer can be hoped for
        self._closed_output = False
        self._exited = False  # the process is gone; whoever holds its output may still speak
        self._leaving = False  # the teardown has begun: output is read, and thrown away
        self._hurry = False  # a signal came during the teardown
        self._stays = False  # it closed its output long before, and is there all the same
        self._handed_over = False  # it went long ago and left another process serving
        self._how = ""  # how it ended, once it has
        self.status: int | None = None  # that of its exit, or minus a signal, once it is reaped

    @property
    def is_ended(self) -> bool:
        """Whether the teardown is over."""
        return bool(self._how)

    def send(self, message: bytes, _: Label | None = None, /) -> None:
        """Queue `message`; it is written while `receive` waits, so no write blocks for ever."""
        self._watcher.to_server(message)
        self._outgoing.append(memoryview(message))
        self._poll.register(self._input, select.POLLOUT)

    def receive(self, deadline: float) -> bytearray:
        """Wait for one line, as the Channel says."""
        self._interrupts.check()
        while not self._lines:
            if len(self._partial) > self._limit:
                raise MessageTooLarge(self._limit)
            if self._closed_output:
                raise ChannelClosed(self._partial, input_closed=False)
            # Looked at in every turn: something happens all the time when a server floods us.
            if time.monotonic() >= self._listen_until:
                raise ChannelClosed(self._partial, input_closed=not self._exited)
            if time.monotonic() >= deadline:
                raise ReceiveTimeout(bytes(self._partial[:_SHOWN]), unsent=bool(self._outgoing))
            self._turn(min(deadline, self._listen_until))
            self._interrupts.check()
        line = self._lines.popleft()
        if len(line) > self._limit:
            raise MessageTooLarge(self._limit)
        return line

    def flush(self, _: float) -> None:
        """Go on: a pipe needs no reply."""

    def settle(self) -> None:
        """Go on: the pipe is for everything."""

    def has_ended(self) -> bool:
        """Look at what happened meanwhile, as the Channel says; what came is kept."""
        self._attend(0)
        self._interrupts.check()
        return self._closed_output

    def unread_by_server(self) -> int:
        """Count the bytes that were sent and wait to be read, in the pipe and before it."""
        count = fcntl.ioctl(self._input, termios.FIONREAD, bytes(4))  # a C int
        waiting = int.from_bytes(count, sys.byteorder)
        return waiting + sum(map(len, self._outgoing)) + self._unwritten

    def close(self) -> str:
        """End the server and whatever it started: ask, wait, insist, kill, and only then reap.

        Every way out of thrall comes through here. A signal cuts the waiting short.
        """
        if not self._how:
            if self._partial:
                self._watcher.from_server(self._partial, None)
            self.end_input()
            self._signal(signal.SIGTERM)
            self._drain(_TERM_WAIT, lambda: False)
            self._kill()
            self._how = "closed its output" if self._stays else spawn.ending(self.status)
        return self._how

    def end_input(self) -> bool:
        """Close the server's input and give it the grace to go: how its teardown begins.

        Returns:
            Whether it left; what it started may still be there.

        """
        if not self._leaving:
            self._leaving = True
            if self._closed_output:
                self._drain(_OWN_EXIT, lambda: self._exited)
                self._stays = not self._exited
            else:
                self._handed_over = self._exited
            self._close_input()
            self._drain(self._grace, lambda: self._exited and not self._handed_over)
            if self._exited:
                self._drain(_HELPERS_LEAVE, lambda: False)
        return self._exited and (self._closed_output or not self._handed_over)

    def lend(self) -> spawn.Loan:
        """Stop reading, and leave the conversation to somebody else; `stand_by` takes it back."""
        if self._outgoing:
            self._write()
        unsent = b"".join(self._outgoing)
        self._outgoing.clear()
        with contextlib.suppress(KeyError):
            self._poll.unregister(self._input)
        read = b"".join(bytes(line) + b"\n" for line in self._lines) + bytes(self._partial)
        self._lines, self._partial = deque(), bytearray()
        return spawn.Loan(self._input, self._output, read, unsent)

    def stand_by(self, descriptor: int) -> None:
        """Wait while the pipes are lent: until `descriptor` is readable, or the server has failed.

        After status 0 another process may serve on the same pipes; a failure leaves last words.

        Raises:
            Interrupted: a signal asks to stop.

        """
        poll = select.poll()
        exits = () if self._exited else (self._child.exit,)
        for fd in (descriptor, self._interrupts.fileno(), *exits):
            poll.register(fd, select.POLLIN)
        happened: set[int] = set()
        while descriptor not in happened and time.monotonic() < self._listen_until:
            left = min(self._listen_until - time.monotonic(), _LONGEST_POLL)
            happened = {fd for fd, _ in poll.poll(max(0.0, left) * 1000)}
            if self._child.exit in happened:
                poll.unregister(self._child.exit)
                self._note_exit()
            self._interrupts.poll()
            self._interrupts.check()

    def helpers(self) -> int:
        """Count the processes that it started and that are alive; 0 where nobody can know."""
        alive = descendants.alive(self._preexisting)
        return len(set(alive) - {self._child.pid})

    # -- the loop ----------------------------------------------------------------------------------

    def _turn(self, deadline: float) -> None:
        """Wait for something to happen, until the deadline, and deal with it."""
        until = min(deadline, self._interrupts.idle())
        self._attend(min(max(0.0, until - time.monotonic()), _LONGEST_POLL))

    def _attend(self, seconds: float) -> None:
        for fd, _ in self._poll.poll(seconds * 1000):
            if fd == self._output:
                self._read()
            elif fd == self._child.exit:
                self._note_exit()
            elif fd == self._input:
                self._write()
            elif self._interrupts.poll():
                self._hurry = self._leaving

    def _read(self) -> None:
        try:
            chunk = os.read(self._output, _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            self._closed_output = True
            self._poll.unregister(self._output)
        elif not self._leaving and b"\n" not in chunk:  # of a long line: without another copy
            self._partial += chunk
        elif not self._leaving:
            first, *rest = chunk.split(b"\n")
            self._partial += first
            for line in rest:
                self._watcher.from_server(self._partial)
                self._lines.append(self._partial)
                self._partial = bytearray(line)

    def _write(self) -> None:
        try:
            while self._outgoing:
                written = os.write(self._input, self._outgoing[0][:_CHUNK])
                self._outgoing[0] = self._outgoing[0][written:]
                if not self._outgoing[0]:
                    self._outgoing.popleft()
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unwritten = sum(map(len, self._outgoing))
            self._outgoing.clear()
            # What it said before may still be on its way, and its exit status too.
            self._listen_until = min(self._listen_until, time.monotonic() + _OWN_EXIT)
        self._poll.unregister(self._input)

    def _note_exit(self) -> None:
        self._exited = True
        self._poll.unregister(self._child.exit)
        if spawn.failed(self._child):
            self._listen_until = min(self._listen_until, time.monotonic() + _LAST_WORDS)

    # -- the teardown ------------------------------------------------------------------------------

    def _close_input(self) -> None:
        if self._outgoing:
            self._write()  # what fits, a cancellation above all
            self._outgoing.clear()
        with contextlib.suppress(KeyError):
            self._poll.unregister(self._input)
        self._child.input.close()

    def _kill(self) -> None:
        self._signal(signal.SIGKILL)
        deadline = time.monotonic() + _KILL_WAIT
        while not self._exited and time.monotonic() < deadline:
            self._turn(deadline)
        self.status = spawn.reap(self._child)
        self._child.output.close()
        os.close(self._child.exit)
        descendants.kill_all(self._preexisting)

    def _drain(self, seconds: float, enough: Callable[[], bool]) -> None:
        """Let up to `seconds` pass, reading on; less if nothing is left, or a signal came."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not (self._exited and self._closed_output):
            if enough() or self._hurry:
                return
            self._turn(deadline)

    def _signal(self, signum: signal.Signals) -> None:
        if not self._exited:
            self._watcher.signalled(signum.name)
        # Not reaped yet, so the number is still ours. A group of zombies answers EPERM on macOS.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, signum)
