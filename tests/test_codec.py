import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thrall_py.catalog import codec, file
from thrall_py.catalog.choice import Choice
from thrall_py.catalog.entry import SURFACE, Entry, command_entry, pin_item
from thrall_py.catalog.file import Catalog
from thrall_py.catalog.launch import ExecSpec, LaunchSpec, UrlSpec
from thrall_py.errors import CatalogError
from thrall_py.protocol import mcp
from thrall_py.protocol.jsontext import JsonError
from thrall_py.protocol.numbers import ExactNumber

PLAIN = Entry(
    LaunchSpec(("server",), {}),
    mcp.ServerInfo("2025-11-25"),
    {kind.member: {} for kind in mcp.KINDS},
)
FULL = Entry(
    LaunchSpec(
        ("server", "--x=${Y}", ""), {"B": "${B}", "A": "${A:-é}"}, clean_env=True, cwd="dir"
    ),
    mcp.ServerInfo("2026-07-28", "näme", "1.0", "Say \u202e \ud800 please.\n"),
    {
        "tools": {
            "a": pin_item({"name": "a", "x": [1, ExactNumber("0.5"), None, True, {}], "é": "\x1b"}),
            "b": pin_item({"name": "b"}),
        },
        "prompts": {"p": pin_item({"name": "p", "arguments": [{"name": "x"}]})},
        "resources": {"file:///é": pin_item({"uri": "file:///é", "size": 1})},
        "resourceTemplates": {"a:{x}": pin_item({"uriTemplate": "a:{x}", "name": "t"})},
    },
    prefix="ü_",
    choice=Choice(("a*", "[!x]"), ("*é",)),
    modes=mcp.MODES,
)
REACHED = FULL._replace(
    launch=UrlSpec("https://${HOST}/é", {"X-B": "", "Authorization": "Bearer ${T}", "A": "ü"})
)
COMMAND = command_entry(
    ExecSpec(FULL.launch), {"é": pin_item({"name": "é", "x": [ExactNumber("1e400")]})}, "ü_"
)
BARE_COMMAND = command_entry(ExecSpec(LaunchSpec(("x",), {})), COMMAND.tools)
TOOLS_ONLY = PLAIN._replace(surface=("tools",))
EITHER = 'a server has either "url" and "headers" or "command" and its surroundings'
EDITED = (
    "the definition of 't' does not have its digest: it was edited;"
    " take that back, or pin the server again"
)
TOOL = {"digest": pin_item({"name": "t"}).digest, "definition": {"name": "t"}}
RESOURCE = {"digest": pin_item({"uri": "t"}).digest, "definition": {"uri": "t"}}
SERVER = {"command": ["x"], "protocol": "2025-11-25", "surface": ["tools"], "tools": {"t": TOOL}}


def catalog(**changes):
    """A catalog as JSON with one server; `None` takes a member away."""
    server = {**SERVER, **changes}
    server = {name: value for name, value in server.items() if value is not None}
    return json.dumps({"thrall": 1, "servers": {"s": server}}).encode()


def policy(value):
    return json.dumps({"thrall": 1, "policy": value, "servers": {}}).encode()


def refusal(data):
    with pytest.raises(CatalogError) as refused:
        file.loads(data, "c\x1b.json")
    return str(refused.value)


# -- there and back ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        Catalog({}),
        Catalog({"s": PLAIN}),
        Catalog({"s": REACHED, "t": PLAIN._replace(launch=UrlSpec("http://h/", {}))}),
        Catalog({"c": COMMAND, "d": BARE_COMMAND, "s": PLAIN}),
        Catalog({"s": FULL, "": TOOLS_ONLY, "ü\u200b": FULL}, ("breaking", "additive")),
    ],
)
def test_what_is_written_is_read_again(content):
    text = file.dumps(content)
    assert file.loads(text.encode(), "c") == content
    assert file.dumps(file.loads(text.encode(), "c")) == text


def test_the_text_is_ascii_in_one_order_with_a_final_newline():
    text = file.dumps(Catalog({"s": FULL, "r": PLAIN}))
    assert text.isascii()
    assert text.endswith("\n}\n")
    assert list(json.loads(text)["servers"]) == ["r", "s"]
    others = [name for name in codec.ENTRY_MEMBERS if name not in {"kind", "url", "headers"}]
    assert list(json.loads(text)["servers"]["s"]) == others
    assert list(json.loads(text)["servers"]["s"]["env"]) == ["A", "B"]


