"""Round-trip times against what a hand computes: of trials of their own, and of probes beside a transfer."""

from dataclasses import replace

import pytest

from analysis_support import make_outcome, make_trial
from file_support import make_file_outcome, make_file_trial
from flowsweep.analysis.tests.rtt.under_load import rtt_phases
from flowsweep.archive import tables_of
from flowsweep.run.outcome import TrialOutcome
from rtt_support import Question, make_echoes, make_rtt_outcome, make_rtt_trial
from summary_support import summed


def row_of(outcome: TrialOutcome) -> dict[str, object]:
    rows: list[dict[str, object]] = summed(outcome)
    return rows[0]


def probed(questions: list[Question]) -> TrialOutcome:
    """A transfer of 5 s with the first omitted, whose flow ended at 5.0 s, and a probe beside it."""
    return replace(make_outcome(make_trial()), of_tests={"echoes": make_echoes(questions, echo="icmp")})


def test_a_trial_of_its_own_is_summed_up() -> None:
    questions: list[Question] = [(number, number + 1.0) for number in range(200)]
    questions[7] = (7, None)
    questions[8] = (8, None)
    row = row_of(make_rtt_outcome(make_rtt_trial(), questions))
    assert (row["status"], row["echo"], row["rtt_probes"], row["length_bytes"]) == ("ok", "udp", 200, 64)
    assert row["rtt_probe_min_ms"] == 1.0
    # Of 1 to 200 without 8 and 9, which took infinitely long: the mean of the 100th and 101st, and the 198th.
    assert row["rtt_probe_median_ms"] == pytest.approx(102.5)
    assert row["rtt_probe_p99_ms"] == 200.0
    assert row["rtt_probe_loss"] == pytest.approx(0.01)
    assert row["goodput_bps"] is None
    assert row["rtt_idle_ms"] is None


def test_a_rank_that_falls_on_a_lost_probe_is_no_time() -> None:
    """RFC 2681, section 4.1: what was not answered is infinitely large, and the percentile undefined."""
    questions: list[Question] = [(number, None if number % 40 == 0 else 5.0) for number in range(200)]
    row = row_of(make_rtt_outcome(make_rtt_trial(), questions))
    assert (row["rtt_probe_median_ms"], row["rtt_probe_p99_ms"]) == (5.0, None)
    half: list[Question] = [(number, None if number % 2 else 5.0) for number in range(200)]
    assert row_of(make_rtt_outcome(make_rtt_trial(), half))["rtt_probe_median_ms"] is None


def test_a_trial_without_answers_has_a_loss_and_no_time() -> None:
    row = row_of(make_rtt_outcome(make_rtt_trial(), [(0, None), (10, None)]))
    assert (row["rtt_probe_loss"], row["rtt_probe_median_ms"], row["rtt_probes"]) == (1.0, None, 2)


def test_phases_of_a_probe_are_idle_loaded_and_after() -> None:
    idle: list[Question] = [(-300, 10.0), (-200, 12.0), (-100, 11.0)]
    coming: list[Question] = [(0, 500.0), (999, 500.0)]
    loaded: list[Question] = [(1000, 40.0), (2000, 60.0), (3000, None), (4999, 80.0)]
    after: list[Question] = [(5000, 13.0), (5500, 11.0)]
    row = row_of(probed([*idle, *coming, *loaded, *after]))
    assert row["status"] == "ok"
    assert (row["rtt_idle_ms"], row["rtt_loaded_ms"], row["rtt_after_ms"]) == (11.0, 70.0, 12.0)
    assert (row["rtt_loaded_p99_ms"], row["rtt_loaded_loss"]) == (None, 0.25)
    assert row["responsiveness_rpm"] == pytest.approx(60_000 / 70)
    # RFC 6349, 4.3: the mean under load is 60 ms, the baseline 10 ms.
    assert row["probe_buffer_delay_percent"] == pytest.approx(500.0)
    assert (row["rtt_probes"], row["rtt_probe_median_ms"]) == (None, None)


def test_a_phase_without_questions_is_not_told() -> None:
    row = row_of(probed([(2000, 40.0)]))
    assert (row["rtt_idle_ms"], row["rtt_after_ms"], row["probe_buffer_delay_percent"]) == (None, None, None)
    assert row["rtt_loaded_ms"] == 40.0


def test_a_job_loads_the_path_until_it_is_done_and_not_for_as_long_as_it_might_have_taken() -> None:
    outcome = make_file_outcome(make_file_trial())
    echoes = make_echoes(
        [(-10, 10.0), (1_000, 60.0), (3_900, 80.0), (4_000, 12.0), (50_000, 10.0)], echo="icmp"
    )
    row = row_of(replace(outcome, of_tests={**outcome.of_tests, "echoes": echoes}))
    assert (row["rtt_idle_ms"], row["rtt_loaded_ms"], row["rtt_after_ms"]) == (10.0, 70.0, 11.0)


def test_questions_before_all_was_delivered_are_not_after() -> None:
    outcome = probed([(5000, 90.0), (5600, 10.0)])
    late = outcome.flows.to_pandas().assign(end_ns=5_500_000_000)
    flows = outcome.flows.from_pandas(late, schema=outcome.flows.schema, preserve_index=False)
    (phase,) = rtt_phases(tables_of([replace(outcome, flows=flows)])).to_pyarrow().to_pylist()
    assert (phase["phase"], phase["probes"], phase["rtt_mean_ns"]) == ("after", 1, 10_000_000)
