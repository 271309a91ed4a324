"""Runs the command under test in a place of its own, and notes all that can be seen from outside."""

import contextlib
import functools
import json
import os
import re
import secrets
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

from zoo.launch import prepare

HERE = os.path.dirname(os.path.abspath(__file__))
CATALOG = "catalog.json"
SMALL_INPUT = b'{"text":"hi"}'
UNTOLD = "never-print-this-argument"
SERVER_LIFE = 60  # seconds after which a process of the zoo ends itself
SAMPLE = 0.02  # seconds between two looks at the memory
LIMIT = 25.0  # seconds after which a run is ended from outside

# For a slow or busy machine: all bounds of time are multiplied by it.
PATIENCE = float(os.environ.get("ZOO_PATIENCE", "1"))


def program():
    """Find the command under test: the one of this environment, or THRALL_UNDER_TEST."""
    beside = os.path.join(os.path.dirname(sys.executable), "thrall")
    return shlex.split(os.environ.get("THRALL_UNDER_TEST", shlex.quote(beside)))


def limits(timeout=20.0, start_timeout=30.0):
    return ["--timeout", f"{timeout:g}", "--start-timeout", f"{start_timeout:g}"]


def server(case, *more):
    script = os.path.join(HERE, "servers.py")
    return ["--", sys.executable, "-I", "-S", script, case, *(more or [UNTOLD])]


def read_bytes(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def write_bytes(path, data, mode=0o644):
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)


class Run:
    """One run of the command that has ended, and what it left behind."""

    def __init__(self, arguments, env, fed):
        self.arguments, self.env, self.fed = arguments, env, fed
        self.before = ""  # a command that has to come first
        self.status = None  # negative: the signal it died of; None: ended by us at the limit
        self.seconds = 0.0
        self.lead = 0.0
        self.megabytes = 0.0
        self.out = self.err = b""
        self.events = []
        self.survivors = []
        self.new_files = []
        self.temporary_files = []

    @property
    def verb(self):
        return self.arguments[0] if self.arguments else ""

    def messages(self, method=None):
        """List the messages that the server received."""
        received = [event["msg"] for event in self.events if event["ev"] == "recv"]
        return [each for each in received if method is None or each.get("method") == method]

    def words(self, server_says=()):
        """Return stderr without the lines that the server wrote there."""
        lines = self.err.decode("utf-8", "replace").split("\n")
        own = [line for line in lines if not any(re.fullmatch(each, line) for each in server_says)]
        return "\n".join(own)

    def command(self):
        """Write a shell command that does the same by hand."""
        words = [f"{name}={shlex.quote(value)}" for name, value in self.env.items()]
        words.append(shlex.join([*program(), *self.arguments]))
        if self.fed is not None and len(self.fed) < 300:
            spelled = "".join(
                chr(b) if 32 <= b < 127 and chr(b) not in "'%\\" else f"\\{b:03o}" for b in self.fed
            )
            words.insert(0, f"printf '{spelled}' |")
        elif self.fed:
            start = self.fed[:20].decode("utf-8", "replace")
            words.insert(0, f"({len(self.fed)} bytes: {start}...) |")
        return self.before + " ".join(words)

    def report(self, problems):
        lines = [*problems, f"again: {self.command()}"]
        lines += [f"status {self.status} after {self.seconds:.2f} s"]
        lines += [f"stdout: {self.out[:500]!r}", f"stderr: {self.err[-1500:]!r}"]
        return "\n".join(lines)


@dataclass(frozen=True, kw_only=True)
class How:
    """How a run is made."""

    stdin: bytes | int = SMALL_INPUT  # what it reads, or a descriptor
    stdout: int | None = None
    env: dict | None = None
    launch: tuple[str, ...] = ()  # options of launch.py
    pass_fds: tuple[int, ...] = ()
    limit: float = LIMIT
    # Called with a Watch again and again, until it returns true.
    meanwhile: Callable | None = None


class Watch:
    """A run in progress, as a scenario sees it."""

    def __init__(self, pid):
        self.pid = pid
        self.events = []
        self.out = bytearray()

    def has_event(self, kind):
        return any(event["ev"] == kind for event in self.events)

    def has_received(self, method):
        received = [event["msg"] for event in self.events if event["ev"] == "recv"]
        return any(message.get("method") == method for message in received)


