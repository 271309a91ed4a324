"""One case with its catalog: the runs, and the rules for each of them."""

import json
import os
import re
import sys
import unicodedata

from drift.cases import CLASSES, COSMETIC
from zoo import judge
from zoo.bench import CATALOG, LIMIT, limits, read_bytes, write_bytes
from zoo.expect import Want

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "server.py")
COMMAND = ["--", sys.executable, "-I", "-S", SERVER]
MEMBERS = {"server", "tool", "path", "class", "before", "after"}

# Characters of categories that are shown elsewhere: selectors, fillers, a joiner.
SEEN_AS_NOTHING = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"


def unsafe(text):
    """List the characters that act on a terminal, or that nobody sees."""
    found = set(text) - {"\n"}
    return [ascii(each) for each in sorted(found) if not each.isascii() or each < " " or each == "\x7f"
            if unicodedata.category(each) in {"Cc", "Cf", "Cn", "Co", "Zl", "Zp"} or each in SEEN_AS_NOTHING
            or 0xFE00 <= ord(each) <= 0xFE0F or 0xE0100 <= ord(each) <= 0xE01EF]  # fmt: skip


def forms(character):
    """List the ways in which a character may be shown escaped."""
    code = ord(character)
    units = character.encode("utf-16-be", "surrogatepass").hex()
    as_json = "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
    short = {"\r": ["\\r"], "\x08": ["\\b"]}.get(character, [])
    return [as_json, f"\\u{code:04x}", f"\\U{code:08x}", f"\\x{code:02x}", *short]


class Stage:
    """Runs the command against a case, and applies what holds for every run."""

    def __init__(self, bench, pinned, case, name):
        self.bench, self.case = bench, case
        self.env = {"ZOO_ERA": case.era_later or case.era}
        if case.edits:
            self.env["ZOO_DRIFT"] = name
        write_bytes(bench.catalog, pinned)
        bench.pinned = f"ZOO_ERA={case.era} thrall pin {CATALOG} {' '.join(COMMAND)}"

    def check(self, *options):
        return self._run(["check", CATALOG, *options], b"")

    def call(self, tool):
        return self._run(["call", tool, "--catalog", CATALOG], b"{}")

    def pin(self, *options):
        return self._run(["pin", CATALOG, *options], b"", COMMAND)

    def _run(self, words, stdin, server=()):
        before = read_bytes(self.bench.catalog)
        arguments = [*words, *limits(), *self.case.options, *server]
        run = self.bench.run(arguments, stdin=stdin, env=self.env)
        problems = judge.always(self.bench, run, Want(within=LIMIT), words[1])
        must = problems.must
        for stream in (run.out, run.err):
            found = unsafe(stream.decode("utf-8", "replace"))
            must(not found, f"raw in the output: {', '.join(found)}")
        calm = "harbour: as pinned" not in (run.out + run.err).decode().splitlines()
        must(calm or run.status == 0, "it says that nothing has changed")
        must(run.verb == "call" or not run.messages("tools/call"), "a tool was called")
        may_write = run.verb == "pin" and "--dry-run" not in words and run.status == 0
        must(may_write or read_bytes(self.bench.catalog) == before, "the catalog was touched")
        assert not problems, run.report(problems)
        return run


def must_have_status(run, statuses):
    __tracebackhide__ = True
    wanted = " or ".join(map(str, statuses))
    assert run.status in statuses, run.report([f"status {run.status}, expected {wanted}"])


def check_report(run, case, found):
    """Compare a report for a person with the differences, and with what it must and must not say."""
    __tracebackhide__ = True
    problems = judge.Problems()
    lines = run.out.decode().splitlines()
    for each in found:
        names = [each["tool"] or "", *shown(each["path"])]
        if "".join(names).isascii() and "".join(names).isprintable():
            words = f"{': '.join(filter(None, names))}: {each['class']}, "
            problems.must(any(words in line for line in lines), f"no line says {words!r}")
    of_words(run.out.decode(), case, problems.must)
    assert not problems, run.report(problems)


def shown(path):
    """The path of a difference as a person sees it: the address of a resource stands as it is."""
    member, _, rest = path.partition("/")
    if member not in ("resources", "resourceTemplates") or not rest:
        return [path]
    address, _, inside = rest.partition("/")
    return [f"{member} {address.replace('~1', '/').replace('~0', '~')}", inside]


def of_words(text, case, must):
    """Tell what a person does not see, and must; or sees, and must not."""
    for words in case.shows:
        must(words in text, f"{words!r} is not shown")
    for character in case.escapes:
        escaped = any(form.lower() in text.lower() for form in forms(character))
        must(escaped, f"U+{ord(character):04X} is not shown as an escape")
    lines = [line.strip() for line in text.splitlines()]
    for line in case.no_line:
        must(line not in lines, f"the server wrote the line {line!r}")


def read_differences(run):
    """Return what the JSON report lists; fails if that is no such list."""
    __tracebackhide__ = True
    # Numbers keep their digits, which a float might not hold.
    found = json.loads(run.out, parse_float=str)["differences"]
    for each in found:
        odd = run.report([f"not what a difference looks like: {each}"])
        assert each.keys() >= MEMBERS, odd
        assert each["class"] in CLASSES, odd
        assert each["server"] == "harbour", odd
        sides = each["before"], each["after"]  # both are null when null is new
        assert json.dumps(sides[0]) != json.dumps(sides[1]) or sides == (None, None), odd
    return found


def check_differences(run, case, found):
    """Compare the differences with the expected ones: as many, in the same places, of their class."""
    __tracebackhide__ = True
    told = sorted(f"{each['class']} {place_of(each)}" for each in found)
    told = [each for each in told if each not in case.may_find]
    problems = judge.Problems()
    problems.must(len(told) == len(case.finds), f"{len(told)} differences, not {len(case.finds)}")
    for find in case.finds:
        kinds, _, place = find.partition(" ")
        good = any(f"{kind} {place}" in told for kind in kinds.split("|"))
        problems.must(good, f"nothing is {kinds} at {place}")
    spelled = json.dumps(found, ensure_ascii=False)
    for words in case.shows:
        problems.must(words in spelled, f"{words!r} is not in the report")
    fails = any(each["class"] != COSMETIC for each in found)
    problems.must(fails == (run.status == 1), f"status {run.status} with these differences")
    assert not problems, run.report([*problems, "found:", *map(ascii, told)])


def place_of(difference):
    """Spell a place as the tables do."""
    path = re.sub("~1", "/", difference["path"]).replace("~0", "~")
    parts = [] if difference["tool"] is None else ["tools", difference["tool"]]
    return "/".join([*parts, path] if path else parts)
