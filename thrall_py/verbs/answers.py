"""What a server asks of the user, answered from the command line."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from thrall_py.catalog import nearest
from thrall_py.errors import InputError, InputNeededError, UsageError
from thrall_py.protocol import elicitation, fields, jsontext, mcp
from thrall_py.protocol.elicitation import Form
from thrall_py.protocol.fields import Field, Misfit
from thrall_py.protocol.jsontext import Json, JsonError
from thrall_py.protocol.user import HasEnded
from thrall_py.redact import Redactor
from thrall_py.verbs.arguments import decode_argument, read_file, read_json
from thrall_py.visible import visible

_LARGEST = 1 << 24  # bytes of a file
_SHOWN = 300  # characters of what is wrong with it


class Answers(NamedTuple):
    """What the command line has to say to a server's forms.

    Attributes:
        texts: answers by the names of their fields, to be read by the fields' types; several for
            one field are a value of a list each.
        values: the same as JSON; a text goes before it.
        accept_defaults: whether a field without an answer takes its default.
        decline: whether everything is declined.

    """

    texts: Mapping[str, tuple[str, ...]]
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
                f"{self._left(requests)}"
            )
        return responses

    def _left(self, requests: Mapping[str, mcp.Asked]) -> str:
        """Name the answers that are for no field, perhaps mistyped, as the end of a sentence."""
        asked = [elicitation.read(each) for each in requests.values()]
        names = [field.name for form in asked if isinstance(form, Form) for field in form.fields]
        left = [f"{visible(name)}{nearest.hint(name, names)}" for name in self.unused]
        return f"; nothing asks for the answer {', '.join(left)}" if left else ""

    def _fill_in(self, form: Form, redact: Redactor) -> _Filled:
        """Fill in a form; one that no answer is meant for is not agreed to."""
        content: dict[str, Json] = {}
        faults: list[str] = []
        for field in form.fields:
            try:
                value = self._value(field)
            except Misfit:
                faults.append(self._misfit(field, redact))
                continue
            if value is not None:
                content[field.name] = value
            elif field.is_required:
                faults.append(elicitation.described(field, redact))
        if not (content or faults or self._answers.accept_defaults):
            described = [elicitation.described(field, redact) for field in form.fields]
            return _Filled(content, described or ["a yes, which is --accept-defaults"])
        return _Filled(content, faults)

    def _misfit(self, field: Field, redact: Redactor) -> str:
        """Say of which kind the answer should be; not what it was: it may be a secret."""
        name = elicitation.shown_name(field, redact)
        words = f"{name} ({fields.wanted(field, redact)}; the answer that was given does not fit"
        if field.type == "array":
            return f'{words}: several are {name}=A,B or {name}:=["A","B"])'
        if len(self._answers.texts.get(field.name, ())) > 1:
            return f"{words}: it is given more than once)"
        return f"{words})"

    def _value(self, field: Field) -> Json:
        """Find the answer to a field; None if there is none."""
        texts, values, accept_defaults, _ = self._answers
        self.unused.pop(field.name, None)
        if field.name in texts:
            return fields.typed(field, *texts[field.name])
        if field.name in values:
            return fields.checked(field, values[field.name])
        return field.default if accept_defaults else None


def collect(
    words: Iterable[str], path: str | None, *, accept_defaults: bool, decline: bool
) -> Answers:
    """Put together what the options say.

    Args:
        words: answers such as `name=text` and `name:=JSON`.
        path: of a file of answers, if there is one.
        accept_defaults: whether a field without an answer takes its default.
        decline: whether everything is declined.

    Raises:
        UsageError: they exclude each other, or a word is not of the kind.
        InputError: the file cannot be used, or a word is not UTF-8 or holds no JSON.

    """
    texts, values = _parse(words)
    if decline and (texts or values or path is not None or accept_defaults):
        raise UsageError(
            "--decline and --answer, --answers or --accept-defaults exclude each other"
        )
    held = {} if path is None else _load(path)
    return Answers(texts, {**held, **values}, accept_defaults, decline)


def _parse(words: Iterable[str]) -> tuple[dict[str, tuple[str, ...]], dict[str, Json]]:
    """Tell answers that are text from those that are JSON; several texts may be for one field."""
    texts: dict[str, tuple[str, ...]] = {}
    values: dict[str, Json] = {}
    for word in words:
        name, equals, text = decode_argument(word).partition("=")
        is_json = name.endswith(":")
        name = name.removesuffix(":")
        if not equals or not name:  # what it is may be a secret
            raise UsageError("an answer is given as --answer NAME=VALUE or NAME:=JSON")
        if name in values or (is_json and name in texts):
            raise UsageError(f"the answer {visible(name)} is given twice")
        if is_json:
            what = f"the answer {visible(name)}"
            values[name] = jsontext.load(read_json(text, what, is_file=False))
        else:
            texts[name] = (*texts.get(name, ()), text)
    return texts, values


def _load(path: str) -> dict[str, Json]:
    what = f"the file of answers {visible(path)}"
    try:
        values = jsontext.load(jsontext.decode(jsontext.latin1(read_file(path, what, _LARGEST))))
    except JsonError as problem:
        raise InputError(f"{what} is {visible(str(problem))[:_SHOWN]}") from None
    if not isinstance(values, dict):
        raise InputError(f"{what} does not hold a JSON object of answers")
    return values
