"""Servers as agents' configuration files name them."""

import json
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from thrall_py.catalog import configured
from thrall_py.catalog.configured import Configured, Unusable
from thrall_py.catalog.launch import ExecSpec, LaunchSpec, UrlSpec
from thrall_py.protocol.jsontext import JsonError

GITHUB = "ghp_" + "a1B2" * 9
NO_SERVER = 'it has neither "command" nor "url"'
TEXT = '"command" and each of "args" should be text'
NO_ARGUMENT = '"command" and each of "args" holds what no argument can'


def read(text):
    return configured.read(text.encode())


def server(**members):
    """The one server of a file, or why it is of no use."""
    return read(json.dumps({"mcpServers": {"s": members}}))["s"]


def started(**members):
    found = server(command="x", **members)
    assert isinstance(found, Configured), found
    return found


def why_not(**members):
    found = server(**members)
    assert isinstance(found, Unusable), found
    assert not found.is_disabled
    return found.why


# -- the file ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '{"mcpServers": {"s": {"command": "x"}}}',
        '{"servers": {"s": {"command": "x"}}, "inputs": []}',
        '{"mcp": {"servers": {"s": {"command": "x"}}}}',
        '{"mcp": {"mcpServers": {"s": {"command": "x"}}}, "editor.fontSize": 12}',
        '{"mcpServers": null, "servers": {"s": {"command": "x"}}}',
        '{"servers": [], "mcp": {"servers": {"s": {"command": "x"}}}}',
        '{"mcp": 5, "mcpServers": {"s": {"command": "x"}}}',
        '{"mcpServers": {"s": {"command": "x"}}, "servers": {}}',
        '\ufeff{"mcpServers": {"s": {"command": "x"}}}',
    ],
)
def test_servers_are_found_where_agents_have_them(text):
    assert read(text) == {"s": Configured(LaunchSpec(("x",), {}), {})}


def test_several_servers_stay_in_their_order():
    text = '{"mcpServers": {"b": {"command": "x"}, "a": {}, "c-": {"command": "y"}}}'
    found = read(text)
    assert list(found) == ["b", "a", "c-"]
    assert found["a"] == Unusable(NO_SERVER, is_disabled=False)
    assert found["c-"].launch.command == ("y",)


@pytest.mark.parametrize("name", ["", "-", "-x", "--update"])
def test_a_server_that_no_command_line_could_name_has_to_be_renamed(name):
    assert read(json.dumps({"servers": {name: {"command": "x"}}})) == {
        name: Unusable(
            "the name of a server is empty, or begins with a dash: rename it in the file",
            is_disabled=False,
        )
    }


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ('{"servers": {"a": {}}, "mcpServers": {"b": {}}}', '"mcpServers" and in "servers"'),
        ('{"mcp": {"servers": {"a": {}}}, "servers": {"a": {}}}', '"servers" and in "mcp.servers"'),
    ],
)
def test_servers_in_two_places_are_refused(text, places):
    with pytest.raises(JsonError) as caught:
        read(text)
    assert str(caught.value) == f"it has servers in {places}: leave one of them out"


def test_no_servers_are_no_servers():
    assert read('{"mcpServers": {}}') == {}
    assert read("[]") == {}


def test_a_tool_document_holds_plain_commands():
    text = '[{"name": "b", "input_schema": {}, "command": ["x", "${A}"]}, {"name": "a"}]'
    assert read(text) == {
        "b": Configured(
            ExecSpec(LaunchSpec(("x", "$${A}"), {})),
            {},
            definition={"name": "b", "inputSchema": {}},
        ),
        "a": Unusable('"input_schema" should be an object', is_disabled=False),
    }


