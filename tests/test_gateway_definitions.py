"""Prompts, resources and templates of a server that changes while it runs, against their pins."""

import json
import sys

import pytest
import shelf
from gateway import SETTINGS, Caller, run, text
from loopback import error, legacy, modern, reply, result, say
from shelf import PROMPT, RESOURCE, TEMPLATE

from thrall_py.catalog import report
from thrall_py.catalog.entry import Entry, pin_item
from thrall_py.catalog.launch import LaunchSpec, UrlSpec
from thrall_py.errors import JsonRpcError, ServerError
from thrall_py.gateway.core.answering import Forward
from thrall_py.gateway.server import Drifted
from thrall_py.gateway.upstream import servers
from thrall_py.gateway.upstream.servers import Upstream
from thrall_py.protocol import mcp

ERAS = pytest.mark.parametrize("revision", ["2025-11-25", mcp.MODERN])
GET = Forward("it", "prompts/get", "greet", '"name":"greet"', mcp.PROMPTS)
READ = Forward("it", "resources/read", "shelf:a", '"uri":"shelf:a"', mcp.RESOURCES)
MADE = Forward("it", "resources/read", "shelf:{id}/data", '"uri":"shelf:7/data"', mcp.TEMPLATES)
COMPLETE = Forward(
    "it",
    "completion/complete",
    "greet",
    '"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":""}',
    mcp.PROMPTS,
)
HEARD = Forward("it", "tools/call", "heard", '"name":"heard","arguments":{}')
EACH = pytest.mark.parametrize(
    ("asked", "now", "words"),
    [
        (GET, {**PROMPT, "description": "x"}, "prompts/greet/description changed"),
        (COMPLETE, {**PROMPT, "arguments": []}, "prompts/greet/arguments/who removed"),
        (READ, {**RESOURCE, "mimeType": "x"}, "resources shelf:a: mimeType changed"),
        (MADE, {**TEMPLATE, "title": "x"}, "resourceTemplates shelf:{id}/data: title added"),
    ],
)


def pinned(launch, revision):
    items = {
        kind.member: {each[kind.key]: pin_item(each) for each in shelf.ITEMS[kind.member]}
        for kind in mcp.KINDS
    }
    return Entry(launch, mcp.ServerInfo(revision), items)


def command(revision, *empty):
    return LaunchSpec((sys.executable, "-I", "-S", shelf.__file__, revision, *empty), {})


def using(scenario, revision="2025-11-25", launch=None, **changes):
    async def play():
        entry = pinned(launch or command(revision), revision)
        upstream = Upstream("it", entry, SETTINGS._replace(**changes))
        try:
            return await scenario(upstream)
        finally:
            await upstream.close()

    return run(play())


async def put(upstream, kind, *pages, **tell):
    """Let another list of a kind stand there; without pages it has none any more."""
    given = {"list": kind.member, "pages": list(pages) or None, **tell}
    members = f'"name":"put","arguments":{json.dumps(given)}'
    await upstream.request(Forward("it", "tools/call", "put", members), Caller())


async def ask(upstream, *asked):
    """Ask for things one after the other; the results, or what changed in words."""
    told = []
    for each in asked:
        try:
            message = await upstream.request(each, Caller())
            told.append(message.result.load())
        except Drifted as drifted:
            told.append(report.summarize(drifted.differences, drifted.redact))
    return told


async def heard(upstream):
    return json.loads(text(await upstream.request(HEARD, Caller())))


@ERAS
def test_what_is_as_pinned_is_had_from_a_list_that_is_read_at_its_first_use(revision):
    async def scenario(upstream):
        told = await ask(upstream, GET, COMPLETE, READ, MADE, GET, READ)
        return told, await heard(upstream)

    told, methods = using(scenario, revision)
    assert [next(iter(each)) for each in told] == [
        "messages", "completion", "contents", "contents", "messages", "contents",
    ]  # fmt: skip
    lists = [method for method in methods if method.endswith("/list")]
    assert lists == ["prompts/list", "resources/list", "resources/templates/list", "tools/list"]


