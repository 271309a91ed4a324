import pytest
from hypothesis import given
from hypothesis import strategies as st

from thrall_py.gateway.core import uri

YES = [
    ("file:///a", "file:///a"),
    ("file:///docs/{name}", "file:///docs/a.md"),
    ("file:///docs/{name}", "file:///docs/"),
    ("file:///docs/{name}", "file:///docs/a%2Fb"),
    ("file:///docs/{+path}", "file:///docs/a/b?c#d"),
    ("file:///docs{/path*}", "file:///docs/a/b"),
    ("db://{table}/{id}/data", "db://users/New York/data"),
    ("http://a/{x}{?q,p}", "http://a/1?q=2&p=/3"),
    ("http://a/{x}{?q,p}", "http://a/1"),
    ("{+a}lit{b}", "xlit/ylit z"),
    ("{#fragment}", "#a/b"),
    ("a{.kind}", "a.txt"),
    ("", ""),
]
NO = [
    ("file:///a", "file:///b"),
    ("file:///a", "file:///ab"),
    ("file:///docs/{name}", "file:///docs/a/b"),
    ("file:///docs/{name}", "file:///docs/../../etc/passwd"),
    ("file:///docs/{name}", "file:///docs/a?b"),
    ("file:///docs/{name}", "file:///docs/a#b"),
    ("file:///docs/{name}", "file:///other/a"),
    ("http://a/{x}{?q}", "http://a/1?q#f"),
    ("db://{table}/{id}/data", "db://users/data"),
    ("{+anything}", "a" * 9000),
]


@pytest.mark.parametrize(("template", "address"), YES)
def test_an_address_that_a_template_makes_matches(template, address):
    assert uri.matches(template, address)


@pytest.mark.parametrize(("template", "address"), NO)
def test_an_address_that_no_value_of_a_variable_makes_does_not_match(template, address):
    assert not uri.matches(template, address)


LITERAL = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="{}")
)


@given(LITERAL, LITERAL)
def test_a_template_of_literals_matches_itself_only(template, other):
    assert uri.matches(template, template)
    assert uri.matches(template, other) == (template == other)


@given(st.lists(st.text("ab-.%~"), min_size=3, max_size=3))
def test_the_expansion_of_a_template_matches_it(values):
    first, second, third = values
    assert uri.matches("x:{a}/{b}-{c}", f"x:{first}/{second}-{third}")


@pytest.mark.parametrize("odd", ["\n", "\r", "\0", "\x1b", "\x7f", "\x85", "\u2028", "{", "}"])
@pytest.mark.parametrize("template", ["x:{a}", "x:{+a}", "x:{?a}"])
def test_what_no_expansion_has_without_an_escape_is_none(template, odd):
    assert uri.matches(template, "x:ab")
    assert not uri.matches(template, f"x:a{odd}b")


def test_many_variables_do_not_make_the_work_explode():
    assert not uri.matches("{a}-" * 100 + "x", "-" * 4000)
