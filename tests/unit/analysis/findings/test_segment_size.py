"""Segments that are smaller than they could be: what is said of each cause, and what only looks like one."""

from collections.abc import Mapping
from typing import Any

import pytest

from analysis_support import SECOND_NS, make_flows, make_record, make_samples, make_trial
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.segment_size import PROBING, segment_hypotheses
from flowsweep.analysis.statistics.observations import observations
from flowsweep.analysis.tests.tcp.segment_sizes import segment_sizes
from flowsweep.archive.tables import tables_of
from flowsweep.run.outcome import TrialOutcome
from synthetic_campaigns import Grid, campaign

USUAL = {
    "first_mss_bytes": 1448, "mss_bytes": 1448, "path_mtu_bytes": 1500, "announced_mss_bytes": 1448,
    "window_bytes": 1 << 20,
}  # fmt: skip
JUMBO = {"first_mss_bytes": 8948, "mss_bytes": 8948, "path_mtu_bytes": 9000, "announced_mss_bytes": 8948}
NOT_PROBING = {"a": {"sysctls": {PROBING: "0"}}}


def told(
    segments: Mapping[str, Any], *, hosts: Any = NOT_PROBING, asked: int | None = None, trials: int = 3
) -> list[Finding]:
    """Of three trials from a to b, of which the first ones have such segments and the others usual ones."""
    grid = Grid(flows=(1,), window_sums=(1 << 22,), directions=(("a", "b"),))
    rows = [row | {"mss_bytes": asked} for row in campaign(grid, 1)]
    by_trial = {
        row["trial_id"]: {"trial_id": row["trial_id"]} | USUAL | (segments if at < trials else {})
        for at, row in enumerate(rows)
    }
    return decided(segment_hypotheses(observations(rows), by_trial, hosts))


def test_jumbo_frames_that_the_path_does_not_take() -> None:
    [one] = told(JUMBO | {"first_mss_bytes": 1448, "mss_bytes": 1448, "path_mtu_bytes": 1500})
    assert one.claim.startswith(
        "a → b: segments carry 1448 B in 3 of 3 trials, although b takes 8948 B: a or the path takes no "
        "packets above 1500 B."
    )
    assert (one.kind, one.decision, one.direction) == ("segment_size", "described", "a → b")
    assert (one.effect, one.effect_unit, one.n) == (1448, "bytes", 3)


def test_a_path_found_to_take_less_within_a_trial_is_no_loss_of_long_packets() -> None:
    [one] = told(JUMBO | {"mss_bytes": 1448, "path_mtu_bytes": 1500}, trials=1)
    assert "segments carry 1448 B in 1 of 3 trials, although b takes 8948 B" in one.claim


def test_long_packets_that_get_lost_and_nobody_says_so() -> None:
    [one] = told(JUMBO | {"mss_bytes": 1012}, trials=2)
    assert one.claim.startswith(
        "a → b: segments became smaller in 2 of 3 trials, from 8948 B to 1012 B, and no router said that "
        "they were too long (the path's MTU stayed 9000 B): long packets get lost on the way, or the path "
        "was interrupted for seconds."
    )


def test_few_trials_in_which_segments_became_smaller_were_interrupted() -> None:
    assert told(JUMBO | {"mss_bytes": 1012}, trials=1) == []


def test_paths_with_unlike_mtus_are_told_apart() -> None:
    """One of the trials went by IPv6, through a tunnel."""
    rows = campaign(Grid(flows=(1,), window_sums=(1 << 22,), directions=(("a", "b"),)), 1)
    jumbo = JUMBO | {"first_mss_bytes": 1448, "mss_bytes": 1448, "path_mtu_bytes": 1500}
    tunnel = JUMBO | {"first_mss_bytes": 1208, "mss_bytes": 1208, "path_mtu_bytes": 1280}
    by_trial = {
        row["trial_id"]: {"trial_id": row["trial_id"]} | USUAL | (tunnel if at == 2 else jumbo)
        for at, row in enumerate(rows)
    }
    usual, of_tunnel = decided(segment_hypotheses(observations(rows), by_trial, NOT_PROBING))
    assert "carry 1448 B in 2 of 3 trials" in usual.claim
    assert "takes no packets above 1500 B" in usual.claim
    assert "carry 1208 B in 1 of 3 trials" in of_tunnel.claim
    assert "takes no packets above 1280 B" in of_tunnel.claim


