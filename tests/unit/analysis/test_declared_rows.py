"""Rows of tables as they are declared are those that the tables have: who reads them takes their word."""

from collections.abc import Callable

import ibis
import ibis.expr.types as ir
import pytest

from analysis_support import Steady, make_outcome, make_trial
from flowsweep.analysis import bins, cells, core_loads, intervals, points, spacing_steps
from flowsweep.analysis.background.shares import ShareIntervalRow, ShareRow, series, shares, traffic_bins
from flowsweep.analysis.binning.alignment import kept_starts
from flowsweep.analysis.binning.interval_goodput import IntervalRow, interval_goodputs
from flowsweep.analysis.binning.shorter_durations import CutRow, durations_cut
from flowsweep.analysis.grid_rows import CellRow
from flowsweep.analysis.hosts import HostCounterRow
from flowsweep.analysis.row_schema import schema_of
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.tests.tcp.slow_start import SlowStartRow, slow_starts
from flowsweep.analysis.tests.tcp.slow_start_ends import SlowStartEndRow, slow_start_ends
from flowsweep.analysis.tests.udp.datagrams import SpacingRow
from flowsweep.archive import Tables, tables_of
from flowsweep.report.trial_details import CoreRow, FlowEndRow, trial_details

SUMMARY = ibis.table(ibis.Schema.from_pyarrow(schema_of(TrialRow)), name="summary")


@pytest.fixture(scope="module")
def tables() -> Tables:
    return tables_of([make_outcome(make_trial(), Steady())])


def totals(tables: Tables) -> ir.Table:
    return intervals(bins(tables.samples, tables.trials, tables.flows), tables.trials)


def types_of(schema: ibis.Schema) -> dict[str, str]:
    """A Python number is of one type, whichever the table has; null is allowed or not."""
    names = {"int8": "int64", "int16": "int64", "int32": "int64"}
    plain = {name: str(kind).lower().replace("!", "") for name, kind in schema.items()}
    return {name: names.get(kind, kind) for name, kind in plain.items()}


@pytest.mark.parametrize(
    ("declared", "table"),
    [
        (CellRow, lambda tables: cells(points(SUMMARY, tables.trials))),
        (IntervalRow, lambda tables: interval_goodputs(totals(tables), tables.trials)),
        (CutRow, lambda tables: durations_cut(totals(tables), tables.trials)),
        (
            SlowStartRow,
            lambda tables: slow_starts(tables.samples, tables.trials, kept_starts(tables), SUMMARY),
        ),
        (SlowStartEndRow, lambda tables: slow_start_ends(tables.samples, ["one"])),
        (ShareRow, lambda tables: shares(traffic_bins(tables), tables.trials)),
        (ShareIntervalRow, lambda tables: series(traffic_bins(tables), tables.trials)),
        (SpacingRow, lambda tables: spacing_steps(tables.histograms)),
        (CoreRow, lambda tables: core_loads(tables.cpu)),
        (HostCounterRow, lambda tables: tables.counters.select(*HostCounterRow.__annotations__)),
    ],
)
def test_a_table_has_the_columns_that_its_rows_declare(
    tables: Tables, declared: type, table: Callable[[Tables], ir.Table]
) -> None:
    wanted = ibis.Schema.from_pyarrow(schema_of(declared))
    assert types_of(table(tables).schema()) == types_of(wanted)


def test_the_end_of_a_flow_has_the_columns_that_it_declares(tables: Tables) -> None:
    [flows] = trial_details(tables).flows.values()
    assert all(row.keys() == FlowEndRow.__annotations__.keys() for row in flows)
