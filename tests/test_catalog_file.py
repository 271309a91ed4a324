import copy
import errno
import fcntl
import os
import stat
from pathlib import Path

import pytest
from test_codec import FULL, PLAIN, catalog

from thrall_py.catalog import file
from thrall_py.catalog.entry import Entry, pin_item
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.launch import LaunchSpec
from thrall_py.errors import CatalogError
from thrall_py.protocol import mcp

UNASKED = "; some are listed only to clients that can be asked: pin with --elicitation"

EMPTY = Catalog({})


def offering(*tools, prefix=""):
    """An entry with these tools."""
    pins = {name: pin_item({"name": name}) for name in tools}
    server = mcp.ServerInfo("2025-11-25")
    return Entry(LaunchSpec(("server",), {}), server, {"tools": pins}, prefix=prefix)


# -- reading -----------------------------------------------------------------------------------


def test_a_file_is_read_whole_and_checked():
    Path("c.json").write_bytes(catalog())
    assert list(file.read("c.json").servers["s"].tools) == ["t"]


@pytest.mark.parametrize(
    ("path", "why"), [("no\x1bne", "No such file or directory"), (".", "Is a directory")]
)
def test_a_file_that_cannot_be_read_is_told_of(path, why):
    with pytest.raises(CatalogError) as refused:
        file.read(path)
    assert str(refused.value) == "cannot read {}: {}".format(path.replace("\x1b", r"\x1b"), why)


def test_the_entry_that_offers_a_tool_is_found():
    entry = offering("a", prefix="p_")
    content = Catalog({"q": PLAIN, "r": offering("a"), "s": entry})
    assert file.entry_offering(content, "p_a") is entry
    assert file.entry_offering(content, "a") is content.servers["r"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({}, "the catalog does not have this tool"),
        ({"s": PLAIN}, f"the catalog does not have this tool{UNASKED}"),
        ({"s": offering("abcd", prefix="_")}, f"the catalog does not have this tool{UNASKED}"),
        ({"s": PLAIN._replace(modes=mcp.MODES)}, "the catalog does not have this tool"),
        ({"s": offering("a"), "t\x1b": offering("a")}, r"several servers have this tool: s, t\x1b"),
    ],
)
def test_a_tool_that_not_exactly_one_server_offers_is_refused(content, sentence):
    with pytest.raises(CatalogError) as refused:
        file.entry_offering(Catalog(content), "a")
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("tools", "hint"),
    [
        (["other"], UNASKED),
        (["read_file", "write_file", "x"], "; the nearest: read_file, write_file"),
        (["read_fil\x1b"], r"; the nearest: read_fil\x1b"),
    ],
)
def test_the_names_nearest_to_one_that_is_not_there_are_suggested(tools, hint):
    with pytest.raises(CatalogError) as refused:
        file.entry_offering(Catalog({"s": offering(*tools)}), "read_files")
    assert str(refused.value) == f"the catalog does not have this tool{hint}"


def test_the_nearest_names_are_those_that_can_be_called():
    content = Catalog({"s": offering("file", prefix="read_"), "t": offering("file")})
    with pytest.raises(CatalogError, match="; the nearest: read_file$"):
        file.entry_offering(content, "read_fil")


def test_a_server_is_found_by_its_name():
    content = Catalog({"q": PLAIN, "r": offering("a")})
    assert file.entry_of(content, "r") is content.servers["r"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("githab", "the catalog has no server githab; the nearest: github"),
        ("x\x1b", r"the catalog has no server x\x1b"),
        ("", "the catalog has no server "),
    ],
)
def test_a_server_that_is_not_there_is_refused(name, sentence):
    with pytest.raises(CatalogError) as refused:
        file.entry_of(Catalog({"github": PLAIN, "other": PLAIN}), name)
    assert str(refused.value) == sentence


# -- before writing ----------------------------------------------------------------------------


def test_what_is_not_there_yet_is_an_empty_catalog():
    assert file.read_for_update("new.json") == EMPTY
    Path("empty.json").touch()
    assert file.read_for_update("empty.json") == EMPTY
    assert file.read_for_update("-") == EMPTY
    os.symlink("to-be", "link.json")
    assert file.read_for_update("link.json") == EMPTY


def test_what_is_there_is_read():
    Path("c.json").write_text(file.dumps(Catalog({"s": FULL}, ("text",))))
    assert file.read_for_update("c.json") == Catalog({"s": FULL}, ("text",))


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("no\x1bne/c.json", r"cannot write no\x1bne/c.json: there is no directory {}/no\x1bne"),
        (".", "cannot write .: it is a directory"),
        ("/dev/null", "cannot write /dev/null: it is no regular file"),
        (
            "words",
            "words is no usable catalog: not JSON: Expecting value: line 1 column 1 (char 0)",
        ),
    ],
)
def test_what_cannot_be_replaced_is_refused_early(path, sentence):
    Path("words").write_text("words")
    with pytest.raises(CatalogError) as refused:
        file.read_for_update(path)
    assert str(refused.value) == sentence.format(os.getcwd())


