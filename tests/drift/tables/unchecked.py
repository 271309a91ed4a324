"""What cannot be checked: lists that break off, contradict themselves, or do not end."""

from drift.cases import unchecked
from drift.edits import (
    add,
    answers,
    in_pages,
    instead_of,
    names_a_new_page,
    only_from,
    put,
    refuses,
    respelled,
    says,
    stays_silent,
    stops,
)

TOOL = '{"name":"ring_bell","description":"Rings the bell once.","inputSchema":{}}'
HALF = b'{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"ring_bell","des'
DEEP = "[" * 100000 + "]" * 100000
BELL = '"description":"Rings the bell once."'
GATE = '"gate":{"type":"string"}'
SHORT = {"check": (124,), "calls": (124,), "pin": (124,), "options": ("--timeout", "1")}


def on_page_two(about, act, **more):
    return unchecked(about, in_pages(3, 3), instead_of("tools", 2, act), **more)


def instead_of_tools(about, act, **more):
    return unchecked(about, instead_of("tools", 1, act), **more)


def says_twice(about, old, new, tool="ring_bell", **more):
    """Make the case of an object with a key twice: that may be drift as well."""
    calls = {"calls": (4, 6) if tool == "ring_bell" else (0, 4)}
    return unchecked(about, respelled(old, new), check=(4, 1), **{**calls, **more})


CASES = {
    # Pages
    "page-refused": on_page_two(
        "The second page is refused", refuses(-32000), calls=(4, 5), era="modern"
    ),
    "page-unknown": on_page_two("The second cursor is not known", refuses(-32602), calls=(4, 5)),
    "page-crash": on_page_two("The server ends at the second page", stops(3), era="legacy"),
    "page-cut-off": on_page_two("The second page breaks off in a name", stops(0, HALF)),
    "page-silent": on_page_two("The second page never comes", stays_silent, **SHORT),
    "page-without-a-list": on_page_two("The second page has no list", answers("{}")),
    "page-null": on_page_two("The second page's list is null", answers('{"tools":null}')),
    "pages-in-a-circle": on_page_two(
        "The second page names itself",
        answers(f'{{"tools":[{TOOL}],"nextCursor":"2"}}'),
    ),
    "pages-for-ever": unchecked(
        "Each page names a new one",
        instead_of("tools", 0, names_a_new_page),
        era="legacy",
    ),
    # The list
    "list-of-another-type": instead_of_tools(
        "The list is an object", answers(f'{{"tools":{{"0":{TOOL}}}}}')
    ),
    "list-of-names": instead_of_tools(
        "The list has names only", answers('{"tools":["ring_bell"]}')
    ),
    "list-without-a-name": instead_of_tools(
        "A tool has no name",
        answers('{"tools":[%s,{"inputSchema":{}}]}' % TOOL),  # noqa: UP031 - braces
    ),
    "list-with-a-number": instead_of_tools(
        "A tool's name is a number", answers('{"tools":[{"name":7,"inputSchema":{}}]}')
    ),
    "list-not-json": instead_of_tools(
        "A definition has the number NaN",
        answers('{"tools":[%s]}' % TOOL.replace("{}", '{"maximum":NaN}')),  # noqa: UP031 - braces
    ),
    "list-not-utf-8": instead_of_tools(
        "A definition is no UTF-8",
        says(b'{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"ring_bell\xff"}]}}'),
    ),
    "list-too-deep": instead_of_tools(
        "A definition is nested without end",
        answers('{"tools":[%s]}' % TOOL.replace("{}", f'{{"enum":{DEEP}}}')),  # noqa: UP031 - braces
    ),
    "number-too-long": unchecked(
        "A number has 5,000 digits", respelled('"maximum":14', f'"maximum":{"9" * 5000}')
    ),
    "crash": instead_of_tools("The server ends when it is asked", stops(1), era="modern"),
    "leaves-politely": instead_of_tools("The server ends with status 0", stops(0)),
    # Twice in one object
    "key-twice": says_twice("A description stands twice", BELL, f'"description":"Open it.",{BELL}'),
    "key-twice-escaped": says_twice(
        "A description stands twice, once with an escape in its key",
        BELL,
        f'"d\\u0065scription":"Open it.",{BELL}',
    ),
    "key-twice-in-a-schema": says_twice(
        "A parameter stands twice, deep down",
        GATE,
        f'"gate":{{"type":"null"}},{GATE}',
        tool="close_lock",
    ),
    "key-twice-in-meta": says_twice(
        "A member of _meta stands twice",
        '{"harbour.example/desk":"quay office"}',
        '{"harbour.example/desk":1,"harbour.example/desk":"quay office"}',
        tool="book_berth",
    ),
    "list-twice": says_twice("The result has two lists", '"tools":[', '"tools":[],"tools":['),
    "cursor-twice": says_twice(
        "The result has two cursors", '"tools":[', '"nextCursor":null,"nextCursor":"2","tools":['
    ),
    "result-twice": instead_of_tools(
        "The answer has two results",
        says(f'{{"jsonrpc":"2.0","id":ID,"result":{{"tools":[]}},"result":{{"tools":[{TOOL}]}}}}'),
        check=(4, 1),
        calls=(4, 6),
    ),
    "result-and-error": instead_of_tools(
        "The answer is a result and an error",
        answers('{"tools":[]},"error":{"code":1,"message":"x"}'),
        calls=(4, 5),
    ),
    "result-incomplete": unchecked(
        "A list asks for input in place of an answer",
        put("envelope", {"resultType": "input_required"}),
        era="modern",
        calls=(4, 7),
        pin=(4, 7),
        check=(4, 7),
    ),
    # Beside the tools
    "prompts-refused": unchecked(
        "The prompts that were announced are refused",
        instead_of("prompts", 1, refuses(-32601)),
        calls=(0,),
    ),
    "prompts-silent": unchecked(
        "The prompts never come", instead_of("prompts", 1, stays_silent), **{**SHORT, "calls": (0,)}
    ),
    "resources-refused": unchecked(
        "The resources are refused",
        instead_of("resources", 1, refuses(-32603)),
        calls=(0,),
        era="legacy",
    ),
    "templates-crash": unchecked(
        "The server ends when it is asked for templates",
        instead_of("resourceTemplates", 1, stops(1)),
        calls=(0,),
    ),
    # Later in the session
    "refused-later": unchecked(
        "The second listing is refused",
        only_from(2, instead_of("tools", 1, refuses(-32000))),
        calls=(0,),
        pin=(),
    ),
    "twin-later": unchecked(
        "A twin stands in the second listing",
        only_from(2, add({"name": "ring_bell", "description": "Rings the alarm."}, to="tools")),
        calls=(0,),
        pin=(),
        says=("ring_bell",),
    ),
    "drifted-and-broken": unchecked(
        "A description is another, and the second page is refused",
        put("tools/book_berth/description", "Sells a ship."),
        in_pages(3, 3),
        instead_of("tools", 2, refuses(-32000)),
        calls=(4, 5),
    ),
}
