"""`thrall completion`: what it answers to the scripts; that shells understand it is in another file."""

import json
import os
from pathlib import Path

import pytest

from thrall_py import cli
from thrall_py.catalog import file
from thrall_py.catalog.entry import Entry, pin_item
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.launch import LaunchSpec
from thrall_py.commands import shells
from thrall_py.commands.candidates import Candidate, Paths
from thrall_py.protocol.jsontext import load
from thrall_py.protocol.mcp import ServerInfo

ROOT = Path(__file__).parent.parent
ISSUE = {
    "name": "create_issue",
    "description": "Create it.\x1b\nIn a project. " + "x" * 100,
    "inputSchema": {
        "properties": {
            "title": {"type": "string", "description": "What it is about."},
            "status": {"enum": ["open", "In Progress", "it's $done", "@home", "bell\x07", 5, None]},
            "urgent": {"type": "boolean"},
            "size": {"enum": [1, 1.5, {"a": "b"}]},
            "file.name": {"type": "string"},
            "-dash": {},
            "hidden\u200b": {},
            "": {},
        }
    },
}
HOSTILE = ["-rf", "new\nline", "esc\x1b[2J", "\u202eright", "$(touch x)", "a b", "tab\there"]


@pytest.fixture
def catalog():
    """A catalog with two servers; starting one would leave a trace."""
    tools = [ISSUE, {"name": "close_issue"}, *({"name": name} for name in HOSTILE)]
    server = ServerInfo("2025-11-25", "s", "1")
    entry = Entry(LaunchSpec(("touch", "started"), {}), server, {"tools": {}})
    full = entry._replace(
        items={"tools": {tool["name"]: pin_item(load(json.dumps(tool))) for tool in tools}}
    )
    file.write("c.json", file.dumps(Catalog({"tracker": full, "my server": entry, "-x": entry})))
    yield "c.json"
    assert not os.path.exists("started")


@pytest.fixture
def answer(thrall):
    """Call with words, the last of them to be completed; the lines of the answer, less abouts."""

    def ask(*words, shell="zsh", place=None):
        place = len(words) - 1 if place is None else place
        ran = thrall("completion", shell, str(place), "--", *words)
        assert (ran.status, ran.err) == (0, "")
        lines = ran.out.decode(errors="surrogateescape").splitlines()
        return [line.partition("\t")[0] for line in lines]

    return ask


# -- the script --------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_printed(thrall, shell):
    ran = thrall("completion", shell)
    assert ran == (0, (ROOT / f"thrall_py/shell/thrall.{shell}").read_bytes(), "")


@pytest.mark.parametrize("words", [["bash", "0"], ["bash", "--", "call"]])
def test_a_place_and_words_belong_together(thrall, words):
    ran = thrall("completion", *words)
    assert (ran.status, ran.out) == (2, b"")
    assert ran.err == (
        "thrall: PLACE and the words behind -- belong together: the script gives both\n"
    )


@pytest.mark.parametrize("words", [["tcsh"], [], ["bash", "x"], ["bash", "-1", "--", "x"]])
def test_another_shell_or_place_is_refused(thrall, words):
    assert thrall("completion", *words).status == 2


# -- verbs, options, values --------------------------------------------------------------------


def test_verbs_come_first(answer):
    assert answer("") == ["words", *sorted(cli.VERBS)]
    assert answer("ch") == ["words", "check"]
    assert answer("x") == ["words"]
    assert answer(place=0) == ["words", *sorted(cli.VERBS)]
    assert answer("--") == ["words", "--version", "--help"]


def test_a_verb_has_its_options(answer):
    assert answer("show", "-") == ["words", "--format", "--serve", "--for", "--help"]
    assert "--catalog" in answer("call", "x", "--")
    assert answer("call", "--catalog=c", "--cat") == ["words"]
    assert answer("call", "--catalog", "c", "--cat") == ["words"]
    assert answer("check", "--allow", "text", "--al") == ["words", "--allow"]
    assert answer("nope", "-") == ["words"]
    assert answer("--help", "") == ["words"]


