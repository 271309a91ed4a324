import json

import pytest

from thrall_py.catalog import excerpt, file
from thrall_py.catalog.entry import Entry, command_entry, pin_item
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.launch import ExecSpec, LaunchSpec
from thrall_py.errors import CatalogError
from thrall_py.protocol.mcp import ServerInfo

RUN = LaunchSpec(("s", "${WORD}"), {"A": "b"})
SERVER = ServerInfo("2025-11-25", "s", "1", "Be kind.")


def pins(*names):
    return {name: pin_item({"name": name, "x": {"y": 15}}) for name in names}


CLOCK = Entry(RUN, SERVER, {"tools": pins("now", "later"), "prompts": pins("now")})
WHOLE = Catalog(
    {
        "clock": CLOCK,
        "other": CLOCK._replace(prefix="my_", modes=("form",)),
        "bare": CLOCK._replace(items={}, surface=()),
        "plain": command_entry(ExecSpec(RUN), pins("run", "walk")),
        "named": command_entry(ExecSpec(RUN), pins("run"), "cmd_"),
    },
    ("text",),
)


def written(catalog):
    """The JSON of a catalog, to be changed."""
    return json.loads(file.dumps(catalog))


def write(root):
    with open("c.json", "w", encoding="utf-8") as stream:
        stream.write(root if isinstance(root, str) else json.dumps(root))


def put(place, path, value):
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value


def refusal(read, *words):
    with pytest.raises(CatalogError) as refused:
        read(*words)
    return str(refused.value)


@pytest.mark.parametrize("tool", ["now", "my_now", "later", "run", "walk", "cmd_run"])
def test_the_tool_is_found_as_the_reader_of_everything_finds_it(tool):
    write(file.dumps(WHOLE))
    whole, brief = file.read("c.json"), excerpt.read("c.json", tool)
    owner = file.server_offering(whole, tool)
    assert file.server_offering(brief, tool) == owner
    before, after = whole.servers[owner], brief.servers[owner]
    assert after.offered == {tool: before.offered[tool]}
    assert after._replace(items={}) == before._replace(items={})
    assert (brief.allow, list(brief.servers)) == (whole.allow, [owner])


@pytest.mark.parametrize(
    ("path", "value", "refused"),
    [
        (("clock", "tools", "later", "definition", "x"), "edited", "does not have its digest"),
        (("clock", "prompts"), {"no": "prompt"}, "should be an object"),
        (("other", "command"), [], 'no "command"'),
        (("plain", "tools"), {}, "a plain command has no tool"),
        (("bare",), 5, "a server should be an object"),
    ],
)
def test_what_a_call_does_not_need_is_not_looked_at(path, value, refused):
    root = written(WHOLE)
    put(root["servers"], path, value)
    write(root)
    assert list(excerpt.read("c.json", "now").servers["clock"].offered) == ["now"]
    assert refused in refusal(file.read, "c.json")


@pytest.mark.parametrize("tool", ["then", "my_", "now"])
def test_a_tool_that_no_server_or_several_have_leaves_everything_to_be_told(tool):
    twice = WHOLE._replace(servers={**WHOLE.servers, "twin": CLOCK})
    write(file.dumps(twice))
    assert excerpt.read("c.json", tool) == file.read("c.json")


CLOCK_IN = ("servers", "clock")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*CLOCK_IN, "tools", "now", "digest"), "sha256:0"),
        ((*CLOCK_IN, "tools", "now", "definition", "x"), "edited"),
        ((*CLOCK_IN, "tools", "now"), []),
        ((*CLOCK_IN, "tools"), ["now"]),
        ((*CLOCK_IN, "prompts"), ["now"]),
        ((*CLOCK_IN, "surface"), ["prompts"]),
        ((*CLOCK_IN, "command"), []),
        ((*CLOCK_IN, "prefix"), 5),
        ((*CLOCK_IN, "except"), ["now"]),
        ((*CLOCK_IN, "kind"), "exec"),
        ((*CLOCK_IN, "colour"), "red"),
        (CLOCK_IN, [5]),
        (("servers", "other", "prefix"), 5),
        (("servers",), [1]),
        (("policy",), {"allow": ["all"]}),
        (("thrall",), 2),
        (("more",), True),
    ],
)
def test_what_is_wrong_with_what_a_call_needs_is_refused_in_the_same_words(path, value):
    root = written(WHOLE)
    put(root, path, value)
    write(root)
    whole = refusal(file.read, "c.json")
    assert refusal(excerpt.read, "c.json", "now") == whole


@pytest.mark.parametrize("text", ["", "{", "[]", "5", "{}", '{"thrall":1}', "<<<<<<< HEAD\n{}"])
def test_what_is_no_catalog_is_refused_in_the_same_words(text):
    write(text)
    assert refusal(excerpt.read, "c.json", "now") == refusal(file.read, "c.json")


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"later"', '"now"', 1),
        lambda text: text.replace('"bare"', '"clock"', 1),
        lambda text: text.replace('"y": 15', '"y": NaN', 1),
        lambda text: text.replace('"y": 15', '"y": 15, "y": 15', 1),
    ],
)
def test_a_file_that_is_no_strict_json_anywhere_is_refused_in_the_same_words(edit):
    text = file.dumps(WHOLE)
    assert edit(text) != text
    write(edit(text))
    assert refusal(excerpt.read, "c.json", "walk") == refusal(file.read, "c.json")


def test_a_file_that_is_not_there_is_refused_in_the_same_words():
    assert refusal(excerpt.read, "c.json", "now") == refusal(file.read, "c.json")


def found(read, *words):
    """What a reader finds of the tool `walk`, or why it refuses."""
    try:
        catalog = read(*words)
        entry = file.entry_offering(catalog, "walk")
    except CatalogError as refused:
        return str(refused)
    return entry.launch, entry.server, entry.offered["walk"]


@pytest.mark.parametrize("edit", ["", '"', "{", "],", "\\u0061"])
def test_whatever_is_edited_the_two_readers_never_find_two_different_things(edit):
    text = file.dumps(WHOLE)
    refused = 0
    for at in range(7, len(text), 61):
        write(f"{text[:at]}{edit}{text[at + 1 :]}")
        whole, brief = found(file.read, "c.json"), found(excerpt.read, "c.json", "walk")
        # Only the reader of everything refuses what a call does not need.
        assert brief == whole or (isinstance(whole, str) and not isinstance(brief, str))
        refused += isinstance(brief, str)
    assert refused