def test_a_server_that_is_reached_has_an_address_and_headers_in_one_order():
    written = codec.encode_entry(REACHED)
    launch = {"kind", "command", "cwd", "env", "cleanEnv"}
    assert list(written) == [name for name in codec.ENTRY_MEMBERS if name not in launch]
    assert written["url"] == "https://${HOST}/é"
    assert list(written["headers"].items()) == [
        ("A", "ü"),
        ("Authorization", "Bearer ${T}"),
        ("X-B", ""),
    ]


def test_a_plain_command_has_a_kind_and_nothing_that_a_server_says():
    written = codec.encode_entry(COMMAND)
    assert tuple(written) == codec.EXEC_MEMBERS
    assert written["kind"] == "exec"
    assert list(codec.encode_entry(BARE_COMMAND)) == ["kind", "command", "tools"]


WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=9)
NAMES = WORDS.filter(lambda name: name and "=" not in name)


@given(
    command=st.lists(WORDS, min_size=1),
    env=st.dictionaries(NAMES, WORDS),
    clean=st.booleans(),
    cwd=st.none() | WORDS,
    prefix=WORDS,
    tools=st.sets(st.text(), min_size=1),
)
def test_every_plain_command_is_read_as_it_was_written(command, env, clean, cwd, prefix, tools):
    spec = ExecSpec(LaunchSpec(tuple(command), env, clean, cwd))
    items = {name: pin_item({"name": name}) for name in sorted(tools)}
    content = Catalog({"c": command_entry(spec, items, prefix)})
    text = file.dumps(content)
    assert file.loads(text.encode(), "c") == content
    assert file.dumps(file.loads(text.encode(), "c")) == text


RUNS = {"kind": "exec", "command": ["x"], "tools": {"t": TOOL}}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"kind": "server"}, '"kind" should be "exec", or not be there'),
        ({"kind": None}, '"kind" should be "exec", or not be there'),
        ({"command": []}, 'a plain command has no "command"'),
        ({"tools": {}}, "a plain command has no tool"),
        ({"tools": None}, '"tools" should be an object'),
        ({"url": "http://h/"}, "a plain command has the unknown member 'url'"),
        ({"protocol": "2025-11-25"}, "a plain command has the unknown member 'protocol'"),
        ({"only": []}, "a plain command has the unknown member 'only'"),
        ({"prefix": 1}, '"prefix" should be text'),
        ({"tools": {"u": TOOL}}, "the definition of 'u' has another name"),
    ],
)
def test_a_plain_command_that_is_none_is_refused(changes, why):
    with pytest.raises(JsonError) as refused:
        codec.decode_entry({**RUNS, **changes})
    assert str(refused.value) == why


def test_no_headers_are_not_written():
    written = codec.encode_entry(PLAIN._replace(launch=UrlSpec("http://h/", {})))
    assert "headers" not in written
    assert codec.decode_entry(written).launch == UrlSpec("http://h/", {})


def test_the_smallest_entry_says_no_more_than_it_must():
    assert file.dumps(Catalog({"s": TOOLS_ONLY})) == (
        '{\n  "thrall": 1,\n  "servers": {\n    "s": {\n      "command": [\n        "server"\n'
        '      ],\n      "protocol": "2025-11-25",\n      "clientCapabilities": {},\n'
        '      "surface": [\n        "tools"\n      ],\n      "server": {\n        "name": "",\n'
        '        "version": ""\n      },\n      "tools": {}\n    }\n  }\n}\n'
    )


def test_a_list_of_the_surface_that_the_server_does_not_have_is_written_as_empty():
    written = codec.encode_entry(PLAIN._replace(items={}))
    assert {kind.member: written[kind.member] for kind in mcp.KINDS} == PLAIN.items
    assert codec.decode_entry(written) == PLAIN


@pytest.mark.parametrize("surface", [(), ("tools",), ("instructions", "prompts"), SURFACE])
def test_what_does_not_belong_to_the_surface_is_not_written(surface):
    written = codec.encode_entry(PLAIN._replace(surface=surface))
    assert written["surface"] == list(surface)
    lists = {kind.member for kind in mcp.KINDS}
    assert lists.intersection(written) == lists.intersection(surface)
    assert codec.decode_entry(written).surface == surface


def test_the_surface_is_read_in_one_order():
    (entry,) = file.loads(catalog(surface=["tools", "instructions"]), "c").servers.values()
    assert entry.surface == ("instructions", "tools")


def test_the_policy_stands_in_front_of_the_servers_if_there_is_one():
    assert list(json.loads(file.dumps(Catalog({}, ("text",))))) == ["thrall", "policy", "servers"]
    assert list(json.loads(file.dumps(Catalog({})))) == ["thrall", "servers"]


@pytest.mark.parametrize(
    ("value", "allow"),
    [
        ({}, ()),
        ({"allow": []}, ()),
        ({"allow": ["additive"]}, ("additive",)),
        ({"allow": ["additive", "breaking"]}, ("breaking", "additive")),
    ],
)
def test_a_policy_names_the_classes_that_pass(value, allow):
    assert file.loads(policy(value), "c").allow == allow


