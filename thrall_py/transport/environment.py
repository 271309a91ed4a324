"""What a server inherits, and the words in which ${NAME} is filled in."""

import re
from collections.abc import Mapping

from thrall_py.errors import InputError

# `git rev-parse --local-env-vars`: they would bind the server to the repository of a hook that
# runs thrall.
_GIT_LOCAL = frozenset(
    "GIT_" + name
    for name in (
        "ALTERNATE_OBJECT_DIRECTORIES", "CONFIG", "CONFIG_PARAMETERS", "CONFIG_COUNT",
        "OBJECT_DIRECTORY", "DIR", "WORK_TREE", "IMPLICIT_WORK_TREE", "GRAFT_FILE", "INDEX_FILE",
        "NO_REPLACE_OBJECTS", "REPLACE_REF_BASE", "PREFIX", "INTERNAL_SUPER_PREFIX",
        "SHALLOW_FILE", "COMMON_DIR",
    )
)  # fmt: skip

# What --clean-env passes on: enough for a program to find itself, its user and its language.
CLEAN = (
    "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"
)  # fmt: skip

_VARIABLE = r"\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}"


def inherited_environment(ours: Mapping[str, str], *, clean: bool) -> dict[str, str]:
    """Take from our own environment what a server may see."""
    if clean:
        return {name: ours[name] for name in CLEAN if name in ours}
    return {name: value for name, value in ours.items() if name not in _GIT_LOCAL}


def expand(word: str, ours: Mapping[str, str], *, may_be_empty: bool = True) -> str:
    """`word` with `${NAME}` and `${NAME:-default}` filled in; `$${NAME}` stands for `${NAME}`.

    Args:
        word: of a command, a URL or a header.
        ours: the variables by name.
        may_be_empty: whether a variable without a default may be set to nothing.

    Raises:
        InputError: a variable is not set, or is empty and may not be, and has no default.

    """

    def value(found: re.Match[str]) -> str:
        escaped, name, default = found.groups()
        if escaped:
            return found[0][1:]
        if default is not None:
            return ours.get(name) or str(default)
        if name not in ours:
            raise InputError(
                f"the variable {name} is not set (or not exported), and the server needs it"
            )
        if not (ours[name] or may_be_empty):
            raise InputError(f"the variable {name} is set and empty, and the server needs it")
        return ours[name]

    return re.sub(_VARIABLE, value, word)


def variable_names(word: str) -> list[str]:
    """The names of the variables that `expand` would fill into `word`."""
    return [found[2] for found in re.finditer(_VARIABLE, word) if not found[1]]
