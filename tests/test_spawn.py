import contextlib
import errno
import fcntl
import os
import signal
import sys

import pytest

from thrall_py.errors import CannotExecuteError, InputError, ProgramNotFoundError
from thrall_py.transport import spawn
from thrall_py.transport.spawn import Command

PATH = {"PATH": os.environ["PATH"]}
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a way to look")


@pytest.fixture
def run():
    """Start a program and let it end; what it wrote, and the child."""
    started = []

    def start(*argv, environment=PATH, cwd=None):
        child = spawn.spawn(Command(argv, dict(environment), cwd))
        started.append(child)
        os.set_blocking(child.output.fileno(), True)
        child.input.close()
        return child.output.read().decode(), child

    yield start
    for child in started:
        with contextlib.suppress(ChildProcessError):  # the test has
            os.waitpid(child.pid, 0)
        child.output.close()
        os.close(child.exit)


def script(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_a_server_gets_its_words_its_environment_and_its_directory(run, tmp_path):
    code = 'echo "$0|$1|$2|$A|$HOME|$(pwd -P)"'
    said, _ = run("sh", "-c", code, "a b", "", "${A}", environment={**PATH, "A": "1"}, cwd=tmp_path)
    assert said == f"a b||${{A}}|1||{os.path.realpath(tmp_path)}\n"


def test_a_server_leads_a_session_and_a_group(run):
    said, child = run("sh", "-c", "ps -o pid=,pgid=,sid= -p $$ || cut -d' ' -f1,5,6 /proc/$$/stat")
    assert said.split() == [str(child.pid)] * 3


@linux
def test_no_descriptor_above_2_is_inherited(run, tmp_path):
    with open(tmp_path / "held", "w") as held:
        os.set_inheritable(held.fileno(), True)
        said, _ = run("sh", "-c", "ls -l /proc/$$/fd")
    assert "held" not in said
    assert "pipe:" in said


@linux
def test_the_pipes_are_as_wide_as_everybody_may_have_them(run):
    _, child = run("true")
    assert fcntl.fcntl(child.output.fileno(), fcntl.F_GETPIPE_SZ) == 1 << 20


def test_a_pipe_that_cannot_be_widened_is_good_enough(tmp_path):
    with open(tmp_path / "no pipe", "w") as file:
        assert spawn._widen(file.fileno()) is None


@pytest.mark.parametrize(
    ("code", "failed"), [("exit 0", False), ("exit 3", True), ("kill -9 $$", True)]
)
def test_a_failure_is_told_from_an_exit_without_reaping(run, code, failed):
    _, child = run("sh", "-c", code)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert spawn.failed(child) is failed
    assert spawn.reap(child) in (0, 3, -signal.SIGKILL)


def test_a_process_that_runs_has_not_failed():
    child = spawn.spawn(Command(("cat",), PATH))
    assert not spawn.failed(child)
    assert spawn.reap(child) is None
    child.input.close()
    assert os.waitpid(child.pid, 0) == (child.pid, 0)
    child.output.close()
    os.close(child.exit)


def test_a_program_that_is_not_there_is_named_without_its_arguments():
    with pytest.raises(ProgramNotFoundError) as refused:
        spawn.spawn(Command(("no\x1bsuch", "secret"), PATH))
    assert str(refused.value) == r"the program no\x1bsuch was not found"


def test_a_program_in_a_directory_that_is_a_file_is_not_found(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ProgramNotFoundError, match="was not found$"):
        spawn.spawn(Command((str(tmp_path / "file" / "x"),), PATH))


def test_a_script_without_its_interpreter_cannot_be_executed(tmp_path):
    path = script(tmp_path / "lost", "#!/nowhere/sh\n")
    with pytest.raises(CannotExecuteError) as refused:
        spawn.spawn(Command((path,), PATH))
    assert str(refused.value) == f"the interpreter of {path} was not found"


def test_a_script_is_looked_for_where_it_is_started(tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    script(folder / "lost", "#!/nowhere/sh\n")
    with pytest.raises(CannotExecuteError, match=r"^the interpreter of \./lost was not found$"):
        spawn.spawn(Command(("./lost",), PATH, str(folder)))


def test_a_script_that_is_only_here_is_not_found_elsewhere(tmp_path):
    with open("only-here", "w") as file:
        os.chmod(file.fileno(), 0o755)
    with pytest.raises(ProgramNotFoundError) as refused:
        spawn.spawn(Command(("./only-here",), PATH, str(tmp_path)))
    assert (
        str(refused.value) == f"the program ./only-here was not found from the directory {tmp_path}"
    )


def test_without_a_directory_a_relative_program_is_looked_for_in_our_own():
    with pytest.raises(ProgramNotFoundError) as refused:
        spawn.spawn(Command(("bin/x",), PATH))
    assert str(refused.value) == f"the program bin/x was not found from the directory {os.getcwd()}"


def test_a_directory_of_our_own_that_is_gone_is_told_as_that():
    os.mkdir("gone")
    os.chdir("gone")
    os.rmdir(os.getcwd())
    with pytest.raises(ProgramNotFoundError, match=" from a directory that is gone$"):
        spawn.spawn(Command(("./x",), PATH))


@pytest.mark.parametrize(
    ("text", "mode", "why"),
    [
        ("#!/bin/sh\n", 0o644, "Permission denied"),
        ("neither script nor program", 0o755, "Exec format error"),
    ],
)
def test_what_is_no_program_cannot_be_executed(tmp_path, text, mode, why):
    path = tmp_path / "it"
    path.write_text(text)
    path.chmod(mode)
    with pytest.raises(CannotExecuteError) as refused:
        spawn.spawn(Command((str(path),), PATH))
    assert str(refused.value) == f"cannot execute {path}: {why}"


@pytest.mark.parametrize("kind", ["missing", "a file"])
def test_a_directory_that_is_not_there_is_the_callers_mistake(tmp_path, kind):
    cwd = str(tmp_path / "dir\x07")
    if kind == "a file":
        open(cwd, "w").close()
    with pytest.raises(InputError) as refused:
        spawn.spawn(Command(("true",), PATH, cwd))
    assert str(refused.value) == rf"there is no directory {tmp_path}/dir\x07"


def test_a_directory_that_cannot_be_entered_is_told_of(tmp_path):
    loop = tmp_path / "loop\x07"
    loop.symlink_to(loop)
    with pytest.raises(InputError) as refused:
        spawn.spawn(Command(("true",), PATH, str(loop)))
    assert str(refused.value) == (
        rf"cannot start in {tmp_path}/loop\x07: Too many levels of symbolic links"
    )


@linux
@pytest.mark.usefixtures("no_child_left")
def test_a_server_that_cannot_be_watched_is_not_left_running(monkeypatch):
    def too_many(_pid):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "pidfd_open", too_many)
    with pytest.raises(CannotExecuteError) as refused:
        spawn.spawn(Command(("cat",), PATH))
    assert str(refused.value) == "cannot watch cat: Too many open files"


@linux
@pytest.mark.usefixtures("no_child_left")
def test_where_open_descriptors_are_not_listed_none_is_inherited_either(run, tmp_path, monkeypatch):
    def nothing_mounted(_path):
        raise FileNotFoundError

    monkeypatch.setattr(os, "listdir", nothing_mounted)
    with open(tmp_path / "held", "w") as held:
        os.set_inheritable(held.fileno(), True)
        said, _ = run("sh", "-c", "ls -l /proc/$$/fd")
    assert "held" not in said


def test_signals_that_python_ignores_have_their_meaning_for_a_server(run):
    said, _ = run("sh", "-c", "kill -s PIPE $$; echo alive")
    assert said == ""


def test_our_own_directory_stays_ours(run, tmp_path):
    here = os.getcwd()
    run("true", cwd=tmp_path)
    with pytest.raises(ProgramNotFoundError):
        run("no such program", cwd=tmp_path)
    with pytest.raises(InputError):
        run("true", cwd=str(tmp_path / "nowhere"))
    assert os.getcwd() == here


def test_a_program_is_looked_for_on_the_path_of_its_own_environment(run, tmp_path):
    for place, mode in (("empty", 0), ("first", 0o644), ("second", 0o755), ("third", 0o755)):
        (tmp_path / place).mkdir()
        if mode:
            os.chmod(script(tmp_path / place / "it", f"#!/bin/sh\necho {place}\n"), mode)
    (tmp_path / "empty" / "it").mkdir()
    places = [str(tmp_path / place) for place in ("missing", "empty", "first", "second", "third")]
    said, _ = run("it", environment={"PATH": ":".join(places)})
    assert said == "second\n"
    with pytest.raises(CannotExecuteError, match="^cannot execute it: Permission denied$"):
        run("it", environment={"PATH": ":".join(places[:3])})


def test_a_script_on_the_path_without_its_interpreter_is_passed_over(run, tmp_path):
    for place, line in (("first", "#!/nowhere/sh"), ("second", "#!/bin/sh\necho second")):
        (tmp_path / place).mkdir()
        script(tmp_path / place / "it", f"{line}\n")
    said, _ = run("it", environment={"PATH": f"{tmp_path}/first:{tmp_path}/second"})
    assert said == "second\n"
    with pytest.raises(CannotExecuteError, match="^the interpreter of it was not found$"):
        run("it", environment={"PATH": f"{tmp_path}/first"})


def test_a_directory_of_our_own_that_may_not_be_entered_is_left(run, tmp_path, monkeypatch):
    real = os.open

    def refused(path, *rest):
        if path == os.curdir:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real(path, *rest)

    monkeypatch.setattr(os, "open", refused)
    said, _ = run("sh", "-c", "pwd -P", cwd=tmp_path)
    assert said == f"{os.path.realpath(tmp_path)}\n"


def test_an_empty_word_in_the_path_is_the_directory_of_the_server(run, tmp_path):
    script(tmp_path / "it", "#!/bin/sh\npwd -P\n")
    said, _ = run("it", environment={"PATH": ":/nowhere"}, cwd=tmp_path)
    assert said == f"{os.path.realpath(tmp_path)}\n"


def test_a_program_of_that_name_where_it_is_started_is_not_taken_for_one_on_the_path(tmp_path):
    script(tmp_path / "it", "#!/bin/sh\necho wrong\n")
    os.chdir(tmp_path)
    for command in (
        Command(("it",), {"PATH": "/nowhere"}),
        Command(("it",), {"PATH": "/nowhere"}, str(tmp_path)),
        Command(("it",), {}),
    ):
        for start in (spawn.spawn, spawn.look_for):
            with pytest.raises(ProgramNotFoundError, match="^the program it was not found$"):
                start(command)


def test_what_is_looked_for_is_what_would_be_started(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    script(folder / "it", "#!/bin/sh\n")
    (tmp_path / "text").touch()
    for words, path in ((("it",), ":/nowhere"), (("./it",), ""), ((str(folder / "it"),), "")):
        spawn.look_for(Command(words, {"PATH": path}, str(folder)))
    for word in ("./text", "./folder"):
        with pytest.raises(CannotExecuteError, match=f"^cannot execute {word}: Permission denied$"):
            spawn.look_for(Command((word,), {}, str(tmp_path)))


@pytest.mark.usefixtures("no_child_left")
def test_without_a_free_descriptor_nothing_is_started_and_none_is_kept(monkeypatch):
    pipe, made = os.pipe, []

    def one_pipe_only():
        if made:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        made.extend(pipe())
        return made

    monkeypatch.setattr(os, "pipe", one_pipe_only)
    with pytest.raises(CannotExecuteError, match="^cannot execute true: Too many open files$"):
        spawn.spawn(Command(("true",), PATH))
    for descriptor in made:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)


def test_a_program_without_a_name_is_not_there():
    with pytest.raises(ProgramNotFoundError, match="^the program has no name$"):
        spawn.spawn(Command(("",), {}))


def test_words_that_no_argument_can_hold_cannot_be_executed():
    with pytest.raises(CannotExecuteError, match="^cannot execute x: not in this locale$"):
        spawn.spawn(Command(("x", "\ud800"), dict(os.environ)))


def test_a_program_is_named_as_it_was_written_before_a_secret_was_filled_in():
    with pytest.raises(ProgramNotFoundError) as failed:
        spawn.spawn(Command(("./hunter22",), {}, None, "./${SECRET}"))
    where = f"from the directory {os.getcwd()}"
    assert str(failed.value) == f"the program ./${{SECRET}} was not found {where}"