@pytest.mark.parametrize(
    "text", ["{}", "null", '"mcpServers"', '{"mcp": {}}', '{"mcpServers": []}', '{"s": {}}']
)
def test_a_file_of_something_else_is_refused(text):
    with pytest.raises(
        JsonError, match='^it has neither "mcpServers" nor "servers", and is no array of tools$'
    ):
        read(text)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not JSON: "),
        (b"{", "not JSON: "),
        (b"\xff", "not UTF-8"),
        (b"// only a comment", "not JSON: "),
        (b'{"mcpServers": {}} x', "not JSON: "),
        (b'{"mcpServers": {} /* without an end', "not JSON: "),
        (b'{"mcpServers": {"s": "x}}', "not JSON: "),
        (b'{"mcpServers": {"a": 1, "a": 2}}', "not JSON: the name 'a' stands twice"),
        (b'{,"mcpServers": {}}', "not JSON: "),
        (b'{"mcpServers": {},,}', "not JSON: "),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_json_even_without_comments_is_refused(data, why):
    with pytest.raises(JsonError, match=f"^{re.escape(why)}"):
        configured.read(data)


# -- comments, and commas too many -------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '// first\n{"mcpServers": {"s": {"command": "x"}}}',
        '{"mcpServers": {"s": {"command": "x"}}}// last',
        '{"mcpServers": /* { */ {"s": {"command": "x"}}}',
        '{"mcpServers": {/*\n*\n**/"s": {"command": /**/"x"}}}',
        '{"mcpServers": {"s": {"command": "x",},},}',
        '{"mcpServers": {"s": {"command": "x", "args": [],}, /* } */ \n// ]\n }}',
        '{"mcpServers": {"s": {"command": "x"} // , }\n, }}',
        '{"mcpServers": {"s": {"command": "x", // "args": ["y"],\n}}}',
        '{"mcpServers": {"s": {"command": "x"}}} /* a // b */',
        '{"mcpServers": {"s": {"command": "x"}}} // a /* b\n',
        '{"mcpServers": {"s": {"command": "x"}}} // "\n',
    ],
)
def test_comments_and_last_commas_are_passed_over(text):
    assert read(text) == {"s": Configured(LaunchSpec(("x",), {}), {})}


@pytest.mark.parametrize(
    "word",
    [
        "https://host/a//b",
        "// no comment",
        "/* none */",
        "a,]",
        "a, }",
        ",",
        '"',
        '\\"//',
        "\\",
        '", // x',
        "*/",
    ],
)
def test_nothing_inside_a_text_is_a_comment_or_a_comma_too_many(word):
    text = f'{{"mcpServers": {{"s": {{"command": "x", "args": [{json.dumps(word)}, ], }}, }}}} // z'
    assert read(text)["s"].launch.command == ("x", word)


@given(st.text('"\\/*,]} \n\u200b'), st.text('/*,]}" '), st.text('/*,]}" \n'))
def test_whatever_stands_in_texts_and_comments_stays_there(word, line, block):
    block = block.replace("*/", "")
    comments = f"//{line}\n/*{block} */"
    text = (
        f'{comments}{{{comments}"mcpServers"{comments}:{{"s":{{"command":{json.dumps(word)}'
        f',{comments}"args":[{comments}"a"{comments},{comments}]{comments},{comments}}}}}}}{comments}'
    )
    assert read(text)["s"].launch.command == (word, "a")


@pytest.mark.parametrize(
    "filling",
    ["/*" + "*" * 600_000 + "*/", "/*" + "x" * 3_000_000 + "*/", "/**/" * 300_000,
     "//\n" * 300_000, " " * 3_000_000, "//" + "/" * 3_000_000 + "\n"],
    ids=["stars", "long", "many", "lines", "spaces", "slashes"],
)  # fmt: skip
def test_a_huge_comment_is_passed_over_in_one_walk(filling):
    text = f'{{{filling}"mcpServers": {{"s": {{"command": "x"}},{filling}}}}}'
    assert list(read(text)) == ["s"]


@pytest.mark.parametrize(
    "filling", ["/*" * 500_000, '"' + "\\" * 1_000_000, '"x' * 500_001, "/" * 1_000_000],
    ids=["comments", "escapes", "texts", "slashes"],
)  # fmt: skip
def test_what_does_not_end_is_refused_in_one_walk(filling):
    with pytest.raises(JsonError, match="^not JSON: "):
        read("{" + filling)


