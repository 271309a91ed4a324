"""Compares a run with what it had to do."""

import re

from zoo.bench import CATALOG, PATIENCE, UNTOLD
from zoo.expect import Want

# Control, bidi, zero-width and tag characters: never in what is said to a person.
UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\U000e0000-\U000e007f]"
)
WORDS_LIMIT = 10_000  # characters on stderr, without the server's own
ANSWERED = (0, 1)
HAS_SENTENCE = range(3, 128)


class Problems(list):
    """The reasons why a run was not right."""

    def must(self, good, reason):
        if not good:
            self.append(reason)


def always(bench, run, want, tool="echo"):
    """Apply the rules for every run, whatever the server."""
    problems = Problems()
    must = problems.must
    words = run.words(want.server_says)
    must(run.status is not None, f"it was still running after {run.seconds:.0f} s")
    within = want.within * PATIENCE
    must(run.seconds <= within, f"it took {run.seconds:.1f} s, {within:.1f} at most")
    must(not run.survivors, "still alive: " + ", ".join(run.survivors))
    must(not run.temporary_files, f"left in TMPDIR: {run.temporary_files}")
    allowed = {CATALOG} if run.verb == "pin" and run.status == 0 else set()
    extra = set(run.new_files) - allowed
    must(not extra, f"left in the working directory: {sorted(extra)}")
    must("Traceback (most recent call last)" not in words, "a traceback on stderr")
    must(run.status != 70, "status 70, a bug in thrall")
    must(b"\xef\xbf\xbd" in run.err or "\ufffd" not in words, "stderr is not UTF-8")
    bad = UNPRINTABLE.search(words)
    must(not bad, f"on stderr is a character that a terminal does not show: {bad}")
    must(len(words) <= WORDS_LIMIT, f"{len(words)} characters on stderr")
    must(UNTOLD not in words, "stderr shows the server's argv past its first word")
    must(bench.mark not in words, "stderr shows the value of an environment variable")
    if run.status in HAS_SENTENCE:
        start = f"thrall: {tool}: "[:60] if run.verb == "call" else "thrall: "
        lines = words.splitlines()
        must(any(line.startswith(start) for line in lines), f"no sentence begins with {start!r}")
    (always_of_call if run.verb == "call" else always_of_others)(run, want, must)
    return problems


def always_of_call(run, want, must):
    calls = len(run.messages("tools/call"))
    must(calls <= want.calls, f"tools/call was sent {calls} times, {want.calls} at most")
    try:
        run.out.decode()
    except UnicodeDecodeError as problem:
        must(False, f"stdout is not UTF-8: {problem}")
    answered = run.status in ANSWERED or run.status is None or run.status < 0 or run.status > 127
    must(answered or not run.out, f"stdout is not empty: {run.out[:80]!r}")


def always_of_others(run, _want, must):
    shown = UNPRINTABLE.search(run.out.decode("utf-8", "replace"))
    must(not shown, f"on stdout is a character that a terminal does not show: {shown}")


def check(bench, run, want, tool="echo"):
    """Fail unless the run did what it had to, by the rules for every run and by its own."""
    __tracebackhide__ = True
    problems = always(bench, run, want, tool)
    must = problems.must
    statuses = " or ".join(map(str, want.status))
    must(run.status in want.status, f"status {run.status}, expected {statuses}")
    answered = run.status in ANSWERED
    words = run.words(want.server_says)
    if run.verb == "call" and answered:
        of_stdout(run, want, must)
    for pattern in want.warns if answered else want.says:
        must(re.search(pattern, words), f"stderr does not say {pattern!r}")
    if want.skipped and not answered:
        must(re.search(want.skipped, words), f"the skipped line {want.skipped!r} is not quoted")
        counted = re.search(r"\d[^\n]*skip|skip[^\n]*\d", words)
        must(counted, "the sentence does not say how many lines were skipped")
    everything = run.out.decode("utf-8", "replace") + "\n" + words
    for pattern in want.tells:
        must(re.search(pattern, everything), f"{pattern!r} is neither on stdout nor on stderr")
    for pattern in want.never:
        must(not re.search(pattern, everything), f"{pattern!r} is on stdout or stderr")
    lines = run.err.decode("utf-8", "replace").split("\n")
    for pattern in want.server_says:
        passed_on = any(re.fullmatch(pattern, line) for line in lines)
        must(passed_on, f"the server's own line {pattern!r} is missing on stderr")
    of_time_and_memory(run, want, must)
    of_traffic(run, want, must)
    assert not problems, run.report(problems)


