import json

import pytest
from offers import LEGACY, META, entry, loaded, offered, request

from thrall_py import __version__
from thrall_py.gateway.caller import Facts
from thrall_py.gateway.core import answering as core
from thrall_py.gateway.core import incoming
from thrall_py.gateway.core.answering import Answer, Forward
from thrall_py.protocol import mcp

OFFER = offered()
TOOLS_ONLY = offered({"s": entry(tools=["t"])})
NOBODY = Facts()


def legacy(method, facts=LEGACY, offer=OFFER, **params):
    return core.answer(request(method, **params), facts, offer)


def modern(method, offer=OFFER, **params):
    return core.answer(request(method, modern={}, **params), NOBODY, offer)


def refused(answer):
    assert isinstance(answer, Answer)
    assert answer.facts is None
    return loaded(answer.outcome)


# -- the handshake -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "agreed"),
    [("2024-11-05", "2024-11-05"), ("2025-03-26", "2025-03-26"), ("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"),
     ("2026-07-28", "2025-11-25"), ("1.0", "2025-11-25"), ("", "2025-11-25")],
)  # fmt: skip
def test_initialize_agrees_on_a_known_revision_or_proposes_the_newest(asked, agreed):
    answer = legacy("initialize", NOBODY, protocolVersion=asked, capabilities={"roots": {}})
    assert loaded(answer.outcome)["protocolVersion"] == agreed
    assert answer.facts == Facts(agreed, '{"roots": {}}')


def test_initialize_tells_what_there_is():
    result = loaded(legacy("initialize", NOBODY, protocolVersion="2025-11-25").outcome)
    assert result == {
        "protocolVersion": "2025-11-25",
        "capabilities": {
            "completions": {},
            "logging": {},
            "prompts": {},
            "resources": {},
            "tools": {},
        },
        "instructions": "# files\n\nRead first.",
        "serverInfo": {"name": "thrall", "version": __version__},
    }


def test_only_what_is_pinned_and_known_to_the_revision_is_advertised():
    result = loaded(legacy("initialize", NOBODY, TOOLS_ONLY, protocolVersion="2024-11-05").outcome)
    assert result["capabilities"] == {"logging": {}, "tools": {}}
    assert "instructions" not in result


def test_templates_alone_are_resources():
    offer = offered({"s": entry(templates=["a:{b}"])})
    result = loaded(legacy("initialize", NOBODY, offer, protocolVersion="2025-11-25").outcome)
    assert "resources" in result["capabilities"]


def test_initialize_is_allowed_again_and_begins_anew():
    again = legacy("initialize", LEGACY._replace(log_level="info"), protocolVersion="2024-11-05")
    assert again.facts == Facts("2024-11-05")


@pytest.mark.parametrize(
    "params", [{}, {"protocolVersion": 1}, {"protocolVersion": "2025-11-25", "capabilities": []}]
)
def test_initialize_with_odd_params_is_refused(params):
    assert refused(legacy("initialize", NOBODY, **params))["code"] == -32602


def test_before_the_handshake_an_error_names_the_versions():
    assert refused(legacy("tools/list", NOBODY)) == {
        "code": -32602,
        "message": '"tools/list" needs a session or an envelope: send initialize'
        " (2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05), or params._meta of 2026-07-28",
        "data": {
            "supported": ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
        },
    }


def test_ping_is_answered_at_any_time():
    assert legacy("ping", NOBODY) == legacy("ping") == Answer('"result":{}')


def test_server_discover_tells_what_there_is_in_2026_07_28():
    result = loaded(modern("server/discover").outcome)
    assert result["supportedVersions"] == ["2026-07-28"]
    assert result["capabilities"].keys() == {
        "completions",
        "logging",
        "prompts",
        "resources",
        "tools",
    }
    assert result["_meta"][f"{META}serverInfo"]["name"] == "thrall"
    assert (result["resultType"], result["ttlMs"], result["cacheScope"]) == (
        "complete",
        60_000,
        "private",
    )


# -- eras --------------------------------------------------------------------------------------


def test_a_modern_request_needs_no_handshake_and_changes_nothing():
    assert modern("tools/list").facts is None
    assert core.answer(request("tools/list", modern={}), LEGACY, OFFER) == modern("tools/list")


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({f"{META}clientCapabilities": 1}, -32602),
        ({f"{META}protocolVersion": "2099-01-01"}, -32022),
    ],
)
def test_a_modern_request_with_a_faulty_envelope_is_refused(more, code):
    assert refused(core.answer(request("tools/list", modern=more), NOBODY, OFFER))["code"] == code


