"""Starting a server: programs, environments, descriptors and deadlines."""

import json
import os
import re
import shlex
import signal

import pytest
from zoo import judge
from zoo.bench import CATALOG, UNTOLD, limits, server, write_bytes
from zoo.expect import ANSWERED, Want

pytestmark = pytest.mark.zoo


@pytest.fixture
def programs(bench):
    write_bytes(os.path.join(bench.work, "plain-file"), b"echo hi\n", 0o644)
    write_bytes(os.path.join(bench.work, "no-interpreter"), b"#!/no/such/interpreter\n", 0o755)
    write_bytes(os.path.join(bench.work, "not-a-program"), b"\x00\x01\x02\x03", 0o755)
    write_bytes(os.path.join(bench.work, "empty-file"), b"", 0o755)
    os.mkdir(os.path.join(bench.work, "folder"))


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("verb", ["call", "pin"])
@pytest.mark.parametrize(
    ("program", "statuses"),
    [
        ("no-such-program-anywhere", (127,)),
        ("./no-such-file", (127,)),
        ("./plain-file", (126,)),
        ("./not-a-program", (126,)),
        ("./empty-file", (126, 4)),
        ("./no-interpreter", (126, 127)),
        ("./folder", (126,)),
        ("./plain-file/below", (126, 127)),
        ("./esc\x1b[31m\u202e", (127,)),
    ],
)
def test_programs_that_cannot_be_started(bench, verb, program, statuses):
    printable = "".join(re.escape(part) for part in re.findall(r"^[ -~]+", program))
    want = Want(status=statuses, says=(printable,))
    what = "echo" if verb == "call" else CATALOG
    stdin = b"{}" if verb == "call" else b""
    run = bench.run([verb, what, *limits(), "--", program, UNTOLD], stdin=stdin)
    judge.check(bench, run, want)


def test_a_folder_that_is_not_there(bench):
    run = bench.call("ok", "--cwd", "no-such-folder")
    judge.check(bench, run, Want(status=(2, 3, 4, 126, 127), says=("no-such-folder",)))


@pytest.mark.parametrize("program", ["true", "false", "cat", "yes"])
def test_programs_that_are_no_servers(bench, program):
    run = bench.run(["call", "echo", *limits(start_timeout=3), "--", program])
    judge.check(bench, run, Want(status=(4, 124, 5), within=12))


