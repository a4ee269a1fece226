"""Flows of one trial on unlike paths: what is said of them, and what looks like it and is none."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from analysis_support import SECOND_NS, make_flows, make_record, make_samples, make_trial
from flowsweep.analysis.findings.ecmp import ecmp_hypotheses
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.statistics.observations import observations
from flowsweep.analysis.tests.tcp.flow_states import RTT_UNKNOWN_US
from flowsweep.analysis.tests.tcp.least_round_trips import LeastRoundTripRow, least_round_trips
from flowsweep.archive.tables import tables_of
from flowsweep.run.outcome import TrialOutcome
from synthetic_campaigns import Grid, Row, campaign

FLOWS = 4
TRIALS = 10
NEAR_US, FAR_US = 20_000, 36_000

Drawn = Callable[[int, np.random.Generator], Sequence[tuple[float, int]]]
"""Of a trial's number: minimum round trip in µs and bytes of each flow."""


def told(drawn: Drawn, **changed: Any) -> list[Finding]:
    grid = Grid(flows=(FLOWS,), window_sums=(1 << 22,), directions=(("a", "b"),), repeats=TRIALS)
    rows: list[Row] = [row | changed for row in campaign(grid, 1)]
    generator = np.random.default_rng(3)
    round_trips = {
        row["trial_id"]: [
            LeastRoundTripRow(trial_id=row["trial_id"], flow=flow, least_us=round(least), acked_bytes=acked)
            for flow, (least, acked) in enumerate(drawn(number, generator))
        ]
        for number, row in enumerate(rows)
    }
    [observed] = observations(rows)
    return decided(list(ecmp_hypotheses(observed, round_trips)))


def hashed(_: int, generator: np.random.Generator) -> list[tuple[float, int]]:
    """Each flow on one of two paths, whichever its ports lead to; the longer one carries half."""
    far = generator.random(FLOWS) < 0.5
    queued = 1 + 0.01 * generator.random(FLOWS)
    return [
        ((FAR_US if longer else NEAR_US) * more, 50_000_000 if longer else 100_000_000)
        for longer, more in zip(far, queued, strict=True)
    ]


def test_two_paths_are_told_with_what_each_carries() -> None:
    [one] = told(hashed)
    assert one.claim.startswith(
        "a → b: flows of the same trial take paths of unlike length, there or back, in "
    )
    assert " of 10 trials: their minimum round trips are 20." in one.claim
    assert " flows) or 36" in one.claim
    assert "of 40 flows)" in one.claim
    assert "A flow on the longer carries 0.500 times (−50.0 % [−50.0, −50.0])" in one.claim
    assert (one.kind, one.decision, one.effect_unit, one.direction) == ("ecmp", "described", "%", "a → b")
    assert one.effect == pytest.approx(-50)
    assert one.n == TRIALS


def in_turn(number: int, generator: np.random.Generator) -> list[tuple[float, int]]:
    """All flows of a trial on one path, and a longer one from the middle of the campaign on."""
    base = NEAR_US if number < TRIALS // 2 else FAR_US
    return [(base * (1 + 0.01 * generator.random()), 1) for _ in range(FLOWS)]


def queued(_: int, generator: np.random.Generator) -> list[tuple[float, int]]:
    """Flows that start where others fill the queue, now more, now less."""
    return [(NEAR_US * (1 + 0.8 * generator.random()), 1) for _ in range(FLOWS)]


def one_path(_: int, generator: np.random.Generator) -> list[tuple[float, int]]:
    return [(NEAR_US * (1 + 0.01 * generator.random()), 1) for _ in range(FLOWS)]


def with_a_stray(number: int, generator: np.random.Generator) -> list[tuple[float, int]]:
    """One flow of all had to wait."""
    flows = one_path(number, generator)
    return flows if number else [(FAR_US, 1), *flows[1:]]


def in_a_room(_: int, generator: np.random.Generator) -> list[tuple[float, int]]:
    """Both take less than a network: what differs is the machine."""
    return [(100 + 200 * (generator.random() < 0.5), 1) for _ in range(FLOWS)]


@pytest.mark.parametrize("drawn", [in_turn, queued, one_path, with_a_stray, in_a_room])
def test_what_looks_like_two_paths_and_is_none(drawn: Drawn) -> None:
    assert told(drawn) == []


@pytest.mark.parametrize("changed", [{"sources": 2}, {"sinks": 2}, {"subflows_used": 2}])
def test_flows_of_several_hosts_or_subflows_take_no_part(changed: dict[str, int]) -> None:
    assert told(hashed, **changed) == []


def test_paths_are_told_where_nothing_says_what_flows_carried() -> None:
    [one] = told(lambda number, generator: [(least, 0) for least, _ in hashed(number, generator)])
    assert one.effect is None
    assert "carries" not in one.claim


def test_three_paths_are_listed_the_shortest_first() -> None:
    places = [10_000, 20_000, 20_100, 40_000]
    [one] = told(lambda _number, _generator: [(least, least) for least in places])
    listed = "10 ms (10 of 40 flows), 20 ms to 20.1 ms (20) or 40 ms (10), as where"
    assert f"in 10 trials: their minimum round trips are {listed}" in one.claim
    assert (
        "A flow on the longest carries 4.00 times (300 % [300, 300]) what one on the shortest does"
        in one.claim
    )


def test_the_least_round_trip_of_each_flow_is_the_kernels() -> None:
    trial = make_trial(flows=2, window_bytes=1 << 18)
    tenth = SECOND_NS // 10
    told_us = {0: [RTT_UNKNOWN_US, 21_000, 20_000], 1: [36_000, 36_000, 36_500]}
    rows = [
        {"role": "source", "flow": flow, "start_ns": index * tenth, "end_ns": (index + 1) * tenth, "bytes": 1}
        | {"min_rtt_us": least, "bytes_acked": 1_000 * (index + 1)}
        for flow, leasts in told_us.items()
        for index, least in enumerate(leasts)
    ]
    rows.append({"role": "sink", "flow": 0, "start_ns": 0, "end_ns": tenth, "bytes": 1, "min_rtt_us": 5})
    outcome = TrialOutcome(record=make_record(trial), samples=make_samples(rows), flows=make_flows([]))
    trial_id = outcome.record.trial_id
    found = least_round_trips(tables_of([outcome]).samples).order_by("flow").to_pyarrow().to_pylist()
    assert found == [
        {"trial_id": trial_id, "flow": 0, "least_us": 20_000, "acked_bytes": 3_000},
        {"trial_id": trial_id, "flow": 1, "least_us": 36_000, "acked_bytes": 3_000},
    ]
