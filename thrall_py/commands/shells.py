"""Words as shells write them, and answers as the scripts in shell/ read them. Pure.

An answer is lines: `words` and a candidate on each of the others, with what it is about behind a
tab; or the kind of paths that the shell is to find, what stands in front of the path in the word,
and how the path begins. zsh and fish quote what they insert, bash does not.
"""

import re
from collections.abc import Iterator

from thrall_py.commands.candidates import Answer, Paths

BASH = "bash"

_PIECE = re.compile(
    r"""'([^']*)(?:'|\Z)|"((?:\\.|[^"\\])*)(?:"|\\?\Z)|\\(.?)|([^'"\\]+)""", re.DOTALL
)
_ESCAPED = re.compile(r'\\([$`"\\])')  # what a backslash escapes between double quotes
_SYNTAX = re.compile(r"[^\w%+,./:=@-]")  # whatever bash might take for more than a letter
_UNSAFE = {"'": "'", '"': '"$`\\!'}  # what cannot stand between quotes


def unquote(word: str) -> tuple[str, str]:
    """Take a word as it stands on the command line of bash, perhaps not written to its end.

    Returns:
        What it means, and the quote that is still open; empty if none is.

    """
    text, quote = "", ""
    for found in _PIECE.finditer(word):
        single, double, escaped, plain = found.groups()
        whole = found[0]
        if single is not None or double is not None:
            quote = "" if len(whole) > 1 and whole[-1] == whole[0] else whole[0]
        text += single or _ESCAPED.sub(r"\1", double or "") or escaped or plain or ""
    return text, quote


def lines(shell: str, answer: Answer, word: str, quote: str) -> Iterator[str]:
    """Write an answer for the script of a shell.

    Args:
        shell: bash, zsh or fish.
        answer: what may stand there.
        word: the word, as far as it is written; what it means.
        quote: the quote that is open in it, in bash.

    """
    if isinstance(answer, Paths):
        yield from (answer.kind, answer.head, word.removeprefix(answer.head))
        return
    yield "words"
    for candidate in answer:
        if shell != BASH:
            yield f"{candidate.word}\t{candidate.about}"
        elif not quote:
            yield _SYNTAX.sub(r"\\\g<0>", candidate.word)
        elif not set(_UNSAFE[quote]) & set(candidate.word):
            yield candidate.word