# -- one server --------------------------------------------------------------------------------


def test_a_server_is_started_as_it_is_written():
    found = started(args=["-y", "@scope/pkg", ""], env={"B": "1", "A": ""}, cwd="dir", type="stdio")
    assert found == Configured(
        LaunchSpec(("x", "-y", "@scope/pkg", ""), {"B": "1", "A": ""}, cwd="dir"), {}
    )


@pytest.mark.parametrize(("disabled", "expected"), [(True, True), (False, False), (None, False)])
def test_a_server_is_disabled_only_if_it_says_so(disabled, expected):
    assert started(disabled=disabled).is_disabled is expected


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ({}, NO_SERVER),
        ({"type": "http", "headers": {}}, NO_SERVER),
        *(
            ({member: 1}, f'"{member}" should be text')
            for member in ("url", "serverUrl", "httpUrl")
        ),
        ({"url": "\0"}, '"url" holds what no argument can'),
        ({"url": "http://h/${workspaceFolder}"}, "${workspaceFolder} means nothing here"),
        ({"url": "http://h/", "headers": []}, '"headers" should be an object'),
        ({"url": "http://h/", "headers": None}, '"headers" should be an object'),
        ({"url": "http://h/", "headers": {"A": 1}}, '"headers" should be text'),
        ({"url": "http://h/", "headers": {"A": "\0"}}, '"headers" holds what no argument can'),
        ({"url": "http://h/", "headers": {"A": "Bearer ${input:x}"}}, "${input:x} means nothing"),
        ({"url": "http://h/", "envFile": ".env"}, 'its "envFile" is not read'),
        ({"command": 1}, TEXT),
        ({"command": None}, TEXT),
        ({"command": ["x"]}, TEXT),
        ({"command": "a\0b"}, NO_ARGUMENT),
        ({"command": "\ud800"}, NO_ARGUMENT),
        ({"command": "x", "args": [1]}, TEXT),
        ({"command": "x", "args": ["a", None]}, TEXT),
        ({"command": "x", "args": "a"}, '"args" should be a list'),
        ({"command": "x", "args": {}}, '"args" should be a list'),
        ({"command": "x", "cwd": 1}, '"cwd" should be text'),
        ({"command": "x", "cwd": "${workspaceFolder}"}, "${workspaceFolder} means nothing here"),
        ({"command": "x", "env": []}, '"env" should be an object'),
        ({"command": "x", "env": {"PORT": 80}}, "the variable PORT should be text"),
        ({"command": "x", "env": {"A": None}}, "the variable A should be text"),
        ({"command": "x", "env": {"A": "\0"}}, "the variable A holds what no argument can"),
        ({"command": "x", "env": {"A=B": ""}}, '"env" has a name that no variable can have'),
        ({"command": "x", "env": {"": ""}}, '"env" has a name that no variable can have'),
        ({"command": "x", "envFile": ".env"}, 'its "envFile" is not read'),
    ],
)
def test_a_server_that_is_of_no_use_says_why(members, sentence):
    assert why_not(**members).startswith(sentence)


@pytest.mark.parametrize("value", [None, 1, "x", [], True])
def test_what_is_no_object_is_no_server(value):
    assert read(json.dumps({"servers": {"s": value}})) == {
        "s": Unusable("it should be an object", is_disabled=False)
    }


# -- variables ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("${env:X}", "${X}"),
        ("a${env:X}b${env:Y_1}", "a${X}b${Y_1}"),
        ("${X}", "${X}"),
        ("${cwdx}", "${cwdx}"),
        ("${file_name}", "${file_name}"),
        ("${fileserver}", "${fileserver}"),
        ("${X:-default}", "${X:-default}"),
        ("${X:-a:b}", "${X:-a:b}"),
        ("${HOME}/x", "${HOME}/x"),
        ("$X", "$X"),
        ("${}", "${}"),
        ("$${X}", "$${X}"),
        ("env:X", "env:X"),
    ],
)
def test_a_variable_is_written_as_in_a_catalog(word, expected):
    assert started(args=[word]).launch.command == ("x", expected)
    assert started(cwd=word).launch.cwd == expected
    assert started(env={"A": word}).launch.env == {"A": expected}


