"""Odd surroundings: locales, descriptors, signals on entry, folders that are gone, neighbours."""

import contextlib
import json
import os
import threading

import pytest
from zoo import judge
from zoo.bench import CATALOG, Bench, limits, read_bytes, server, write_bytes
from zoo.expect import ANSWERED, FINE, Want

pytestmark = pytest.mark.zoo

LOCALES = {
    "plain": {"LC_ALL": "C"},
    "posix": {"LC_ALL": "POSIX", "LANG": "POSIX"},
    "encoding": {"PYTHONIOENCODING": "latin-1"},
    "strict": {"PYTHONIOENCODING": "ascii:strict", "LC_ALL": "C.UTF-8"},
}


@pytest.mark.parametrize("name", LOCALES)
def test_words_are_utf8_in_each_locale(bench, name):
    run = bench.call("drip", env={**LOCALES[name], "ZOO_DELAY": "0"})
    judge.check(bench, run, Want(out="dröp ✓ \U0001f9ac\n"))
    run = bench.call("ok", "text=é✓", tool="raw", env=LOCALES[name])
    judge.check(bench, run, Want(out_has=('"text": ?"(é✓|\\\\u00e9\\\\u2713)"',)), tool="raw")


@pytest.mark.parametrize("item", ["text=\udcff", "\udcff=1", 'n:="\udcff"', "f=@\udcff"])
def test_items_that_are_not_utf8_are_refused(bench, item):
    run = bench.run(["call", "echo", item, "--", "touch", "started"], stdin=b"")
    judge.check(bench, run, Want(status=(2, 3)))


def test_an_argv_that_is_not_utf8_arrives(bench):
    run = bench.run(["call", "whoami", *limits(), *server("ok", "x\udcff")])
    judge.check(bench, run, FINE, tool="whoami")
    assert json.loads(run.out)["argv"][1:] == ["x\udcff"], run.report(["another argv"])


@pytest.mark.parametrize("case", ["ok", "exit-on-call", "ignore-eof", "setsid", "die-on-unknown"])
def test_sigchld_is_ignored_on_entry(bench, case):
    """Then nobody has to reap, and nobody can; a shell's `trap '' CHLD` is enough for it."""
    run = bench.call(case, "--grace", "0.3", launch=("--ignore", "SIGCHLD"))
    says = ("Error: ExpectedInitialize", "panic: the zoo is on fire")
    passed_on = tuple(line for line in says if line.encode() in run.err)
    want = Want(status=(4,)) if case == "exit-on-call" else ANSWERED
    judge.check(bench, run, Want(status=want.status, out=want.out, server_says=passed_on))


@pytest.mark.parametrize("verb", ["call", "pin", "check"])
def test_the_working_directory_is_gone(bench, verb):
    if verb == "check":
        judge.check(bench, bench.pin("ok"), FINE)
    arguments = {
        "call": ["call", "echo", *limits(), *server("ok")],
        "pin": ["pin", CATALOG, *limits(), *server("ok")],
        "check": ["check", bench.catalog, *limits()],
    }[verb]
    run = bench.run(arguments, launch=("--vanish",))
    run.new_files = []
    judge.check(bench, run, {"call": ANSWERED, "pin": Want(status=(3,)), "check": FINE}[verb])


@pytest.mark.parametrize("gone", [{"HOME": "/no/such/home"}, {"TMPDIR": "/no/such/folder"}])
def test_folders_of_the_environment_are_gone(bench, gone):
    judge.check(bench, bench.call("ok", env=gone), ANSWERED)
    judge.check(bench, bench.pin("ok", env=gone), FINE)


def test_many_descriptors(bench):
    """More than select(2) can watch, and none of them for the server."""
    with contextlib.ExitStack() as stack:
        many = [stack.enter_context(open(os.devnull, "rb")).fileno() for _ in range(1100)]
        run = bench.call("ok", tool="whoami", stdin=b"{}", pass_fds=tuple(many))
    judge.check(bench, run, FINE, tool="whoami")
    assert json.loads(run.out)["descriptors"] == [0, 1, 2], run.report(["other descriptors"])


def test_a_stdout_that_does_not_block(bench):
    """As a parent in Node may leave it; the reader is slow."""
    size = 2_000_000
    received = []
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    os.set_blocking(reading, False)

    def read_some(_watch):
        with contextlib.suppress(BlockingIOError):
            received.append(os.read(reading, 1 << 16))

    run = bench.call("long-line", stdout=writing, env={"ZOO_SIZE": str(size)}, meanwhile=read_some)
    os.close(writing)
    while chunk := os.read(reading, 1 << 20):
        received.append(chunk)
    os.close(reading)
    judge.check(bench, run, Want(within=20))
    arrived = sum(map(len, received))
    assert arrived == size + 1, run.report([f"{arrived} bytes arrived"])


def at_once(*runs):
    """Do several runs at the same time, and collect them."""
    collected = [None] * len(runs)

    def do(number, run):
        collected[number] = run()

    threads = [threading.Thread(target=do, args=pair) for pair in enumerate(runs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return collected


def test_two_pins_at_once_leave_a_whole_catalog(bench):
    with contextlib.closing(Bench()) as neighbour:
        catalog = bench.catalog
        pins = [
            lambda each=each, case=case: each.run(
                ["pin", catalog, *limits(), *server(case)], stdin=b""
            )
            for each, case in ((bench, "ok"), (neighbour, "many-tools"))
        ]
        first, second = at_once(*pins)
        judge.check(neighbour, second, FINE)
        first.new_files = [name for name in first.new_files if name != CATALOG]
        judge.check(bench, first, FINE)
        judge.check(bench, bench.run(["check", CATALOG, *limits()], stdin=b""), FINE)


def test_a_catalog_is_read_while_it_is_written(bench):
    """A reader finds the old catalog or the new one, and never half of one."""
    judge.check(bench, bench.pin("ok"), FINE)
    whole = read_bytes(bench.catalog)
    seen = set()

    def look(_watch):
        seen.add(read_bytes(bench.catalog))

    run = bench.pin("many-tools", meanwhile=look)
    judge.check(bench, run, FINE)
    assert seen <= {whole, read_bytes(bench.catalog)}, run.report(["half a catalog was seen"])


def test_a_catalog_that_may_not_be_written(bench):
    folder = os.path.join(bench.work, "closed")
    os.mkdir(folder)
    write_bytes(os.path.join(folder, "not-a-folder"), b"")
    run = bench.run(["pin", "closed/not-a-folder/catalog", *limits(), *server("ok")], stdin=b"")
    judge.check(bench, run, Want(status=(3,)))
