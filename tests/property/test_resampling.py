"""Resampling against a slow oracle in exact fractions: conservation, coverage, completeness."""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import floor
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from analysis_support import make_flows, make_outcome, make_record, make_samples, make_trial
from flowsweep.analysis import bins, intervals
from flowsweep.analysis.binning.alignment import flow_starts, kept_starts
from flowsweep.analysis.binning.byte_balance import balance
from flowsweep.analysis.binning.interval_goodput import trial_intervals
from flowsweep.archive import tables_of
from flowsweep.run.outcome import TrialOutcome
from summary_support import summed

EXPECTED_BINS = 4
MS = 1_000_000
SAMPLE_NS = 100 * MS
MOST_BYTES = 1_000_000
"""Of a sample."""

Row = dict[str, Any]
Bins = dict[tuple[int, int], tuple[int, int]]
"""By flow and bin: bytes and covered nanoseconds."""

few = settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""Of whole campaigns: a query costs far more than a trial in it."""


def oracle(rows: list[Row], interval_ns: int, omit_ns: int, origins: list[int]) -> Bins:
    """Resample one trial, one nanosecond edge after the other, in exact fractions.

    `origins`: where each flow's own times begin.
    """
    rows = [row | {name: row[name] + origins[row["flow"]] for name in ("start_ns", "end_ns")} for row in rows]
    firsts: dict[int, int] = {}
    for row in rows:
        firsts[row["flow"]] = min(row["start_ns"], firsts.get(row["flow"], row["start_ns"]))
    origin = max(firsts.values(), default=0) + omit_ns
    counts: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0])
    for row in rows:
        start, end, total = row["start_ns"], row["end_ns"], row["bytes"]
        if start == end:
            counts[row["flow"], (start - origin) // interval_ns][0] += total
        at = start
        while at < end:
            index = (at - origin) // interval_ns
            until = min(end, origin + (index + 1) * interval_ns)
            length = end - start
            count = floor(Fraction(total * (until - start), length)) - floor(
                Fraction(total * (at - start), length)
            )
            counts[row["flow"], index][0] += count
            counts[row["flow"], index][1] += until - at
            at = until
    return {key: (total, covered) for key, (total, covered) in counts.items()}


@st.composite
def flow_rows(draw: st.DrawFn, flow: int, longest_ns: int, most_bytes: int) -> list[Row]:
    """Rows of one flow: in order, without overlap, some of no length, some with a gap before them."""
    at = draw(st.integers(-3 * longest_ns, 3 * longest_ns))
    rows: list[Row] = []
    for _ in range(draw(st.integers(1, 8))):
        at += draw(st.sampled_from([0, 0, 0, 1, longest_ns // 3]))
        length = draw(st.one_of(st.integers(0, 3), st.integers(0, longest_ns)))
        count = draw(st.integers(0, most_bytes))
        rows.append({"role": "sink", "flow": flow, "start_ns": at, "end_ns": at + length, "bytes": count})
        at += length
    return rows


@dataclass(frozen=True)
class Drawn:
    """A trial that hypothesis came up with."""

    rows: list[Row]
    interval_ns: int
    omit_ns: int
    flows: int
    """How many it should have had."""
    origins: list[int] = field(default_factory=lambda: [0])
    """Where the times of each flow's sink begin."""

    def outcome(self, repeat: int) -> TrialOutcome:
        duration_ns = self.omit_ns + EXPECTED_BINS * self.interval_ns
        trial = make_trial(
            repeat=repeat,
            flows=self.flows,
            interval_ns=self.interval_ns,
            omit_ns=self.omit_ns,
            duration_ns=duration_ns,
        )
        totals: dict[int, int] = defaultdict(int)
        for row in self.rows:
            totals[row["flow"]] += row["bytes"]
        flows = [
            {"role": role, "flow": flow, "bytes": total, "origin_ns": origin_ns}
            for flow, total in totals.items()
            # Of a source's axis the bins know nothing.
            for role, origin_ns in (("source", -12_345), ("sink", self.origins[flow]))
        ]
        return TrialOutcome(make_record(trial), make_samples(self.rows), make_flows(flows))


