import json
import os

import pytest
from fakes import value

from thrall_py.errors import InputError, InputNeededError, UsageError
from thrall_py.protocol.mcp import Asked
from thrall_py.protocol.numbers import ExactNumber
from thrall_py.redact import Redactor
from thrall_py.verbs import answers
from thrall_py.verbs.answers import Answers, Script

EXACT = ExactNumber("1e400")
FORM = {
    "name": {"type": "string"},
    "guests": {"type": "integer", "default": 2},
    "window": {"type": "boolean", "default": False},
}


def form(properties, *required, message="When?"):
    schema = {"properties": properties, "required": required}
    params = {"message": message, "requestedSchema": schema}
    return Asked("elicitation/create", value(json.dumps(params)))


def answered(*requests, texts=None, values=None, **options):
    several = {
        name: (text,) if isinstance(text, str) else text for name, text in (texts or {}).items()
    }
    script = Script(Answers(several, values or {}, **options))
    named = {str(number): request for number, request in enumerate(requests)}
    responses = script.answer(named, Redactor(["hunter-222"]), lambda: False)
    return [json.loads(response) for response in responses.values()], list(script.unused)


def accepted(**content):
    return {"action": "accept", "content": content}


def refused(*requests, **options):
    with pytest.raises(InputNeededError) as caught:
        answered(*requests, **options)
    return str(caught.value).removeprefix("the server needs input that was not given: ")


def test_a_form_is_filled_in_by_the_types_of_its_fields():
    texts = {"name": "5", "guests": "5", "window": "true"}
    assert answered(form(FORM), texts=texts) == ([accepted(name="5", guests=5, window=True)], [])


def test_a_value_is_taken_as_it_is_and_a_text_goes_before_it():
    values = {"name": "Ada", "guests": 3}
    assert answered(form(FORM), values=values, texts={"guests": "4"}) == (
        [accepted(name="Ada", guests=4)],
        [],
    )


def test_a_default_is_taken_only_if_that_was_said():
    texts = {"name": "Ada"}
    assert answered(form(FORM, "name"), texts=texts)[0] == [accepted(name="Ada")]
    assert answered(form(FORM, "name"), texts=texts, accept_defaults=True)[0] == [
        accepted(name="Ada", guests=2, window=False)
    ]


def test_defaults_alone_agree_to_a_form_without_any():
    assert answered(form({"name": {}}), form({}), accept_defaults=True)[0] == [
        accepted(),
        accepted(),
    ]


def test_everything_may_be_declined():
    assert answered(form(FORM), form({}), decline=True)[0] == [{"action": "decline"}] * 2
    assert Script(Answers({}, {}, decline=True)).modes == ("form", "url")
    assert Script(Answers({}, {})).modes == ("form",)


def test_an_answer_that_nothing_asked_for_is_remembered():
    given = {"name": "Ada", "colour": "red"}
    assert answered(form(FORM), texts=given, values={"size": 1})[1] == ["colour", "size"]


