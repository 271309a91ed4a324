"""Asks the person at the terminal what a server wants to know, one line for each answer."""

import os
import textwrap
from collections.abc import Mapping, Sequence
from typing import Final

from thrall_py.protocol import elicitation, fields, mcp
from thrall_py.protocol.elicitation import Form, Page
from thrall_py.protocol.fields import Field, Misfit
from thrall_py.protocol.jsontext import Json
from thrall_py.protocol.user import HasEnded
from thrall_py.redact import Redactor, is_secret_name
from thrall_py.transport import stdio
from thrall_py.transport.interrupts import Interrupts
from thrall_py.visible import visible

# Words that are no answer, at any prompt.
_DECLINE, _CANCEL, _BACK = "/decline", "/cancel", "/back"
_MESSAGE = 1000  # characters
_TITLE = 100
_DESCRIPTION = 500
_URL = 4000  # more than the longest that is shown: masked and escaped, it may have grown
_MOST_CHOICES = 50  # that have a line


class _Refusal(Exception):  # noqa: N818 - an outcome
    """The person does not fill in the form; `response` says in which way."""

    def __init__(self, response: str) -> None:
        super().__init__(response)
        self.response = response


class _Back(Exception):  # noqa: N818 - likewise
    """The person wants to change the answer before."""


class Person:
    """The person at the terminal: a User.

    Args:
        tool: who asks, as the person knows it.
        interrupts: the signals that end the asking; entered when it begins.

    Attributes:
        refusals: what was refused without asking.

    """

    modes: Final = (mcp.FORM, mcp.PAGE)
    unused: Final = ()

    def __init__(self, tool: str, interrupts: Interrupts) -> None:
        self._tool = visible(tool)[:_TITLE]
        self._interrupts = interrupts
        self.refusals: list[str] = []

    def answer(
        self, requests: Mapping[str, mcp.Asked], redact: Redactor, has_ended: HasEnded, /
    ) -> dict[str, str]:
        """Ask one after the other, as a User does."""
        responses = {}
        for name, asked in requests.items():
            sheet = _Sheet(self._tool, self._interrupts, redact, has_ended)
            try:
                responses[name] = sheet.ask(elicitation.read(asked))
            except _Refusal as refusal:
                responses[name] = refusal.response
        return responses