@ERAS
@EACH
def test_what_changed_before_its_first_use_is_not_asked_for(revision, asked, now, words):
    async def scenario(upstream):
        await put(upstream, asked.kind, [now])
        return await ask(upstream, asked, asked), await heard(upstream)

    told, methods = using(scenario, revision)
    assert told == [words, words]
    assert asked.method not in methods


@ERAS
def test_a_list_that_changed_is_compared_again_and_no_other(revision):
    async def scenario(upstream):
        await ask(upstream, GET, READ, MADE)
        await put(upstream, mcp.PROMPTS, [{**PROMPT, "title": "new"}])
        (unaware,) = await ask(upstream, GET)  # nobody said that it changed
        await heard(upstream)
        await put(upstream, mcp.PROMPTS, [{**PROMPT, "title": "new"}], tell="prompts")
        told = await ask(upstream, GET, READ, MADE)
        return unaware, told, await heard(upstream)

    unaware, (prompt, *others), methods = using(scenario, revision)
    assert unaware == {"messages": []}
    assert prompt == "prompts/greet/title added"
    assert ["contents" in each for each in others] == [True, True]
    assert [each for each in methods if each.endswith("/list")] == ["prompts/list"]


@pytest.mark.parametrize(("revision", "lists"), [("2025-11-25", 1), (mcp.MODERN, 3)])
def test_who_tells_of_no_change_without_a_subscription_is_asked_again_after_a_while(
    revision, lists, monkeypatch
):
    monkeypatch.setattr(servers, "_UNTOLD", 0.0)

    async def scenario(upstream):
        await ask(upstream, GET, GET, GET)
        return await heard(upstream)

    assert using(scenario, revision).count("prompts/list") == lists


def test_resources_and_templates_change_by_one_notification():
    async def scenario(upstream):
        await ask(upstream, GET, READ, MADE)
        await heard(upstream)
        await put(upstream, mcp.TEMPLATES, [], tell="resources")
        told = await ask(upstream, GET, READ, MADE)
        return told, await heard(upstream)

    (prompt, resource, template), methods = using(scenario)
    assert (prompt, "contents" in resource) == ({"messages": []}, True)
    assert template == "resourceTemplates shelf:{id}/data removed"
    lists = [each for each in methods if each.endswith("/list")]
    assert lists == ["resources/list", "resources/templates/list"]


def test_what_is_as_pinned_again_is_had_again():
    async def scenario(upstream):
        await put(upstream, mcp.PROMPTS, [])
        gone = await ask(upstream, GET)
        await put(upstream, mcp.PROMPTS, [PROMPT], tell="prompts")
        return gone + await ask(upstream, GET)

    assert using(scenario) == ["prompts/greet removed", {"messages": []}]


@ERAS
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (GET, "prompts/greet removed"),
        (READ, "resources shelf:a removed"),
        (MADE, "resourceTemplates shelf:{id}/data removed"),
    ],
)
def test_a_server_that_does_not_know_the_list_any_more_has_nothing_of_it(revision, asked, words):
    async def scenario(upstream):
        await put(upstream, asked.kind)
        return await ask(upstream, asked)

    assert using(scenario, revision) == [words]


@pytest.mark.parametrize("now", [[{**PROMPT, "_meta": {"seen": 1}}], [PROMPT, PROMPT]])
def test_what_nobody_depends_on_may_change(now):
    async def scenario(upstream):
        await put(upstream, mcp.PROMPTS, now)
        return await ask(upstream, GET)

    assert using(scenario) == [{"messages": []}]


def test_what_stands_on_a_later_page_is_found_and_what_is_new_there_changes_nothing():
    async def scenario(upstream):
        await put(upstream, mcp.RESOURCES, [{"uri": "shelf:b"}], [RESOURCE, {"uri": "shelf:c"}])
        return await ask(upstream, READ)

    ((contents,),) = [each.values() for each in using(scenario)]
    assert contents == [{"uri": "shelf:a", "text": "x"}]


