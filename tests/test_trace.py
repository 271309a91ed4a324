import base64
import json
import os
import re
import stat
from pathlib import Path

import pytest

from thrall_py import errors
from thrall_py.output import trace as module
from thrall_py.output.trace import Trace, Tracer
from thrall_py.redact import Redactor

SECRET = "sesame42sesame"


@pytest.fixture
def traced():
    """Call with a function that gets a tracer; the records that it makes but for the first."""

    def run(use, *secrets, subject="", clock=lambda: 7.0):
        trace = Trace("t.jsonl", clock=clock)
        use(Tracer(trace, subject, Redactor(secrets)))
        trace.close()
        with open("t.jsonl", encoding="ascii") as file:
            return [json.loads(line) for line in file][1:]

    return run


def test_a_record_has_the_time_the_way_and_the_text(traced):
    def use(tracer):
        tracer.to_server(b'{"id":1}\n')
        tracer.from_server(bytearray("é\x1b".encode()))

    assert traced(use, clock=iter(range(10)).__next__) == [
        {"at": 2, "way": "to server", "text": '{"id":1}\n'},
        {"at": 3, "way": "from server", "text": "é\x1b\n"},
    ]


def test_what_happened_is_an_event(traced):
    def use(tracer):
        tracer.spawned("uvx")
        tracer.connected("https://example.com")
        tracer.signalled("SIGTERM")
        tracer.closed("exited with status 0")

    assert traced(use, subject="clock") == [
        {"at": 0, "server": "clock", "event": "spawn", "program": "uvx"},
        {"at": 0, "server": "clock", "event": "connect", "origin": "https://example.com"},
        {"at": 0, "server": "clock", "event": "signal", "signal": "SIGTERM"},
        {"at": 0, "server": "clock", "event": "exit", "how": "the server exited with status 0"},
    ]


def test_the_first_record_says_who_wrote_it():
    Trace("t.jsonl").close()
    with open("t.jsonl", encoding="ascii") as file:
        first = json.loads(file.read())
    assert list(first) == ["at", "event", "version", "python", "platform"]


def test_secrets_are_masked_whatever_stands_around_them(traced):
    def use(tracer):
        tracer.spawned(f"/opt/{SECRET}")
        tracer.to_server(f"a{SECRET}b".encode())
        tracer.from_server(f"{SECRET}".encode())
        tracer.from_server(b"\xff" + SECRET.encode())

    program, sent, came, odd = traced(use, SECRET)
    assert program["program"] == "/opt/***"
    assert [sent["text"], came["text"]] == ["a***b", "***\n"]
    assert base64.b64decode(odd["base64"]) == b"\xff***\n"


@pytest.mark.parametrize("cut", range(1, len(SECRET)))
def test_half_a_secret_at_a_break_is_not_written(traced, cut):
    came = f"{'x' * 40}{SECRET[:cut]}".encode()
    (record,) = traced(lambda tracer: tracer.from_server(came, None), SECRET)
    assert SECRET[:cut] not in record["text"] or cut < 2
    assert record["text"] == ("x" * 40 + SECRET[:cut])[: 40 + cut - len(SECRET)]


@pytest.mark.parametrize("place", [0, 5, 10])
def test_a_long_message_is_several_records_and_a_secret_across_them_is_masked(traced, place):
    size = 1 << 18
    came = b"x" * (size - place) + SECRET.encode() + b"y" * size
    records = traced(lambda tracer: tracer.from_server(came), SECRET)
    assert [record.get("more") for record in records] == [True] * (len(records) - 1) + [None]
    assert len(records) > 1
    whole = "".join(record["text"] for record in records)
    assert whole == "x" * (size - place) + "***" + "y" * size + "\n"


@pytest.mark.parametrize("size", [0, 1, (1 << 18) - 1, 1 << 18, (1 << 18) + 1])
def test_no_record_is_empty_but_that_of_an_empty_line(traced, size):
    records = traced(lambda tracer: tracer.from_server(b"x" * size))
    assert "".join(record["text"] for record in records) == "x" * size + "\n"
    assert all(record["text"].strip() for record in records if size)


def test_the_file_is_for_its_owner_even_if_it_was_there():
    with open("t.jsonl", "w", encoding="ascii") as file:
        file.write("what was there\n" * 100)
    os.chmod("t.jsonl", 0o644)
    Trace("t.jsonl").close()
    assert stat.S_IMODE(os.stat("t.jsonl").st_mode) == 0o600
    with open("t.jsonl", encoding="ascii") as file:
        assert "what was there" not in file.read()


@pytest.mark.parametrize("path", [".", "none/t.jsonl", ""])
def test_what_cannot_be_written_is_refused(path):
    with pytest.raises(errors.InputError, match="^cannot write the trace to "):
        Trace(path)


def test_a_device_keeps_its_mode():
    before = os.stat("/dev/null").st_mode
    Trace("/dev/null").close()
    assert os.stat("/dev/null").st_mode == before


