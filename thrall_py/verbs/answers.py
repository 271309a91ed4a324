"""What a server asks of the user, answered from the command line."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from thrall_py.errors import InputError, InputNeededError, UsageError
from thrall_py.protocol import elicitation, fields, jsontext, mcp
from thrall_py.protocol.elicitation import Form
from thrall_py.protocol.fields import Field, Misfit
from thrall_py.protocol.jsontext import Json, JsonError
from thrall_py.protocol.user import HasEnded
from thrall_py.redact import Redactor
from thrall_py.verbs.arguments import decode_argument, read_file
from thrall_py.visible import visible

_LARGEST = 1 << 24  # bytes of a file
_SHOWN = 300  # characters of what is wrong with it


class Answers(NamedTuple):
    """What the command line has to say to a server's forms.

    Attributes:
        texts: answers by the names of their fields, to be read by the fields' types.
        values: the same as JSON; a text goes before it.
        accept_defaults: whether a field without an answer takes its default.
        decline: whether everything is declined.

    """

    texts: Mapping[str, str]
    values: Mapping[str, Json]
    accept_defaults: bool = False
    decline: bool = False


class _Filled(NamedTuple):
    """A form as far as there are answers, and the fields that still want one, in words."""

    content: dict[str, Json]
    faults: list[str]


class Script:
    """Answers for the user from options: a User.

    Attributes:
        unused: the names of answers that no form has asked for, yet.
        refusals: what was refused without a look at the answers.

    """

    def __init__(self, answers: Answers) -> None:
        self.unused = dict.fromkeys([*answers.texts, *answers.values])
        self.refusals: list[str] = []
        self._answers = answers

    @property
    def modes(self) -> tuple[str, ...]:
        """To a page an option can only say no."""
        return (mcp.FORM, mcp.PAGE) if self._answers.decline else (mcp.FORM,)

    def answer(
        self, requests: Mapping[str, mcp.Asked], redact: Redactor, _: HasEnded, /
    ) -> dict[str, str]:
        """Answer every request, as a User does."""
        if self._answers.decline:
            return dict.fromkeys(requests, elicitation.DECLINE)
        responses, faults, names = {}, [], []
        for name, asked in requests.items():
            form = elicitation.read(asked)
            assert isinstance(form, Form), "this is the only mode"
            filled = self._fill_in(form, redact)
            responses[name] = elicitation.accept(filled.content)
            if filled.faults:
                title = redact.quoted(form.message) if form.message else "a form"
                faults.append(f"{title} wants {', '.join(filled.faults)}")
                names += [field.name for field in form.fields]
        if faults:
            defaults = "" if self._answers.accept_defaults else ", --accept-defaults"
            raise InputNeededError(
                f"the server needs input that was not given: {'; '.join(faults)};"
                f" give {elicitation.option(names, ' for each')}{defaults} or --decline"
            )
        return responses

    def _fill_in(self, form: Form, redact: Redactor) -> _Filled:
        """Fill in a form; one that no answer is meant for is not agreed to."""
        content: dict[str, Json] = {}
        faults: list[str] = []
        for field in form.fields:
            try:
                value = self._value(field)
            except Misfit:
                # Not what it was: it may be a secret.
                name = elicitation.shown_name(field, redact)
                kind = fields.wanted(field, redact)
                faults.append(f"{name} ({kind}; the answer that was given is not)")
                continue
            if value is not None:
                content[field.name] = value
            elif field.is_required:
                faults.append(elicitation.described(field, redact))
        if not (content or faults or self._answers.accept_defaults):
            described = [elicitation.described(field, redact) for field in form.fields]
            return _Filled(content, described or ["a yes, which is --accept-defaults"])
        return _Filled(content, faults)

    def _value(self, field: Field) -> Json:
        """Find the answer to a field; None if there is none."""
        texts, values, accept_defaults, _ = self._answers
        self.unused.pop(field.name, None)
        if field.name in texts:
            return fields.typed(field, texts[field.name])
        if field.name in values:
            return fields.checked(field, values[field.name])
        return field.default if accept_defaults else None


def collect(
    words: Iterable[str], path: str | None, *, accept_defaults: bool, decline: bool
) -> Answers:
    """Put together what the options say.

    Args:
        words: answers such as `name=text`.
        path: of a file of answers, if there is one.
        accept_defaults: whether a field without an answer takes its default.
        decline: whether everything is declined.

    Raises:
        UsageError: they exclude each other, or a word is not of the kind.
        InputError: the file cannot be used, or a word is not UTF-8.

    """
    texts = _parse(words)
    if decline and (texts or path is not None or accept_defaults):
        raise UsageError(
            "--decline and --answer, --answers or --accept-defaults exclude each other"
        )
    return Answers(texts, {} if path is None else _load(path), accept_defaults, decline)


def _parse(words: Iterable[str]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for word in words:
        name, equals, text = decode_argument(word).partition("=")
        if not equals or not name:  # what it is may be a secret
            raise UsageError("an answer is given as --answer NAME=VALUE")
        if name in texts:
            raise UsageError(f"the answer {visible(name)} is given twice")
        texts[name] = text
    return texts


def _load(path: str) -> dict[str, Json]:
    what = f"the file of answers {visible(path)}"
    try:
        values = jsontext.load(jsontext.decode(jsontext.latin1(read_file(path, what, _LARGEST))))
    except JsonError as problem:
        raise InputError(f"{what} is {visible(str(problem))[:_SHOWN]}") from None
    if not isinstance(values, dict):
        raise InputError(f"{what} does not hold a JSON object of answers")
    return values
