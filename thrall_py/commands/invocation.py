"""One run of the program: what click does not see of it, and how a person is told."""

import contextlib
import os
import sys
from collections.abc import Callable

from thrall_py.errors import OutputError
from thrall_py.transport import stdio
from thrall_py.transport.interrupts import Interrupts
from thrall_py.visible import visible

_SENTENCE = 4000  # characters, whatever a catalog or a command line holds
_NAME = 64  # characters of a name in front of a sentence


class Invocation:
    """What click does not see: the words behind `--`, and whom a failure's sentence is about."""

    def __init__(self, server: tuple[str, ...] | None) -> None:
        self.server = server  # None without a `--`
        self.closed_fds = stdio.open_missing()  # which of our own descriptors the caller had closed
        self.subject = ""
        self.interrupts = Interrupts()
        self.is_quiet = False  # nothing but failures is told
        self.at_start: list[Callable[[], None]] = []  # what waits until `ready`
        self.at_end = contextlib.ExitStack()  # what is to be done before the program ends

    def ready(self) -> Interrupts:
        """Do what had to wait until the command line and its inputs were accepted.

        Returns:
            The signals, to be entered before a server is started.

        """
        for act in self.at_start:
            act()
        return self.interrupts

    def need_stdout(self) -> None:
        """Refuse to start anything whose answer has no place to go."""
        if 1 in self.closed_fds:
            raise OutputError("stdout is closed, so there is no place for an answer")

    def note(self, sentence: str, about: str = "") -> None:
        """Tell a person what is no failure."""
        if not self.is_quiet:
            say(sentence, about)


def say(sentence: str, about: str = "") -> None:
    """Tell a person on stderr; nobody can be told that this failed."""
    subject = f"{visible(about)[:_NAME]}: " if about else ""
    with contextlib.suppress(OSError):
        print(f"thrall: {subject}{sentence[:_SENTENCE]}", file=sys.stderr, flush=True)  # noqa: T201 - prints


def is_styled(descriptor: int) -> bool:
    """Whether what is printed is for a person's eyes: a terminal, or FORCE_COLOR says so.

    NO_COLOR and TERM are minded by rich, which makes the styles.
    """
    return os.isatty(descriptor) or bool(os.environ.get("FORCE_COLOR"))


def draw(text: str) -> None:
    """Draw on the terminal that stderr is, in one piece."""
    with contextlib.suppress(OSError):
        print(text, end="", file=sys.stderr, flush=True)  # noqa: T201 - prints
