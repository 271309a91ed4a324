import fcntl
import json
import os
import signal
import struct
import termios

import pytest
from fakes import value

from thrall_py.commands.asking import Person
from thrall_py.errors import Interrupted
from thrall_py.protocol.mcp import Asked
from thrall_py.redact import Redactor

EOF = "\x04"


@pytest.fixture
def ask(terminal, replaced, interrupts, typist):
    """Call with what is typed and what is asked; the responses, and what the terminal shows.

    What is typed `ahead` is there before the questions; `ended` is whether the server is gone, each
    time that it is looked at.
    """

    def run(typed, *params, ahead=b"", ended=()):
        looks = iter(ended)
        replaced(0, terminal.theirs)  # here: between setup and call the capture has its own way
        replaced(2, terminal.theirs)
        requests = {
            str(number): Asked("elicitation/create", value(json.dumps(each)))
            for number, each in enumerate(params)
        }
        end = typist(typed.encode() if isinstance(typed, str) else typed, ahead)
        responses = Person("book\x1b", interrupts).answer(
            requests, Redactor(["hunter-222"]), lambda: next(looks, False)
        )
        shown = end().decode(errors="replace").replace("\r\n", "\n")
        return [json.loads(response) for response in responses.values()], shown

    return run


def form(*required, message="When?", **properties):
    return {
        "message": message,
        "requestedSchema": {"properties": properties, "required": required},
    }


def accepted(**content):
    return [{"action": "accept", "content": content}]


def test_a_form_is_asked_field_by_field(ask):
    guests = {"type": "integer", "title": "Guests", "description": "You too", "minimum": 1}
    responses, shown = ask(
        "Ada\n4\n\n", form("name", "guests", name={"type": "string"}, guests=guests)
    )
    assert responses == accepted(name="Ada", guests=4)
    lines = [line.rstrip() for line in shown.split("\n")]
    expected = [
        r'thrall: book\x1b: the server asks: "When?"',
        "  Enter takes what is in brackets; /decline says no, /cancel leaves it open.",
        "  name", "  Guests (guests): You too",
    ]  # fmt: skip
    assert [line for line in lines if line in expected] == expected
    for prompt in (
        "text: ",
        "a whole number, at least 1: ",
        "Enter sends this to the server (/back changes it): ",
    ):
        assert f"  {prompt}" in shown


FIELDS = {
    "a default": ("\n", {"type": "integer", "default": 3}, {"f": 3}),
    "another than the default": ("5\n", {"type": "integer", "default": 3}, {"f": 5}),
    "a default that is false": ("\n", {"type": "boolean", "default": False}, {"f": False}),
    "left out": ("\n", {"type": "string"}, {}),
    "left out in spite of a default": (EOF, {"type": "string", "default": "x"}, {}),
    "asked again": ("x\n0\n2\n", {"type": "integer", "minimum": 1}, {"f": 2}),
    "a yes": ("y\n", {"type": "boolean"}, {"f": True}),
    "a choice": ("b\n", {"type": "string", "enum": ["a", "b"]}, {"f": "b"}),
    "a choice by number": ("2\n", {"type": "string", "enum": ["a", "b"]}, {"f": "b"}),
    "no such choice": ("3\n1\n", {"type": "string", "enum": ["a", "b"]}, {"f": "a"}),
    "a choice that is a number": ("1\n", {"type": "string", "enum": ["2", "1"]}, {"f": "1"}),
    "several": ("2, a\n", {"type": "array", "items": {"enum": ["a", "b,c"]}}, {"f": ["b,c", "a"]}),
    "several that are numbers": ("1,2\n", {"type": "array", "items": {"enum": ["2", "1"]}}, {"f": ["1", "2"]}),
    "texts": ("x, y\n", {"type": "array"}, {"f": ["x", "y"]}),
    "no UTF-8": (b"\xff\nok\n", {"type": "string"}, {"f": "ok"}),
    "ended by ^D": (f"ok{EOF}{EOF}", {"type": "string"}, {"f": "ok"}),
}  # fmt: skip


@pytest.mark.parametrize(("typed", "schema", "content"), FIELDS.values(), ids=FIELDS)
def test_a_field_is_asked_until_there_is_an_answer(ask, typed, schema, content):
    typed = typed if isinstance(typed, bytes) else typed.encode()
    assert ask(typed + b"\n", form(f=schema))[0] == accepted(**content)


