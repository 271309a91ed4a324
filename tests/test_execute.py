"""One run of a plain command: what becomes of its output and its status."""

import json
import os

import pytest
from servers import command
from test_watched import Diary

from thrall_py.catalog.entry import command_entry, pin_item
from thrall_py.catalog.launch import ExecSpec, LaunchSpec
from thrall_py.errors import (
    CannotExecuteError,
    InputError,
    ProgramNotFoundError,
    ServerError,
    TimedOutError,
)
from thrall_py.transport import filter as filter_
from thrall_py.verbs import execute
from thrall_py.verbs.call import Call
from thrall_py.verbs.connect import ConnectionOptions
from thrall_py.verbs.execute import Executed

CONNECTION = ConnectionOptions(timeout=10, start_timeout=10, grace=0, max_message=1 << 20)


def sh(script, **surroundings):
    return ExecSpec(LaunchSpec(("sh", "-c", script), {}, **surroundings))


def run(interrupts, spec, arguments="{}", tool="t", **changes):
    return execute.run(spec, tool, arguments, CONNECTION._replace(**changes), interrupts)


@pytest.mark.parametrize(
    ("script", "answer"),
    [
        ("cat", ('{"é":  1.0}', False)),
        ("echo yes", ("yes", False)),
        ("echo; echo yes; echo", ("\nyes\n", False)),
        ("printf yes", ("yes", False)),
        ("true", ("", False)),
        ("echo no; exit 3", ("no", True)),
        ("exit 3", ("the command exited with status 3 and wrote nothing", True)),
        ("echo; exit 3", ("the command exited with status 3 and wrote nothing", True)),
        ("kill -KILL $$", ("the command was ended by SIGKILL and wrote nothing", True)),
        ('printf %s "$THRALL_TOOL"', ("t", False)),
    ],
)
def test_stdout_is_the_text_and_the_status_the_verdict(interrupts, script, answer):
    assert run(interrupts, sh(script), '{"é":  1.0}') == Executed(*answer)


def test_words_and_surroundings_are_filled_in(interrupts, monkeypatch, tmp_path):
    monkeypatch.setenv("WORD", "w")
    monkeypatch.setenv("OTHER", "x")
    script = 'echo ${WORD} "$A" "$OTHER" "$THRALL_TOOL"; pwd'
    launch = LaunchSpec(("sh", "-c", script), {"A": "<${WORD}>"}, clean_env=True, cwd=str(tmp_path))
    assert run(interrupts, ExecSpec(launch)).text == f"w <w>  t\n{tmp_path}"


def test_an_answer_is_a_result_in_ascii():
    assert json.loads(Executed("é\n", is_error=False).result()) == {
        "content": [{"type": "text", "text": "é\n"}]
    }
    failed = Executed("\x1b\u202e", is_error=True).result()
    assert failed.isascii()
    assert json.loads(failed)["isError"] is True


def refusal(error, *given, **changes):
    with pytest.raises(error) as refused:
        run(*given, **changes)
    return str(refused.value)


def test_output_that_is_not_utf_8_is_no_answer(interrupts):
    sentence = refusal(ServerError, interrupts, sh(r"printf 'ab\377'"))
    assert sentence == (
        "the command did not answer with text: byte 3 of its output is not UTF-8; the tool has run"
    )


def test_too_much_output_is_no_answer(interrupts):
    sentence = refusal(ServerError, interrupts, sh("printf 123456"), max_message=5)
    assert sentence == (
        "the command sent more than 5 bytes in one answer (--max-message); the tool may have run"
    )


def test_a_command_that_does_not_end_is_ended(interrupts, graveyard):
    spec = ExecSpec(LaunchSpec(command("never_reads", graveyard.path), {}))
    sentence = refusal(TimedOutError, interrupts, spec, timeout=0.3)
    assert sentence == "the command did not end in 0.3 s (--timeout); the tool may have run"
    assert graveyard.words() == []


def test_input_that_was_not_read_in_time_is_told_of(interrupts):
    sentence = refusal(TimedOutError, interrupts, sh("sleep 9"), "x" * 3_000_000, timeout=0.3)
    assert ", and did not read all of its input;" in sentence


def test_what_it_started_is_ended_with_it(interrupts, graveyard, monkeypatch):
    monkeypatch.setattr(filter_, "_LAST_WORDS", 0.1)
    spec = ExecSpec(LaunchSpec(command("helper_in_own_session", graveyard.path), {}))
    assert run(interrupts, spec) == Executed("ready", is_error=False)
    assert "eof" in graveyard.words(10)


def test_who_follows_it_is_told_of_its_life(interrupts):
    told = []

    class Audience:
        def follow(self, subject, _):
            diary = Diary()
            told.append((subject, diary))
            return diary

    run(interrupts, sh("cat"), "{}", audience=Audience(), subject="t")
    ((subject, diary),) = told
    assert (subject, diary.told) == (
        "t",
        ["spawned", "running", "to_server", "from_server", "closing", "closed"],
    )
    assert diary.entries[-1] == ("closed", "exited with status 0")


def test_a_pinned_tool_is_called_by_its_own_name_and_answers_as_one_of_a_server(interrupts):
    item = pin_item({"name": "t"})
    pinned = command_entry(sh('echo "$THRALL_TOOL"; cat; exit 1'), {"t": item}, "p_")
    given = []
    call = Call("p_t", '{"a":1}')
    rendered = execute.call_command(call, pinned, CONNECTION, interrupts, given.append)
    assert given == [rendered]
    assert rendered.is_error
    assert b"".join(rendered.lines({}, terminal=False)) == b't\n{"a":1}\n'


# -- whether it could be started ---------------------------------------------------------------


def program(path, mode):
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)


def test_a_program_is_looked_for_where_it_would_be_started(tmp_path, monkeypatch):
    program(tmp_path / "tool", 0o755)
    execute.look_for(ExecSpec(LaunchSpec(("./tool",), {}, cwd=str(tmp_path))))
    execute.look_for(ExecSpec(LaunchSpec((str(tmp_path / "tool"),), {})))
    execute.look_for(ExecSpec(LaunchSpec(("tool",), {"PATH": str(tmp_path)})))
    monkeypatch.delenv("PATH")
    redact = execute.look_for(ExecSpec(LaunchSpec(("sh",), {"A": "${HOME}"})))
    assert redact.mask(os.environ["HOME"]) == "***"


@pytest.mark.parametrize(
    ("launch", "error", "sentence"),
    [
        (LaunchSpec(("./tool",), {}), ProgramNotFoundError, "the program ./tool was not found"),
        (LaunchSpec(("no-such",), {}), ProgramNotFoundError, "the program no-such was not found"),
        (LaunchSpec(("",), {}), ProgramNotFoundError, "the program has no name"),
        (LaunchSpec(("x",), {}, cwd="none\x1b"), InputError, r"there is no directory none\x1b"),
        (LaunchSpec(("${NO}",), {}), InputError, "the variable NO is not set"),
        (LaunchSpec(("./plain",), {}), CannotExecuteError, "cannot execute ./plain"),
        (LaunchSpec(("plain",), {"PATH": "."}), CannotExecuteError, "cannot execute plain"),
    ],
)
def test_what_could_not_be_started_is_told(tmp_path, launch, error, sentence):
    program(tmp_path / "here" / "plain", 0o644)
    with pytest.raises(error) as refused:
        execute.look_for(ExecSpec(launch))
    assert str(refused.value).startswith(sentence)
