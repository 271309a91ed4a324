"""How `call` gives an answer to the caller: on stdout, in files, as bytes, or as a picture."""

import os
from collections.abc import Iterator

from thrall_py.commands.form import OutputOptions
from thrall_py.commands.invocation import Invocation
from thrall_py.output import render, saving
from thrall_py.output.render import MediaPart, Rendered
from thrall_py.transport import stdio
from thrall_py.transport.interrupts import Interrupts


def give(rendered: Rendered, invocation: Invocation, wanted: OutputOptions) -> None:
    """Write the answer, whole; files first, because it names them.

    Raises:
        ServerError: a part cannot be decoded.
        OutputError: a file or stdout cannot be written, or it is not one part that `raw` means.

    """
    saved, subject = {}, invocation.subject
    if wanted.save is not None:
        saved = saving.save(rendered, wanted.save, force=wanted.force)
        if any(isinstance(part, MediaPart) and part.is_link for part in rendered.parts):
            invocation.note("links are not fetched: --save writes what is in the answer", subject)
    terminal = os.isatty(1)
    if wanted.json:
        pieces = render.verbatim(rendered.result, terminal=terminal)
        if saved:
            invocation.note(f"saved {', '.join(saved.values())}", subject)
    elif wanted.raw and not rendered.is_error:
        pieces = rendered.raw()
        if len(rendered.parts) > 1:
            invocation.note("the text beside it is left out (--raw prints one part)", subject)
    else:
        pieces = rendered.lines(saved, terminal=terminal)
        if rendered.is_empty:
            invocation.note("the answer is empty", subject)
    stdio.write(pieces, invocation.interrupts)
    if terminal and not wanted.json:
        stdio.write(_pictures(rendered, invocation.interrupts), invocation.interrupts)


def _pictures(rendered: Rendered, interrupts: Interrupts) -> Iterator[bytes]:
    """The pictures of an answer for a terminal that can show some."""
    images = [
        part for part in rendered.parts if isinstance(part, MediaPart) and part.kind == "image"
    ]
    if not images:
        return
    from thrall_py.output import picture, pixels  # few answers have any, and few terminals can
    from thrall_py.transport import screen

    how = picture.protocol(os.environ)
    if not how and pixels.can_read() and screen.shows_sixel(interrupts):
        how = "sixel"
    if how:
        for part in images:
            yield from picture.show(part, how, screen.size())
