import os
import shutil
import subprocess

import pytest

from thrall_py.errors import InputError
from thrall_py.transport.environment import (
    _GIT_LOCAL,
    CLEAN,
    expand,
    inherited_environment,
    variable_names,
)

OURS = {"A": "1", "EMPTY": "", "PATH": "/bin", "GIT_DIR": ".git", "GIT_AUTHOR_NAME": "me"}


def test_everything_but_the_repository_of_git_is_inherited():
    kept = {"A": "1", "EMPTY": "", "PATH": "/bin", "GIT_AUTHOR_NAME": "me"}
    assert inherited_environment(OURS, clean=False) == kept


def test_a_clean_environment_has_a_short_list():
    assert inherited_environment(OURS, clean=True) == {"PATH": "/bin"}
    assert inherited_environment(
        dict.fromkeys(CLEAN, "x") | {"TOKEN": "y"}, clean=True
    ) == dict.fromkeys(CLEAN, "x")


@pytest.mark.skipif(not shutil.which("git"), reason="git is not there to be asked")
def test_the_variables_of_git_are_those_that_git_names():
    asked = subprocess.run(
        ["git", "rev-parse", "--local-env-vars"], capture_output=True, text=True, check=True
    )
    assert set(asked.stdout.split()) - _GIT_LOCAL == set()


@pytest.mark.parametrize(
    ("word", "filled"),
    [
        ("", ""),
        ("plain $A {A} $(A) ${} ${1}", "plain $A {A} $(A) ${} ${1}"),
        ("${A}", "1"),
        ("<${A}${A}>", "<11>"),
        ("${EMPTY}", ""),
        ("${EMPTY:-d}", "d"),
        ("${NONE:-d e}", "d e"),
        ("${NONE:-}", ""),
        ("${A:-d}", "1"),
        ("$${A}", "${A}"),
        ("$${NONE:-d}", "${NONE:-d}"),
        ("${A-d}", "${A-d}"),
    ],
)
def test_a_word_is_filled_in(word, filled):
    assert expand(word, OURS) == filled


def test_a_value_is_not_filled_in_again():
    assert expand("${X}", {"X": "${Y}"}) == "${Y}"


def test_a_variable_that_is_not_set_is_named():
    with pytest.raises(
        InputError,
        match=r"^the variable NONE is not set \(or not exported\), and the server needs it",
    ):
        expand("${NONE}", os.environ)


def test_a_variable_that_may_not_be_empty_is_named_unless_it_has_a_default():
    assert expand("${E}", {"E": ""}) == ""
    assert expand("${E:-x}", {"E": ""}, may_be_empty=False) == "x"
    with pytest.raises(InputError, match="^the variable E is set and empty, and the server needs"):
        expand("${E}", {"E": ""}, may_be_empty=False)


@pytest.mark.parametrize(
    ("word", "names"),
    [("", []), ("${A}-${B:-c}", ["A", "B"]), ("$${A} ${B}", ["B"]), ("$A", [])],
)
def test_the_variables_of_a_word_are_named(word, names):
    assert variable_names(word) == names
