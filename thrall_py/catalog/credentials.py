"""Words that look like credentials, which do not belong in a file that is committed. Pure.

By known shapes of tokens, and by long values of options and variables whose names say what they
are. What only resembles one (`--max-tokens=4096`, a digest) passes.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

_SHAPES = re.compile(
    r"gh[opsur]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{16,}"
    r"|(?<![A-Za-z0-9_-])sk-(?=\S*[0-9])[A-Za-z0-9_-]{20,}|[rs]k_live_[A-Za-z0-9]{16,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|AKIA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,}"
    r"|(?:npm|hf|pypi)[_-][A-Za-z0-9_-]{30,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+"
    r"|(?i:bearer|basic) +(?=\S*[0-9])\S{16,}"
    # Alone, a shorter one is one as well; "Basic JavaScript" is not.
    r"|\A(?i:bearer) +(?=\S*[0-9])\S{8,}\Z"
    r"|\A(?i:basic) +(?=\S*(?:[0-9]|[a-z][A-Z]))"
    r"(?:[A-Za-z0-9+/]{4})+[A-Za-z0-9+/]{2}[A-Za-z0-9+/=]{2}\Z"
    r"|//hooks\.slack\.com/[a-z]+/(?=\S*[0-9])\S{16,}"
    r"|//(?:[a-z]+\.)?discord(?:app)?\.com/api/webhooks/[0-9]+/\S{16,}"
)
# An option, a variable, or a header, and its value.
_NAMED = re.compile(r"(-{0,2}[A-Za-z0-9_][A-Za-z0-9_.-]*)(=|:(?!//) *)(.+)", re.DOTALL)
_NAME = re.compile(
    r"(?:^|[-_.])(?:token|secret|pass(?:w(?:or)?d|phrase)?|pwd|pat|(?:api|access|ssh)?[-_]?key"
    r"|credentials?|auth|bearer|cookies?|(?<!desktop_)session(?:[-_]?id)?)$",
    re.IGNORECASE,
)
_PASSWORD = re.compile(r"(?:pass(?:w(?:or)?d|phrase)?|pwd)$", re.IGNORECASE)
_NO_PASSWORD = re.compile(r"[0-9]*|[./~].*", re.DOTALL)  # a number, a path
_SECRET_HEADER = re.compile(r"auth|cookie|token|secret|pass|key|credential", re.IGNORECASE)
_SCHEMES = ("basic", "bearer", "token")  # in front of a credential
_SHORTEST = 16  # characters of a value that may be a token
_USERINFO = re.compile(r"://([^/@\s:]*)(?::([^/@\s]*))?@")
# A pair inside of a word: a query, a connection string, a variable before a command, JSON.
_PAIR = re.compile(r"""(?:^|[?&#;,\s"'])([^=?&#;,\s"']+) ?= ?["']?([^?&#;\s"']+)""")
_MEMBER = re.compile(r'"([^"\\]+)"\s*:\s*"([^"\\]+)"')
_HUMP = re.compile("(?<=[a-z0-9])(?=[A-Z])")  # between the words of accessToken
_HEADER_OPTIONS = ("--header", "--headers", "-H")
_VARIABLE = re.compile(r"\$(\$?)\{([^}:]*:-([^}]*)|[^}]*)\}")  # $${X} stands for ${X}


def find(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Find the words that hold a credential in clear.

    Yields:
        The place of a word, from 1, and how it should be written in a shell: with the option in
        front of it, if that is what tells.

    """
    option = ""
    for place, word in enumerate(words, 1):
        spelling = _spelling(word, option)
        if spelling:
            yield place, shlex.join(spelling)
        option = word if word.startswith("-") and "=" not in word else ""


def find_in_headers(headers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Find the headers that hold a credential in clear.

    Yields:
        The name of a header, and how its value should be spelled.

    """
    for name, value in headers.items():
        spelling = _header_spelling(name, value)
        if spelling:
            yield name, spelling


def literal_part(word: str) -> str:
    """What stands in a word itself, and not in a variable; the default of one does."""
    return _VARIABLE.sub(lambda found: found[0][1:] if found[1] else found[3] or "", word)


def defaults(word: str) -> list[str] | None:
    """What the variables in a word are if they are not set; None if there is no variable."""
    found = [default for escaped, _, default in _VARIABLE.findall(word) if not escaped]
    return found or None


def _header_spelling(name: str, value: str) -> str:
    """How a header should be spelled; empty if its value is as it should be."""
    if not _is_secret_header(name, value):
        return ""
    scheme = value.partition(" ")[0]
    stand_in = f"${{{variable(name)}}}"
    return f"{scheme} {stand_in}" if scheme.lower() in _SCHEMES else stand_in


def _is_secret_header(name: str, value: str) -> bool:
    literal = literal_part(value)
    if _SHAPES.search(literal):
        return True
    if not _SECRET_HEADER.search(name):
        return False
    if literal == value:
        return bool(literal.strip())
    # A scheme, or a name, in front of a variable is no secret; its default would be.
    secrets = (word for word in defaults(value) or () if word.lower() not in _SCHEMES)
    return any(secrets) or any(map(_is_random, re.split("[ ;=]", literal)))


def _spelling(word: str, option: str) -> list[str]:
    """The words to be written instead of this one; none if it is as it should be."""
    literal = literal_part(word)
    named = _NAMED.fullmatch(literal)
    if named and _is_secret(named[1], named[3]):
        return [f"{named[1]}{named[2]}${{{variable(named[1])}}}"]
    if option and _is_secret(option, literal):
        return [option, f"${{{variable(option)}}}"]
    if _holds_pair(literal):
        return ["${NAME}"]
    if _SHAPES.search(literal):
        return ["${TOKEN}"]
    if option in _HEADER_OPTIONS:
        name, _, value = word.partition(":")
        spelling = _header_spelling(name, value.strip())
        return [option, f"{name}: {spelling}"] if spelling else []
    named = _NAMED.fullmatch(word)  # --env=TOKEN=..., --header=X-Api-Key: ...
    inner = _spelling(named[3], named[1]) if named else []
    return [f"{named[1]}{named[2]}{inner[-1]}"] if named and inner else []


def _holds_pair(text: str) -> bool:
    """Whether a secret stands somewhere inside, behind its name or that of a user."""
    users = _USERINFO.findall(text)
    pairs = (*_PAIR.findall(text), *_MEMBER.findall(text))
    return any(password or _is_random(user) for user, password in users) or any(
        _is_secret(*pair) for pair in pairs
    )


def _is_secret(name: str, value: str) -> bool:
    name = _HUMP.sub("_", name.lstrip("-"))
    if not _NAME.search(name):
        return False
    if _PASSWORD.search(name):
        return not _NO_PASSWORD.fullmatch(value)
    return _is_random(value)


def _is_random(value: str) -> bool:
    """Whether a value is long and mixed enough to be a token: no path, no plain number or word."""
    if len(value) < _SHORTEST or "/" in value or " " in value:
        return False
    return bool(re.search("[0-9]", value) and re.search("[A-Za-z]", value))


def variable(name: str) -> str:
    """The name of a variable that can stand for what is called `name`."""
    spelled = re.sub("[^A-Z0-9]+", "_", name.lstrip("-").upper()) or "TOKEN"
    return f"_{spelled}" if spelled[0].isdigit() else spelled
