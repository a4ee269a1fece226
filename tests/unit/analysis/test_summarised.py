"""Summing up in parts, and what the summary takes from samples, against ways that are slow and plain."""

import random

import ibis
import pyarrow as pa
import pytest

from analysis_support import SECOND_NS, Row, make_campaign, make_flows, make_record, make_samples, make_trial
from flowsweep.analysis import flow_states, summarised, summary
from flowsweep.analysis.binning.alignment import flow_starts
from flowsweep.analysis.quantiles import (
    for_median,
    for_nearest_rank,
    median_of,
    middle,
    nearest_rank,
    nearest_rank_of,
)
from flowsweep.analysis.tests.tcp.flow_totals import flow_totals
from flowsweep.archive import Tables, tables_of
from flowsweep.run.outcome import TrialOutcome

pytestmark = pytest.mark.whole

FLOWS = 3
SAMPLES = 40


@pytest.mark.long
@pytest.mark.parametrize("rows_at_a_time", [1, 500, 10**9])
def test_parts_of_any_size_make_the_same_summary(rows_at_a_time: int) -> None:
    tables = tables_of(make_campaign(flows=(1, 3), window_sums=(1 << 18,), repeats=2))
    whole = summary(tables).to_pyarrow()
    assert whole.num_rows == 8
    in_parts = summarised(tables, rows_at_a_time=rows_at_a_time).to_pyarrow()
    assert in_parts.to_pylist() == whole.to_pylist()


def test_an_archive_without_trials_has_an_empty_summary() -> None:
    assert summarised(tables_of([])).to_pyarrow().num_rows == 0


@pytest.mark.parametrize("resent", [0, 1], ids=["states come back", "runs"])
def test_recoveries_are_those_of_the_samples(resent: int) -> None:
    tables = _lossy(resent=resent)
    counted = flow_states(tables.samples, tables.trials, tables.flows).filter(ibis._.counted).to_pyarrow()
    rows = counted.to_pylist()
    starts = flow_starts(tables.samples, tables.flows)
    totals = flow_totals(tables.samples, tables.trials, starts).order_by("flow").to_pyarrow().to_pylist()
    assert len(totals) == FLOWS
    for total in totals:
        mine = [row for row in rows if row["flow"] == total["flow"]]
        lost = [row for row in mine if row["recoveries"]]
        assert lost
        assert total["recoveries"] == sum(row["recoveries"] for row in lost)
        assert total["losses_seen"] == len(lost)
        assert total["rtt_at_loss_us"] == sum(max(row["rtt_us"], row["rtt_before_us"] or 0) for row in lost)
        for name in ("sent_bytes", "retransmitted_bytes"):
            assert total[name] == sum(row[name] for row in mine)


@pytest.mark.parametrize("count", [1, 2, 9, 10, 11, 30, 101])
def test_selected_ranks_are_those_of_sorted_values(count: int) -> None:
    draw = random.Random(count)
    values = [draw.randint(0, 50) for _ in range(count)]
    rows = ibis.duckdb.connect().create_table("numbers", pa.table({"value": [*values, None]}))
    found = rows.aggregate(
        rank=nearest_rank_of(for_nearest_rank(rows.value, decile=9), decile=9),
        median=median_of(for_median(rows.value)),
    )
    collected = rows.aggregate(values=rows.value.collect())
    ordered = collected.mutate(values=collected["values"].sort())
    plain = ordered.select(rank=nearest_rank(ordered["values"], decile=9), median=middle(ordered["values"]))
    ranked = sorted(values)
    expected = {
        "rank": ranked[-(-count * 9 // 10) - 1],
        "median": (ranked[(count - 1) // 2] + ranked[count // 2]) / 2,
    }
    assert found.to_pyarrow().to_pylist() == plain.to_pyarrow().to_pylist() == [expected]


def test_ranks_of_no_values_are_null() -> None:
    rows = ibis.duckdb.connect().create_table("numbers", pa.table({"value": pa.array([None], pa.int64())}))
    found = rows.aggregate(
        rank=nearest_rank_of(for_nearest_rank(rows.value, decile=9), decile=9),
        median=median_of(for_median(rows.value)),
    )
    assert found.to_pyarrow().to_pylist() == [{"rank": None, "median": None}]


def _lossy(*, resent: int) -> Tables:
    """A trial whose flows recover now and then; without retransmissions the same states come back."""
    draw = random.Random(7)
    step_ns = SECOND_NS // 10
    rows: list[Row] = []
    for flow in range(FLOWS):
        again = 0
        for k in range(SAMPLES):
            recovers = draw.random() < 0.3
            again += resent if recovers else 0
            rows.append(
                {
                    "role": "source", "flow": flow, "bytes": 0, "start_ns": k * step_ns,
                    "end_ns": (k + 1) * step_ns, "ca_state": 3 if recovers and draw.random() < 0.5 else 0,
                    "rtt_us": draw.randint(1, 90_000), "total_retrans": again,
                    "bytes_sent": 1_000 * (k + again), "bytes_retrans": 1_000 * again,
                    "total_rto_recoveries": k // 15,
                }
            )  # fmt: skip
    ends = [{"role": role, "flow": flow, "bytes": 0} for role in ("source", "sink") for flow in range(FLOWS)]
    trial = make_trial(flows=FLOWS, omit_ns=SECOND_NS, duration_ns=3 * SECOND_NS)
    return tables_of([TrialOutcome(make_record(trial), make_samples(rows), make_flows(ends))])