GONE = (
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
)


@pytest.mark.parametrize("method", [*GONE, "tasks/get", "no\x1bne"])
def test_a_method_that_2026_07_28_does_not_have_is_unknown(method):
    shown = method.replace("\x1b", r"\x1b")
    assert refused(modern(method)) == {
        "code": -32601,
        "message": f'there is no method "{shown}" here',
    }
    assert not core.is_known(method)


@pytest.mark.parametrize("method", ["server/discover", "subscriptions/listen", "tasks/get", "none"])
def test_a_method_that_a_session_does_not_have_is_unknown(method):
    assert refused(legacy(method))["code"] == -32601


# -- lists -------------------------------------------------------------------------------------

LISTS = {"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources",
         "resources/templates/list": "resourceTemplates"}  # fmt: skip


@pytest.mark.parametrize(("method", "member"), LISTS.items())
def test_a_list_is_answered_from_the_catalog(method, member):
    assert loaded(legacy(method).outcome).keys() == {member}
    assert loaded(legacy(method, offer=TOOLS_ONLY).outcome).keys() == {member}
    members = {member, "resultType", "ttlMs", "cacheScope", "_meta"}
    assert loaded(modern(method).outcome).keys() == members


def test_the_tools_are_those_that_are_offered():
    assert [tool["name"] for tool in loaded(legacy("tools/list").outcome)["tools"]] == list(
        OFFER.tools
    )


def test_a_cursor_of_null_is_none():
    assert legacy("tools/list", cursor=None) == legacy("tools/list")


@pytest.mark.parametrize("cursor", ["", "1", 1, {}])
def test_a_cursor_that_was_not_given_is_refused(cursor):
    assert refused(legacy("tools/list", cursor=cursor))["code"] == -32602


# -- calls -------------------------------------------------------------------------------------


def raw(params):
    """A request whose params are this JSON text."""
    line = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}'
    return incoming.read(line.encode())[0]


def test_a_call_goes_to_its_server_under_its_own_name_with_the_arguments_as_they_are():
    asked = raw('{"task":{},"arguments": { "b":1e400,\n"世":[1.0] },"name":"web_fetch","_meta":{}}')
    forward = core.answer(asked, LEGACY, OFFER)
    assert isinstance(forward, Forward)
    assert forward[:3] == ("web", "tools/call", "fetch")
    text = forward.members.encode("latin-1").decode()
    assert text == '"name":"fetch","arguments":{ "b":1e400, "世":[1.0] }'


def test_a_call_without_arguments_has_none_upstream():
    assert modern("tools/call", name="read") == Forward(
        "files", "tools/call", "read", '"name":"read","arguments":{}'
    )


@pytest.mark.parametrize("arguments", [None, [], "a", 1])
def test_arguments_are_an_object(arguments):
    assert refused(legacy("tools/call", name="read", arguments=arguments)) == {
        "code": -32602,
        "message": '"arguments" should be an object, {} for none',
    }


def test_an_unknown_tool_is_refused_with_the_nearest_names():
    for answer in (
        legacy("tools/call", name="web_fetsh\x1b"),
        modern("tools/call", name="web_fetsh\x1b"),
    ):
        assert refused(answer) == {
            "code": -32602,
            "message": r'there is no tool "web_fetsh\x1b"; the nearest: web_fetch',
        }


def test_of_very_many_names_none_is_compared():
    offer = offered({"s": entry(tools=[f"tool_{number}" for number in range(201)])})
    assert (
        refused(legacy("tools/call", offer=offer, name="tool_"))["message"]
        == 'there is no tool "tool_"'
    )


@pytest.mark.parametrize("name", ["fetch", "", "remove "])
def test_a_tool_exists_under_its_offered_name_only(name):
    assert refused(legacy("tools/call", name=name))["code"] == -32602


def test_a_tool_that_is_left_out_does_not_exist():
    assert (
        refused(legacy("tools/call", offer=offered(read_only=True), name="remove"))["code"]
        == -32602
    )


@pytest.mark.parametrize("method", ["tools/call", "prompts/get"])
@pytest.mark.parametrize("params", [{}, {"name": 1}])
def test_a_name_is_needed(method, params):
    assert "should say which" in refused(legacy(method, **params))["message"]


def test_a_request_without_params_lacks_its_name():
    asked = incoming.Request("1", "tools/call", None)
    assert refused(core.answer(asked, LEGACY, OFFER))["code"] == -32602


# -- prompts, resources, completion --------------------------------------------------------------