@pytest.mark.parametrize(
    "word",
    [
        "${workspaceFolder}",
        "${workspaceFolder:name}",
        "${workspaceFolderBasename}",
        "${userHome}",
        "${file}",
        "${pathSeparator}",
        "${cwd}",
        "${execPath}",
        "${lineNumber}",
        "${selectedText}",
        "${relativeFileDirname}",
        "${/}",
        "${input:token}",
        "${config:a.b}",
        "${command:x}",
        "${env:A-B}",
        "${env:}",
        "${env:X:-default}",
    ],
)
def test_a_variable_of_a_program_alone_is_refused(word):
    sentence = f"{word} means nothing here: write it out, or name a variable"
    assert why_not(command="x", args=["--dir", f"a{word}b"]) == sentence
    assert why_not(command=word) == sentence
    assert why_not(command="x", env={"A": f"a{word}"}) == sentence


def test_what_a_program_asks_for_is_a_variable_of_its_own_name():
    found = started(env={"API_KEY": "${input:the-key}", "PLACE": "${input:place}"})
    assert found.launch.env == {"API_KEY": "${API_KEY}", "PLACE": "${PLACE}"}
    assert found.given == {}


# -- secrets -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GITHUB_TOKEN", "?"),
        ("my_password", "letmein"),
        ("API_KEY", "abc"),
        ("GH", GITHUB),
        ("HEADER", "Bearer abcd1234efgh5678"),
        ("DATABASE_URL", "postgres://user:pw@host/db"),
        ("SERVICE_KEY", "abcd1234efgh5678"),
        ("ENCRYPTION_PASSPHRASE", "correct horse"),
        ("BEARER", "letmein"),
        ("SSHKEY", "abc"),
        ("COOKIE", "sid=abcd1234efgh"),
        ("SESSION_ID", "abcd1234efgh"),
        ("MY_PAT", "qwertyuiopas1"),
        ("AUTH", "Basic dXNlcjpwYXNz"),
        ("CONN", "Server=x;User Id=me;Pwd=hunter2"),
        ("CONN", 'Server=x;Password="hunter2";'),
        ("CFG", '{"port":1,"token":"abcd1234efgh5678"}'),
        ("CFG", '{"accessToken": "abcd1234efgh5678"}'),
        ("SLACK_WEBHOOK_URL", "https://hooks.slack.com/services/T000/B000/Ab3dEf6hIj9k"),
        ("HOOK", "https://discord.com/api/webhooks/1234567890/Ab3dEf6hIj9kAb3dEf"),
    ],
)
def test_what_looks_like_a_secret_leaves_as_the_name_of_a_variable(name, value):
    found = started(env={name: value, "PLAIN": "1"})
    assert found.launch.env == {name: f"${{{name}}}", "PLAIN": "1"}
    assert found.given == {name: value}
    assert value not in json.dumps(found.launch)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LEVEL", "debug"),
        ("DATABASE_URL", "postgres://host/db"),
        ("API_KEY", ""),
        ("API_KEY", "${MY_KEY}"),
        ("API_KEY", "${MY_KEY:-}"),
        ("SORT_KEY", "name"),
        ("MAX_TOKENS", "4096"),
        ("TOKEN_FILE", "/run/token"),
        ("TOKEN_FILE", "./token"),
        ("TOKEN_FILE", "~/token"),
        ("USE_TOKEN", "true"),
        ("USE_TOKEN", "False"),
        ("AUTH", "none"),
        ("AUTH", "oauth2"),
        ("AUTH_TYPE", "Basic"),
        ("AUTHORIZATION", "Bearer ${TOKEN}"),
        ("SESSION", "default"),
        ("SESSION_TIMEOUT", "30m"),
        ("COOKIE_DOMAIN", "example1.example.com"),
        ("DESKTOP_SESSION", "gnome-3-classic"),
        ("SSH_AUTH_SOCK", "/tmp/ssh-a1b2c3d4/agent.12"),
        ("PATH", "/usr/local/bin2:/usr/bin"),
        ("PATTERN", "a1b2c3d4e5f6g7h8"),
        ("COURSE", "Basic JavaScript"),
        ("MODEL", "claude-3-5-sonnet-20241022"),
        ("VERSION", "2025.11.25-rc1+build.7"),
        ("REGION", "eu-central-1"),
        ("CONN", "Server=x;Database=y1;Timeout=30"),
        ("OPTS", "--max-old-space-size=4096 --title=monkey"),
        ("CFG", '{"name":"abcd1234efgh5678","token":""}'),
        ("HOOK", "https://example.com/hooks/T000/B000/Ab3dEf6hIj9k"),
        ("HOOK", "https://hooks.slack.com/services/${HOOK}"),
    ],
)
def test_what_is_none_stays_as_it_is_written(name, value):
    found = started(env={name: value})
    assert (found.launch.env, found.given) == ({name: value}, {})


