import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thrall_py.redact import Redactor, holds_secret, is_secret_name


@pytest.mark.parametrize(
    ("secrets", "text", "masked"),
    [
        ([], "hunter2!", "hunter2!"),
        (["hunter2!"], "the word is hunter2!.", "the word is ***."),
        (["hunter"], "hunter hunter", "*** ***"),
        (["abcd"], "abcd", "***"),
        (["abc"], "abc", "abc"),
        (['quo"ted1'], r'said "quo\"ted1"', 'said "***"'),
        (["ab\u200bcdef"], "ab\u200bcdef", "***"),
        (["abcdef", "abcdefgh"], "abcdefgh", "***"),
    ],
    ids=[
        "none",
        "one",
        "twice",
        "just long enough",
        "too short",
        "as JSON",
        "unsafe characters in it",
        "longest first",
    ],
)
def test_secrets_are_masked(secrets, text, masked):
    assert Redactor(secrets).mask(text) == masked


@pytest.mark.parametrize(
    ("secret", "text", "leaks"),
    [
        ("abcdef123456", "it is abcdef123456!", True),
        ("abcdef123456", "it is abcdef12345", False),
        ("enabledenabled", "enabledenabled", False),
        ("123456789012", "123456789012", False),
        ("a1 b2 c3 d4 e5", "a1 b2 c3 d4 e5", False),
        ("abc123", "abc123", False),
        ("abcdefghi12", "abcdefghi12", False),
        ("enabled" * 2 + "-enabl", "enabled" * 2 + "-enabl", True),
        ("enabled" * 2 + "-enab", "enabled" * 2 + "-enab", False),
        ("1" * 20, "x" + "1" * 20, True),
        ("letters " * 3, "letters " * 3, False),
        ('quo"ted-1234', r'"quo\"ted-1234"', True),
    ],
    ids=[
        "there",
        "not there",
        "letters only",
        "digits only",
        "words",
        "short",
        "eleven",
        "twenty letters",
        "nineteen letters",
        "twenty digits",
        "long words",
        "as JSON",
    ],
)
def test_only_a_secret_that_cannot_stand_there_by_chance_leaks(secret, text, leaks):
    assert Redactor([secret]).leaks(text) is leaks


def test_a_quotation_is_cut_at_its_limit_and_says_so():
    assert Redactor().quoted("x" * 200) == '"' + "x" * 200 + '"'
    assert Redactor().quoted("x" * 201) == '"' + "x" * 200 + '..."'
    assert Redactor().quoted("abcdef", 3) == '"abc..."'
    assert Redactor().plain("abc", 3) == "abc"


def test_the_limit_of_a_quotation_counts_what_is_shown():
    assert Redactor().plain("\x1b\x1b", 4) == "\\x1b..."


def test_a_secret_is_masked_before_a_cut_could_leave_half_of_it():
    assert Redactor(["secret-0123456789"]).plain("xxsecret-0123456789", 6) == "xx***"


@pytest.mark.parametrize(
    "spelling", ['päss"word-1', 'p\\u00e4ss\\"word-1', 'päss\\"word-1', "ab/cd", "ab\\/cd"]
)
def test_a_secret_is_masked_in_every_spelling_that_json_has_for_it(spelling):
    assert Redactor(['päss"word-1', "ab/cd"]).mask(f"<{spelling}>") == "<***>"


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("GITHUB_TOKEN", True),
        ("client_secret", True),
        ("PGPASSWORD", True),
        ("OPENAI_API_KEY", True),
        ("APIKEY", True),
        ("AWS_CREDENTIALS", True),
        ("PRIVATE_PEM", True),
        ("Authorization", True),
        ("KEYBOARD", False),
        ("PATH", False),
    ],
)
def test_a_value_is_secret_by_the_name_of_its_variable(name, secret):
    assert is_secret_name(name) is secret