@pytest.mark.parametrize(
    ("pages", "problem", "sentence"),
    [
        ([-5], JsonRpcError, "the server refused prompts/list with error -5"),
        ([[PROMPT], None], ServerError, "error -32601.*, in the middle of the list$"),
        ([[{"title": "x"}]], ServerError, "entry 1 of the server's prompts has no name$"),
        (
            [[PROMPT, {**PROMPT, "title": "x"}]],
            ServerError,
            '^the server defines "greet" twice, and differently$',
        ),
    ],
)
def test_a_list_that_is_not_to_be_had_whole_is_no_list(pages, problem, sentence):
    async def scenario(upstream):
        await put(upstream, mcp.PROMPTS, *pages)
        with pytest.raises(problem, match=sentence):
            await upstream.request(GET, Caller())
        return await heard(upstream), await ask(upstream, READ)

    methods, (other,) = using(scenario)
    assert GET.method not in methods
    assert "contents" in other


@ERAS
def test_an_isolated_server_of_which_the_prompt_is_gone_is_not_asked_for_it(revision):
    async def scenario(upstream):
        return await ask(upstream, GET, READ, GET)

    gone, resource, again = using(scenario, revision, command(revision, "prompts"), isolate=True)
    assert gone == again == "prompts/greet removed"
    assert "contents" in resource


# -- on a URL --------------------------------------------------------------------------------------


class Board:
    """A special of the loopback: a shelf on a URL, in a session; `forgets` ends it, once."""

    def __init__(self, revision, declared=("tools", "prompts", "resources"), forgets=""):
        self.shelf = shelf.Shelf(revision)
        self.about = {**shelf.ABOUT, "capabilities": {name: {} for name in declared}}
        self.forgets = forgets

    def __call__(self, asked):
        if asked.id is None or asked.verb != "POST":
            return None
        if asked.method == self.forgets:
            self.forgets = ""
            return [reply(404)]
        outcome = self.shelf.outcome(asked.method, asked.message["params"])
        given = {}
        if asked.method in ("initialize", "server/discover"):
            outcome["result"].update(self.about)
            given["Mcp_Session_Id"] = "s"
        if "result" in outcome:
            return [say(result(asked, **outcome["result"]), **given)]
        status = 404 if self.shelf.revision == mcp.MODERN else 200
        return [say(error(asked, outcome["error"]["code"]), status)]


def on_url(serve, revision, **board):
    special = Board(revision, **board)
    server = serve((modern if revision == mcp.MODERN else legacy)(special))
    return server, special.shelf.lists


@ERAS
@EACH
@pytest.mark.parametrize("isolate", [False, True])
def test_what_changed_on_a_url_is_not_asked_for(serve, revision, asked, now, words, isolate):
    server, lists = on_url(serve, revision)

    async def scenario(upstream):
        (told,) = await ask(upstream, asked)
        return told

    launch = UrlSpec(server.url, {})
    assert using(scenario, revision, launch, isolate=isolate) != words
    lists[asked.kind.member] = [[now]]
    assert using(scenario, revision, launch, isolate=isolate) == words
    assert server.methods.count(asked.method) == 1


@ERAS
def test_a_url_without_the_capability_or_the_method_has_nothing_of_it(serve, revision):
    server, lists = on_url(serve, revision, declared=("tools", "resources"))
    lists["resources"] = None

    async def scenario(upstream):
        return await ask(upstream, GET, READ, MADE)

    prompt, resource, template = using(scenario, revision, UrlSpec(server.url, {}))
    assert (prompt, resource) == ("prompts/greet removed", "resources shelf:a removed")
    assert "contents" in template
    assert "prompts/list" not in server.methods


@pytest.mark.parametrize(("forgets", "gets"), [("prompts/list", 1), ("prompts/get", 2)])
def test_in_a_session_that_is_begun_anew_it_is_compared_again(serve, forgets, gets):
    server, _ = on_url(serve, "2025-11-25", forgets=forgets)

    async def scenario(upstream):
        return await ask(upstream, GET)

    assert using(scenario, launch=UrlSpec(server.url, {})) == [{"messages": []}]
    assert server.methods.count("initialize") == server.methods.count("prompts/list") == 2
    assert server.methods.count("prompts/get") == gets
