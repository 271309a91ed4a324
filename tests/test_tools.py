import json

import pytest
from fakes import Script, channel_closed, error, message, result, session_over

from thrall_py.errors import (
    DriftError,
    InputNeededError,
    JsonRpcError,
    ServerError,
    SessionLostError,
    TimedOutError,
)
from thrall_py.protocol import mcp, tools
from thrall_py.protocol.channel import Unanswered
from thrall_py.protocol.mcp import ServerInfo

CHANGED = [message(method=f"notifications/{it}/list_changed") for it in ("tools", "prompts")]
MODERN = ServerInfo("2026-07-28")


def paged(*pages, before=()):
    """A server with these pages, each a list of names and a cursor, the first one more than once."""
    by_cursor = dict(zip([None, *[cursor for _, cursor in pages]], pages, strict=False))

    def respond(asked):
        names, cursor = by_cursor[asked["params"].get("cursor")]
        more = {} if cursor is None else {"nextCursor": cursor}
        return [*before, result(asked["id"], tools=[{"name": name} for name in names], **more)]

    return Script(respond=respond)


def names(script, limit=1 << 20):
    listed = tools.list_all(session_over(script), mcp.TOOLS, 10, limit)
    return [tool.load()["name"] for tool in listed]


def cursors(script):
    return [sent["params"].get("cursor") for sent in script.sent]


def failure(act, kind=ServerError):
    with pytest.raises(kind) as caught:
        act()
    return str(caught.value)


PAGES = {
    "one page": ([(["a", "b"], None)], ["a", "b"], [None]),
    "no tools": ([([], None)], [], [None]),
    "three pages": (
        [(["a"], "x"), ([], 'y"é'), (["b"], None)],
        ["a", "b"],
        [None, "x", 'y"é'],
    ),
    "an empty cursor that leads on": ([(["a"], ""), (["b"], None)], ["a", "b"], [None, ""]),
    "an empty cursor that leads to nothing": ([(["a"], ""), ([], None)], ["a"], [None, ""]),
    "an empty cursor to nothing that leads on": (
        [(["a"], ""), ([], "x"), (["b"], None)],
        ["a", "b"],
        [None, "", "x"],
    ),
    "an empty cursor to the same that leads on": (
        [(["a"], ""), (["a"], "x"), (["b"], None)],
        ["a", "a", "b"],
        [None, "", "x"],
    ),
    "an empty cursor that leads back": ([(["a"], ""), (["a"], "")], ["a"], [None, ""]),
}


@pytest.mark.parametrize(("pages", "expected", "asked"), PAGES.values(), ids=PAGES)
def test_all_pages_are_one_list(pages, expected, asked):
    script = paged(*pages)
    assert names(script) == expected
    assert cursors(script) == asked


def test_a_page_that_is_named_a_second_time_is_told():
    script = paged((["a"], "x"), (["b"], "y\x1b"), (["c"], "x"))
    assert failure(lambda: names(script)) == (
        'the server named the page "x" a second time during tools/list'
    )
    assert cursors(script) == [None, "x", "y\x1b"]


def test_an_empty_cursor_that_brings_new_tools_for_ever_is_told():
    script = Script(
        respond=lambda asked: [
            result(asked["id"], tools=[{"name": str(asked["id"])}], nextCursor="")
        ]
    )
    assert failure(lambda: names(script)) == (
        'the server named the page "" a second time during tools/list'
    )


def test_pages_without_an_end_are_told():
    script = Script(
        respond=lambda asked: [result(asked["id"], tools=[], nextCursor=str(asked["id"]))]
    )
    assert failure(lambda: names(script)) == (
        "the server still had more tools after 1000 pages during tools/list"
    )
    assert len(script.sent) == 1000


def test_the_definitions_of_all_pages_together_have_a_limit():
    pages = [(["a"], "x"), (["b"], None)]
    assert names(paged(*pages), limit=26) == ["a", "b"]
    assert failure(lambda: names(paged(*pages), limit=25)) == (
        "the server listed more than 25 bytes of tools during tools/list"
    )


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ({}, 'it has no array "tools"'),
        ({"tools": [], "nextCursor": 1}, 'its "nextCursor" is not a string'),
    ],
)
def test_a_page_that_cannot_be_used_is_told(page, problem):
    assert failure(lambda: names(Script(result(1, **page)))) == (
        f"the server sent a page that cannot be used ({problem}) during tools/list"
    )


