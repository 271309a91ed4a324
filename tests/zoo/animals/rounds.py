"""Results of several rounds, and other kinds of result (2026-07-28)."""

from .osutil import event
from .server import replacing, text_result, variant

QUESTION = {
    "mode": "form",
    "message": "Your name?",
    "requestedSchema": {"type": "object", "properties": {}},
}
ASKED = {"who": {"method": "elicitation/create", "params": QUESTION}}
HOSTILE = {**QUESTION, "message": "Your \x1b[31mname\u202e?\nthrall: echo: fine\u200b"}
STATE = "b\u00fcffel/=? \u2713 \\u0041"

modern = replacing("answer", era="modern")


def send_result(server, request, result):
    server.send({"jsonrpc": "2.0", "id": request["id"], "result": result})


def unfinished(name, about, era="modern", **members):
    """Enter a server that always wants input."""

    def answer(server, request):
        send_result(server, request, {"resultType": "input_required", **members})

    variant(name, about, __name__, answer=answer, era=era)


unfinished("input-required", "Wants to ask the user.", inputRequests=ASKED, requestState="s1")
unfinished("input-no-state", "Wants to ask the user, without a state.", inputRequests=ASKED)
unfinished("input-endless", "Wants another round, always.", requestState="again")
unfinished("input-nothing", "Wants input, but does not say which.")
unfinished("input-legacy", "Wants input in the legacy era.", "legacy", inputRequests=ASKED)
unfinished("input-list", "Wants input in the wrong shape.", inputRequests=["who"], requestState=7)
unfinished(
    "input-hostile",
    "Wants input, with escapes in the question.",
    inputRequests={"a\x1b[31m\nb": {"method": "elicitation/create", "params": HOSTILE}},
)
unfinished(
    "input-roots",
    "Wants the roots and a completion.",
    inputRequests={
        "where": {"method": "roots/list"},
        "what": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}},
    },
)


@modern
def input_state(server, request):
    """Done once its state comes back under a new id."""
    state = request["params"].get("requestState")
    if state is None:
        server.seen = request["id"]
        send_result(server, request, {"resultType": "input_required", "requestState": STATE})
    else:
        event("state", good=state == STATE and request["id"] != server.seen)
        server.reply(
            request, text_result("resumed", isError=state != STATE or request["id"] == server.seen)
        )


@modern
def input_three_rounds(server, request):
    """Done in the fourth round, with a new state in each."""
    round_number = int(request["params"].get("requestState", "0"))
    if round_number == 3:
        server.reply(request, text_result("resumed"))
    else:
        state = str(round_number + 1)
        send_result(server, request, {"resultType": "input_required", "requestState": state})


@modern
def result_task(server, request):
    """A task, which was not asked for."""
    send_result(
        server, request, {"resultType": "task", "taskId": "t1", "status": "working", "ttlMs": 9}
    )


@modern
def result_type_number(server, request):
    """resultType is a number."""
    send_result(server, request, {"resultType": 7, **text_result("fine")})


@modern
def result_type_hostile(server, request):
    """resultType is full of escapes."""
    send_result(server, request, {"resultType": "\x1b[31mdone\n\u202e", **text_result("fine")})


@modern
def result_type_missing(server, request):
    """There is no resultType."""
    send_result(server, request, text_result("fine"))


@modern
def missing_capability(server, request):
    """Refused with -32021."""
    needed = {"elicitation": {"form": {}}}
    server.refuse(
        request, -32021, "Missing required client capability", requiredCapabilities=needed
    )


@modern
def structured_scalar(server, request):
    """structuredContent is a string, which this era allows."""
    server.reply(request, {"content": [], "structuredContent": "scalar"})
