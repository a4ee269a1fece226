"""Goodput of every interval, against numbers done by hand."""

import pytest

from analysis_support import SECOND_NS, make_flows, make_record, make_samples, make_trial
from flowsweep.analysis import bins, interval_goodputs, intervals
from flowsweep.archive.tables import Tables, tables_of
from flowsweep.run.outcome import TrialOutcome

BYTES_OF_SECOND = (125_000, 250_000, 1_000_000, 500_000, 750_000, 875_000)
"""1, 2, 8, 4, 6 and 7 Mbit/s, after a second that is omitted."""


@pytest.fixture(scope="module")
def tables() -> Tables:
    trial = make_trial(duration_ns=7 * SECOND_NS, omit_ns=SECOND_NS, sample_interval_ns=SECOND_NS)
    rows = [
        {"role": "sink", "flow": 0, "start_ns": second * SECOND_NS, "end_ns": (second + 1) * SECOND_NS}
        | {"bytes": count}
        for second, count in enumerate((0, *BYTES_OF_SECOND, 9))
    ]
    ends = [{"role": role, "flow": 0, "bytes": sum(BYTES_OF_SECOND) + 9} for role in ("source", "sink")]
    return tables_of(
        [TrialOutcome(record=make_record(trial), samples=make_samples(rows), flows=make_flows(ends))]
    )


def test_each_complete_interval_has_its_goodput(tables):
    totals = intervals(bins(tables.samples, tables.trials, tables.flows), tables.trials)
    found = interval_goodputs(totals, tables.trials).to_pyarrow().to_pylist()
    assert [(row["bin"], row["goodput_bps"]) for row in found] == list(
        enumerate((1e6, 2e6, 8e6, 4e6, 6e6, 7e6))
    )