class Bench:
    """A private home, working directory and TMPDIR, and the runs that are made there."""

    def __init__(self):
        self.mark = "mark-" + secrets.token_hex(8)
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="zoo-"))
        self.work = self.folder("work")
        self.home = self.folder("home")
        self.temporary = self.folder("temporary")
        self.notes = self.folder("notes")
        self.catalog = os.path.join(self.work, CATALOG)
        self.pinned = ""  # the command that wrote the catalog

    def folder(self, name):
        path = os.path.join(self.root, name)
        os.mkdir(path)
        return path

    def close(self):
        end_processes(self.mark)
        shutil.rmtree(self.root, ignore_errors=True)

    def environment(self, more, log):
        ours = ("THRALL_", "ZOO_", "GIT_", "XDG_")
        env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        env |= {"HOME": self.home, "TMPDIR": self.temporary, "ZOO_MARK": self.mark}
        return env | {"ZOO_TTL": str(SERVER_LIFE), "ZOO_LOG": log} | more

    def call(self, case, *options, tool="echo", **how):
        return self.run(["call", tool, *limits(), *options, *server(case)], **how)

    def pin(self, case, *options, **how):
        how = {"stdin": b"", **how}
        return self.run(["pin", CATALOG, *limits(), *options, *server(case)], **how)

    def run(self, arguments, **how):
        """Run the command to its end, or to the limit; `how` are the members of How."""
        how = How(**how)
        run = Run(
            arguments, dict(how.env or {}), how.stdin if isinstance(how.stdin, bytes) else None
        )
        if CATALOG in arguments and run.verb != "pin" and self.pinned:
            run.before = self.pinned + " && "
        files_before = set(os.listdir(self.work))
        log = os.path.join(self.notes, f"log-{secrets.token_hex(4)}")
        os.mkfifo(log)
        with contextlib.ExitStack() as stack:
            stdin = how.stdin
            if run.fed is not None:
                stdin = stack.enter_context(tempfile.TemporaryFile(dir=self.notes))
                stdin.write(run.fed)
                stdin.seek(0)
            errors = stack.enter_context(tempfile.TemporaryFile(dir=self.notes))
            # Open for writing, too: the end of one server is not the end of the log.
            events = stack.enter_context(open(log, "r+b", buffering=0))
            reading, writing = os.pipe()
            answer = stack.enter_context(open(reading, "rb", buffering=0))
            process = subprocess.Popen(
                [*program(), *arguments],
                stdin=stdin,
                stdout=writing if how.stdout is None else how.stdout,
                stderr=errors,
                env=self.environment(run.env, log),
                cwd=self.work,
                start_new_session=True,
                preexec_fn=functools.partial(prepare, how.launch),  # noqa: PLW1509 - there are no threads
                pass_fds=how.pass_fds,
            )
            os.close(writing)
            for file in (events, answer):
                os.set_blocking(file.fileno(), False)
            observer = Observer(process, events, answer, how.limit * PATIENCE)
            observer.observe(run, how.meanwhile)
            run.survivors = self.survivors(observer.watch)
            observer.drain()
            run.out, run.events = bytes(observer.watch.out), observer.watch.events
            errors.seek(0)
            run.err = errors.read()
        run.new_files = sorted(set(os.listdir(self.work)) - files_before)
        run.temporary_files = sorted(os.listdir(self.temporary))
        if run.verb == "pin" and run.status == 0:
            self.pinned = run.command()
        return run

    def survivors(self, watch):
        """Name the processes that are still there, and end them."""
        roles = {event["pid"]: event["role"] for event in watch.events if event["ev"] == "start"}
        for pid in processes_with(self.mark):
            gone(pid, 0.5)  # what was killed a moment ago may take another one
        alive = processes_with(self.mark)
        end_processes(self.mark)
        return [f"{roles.get(pid, 'a process')} (pid {pid})" for pid in alive]


class Observer:
    """Waits for one process while its pipes are read."""

    def __init__(self, process, events, answer, limit):
        self.process, self.events, self.answer = process, events, answer
        self.started = self.changed = time.monotonic()
        self.deadline = self.started + limit
        self.watch = Watch(process.pid)
        self.unfinished = b""

    def observe(self, run, meanwhile):
        pidfd = os.pidfd_open(self.process.pid)
        poll = select.poll()
        for descriptor in (pidfd, self.events, self.answer):
            poll.register(descriptor, select.POLLIN)
        killed = ended = False
        try:
            while not ended:
                ready = {number for number, _ in poll.poll(SAMPLE * 1000)}
                ended = pidfd in ready
                run.megabytes = max(run.megabytes, peak_megabytes(self.process.pid))
                if self.answer.fileno() in ready and not self.read_answer():
                    poll.unregister(self.answer)
                if self.events.fileno() in ready:
                    self.read_events()
                if meanwhile and not ended and meanwhile(self.watch):
                    meanwhile = None
                if time.monotonic() > self.deadline and not killed:
                    killed = True
                    os.kill(self.process.pid, signal.SIGKILL)
        finally:
            os.close(pidfd)
        now = time.monotonic()
        self.drain()
        status = self.process.wait()
        run.status = None if killed else status
        run.seconds, run.lead = now - self.started, now - self.changed

    def drain(self):
        while self.read_answer():
            pass
        self.read_events()

    def read_answer(self):
        """Take what is on stdout; false when there is nothing now."""
        chunk = self.answer.read(1 << 20)
        if chunk:
            self.changed = time.monotonic()
            self.watch.out += chunk
        return bool(chunk)

    def read_events(self):
        while chunk := self.events.read(1 << 16):
            *lines, self.unfinished = (self.unfinished + chunk).split(b"\n")
            self.watch.events += map(json.loads, lines)


def peak_megabytes(pid):
    status = read_proc(pid, "status")
    found = re.search(rb"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0


def read_proc(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""


def processes_with(mark):
    """Find the live processes whose environment has the mark, however far they wandered."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in pids if mark.encode() in read_proc(pid, "environ")]


def gone(pid, seconds):
    """Tell whether a process ends in time."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([pidfd], [], [], seconds)[0])
    finally:
        os.close(pidfd)


def end_processes(mark):
    while pids := processes_with(mark):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            gone(pid, 5.0)