@st.composite
def trials(draw: st.DrawFn) -> Drawn:
    scale = draw(st.sampled_from([1, 1_000, 1_000_000_000]))
    interval_ns = draw(st.integers(1, 20)) * scale + draw(st.sampled_from([0, 1]))
    omit_ns = draw(st.one_of(st.just(0), st.integers(0, 4 * interval_ns)))
    present = draw(st.integers(1, 4))
    longest_ns = draw(st.sampled_from([interval_ns // 4 + 1, interval_ns, 7 * interval_ns]))
    most_bytes = draw(st.sampled_from([10, 10**6, 10**13]))
    rows = [row for flow in range(present) for row in draw(flow_rows(flow, longest_ns, most_bytes))]
    origins = draw(st.lists(st.integers(0, 5 * interval_ns), min_size=present, max_size=present))
    return Drawn(rows, interval_ns, omit_ns, present + draw(st.sampled_from([0, 0, 1])), origins)


def rows_of(table: Any) -> list[tuple[Any, ...]]:
    rows = table.to_pyarrow().to_pylist()
    return sorted(tuple(sorted(row.items())) for row in rows)


def by_trial(table: Any) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in table.to_pyarrow().to_pylist():
        found[row["trial_id"]].append(row)
    return found


@few
@given(st.lists(trials(), min_size=1, max_size=24))
def test_every_byte_lands_in_its_bin_and_a_bin_counts_only_if_all_flows_cover_it(drawn: list[Drawn]) -> None:
    outcomes = [one.outcome(repeat) for repeat, one in enumerate(drawn, start=1)]
    tables = tables_of(outcomes)
    resampled = bins(tables.samples, tables.trials, tables.flows)
    found, summed = by_trial(resampled), by_trial(intervals(resampled, tables.trials))
    checked = by_trial(balance(tables.flows, tables.samples, resampled))
    starts = flow_starts(tables.samples, tables.flows)
    assert rows_of(kept_starts(tables)) == rows_of(starts)
    at_once = by_trial(trial_intervals(tables.samples, tables.trials, starts))
    torn_trials = starts.filter(~starts.gapless)
    whole = starts.anti_join(torn_trials, "trial_id")
    shorter = by_trial(trial_intervals(tables.samples, tables.trials, whole, gapless=True))
    for one, outcome in zip(drawn, outcomes, strict=True):
        trial_id = outcome.record.trial_id
        exact = oracle(one.rows, one.interval_ns, one.omit_ns, one.origins)
        assert as_bins(found[trial_id]) == exact
        assert {row["flow"] for row in checked[trial_id]} == {row["flow"] for row in one.rows}
        for row in checked[trial_id]:
            assert row["bytes_binned"] == row["bytes_sampled"] == row["bytes_read"] == row["bytes_sent"]
            assert row["balanced"]
        for row in summed[trial_id]:
            cells = [exact[flow, row["bin"]] for flow in range(one.flows) if (flow, row["bin"]) in exact]
            covering = sum(covered == one.interval_ns for _, covered in cells)
            assert row["bytes"] == sum(count for count, _ in cells)
            assert row["flows_covering"] == covering
            assert row["complete"] == (covering == one.flows and 0 <= row["bin"] < EXPECTED_BINS)
        names = ("bin", "bytes", "complete")
        assert only(at_once[trial_id], names) == only(summed[trial_id], names)
        if trial_id in shorter:
            assert only(shorter[trial_id], names) == only(summed[trial_id], names)
    event(f"trials without gaps: {len(shorter)}")


def only(rows: list[Row], names: Sequence[str]) -> list[tuple[Any, ...]]:
    return sorted(tuple(row[name] for name in names) for row in rows)


def as_bins(rows: list[Row]) -> Bins:
    found = {(row["flow"], row["bin"]): (row["bytes"], row["covered_ns"]) for row in rows}
    assert len(found) == len(rows)
    return found


@st.composite
def torn(draw: st.DrawFn) -> tuple[int, list[int]]:
    """How many flows steady traffic has, and which of its sink's samples are missing."""
    return draw(st.integers(1, 3)), draw(st.lists(st.integers(0, 10_000), max_size=4))


@few
@given(st.lists(torn(), min_size=1, max_size=24))
def test_what_is_missing_lowers_coverage_never_goodput(drawn: list[tuple[int, list[int]]]) -> None:
    """Steady traffic is alike in every complete interval: goodput is exact or absent, whatever is missing."""
    outcomes = [
        without(make_outcome(make_trial(repeat=repeat, flows=flows, omit_ns=0)), gone)
        for repeat, (flows, gone) in enumerate(drawn, start=1)
    ]
    rows = summed(*outcomes)
    for row, (flows, gone) in zip(rows, drawn, strict=True):
        assert row["coverage"] == row["bins"] / 5
        assert row["status"] == ("incomplete" if gone else "ok")
        if row["bins"] >= 3:
            # Flows start apart, so that bins cut samples: a byte of each flow may fall on either side.
            assert row["goodput_bps"] == pytest.approx(flows * 100_000_000, abs=flows * 8)
        else:
            assert row["goodput_bps"] is None


def without(outcome: TrialOutcome, gone: list[int]) -> TrialOutcome:
    rows = outcome.samples.to_pylist()
    sink = [index for index, row in enumerate(rows) if row["role"] == "sink"]
    missing = {sink[number % len(sink)] for number in gone}
    return replace(
        outcome, samples=make_samples(row for index, row in enumerate(rows) if index not in missing)
    )


@pytest.mark.parametrize("length_ns", [2**31 + 7, 2**37 - 1, 2**40 + 12345])
@pytest.mark.parametrize("count", [2**40 + 1, 2**50 - 1, 3])
def test_products_beyond_64_bits_are_exact(length_ns: int, count: int) -> None:
    rows = [{"role": "sink", "flow": 0, "start_ns": 17, "end_ns": 17 + length_ns, "bytes": count}]
    one = Drawn(rows, interval_ns=length_ns // 7 + 3, omit_ns=5, flows=1)
    tables = tables_of([one.outcome(1)])
    found = bins(tables.samples, tables.trials, tables.flows).to_pyarrow().to_pylist()
    assert as_bins(found) == oracle(rows, one.interval_ns, one.omit_ns, [0])


@st.composite
def mistaken(draw: st.DrawFn) -> tuple[Drawn, Drawn]:
    """A trial of several sinks whose clocks are known, and the same trial had they been estimated wrong."""
    flows, numbers = draw(st.integers(2, 3)), random.Random(draw(st.integers(0, 1000)))
    rows = [
        {"role": "sink", "flow": flow, "bytes": numbers.randint(0, MOST_BYTES)}
        | {"start_ns": flow * 3 * MS + index * SAMPLE_NS, "end_ns": flow * 3 * MS + (index + 1) * SAMPLE_NS}
        for flow in range(flows)
        for index in range(45)
    ]
    known = draw(st.lists(st.integers(0, 500 * MS), min_size=flows, max_size=flows))
    errors = draw(st.lists(st.integers(-20 * MS, 20 * MS), min_size=flows, max_size=flows))
    wrong = [origin + error for origin, error in zip(known, errors, strict=True)]
    right = Drawn(rows, interval_ns=1000 * MS, omit_ns=0, flows=flows, origins=known)
    return right, replace(right, origins=wrong)


@pytest.mark.long
@settings(few, max_examples=10)
@given(mistaken())
def test_a_wrong_estimate_of_clocks_moves_bytes_by_no_more_than_it_is_wrong(
    drawn: tuple[Drawn, Drawn],
) -> None:
    """What a bin of a flow gains or loses is at most what the flow carries in that time."""
    outcomes = [one.outcome(repeat) for repeat, one in enumerate(drawn, start=1)]
    tables = tables_of(outcomes)
    found = by_trial(bins(tables.samples, tables.trials, tables.flows))
    right, wrong = (as_bins(found[outcome.record.trial_id]) for outcome in outcomes)
    errors = [other - origin for origin, other in zip(drawn[0].origins, drawn[1].origins, strict=True)]
    # The trial's axis begins with its last flow, and is wrong by as much as that one at most.
    most = MOST_BYTES * (max(errors) - min(errors)) // SAMPLE_NS + 2
    for key in right.keys() | wrong.keys():
        assert abs(right.get(key, (0, 0))[0] - wrong.get(key, (0, 0))[0]) <= most
    assert sum(count for count, _ in wrong.values()) == sum(count for count, _ in right.values())