def test_a_required_field_is_not_left_out(ask):
    responses, shown = ask("\nx\n\n", form("f", f={"type": "string"}))
    assert responses == accepted(f="x")
    assert "What is wanted is text." in shown


@pytest.mark.parametrize(
    ("typed", "action"),
    [
        ("/decline\n", "decline"), (" /cancel \n", "cancel"), (EOF, "cancel"),
        ("x\n/decline\n", "decline"), ("x\n/cancel\n", "cancel"), (f"x\n{EOF}", "cancel"),
    ],
)  # fmt: skip
def test_a_form_can_be_declined_or_cancelled_at_any_time(ask, typed, action):
    assert ask(typed, form("f", f={"type": "string"}))[0] == [{"action": action}]


def test_what_enter_does_stands_in_brackets(ask):
    _, shown = ask(
        "\n" * 6,
        form(
            a={"type": "boolean", "default": True},
            b={"type": "boolean", "default": False},
            c={"type": "array", "items": {"enum": ["x", "y"]}, "default": ["x", "y"]},
            d={"type": "number", "default": 95.5},
            e={"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 1, "maxItems": 2},
        ),
    )
    for prompt in (
        "yes or no [yes]: ", "yes or no [no]: ", "some of them, with commas [x, y]: ", "a number [95.5]: ",
        "some of them, with commas, 1 to 2 in all [left out]: ",
    ):  # fmt: skip
        assert prompt in shown


def test_choices_have_a_line_each_up_to_a_limit(ask):
    many = {"oneOf": [{"const": f"c{n}", "title": f"C {n}"} for n in range(53)]}
    _, shown = ask("\n\n", form(f={"type": "string", **many}))
    assert "\n    1  c0  C 0\n" in shown
    assert "\n    50  c49  C 49\n    and 3 more\n" in shown
    _, shown = ask("\n\n", form(f={"type": "string", "enum": ["2", "3"]}))
    assert "\n    2\n    3\n" in shown


def test_what_the_server_says_is_escaped_masked_and_cut(ask):
    hostile = {
        "title": "\x1b]0;x\x07",
        "description": "d" * 600,
        "default": "hunter-222",
        "type": "string",
    }
    _, shown = ask("\n\n", form(message="hunter-222\n\u202e", **{"f\x1b": hostile}))
    assert '"***\\n\\u202e"' in shown
    assert r"  \x1b]0;x\x07 (f\x1b): " + "d" * 500 + "...\n" in shown
    assert "text [***]: " in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


@pytest.mark.parametrize(("name", "title"), [("password", ""), ("f", "Your API key")])
def test_a_field_that_looks_like_a_secret_is_said_to_be_the_servers_wish(ask, name, title):
    _, shown = ask("\n\n", form(**{name: {"type": "string", "title": title}}))
    assert r"  book\x1b wants what looks like a secret; what you type is shown." in shown


# -- a page ------------------------------------------------------------------------------------

PAGE = {"mode": "url", "message": "Please", "url": "https://example.com:8/a?b"}


@pytest.mark.parametrize(
    ("typed", "action"),
    [("\n", "accept"), ("done\n", "accept"), ("/decline\n", "decline"), ("/cancel\n", "cancel"), (EOF, "cancel")],
)  # fmt: skip
def test_a_page_is_shown_with_its_host_and_waited_for(ask, typed, action):
    responses, shown = ask(typed, PAGE)
    assert responses == [{"action": action}]
    assert 'the server wants a page to be visited: "Please"\n  https://example.com:8/a?b\n' in shown
    assert "  This is a page of example.com." in shown


def test_a_page_that_is_none_is_declined_without_being_shown(ask):
    responses, shown = ask("", {**PAGE, "url": "javascript:alert(1)"})
    assert responses == [{"action": "decline"}]
    assert "alert" not in shown


def test_requests_are_asked_one_after_the_other(ask):
    responses, _ = ask("/decline\n\n\n", form(), form(), PAGE)
    assert [each["action"] for each in responses] == ["decline", "accept", "accept"]


def test_a_signal_ends_the_asking(ask):
    os.kill(os.getpid(), signal.SIGINT)
    with pytest.raises(Interrupted):
        ask("", form(f={"type": "string"}))


def test_a_form_is_sent_by_an_empty_line_and_by_nothing_else(ask):
    responses, shown = ask("Ada\nno\n\n", form("name", name={"type": "string"}))
    assert responses == accepted(name="Ada")
    assert shown.count("Enter sends this to the server (/back changes it): ") == 2


def test_what_will_be_sent_is_shown_before(ask):
    properties = {"name": {"type": "string"}, "yes\x1b": {"type": "boolean"}, "no": {}}
    _, shown = ask("Ada\x7f\x7f\x7fBob\ny\n\n\n", form(**properties))
    assert "\n    name: Bob\n    yes\\x1b: yes\n  Enter sends this" in shown
    assert "\n    a yes, without any values\n  Enter sends this" in ask("\n", form())[1]


def test_a_word_goes_back_to_the_answer_before_which_then_stands_in_brackets(ask):
    typed = "/back\nAda\n/back\n\n5\n/back\n6\n\n"
    properties = {"name": {"type": "string"}, "guests": {"type": "integer"}}
    responses, shown = ask(typed, form("name", **properties))
    assert responses == accepted(name="Ada", guests=6)
    assert "text [Ada]: " in shown
    assert "a whole number [5]: " in shown


def test_an_answer_may_be_taken_back(ask):
    assert ask(f"Ada\n/back\n{EOF}\n", form(f={"type": "string"}))[0] == accepted()


def test_from_a_page_nothing_leads_back(ask):
    responses, shown = ask("/back\n\n", PAGE)
    assert (responses, shown.count("Enter goes on")) == ([{"action": "accept"}], 2)


def test_long_lines_are_broken_between_words_and_addresses_are_not(ask, terminal):
    fcntl.ioctl(terminal.theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 40, 0, 0))
    url = f"https://example.com/{'a' * 40}"
    _, shown = ask(
        "\n\n\n",
        form(f={"type": "string", "description": "one two three four five six seven eight"}),
        {"mode": "url", "message": "Pay", "url": url},
    )
    assert "\n  f: one two three four five six seven\n  eight\n" in shown
    assert f"\n  {url}\n" in shown
    assert "\n  This is a page of example.com. Only\n  you can open it, if you trust it.\n" in shown
    assert "\n  Enter goes on (/decline says no,\n  /cancel leaves it open): " in shown


