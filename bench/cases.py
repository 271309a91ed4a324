"""What is measured: every case, made when its turn comes, with what has to be there for it."""
# ruff: noqa: INP001, S603 - beside a script; starts what it measures

import json
import os
import subprocess
from collections.abc import Callable, Iterator

import call_url
import installing
import peers
from sampling import ENVIRONMENT, WORK, Case, Subject
from targets import (
    ECHO,
    HELLO,
    MINIMAL,
    PIPE,
    PYTHON,
    THRALL,
    Target,
    called,
    calling,
    listed,
    path,
    real,
    text_of,
    three_lines,
    written,
)

SIZES = (1, 10, 50)  # MB
SERVERS = (1, 10, 50)
TOOLS = (100, 1_000, 10_000)
SEQUENCE = 100  # calls

CALL = "thrall call"
NO_GRACE = "thrall call --grace 0"
JSON = "thrall call --json"
LIST = "thrall pin --dry-run"
PINNED = "thrall call --catalog"
CHECK = "thrall check"
PIN = "thrall pin"
CLICK = "click hello world"
CAT = "the bare pipeline, through cat"
STARTED = "python, which imports json"
SCANNED = "python, which scans the answer"
ALL_AT_ONCE = "the bare pipelines, all at once"
DIRECT = "the server itself"

AGAIN_AND_AGAIN = "i=0; while [ $i -lt {} ]; do {} || exit; i=$((i+1)); done"
SIDE_BY_SIDE = "i=0; while [ $i -lt {} ]; do {} & i=$((i+1)); done; wait"


def cases(present: list[peers.Peer], only: str | None) -> Iterator[Case]:
    """Make each case, or those of a kind only, in the order of the table.

    What a case needs (a server on a URL, say) is there until the next one is asked for.
    """
    for kind, made in kinds(present).items():
        if only in (None, kind):
            yield from made()


def kinds(present: list[peers.Peer]) -> dict[str, Callable[[], Iterator[Case]]]:
    """Name the kinds of cases, and what makes them."""
    return {
        "list": lambda: listings(present),
        "call": lambda: (call(target, present) for target in (ECHO, *real())),
        "answer": lambda: (answer(size, present) for size in SIZES),
        "sequence": lambda: iter([sequence(present)]),
        "check": lambda: (check(count) for count in SERVERS),
        "catalog": lambda: (catalog(count) for count in TOOLS),
        "url": over_http,
        "gateway": gateway,
    }


def run(*words: str) -> str:
    """Run what prepares a case, and bring what it printed.  Raises CalledProcessError."""
    null = subprocess.DEVNULL
    return subprocess.check_output(
        words, text=True, env=ENVIRONMENT, cwd=WORK, stdin=null, stderr=null
    )


def listings(present: list[peers.Peer]) -> Iterator[Case]:
    """List the tools of each server; with peers on the minimal one alone, to save time."""
    yield listing(ECHO, present)
    yield from (listing(target, []) for target in real())


def listing(target: Target, present: list[peers.Peer]) -> Case:
    """All tools of a server."""
    words = (THRALL, "pin", path("none.json"), "--dry-run", "--", *target.words)
    subjects = [listed(target), Subject(LIST, words, target.tool)]
    subjects += [subject for peer in present for subject in peer.lists(target)]
    return Case(f"list, {target.name}", tuple(subjects), PIPE)


def call(target: Target, present: list[peers.Peer]) -> Case:
    """One call; on the minimal server, beside the floor of any command that uses click."""
    subjects = [
        called(target),
        calling(target, CALL),
        calling(target, NO_GRACE, "--grace", "0"),
    ]
    if target is ECHO:
        python = os.path.join(installing.THRALL.folder, "bin", "python")
        subjects.append(Subject("python -c pass", (python, "-c", "pass")))
        subjects.append(Subject(CLICK, (python, written("hello.py", HELLO), "you"), "Hello"))
    subjects += [subject for peer in present for subject in peer.calls(target)]
    return Case(f"call, {target.name}", tuple(subjects), PIPE)


