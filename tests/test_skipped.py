import pytest

from thrall_py.protocol.skipped import SkippedLines
from thrall_py.redact import Redactor


def sentence(*lines, partial=None, secrets=()):
    skipped = SkippedLines(Redactor(secrets))
    for line in lines:
        skipped.add(line)
    if partial is not None:
        skipped.add_partial(partial)
    return skipped.sentence()


def test_no_lines_leave_no_trace():
    assert sentence() == ""
    assert sentence(partial=b"") == ""


def test_the_first_line_is_quoted_and_the_others_are_counted():
    assert sentence(b"hello\r") == '; skipped 1 line: "hello"'
    assert sentence(b"hello", b"a", b"b") == '; skipped 3 lines, the first: "hello"'


def test_no_half_of_a_secret_is_left_where_a_long_line_is_cut():
    secret = "hunter-222" * 13
    line = (secret * 32).encode()
    assert 4096 < len(line) < 4096 + len(secret)
    assert "hunter" not in sentence(line, secrets=[secret])


def test_a_line_that_did_not_end_is_quoted_too():
    assert sentence(partial=bytearray(b"half")) == '; a line did not end: "half"'
    assert sentence(b"one", partial=b"half") == (
        '; skipped 1 line: "one"; a line did not end: "half"'
    )


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        (b"\x1b[31mred", r'"\x1b[31mred"'),
        (b"caf\xe9", '"caf\ufffd"'),
        ("日本".encode(), '"日本"'),
        (b"x" * 100_000, '"' + "x" * 200 + '..."'),
        (b"key hunter-222", '"key ***"'),
    ],
    ids=["escape", "not UTF-8", "UTF-8", "long", "secret"],
)
def test_a_skipped_line_is_quoted_as_all_foreign_text(line, quoted):
    assert sentence(line, secrets=["hunter-222"]) == f"; skipped 1 line: {quoted}"


def test_where_lines_may_be_about_anybody_they_are_counted_and_not_quoted():
    skipped = SkippedLines(Redactor(), quoting=False)
    skipped.add(b"private")
    assert skipped.sentence() == "; skipped 1 line"
    skipped.add(b'{"id":"private","result":{}}')
    skipped.add_partial(b"private")
    assert skipped.sentence() == (
        "; skipped 2 lines; a line did not end"
        " (a later one is an answer with an id which nobody asked with)"
    )


HINTS = {
    "framing": (
        b"Content-Length: 52",
        "looks like Content-Length framing; MCP wants one message per line",
    ),
    "an opening brace": (
        b"{",
        "looks like a message printed over several lines; MCP wants each on one line",
    ),
    "an opening bracket": (
        b"[ \r",
        "looks like a message printed over several lines; MCP wants each on one line",
    ),
    "npx": (b"Need to install the following packages:", "asks for installation: add -y"),
    "npx, second line": (b"Ok to proceed? (y)", "asks for installation: add -y"),
    "cat": (b'{"id":1,"method":"initialize"}', "repeats what it reads: no MCP server"),
    "cat with the probe": (
        b'{"id":1,"method":"server/discover"}',
        "repeats what it reads: no MCP server",
    ),
    "UTF-16, little end first": (b"{\x00}\x00", "looks like UTF-16; MCP wants UTF-8"),
    "UTF-16, big end first": (b"\x00{\x00}", "looks like UTF-16; MCP wants UTF-8"),
    "a usage message": (
        b"Usage: server [OPTIONS]",
        "looks like a usage message: check the arguments",
    ),
    "an unknown option": (
        b"unknown option --foo",
        "looks like a usage message: check the arguments",
    ),
    "an unknown command": (
        b"Unknown command: x",
        "looks like a usage message: check the arguments",
    ),
}


@pytest.mark.parametrize(("line", "hint"), HINTS.values(), ids=HINTS)
def test_a_line_that_tells_something_earns_a_hint(line, hint):
    assert sentence(line).endswith(f'" ({hint})')
    assert sentence(partial=line).endswith(f'" ({hint})')


@pytest.mark.parametrize(
    ("line", "id_"),
    [
        (b'{"id":99,"result":{}}', "99"),
        (b'{"jsonrpc":"2.0","id": "a{b}","error":{"code":1}}', '"a{b}"'),
    ],
)
def test_a_response_that_nobody_asked_for_earns_a_hint_if_it_is_whole(line, id_):
    assert sentence(line).endswith(f'" (is an answer with id {id_}, which nobody asked with)')
    assert sentence(partial=line).endswith('"')


@pytest.mark.parametrize(
    "line", [b"Server ready", b'{"method":"ping"}', b'say "usage:"', b"the Content-Length: 5"]
)
def test_a_line_that_tells_nothing_earns_no_hint(line):
    assert sentence(line).endswith('"')


@pytest.mark.parametrize(("line", "hint"), HINTS.values(), ids=HINTS)
def test_a_telling_line_behind_a_banner_earns_its_hint_and_the_banner_is_quoted(line, hint):
    said = sentence(b"Welcome!", b"", line, b"usage:")
    assert said == f'; skipped 4 lines, the first: "Welcome!" (a later one {hint})'


def test_the_first_telling_line_decides():
    assert sentence(b"{", b"usage:", b'{"id":1,"result":1}').endswith(
        '"{" (looks like a message printed over several lines; MCP wants each on one line)'
    )


def test_an_answer_that_nobody_asked_for_is_found_behind_a_banner():
    assert sentence(b"Welcome!", b'{"id":9,"result":{"id":5,"error":1}}').endswith(
        '"Welcome!" (a later one is an answer with id 9, which nobody asked with)'
    )


def test_the_hint_may_come_from_the_line_that_did_not_end():
    assert sentence(b"banner", partial=b"{").endswith("MCP wants each on one line)")


def test_a_hint_shows_the_servers_words_safely():
    assert sentence(b'{"id":"hunter-222\x9b","result":1}', secrets=["hunter-222"]).endswith(
        ' (is an answer with id "***\ufffd", which nobody asked with)'
    )