def test_an_mss_that_is_rewritten_on_the_way() -> None:
    [one] = told({"first_mss_bytes": 1208, "mss_bytes": 1208})
    assert one.claim.startswith(
        "a → b: segments carry 1208 B in 3 of 3 trials, although b takes 1448 B and a may send packets of "
        "1500 B: something between the two lowers the MSS that b announces,"
    )


def test_ends_with_unlike_mtus() -> None:
    [one] = told({"path_mtu_bytes": 9000})
    assert one.claim.startswith(
        "a → b: a may send packets of 9000 B, but b takes segments of 1448 B in 3 of 3 trials: its MTU or "
        "its route is set to less, or it has learned that the path takes no more."
    )


def test_a_host_that_has_learned_the_paths_mtu_has_none_of_its_own() -> None:
    """It announces no more than what it has learned that the path takes, the other way."""
    rows = campaign(Grid(flows=(1,), window_sums=(1 << 22,)), 1)
    there = JUMBO | {"first_mss_bytes": 1448, "mss_bytes": 1448, "path_mtu_bytes": 1500}
    back = USUAL | {"path_mtu_bytes": 9000}
    by_trial = {
        row["trial_id"]: {"trial_id": row["trial_id"]} | USUAL | (there if row["src"] == "a" else back)
        for row in rows
    }
    [one] = decided(segment_hypotheses(observations(rows), by_trial, NOT_PROBING))
    assert one.claim.startswith("a → b: segments carry 1448 B")


@pytest.mark.parametrize(
    ("segments", "asked", "probing"),
    [
        ({}, None, "0"),
        (JUMBO, None, "0"),
        ({"first_mss_bytes": 1428, "mss_bytes": 1428}, None, "0"),  # options, or a tunnel: hardly less
        ({"mss_bytes": 1428, "announced_mss_bytes": 1428}, None, "0"),  # IPv6
        ({"first_mss_bytes": 536, "mss_bytes": 536}, 536, "0"),  # the plan asks for it
        (
            JUMBO | {"first_mss_bytes": 4344, "mss_bytes": 4344, "window_bytes": 8688},
            None,
            "0",
        ),  # half a window
        ({"first_mss_bytes": 1012, "mss_bytes": 1012}, None, "2"),  # a source that begins small and probes
        ({"first_mss_bytes": 1012}, None, "2"),  # and has found more
        ({"first_mss_bytes": 1012, "mss_bytes": 1012}, None, "1"),  # one that timeouts have made probe
        ({"first_mss_bytes": 1208, "mss_bytes": 1208, "window_bytes": None}, None, "0"),  # half of a window?
        ({"announced_mss_bytes": None, "first_mss_bytes": 536, "mss_bytes": 536}, None, "0"),  # not known
    ],
)
def test_segments_that_only_look_small(segments: dict[str, Any], asked: int | None, probing: str) -> None:
    assert told(segments, asked=asked, hosts={"a": {"sysctls": {PROBING: probing}}}) == []


def test_nothing_is_said_of_rewriting_where_nobody_knows_whether_the_source_probes() -> None:
    assert told({"first_mss_bytes": 1208, "mss_bytes": 1208}, hosts=None) == []


def test_segments_are_read_from_both_ends_and_the_least_flow_counts() -> None:
    tenth = SECOND_NS // 10

    def row(role: str, flow: int, index: int, **told_by_kernel: int) -> dict[str, Any]:
        span = {"start_ns": index * tenth, "end_ns": (index + 1) * tenth}
        return {"role": role, "flow": flow, "bytes": 1000} | span | told_by_kernel

    sent = [
        row("source", flow, index, snd_mss_bytes=8948 if index < 2 else 1448 + 100 * flow)
        | {"pmtu_bytes": 9000 if index < 2 else 1500 + 100 * flow, "snd_wnd_bytes": 1000 * (index + 1 + flow)}
        for flow in range(2)
        for index in range(4)
    ]
    received = [row("sink", flow, 0, advmss_bytes=8948 - flow) for flow in range(2)]
    record = make_record(make_trial(flows=2, window_bytes=1 << 18))
    outcome = TrialOutcome(record=record, samples=make_samples(sent + received), flows=make_flows([]))
    assert segment_sizes(tables_of([outcome]).samples).to_pyarrow().to_pylist() == [
        {
            "trial_id": record.trial_id, "first_mss_bytes": 8948, "mss_bytes": 1448, "path_mtu_bytes": 1500,
            "announced_mss_bytes": 8947, "window_bytes": 4000,
        }
    ]  # fmt: skip