END = "give --answer NAME=VALUE for each, --accept-defaults or --decline"
REFUSALS = {
    "required": (form(FORM, "name", "guests"), {"window": "n"}, "name (text), guests (a whole number)"),
    "of no kind": (form({"x\x1b": {}}, "x\x1b"), {}, r"x\x1b (a JSON value)"),
    "misfits": (
        form(FORM), {"guests": "hunter", "window": "?"},
        ("guests (a whole number; the answer that was given does not fit),"
        " window (yes or no; the answer that was given does not fit)"),
    ),
    "nothing of it": (
        form({"name": {"type": "string"}, "n": {"type": "number"}}), {"other": "1"},
        "name (text, optional), n (a number, optional)",
    ),
    "a name that no option can spell": (
        form({"a=b": {}}, "a=b"), {}, "a=b (a JSON value)", "give --answers FILE",
    ),
    "no name": (form({"": {}}, ""), {}, '"" (a JSON value)', "give --answers FILE"),
    "a yes": (form({}), {"other": "1"}, "a yes, which is --accept-defaults"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS.values(), ids=REFUSALS)
def test_what_is_missing_is_named_with_its_type_and_the_option(case):
    request, texts, words, *option = case
    end = END.replace("give --answer NAME=VALUE for each", *option) if option else END
    unused = "; nothing asks for the answer other" if "other" in texts else ""
    assert refused(request, texts=texts) == f'"When?" wants {words}; {end}{unused}'


LIST = {"extras": {"type": "array", "items": {"type": "string"}}}


@pytest.mark.parametrize(
    ("text", "extras"),
    [("a", ["a"]), ("a, b", ["a", "b"]), (("a", "b"), ["a", "b"]), (("a,b", " c"), ["a,b", " c"])],
)
def test_an_answer_that_is_given_again_is_one_more_of_a_list(text, extras):
    assert answered(form(LIST), texts={"extras": text})[0] == [accepted(extras=extras)]


HOW = 'does not fit: several are extras=A,B or extras:=["A","B"]'


@pytest.mark.parametrize("extras", ["a,b", 5, [1]])
def test_what_is_no_list_is_told_how_one_is_written(extras):
    words = f"extras (texts with commas between them; the answer that was given {HOW})"
    assert refused(form(LIST), values={"extras": extras}) == f'"When?" wants {words}; {END}'


def test_an_answer_that_is_given_again_for_one_value_does_not_fit():
    words = "guests (a whole number; the answer that was given does not fit: it is given more than once)"
    assert refused(form(FORM), texts={"guests": ("1", "2")}) == f'"When?" wants {words}; {END}'


def test_where_an_answer_is_missing_one_that_is_mistyped_is_named_with_the_nearest_field():
    words = f'"When?" wants guests (a whole number); {END}'
    left = r"; nothing asks for the answer gests; the nearest: guests, x\x1b"
    given = {"texts": {"gests": "5"}, "values": {"x\x1b": 1}}
    assert refused(form(FORM, "guests"), **given) == words + left.replace("\\\\", "\\")


def test_forms_are_named_one_after_the_other():
    first, second = form({"a": {}}, "a", message=""), form({"b": {}}, "b", message="hunter-222\x1b")
    words = rf'a form wants a (a JSON value); "***\x1b" wants b (a JSON value); {END}'
    assert refused(first, second) == words


def test_an_option_that_was_given_is_not_recommended():
    words = '"When?" wants name (text); give --answer NAME=VALUE for each or --decline'
    assert refused(form(FORM, "name"), accept_defaults=True) == words


# -- the options -------------------------------------------------------------------------------


def collected(*words, path=None, accept_defaults=False, decline=False):
    return answers.collect(words, path, accept_defaults=accept_defaults, decline=decline)


def test_answers_are_names_and_texts():
    assert collected("a=b=c", "d=", "\u00e9= x ") == (
        {"a": ("b=c",), "d": ("",), "\u00e9": (" x ",)},
        {},
        False,
        False,
    )
    assert collected(decline=True) == ({}, {}, False, True)


def test_an_answer_may_be_json_or_be_given_again():
    given = collected('a:=["x,y"]', "b=1", "b=2", "c:=1e400")
    assert (given.texts, str(given.values)) == ({"b": ("1", "2")}, str({"a": ["x,y"], "c": EXACT}))


def test_an_answer_on_the_command_line_goes_before_one_in_a_file(tmp_path):
    (tmp_path / "f").write_text('{"a": 1, "b": 2}')
    assert collected("a:=3", path=str(tmp_path / "f")).values == {"a": 3, "b": 2}


@pytest.mark.parametrize(
    ("word", "words"),
    [("a:=hunter", "the answer a is not JSON: "), ("a:=", "the answer a is empty: := wants JSON")],
)
def test_an_answer_that_is_no_json_is_refused_without_being_repeated(word, words):
    with pytest.raises(InputError, match=f"^{words}") as caught:
        collected(word)
    assert "hunter" not in str(caught.value)


@pytest.mark.parametrize("word", ["a", "=b", "", ":=1"])
def test_a_word_that_is_no_answer_is_refused_without_being_repeated(word):
    with pytest.raises(
        UsageError, match="^an answer is given as --answer NAME=VALUE or NAME:=JSON$"
    ):
        collected(word)


@pytest.mark.parametrize("words", [(":=1", ":=2"), ("=1", ":=2"), (":=1", "=2")])
def test_a_name_with_json_stands_once(words):
    with pytest.raises(UsageError, match=r"^the answer a\\x1b is given twice$"):
        collected(*(f"a\x1b{word}" for word in words))


def test_an_answer_is_utf_8():
    with pytest.raises(InputError, match="is not UTF-8$"):
        collected(os.fsdecode(b"a=\xff"))


@pytest.mark.parametrize("more", [{"words": ["a=b"]}, {"path": "f"}, {"accept_defaults": True}])
def test_declining_and_answering_exclude_each_other(more):
    words = more.pop("words", [])
    with pytest.raises(UsageError, match=r"^--decline and --answer, .* exclude each other$"):
        collected(*words, decline=True, **more)


def test_a_file_holds_answers_as_json(tmp_path):
    (tmp_path / "f").write_bytes(b'\xef\xbb\xbf{"a": 5, "b": ["x"]}')
    assert collected(path=str(tmp_path / "f")).values == {"a": 5, "b": ["x"]}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[]", "does not hold a JSON object of answers"),
        (b"", "is not JSON: Expecting value: line 1 column 1 .char 0."),
        (b'{"a":1,"a":2}', "is not JSON: the name 'a' stands twice in one object"),
        (b"\xff", "is not UTF-8 .invalid start byte."),
        (b"x" * 9, "is larger than 8 bytes"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path, monkeypatch, data, words):
    monkeypatch.setattr(answers, "_LARGEST", max(8, len(data) if len(data) != 9 else 8))
    (tmp_path / "f").write_bytes(data)
    with pytest.raises(InputError, match=f"^the file of answers .*/f {words}$"):
        collected(path=str(tmp_path / "f"))


def test_a_file_that_cannot_be_read_is_told():
    with pytest.raises(InputError, match="^cannot read the file of answers no: No such file"):
        collected(path="no")