def test_a_page_that_is_refused_takes_the_whole_list_with_it():
    refused = error(2, -32602, "bad cursor")
    script = Script(result(1, tools=[{"name": "a"}], nextCursor="x"), refused)
    assert failure(lambda: names(script)) == (
        'the server refused tools/list with error -32602: "bad cursor", in the middle of the list'
    )


def test_a_list_that_is_refused_at_once_is_a_json_rpc_error():
    assert failure(lambda: names(Script(error(1))), JsonRpcError) == (
        'the server refused tools/list with error -32601: "Method not found"'
    )


@pytest.mark.parametrize("change", CHANGED)
def test_a_list_that_changes_meanwhile_is_asked_for_once_more(change):
    script = paged((["a"], "x"), (["b"], None), before=[change])
    assert names(script) == ["a", "b"]
    assert cursors(script) == [None, "x", None, "x"]


def twice(before, after):
    """A server that says while it is listed that its tools have changed; both lists as JSON."""
    lines = [b'{"id":%d,"result":{"tools":%s}}' % (id_, text.encode())
             for id_, text in ((1, before), (2, after))]  # fmt: skip
    return Script(CHANGED[0], *lines)


HUGE = "9" * 5000  # a number that nothing compares


@pytest.mark.parametrize(
    ("before", "after", "listed"),
    [
        ('[{"name":"a"}]', '[{"name":"a"},{"name":"b"}]', ["a", "b"]),
        ('[{"name":"a"},{"name":"b"}]', '[{"name":"b"}]', ["b"]),
        ('[{"name":"a","x":1}]', '[{"name" : "\\u0061","x":1.0}]', ["a"]),
        ("[]", '[{"name":"a"}]', ["a"]),
        (f'[{{"name":"a","x":{HUGE}}}]', '[{"name":"b"}]', ["b"]),
    ],
)  # fmt: skip
def test_a_list_that_became_longer_or_shorter_meanwhile_is_the_later_one(before, after, listed):
    assert names(twice(before, after)) == listed


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ('{"name":"a"}', '{"name":"a","title":"x"}', "a"),
        ('{"name":"a","x":1}', '{"name":"a","x":true}', "a"),
        ('{"name":"\\u001b"}', '{"name":"\\u001b","x":[]}', r"\x1b"),
        (f'{{"name":"a","x":{HUGE}}}', f'{{"name":"a","x":{HUGE}}}', "a"),
    ],
)
def test_a_definition_that_changes_meanwhile_is_told(before, after, shown):
    assert failure(lambda: names(twice(f'[{{"name":"z"}},{before}]', f"[{after}]"))) == (
        f'the server changed its definition of "{shown}" while it was listed during tools/list'
    )


def test_one_whose_members_come_in_another_order_is_the_same():
    script = twice('[{"name":"a","x":{"y":1,"z":2}}]', '[{"x":{"z":2,"y":1},"name":"a"}]')
    assert names(script) == ["a"]


def test_one_that_is_nested_deeply_does_no_harm():
    deep = f'[{{"name":"a","x":{"[" * 1000}{"]" * 1000}}}]'
    assert failure(lambda: names(twice(deep, deep))).startswith("the server ")


@pytest.mark.parametrize("kind", ["input_required", "task", 5, [], True])
def test_a_list_that_is_not_complete_is_told(kind):
    session = session_over(Script(result(1, tools=[], resultType=kind)))
    session.server = MODERN
    assert failure(lambda: tools.list_all(session, mcp.TOOLS, 10, 1000)) == (
        "the server sent a list of tools that is not complete during tools/list"
    )


@pytest.mark.parametrize(
    ("revision", "members"),
    [
        ("2026-07-28", {}),
        ("2026-07-28", {"resultType": None}),
        ("2026-07-28", {"resultType": "complete"}),
        ("2025-11-25", {"resultType": "task"}),
    ],
)
def test_one_without_a_type_is_complete_and_so_is_any_in_the_legacy_era(revision, members):
    session = session_over(Script(result(1, tools=[], **members)))
    session.server = ServerInfo(revision)
    assert tools.list_all(session, mcp.TOOLS, 10, 1000) == []


@pytest.mark.parametrize("kind", mcp.KINDS, ids=[kind.member for kind in mcp.KINDS])
def test_each_kind_is_listed_by_a_method_of_its_own(kind):
    first = result(1, **{kind.member: [{kind.key: "a"}]}, nextCursor="x")
    script = Script(first, result(2, **{kind.member: [{kind.key: "b"}]}))
    listed = tools.list_all(session_over(script), kind, 10, 1000)
    assert [mcp.key_of(item, kind) for item in listed] == ["a", "b"]
    assert {sent["method"] for sent in script.sent} == {kind.method}