def test_a_terminal_that_is_none_has_its_lines_whole(ask, monkeypatch):
    def fail(_):
        raise OSError

    monkeypatch.setattr(os, "get_terminal_size", fail)
    assert (
        f"\n  f: {'one ' * 40}two\n"
        in ask("\n\n", form(f={"type": "string", "description": "one " * 40 + "two"}))[1]
    )


@pytest.mark.parametrize(
    ("ahead", "params"),
    [
        (b"\n", form()),
        (b"\n\n\n", form(f={"type": "boolean", "default": True})),
        (b"\n", PAGE),
        (b"half a li", form("f", f={"type": "string"})),
        (b"x\x04", form("f", f={"type": "string"})),
    ],
)
def test_what_was_typed_before_a_question_is_no_answer(ask, ahead, params):
    responses, _ = ask("/decline\n", params, ahead=ahead)
    assert responses == [{"action": "decline"}]


def test_what_was_typed_before_a_consent_is_none(ask):
    responses, shown = ask([b"x\n\n", b"/cancel\n"], form("f", f={"type": "string"}))
    assert responses == [{"action": "cancel"}]
    assert "Enter sends" in shown


def test_several_fields_may_be_typed_at_once(ask):
    two = form("a", "b", a={"type": "string"}, b={"type": "string"})
    assert ask([b"x\ny\n", b"", b"\n"], two)[0] == accepted(a="x", b="y")


@pytest.mark.parametrize("looks", range(4))
def test_nothing_more_is_asked_for_a_server_that_is_gone(ask, looks):
    two = form("a", "b", a={"type": "string"}, b={"type": "string"})
    responses, shown = ask("x\n" * looks, two, ended=[False] * looks + [True])
    assert responses == [{"action": "cancel"}]
    assert shown.endswith("  The server is gone, so nothing is sent.\n")


def test_a_field_without_a_name_is_shown_to_have_none(ask):
    responses, shown = ask("x\n\n", form(**{"": {"type": "string"}}))
    assert responses == accepted(**{"": "x"})
    assert '\n  ""\n' in shown
