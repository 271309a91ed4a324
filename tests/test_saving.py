import json
import os
import stat
from pathlib import Path

import pytest

from thrall_py.errors import InputError, OutputError, ServerError
from thrall_py.output import render, saving
from thrall_py.protocol.jsontext import EACH, scan

PNG = {"type": "image", "mimeType": "image/png", "data": "iVBORw=="}
TEXT = {"type": "text", "text": "words"}
LINK = {"type": "resource_link", "uri": "file:///etc/passwd"}
NOTE = {"type": "resource", "resource": {"uri": "../x", "mimeType": "text/plain", "text": "note"}}
BROKEN = {"type": "audio", "data": "not base64"}


def answer(*parts):
    text = json.dumps({"content": parts})
    return render.read_result(scan(text, {"content": {EACH: {"resource": {}}}}))


def test_every_part_that_is_not_text_becomes_a_file_named_by_its_place():
    saved = saving.save(answer(TEXT, PNG, LINK, NOTE), ".")
    assert saved == {1: "./part-2.png", 3: "./part-4.txt"}
    assert sorted(os.listdir()) == ["part-2.png", "part-4.txt"]
    assert Path("part-2.png").read_bytes() == b"\x89PNG"
    assert Path("part-4.txt").read_bytes() == b"note"


def test_without_such_a_part_there_is_no_file():
    assert saving.save(answer(TEXT, LINK), ".") == {}
    assert os.listdir() == []


def test_a_file_that_is_there_is_not_written_over():
    for name in ("part-1.png", "part-2.png"):
        Path(name).write_text("mine")
    os.symlink("nowhere", "part-3.png")
    assert saving.save(answer(PNG, PNG), ".") == {0: "./part-4.png", 1: "./part-5.png"}
    assert Path("part-1.png").read_text() == "mine"
    assert not os.path.exists("nowhere")


def test_nothing_is_written_unless_all_can_be_decoded():
    with pytest.raises(ServerError, match="the audio part is not base64"):
        saving.save(answer(PNG, BROKEN), ".")
    assert os.listdir() == []


NOTHING = [
    {"type": "image", "mimeType": "image/png"},
    {"type": "image", "data": 5},
    {"type": "audio", "data": None},
    {"type": "resource", "resource": {"uri": "x:1"}},
]


@pytest.mark.parametrize("part", NOTHING)
def test_a_part_with_nothing_in_it_is_no_file(part):
    with pytest.raises(ServerError, match=f"the {part['type']} part has no data"):
        saving.save(answer(PNG, part), ".")
    assert os.listdir() == []


def test_a_directory_that_is_gone_is_told_of(tmp_path):
    gone = str(tmp_path / "go\nne")
    with pytest.raises(OutputError) as refused:
        saving.save(answer(PNG), gone)
    assert str(refused.value) == (
        rf"cannot write {tmp_path}/go\nne/part-1.png: No such file or directory"
    )


def test_the_name_of_a_file_is_safe_to_look_at(tmp_path):
    odd = tmp_path / "a\x1bb"
    odd.mkdir()
    assert saving.save(answer(PNG), str(odd)) == {0: rf"{tmp_path}/a\x1bb/part-1.png"}


def test_a_directory_that_takes_files_is_good():
    assert saving.check_directory(".") is None


@pytest.mark.parametrize("make", [None, os.mknod])
def test_what_is_no_directory_is_refused_early(tmp_path, make):
    path = str(tmp_path / "x\x1by")
    if make:
        make(path, stat.S_IFREG | 0o644)
    with pytest.raises(InputError) as refused:
        saving.check_directory(path)
    assert str(refused.value) == rf"there is no directory {tmp_path}/x\x1by to save in"


def test_a_directory_that_takes_no_files_is_refused_early(monkeypatch):
    asked = []

    def access(path, mode):  # root may write everywhere
        asked.append((path, mode))
        return False

    monkeypatch.setattr(os, "access", access)
    with pytest.raises(InputError, match=r"^the directory \. cannot be written$"):
        saving.check_directory(".")
    assert asked == [(".", os.W_OK | os.X_OK)]


def test_half_a_part_is_not_left_behind():
    class Part:
        extension = ".png"

        def decode(self):
            yield b"half"
            raise OSError(28, "No space left on device")

    with pytest.raises(OutputError, match="^cannot write ./part-1.png: No space left on device$"):
        saving._write(".", 1, Part())
    assert os.listdir() == []


# -- over what is there ------------------------------------------------------------------------


def test_by_force_a_file_that_is_there_is_written_over():
    Path("part-1.png").write_text("old")
    os.symlink("nowhere", "part-2.png")
    assert saving.save(answer(PNG, PNG), ".", force=True) == {0: "./part-1.png", 1: "./part-2.png"}
    assert sorted(os.listdir()) == ["part-1.png", "part-2.png"]
    for name in os.listdir():
        assert not os.path.islink(name)
        assert Path(name).read_bytes() == b"\x89PNG"


def test_force_leaves_what_is_there_as_it_is_if_it_cannot_be_written(tmp_path):
    gone = str(tmp_path / "gone")
    with pytest.raises(OutputError, match="No such file or directory"):
        saving.save(answer(PNG), gone, force=True)
    os.mkdir("part-1.png")
    with pytest.raises(OutputError, match="cannot write ./part-1.png: Is a directory"):
        saving.save(answer(PNG), ".", force=True)
    assert os.listdir() == ["part-1.png"]