def test_a_prompt_is_got_from_its_server_under_its_own_name():
    assert legacy("prompts/get", name="web_sum up") == Forward(
        "web", "prompts/get", "sum up", '"name":"sum up"', mcp.PROMPTS
    )
    assert modern("prompts/get", name="review", arguments={"a": "b"}) == Forward(
        "files", "prompts/get", "review", '"name":"review","arguments":{"a": "b"}', mcp.PROMPTS
    )


def test_a_prompt_that_is_not_there_is_refused():
    assert refused(legacy("prompts/get", name="revue"))["message"].endswith("the nearest: review")
    assert refused(legacy("prompts/get", name="review", arguments=[]))["code"] == -32602


@pytest.mark.parametrize(
    ("address", "kind", "pinned"),
    [
        ("file:///a", mcp.RESOURCES, "file:///a"),
        ("file:///docs/é", mcp.TEMPLATES, "file:///docs/{name}"),
    ],
)
def test_a_resource_is_read_from_the_server_it_or_its_template_is_pinned_for(address, kind, pinned):
    members = f'"uri":{json.dumps(address)}'
    expected = Forward("files", "resources/read", pinned, members, kind)
    assert modern("resources/read", uri=address) == expected


@pytest.mark.parametrize(
    "method", ["resources/read", "resources/subscribe", "resources/unsubscribe"]
)
def test_a_resource_that_is_not_pinned_is_not_there(method):
    assert refused(legacy(method, uri="file:///\x1b")) == {
        "code": -32002,
        "message": r'there is no resource "file:///\x1b"',
        "data": {"uri": "file:///\x1b"},
    }
    assert refused(legacy(method))["code"] == -32602
    assert refused(legacy(method, uri=""))["code"] == -32002


def test_since_2026_07_28_that_is_a_wrong_parameter():
    found = refused(modern("resources/read", uri="file:///b"))
    assert (found["code"], found["data"]) == (-32602, {"uri": "file:///b"})


@pytest.mark.parametrize("method", ["resources/subscribe", "resources/unsubscribe"])
def test_a_subscription_to_a_pinned_resource_is_agreed_to(method):
    assert legacy(method, uri="file:///a") == Answer('"result":{}')


def complete(ask, **ref):
    return ask("completion/complete", ref=ref, argument={"name": "a", "value": "b"})


def test_completion_is_asked_of_the_server_of_the_prompt_or_template():
    assert complete(legacy, type="ref/prompt", name="web_sum up") == Forward(
        "web", "completion/complete", "sum up",
        '"ref":{"type":"ref/prompt","name":"sum up"},"argument":{"name": "a", "value": "b"}',
        mcp.PROMPTS,
    )  # fmt: skip
    assert complete(modern, type="ref/resource", uri="file:///docs/{name}") == Forward(
        "files", "completion/complete", "file:///docs/{name}",
        '"ref":{"type":"ref/resource","uri":"file:///docs/{name}"},"argument":{"name": "a", "value": "b"}',
        mcp.TEMPLATES,
    )  # fmt: skip


def test_the_context_of_a_completion_goes_with_it():
    forward = legacy(
        "completion/complete",
        ref={"type": "ref/prompt", "name": "review"},
        argument={},
        context={"a": 1},
    )
    assert forward.members.endswith(',"argument":{},"context":{"a": 1}')


@pytest.mark.parametrize(
    "ref",
    [
        {},
        {"type": "ref/prompt", "name": "x"},
        {"type": "ref/prompt"},
        {"type": "ref/resource", "uri": "x"},
    ],
)
@pytest.mark.parametrize("ask", [legacy, modern])
def test_of_what_is_not_pinned_nothing_is_proposed(ask, ref):
    result = loaded(complete(ask, **ref).outcome)
    assert result["completion"] == {"values": [], "total": 0, "hasMore": False}


@pytest.mark.parametrize(
    "params",
    [{}, {"ref": {}}, {"ref": [], "argument": {}}, {"ref": {}, "argument": 1}, {"argument": {}}],
)
def test_a_completion_needs_to_say_of_what(params):
    assert refused(legacy("completion/complete", **params))["code"] == -32602


# -- logging -----------------------------------------------------------------------------------


def test_a_log_level_is_kept_for_the_session():
    answer = legacy("logging/setLevel", level="warning")
    assert answer == Answer('"result":{}', LEGACY._replace(log_level="warning"))


@pytest.mark.parametrize("params", [{}, {"level": "loud"}, {"level": 1}])
def test_an_unknown_level_is_refused(params):
    assert refused(legacy("logging/setLevel", **params))["code"] == -32602
