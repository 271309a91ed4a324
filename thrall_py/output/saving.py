"""Parts of an answer as files: named by us, never by the server; over others only by force."""

import os

from thrall_py.errors import InputError, OutputError
from thrall_py.output.render import MediaPart, Rendered
from thrall_py.visible import visible


def check_directory(directory: str) -> None:
    """Refuse a directory that could not take the files, before anything is started.

    Raises:
        InputError: it is not there, or cannot be written.

    """
    if not os.path.isdir(directory):
        raise InputError(f"there is no directory {visible(directory)} to save in")
    if not os.access(directory, os.W_OK | os.X_OK):
        raise InputError(f"the directory {visible(directory)} cannot be written")


def save(rendered: Rendered, directory: str, *, force: bool = False) -> dict[int, str]:
    """Write every part that is not text; the visible names of the files, by the parts' places.

    Args:
        rendered: the answer.
        directory: where the files go.
        force: whether a file that is there is written over, instead of taking a free name.

    Raises:
        ServerError: the content of a part cannot be decoded; nothing was written.
        OutputError: a file cannot be written.

    """
    parts = {
        place: part
        for place, part in enumerate(rendered.parts)
        if isinstance(part, MediaPart) and not part.is_link
    }
    for part in parts.values():
        part.size()  # all of them are sound before the first is written
    write = _write_over if force else _write
    return {place: visible(write(directory, place + 1, part)) for place, part in parts.items()}


def _write_over(directory: str, number: int, part: MediaPart) -> str:
    """Write `part-NUMBER` in one step, in the place of what is there; its path."""
    path = os.path.join(directory, f"part-{number}{part.extension}")
    temporary = f"{path}.{os.getpid()}"
    try:
        with open(temporary, "xb") as file:
            file.writelines(part.decode())
        os.replace(temporary, path)
    except OSError as problem:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        raise OutputError(f"cannot write {visible(path)}: {problem.strerror}") from None
    return path


def _write(directory: str, number: int, part: MediaPart) -> str:
    """Write a new file `part-NUMBER`, or the next number that is free; its path."""
    written = ""
    while True:
        path = os.path.join(directory, f"part-{number}{part.extension}")
        try:
            with open(path, "xb") as file:
                written = path
                file.writelines(part.decode())
        except FileExistsError:
            number += 1
        except OSError as problem:
            if written:  # half a part is none
                os.unlink(written)
            raise OutputError(f"cannot write {visible(path)}: {problem.strerror}") from None
        else:
            return path