class _Sheet:
    """One form, or one page, before a person."""

    def __init__(
        self, tool: str, interrupts: Interrupts, redact: Redactor, has_ended: HasEnded
    ) -> None:
        self._tool = tool
        self._interrupts = interrupts
        self._redact = redact
        self._has_ended = has_ended

    def ask(self, question: Form | Page) -> str:
        """Ask; the response as JSON text.

        Raises:
            _Refusal: the person declines, or cancels.

        """
        self._look_for_the_server()
        stdio.forget_typed()
        words = self._redact.quoted(question.message, _MESSAGE)
        if isinstance(question, Page):
            self._tell(f"thrall: {self._tool}: the server wants a page to be visited: {words}")
            return self._visit(question)
        self._tell(f"thrall: {self._tool}: the server asks: {words}")
        self._tell(
            f"  Enter takes what is in brackets; {_DECLINE} says no, {_CANCEL} leaves it open."
        )
        return elicitation.accept(self._fill_in(question.fields))

    def _fill_in(self, asked: Sequence[Field]) -> dict[str, Json]:
        """Ask for every field, and then whether that is to be sent; back again on a word."""
        content: dict[str, Json] = {}
        at = 0
        while True:
            try:
                if at == len(asked):
                    self._confirm(content)
                    return content
                name = asked[at].name
                value = self._value(
                    asked[at]._replace(default=content.get(name, asked[at].default))
                )
            except _Back:
                at = max(at - 1, 0)
                continue
            content.pop(name, None)
            if value is not None:
                content[name] = value
            at += 1

    def _confirm(self, content: Mapping[str, Json]) -> None:
        self._tell("")
        for name, value in content.items():
            shown = self._redact.plain(_shown(value), _MESSAGE)
            self._tell(f"    {self._redact.plain(name, _TITLE)}: {shown}")
        if not content:
            self._tell("    a yes, without any values")
        prompt = f"  Enter sends this to the server ({_BACK} changes it):"
        while (text := self._consent(prompt)) != "":
            if text == _BACK:
                raise _Back
            if text is None:  # any other word was not meant as a yes
                raise _Refusal(elicitation.CANCEL)

    def _visit(self, page: Page) -> str:
        if not page.host:
            self._tell(f"  Its address is {elicitation.NOT_PLAIN}, so it is declined.")
            return elicitation.DECLINE
        self._tell(f"  {self._redact.plain(page.url, _URL)}")
        self._tell(f"  This is a page of {page.host}. Only you can open it, if you trust it.")
        prompt = f"  Enter goes on ({_DECLINE} says no, {_CANCEL} leaves it open):"
        while (text := self._consent(prompt)) == _BACK:  # there is nothing to go back to
            pass
        if text is None:
            raise _Refusal(elicitation.CANCEL)
        return elicitation.VISIT

    def _value(self, field: Field) -> Json:
        """Ask for one field until there is an answer that fits; None to leave it out."""
        self._look_for_the_server()
        self._introduce(field)
        wanted = fields.wanted(field, self._redact)
        kind = wanted
        if field.choices:  # each has a line
            several = f"some of them, with commas{fields.span(field, 'in all')}"
            kind = several if field.type == "array" else "one of them"
        while True:
            text = self._answer(f"  {kind}{self._otherwise(field)}:")
            if text is None and field.is_required:
                raise _Refusal(elicitation.CANCEL)
            if text is None:
                return None
            if not text and (field.default is not None or not field.is_required):
                return field.default
            try:
                return _read(field, text)
            except Misfit:
                self._tell(f"  What is wanted is {wanted}.")

    def _introduce(self, field: Field) -> None:
        plain = self._redact.plain
        title, description = plain(field.title, _TITLE), plain(field.description, _DESCRIPTION)
        name = plain(field.name, _TITLE) or '""'
        heading = f"{title} ({name})" if title and title != name else name
        self._tell("")
        self._tell(f"  {heading}" + (f": {description}" if description else ""))
        if is_secret_name(field.name) or is_secret_name(field.title.replace(" ", "_")):
            self._tell(f"  {self._tool} wants what looks like a secret; what you type is shown.")
        numbered = _is_numbered(field)
        for number, choice in enumerate(field.choices[:_MOST_CHOICES], 1):
            label, words = plain(choice.label, _TITLE), plain(choice.title, _TITLE)
            titled = f"{label}  {words}" if words and words != label else label
            self._tell(f"    {number}  {titled}" if numbered else f"    {titled}")
        if len(field.choices) > _MOST_CHOICES:
            self._tell(f"    and {len(field.choices) - _MOST_CHOICES} more")

    def _otherwise(self, field: Field) -> str:
        """Say what Enter alone does."""
        if field.default is not None:
            return f" [{self._redact.plain(_shown(field.default), _TITLE)}]"
        return "" if field.is_required else " [left out]"

    def _answer(self, prompt: str) -> str | None:
        """Read a line of a form, as `_line` does.

        Raises:
            _Back, _Refusal: it is one of the words that are no answer.

        """
        text = self._line(prompt)
        if text == _BACK:
            raise _Back
        return text

    def _consent(self, prompt: str) -> str | None:
        """Read whether the person agrees, to what was seen: nothing typed before counts."""
        self._look_for_the_server()
        stdio.forget_typed()
        return self._line(prompt)

    def _look_for_the_server(self) -> None:
        """Stop asking for a server that is gone: the session will see why."""
        if self._has_ended():
            self._tell("  The server is gone, so nothing is sent.")
            raise _Refusal(elicitation.CANCEL)

    def _line(self, prompt: str) -> str | None:
        """Read an answer; None for the end of input.

        Raises:
            _Refusal: it is one of the words that refuse.

        """
        while (line := stdio.ask_line(f"{_broken(prompt)} ", self._interrupts)) is not None:
            try:
                text = line.decode().strip()
            except UnicodeDecodeError:
                self._tell("  That is not UTF-8.")
                continue
            if text in (_DECLINE, _CANCEL):
                raise _Refusal(elicitation.DECLINE if text == _DECLINE else elicitation.CANCEL)
            return text
        self._tell("")
        return None

    def _tell(self, line: str) -> None:
        stdio.tell(f"{_broken(line)}\n")


def _broken(line: str) -> str:
    """Break a line between words, below its own margin: a terminal would break the words.

    A word that is longer than a line stays whole, because it may be an address to be copied.
    """
    try:
        columns = os.get_terminal_size(2).columns
    except OSError:
        columns = 0
    margin = line[: len(line) - len(line.lstrip())]
    if columns <= 2 * len(margin):  # not told, or too narrow for anything
        return line
    return textwrap.fill(
        line.lstrip(),
        columns - 1,
        initial_indent=margin,
        subsequent_indent=margin,
        replace_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _is_numbered(field: Field) -> bool:
    """Whether a number can stand for a choice: not where it could be one by itself."""
    return not any(choice.label.isdecimal() for choice in field.choices)


def _read(field: Field, text: str) -> Json:
    """Read an answer, in which a number may stand for a choice.

    Raises:
        Misfit: it does not fit the field; nothing at all does not fit any.

    """
    if not text:
        raise Misfit
    if not _is_numbered(field):
        return fields.typed(field, text)
    values = {str(number): choice.value for number, choice in enumerate(field.choices, 1)}
    if field.type == "array":
        parts = [part.strip() for part in text.split(",")]
        return fields.checked(field, [values.get(part, part) for part in parts])
    return values[text] if text in values else fields.typed(field, text)


def _shown(value: Json) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return str(value)
