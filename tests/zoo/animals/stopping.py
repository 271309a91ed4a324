"""The end of input, signals, and processes that would rather stay."""

import os
import signal
import sys
import time

from .osutil import become_orphan, event, fork, helper, ignore, linger, setting, write_all
from .server import Server, animal, answering, replacing, text_result

DEAF = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@replacing("at_eof")
def slow_exit(_server):
    """Needs 1 s after the end of input for a clean exit (ZOO_DELAY)."""
    time.sleep(setting("DELAY", 1.0))
    event("clean-exit")


@replacing("at_eof")
def ignore_eof(_server):
    """Stays at the end of input; SIGTERM ends it."""
    linger()


@animal
class IgnoreTerm(Server):
    """Stays at the end of input, deaf to TERM, INT and HUP."""

    def at_start(self):
        ignore(*DEAF)

    def at_eof(self):
        linger()


@animal
class SlowTerm(Server):
    """Stays at the end of input; at SIGTERM it needs 0.2 s for a clean exit."""

    def at_start(self):
        signal.signal(signal.SIGTERM, self.leave)

    def leave(self, _number, _frame):
        time.sleep(0.2)
        event("clean-exit")
        os._exit(0)

    def at_eof(self):
        linger()


@answering
def stops_at_call(_server, _request):
    """Stops itself with SIGSTOP instead of answering."""
    os.kill(os.getpid(), signal.SIGSTOP)


@replacing("at_eof")
def stops_at_eof(_server):
    """Stops itself with SIGSTOP at the end of input."""
    os.kill(os.getpid(), signal.SIGSTOP)


def flood():
    while True:
        write_all(b"y\n" * 32768)


@replacing("at_start")
def grandchild(_server):
    """A helper in the same group stays behind."""
    helper("grandchild")


@replacing("at_start")
def setsid(_server):
    """A helper in a session of its own stays behind and holds the pipes."""
    helper("escapee", new_session=True)


@replacing("at_start")
def stubborn_helper(_server):
    """A helper that is deaf to SIGTERM stays behind and holds the pipes."""
    helper("stubborn", deaf_to=DEAF)


@replacing("at_start")
def stubborn_escapee(_server):
    """A deaf helper in a session of its own stays behind."""
    helper("stubborn escapee", new_session=True, deaf_to=DEAF)


@replacing("at_start")
def stopped_helper(_server):
    """A helper in a session of its own is stopped."""
    os.kill(helper("stopped", new_session=True), signal.SIGSTOP)


@replacing("at_start")
def brood(_server):
    """30 helpers, half of them in sessions of their own."""
    for number in range(30):
        helper(f"helper {number}", new_session=number % 2 == 1)


@replacing("at_start")
def dynasty(_server):
    """Helpers of helpers, ten generations, each in a session of its own."""

    def generation(left):
        if left:
            helper(f"generation {left}", new_session=True, then=lambda: generation(left - 1))
        linger()

    helper("founder", new_session=True, then=lambda: generation(9))


@replacing("at_start")
def hopper(_server):
    """A helper becomes another process every 10 ms, for 15 s."""

    def hop():
        for _ in range(1500):
            time.sleep(0.01)
            if fork():
                os._exit(0)

    helper("hopper", new_session=True, then=hop)


@replacing("at_eof")
def forks_at_eof(_server):
    """At the end of input it exits, and leaves a new daemon behind."""
    if fork() == 0:
        become_orphan("late daemon", new_session=True)
        linger()


@animal
class ForksOnTerm(Server):
    """At SIGTERM it exits, and leaves a new daemon behind."""

    def at_start(self):
        signal.signal(signal.SIGTERM, self.leave)

    def leave(self, _number, _frame):
        ignore(signal.SIGTERM)
        if fork() == 0:
            become_orphan("late daemon", new_session=True)
            linger()
        os._exit(0)

    def at_eof(self):
        linger()


@replacing("at_eof")
def flood_after_eof(_server):
    """Floods stdout after the end of input."""
    flood()


@replacing("at_eof")
def flooding_helpers(_server):
    """Four helpers flood stdout after the end of input."""
    for number in range(4):
        helper(f"flooding {number}", new_session=number % 2 == 1, deaf_to=DEAF, then=flood)


@replacing("at_eof")
def last_flood(_server):
    """Writes 8 MB after the end of input, then a clean exit."""
    write_all(b"not yet\n" * (1 << 20))
    event("clean-exit")


@replacing("at_eof")
def late_write(server):
    """Answers the end of input with one more message."""
    server.log_message("goodbye")
    server.send({"jsonrpc": "2.0", "id": 1, "result": text_result("too late")})
    event("clean-exit")


@answering
def eof_abandons(server, request):
    """Gives the call up if the end of input comes before the answer."""
    line = server.read_line(setting("DELAY", 0.5))
    if line is None:
        event("abandoned")
        sys.exit(0)
    if line:
        server.postponed.append(line)
    server.reply(request, text_result("kept my stdin open"))


@animal
class LogSignals(Server):
    """A call of 2 s (ZOO_DELAY); notes INT and HUP and goes on, TERM ends it."""

    def at_start(self):
        for number in DEAF:
            signal.signal(number, self.note)

    def note(self, number, _frame):
        event("signal", name=signal.Signals(number).name)
        if number == signal.SIGTERM:
            os._exit(143)

    def answer(self, request):
        time.sleep(setting("DELAY", 2.0))
        self.reply(request, text_result("done"))