def of_stdout(run, want, must):
    out = run.out.decode("utf-8", "replace")
    if want.out is not None:
        must(out == want.out, f"stdout is {out[:120]!r}, expected {want.out[:120]!r}")
    if want.out_json is not None:
        same = tokens(out) == tokens(want.out_json)
        must(same, f"stdout is {out[:300]!r}, expected {want.out_json[:300]!r}, digit for digit")
    if want.out_bytes is not None:
        must(
            len(run.out) == want.out_bytes, f"{len(run.out)} bytes on stdout, not {want.out_bytes}"
        )
    if want.out_lines is not None:
        lines = len(out.splitlines())
        must(lines == want.out_lines, f"{lines} lines on stdout, expected {want.out_lines}")
    for pattern in want.out_has:
        must(re.search(pattern, out, re.DOTALL), f"stdout has no {pattern!r}: {out[:300]!r}")


def of_time_and_memory(run, want, must):
    if want.at_least is not None and run.status == 124:
        late = run.seconds >= want.at_least
        must(late, f"it gave up after {run.seconds:.2f} s, the deadline is {want.at_least} s")
    if want.lead is not None:
        early = run.lead >= want.lead
        must(early, f"the answer was out {run.lead:.2f} s before the end, expected {want.lead} s")
    if want.megabytes is not None:
        must(run.megabytes > 0, "the memory was not measured")
        small = run.megabytes <= want.megabytes
        must(small, f"it used {run.megabytes:.0f} MB, {want.megabytes} at most")


def of_traffic(run, want, must):
    received = run.messages()
    methods = [message["method"] for message in received if "method" in message]
    for method in want.sends:
        must(method in methods, f"the server did not get {method}")
    for prefix in want.never_sends:
        sent = [method for method in methods if method.startswith(prefix)]
        must(not sent, f"the server got {sent}, and must not get {prefix}")
    if want.no_replies:
        replies = [message for message in received if "method" not in message]
        must(not replies, f"the client sent responses: {replies}")
    for method, wanted in want.replies.items():
        asked = [event for event in run.events if event["ev"] == "asked"]
        replies = [event["reply"] or {} for event in asked if event["method"] == method]
        key = (
            (lambda reply: (reply.get("error") or {}).get("code"))
            if isinstance(wanted, int)
            else None
        )
        told = [key(reply) if key else reply.get("result") for reply in replies]
        good = told and all(each == wanted for each in told)
        must(good, f"the server's {method} has to get {wanted!r}, got {replies}")
    if want.cancels and run.status == 124:
        asked = [message["id"] for message in run.messages("tools/call")]
        cancelled = [
            each["params"]["requestId"] for each in run.messages("notifications/cancelled")
        ]
        must(asked == cancelled != [], f"called with id {asked}, cancelled {cancelled}")
    kinds = {event["ev"] for event in run.events}
    for kind in want.logs:
        must(kind in kinds, f"the server did not get to {kind!r}")
    for kind in want.never_logs:
        must(kind not in kinds, f"the server got to {kind!r}")


def check_signalled(bench, run, number, within=Want.within):
    """Fail unless the command died of the signal, by the rules for every run."""
    __tracebackhide__ = True
    problems = always(bench, run, Want(within=within))
    died = run.status in (-number, 128 + number)
    problems.must(died, f"status {run.status}, expected death by signal {number}")
    assert not problems, run.report(problems)


def check_catalog(run, catalog, want):
    __tracebackhide__ = True
    problems = Problems()
    problems.must(re.fullmatch(rb"[\x20-\x7e\n]+", catalog), "the catalog is not printable ASCII")
    for words in want.has:
        problems.must(words.encode() in catalog, f"the catalog lacks {words[:80]!r}")
    for words in want.has_not:
        problems.must(words.encode() not in catalog, f"the catalog has {words[:80]!r}")
    assert not problems, run.report(problems)


def tokens(text):
    """Return JSON text without the white space between its tokens."""
    return "".join(re.findall(r'"(?:[^"\\]|\\.)*"|[^\s"]+', text))