def test_an_option_has_its_values(answer):
    assert answer("check", "--format", "j") == ["words", "json", "junit"]
    assert answer("check", "--format=j") == ["words", "--format=json", "--format=junit"]
    assert answer("call", "--protocol", "2026") == ["words", "2026-07-28"]
    assert answer("call", "--timeout", "") == ["words"]
    assert answer("call", "--json=") == ["words"]
    assert answer("completion", "f") == ["words", "fish"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["call", "--catalog", "to"], ["catalogs", "", "to"]),
        (["call", "--catalog=to"], ["catalogs", "--catalog=", "to"]),
        (["call", "x", "--save", ""], ["directories", "", ""]),
        (["call", "x", "--cwd=~/a"], ["directories", "--cwd=", "~/a"]),
        (["pin", "c.json", "--from", "a b"], ["files", "", "a b"]),
        (["pin", "x"], ["catalogs", "", "x"]),
        (["check", "a.json", "b"], ["catalogs", "", "b"]),
        (["show", "x"], ["catalogs", "", "x"]),
        (["unpin", "x"], ["catalogs", "", "x"]),
        (["call", "x", "body=@re"], ["files", "body=@", "re"]),
        (["call", "x", "body:=@"], ["files", "body:=@", ""]),
    ],
)
def test_paths_are_left_to_the_shell(answer, words, found):
    assert answer(*words) == found


# -- names from a catalog ----------------------------------------------------------------------

TOOLS = ["$(touch x)", "a b", "close_issue", "create_issue"]


@pytest.mark.usefixtures("catalog")
@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["call", "--catalog", "c.json", ""], TOOLS),
        (["call", "--catalog=c.json", "c"], TOOLS[2:]),
        (["call", "--json", "--catalog", "c.json", "cr"], TOOLS[3:]),
        (["show", "c.json", "cl"], ["close_issue"]),
        (["show", "c.json", "close_issue", ""], []),
        (["unpin", "c.json", ""], ["my server", "tracker"]),
        (["unpin", "c.json", "tracker", "my"], ["my server"]),
        (["pin", "c.json", "--update", "t"], ["tracker"]),
        (["doctor", "--catalog", "c.json", "t"], ["tracker"]),
        (["call", "cr"], []),
    ],
)
def test_names_come_from_the_catalog_on_the_line(answer, words, names):
    assert answer(*words) == ["words", *names]


def test_a_pin_that_is_no_update_has_no_names_to_offer(answer, catalog):
    assert answer("pin", catalog, "") == ["words"]


def test_the_catalog_may_be_behind_the_cursor(answer, catalog):
    assert answer("call", "cr", "--catalog", catalog, place=1) == ["words", "create_issue"]


def test_the_catalog_may_be_in_the_environment(answer, catalog, monkeypatch):
    monkeypatch.setenv("THRALL_CALL_CATALOG", catalog)
    assert answer("call", "cr") == ["words", "create_issue"]


def test_the_catalog_is_found_as_a_shell_would(answer, catalog, monkeypatch):
    monkeypatch.setenv("HERE", os.getcwd())
    assert answer("call", "--catalog", f"$HERE/{catalog}", "cr", shell="bash")[1:] == [
        "create_issue"
    ]
    os.rename(catalog, os.path.expanduser(f"~/{catalog}"))
    assert answer("call", "--catalog", f"~/{catalog}", "cr", shell="bash")[1:] == ["create_issue"]


@pytest.mark.parametrize("data", [b"", b"{", b"[" * 100_000, b'{"servers": {"a": {"tools": 5}}}'])
def test_a_damaged_catalog_gives_no_names_and_no_noise(answer, data):
    Path("c.json").write_bytes(data)
    assert answer("call", "--catalog", "c.json", "") == ["words"]
    assert answer("call", "--catalog", "c.json", "x", "") == ["words"]


