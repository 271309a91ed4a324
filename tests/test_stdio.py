import errno
import os
import select
import signal
import threading
from types import SimpleNamespace

import pytest

from thrall_py.errors import InputError, Interrupted, OutputError
from thrall_py.transport import stdio


@pytest.fixture
def pipe():
    reading, writing = os.pipe()
    ends = {"reading": reading, "writing": writing}
    yield ends
    for end in ends.values():
        os.close(end)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_closed_descriptor_is_taken_so_that_nobody_else_gets_its_number(replaced, number):
    replaced(number)
    assert stdio.open_missing() == {number}
    assert os.fstat(number).st_rdev == os.stat(os.devnull).st_rdev


def test_what_is_open_is_left_alone():
    before = [os.fstat(number) for number in (0, 1, 2)]
    assert stdio.open_missing() == frozenset()
    assert [os.fstat(number) for number in (0, 1, 2)] == before


def test_a_closed_input_is_empty_and_a_closed_output_takes_nothing(replaced):
    for number in (0, 1, 2):
        replaced(number)
    assert stdio.open_missing() == {0, 1, 2}
    assert os.read(0, 1) == b""
    with pytest.raises(OSError, match="Bad file descriptor") as refused:
        os.write(1, b"x")
    assert refused.value.errno == errno.EBADF
    assert os.write(2, b"x") == 1


@pytest.mark.parametrize(
    "pieces", [[], [b""], [b"", b"one", b"", b"two\n"], [b"x" * 100_000, b"\0\xff"]]
)
def test_every_piece_is_written_to_a_file(tmp_path, replaced, interrupts, pieces):
    with open(tmp_path / "out", "wb") as file:
        replaced(1, file.fileno())
        stdio.write(pieces, interrupts)
    assert (tmp_path / "out").read_bytes() == b"".join(pieces)


def test_more_than_a_pipe_holds_is_written_as_it_is_read(pipe, replaced, interrupts):
    sent = os.urandom(300_000)
    received = []

    def read():
        while sum(map(len, received)) < len(sent):
            received.append(os.read(pipe["reading"], 65536))

    replaced(1, pipe["writing"])
    reader = threading.Thread(target=read)
    reader.start()
    stdio.write([sent], interrupts)
    reader.join()
    assert b"".join(received) == sent


def test_a_pipe_is_filled_at_once_where_the_kernel_can_say_when_it_is_full(pipe, replaced):
    replaced(1, pipe["writing"])
    taken = stdio._put(memoryview(bytes(1 << 20)))
    assert stdio._AT_ONCE <= taken <= 1 << 16
    assert len(os.read(pipe["reading"], 1 << 20)) == taken


def test_a_kernel_that_has_no_such_write_gets_a_little_at_a_time(
    pipe, replaced, monkeypatch, interrupts
):
    def refuse(*_):
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(os, "pwritev", refuse)
    replaced(1, pipe["writing"])
    stdio.write([bytes(10_000)], interrupts)
    assert stdio._put(memoryview(bytes(1 << 20))) == stdio._AT_ONCE
    assert len(os.read(pipe["reading"], 1 << 20)) == 10_000 + stdio._AT_ONCE


def test_a_signal_is_seen_while_nobody_reads(pipe, replaced, interrupts):
    replaced(1, pipe["writing"])
    pieces = iter([b"x" * 4096] * 1000)

    def with_a_signal():
        yield b"x" * 4096
        os.kill(os.getpid(), signal.SIGTERM)
        yield from pieces

    with pytest.raises(Interrupted) as interrupted:
        stdio.write(with_a_signal(), interrupts)
    assert interrupted.value.signum == signal.SIGTERM


def test_a_wakeup_without_a_signal_that_stops_us_is_slept_through(interrupts):
    turns = [[(interrupts.fileno(), select.POLLIN)], [], [(1, select.POLLOUT)]]
    stdio._wait(SimpleNamespace(poll=lambda: turns.pop(0)), interrupts, 1)
    assert turns == []


def test_a_reader_that_went_away_is_told_of_as_such(pipe, replaced, interrupts):
    replaced(1, pipe["writing"])
    os.close(pipe.pop("reading"))
    with pytest.raises(BrokenPipeError):
        stdio.write([b"x"], interrupts)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_is_told_of_in_a_sentence(replaced, interrupts):
    with open("/dev/full", "wb", buffering=0) as full:
        replaced(1, full.fileno())
        with pytest.raises(OutputError, match="^cannot write to stdout: No space left on device$"):
            stdio.write([b"x"], interrupts)


def test_a_closed_stdout_cannot_be_written_to(replaced, interrupts):
    replaced(1)
    with pytest.raises(OutputError, match="^cannot write to stdout: Bad file descriptor$"):
        stdio.write([b"x"], interrupts)


