"""Catalogs: calls through them, drift, damage, and parts that are saved."""

import os
import stat

import pytest
from zoo import judge
from zoo.animals.results import PNG, big_picture
from zoo.bench import CATALOG, limits, read_bytes, server, write_bytes
from zoo.expect import ANSWERED, ECHO, FINE, Want

pytestmark = pytest.mark.zoo

THROUGH = ["call", "echo", *limits(), "--catalog", CATALOG]


def pinned(bench, case, **how):
    run = bench.pin(case, **how)
    judge.check(bench, run, FINE)
    return read_bytes(bench.catalog)


@pytest.mark.parametrize("case", ["ok", "modern-only", "die-on-unknown"])
def test_a_call_through_a_catalog(bench, case):
    """The era is remembered."""
    pinned(bench, case)
    never = "initialize" if case == "modern-only" else "server/discover"
    judge.check(bench, bench.run(THROUGH), Want(out=ECHO, never_sends=(never,)))


def test_a_call_through_a_catalog_after_drift(bench):
    env = {"ZOO_STATE": f"{bench.notes}/state"}
    pinned(bench, "rugpull", env=env)
    run = bench.run(THROUGH, env=env)
    judge.check(bench, run, Want(status=(6,), never_sends=("tools/call",)))


def test_a_call_through_a_catalog_of_a_tool_that_is_gone(bench):
    pinned(bench, "empty-list", env={"ZOO_CASE": "ok"})
    run = bench.run(THROUGH)
    judge.check(bench, run, Want(status=(6, 4), never_sends=("tools/call",)))


def test_a_call_through_a_catalog_of_a_tool_that_was_not_pinned(bench):
    pinned(bench, "pages")
    run = bench.run(["call", "raw", *limits(), "--catalog", CATALOG])
    want = Want(status=(2, 3, 6), never_sends=("tools/call",))
    judge.check(bench, run, want, tool="raw")


@pytest.mark.parametrize("other", ["modern-only", "ok"])
def test_the_remembered_era_has_passed(bench, other):
    """A server that changed its era is still found, or refused, but never mistaken."""
    first = "ok" if other == "modern-only" else "modern-only"
    pinned(bench, other, env={"ZOO_CASE": first})
    run = bench.run(["check", CATALOG, *limits()], stdin=b"")
    judge.check(bench, run, Want(status=(0, 1), within=12))


DAMAGED = {
    "missing": None,
    "empty": b"",
    "truncated": b"{",
    "array": b"[]",
    "null": b"null",
    "bytes": b"\x00\xff",
    "empty-object": b"{}",
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_catalog_that_cannot_be_used(bench, name):
    if DAMAGED[name] is not None:
        write_bytes(bench.catalog, DAMAGED[name])
    judge.check(bench, bench.run(["check", CATALOG], stdin=b""), Want(status=(3,)))
    judge.check(bench, bench.run(["call", "echo", "--catalog", CATALOG]), Want(status=(3,)))
    assert read_bytes(bench.catalog) == (DAMAGED[name] or b"")


def test_a_catalog_cut_anywhere(bench):
    whole = pinned(bench, "ok")
    for length in range(1, len(whole) - 2, len(whole) // 12):
        write_bytes(bench.catalog, whole[:length])
        judge.check(bench, bench.run(["check", CATALOG], stdin=b""), Want(status=(3,)))


def test_a_catalog_that_is_a_folder(bench):
    os.mkdir(bench.catalog)
    judge.check(bench, bench.run(["check", CATALOG], stdin=b""), Want(status=(3,)))
    run = bench.pin("ok")
    judge.check(bench, run, Want(status=(3,)))


def test_a_catalog_where_nobody_may_write(bench):
    run = bench.run(["pin", "no/such/folder/" + CATALOG, *limits(), *server("ok")], stdin=b"")
    judge.check(bench, run, Want(status=(3, 2)))


@pytest.mark.parametrize("case", ["page-error", "exit-at-start", "tools-null", "dup-tools"])
def test_a_pin_that_fails_leaves_nothing(bench, case):
    run = bench.pin(case)
    assert run.status in (4, 5), run.report(["another status"])
    assert not run.new_files, run.report([f"left: {run.new_files}"])


def test_the_catalog_is_a_plain_file(bench):
    pinned(bench, "ok")
    mode = os.stat(bench.catalog).st_mode
    assert stat.S_ISREG(mode)
    assert not mode & 0o111


def saved(bench, run):
    folder = os.path.join(bench.work, "parts")
    files = {name: read_bytes(os.path.join(folder, name)) for name in os.listdir(folder)}
    words = run.out.decode("utf-8", "replace")
    unnamed = [name for name in files if name not in words]
    assert not unnamed, run.report([f"stdout does not name {unnamed}"])
    return files


@pytest.fixture
def parts(bench):
    os.mkdir(os.path.join(bench.work, "parts"))


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize(
    ("case", "content"),
    [("media", PNG), ("big-image", big_picture()), ("hostile-media", PNG), ("path-media", PNG)],
)
def test_parts_are_saved_and_named(bench, case, content):
    run = bench.call(case, "--save", "parts")
    judge.check(bench, run, FINE)
    files = saved(bench, run)
    assert content in files.values(), run.report([f"not among {sorted(files)}"])
    bad = [name for name in files if judge.UNPRINTABLE.search(name) or name.startswith(".")]
    assert not bad, run.report([f"names: {bad!r}"])
    everything = {name for _, folders, names in os.walk(bench.root) for name in folders + names}
    assert "escaped" not in "".join(everything - set(files)), run.report(["outside of the folder"])


@pytest.mark.usefixtures("parts")
def test_parts_do_not_replace_files(bench):
    """A second call keeps what the first one saved, or says that it cannot."""
    judge.check(bench, bench.call("media", "--save", "parts"), FINE)
    folder = os.path.join(bench.work, "parts")
    for name in os.listdir(folder):
        write_bytes(os.path.join(folder, name), b"precious")
    before = len(os.listdir(folder))
    run = bench.call("media", "--save", "parts")
    precious = [read_bytes(os.path.join(folder, name)) for name in os.listdir(folder)]
    assert precious.count(b"precious") == before, run.report(["a file was replaced"])


@pytest.mark.usefixtures("parts")
def test_a_part_that_is_not_base64_is_not_saved_as_if_it_were(bench):
    run = bench.call("bad-base64", "--save", "parts")
    judge.check(bench, run, Want(status=(0, 4)))
    assert not os.listdir(os.path.join(bench.work, "parts")), run.report(["something was saved"])
    assert run.status == 4 or run.words().strip(), run.report(["nobody is told"])


def test_parts_without_a_folder_for_them(bench):
    """Made, or refused; the answer is not lost in silence."""
    run = bench.call("media", "--save", "no/such/folder")
    assert run.status in (0, 2, 3), run.report(["another status"])
    assert "Traceback" not in run.words(), run.report(["a traceback"])


def test_through_a_catalog_nothing_else_is_answered(bench):
    pinned(bench, "ok")
    judge.check(bench, bench.run(["check", CATALOG, *limits()], stdin=b""), FINE)
    judge.check(bench, bench.run(THROUGH), ANSWERED)
