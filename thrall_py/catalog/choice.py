"""Which of a server's tools are wanted: an allowlist by patterns over their own names. Pure."""

import fnmatch
from collections.abc import Iterable
from typing import NamedTuple


class Choice(NamedTuple):
    """Patterns of names, as a shell has them for files. Without any, every tool is taken."""

    only: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()  # goes before `only`

    def takes(self, name: str) -> bool:
        """Whether a tool of this name is wanted."""
        wanted = not self.only or _matches(name, self.only)
        return wanted and not _matches(name, self.leave_out)

    def useless(self, names: Iterable[str]) -> list[str]:
        """Find the patterns that none of `names` matches: written wrongly, most likely."""
        known = list(names)
        return [
            pattern
            for pattern in (*self.only, *self.leave_out)
            if not any(fnmatch.fnmatchcase(name, pattern) for name in known)
        ]


EVERYTHING = Choice()


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