@pytest.mark.parametrize(
    ("secret", "spelling"),
    [
        ("ab&cd<1>", r"ab\u0026cd\u003c1\u003E"),
        ("sécrét", r"s\u00E9cr\u00e9t"),
        ("ab/cd/12", r"ab\/cd\u002F12"),
        ("ab\U0001f600cd", r"ab\ud83d\uDE00cd"),
        ("abcd", r"\u0061\u0062\u0063\u0064"),
        ("ab/cd", r"ab\\\/cd"),
        ("ab&cd", r"ab\\u0026cd"),
        ("ab&cd", r"ab\u005cu0026cd"),
        ("ab&cd", r"ab\\\\u0026cd"),
        ('a"b\\c\nd', r"a\\\"b\\\\c\\nd"),
        ("tab\there\b\f\r", r"tab\there\b\f\r"),
    ],
    ids=["go", "upper case", "php", "pair", "every letter", "slash twice", "twice", "backslash", "thrice",
         "quote twice", "short"],
)  # fmt: skip
def test_a_secret_is_masked_however_escapes_spell_it(secret, spelling):
    redact = Redactor([secret, "another secret"])
    assert redact.mask(rf"\n{spelling}\u0022 C:\new\x {spelling}") == r"\n***\u0022 C:\new\x ***"


@given(st.text(min_size=4), st.text('\\"/\n{}&ab', max_size=20), st.integers(0, 3))
def test_a_secret_in_json_in_json_is_masked_at_every_depth(secret, around, depth):
    text = f"{around}{secret}{around}"
    for _ in range(depth):
        text = json.dumps(text)
    assert "***" in Redactor([secret]).mask(text)


@pytest.mark.parametrize(
    "text", [r"a\u00", "\\", r"\ud83d", r"\udc00\ud83d", r"\x41bcd", r"\\u0041b"]
)
def test_what_spells_no_secret_stays_as_it_is(text):
    assert Redactor(["abcd", "ABCD"]).mask(text) == text


def test_secrets_that_overlap_are_one_mask():
    assert Redactor(["abc&", "c&de"]).mask(r"<abc\u0026de>") == "<***de>"
    assert Redactor(["ab&c", 'b\\u0026cd"e']).mask(r'<ab\\u0026cd"e>') == "<***>"


def test_a_definition_that_spells_a_secret_with_escapes_leaks_it():
    assert Redactor(["abc&ef123456"]).leaks(r"it is abc\\u0026ef123456")
    assert not Redactor(["abc&"]).leaks(r"it is abc\u0026")


@pytest.mark.parametrize("cut", range(1, 48))
def test_of_half_a_secret_in_escapes_nothing_is_left(cut):
    spelled = "".join(f"\\u{ord(letter):04x}" for letter in "sesame42")
    text = Redactor(["sesame42"]).mask_cut("x" * 400 + spelled[:cut])
    assert text
    assert set(text) <= {"x"}


def test_millions_of_escapes_are_read_in_one_walk():
    text = r"\n" * 500_000 + r"abc\u0026def" + r"\\\\" * 250_000
    assert Redactor(["abc&def"]).mask(text).count("***") == 1


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("GH_TOKEN", "x", True),
        ("PASSPHRASE", "correct horse", True),
        ("BEARER", "x", True),
        ("SSHKEY", "x", True),
        ("MY_PAT", "qwertyuiopas1", True),
        ("SESSION", "Ab3dEf6hIj9k", True),
        ("COOKIE", "sid=abcdef123456", True),
        ("AUTH", "none", False),
        ("DESKTOP_SESSION", "gnome", False),
        ("SSH_AUTH_SOCK", "/tmp/ssh-a1b2c3d4/agent.12", False),
        ("COOKIE_DOMAIN", "example1.example.com", False),
        ("PATH", "/usr/bin:/usr/local/bin2", False),
    ],
)
def test_where_a_name_is_doubtful_the_value_tells(name, value, secret):
    assert holds_secret(name, value) is secret