REPOSITORY = (
    *("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"),
    *("GIT_PREFIX", "GIT_CONFIG_PARAMETERS", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG"),
    *("GIT_CONFIG_COUNT", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_NO_REPLACE_OBJECTS"),
)


def test_the_environment(bench):
    """No repository of git, no further descriptor, a session of its own."""
    env = dict.fromkeys(REPOSITORY, "/nowhere") | {"ZOO_EXTRA": "kept", "GIT_SSH_COMMAND": "ssh"}
    with open(os.devnull, "rb") as extra:
        run = bench.call("ok", tool="whoami", stdin=b"{}", env=env, pass_fds=(extra.fileno(),))
    judge.check(bench, run, Want(), tool="whoami")
    who = json.loads(run.out)
    inherited = set(who["environment"])
    assert not inherited & set(REPOSITORY), run.report(["a repository of git is inherited"])
    assert {"ZOO_EXTRA", "GIT_SSH_COMMAND", "PATH", "HOME"} <= inherited, run.report(
        ["not inherited"]
    )
    assert who["descriptors"] == [0, 1, 2], run.report(["other descriptors"])
    assert who["pid"] == who["group"] == who["session"], run.report(["it does not lead"])


def test_a_clean_environment(bench):
    os.mkdir(os.path.join(bench.work, "elsewhere"))
    kept = [word for name in ("LOG", "MARK", "TTL") for word in ("--env", "ZOO_" + name)]
    added = ["--env", "ZOO_ONE", "--env", "ZOO_TWO=2", "--cwd", "elsewhere"]
    env = {"ZOO_ONE": "1", "ZOO_THREE": "3"}
    run = bench.call("ok", "--clean-env", *kept, *added, tool="whoami", stdin=b"{}", env=env)
    judge.check(bench, run, Want(), tool="whoami")
    who = json.loads(run.out)
    assert {"ZOO_ONE", "ZOO_TWO", "PATH"} <= set(who["environment"]), run.report(["one is missing"])
    assert "ZOO_THREE" not in who["environment"], run.report(["not clean"])
    assert who["cwd"] == os.path.join(bench.work, "elsewhere"), run.report(["another folder"])


def test_without_stdin(bench):
    judge.check(bench, bench.call("ok", "text=hi", launch=("--close", "0")), ANSWERED)
    run = bench.call("ok", launch=("--close", "0"))
    judge.check(bench, run, Want(status=(3,)))


def test_without_stderr(bench):
    judge.check(bench, bench.call("ok", launch=("--close", "2")), ANSWERED)


def test_without_stdout(bench):
    run = bench.call("ok", launch=("--close", "1"))
    assert run.status not in (70, None), run.report(["another status"])
    assert "Traceback" not in run.words(), run.report(["a traceback"])
    assert not run.survivors, run.report([f"alive: {run.survivors}"])


def test_the_server_gets_descriptors_even_if_there_are_none(bench):
    run = bench.call("ok", "a=b", tool="whoami", launch=("--close", "0", "--close", "2"))
    assert run.status == 0, run.report(["another status"])
    descriptors = json.loads(run.out)["descriptors"]
    assert descriptors[:2] == [0, 1], run.report([f"descriptors {descriptors}"])
    assert set(descriptors) <= {0, 1, 2}, run.report([f"descriptors {descriptors}"])


def test_signals_of_the_server_are_as_usual(bench):
    """A blocked or ignored signal of ours is not the server's."""
    script = "grep -E 'SigBlk|SigIgn' /proc/self/status >&2"
    run = bench.run(["call", "echo", *limits(), "--", "sh", "-c", script])
    masks = dict(re.findall(r"^(SigBlk|SigIgn):\s+([0-9a-f]+)$", run.err.decode(), re.MULTILINE))
    assert int(masks["SigBlk"], 16) == 0, run.report(["blocked signals"])
    ignored = int(masks["SigIgn"], 16)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        assert not ignored >> (number - 1) & 1, run.report([f"{number.name} is ignored"])


def test_the_start_timeout(bench):
    arguments = ["call", "echo", *limits(start_timeout=1), *server("slow-start")]
    run = bench.run(arguments, env={"ZOO_DELAY": "20"})
    judge.check(bench, run, Want(status=(124,), at_least=1))


def test_progress_extends_nothing(bench):
    run = bench.run(["call", "echo", *limits(timeout=1), *server("progress")])
    judge.check(bench, run, Want(status=(124,), says=("may have run",), at_least=1))


@pytest.mark.parametrize(
    ("name", "words"),
    [("THRALL_CALL_TIMEOUT", ()), ("THRALL_CALL_GRACE", ("--timeout", "1.5"))],
)
def test_an_option_from_the_environment(bench, name, words):
    run = bench.run(["call", "echo", *words, *server("silent-call")], env={name: "1.5"})
    want = Want(status=(124,), says=("may have run",), cancels=True, at_least=1.5)
    judge.check(bench, run, want)


@pytest.mark.parametrize("size", [100, 1 << 20])
def test_a_limit_for_messages(bench, size):
    limit = ["--max-message", str(size)]
    run = bench.run(
        ["call", "echo", *limits(), *limit, *server("long-line")], env={"ZOO_SIZE": str(size)}
    )
    judge.check(bench, run, Want(status=(4,), within=6))


@pytest.mark.parametrize("case", ["ok", "ignore-term", "grandchild", "exit-on-call"])
def test_a_server_behind_a_shell(bench, case):
    inner = shlex.join(server(case)[1:])
    run = bench.run(["call", "echo", *limits(), "--", "sh", "-c", inner + "; true"])
    died = Want(status=(4,), server_says=("panic: the zoo is on fire",))
    judge.check(bench, run, died if case == "exit-on-call" else ANSWERED)


@pytest.mark.parametrize("revision", ["2025-11-25", "2024-11-05", "2026-07-28"])
def test_a_fixed_revision(bench, revision):
    modern = revision == "2026-07-28"
    run = bench.call("dual-era", "--protocol", revision)
    never = "initialize" if modern else "server/discover"
    judge.check(bench, run, Want(out=ANSWERED.out, never_sends=(never,)))


def test_a_fixed_revision_that_is_not_spoken(bench):
    run = bench.call("modern-only", "--protocol", "2025-11-25")
    judge.check(bench, run, Want(status=(4, 5), never_sends=("tools/",)))
    run = bench.call("old-version", "--protocol", "2025-11-25")
    judge.check(bench, run, Want(status=(4,), says=("2024-11-05",), never_sends=("tools/",)))
