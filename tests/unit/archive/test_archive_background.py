"""An archive keeps the flows of background traffic apart from a trial's own."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from analysis_support import (
    SECOND_NS,
    Steady,
    make_end,
    make_flows,
    make_outcome,
    make_parameters,
    make_samples,
    make_trial,
    write_archive,
)
from flowsweep.analysis import summarised
from flowsweep.analysis.background.asked import background_asked_bps
from flowsweep.archive import Tables, read_archive, tables_of
from flowsweep.archive.parquet import NEEDED_FIELDS
from flowsweep.run.outcome import BackgroundRecord, TrialOutcome
from flowsweep.schedule.trial import BackgroundTraffic

OWN = Steady(bytes_per_second=10_000_000)
OTHER = Steady(bytes_per_second=2_500_000)


def beside(*, repeat: int = 1) -> TrialOutcome:
    """A trial of two flows, and three of background traffic."""
    parameters = make_parameters(flows=3)
    background = BackgroundTraffic(
        name="cross", src="a", dst="b", test="tcp", parameters=parameters, start_ns=0
    )
    trial = make_trial(flows=2, repeat=repeat).model_copy(update={"background": (background,)})
    own = make_outcome(trial, OWN)
    other = make_outcome(make_trial(flows=3), OTHER)
    samples = [row | {"flow": row["flow"] + 2} for row in other.samples.to_pylist()]
    flows = [
        row | {"flow": row["flow"] + 2, "background": "cross", "cpu_user_us": 5_000_000}
        for row in other.flows.to_pylist()
    ]
    return replace(
        own,
        samples=pa.concat_tables([own.samples, make_samples(samples)]),
        flows=pa.concat_tables([own.flows, make_flows(flows)]),
        cpu=_cpu(),
    )


def _cpu() -> pa.Table:
    row = {
        "role": "sink", "host": "b", "peer": "a", "start_ns": 0, "end_ns": SECOND_NS, "user_us": 1,
        "system_us": 0, "busy_us": 1, "kind": "thread",
    }  # fmt: skip
    rows = [row | {"id": flow} for flow in range(5)] + [row | {"id": 3, "kind": "core"}]
    return pa.Table.from_pylist(rows, schema=pa.schema(NEEDED_FIELDS["cpu"]))


@pytest.fixture(params=["memory", "disk"])
def tables(request: pytest.FixtureRequest, tmp_path: Path) -> Tables:
    outcomes = [beside(), make_outcome(make_trial(flows=4), OWN)]
    if request.param == "memory":
        return tables_of(outcomes)
    return read_archive(write_archive(tmp_path / "archive", outcomes)).tables()


@pytest.mark.parametrize(("sink", "bound_ns"), [("b", None), ("c", 9_000)])
def test_clocks_are_told_to_agree_where_several_sinks_are_timed(sink: str, bound_ns: int | None) -> None:
    """Those of background traffic are, too."""
    ends = {
        "source": make_end("a", window_bytes=None, clock_bound_ns=4_000),
        "sink": make_end(sink, window_bytes=None, clock_bound_ns=9_000),
    }
    outcome = beside()
    record = outcome.record.model_copy(update={"background": (BackgroundRecord(name="cross", **ends),)})
    trials = tables_of([replace(outcome, record=record)]).trials
    assert trials.clock_bound_ns.to_pyarrow().to_pylist() == [bound_ns]


def test_every_table_holds_a_trials_own_flows_only(tables: Tables) -> None:
    flows = {"samples": "flow", "flows": "flow"}
    trial_id = beside().record.trial_id
    for name, column in flows.items():
        rows = getattr(tables, name)
        assert set(rows.filter(rows.trial_id == trial_id)[column].to_pyarrow().to_pylist()) == {0, 1}
        others = rows.filter(rows.trial_id != trial_id)[column].to_pyarrow().to_pylist()
        assert set(others) == {0, 1, 2, 3}
        apart = getattr(tables, f"background_{name}")
        assert set(apart[column].to_pyarrow().to_pylist()) == {2, 3, 4}
        assert apart.columns == rows.columns
    cpu = [(row["kind"], row["id"]) for row in tables.cpu.to_pyarrow().to_pylist()]
    assert sorted(cpu) == [("core", 3), ("thread", 0), ("thread", 1)]


def test_a_summary_tells_of_the_trials_own_flows(tables: Tables) -> None:
    rows = {row["trial_id"]: row for row in summarised(tables).to_pyarrow().to_pylist()}
    row = rows[beside().record.trial_id]
    assert (row["status"], row["flows"], row["bins"]) == ("ok", 2, 4)
    assert row["goodput_bps"] == 2 * 10_000_000 * 8
    assert row["cpu_recv"] == pytest.approx(0.1)


def test_without_background_traffic_nothing_is_filtered() -> None:
    whole = tables_of([make_outcome(make_trial(flows=4), OWN)])
    assert "own_flows" not in str(whole.samples)
    assert type(whole.samples.op()).__name__ == "DatabaseTable"
    assert whole.background_samples.count().to_pyarrow().as_py() == 0


@pytest.mark.parametrize(
    ("rates", "asked"), [((5_000_000,), [15_000_000]), ((5_000_000, None), []), ((None,), []), ((), [])]
)
def test_what_background_traffic_asks_for_is_known_where_all_of_it_has_a_rate(
    rates: tuple[int | None, ...], asked: list[int]
) -> None:
    """Three flows each."""
    background = tuple(
        BackgroundTraffic(
            name=f"cross{number}", src="a", dst="b", test="tcp",
            parameters=make_parameters(flows=3, rate_bps=rate_bps), start_ns=0,
        )
        for number, rate_bps in enumerate(rates)
    )  # fmt: skip
    trial = make_trial(flows=2).model_copy(update={"background": background})
    tables = tables_of([make_outcome(trial, OWN)])
    assert list(background_asked_bps(tables.trials).values()) == asked


def test_traffic_with_pauses_asks_for_its_rate_times_the_share_of_the_time_that_it_sends() -> None:
    """Three bursts of 500 ms at 20 Mbit/s, of the 4 s from the first of them to the end of the trial."""
    background = tuple(
        BackgroundTraffic(
            name="bursts", src="a", dst="b", test="tcp", burst=number,
            start_ns=10**9 + number * 1_200_000_000,
            parameters=make_parameters(flows=1, rate_bps=20_000_000, duration_ns=500_000_000),
        )
        for number in range(3)
    )  # fmt: skip
    trial = make_trial(flows=2).model_copy(update={"background": background})
    assert trial.parameters.duration_ns == 5 * 10**9
    tables = tables_of([make_outcome(trial, OWN)])
    assert list(background_asked_bps(tables.trials).values()) == [7_500_000]