@pytest.mark.parametrize("kind", mcp.KINDS, ids=[kind.member for kind in mcp.KINDS])
def test_a_list_of_a_kind_that_cannot_be_had_is_named(kind):
    words = f"the server listed more than 1 bytes of {kind.member} during {kind.method}"
    script = Script(result(1, **{kind.member: [{}]}))
    assert failure(lambda: tools.list_all(session_over(script), kind, 10, 1)) == words
    script = Script(error(1, -32601, "no"))
    with pytest.raises(JsonRpcError) as refused:
        tools.list_all(session_over(script), kind, 10, 1)
    assert (refused.value.code, kind.method in str(refused.value)) == (mcp.METHOD_NOT_FOUND, True)


def test_every_page_has_the_time_that_is_given():
    steps = [8, result(1, tools=[], nextCursor="x"), 8, result(2, tools=[])]
    assert names(Script(*steps)) == []
    assert failure(lambda: names(Script(*steps[:3])), TimedOutError).startswith(
        "no answer to tools/list in 10 s (--timeout)"
    )


def called(*steps, arguments='{"n":1.0}', secrets=(), **options):
    session = session_over(Script(*steps, **options), *secrets)
    session.server = MODERN
    return session, lambda: tools.call(session, "add", arguments, 10, 1 << 20)


COMPLETE = {
    "no type": {"content": []},
    "complete": {"resultType": "complete", "content": []},
    "a type of null": {"resultType": None, "content": []},
    "a tool's own failure": {"isError": True, "content": [{"type": "text", "text": "no"}]},
}


@pytest.mark.parametrize("members", COMPLETE.values(), ids=COMPLETE)
def test_a_complete_result_is_returned_as_it_came(members):
    session, call = called(result(1, **members))
    assert json.loads(call().text) == members
    assert [sent["method"] for sent in session.channel.sent] == ["tools/call"]


def test_a_call_carries_the_name_and_the_arguments():
    session, call = called(result(1))
    call()
    params = session.channel.sent[0]["params"]
    assert (params["name"], params["arguments"]) == ("add", {"n": 1.0})
    assert "requestState" not in params


@pytest.mark.parametrize("value", [None, "text", [], 5, True])
def test_a_result_that_is_no_object_is_told(value):
    _, call = called(message(id=1, result=value))
    assert failure(call) == (
        "the server sent a result that is not an object during tools/call; the tool may have run"
    )


def test_a_result_that_asks_to_come_back_is_followed_with_its_state():
    state = r'"v1.\u00e9\/"'
    first = b'{"id":1,"result":{"resultType":"input_required","requestState":%s}}' % state.encode()
    second = result(2, resultType="input_required", requestState="é")
    responses = [first, second, result(3, a=1)]
    session, call = called(respond=lambda asked: [responses[asked["id"] - 1]])
    assert call().load() == {"a": 1}
    assert [sent["params"].get("requestState") for sent in session.channel.sent] == [
        None,
        "v1.é/",
        "é",
    ]
    assert [sent["id"] for sent in session.channel.sent] == [1, 2, 3]
    assert {json.dumps(sent["params"]["arguments"]) for sent in session.channel.sent} == {
        '{"n": 1.0}'
    }
    assert session.clock() == pytest.approx(0.2)


def later(asked):
    if "id" not in asked:
        return []
    return [result(asked["id"], resultType="input_required", requestState="s")]


def test_a_result_that_asks_to_come_back_for_ever_is_told():
    session, call = called(respond=later)
    assert failure(call) == (
        "the server asked 10 times to come back for the result during tools/call;"
        " the tool may have run"
    )
    assert len(session.channel.sent) == 10


def test_all_rounds_of_a_call_share_one_deadline():
    session, call = called(respond=lambda asked: [4, *later(asked)])
    words = failure(call, TimedOutError)
    assert words.startswith("no answer to tools/call in 10 s (--timeout)")
    assert session.clock() == 10.0
    assert len([sent for sent in session.channel.sent if sent["method"] == "tools/call"]) == 3


def test_a_server_that_ends_between_two_rounds_is_told():
    _, call = called(*later({"id": 1}), channel_closed())
    assert failure(call) == "the server exited during tools/call; the tool may have run"


