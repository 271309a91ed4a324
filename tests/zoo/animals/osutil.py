"""Processes, descriptors and the event log."""

import contextlib
import json
import os
import signal
import time

# A write of at most PIPE_BUF bytes is never torn apart, so the log may be a FIFO.
EVENT_LIMIT = 4000


def setting(name, default):
    """A number from the environment, of the type of its default."""
    return type(default)(os.environ.get("ZOO_" + name, default))


def write_all(data, descriptor=1):
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def event(kind, **fields):
    path = os.environ.get("ZOO_LOG")
    if path:
        line = json.dumps({"ev": kind, "pid": os.getpid(), **fields}) + "\n"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(descriptor, line.encode())
        os.close(descriptor)


def event_received(message):
    if len(json.dumps(message)) > EVENT_LIMIT:
        message = {key: message[key] for key in ("id", "method") if key in message}
    event("recv", msg=message)


def enter(role):
    """What each process of the zoo does first: a bound to its life, and a line in the log."""
    signal.alarm(setting("TTL", 120))
    event("start", role=role)


def fork():
    return os.fork()  # noqa: TID251 - a server that misbehaves may need children


def linger():
    while True:
        time.sleep(60)


def ignore(*numbers):
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)


def helper(role, *, new_session=False, deaf_to=(), then=linger):
    """Leave a child behind that holds our pipes; return as soon as it has settled."""
    settled, done = os.pipe()
    child = fork()
    if child == 0:
        os.close(settled)
        if new_session:
            os.setsid()
        ignore(*deaf_to)
        enter(role)
        os.close(done)
        then()
        os._exit(0)
    os.close(done)
    os.read(settled, 1)
    os.close(settled)
    return child


def become_orphan(role, *, new_session):
    """Go on in a child while this process exits with status 0."""
    if fork():
        os._exit(0)
    if new_session:
        os.setsid()
        if fork():
            os._exit(0)
    enter(role)


def open_descriptors():
    found = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            os.fstat(int(name))
            found.append(int(name))
    return sorted(found)


def die_of(number):
    """End by a signal, without the core file."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None
    os.kill(os.getpid(), number)
    linger()
