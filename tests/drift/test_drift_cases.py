"""Each case of the tables: pinned before, then checked, called and pinned again."""

import html

import pytest
from drift.cases import CLASSES, COSMETIC
from drift.formats import FORMATS
from drift.stage import (
    Stage,
    check_differences,
    check_report,
    must_have_status,
    of_words,
    place_of,
    read_differences,
)
from drift.tables import CASES
from zoo import judge
from zoo.bench import read_bytes

pytestmark = pytest.mark.zoo

FAILING = [kind for kind in CLASSES if kind != COSMETIC]
SHOWN_IN_EVERY_FORMAT = (
    *("nothing", "icon-other", "tide-orders", "clipboard", "forged-verdict", "forged-place"),
    *("order-in-instructions", "tool-gone", "tool-named-like-a-report", "resource-later"),
    *("page-refused", "page-silent"),
)
THERE_AND_BACK = (
    *("no-instructions", "no-prompts-at-all", "no-resources-at-all", "output-gone", "hints-gone"),
    *("name-with-a-greek-letter", "filler-in-a-parameter", "past-int64", "between-doubles"),
)
ONE_OF_EACH_CLASS = {
    "breaking": "choice-gone",
    "text": "order-in-an-output",
    "behaviour": "hint-gone",
    "additive": "parameters-like-an-envelope",
    "cosmetic": "icon-other",
}


@pytest.fixture
def stage(bench, pinned):
    return lambda name: Stage(bench, pinned[CASES[name].era], CASES[name], name)


@pytest.mark.parametrize("name", CASES)
def test_a_case(stage, name):
    case, stage = CASES[name], stage(name)
    run = stage.check("--format", "json")
    must_have_status(run, case.check)
    for words in case.says:
        assert words in run.err.decode(), run.report([f"nothing is said of {words}"])
    found = []
    if run.status in (0, 1):
        found = read_differences(run)
        check_differences(run, case, found)
        if case.escapes or case.no_line:
            check_report(stage.check(), case, found)
    for tool, statuses in case.calls.items():
        check_call(stage, tool, statuses)
    if case.pin:
        pin_again(stage, case, found)


def check_call(stage, tool, statuses):
    run = stage.call(tool)
    must_have_status(run, statuses)
    called = [message["params"]["name"] for message in run.messages("tools/call")]
    assert called == ([tool] if run.status == 0 else []), run.report([f"it called {called}"])
    wanted = f"{tool}: done\n" if run.status == 0 else ""
    assert run.out.decode() == wanted, run.report(["stdout is not the tool's answer"])


def pin_again(stage, case, found):
    """Pin what is offered now: it is told what changed, and then nothing is drift any more."""
    before = read_bytes(stage.bench.catalog)
    run = stage.pin()
    must_have_status(run, case.pin)
    if run.status:
        return
    after = read_bytes(stage.bench.catalog)
    problems = judge.Problems()
    if found:
        check_report(run, case, found)
        problems.must(after != before, "the catalog is the one that was there")
    if case.same_bytes:
        problems.must(after == before, "the catalog has other bytes")
    for words in case.in_catalog:
        problems.must(words.encode() in after, f"the catalog lacks {words!r}")
    problems.must(after.isascii(), "the catalog is not ASCII")
    assert not problems, run.report(problems)
    if after != before and not case.short:
        must_have_status(stage.check(), (0,))


@pytest.mark.parametrize("name", SHOWN_IN_EVERY_FORMAT)
def test_a_case_in_every_format(stage, name):
    case, stage = CASES[name], stage(name)
    for format_, judged in FORMATS.items():
        run = stage.check("--format", format_)
        must_have_status(run, case.check)
        if run.status in (0, 1):
            problems = judge.Problems(judged(run.out.decode(), run.status == 1))
            of_words(html.unescape(run.out.decode()), case, problems.must)
            assert not problems, run.report(problems)


@pytest.mark.parametrize(("kind", "name"), ONE_OF_EACH_CLASS.items())
def test_a_class_that_is_allowed_passes_alone(stage, kind, name):
    stage = stage(name)
    others = [word for each in FAILING if each != kind for word in ("--allow", each)]
    must_have_status(stage.check("--allow", kind), (0,))
    must_have_status(stage.check(*others), (int(kind != COSMETIC),))


def test_what_is_allowed_in_the_first_listing_hides_nothing_in_the_second(stage):
    must_have_status(stage("allowed-first").check("--allow", "additive"), (1, 4))


@pytest.mark.parametrize("name", THERE_AND_BACK)
def test_the_way_back_is_drift_too(stage, name):
    """The places are the same, whatever their classes, when the pin is of what had changed."""
    case, stage = CASES[name], stage(name)
    must_have_status(stage.pin(), (0,))
    del stage.env["ZOO_DRIFT"]
    run = stage.check("--format", "json")
    must_have_status(run, (1,))
    places = sorted(find.partition(" ")[2] for find in case.finds)
    assert sorted(map(place_of, read_differences(run))) == places, run.report(["other places"])


def test_what_cannot_be_checked_does_not_pass_whatever_is_allowed(stage):
    everything = [word for each in FAILING for word in ("--allow", each)]
    must_have_status(stage("drifted-and-broken").check(*everything), (4,))


@pytest.mark.parametrize("name", ["tide-orders", "tool-gone", "icon-other", "nothing"])
def test_a_dry_run_tells_and_writes_nothing(stage, name):
    stage = stage(name)
    run = stage.pin("--dry-run")
    must_have_status(run, (int(bool(CASES[name].finds)),))
    told = run.out.decode() + run.err.decode()
    assert all(words in told for words in CASES[name].shows), run.report(["something is untold"])
