"""What every test gets: a home of its own, nothing inherited; and proof that a server is dead."""

import contextlib
import fcntl
import os
import re
import select
import signal
import tempfile
import time
from collections import deque
from typing import NamedTuple

import children
import pytest
from loopback import Loopback
from servers import TOOLS, command, offering

from thrall_py import cli
from thrall_py.catalog.launch import UrlSpec
from thrall_py.protocol import tools
from thrall_py.transport import stdio
from thrall_py.transport.interrupts import Interrupts
from thrall_py.verbs.connect import ConnectionOptions, prepare
from thrall_py.verbs.sessions import open_session

_KEPT = "THRALL_UNDER_TEST"  # names the program that tests/zoo and tests/real run


def pytest_collection_modifyitems(config, items):
    """Let several processes share the work: with TEST_PART=1/3 this is the first of three."""
    part, _, parts = os.environ.get("TEST_PART", "1/1").partition("/")
    first, step = int(part) - 1, int(parts)
    others = [item for number, item in enumerate(items) if number % step != first]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = items[first::step]


@pytest.fixture
def no_child_left():
    """See that a test leaves no child of its own: what others have left may be there at any time."""
    before = children.now()
    yield
    assert children.now() <= before


@pytest.fixture(autouse=True, scope="session")
def signals_as_in_a_terminal():
    """Undo what a background job or nohup inherits: ignored signals, which thrall leaves ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for signum in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD):
        signal.signal(signum, signal.SIG_DFL)


def furnished(place):
    """Make the folders of a test in an empty one."""
    for name in ("home", "temporary", "here"):
        (place / name).mkdir()
    return place


def contents(place):
    return sorted((each.name, each.stat().st_mode, *os.listdir(each)) for each in os.scandir(place))


@pytest.fixture(scope="session")
def unused_place(tmp_path_factory):
    """Call for the folders of a test; the next one gets them as well if it finds them as new.

    Most tests touch no file, and to remove four folders a test may take a disk a minute.
    """
    place = as_new = None

    def give():
        nonlocal place, as_new
        if not place or contents(place) != as_new:
            place = furnished(tmp_path_factory.mktemp("place"))
            as_new = contents(place)
        return place

    return give


@pytest.fixture(autouse=True)
def surroundings(request, unused_place, monkeypatch):
    """Keep the user's HOME, directory and settings out of every test."""
    for name in [name for name in os.environ if name.startswith(("GIT_", "THRALL_"))]:
        if name != _KEPT:
            monkeypatch.delenv(name)
    own = "tmp_path" in request.fixturenames
    place = furnished(request.getfixturevalue("tmp_path")) if own else unused_place()
    monkeypatch.setenv("HOME", str(place / "home"))
    monkeypatch.setenv("TMPDIR", str(place / "temporary"))
    monkeypatch.chdir(place / "here")
    monkeypatch.setattr(tempfile, "tempdir", None)


class Graveyard:
    """A FIFO that servers open by its name: it hangs up when the last who holds it is dead.

    What they write into it are their words, one a line.
    """

    def __init__(self, path):
        self.path = path
        os.mkfifo(path)
        self._reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._said = b""

    def words(self, patience=0.0):
        """All that was said; fails unless everybody is dead within `patience` seconds."""
        poll = select.poll()
        poll.register(self._reading, select.POLLIN)
        deadline = time.monotonic() + patience
        while True:
            left = max(0.0, deadline - time.monotonic())
            happened = poll.poll(left * 1000)
            assert happened, "a process that was started is alive, or none has opened the FIFO"
            chunk = os.read(self._reading, 65536) if happened[0][1] & select.POLLIN else b""
            self._said += chunk
            if not chunk:
                return self._said.decode().split()

    def close(self):
        os.close(self._reading)


@pytest.fixture
def graveyard(tmp_path):
    graveyard = Graveyard(str(tmp_path / "graveyard"))
    yield graveyard
    graveyard.close()


@contextlib.contextmanager
def descriptor(number, replacement=None):
    """Put `replacement` in the place of a descriptor, or nothing, for a while."""
    kept = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3)  # in nobody's gap
    if replacement is None:
        os.close(number)
    else:
        os.dup2(replacement, number)
    try:
        yield
    finally:
        os.dup2(kept, number)
        os.close(kept)