def test_a_directory_that_takes_no_file_is_refused_early(monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(CatalogError, match="^cannot write c: the directory does not allow it$"):
        file.read_for_update("c")


@pytest.mark.parametrize("step", [file.read_for_update, lambda path: file.write(path, "text")])
def test_a_working_directory_that_is_gone_is_told_of(step):
    os.mkdir("gone")
    os.chdir("gone")
    os.rmdir("../gone")
    with pytest.raises(CatalogError, match="^cannot write c: No such file or directory$"):
        step("c")


# -- one after the other -----------------------------------------------------------------------


def test_who_has_the_lock_keeps_others_waiting_and_leaves_no_file():
    os.mkdir("dir")
    with file.lock("dir/c.json", fail):
        descriptor = os.open("dir", os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert os.listdir("dir") == []
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(descriptor)


def test_what_a_killed_writer_left_behind_is_removed_and_nothing_else(monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            file.write("c.json", "new")
    (stale,) = os.listdir()
    others = [f".d{stale[2:]}", f"x{stale}", f"{stale}0", stale[:-1], ".c.json.zzzzzzzz", "c.json"]
    for name in others:
        Path(name).write_text("theirs")
    os.symlink("c.json", "link")
    with file.lock("link", fail):
        assert sorted(os.listdir()) == sorted([*others, "link"])


def test_what_cannot_be_removed_stays():
    os.mkdir(".c.json.0123abcd")
    with file.lock("c.json", fail):
        assert os.listdir() == [".c.json.0123abcd"]


def test_the_lock_is_given_back_after_a_failure_too():
    with pytest.raises(KeyError), file.lock("c.json", fail):
        raise KeyError
    with file.lock("c.json", fail):
        assert os.listdir() == []


def test_who_waits_for_the_lock_is_asked_meanwhile_and_gets_it_in_the_end():
    holder = os.open(".", os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    waited = []

    def meanwhile():
        waited.append(len(waited))
        if len(waited) == 3:
            os.close(holder)

    with file.lock("c.json", meanwhile):
        assert waited == [0, 1, 2]


def test_who_gives_up_waiting_leaves_the_lock_to_its_holder():
    holder = os.open(".", os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)

    def meanwhile():
        raise KeyError

    with pytest.raises(KeyError), file.lock("c.json", meanwhile):
        pytest.fail("it is locked")
    os.close(holder)


def test_stdout_needs_no_lock(monkeypatch):
    monkeypatch.setattr(os, "open", fail)
    with file.lock("-", fail):
        assert os.listdir() == []


def test_a_directory_that_cannot_be_locked_is_told_of():
    with pytest.raises(CatalogError) as refused, file.lock("no\x1bne/c.json", fail):
        pytest.fail("it is locked")
    assert str(refused.value) == rf"cannot lock {os.getcwd()}/no\x1bne: No such file or directory"


# -- writing -----------------------------------------------------------------------------------


def test_a_new_file_has_the_mode_that_the_user_gives_to_files():
    previous = os.umask(0o027)
    try:
        file.write("c.json", "text\n")
    finally:
        os.umask(previous)
    assert Path("c.json").read_text() == "text\n"
    assert stat.S_IMODE(os.stat("c.json").st_mode) == 0o640
    assert os.listdir() == ["c.json"]


def test_the_mode_of_the_old_file_is_kept():
    Path("c.json").write_text("old")
    os.chmod("c.json", 0o604)
    file.write("c.json", "new")
    assert Path("c.json").read_text() == "new"
    assert stat.S_IMODE(os.stat("c.json").st_mode) == 0o604


def test_a_symbolic_link_stays_one_and_its_target_is_written():
    os.mkdir("dir")
    Path("dir/real.json").write_text("old")
    os.symlink("dir/real.json", "link.json")
    file.write("link.json", "new")
    assert os.readlink("link.json") == "dir/real.json"
    assert Path("dir/real.json").read_text() == "new"
    assert os.listdir("dir") == ["real.json"]


def fail(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_file_that_is_too_large_is_no_catalog(monkeypatch):
    Path("c.json").write_bytes(catalog())
    monkeypatch.setattr(file, "_LARGEST", len(catalog()))
    assert list(file.read("c.json").servers) == ["s"]
    monkeypatch.setattr(file, "_LARGEST", len(catalog()) - 1)
    with pytest.raises(CatalogError, match="^c.json is larger than a catalog may be, [0-9]+ bytes"):
        file.read("c.json")


def test_the_owner_of_the_old_file_is_kept_where_that_is_allowed(monkeypatch):
    Path("c.json").write_text("old")
    given = []

    def fchown(_descriptor, uid, gid):
        given.append((uid, gid))
        raise PermissionError

    monkeypatch.setattr(os, "fchown", fchown)
    file.write("c.json", "new")
    about = os.stat("c.json")
    assert (given, Path("c.json").read_text()) == ([(about.st_uid, about.st_gid)], "new")


@pytest.mark.parametrize("step", ["open", "fchown", "fchmod", "fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_no_other(monkeypatch, step):
    Path("c.json").write_text("old")
    with monkeypatch.context() as broken:
        broken.setattr(os, step, fail)
        with pytest.raises(CatalogError) as refused:
            file.write("c.json", "new")
    assert str(refused.value) == "cannot write c.json: No space left on device"
    assert os.listdir() == ["c.json"]
    assert Path("c.json").read_text() == "old"


def test_the_old_file_is_there_until_the_new_one_is_whole(monkeypatch):
    Path("c.json").write_text("old")
    seen = []

    def replace(source, target):
        seen.append((Path(target).read_text(), Path(source).read_text(), os.path.dirname(source)))

    monkeypatch.setattr(os, "replace", replace)
    file.write("c.json", "new")
    assert seen == [("old", "new", os.path.realpath("."))]


def test_reading_changes_nothing():
    content = Catalog({"s": copy.deepcopy(FULL)}, ("text",))
    file.dumps(content)
    assert content == Catalog({"s": FULL}, ("text",))
