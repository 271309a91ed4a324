"""One plain command from its start to its end: its input is written and closed, its output read.

It is started, watched and ended as a server is; only what lies between is no conversation.
"""

import time

from thrall_py.protocol.channel import MessageTooLarge, ReceiveTimeout
from thrall_py.transport.process import Process

_LAST_WORDS = 2.0  # seconds to listen on when the command has exited and others hold its output


class Filter(Process):
    """A running command. Arguments are those of Process; `limit` is for all of its output."""

    def finish(self, text: bytes, deadline: float) -> bytearray:
        """Write the input, and read the output while that goes on, until the command is over.

        It need not read its input. It is over when it has exited and its output is closed; a
        process that it left behind with its output is listened to for 2 s.

        Args:
            text: all of the input.
            deadline: on the monotonic clock, in seconds.

        Returns:
            All of the output.

        Raises:
            ReceiveTimeout: it has not exited by then.
            MessageTooLarge: it writes more than the limit.
            Interrupted: a signal asks to stop.

        """
        self.send(text)
        output = bytearray()
        until = deadline
        while not (self._exited and self._closed_output):
            self._interrupts.check()
            if time.monotonic() >= until:
                if not self._exited:
                    raise ReceiveTimeout(b"", unsent=bool(self._outgoing))
                self._hurry = True  # they have had their time
                break
            was_running = not self._exited
            self._turn(until)
            if was_running and self._exited:
                until = min(deadline, time.monotonic() + _LAST_WORDS)
            if not self._outgoing:
                self._close_input()
            self._take_lines(output)
            if len(output) + len(self._partial) > self._limit:
                raise MessageTooLarge(self._limit, "answer")
        self._interrupts.check()
        return output + self._take_rest()

    def _take_lines(self, output: bytearray) -> None:
        for line in self._lines:
            output += line
            output += b"\n"
        self._lines.clear()

    def _take_rest(self) -> bytearray:
        """What stands behind the last newline; it is told of here, as nothing that broke off."""
        rest, self._partial = self._partial, bytearray()
        if rest:
            self._watcher.from_server(rest, "")
        return rest