@pytest.mark.parametrize(
    ("kind", "shown"),
    [("task", '"task"'), ("\x1b", r'"\x1b"'), (7, '"7"'), (1.5, '"1.5"'), ([], '"[]"')],
)
def test_a_result_of_another_type_is_told(kind, shown):
    _, call = called(result(1, resultType=kind))
    assert failure(call) == (
        f"the server sent a result of the type {shown} during tools/call; the tool may have run"
    )


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"requestState": 5},
        {"inputRequests": {}},
        {"inputRequests": None, "requestState": None},
    ],
)
def test_a_result_that_asks_for_nothing_is_told(members):
    _, call = called(result(1, resultType="input_required", **members))
    assert failure(call) == (
        "the server asked for input without saying what for during tools/call; the tool may have run"
    )


@pytest.mark.parametrize("requests", [["x"], "x", {"k": 5}, {"k": {"method": "m"}, "l": []}])
def test_input_requests_that_are_none_are_told(requests):
    _, call = called(
        result(1, resultType="input_required", requestState="s", inputRequests=requests)
    )
    assert failure(call) == (
        "the server asked for input with inputRequests that cannot be used during tools/call"
        "; the tool may have run"
    )


ELICIT = {"method": "elicitation/create", "params": {"mode": "form", "message": "Sure?"}}
GIVE = "; give --answer NAME=VALUE, --accept-defaults or --decline"
WANTED = {
    "with words": ({"confirm": ELICIT}, f'confirm (elicitation/create): "Sure?"{GIVE}'),
    "without words": ({"r": {"method": "roots/list", "params": {}}}, "r (roots/list)"),
    "without params": ({"r": {"method": "roots/list"}}, "r (roots/list)"),
    "without a method": ({"x": {"params": {"message": "m"}}}, 'x: "m"'),
    "of odd kinds": ({"x": {"method": 1, "params": {"message": 2}}, "y": {"params": 5}}, "x; y"),
    "unsafe": ({"\x1b": {"method": "\u202e"}}, r"\x1b (\u202e)"),
    "secret": ({"x": {"params": {"message": "hunter-222"}}}, 'x: "***"'),
    "five": ({name: {} for name in "abcde"}, "a; b; c; d; e"),
    "six": ({name: {} for name in "abcdef"}, "a; b; c; d; e; and more"),
}


@pytest.mark.parametrize(("requests", "shown"), WANTED.values(), ids=WANTED)
def test_input_that_the_server_needs_is_told(requests, shown):
    response = result(1, resultType="input_required", requestState="s", inputRequests=requests)
    _, call = called(response, secrets=["hunter-222"])
    assert failure(call, InputNeededError) == f"the server needs input that was not given: {shown}"


# -- parameters in headers ---------------------------------------------------------------------


def in_headers(tools_listed, *, headers=True):
    """A session of 2026-07-28 over a channel with headers, and its script."""

    def respond(asked):
        if asked["method"] == "tools/list":
            return [result(asked["id"], tools=tools_listed)]
        return [result(asked["id"], content=[])]

    script = Script(respond=respond, headers=headers)
    session = session_over(script)
    session.server = mcp.ServerInfo(mcp.MODERN)
    return session, script


def test_a_tool_that_was_listed_is_called_without_another_list():
    session, script = in_headers([{"name": "add", "inputSchema": {}}])
    tools.list_all(session, mcp.TOOLS, 10, 1 << 20)
    tools.call(session, "add", "{}", 10, 1 << 20)
    assert [sent["method"] for sent in script.sent] == ["tools/list", "tools/call"]
    assert script.labels[1].mirrored == {"Mcp-Name": "add"}


def test_without_headers_nothing_is_listed_before_a_call():
    session, script = in_headers([], headers=False)
    tools.call(session, "add", "{}", 10, 1 << 20)
    assert [sent["method"] for sent in script.sent] == ["tools/call"]
    assert script.labels[0].mirrored == {}


# -- what is sent twice ------------------------------------------------------------------------

LOST = Unanswered("forgot", 404, session_lost=True)


def renewable(*steps, **options):
    """A session over these steps, and the stages in which it was begun anew."""
    session = session_over(Script(*steps, **options))
    renewed = []
    session.renew = lambda: renewed.append(session.stage)
    return session, renewed


def methods(session):
    return [each["method"] for each in session.channel.sent]