def answer(megabytes: int, present: list[peers.Peer]) -> Case:
    """One call with a large answer; beside one scan of it by the standard library."""
    target = text_of(megabytes)
    plain = called(target)
    through = ("sh", "-c", '"$@" | cat', "sh", *plain.words)
    scan = os.path.join(installing.HERE, "scan.py")
    file = written(f"answer-{megabytes}.json", run(*plain.words).splitlines()[-1])
    subjects = [
        plain,
        plain._replace(name=CAT, words=through),
        Subject(STARTED, (*PYTHON, scan)),
        Subject(SCANNED, (*PYTHON, scan, file)),
        calling(target, CALL),
        calling(target, JSON, "--json")._replace(expected='"content"'),
    ]
    subjects += [subject for peer in present for subject in peer.calls(target)]
    return Case(f"answer of {megabytes} MB", tuple(subjects), CAT)


def sequence(present: list[peers.Peer]) -> Case:
    """Many calls, one after the other, each a process of its own."""
    once = [called(ECHO), calling(ECHO, CALL)]
    once += [s for peer in present if peer.quick for s in peer.calls(ECHO)]
    loop = AGAIN_AND_AGAIN.format(SEQUENCE, '"$@" <"$0"')
    subjects = (one._replace(words=("sh", "-c", loop, one.stdin, *one.words)) for one in once)
    return Case(f"{SEQUENCE} calls in sequence", tuple(subjects), PIPE)


def check(count: int) -> Case:
    """Check a catalog of many servers, beside one list from each, all at once."""
    file = path(f"servers-{count}.json")
    discard(file)
    for number in range(count):
        name = f"s{number}"
        run(THRALL, "pin", file, "--name", name, "--prefix", f"{name}_", "--", *MINIMAL)
    loop = SIDE_BY_SIDE.format(count, 'printf %s "$0" | "$@"')
    words = ("sh", "-c", loop, three_lines("tools/list", {}), *MINIMAL)
    subjects = (
        Subject(ALL_AT_ONCE, words, '"jsonrpc"'),
        Subject(CHECK, (THRALL, "check", file)),
    )
    return Case(f"check of {count} servers", subjects, ALL_AT_ONCE)


def catalog(count: int) -> Case:
    """Call, check and pin a server with many tools."""
    target = ECHO._replace(words=(*MINIMAL, many_tools(count)))
    file, new = path(f"tools-{count}.json"), path("new.json")
    discard(file)
    run(THRALL, "pin", file, "--", *target.words)
    pinned = (THRALL, "call", "echo", "--catalog", file)
    afresh = ("sh", "-c", 'rm -f "$0"; exec "$@"', new, THRALL, "pin", new, "--", *target.words)
    subjects = (
        listed(target),
        calling(target, CALL),
        calling(target, PINNED)._replace(words=pinned),
        Subject(CHECK, (THRALL, "check", file)),
        Subject(PIN, afresh),
    )
    return Case(f"catalog of {count:,} tools", subjects, PIPE)


def many_tools(count: int) -> str:
    """Write a list of so many tools to a file."""

    def tool(name: str) -> dict:
        text = {"type": "string", "description": f"The text that {name} is about."}
        limit = {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}
        schema = {"type": "object", "properties": {"text": text, "limit": limit}}
        return {
            "name": name,
            "description": f"Does what {name} does, and says so in a sentence of usual length.",
            "inputSchema": schema | {"required": ["text"]},
        }

    names = ["echo", *(f"tool_{number}" for number in range(1, count))]
    return written(f"list-{count}.json", json.dumps([tool(name) for name in names]))


def over_http() -> Iterator[Case]:
    """Call a server on a URL, beside curl that sends the same requests."""
    for era in call_url.ERAS:
        with call_url.warm(era) as server:
            found = call_url.commands(era, server)
            subjects = [Subject("curl", found.curl, '"hi"')]
            subjects += [Subject(name, words, "hi") for name, words in found.calls.items()]
            yield Case(f"call --url, {era} server", tuple(subjects), "curl")


def gateway() -> Iterator[Case]:
    """Call a server many times in one session, and through `thrall serve`, if there is one."""
    if "\n  serve " not in run(THRALL, "--help"):
        return
    file = path("served.json")
    discard(file)
    run(THRALL, "pin", file, "--name", "minimal", "--", *MINIMAL)
    session = (*PYTHON, os.path.join(installing.HERE, "session.py"), str(SEQUENCE))
    subjects = (
        Subject(DIRECT, (*session, *MINIMAL), "hi"),
        Subject("thrall serve", (*session, THRALL, "serve", file), "hi"),
    )
    yield Case(f"{SEQUENCE} calls in one session", subjects, DIRECT)


def discard(file: str) -> None:
    """Remove a file if there is one."""
    if os.path.exists(file):
        os.unlink(file)