@pytest.mark.usefixtures("catalog")
@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([""], ["title=", "status=", "urgent:=", "size:=", r"file\.name="]),
        (["t"], ["title="]),
        (["title=x", "urgent:=true", "status=", ""], ["size:=", r"file\.name="]),
        (["status="], ["status=open", "status=In Progress", "status=it's $done"]),
        (["status=I"], ["status=In Progress"]),
        (["status:="], ["status:=5", "status:=null"]),
        (["urgent:=t"], ["urgent:=true"]),
        (["urgent="], []),
        (["size:="], ["size:=1", "size:=1.5", 'size:={"a":"b"}']),
        (["title="], []),
        (["nope="], []),
        (["x"], []),
    ],
)
def test_a_tool_has_its_parameters_and_they_their_values(answer, words, found):
    tool = ("call", "create_issue", "--catalog", "c.json")
    assert sorted(answer(*tool, *words)[1:]) == sorted(found)


def test_a_tool_that_the_catalog_does_not_have_has_no_parameters(answer, catalog):
    assert answer("call", "nope", "--catalog", catalog, "") == ["words"]


def test_what_a_name_is_about_stands_behind_it_in_one_harmless_line(thrall, catalog):
    ran = thrall("completion", "fish", "3", "--", "call", "--catalog", catalog, "cr")
    assert ran.out == b"words\ncreate_issue\tCreate it.\\x1b\n"
    Path("c.json").write_text(
        json.dumps(
            {"servers": {"a": {"tools": {"x": {"definition": {"description": "y\t" * 99}}}}}}
        )
    )
    ran = thrall("completion", "zsh", "3", "--", "call", "--catalog", catalog, "")
    assert ran.out.decode() == "words\nx\t" + r"y\t" * 30 + "\n"


def test_bytes_that_are_no_utf_8_come_back_as_they_were(answer):
    assert answer("call", "x", "body=@\udcff") == ["files", "body=@", "\udcff"]


# -- how shells write words --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "means", "quote"),
    [
        ("", "", ""),
        ("plain", "plain", ""),
        (r"a\ b", "a b", ""),
        ("'a b'", "a b", ""),
        ("'a b", "a b", "'"),
        ('"a b', "a b", '"'),
        ('x="a b"', "x=a b", ""),
        ("it'\"'s", 'it"s', ""),
        (r'"a\$\x\""', r'a$\x"', ""),
        (r"'a\'", "a\\", ""),
        ("a\\", "a", ""),
        ('"a\\', "a", '"'),
        ("'", "", "'"),
        ('"', "", '"'),
        ("''", "", ""),
        ("'a'\"b", "ab", '"'),
        ("\"a\"'b'c", "abc", ""),
        ("$(touch x)", "$(touch x)", ""),
        ("é\n", "é\n", ""),
    ],
)
def test_a_word_of_bash_is_taken_for_what_it_means(written, means, quote):
    assert shells.unquote(written) == (means, quote)


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        ("", ["plain-1.0_/@:=", r"a\ b", r"it\'s", r"\$\(x\)", "é", r"a\\.b=", r"\~x", r"x\{a,b\}", r"\!"]),
        ("'", ["plain-1.0_/@:=", "a b", "$(x)", "é", r"a\.b=", "~x", "x{a,b}", "!"]),
        ('"', ["plain-1.0_/@:=", "a b", "it's", "é", "~x", "x{a,b}"]),
    ],
)  # fmt: skip
def test_words_are_quoted_for_bash_or_left_out(quote, words):
    plain = ["plain-1.0_/@:=", "a b", "it's", "$(x)", "é", r"a\.b=", "~x", "x{a,b}", "!"]
    found = [Candidate(word, "about") for word in plain]
    assert list(shells.lines("bash", found, "", quote)) == ["words", *words]


def test_a_path_is_asked_for_with_what_is_in_front_of_it():
    assert list(shells.lines("fish", Paths("files", "a=@"), "a=@b c", "")) == [
        "files",
        "a=@",
        "b c",
    ]


def test_a_bug_is_no_noise_on_stdout(thrall, monkeypatch):
    monkeypatch.setattr(shells, "lines", lambda *_: 1 / 0)
    ran = thrall("completion", "bash", "0", "--", "c")
    assert (ran.status, ran.out) == (70, b"")
