"""What an archive keeps of the samples of each flow, against the samples, and where it does not."""

from dataclasses import replace

import pyarrow as pa

from analysis_support import Row, make_campaign, make_flows, make_record, make_samples, make_trial
from flowsweep.analysis.binning.alignment import flow_starts, kept_starts
from flowsweep.archive import Tables, tables_of
from flowsweep.archive.sampled_flows import SAMPLED_FIELDS, with_sampled
from flowsweep.run.outcome import TrialOutcome

NAMES = [field.name for field in SAMPLED_FIELDS]


def sample(role: str, flow: int, start_ns: int, end_ns: int, count: int) -> Row:
    return {"role": role, "flow": flow, "start_ns": start_ns, "end_ns": end_ns, "bytes": count}


SAMPLES = make_samples(
    [
        sample("sink", 1, 300, 400, 7),
        sample("source", 0, 5, 25, 1),
        sample("sink", 1, 200, 290, 5),
        sample("source", 0, 25, 30, 2),
    ]
)
ENDS: list[Row] = [
    {"role": role, "flow": flow, "bytes": 0, "origin_ns": 1_000 * flow}
    for role in ("source", "sink")
    for flow in (0, 1)
]


def test_flows_tell_what_their_samples_are_together() -> None:
    flows = make_flows(ENDS)
    told = with_sampled(flows, SAMPLES)
    assert told.select(flows.column_names).equals(flows)
    assert told.select(NAMES).to_pylist() == [
        dict(zip(NAMES, values, strict=True))
        for values in ((2, 5, 30, 25, 3), (0, *[None] * 4), (0, *[None] * 4), (2, 200, 400, 190, 12))
    ]


def test_flows_tell_nothing_where_one_of_the_sampled_is_not_among_them() -> None:
    told = with_sampled(make_flows(ENDS[:3]), SAMPLES)
    assert all(told[name].null_count == 3 for name in NAMES)


def of_flows(repeat: int, flows: pa.Table, samples: pa.Table = SAMPLES) -> TrialOutcome:
    return TrialOutcome(make_record(make_trial(repeat=repeat, flows=2)), samples, flows)


def rows_of(tables: Tables) -> tuple[list[Row], list[Row]]:
    """Both ways to find the starts, with their rows in one order."""
    found, asked = (
        table.order_by("trial_id", "role", "flow").to_pyarrow()
        for table in (kept_starts(tables), flow_starts(tables.samples, tables.flows))
    )
    assert found.schema == asked.schema
    return found.to_pylist(), asked.to_pylist()


def test_kept_starts_are_those_of_the_samples() -> None:
    kept = of_flows(1, make_flows(ENDS))
    # Of one trial an end did not report its flows, of another nobody did; a third has no samples.
    silent, unknown = of_flows(2, make_flows(ENDS[:3])), of_flows(3, make_flows([]))
    empty = of_flows(4, make_flows(ENDS), SAMPLES.slice(0, 0))
    found, asked = rows_of(tables_of([kept, silent, unknown, empty]))
    assert found == asked
    assert len(found) == 6
    at_kept = [row for row in found if row["trial_id"] == kept.record.trial_id]
    told = [(row["role"], row["flow"], row["at_ns"], row["gapless"]) for row in at_kept]
    assert told == [("sink", 1, 1_200, False), ("source", 0, 5, True)]


def test_older_archives_have_the_starts_of_their_samples() -> None:
    tables = tables_of(make_campaign(flows=(1, 3), window_sums=(1 << 18,), repeats=2))
    found, asked = rows_of(replace(tables, flows=tables.flows.drop(*NAMES)))
    assert found == asked != []
