"""Pipes that are closed, full or held, and servers that end too early."""

import os
import select
import signal
import sys
import time

from .osutil import become_orphan, die_of, event, helper, linger, setting, write_all
from .server import Server, animal, answering, encode, replacing, text_result

MIB = 1 << 20


def answer_line(request, text):
    return encode({"jsonrpc": "2.0", "id": request["id"], "result": text_result(text)})


@animal
class StderrFlood(Server):
    """1 MB on stderr before each message (ZOO_SIZE)."""

    def send(self, message):
        write_all((b"e" * 99 + b"\n") * (setting("SIZE", MIB) // 100), 2)
        super().send(message)


@animal
class NoRead(Server):
    """Reads nothing after the handshake."""

    def handle(self, message):
        super().handle(message)
        if self.ready:
            linger()


@animal
class Duplex(Server):
    """Writes 4 MB before it reads the call (ZOO_SIZE)."""

    flooded = False

    def read_line(self, patience=None):
        if self.ready and not self.flooded:
            self.flooded = True
            if not self.unread:
                select.select([0], [], [])
            for _ in range(setting("SIZE", 4 * MIB) // 1000):
                self.log_message("." * 900)
        return super().read_line(patience)


@animal
class StdinClosed(Server):
    """Closes stdin before its first answer, and stays."""

    def reply(self, request, result):
        os.close(0)
        super().reply(request, result)
        linger()


@answering
def late_answer(server, request):
    """Closes stdin after it read the call, and answers 1 s later (ZOO_DELAY)."""
    os.close(0)
    time.sleep(setting("DELAY", 1.0))
    server.reply(request, text_result("late but fine"))
    sys.exit(0)


@answering
def stdout_closed(_server, _request):
    """Closes stdout instead of answering, and stays."""
    os.close(1)
    linger()


@replacing("at_start")
def stdout_closed_at_start(_server):
    """Closes stdout at once, and stays."""
    os.close(1)
    linger()


@answering
def answer_on_stderr(_server, request):
    """Answers on stderr."""
    write_all(answer_line(request, "wrong door") + b"\n", 2)


@answering
def no_newline_exit(_server, request):
    """A complete answer without a newline, then exit 0."""
    write_all(answer_line(request, "last words"))
    sys.exit(0)


@answering
def mid_line_exit(_server, request):
    """Half an answer, then exit 3."""
    data = answer_line(request, "never finished")
    write_all(data[: len(data) // 2])
    sys.exit(3)


@answering
def exit_on_call(server, _request):
    """Words on stderr and exit 7 instead of an answer."""
    server.say("panic: the zoo is on fire")
    sys.exit(7)


@answering
def exit_zero_on_call(_server, _request):
    """Exit 0 instead of an answer."""
    sys.exit(0)


@answering
def exit_after_noise(_server, _request):
    """Lines that mean nothing, then exit 9 instead of an answer."""
    write_all(b"first \x1b[31mfamous\x1b[0m word\nsecond word\nthird word\n")
    sys.exit(9)


@answering
def killed_on_call(_server, _request):
    """Dies of SIGKILL instead of answering."""
    die_of(signal.SIGKILL)


@answering
def crash_beside_helper(_server, _request):
    """Dies of SIGSEGV on the call while a helper in its group holds stdout."""
    helper("bystander")
    die_of(signal.SIGSEGV)


@answering
def crash_beside_escapee(_server, _request):
    """Dies of SIGKILL on the call while a helper in its own session holds stdout."""
    helper("escapee", new_session=True)
    die_of(signal.SIGKILL)


@answering
def heir_answers(server, request):
    """Exits 0 on the call; a child answers 1 s later (ZOO_DELAY)."""

    def answer():
        time.sleep(setting("DELAY", 1.0))
        server.reply(request, text_result("from the heir"))

    helper("heir", then=answer)
    os._exit(0)


@answering
def crash_after_answer(server, request):
    """Answers, then dies of SIGABRT."""
    server.reply(request, text_result("done"))
    server.say("Traceback: something after the answer")
    die_of(signal.SIGABRT)


@answering
def exit_after_answer(server, request):
    """Answers, then exits 5 at once."""
    server.reply(request, text_result("done"))
    os._exit(5)


@replacing("at_start")
def exit_at_start(server):
    """Says why on stderr and exits 1 at once."""
    server.say("fatal: ZOO_API_KEY is not set")
    sys.exit(1)


@replacing("at_start")
def slow_start(_server):
    """Ready after 3 s only (ZOO_DELAY)."""
    time.sleep(setting("DELAY", 3.0))


@replacing("at_start")
def prompt(server):
    """A question without a newline; the first line is taken for its answer."""
    write_all(b"Need to install giraffe@1.0.0\nOk to proceed? (y) ")
    event("swallowed", line=(server.read_line() or b"").decode("utf-8", "replace"))


@replacing("at_start")
def leader_exits(_server):
    """The process that was started exits 0 at once; its child serves."""
    become_orphan("heir", new_session=False)


@replacing("at_start")
def daemon_serves(_server):
    """Exits 0 at once; a child that forked twice serves, in its own session."""
    become_orphan("daemon", new_session=True)