def test_stdin_is_read_to_its_end(tmp_path, replaced):
    (tmp_path / "in").write_bytes(b"a\n\xff")
    with open(tmp_path / "in", "rb") as file:
        replaced(0, file.fileno())
        assert stdio.read() == b"a\n\xff"


def test_stdin_that_cannot_be_read_is_told(tmp_path, replaced):
    with open(tmp_path / "out", "wb") as file:
        replaced(0, file.fileno())
        with pytest.raises(InputError, match="^cannot read stdin: Bad file descriptor$"):
            stdio.read()


def test_stdin_that_somebody_else_made_non_blocking_is_waited_for(pipe, replaced, monkeypatch):
    os.set_blocking(pipe["reading"], False)
    replaced(0, pipe["reading"])
    read, steps = os.read, [b"a", b"b"]

    def fed(fd, size):
        """Find nothing at first, and each time after that one more byte."""
        try:
            return read(fd, size)
        except BlockingIOError:
            if steps:
                os.write(pipe["writing"], steps.pop(0))
            else:
                os.close(pipe.pop("writing"))
            raise

    monkeypatch.setattr(os, "read", fed)
    assert stdio.read() == b"ab"


def test_input_without_an_end_is_refused(tmp_path, replaced, monkeypatch):
    monkeypatch.setattr(stdio, "_LARGEST", 3)
    (tmp_path / "in").write_bytes(b"four")
    with open(tmp_path / "in", "rb") as file:
        replaced(0, file.fileno())
        with pytest.raises(InputError, match="^the input is larger than 3 bytes$"):
            stdio.read()


# -- a question --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        (b"y\n", True), (b"yes\n", True), (b" YES \n", True), (b"Y\n", True),
        (b"n\n", False), (b"\n", False), (b"no\n", False), (b"yy\n", False), (b"\x04", False),
    ],
)  # fmt: skip
def test_only_yes_is_yes(terminal, replaced, interrupts, typist, typed, answer):
    replaced(0, terminal.theirs)
    replaced(2, terminal.theirs)
    end = typist(typed)
    assert stdio.ask("sure?", interrupts) is answer
    assert b"sure? [y/N] " in end()


@pytest.mark.parametrize("ahead", [b"y\n", b"y\ny\n", b"y"])
def test_a_yes_that_was_typed_before_the_question_is_none(
    terminal, replaced, interrupts, typist, ahead
):
    replaced(0, terminal.theirs)
    replaced(2, terminal.theirs)
    typist(b"\n", ahead)
    assert not stdio.ask("sure?", interrupts)


def test_nobody_there_is_no(pipe, replaced, interrupts):
    replaced(0, pipe["reading"])
    os.close(pipe.pop("writing"))
    assert not stdio.ask("sure?", interrupts)


def test_a_signal_is_seen_while_nobody_answers(pipe, replaced, interrupts):
    replaced(0, pipe["reading"])
    os.kill(os.getpid(), signal.SIGINT)
    with pytest.raises(Interrupted) as interrupted:
        stdio.ask("sure?", interrupts)
    assert interrupted.value.signum == signal.SIGINT


def test_a_wakeup_without_a_signal_that_stops_us_is_no_answer(
    pipe, replaced, monkeypatch, interrupts
):
    replaced(0, pipe["reading"])
    os.write(pipe["writing"], b"y\n")
    turns = [[(interrupts.fileno(), select.POLLIN)], [], [(0, select.POLLIN)]]
    poll = SimpleNamespace(poll=lambda: turns.pop(0), register=lambda *_: None)
    monkeypatch.setattr(select, "poll", lambda: poll)
    assert stdio.ask("sure?", interrupts)
    assert turns == []


def test_a_line_may_come_in_pieces_and_end_with_the_input(pipe, replaced, interrupts, monkeypatch):
    replaced(0, pipe["reading"])
    os.write(pipe["writing"], b"one\ntwo")
    os.close(pipe.pop("writing"))
    monkeypatch.setattr(stdio, "_AT_ONCE", 2)
    assert stdio.ask_line("", interrupts) == b"one\n"
    assert stdio.ask_line("", interrupts) == b"two"
    assert stdio.ask_line("", interrupts) is None


def test_a_terminal_that_is_gone_gives_no_line(terminal, replaced, interrupts, monkeypatch):
    def gone(*_):
        raise OSError(errno.EIO, "Input/output error")

    replaced(0, terminal.theirs)
    os.write(terminal.ours, b"x\n")
    with monkeypatch.context() as patch:
        patch.setattr(os, "read", gone)
        line = stdio.ask_line("", interrupts)
    assert line is None


def test_nobody_is_told_that_nothing_could_be_told(pipe, replaced):
    replaced(2, pipe["reading"])  # not open for writing
    assert stdio.tell("x") is None
