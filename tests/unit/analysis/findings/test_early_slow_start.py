"""Slow starts that end early: what is said where one did, and what looks like it and is none."""

from collections.abc import Sequence
from typing import Any

import pytest

from analysis_support import SECOND_NS, make_flows, make_record, make_samples, make_trial
from flowsweep.analysis.findings.early_slow_start import early_end_hypotheses, slow_trials
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.statistics.observations import observations
from flowsweep.analysis.tests.tcp.flow_states import NO_THRESHOLD
from flowsweep.analysis.tests.tcp.slow_start_ends import slow_start_ends
from flowsweep.archive.tables import tables_of
from flowsweep.run.outcome import TrialOutcome
from synthetic_campaigns import Grid, Row, campaign

FULL_S = 7.0
"""When goodput had reached 90 %."""


def trials(congestion: str = "cubic") -> list[Row]:
    rows = campaign(Grid(flows=(4,), window_sums=(1 << 22,), directions=(("a", "b"),)), 1)
    return [row | {"rtt_min_ms": 100.0, "congestion": congestion} for row in rows]


def told(
    ends: Sequence[dict[str, Any]],
    full_s: float = FULL_S,
    hosts: dict[str, Any] | None = None,
    congestion: str = "cubic",
) -> list[Finding]:
    rows = trials(congestion)
    reached = {row["trial_id"]: {"slow_start_ns": round(full_s * SECOND_NS)} for row in rows}
    [observed] = observations(rows)
    slow = slow_trials(rows, reached)
    return decided(list(early_end_hypotheses(observed, reached, dict.fromkeys(slow, ends), hosts)))


def end(segments: int, ended_s: float = 1.0, *, highest: int = 800, lossless: bool = True) -> dict[str, Any]:
    ended_ns = round(ended_s * SECOND_NS)
    return {"segments": segments, "highest_segments": highest, "ended_ns": ended_ns, "lossless": lossless}


def test_an_early_end_is_told_with_what_it_cost() -> None:
    [one] = told([end(28, 0.8), end(56, 1.0)])
    assert one.claim.startswith(
        "a → b: in 3 of 3 trials slow start ended without a loss at 28 segments, of 800 that a flow reached "
        "later; these trials took 6.00 s longer to reach full speed."
    )
    assert (one.decision, one.effect_unit, one.direction) == ("described", "s", "a → b")
    assert one.effect == pytest.approx(6.0)


def test_a_congestion_control_without_hystart_has_other_causes_and_bbr_sets_thresholds_itself() -> None:
    hosts = {"a": {"sysctls": {"net.ipv4.tcp_no_metrics_save": "1"}}}
    [one] = told([end(28, 0.8), end(56, 1.0)], hosts=hosts, congestion="reno")
    assert " Congestion marks (ECN) or drops at the source can cause this: leave" in one.claim
    assert told([end(28, 0.8), end(56, 1.0)], congestion="bbr") == []


@pytest.mark.parametrize(
    ("value", "of_thresholds", "kernel", "times"),
    [
        ("0", None, "5.4.0-150-generic", 1),
        ("0", None, None, 1),
        ("1", None, None, 0),
        ("1", "0", "6.8.0", 0),
        (None, None, None, 1),
        ("0", "1", "6.8.0", 0),  # as it is by default since Linux 5.6
        (None, "1", None, 0),
        ("0", "0", "6.8.0", 1),
        ("0", None, "5.6.0", 0),
    ],
)
def test_a_threshold_of_the_kernel_is_a_cause_only_where_it_keeps_one(
    value: str | None, of_thresholds: str | None, kernel: str | None, times: int
) -> None:
    settings = {
        name: told_value
        for name, told_value in (
            ("net.ipv4.tcp_no_metrics_save", value),
            ("net.ipv4.tcp_no_ssthresh_metrics_save", of_thresholds),
        )
        if told_value is not None
    }
    [one] = told([end(28, 0.8), end(56, 1.0)], hosts={"a": {"sysctls": settings, "kernel": kernel}})
    assert one.claim.count("net.ipv4.tcp_no_metrics_save = 0") == times
    assert one.claim.count("net.ipv4.tcp_no_ssthresh_metrics_save = 0 or, before Linux 5.6,") == times
    assert " Round trips that vary can cause this (HyStart)" in one.claim
    assert one.claim.endswith(": leave that time out with `omit`, or expect less of short transfers.")


@pytest.mark.parametrize(("value", "is_cause"), [("0", False), ("1", True), (None, True)])
def test_hystart_is_a_cause_only_where_it_is_on(value: str | None, *, is_cause: bool) -> None:
    settings = {} if value is None else {"tcp_cubic.hystart": value}
    [one] = told([end(28, 0.8), end(56, 1.0)], hosts={"a": {"sysctls": settings}})
    assert ("HyStart" in one.claim) is is_cause
    assert ("Congestion marks (ECN) or drops at the source" in one.claim) is not is_cause


@pytest.mark.parametrize(
    ("ends", "full_s"),
    [
        ([end(28, lossless=False), end(56, lossless=False)], FULL_S),  # a loss ended it
        ([end(500), end(600)], FULL_S),  # at what the flow kept to later
        ([end(28, 0.8), end(56, 1.0)], 1.5),  # full speed soon after
        ([end(28), end(500), end(600)], FULL_S),  # one flow of several makes up for little
        ([], FULL_S),  # the kernel does not say
    ],
)
def test_what_looks_like_an_early_end_and_is_none(ends: list[dict[str, Any]], full_s: float) -> None:
    assert told(ends, full_s) == []


def test_the_first_threshold_of_each_flow_is_found_and_whether_a_loss_made_it() -> None:
    trial = make_trial(flows=2, window_bytes=1 << 18)
    tenth = SECOND_NS // 10
    rows = [
        {
            "role": "source",
            "flow": flow,
            "start_ns": index * tenth,
            "end_ns": (index + 1) * tenth,
            "bytes": 1000,
        }
        | {"snd_cwnd": 10 * (index + 1), "snd_ssthresh": NO_THRESHOLD if index < 3 + flow else 36 + index}
        | {"total_retrans": flow * (index > 2), "lost": 0}
        for flow in range(2)
        for index in range(10)
    ]
    outcome = TrialOutcome(record=make_record(trial), samples=make_samples(rows), flows=make_flows([]))
    trial_id = outcome.record.trial_id
    first, second = slow_start_ends(tables_of([outcome]).samples, [trial_id]).to_pyarrow().to_pylist()
    assert first == {
        "trial_id": trial_id, "flow": 0, "segments": 39, "highest_segments": 100, "ended_ns": 4 * tenth,
        "lossless": True,
    }  # fmt: skip
    assert (second["segments"], second["ended_ns"], second["lossless"]) == (40, 5 * tenth, False)
    assert slow_start_ends(tables_of([outcome]).samples, []).to_pyarrow().num_rows == 0
