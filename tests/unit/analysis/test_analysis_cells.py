"""Cells: the trials of one point put together, from tables and from rows alike."""

import statistics
from dataclasses import replace
from itertools import pairwise
from typing import Any

import ibis
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis_support import make_campaign
from flowsweep.analysis import cells, points
from flowsweep.analysis.grid_rows import POINT_COLUMNS, cells_of_rows, points_of_rows
from flowsweep.archive import tables_of
from flowsweep.run.outcome import TrialRecord
from report_support import failed, make_cells, make_row
from summary_support import summary_table


def only(rows: list[dict[str, Any]]) -> dict[str, Any]:
    ordered = [row | {"order_index": index} for index, row in enumerate(rows)]
    schema = pa.Table.from_pylist(ordered).schema
    goodput = schema.get_field_index("goodput_bps")
    schema = schema.set(goodput, pa.field("goodput_bps", pa.float64()))
    (cell,) = cells(ibis.memtable(pa.Table.from_pylist(ordered, schema))).to_pyarrow().to_pylist()
    assert make_cells(rows) == [cell]
    return cell


@settings(max_examples=10, deadline=None)
@given(st.lists(st.floats(min_value=0, max_value=1e12), min_size=1, max_size=6))
def test_the_median_is_that_of_the_repeats(goodputs):
    cell = only([make_row(repeat=repeat, goodput_bps=rate) for repeat, rate in enumerate(goodputs, start=1)])
    assert cell["goodput_median_bps"] == pytest.approx(statistics.median(goodputs), rel=1e-12)
    assert (cell["goodput_lowest_bps"], cell["goodput_highest_bps"]) == (min(goodputs), max(goodputs))
    assert sorted(cell["goodputs_bps"]) == sorted(goodputs)
    assert (cell["repeats_ok"], cell["trials"]) == (len(goodputs), len(goodputs))


def test_what_is_not_ok_is_counted_and_left_out():
    rows = [
        make_row(repeat=1, goodput_bps=5e9),
        make_row(repeat=2, goodput_bps=1e9, status="incomplete"),
        make_row(repeat=3, goodput_bps=7e9),
        failed(make_row(repeat=4)),
    ]
    cell = only(rows)
    assert (cell["goodput_median_bps"], cell["repeats_ok"], cell["trials"]) == (6e9, 2, 4)


def test_a_point_without_a_good_trial_has_no_goodput():
    cell = only([make_row(goodput_bps=1e9, status="incomplete"), failed(make_row(repeat=2))])
    assert (cell["goodput_median_bps"], cell["goodputs_bps"], cell["repeats_ok"], cell["trials"]) == (
        None, None, 0, 2,
    )  # fmt: skip


@pytest.mark.parametrize(
    "changes", [{"dscp": 46}, {"affinity": [0, 1]}, {"window_recv_bytes": 1}, {"simultaneous": True}]
)
def test_points_are_told_apart_by_every_parameter(changes):
    found = make_cells([make_row(trial_id="one"), make_row(trial_id="other", **changes)])
    assert [cell["trials"] for cell in found] == [1, 1]


def test_a_campaign_has_a_cell_for_each_point_in_the_order_they_ran():
    campaign = make_campaign(repeats=2, flows=(1, 2), window_sums=(1 << 18, 1 << 20))
    tables = tables_of(campaign)
    table = cells(points(summary_table(tables), tables.trials))
    rows = table.to_pyarrow().to_pylist()
    assert set(POINT_COLUMNS) <= set(table.columns)
    assert [row["trials"] for row in rows] == [2] * 8
    assert all(before["order_index"] < after["order_index"] for before, after in pairwise(rows))
    assert rows[0]["goodput_median_bps"] == pytest.approx(52_428_800)
    assert rows[-1]["repeats_ok"] == 1


@pytest.mark.parametrize("sums", [(1 << 18, 1 << 20), ()])
def test_rows_are_put_together_as_tables_are(sums):
    """One trial answers for two window sums, where the plan has any."""
    campaign = make_campaign(repeats=2, flows=(1, 2), window_sums=sums or (1 << 18,))
    asked = [replace(one, record=asked_for(one.record, sums and (*sums, 1 << 30))) for one in campaign]
    tables = tables_of(asked)
    summed = summary_table(tables)
    expected = cells(points(summed, tables.trials)).to_pyarrow().to_pylist()
    parameters = {row["trial_id"]: row for row in tables.trials.to_pyarrow().to_pylist()}
    found = cells_of_rows(points_of_rows(summed.to_pyarrow().to_pylist(), parameters))
    assert found == expected
    assert len(found) == (24 if sums else 4)


def asked_for(record: TrialRecord, sums: tuple[int, ...]) -> TrialRecord:
    trial = record.trial.model_copy(update={"window_sums_asked_bytes": sums})
    return record.model_copy(update={"trial": trial})


def test_a_summary_is_enough_where_no_window_sum_was_asked_for():
    rows = [make_row(trial_id="one")]
    del rows[0]["window_sum_asked_bytes"]
    (cell,) = cells(ibis.memtable(pa.Table.from_pylist(rows))).to_pyarrow().to_pylist()
    assert "window_sum_asked_bytes" not in cell
    assert cell["trials"] == 1
