import pytest

from thrall_py.redact import Redactor, is_secret_name


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