def test_a_list_that_loses_its_session_is_read_again_from_its_first_page_once():
    old, new = ({"name": name} for name in ("old", "new"))
    session, renewed = renewable(
        result(1, tools=[old], nextCursor="x"),
        LOST,
        result(3, tools=[new], nextCursor="x"),
        result(4, tools=[{"name": "more"}]),
        LOST,
    )
    listed = tools.list_all(session, mcp.TOOLS, 10, 1 << 20)
    assert [tool.load()["name"] for tool in listed] == ["new", "more"]
    assert cursors(session.channel) == [None, "x", None, "x"]
    with pytest.raises(SessionLostError):
        tools.list_all(session, mcp.TOOLS, 10, 1 << 20)
    assert renewed == ["tools/list"]
    assert len(session.channel.sent) == 5


def test_a_list_that_loses_its_session_twice_is_the_failure():
    session, renewed = renewable(LOST, LOST)
    told = failure(lambda: tools.list_all(session, mcp.TOOLS, 10, 1), SessionLostError)
    assert told == "the server forgot during tools/list"
    assert len(renewed) == 1
    assert methods(session) == ["tools/list"] * 2


def sent(session, before_again=None):
    return tools.call(session, "t", '{"a":1}', 10, 1 << 20, before_again=before_again).load()


def test_a_call_that_loses_its_session_is_sent_again_once_after_what_comes_before_that():
    session, renewed = renewable(LOST, result(2, content=[]))
    between = []
    assert sent(session, lambda: between.append((len(renewed), len(session.channel.sent)))) == {
        "content": []
    }
    assert (renewed, between) == (["tools/call"], [(1, 1)])
    first, second = session.channel.sent
    assert {**first, "id": 2} == second


def test_a_call_that_loses_its_session_twice_is_the_failure():
    session, renewed = renewable(LOST, LOST)
    between = []
    told = failure(lambda: sent(session, lambda: between.append(1)), SessionLostError)
    assert told == "the server forgot during tools/call"
    assert (len(renewed), len(between), len(session.channel.sent)) == (1, 1, 2)


def test_a_session_that_is_lost_between_two_rounds_does_not_undo_what_ran():
    again = result(1, resultType="input_required", requestState="s")
    session, _ = renewable(again, 0.2, LOST, LOST)
    told = failure(lambda: sent(session), SessionLostError)
    assert told == "the server forgot during tools/call; the tool may have run"


def test_a_call_whose_session_was_renewed_for_the_list_is_not_sent_again():
    session, renewed = renewable(LOST, result(2, tools=[]), LOST)
    tools.list_all(session, mcp.TOOLS, 10, 1)
    failure(lambda: sent(session, pytest.fail), SessionLostError)
    assert len(renewed) == 1
    assert methods(session) == ["tools/list", "tools/list", "tools/call"]


def test_a_session_that_cannot_be_renewed_is_the_failure():
    session = session_over(Script(LOST))
    failure(lambda: sent(session, pytest.fail), SessionLostError)
    assert len(session.channel.sent) == 1


REPEATED = {
    "a lost session": (False, [LOST]),
    "headers that do not fit": (
        True,
        [result(1, tools=[]), error(2, mcp.HEADER_MISMATCH), result(3, tools=[])],
    ),
}


@pytest.mark.parametrize(("modern", "steps"), REPEATED.values(), ids=REPEATED)
def test_what_comes_before_a_second_call_may_keep_it_from_being_sent(modern, steps):
    session, _ = renewable(*steps, headers=True)
    if modern:
        session.server = MODERN

    def refuse():
        raise DriftError("not as pinned")

    assert failure(lambda: sent(session, refuse), DriftError) == "not as pinned"
    assert methods(session).count("tools/call") == 1


def test_headers_that_do_not_fit_are_made_again_after_what_comes_before_that():
    listed = [result(id_, tools=[{"name": "t"}]) for id_ in (1, 3)]
    session, _ = renewable(
        listed[0], error(2, mcp.HEADER_MISMATCH), listed[1], result(4, content=[]), headers=True
    )
    session.server = MODERN
    between = []
    assert sent(session, lambda: between.append(methods(session)))["content"] == []
    assert between == [["tools/list", "tools/call", "tools/list"]]
    assert methods(session)[3:] == ["tools/call"]


@pytest.mark.parametrize(("modern", "headers"), [(False, True), (True, False)])
def test_where_there_are_no_headers_nothing_is_sent_again_for_their_sake(modern, headers):
    session, renewed = renewable(error(1, mcp.HEADER_MISMATCH), headers=headers)
    if modern:
        session.server = MODERN
    failure(lambda: sent(session, pytest.fail), JsonRpcError)
    assert (renewed, len(session.channel.sent)) == ([], 1)