@pytest.mark.parametrize("clean", [True, False])
def test_a_clean_environment_is_said_by_a_boolean(clean):
    (entry,) = file.loads(catalog(cleanEnv=clean), "c").servers.values()
    assert entry.launch.clean_env is clean


def test_what_may_be_missing_may_be_missing():
    (entry,) = file.loads(catalog(), "c").servers.values()
    assert entry.launch == LaunchSpec(("x",), {}, clean_env=False, cwd=None)
    assert entry.server == mcp.ServerInfo("2025-11-25")
    assert (entry.prefix, entry.surface) == ("", ("tools",))
    assert entry.choice == Choice()


def test_patterns_are_read_as_they_are_written():
    data = catalog(**{"only": ["t", "x*"], "except": ["[ab]"]})
    (entry,) = file.loads(data, "c").servers.values()
    assert entry.choice == Choice(("t", "x*"), ("[ab]",))
    written = codec.encode_entry(entry)
    assert (written["only"], written["except"]) == (["t", "x*"], ["[ab]"])


def test_no_patterns_are_not_written():
    (entry,) = file.loads(catalog(**{"only": [], "except": []}), "c").servers.values()
    assert {"only", "except"}.isdisjoint(codec.encode_entry(entry))


# -- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not JSON: Expecting value: line 1 column 1 (char 0)"),
        (b"\xff", "not UTF-8 (invalid start byte)"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"thrall":1,"thrall":1}', "not JSON: the name 'thrall' stands twice in one object"),
        (b"[]", 'it has no member "thrall"'),
        (b'["thrall"]', 'it has no member "thrall"'),
        (b"{}", 'it has no member "thrall"'),
        (b'{"thrall":1}', 'it should have "thrall", "servers", perhaps "policy", and no more'),
        (
            b'{"thrall":1,"servers":[]}',
            'it should have "thrall", "servers", perhaps "policy", and no more',
        ),
        (
            b'{"thrall":1,"servers":{},"x":1}',
            'it should have "thrall", "servers", perhaps "policy", and no more',
        ),
        (b'{"thrall":1,"servers":{"s":1}}', "a server should be an object"),
        (catalog(x=1), "a server has the unknown member 'x'"),
        (catalog(command=None), 'a server has no "command" and no "url"'),
        (catalog(command=[]), 'a server has no "command" and no "url"'),
        (catalog(command="x y"), 'a server has no "command" and no "url"'),
        (catalog(command=[1]), '"command" should be text'),
        (catalog(command=["\0"]), '"command" holds what no argument can'),
        (catalog(command=["\ud800"]), '"command" holds what no argument can'),
        *(
            (catalog(url="http://h/", **{"command": None, **members}), EITHER)
            for members in (
                {"command": ["x"]},
                {"command": []},
                {"cwd": "d"},
                {"env": {}},
                {"cleanEnv": False},
            )
        ),
        (catalog(headers={}), EITHER),
        (catalog(command=None, headers={}), EITHER),
        *(
            (catalog(command=None, **members), why)
            for members, why in (
                ({"url": 1}, '"url" should be text'),
                ({"url": "http://h/\0"}, '"url" holds what no argument can'),
                ({"url": "http://h/", "headers": []}, '"headers" should be an object'),
                ({"url": "http://h/", "headers": {"A": 1}}, '"headers" should be text'),
                (
                    {"url": "http://h/", "headers": {"A": "\0"}},
                    '"headers" holds what no argument can',
                ),
                (
                    {"url": "http://h/", "headers": {"\0": ""}},
                    '"headers" holds what no argument can',
                ),
            )
        ),
        (catalog(cwd=1), '"cwd" should be text'),
        (catalog(cwd="\0"), '"cwd" holds what no argument can'),
        (catalog(env=[]), '"env" should be an object'),
        (catalog(env={"A": 1}), '"env" should be text'),
        (catalog(env={"": "x"}), '"env" has a name that no variable can have'),
        (catalog(env={"A=B": "x"}), '"env" has a name that no variable can have'),
        (catalog(env={"A\0": "x"}), '"env" holds what no argument can'),
        (catalog(cleanEnv="true"), '"cleanEnv" should be true or false'),
        (catalog(cleanEnv=1), '"cleanEnv" should be true or false'),
        (
            catalog(cleanEnv=1).replace(b'"cleanEnv": 1', b'"cleanEnv": null'),
            '"cleanEnv" should be true or false',
        ),
        (catalog(protocol=None), '"protocol" should be text'),
        (catalog(protocol="2024-01-01"), "it names the unknown protocol '2024-01-01'"),
        (catalog(server=1), '"server" should be an object'),
        (catalog(server={"x": 1}), "\"server\" has the unknown member 'x'"),
        (catalog(server={"name": 1}), '"name" should be text'),
        (catalog(server={"version": 1}), '"version" should be text'),
        (catalog(instructions=1), '"instructions" should be text'),
        (catalog(tools=None), '"tools" should be an object'),
        (catalog(prefix=1), '"prefix" should be text'),
        *(
            (catalog(**{member: value}), f'"{member}" should be {what}')
            for member in ("only", "except")
            for value, what in (("t", "a list"), ({}, "a list"), ([1], "text"), ([["t"]], "text"))
        ),
        (catalog(only=["u"]), 'it has \'t\', which its "only" and "except" leave out'),
        (catalog(**{"except": ["*"]}), 'it has \'t\', which its "only" and "except" leave out'),
        (
            catalog(clientCapabilities={"roots": {}}),
            "it names client capabilities that this thrall does not have",
        ),
        *(
            (
                catalog(clientCapabilities={"elicitation": odd}),
                "it names client capabilities that this thrall does not have",
            )
            for odd in ({}, None, {"form": 1}, {"form": {}, "other": {}})
        ),
        (
            catalog(clientCapabilities=[]),
            "it names client capabilities that this thrall does not have",
        ),
        *(
            (catalog(surface=surface), f'"surface" should name some of {", ".join(SURFACE)}')
            for surface in (None, "tools", {}, ["tools", "tools"], ["tools", "x"], [["tools"]])
        ),
        (catalog(prompts={}), 'it has "prompts", which its surface does not name'),
        (catalog(surface=["prompts"]), 'it has "tools", which its surface does not name'),
        (catalog(surface=["tools", "prompts"]), '"prompts" should be an object'),
        (
            catalog(surface=["tools", "resources"], resources={"u": RESOURCE}),
            "the definition of 'u' has another uri",
        ),
        (policy([]), '"policy" should be an object'),
        (policy({"x": 1}), "\"policy\" has the unknown member 'x'"),
        *(
            (
                policy({"allow": allow}),
                '"allow" should name some of breaking, text, behaviour, additive',
            )
            for allow in (None, "text", ["x"], ["cosmetic"], ["text", "text"], [["text"]], {})
        ),
        (catalog(tools={"t": 1}), "'t' should be an object"),
        (catalog(tools={"t": {**TOOL, "y": 1, "x": 1}}), "'t' has the unknown member 'x'"),
        (catalog(tools={"t": {}}), "the definition of 't' should be an object"),
        (catalog(tools={"u": TOOL}), "the definition of 'u' has another name"),
        (catalog(tools={"u\x1b": TOOL}), r"the definition of 'u\x1b' has another name"),
        (
            catalog(tools={"t": {"definition": {"name": "t"}}}),
            EDITED,
        ),
        (catalog(tools={"t": {**TOOL, "digest": 1}}), '"digest" should be text'),
        (
            catalog(tools={"t": {**TOOL, "definition": {"name": "t", "title": "new"}}}),
            EDITED,
        ),
    ],
)
def test_a_catalog_that_cannot_be_used_is_refused_saying_why(data, why):
    # Where an entry is at fault it is named, between the two.
    assert refusal(data).replace("its server 's': ", "") == (
        rf"c\x1b.json is no usable catalog: {why}"
    )


@pytest.mark.parametrize("change", [{"command": 1}, {"tools": {"t": {**TOOL, "digest": ""}}}])
def test_the_server_is_named_whose_entry_cannot_be_used(change):
    assert refusal(catalog(**change)).startswith(
        r"c\x1b.json is no usable catalog: its server 's': "
    )


def test_a_definition_nested_too_deeply_is_refused():
    deep = f'{{"name":"t","x":{"[" * 250}{"]" * 250}}}'
    data = catalog().decode().replace('{"name": "t"}', deep).encode()
    assert refusal(data) == (
        r"c\x1b.json is no usable catalog: its server 's': nested deeper than 200 levels"
    )


@pytest.mark.parametrize("version", [0, 2, "1", True, None, 1.5])
def test_another_format_needs_another_thrall(version):
    data = json.dumps({"thrall": version, "servers": {}}).encode()
    assert refusal(data) == r"c\x1b.json is of another format than 1: it needs another thrall"


def test_what_is_no_entry_and_no_policy_is_no_json_of_one():
    with pytest.raises(JsonError, match="^a server should be an object$"):
        codec.decode_entry([])
    with pytest.raises(JsonError, match='^"policy" should be an object$'):
        codec.decode_policy(None)
