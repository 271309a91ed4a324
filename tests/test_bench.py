"""The arithmetic of the measurements in bench/, and the program that takes one."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET

import cases
import figures
import goals
import plots
import pytest
import report
import rivals
import sampling
from targets import PIPE


def sample(ended, answered=0.0, processor=0.0, peak=0):
    return sampling.Sample(answered, ended, processor, peak)


def samples(*ended):
    return {number: sample(each) for number, each in enumerate(ended)}


def test_a_median_is_over_all_rounds():
    assert figures.median(samples(3, 1, 2), figures.ended) == 2


def test_the_quarters_hold_the_middle_half():
    assert figures.quarters(samples(1, 2, 3, 4, 5), figures.ended) == (2, 4)


def test_the_quarters_of_one_round_are_its_figure():
    assert figures.quarters(samples(7), figures.ended) == (7, 7)


def test_ratios_and_differences_are_of_pairs_within_a_round():
    # A burst of load in the second round: the medians alone would say 1.5 times.
    taken = {"ours": samples(2, 20, 3), "theirs": samples(1, 10, 2)}
    assert figures.times(taken, "ours", "theirs", figures.ended) == 2
    assert figures.over(taken, "ours", "theirs", figures.ended) == 1


def test_a_subject_that_ran_in_few_rounds_is_compared_in_those():
    taken = {"ours": {0: sample(4), 2: sample(6)}, "theirs": samples(2, 100, 2)}
    assert figures.pairs(taken, "ours", "theirs", figures.ended) == [(4, 2), (6, 2)]


@pytest.mark.parametrize(("own", "met"), [(0.100, True), (0.111, False)])
def test_the_bound_of_the_overhead_goes_with_what_click_costs_here(own, met):
    # Twice the 40 ms of the goal, so the bound is twice 45 ms.
    taken = {PIPE: samples(0.020), cases.CALL: samples(own), cases.CLICK: samples(0.080)}
    assert goals.overhead(taken).met is met


def test_a_stream_is_compared_with_cat_and_the_scan_without_the_start_of_its_interpreter():
    taken = {
        cases.CAT: samples(0.2),
        cases.STARTED: samples(0.1),
        cases.SCANNED: samples(0.3),
        cases.CALL: samples(0.5),
        cases.JSON: {0: sample(0.8, peak=100)},
    }
    text, whole, memory = goals.stream(taken, 50)
    assert (text.figure, text.met) == ("1.25 times", True)
    assert (whole.figure, whole.met) == ("2.00 times", False)
    assert (memory.figure, memory.met) == ("2.00 times", True)


def test_of_a_large_catalog_what_is_told_has_no_bound():
    taken = {
        PIPE: {0: sample(1, processor=0.1)},
        cases.CALL: samples(2),
        cases.PINNED: {0: sample(2.5, answered=2.25, processor=0.3, peak=1 << 20)},
    }
    told = goals.large(taken, 10_000)
    assert told.met is None
    assert told.figure == (
        "2,250 ms until the answer, 500 ms more than without a catalog,"
        " 200 ms of CPU beyond the server's, 1 MiB"
    )


def test_goals_are_told_of_what_was_measured_only():
    assert goals.reached({}) == []


def test_the_fastest_peer_of_a_case_is_found_for_the_answer_and_for_the_end():
    taken = {
        cases.CALL: {0: sample(4, answered=1)},
        "mcporter": {0: sample(2, answered=3)},
        "inspector": {0: sample(8, answered=2)},
    }
    answer, end = rivals.comparisons({"call": taken, "without peers": {cases.CALL: samples(1)}})
    assert answer == ("call", cases.CALL, "the answer", "inspector", 2)
    assert end == ("call", cases.CALL, "the end", "mcporter", 0.5)


def test_an_axis_spans_its_values_and_marks_1_2_and_5():
    axis = plots.Axis.around([0.3, 12], 0, 100)
    assert axis.marks == [0.2, 0.5, 1, 2, 5, 10, 20]
    assert (axis.place(0.2), axis.place(2), axis.place(20)) == (0, 50, 100)


def test_an_axis_of_one_value_has_two_ends():
    assert plots.Axis.around([1, 1], 0, 1).marks == [1, 2]


def test_a_plot_is_xml_with_a_line_for_each_subject():
    taken = {f"check of {count} servers": {"<check>": samples(count)} for count in cases.SERVERS}
    (drawn,) = plots.plots(taken).values()
    names = [each.text for each in ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
    assert "<check>" in names


def test_a_row_leaves_out_the_answer_of_what_says_nothing():
    assert report.row("pin", {0: sample(1.5, processor=0.02)}, 2) == (
        "| pin |  | 1,500 | 1,500 to 1,500 | 20.0 | 0.0 | 2.00 |"
    )


def run_once(*words):
    command = (sys.executable, "-I", "-S", sampling.ONCE, os.devnull, *words)
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def test_a_run_tells_its_output_and_status():
    taken = run_once("sh", "-c", "printf abc; exit 3")
    assert (taken["size"], taken["beginning"], taken["status"]) == (3, "abc", 3)
    assert 0 < taken["answered"] <= taken["ended"]


def test_what_a_command_leaves_behind_is_ended(tmp_path):
    file = tmp_path / "pid"
    run_once("sh", "-c", f"sleep 60 >/dev/null & echo $! >{file}")
    with pytest.raises(ProcessLookupError):
        os.kill(int(file.read_text()), 0)


@pytest.mark.parametrize(("seconds", "ran"), [(1.9, 15), (3, 3), (20, 1)])
def test_a_slow_peer_runs_in_few_rounds(seconds, ran):
    step = sampling.every_so_many(15, seconds)
    assert len([number for number in range(15) if number % step == 0]) == ran