@pytest.mark.parametrize("value", ["${TOKEN:-hunter2secret9}", "pre${X:-hunter2}", "${A}${B:-x}"])
def test_a_default_is_held_to_the_rule_of_a_plain_value(value):
    assert why_not(command="x", env={"TOKEN": value}) == (
        "the variable TOKEN has a secret as a default: leave the default out"
    )
    assert started(env={"PLACE": value}).launch.env == {"PLACE": value}


def test_an_escaped_variable_is_a_literal():
    found = started(env={"TOKEN": "$${x}hunter2secret9"})
    assert (found.launch.env, found.given) == (
        {"TOKEN": "${TOKEN}"},
        {"TOKEN": "${x}hunter2secret9"},
    )


def test_a_variable_of_ours_that_is_a_secret_stays_a_variable():
    found = started(env={"API_KEY": "${env:MY_KEY}"})
    assert (found.launch.env, found.given) == ({"API_KEY": "${MY_KEY}"}, {})


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_no_value_of_a_secret_name_is_ever_in_the_launch(value):
    assume(not (value[0] in "./~" or value.isdecimal() or value.casefold() in {"true", "false"}))
    assume("${" not in value)
    found = started(env={"X_SECRET": value})
    assert found.launch.env == {"X_SECRET": "${X_SECRET}"}
    assert found.given == {"X_SECRET": value}


@pytest.mark.parametrize("value", ["pa$$w0rd12345", "correct$horse", "$X", "a${", "$ {X}", "a$}b"])
def test_a_secret_with_a_dollar_sign_in_it_is_a_secret(value):
    found = started(env={"DB_PASSWORD": value})
    assert (found.launch.env, found.given) == (
        {"DB_PASSWORD": "${DB_PASSWORD}"},
        {"DB_PASSWORD": value},
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HEADER", f"{GITHUB} ${{USER}}"),
        ("HEADER", f"${{USER}}{GITHUB}"),
        ("HEADER", f"{GITHUB}${{input:x}}"),
        ("DB_PASSWORD", "${USER}letmein"),
        ("DATABASE_URL", "postgres://user:pw@host/${env:DB}"),
    ],
)
def test_a_variable_beside_a_secret_in_one_value_is_refused(name, value):
    assert why_not(command="x", env={name: value}) == (
        f"the variable {name} holds more than a secret: name one for all of it"
    )


def test_one_beside_what_is_no_secret_stays():
    env = {"DATABASE_URL": "postgres://user:${PW}@host/db", "HEADER": "Bearer ${X}"}
    assert started(env=env).launch.env == env