def test_a_full_disk_ends_the_trace_and_nothing_else():
    told = []
    trace = Trace("/dev/full", on_failure=told.append)
    trace.write(event="x")
    trace.close()
    assert told == ["No space left on device"]


def test_a_minus_is_stderr(capfd):
    trace = Trace("-")
    trace.close()
    assert '"event": "thrall"' in capfd.readouterr().err
    os.fstat(2)


# -- a file that is somebody else's ------------------------------------------------------------


@pytest.fixture
def catalog():
    path = Path("c.json")
    path.write_text("a catalog", encoding="ascii")
    return path


@pytest.mark.parametrize("path", ["c.json", "./c.json", "link", "hard"])
def test_a_trace_is_never_a_file_that_is_in_use_whatever_its_name(catalog, path):
    os.symlink("c.json", "link")
    os.link("c.json", "hard")
    with pytest.raises(
        errors.UsageError,
        match=rf"^the trace would overwrite {re.escape(path)}, which this run uses:",
    ):
        Trace(path, [None, "other", "c.json"])
    assert catalog.read_text(encoding="ascii") == "a catalog"


def test_a_trace_is_not_a_file_that_the_run_will_make_either():
    os.symlink("new.json", "link")
    with pytest.raises(errors.UsageError, match="^the trace would overwrite link, which this"):
        Trace("link", ["new.json"])
    assert os.listdir() == ["link"]


def test_a_name_that_no_file_has_is_nobody_elses():
    Trace("t.jsonl", ["", "-"]).close()
    assert os.path.getsize("t.jsonl")


@pytest.mark.parametrize(
    ("stream", "words"),
    [
        (0, "c.json, which is stdin: name another FILE"),
        (1, "c.json, which is stdout: name another FILE"),
        (2, "c.json, which is stderr: say --trace - for that"),
    ],
)
def test_a_trace_is_not_one_of_our_own_streams(catalog, stream, words):
    kept = os.dup(stream)
    with catalog.open("r+b") as file:
        os.dup2(file.fileno(), stream)
    try:
        with pytest.raises(errors.UsageError) as caught:
            Trace("c.json")
    finally:
        os.dup2(kept, stream)
        os.close(kept)
    assert str(caught.value) == f"the trace would overwrite {words}"
    assert catalog.read_text(encoding="ascii") == "a catalog"


def test_a_device_can_be_shared():
    Trace("/dev/null", ["/dev/null"]).close()
    with pytest.raises(errors.UsageError):
        Trace("t.jsonl", ["t.jsonl"])


# -- pipes -------------------------------------------------------------------------------------


def test_a_pipe_that_nobody_reads_is_refused_at_once():
    os.mkfifo("pipe")
    with pytest.raises(errors.InputError, match="^cannot write the trace to pipe: nobody reads"):
        Trace("pipe")


@pytest.fixture
def reader():
    os.mkfifo("pipe")
    fd = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    yield fd
    os.close(fd)


def test_a_pipe_with_a_reader_gets_the_trace(reader):
    trace = Trace("pipe")
    trace.write(event="x")
    trace.close()
    assert [json.loads(line)["event"] for line in os.read(reader, 9999).splitlines()] == ["thrall", "x"]  # fmt: skip


def test_a_reader_who_goes_away_ends_the_trace_and_nothing_else():
    os.mkfifo("pipe")
    fd = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    told = []
    trace = Trace("pipe", on_failure=told.append)
    os.close(fd)
    for _ in range(2):
        trace.write(event="x")
    trace.close()
    assert told == ["Broken pipe"]


def test_a_reader_who_stops_reading_ends_the_trace_and_nothing_else(reader):
    told = []
    trace = Trace("pipe", on_failure=told.append)
    for _ in range(2):
        trace.write(event="x" * (1 << 20))
    trace.close()
    assert told == ["its reader stopped reading"]
    assert os.read(reader, 9)


def test_a_slow_reader_is_waited_for(reader, monkeypatch):
    told, came = [], []
    trace = Trace("pipe", on_failure=told.append)
    monkeypatch.setattr(module.time, "sleep", lambda _: came.append(os.read(reader, 1 << 16)))
    trace.write(event="x" * (1 << 18))
    trace.close()
    assert (told, bool(came)) == ([], True)


@pytest.mark.parametrize("mode", [stat.S_IFBLK, stat.S_IFSOCK])
def test_what_is_neither_a_file_nor_a_terminal_nor_a_pipe_is_refused(monkeypatch, mode):
    Path("t.jsonl").write_text("what was there", encoding="ascii")
    real = os.fstat
    odd = os.stat_result((mode | 0o600, *real(0)[1:]))
    monkeypatch.setattr(module.os, "fstat", lambda _: odd)
    with pytest.raises(errors.InputError, match=": it is no file, terminal or pipe$"):
        Trace("t.jsonl")
    assert Path("t.jsonl").read_text(encoding="ascii") == "what was there"