@pytest.fixture
def replaced():
    """Call with a descriptor's number and what takes its place (None: closed) until the end."""
    with contextlib.ExitStack() as stack:
        yield lambda number, by=None: stack.enter_context(descriptor(number, by))


@pytest.fixture
def feed(tmp_path, replaced):
    """Call with the bytes that are to stand on stdin."""
    with contextlib.ExitStack() as stack:

        def give(data):
            path = tmp_path / "stdin"
            path.write_bytes(data)
            replaced(0, stack.enter_context(open(path, "rb")).fileno())

        yield give


class Terminal(NamedTuple):
    """Both ends of a pseudo-terminal."""

    ours: int
    theirs: int

    def shown(self):
        """What was written so far, up to a mark: the kernel may take a moment to pass it on."""
        os.write(self.theirs, b"\0")
        shown = b""
        while not shown.endswith(b"\0"):
            shown += os.read(self.ours, 65536)
        return shown[:-1]


@pytest.fixture
def typist(terminal, monkeypatch):
    """Call with what is typed at the terminal, an answer whenever a question has been shown.

    An answer is a line, or as much as is typed at once; `ahead` is typed before. The result is a
    function that gives, at the end, what the terminal showed.
    """

    def start(typed, ahead=b""):
        if ahead:
            os.write(terminal.ours, ahead)
            os.read(terminal.ours, 100)  # its echo, so it has arrived
        lines = re.findall(rb"[^\n\x04]*(?:\n|\x04+)", typed) if isinstance(typed, bytes) else typed
        answers = deque(lines)

        def show(text):
            tell(text)
            if not text.endswith("\n") and answers:  # a question: the cursor stays behind it
                os.write(terminal.ours, answers.popleft())

        monkeypatch.setattr(stdio, "tell", show)
        return terminal.shown

    tell = stdio.tell
    return start


@pytest.fixture
def terminal():
    terminal = Terminal(*os.openpty())
    yield terminal
    os.close(terminal.ours)
    os.close(terminal.theirs)


@pytest.fixture
def interrupts():
    with Interrupts() as interrupts:
        yield interrupts


@pytest.fixture
def serve(monkeypatch):
    """Call with what a server on 127.0.0.1 responds; no proxy is in the way."""
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    with contextlib.ExitStack() as stack:

        def start(respond, **options):
            server = Loopback(respond, **options)
            stack.callback(server.close)
            return server

        yield start


@pytest.fixture
def call(interrupts):
    """Call with a server on 127.0.0.1 to call its tool `echo`; the result."""

    def run(server, arguments="{}", tool="echo", remembered=None, headers=None, **options):
        spec = UrlSpec(options.pop("url", server.url), headers or {})
        given = {"timeout": 30, "start_timeout": 30, "grace": 2, "max_message": 1 << 20}
        connection = ConnectionOptions(**{**given, **options})
        prepared = prepare(spec, {}, fill_in=True)
        with open_session(prepared, connection, interrupts, remembered) as session:
            answer = tools.call(
                session, tool, arguments, connection.timeout, connection.max_message
            )
            return answer.load()

    return run


class Ran(NamedTuple):
    """How a command line ended."""

    status: int
    out: bytes
    err: str


@pytest.fixture
def thrall(capfdbinary, monkeypatch):
    """Run the words of a command line in this process; death by a signal is a status only."""
    monkeypatch.setattr(cli, "die_by_signal", lambda signum: 128 + signum)

    def run(*words):
        status = cli.run(words)
        out, err = capfdbinary.readouterr()
        return Ran(status, out, err.decode())

    return run


@pytest.fixture
def pin(thrall):
    """Pin a server of the name `name` that is started in a directory of that name.

    It offers what is given, and without that two tools. The name is their prefix but for "a".
    """

    def write(name, **offer):
        os.makedirs(name, exist_ok=True)
        offer = {"serverInfo": {"name": name, "version": "1"}, "tools": TOOLS, **offer}
        offering(name, **offer)
        prefix = () if name == "a" else ("--prefix", f"{name}_")
        words = ("--cwd", name, *prefix, "--", *command("good"))
        assert thrall("pin", "c.json", *words).status == 0
        return offer

    return write