@pytest.mark.parametrize("value", [f"${{GH:-{GITHUB}}}", f"Bearer ${{GH:-{GITHUB}}}"])
def test_a_secret_that_is_the_default_of_a_variable_is_not_stored(value):
    assert GITHUB not in json.dumps(server(command="x", env={"HEADER": value}))


@pytest.mark.parametrize("value", ["abcd1234efgh5678", "${input:token}"])
@pytest.mark.parametrize("name", ["my-token", "1TOKEN", "TOKEN\u00e9", "a token"])
def test_a_secret_under_a_name_that_is_no_variable_of_a_catalog_is_refused(name, value):
    assert why_not(command="x", env={name: value}) == (
        f"the variable {name} holds a secret, and ${{{name}}} cannot stand for it"
    )


def test_a_disabled_server_is_disabled_whatever_else_it_is():
    assert server(url=1, disabled=True) == Unusable('"url" should be text', is_disabled=True)


# -- a server on a URL -------------------------------------------------------------------------


@pytest.mark.parametrize("member", ["url", "serverUrl", "httpUrl"])
@pytest.mark.parametrize("kind", [{}, {"type": "http"}, {"type": "sse"}, {"env": {"A": "1"}}])
def test_a_server_is_reached_where_the_program_says(member, kind):
    assert server(**{member: "https://h/mcp"}, **kind) == Configured(
        UrlSpec("https://h/mcp", {}), {}
    )


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"command": "x", "url": "http://h/"}, 'it has both "command" and "url": leave one of them out'),
        ({"url": "http://h/", "httpUrl": "http://h/"}, 'it has both "url" and "httpUrl": leave one of them out'),
        ({"command": "x", "type": "ws"}, '"type" should be "stdio", "http" or "sse"'),
        ({"command": "x", "type": 1}, '"type" should be "stdio", "http" or "sse"'),
        ({"command": "x", "type": "http"}, 'its "type" says "http", which does not go with "command"'),
        ({"url": "http://h/", "type": "stdio"}, 'its "type" says "stdio", which does not go with "url"'),
        ({"command": "x", "disabled": "true"}, '"disabled" should be true or false'),
        ({"command": "x", "disabled": 1}, '"disabled" should be true or false'),
    ],
)  # fmt: skip
def test_a_server_that_could_be_meant_in_two_ways_is_refused(members, why):
    assert why_not(**members) == why


def test_a_variable_of_an_address_and_of_a_header_is_written_as_in_a_catalog():
    headers = {"Authorization": "Bearer ${env:T}", "X": "${A:-b}"}
    found = server(url="https://${env:HOST}/mcp", headers=headers, disabled=True)
    spec = UrlSpec("https://${HOST}/mcp", {"Authorization": "Bearer ${T}", "X": "${A:-b}"})
    assert found == Configured(spec, {}, is_disabled=True)


@pytest.mark.parametrize(
    ("name", "value", "stored", "given"),
    [
        ("Authorization", f"Bearer {GITHUB}", "Bearer ${S_AUTHORIZATION}", GITHUB),
        ("X-Api-Key", "some key", "${S_X_API_KEY}", "some key"),
        ("X", GITHUB, "${S_X}", GITHUB),
    ],
)
def test_a_secret_that_is_sent_is_stored_by_the_name_of_server_and_header(
    name, value, stored, given
):
    found = server(url="https://h/mcp", headers={name: value})
    (variable,) = found.given
    assert (found.launch.headers, found.given) == ({name: stored}, {variable: given})
    assert f"${{{variable}}}" in stored


@pytest.mark.parametrize("value", [f"${{A}} {GITHUB}", f"${{A:-{GITHUB}}}", "Bearer"])
def test_what_is_more_than_a_secret_stays_where_it_is_to_be_refused_by_the_pin(value):
    found = server(url="https://h/mcp", headers={"Authorization": value})
    assert (found.launch.headers, found.given) == ({"Authorization": value}, {})
