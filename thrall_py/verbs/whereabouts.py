"""Whether a server is started in the same way wherever thrall runs: signs that it is not.

Relative words of a command stay as they are, in the catalog too: they are looked for from the
directory it is started in, which without an absolute `--cwd` goes by that of whoever runs thrall.
"""

import os
from collections.abc import Iterator

from thrall_py.transport.endpoint import Command
from thrall_py.visible import visible

_ELSEWHERE = "is looked for from the directory of whoever runs thrall: write it absolute"


def remarks(command: Command) -> Iterator[str]:
    """Make a sentence for each word that means something else in another directory.

    The program is one by its spelling; other words are if they name something that is there, since
    nobody knows which of them are paths. They are told by their places: they may be secrets.
    """
    program, *words = command.argv
    if command.cwd is not None:
        if not os.path.isabs(command.cwd):  # then it decides for the words, too
            yield f"the directory {visible(command.cwd)} {_ELSEWHERE}"
        return
    if "/" in program and not os.path.isabs(program):
        yield f"the program {visible(command.shown)} {_ELSEWHERE}"
    for place, word in enumerate(words, 2):
        if not os.path.isabs(word) and os.path.exists(word):
            yield f"word {place} of the command names a file here, and {_ELSEWHERE}"
