"""The form in which `call` is to give its answer, and whether that can be done."""

import os
from typing import NamedTuple

from thrall_py.errors import UsageError


class OutputOptions(NamedTuple):
    """What the command line says of the answer."""

    json: bool
    raw: bool
    save: str | None  # a directory
    force: bool


def check(wanted: OutputOptions) -> None:
    """Refuse what could not be fulfilled, before anything is started.

    Raises:
        UsageError: the options do not fit together, or a terminal would get bytes.
        InputError: the directory cannot take files.

    """
    if wanted.raw and (wanted.json or wanted.save is not None):
        raise UsageError("--raw excludes --json and --save")
    if wanted.force and wanted.save is None:
        raise UsageError("--force is about files: it needs --save")
    if wanted.raw and os.isatty(1):
        raise UsageError("--raw is for a pipe or a file, not for a terminal")
    if wanted.save is not None:
        from thrall_py.output import saving

        saving.check_directory(wanted.save)
