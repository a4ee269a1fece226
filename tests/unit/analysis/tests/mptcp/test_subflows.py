"""What the subflows of a trial are together, what each path carried, and what is no result."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from analysis_support import SECOND_NS
from flowsweep.analysis import summary
from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.analysis.statistics.observations import observations
from flowsweep.analysis.tests.mptcp.carried import PathRow
from flowsweep.analysis.tests.mptcp.findings import path_share_hypotheses
from flowsweep.analysis.tests.mptcp.paths import path_rates, path_rows
from flowsweep.archive import Tables
from flowsweep.archive.tables import tables_of
from flowsweep.cli.summary_rows import row_of_outcomes
from flowsweep.figures.drawing import FigureData
from flowsweep.figures.tests.mptcp.path_rates import drawn_path_rates
from flowsweep.run.outcome import TrialOutcome
from mptcp_support import SECONDS, make_mptcp_outcome, make_mptcp_trial

Row = dict[str, Any]
FIRST, SECOND = "10.0.0.1 → 10.0.0.2", "10.0.1.1 → 10.0.1.2"


def row_of(outcome: TrialOutcome) -> Row:
    """Of the summary, by the prepared statement, which a contract test compares with the analysis."""
    return row_of_outcomes([outcome])


@pytest.fixture(scope="module")
def told() -> tuple[Tables, list[Row]]:
    """Four repeats over both paths and one over the first alone, and their summary."""
    outcomes = [
        make_mptcp_outcome(make_mptcp_trial(repeat=repeat), [3_000_000 + 100_000 * repeat, 1_000_000])
        for repeat in range(1, 5)
    ]
    tables = tables_of([*outcomes, make_mptcp_outcome(make_mptcp_trial(subflows=1), [5_000_000])])
    return tables, summary(tables).to_pyarrow().to_pylist()


def test_subflows_add_up() -> None:
    carried = [3_000_000, 1_000_000]
    row = row_of(make_mptcp_outcome(make_mptcp_trial(), carried, retransmitted=5000, reinjected=70))
    assert row["goodput_mean_bps"] == 32_000_000
    assert (row["subflows_used"], row["busiest_path_share"], row["reinjected_bytes"]) == (2, 0.75, 70)
    assert (row["retransmits"], row["retransmitted_bytes"], row["rtt_min_ms"]) == (10, 10_000, 1.0)
    assert row["verdict"] is None


def test_bytes_are_retransmitted_in_the_time_that_counts_as_with_tcp() -> None:
    """Segments are of the whole connection."""
    whole = make_mptcp_outcome(make_mptcp_trial(omit_ns=SECOND_NS, duration_ns=3 * SECOND_NS), [3_000_000])
    rows = [
        row | {"bytes_retrans": 1000 * (at + 1), "total_retrans": at + 1}
        for at, row in enumerate(whole.of_tests["subflows"].to_pylist())
    ]
    rising = pa.Table.from_pylist(rows, schema=whole.of_tests["subflows"].schema)
    row = row_of(replace(whole, of_tests={"subflows": rising}))
    # Of four seconds the second and the third count.
    assert (row["retransmits"], row["retransmitted_bytes"]) == (4, 2000)


def test_sums_are_not_known_unless_every_flows_source_told_of_it() -> None:
    """Of two flows one has no rows, as of a host that died."""
    one = make_mptcp_outcome(make_mptcp_trial(flows=2), [3_000_000, 1_000_000], retransmitted=5000)
    subflows = one.of_tests["subflows"]
    field = subflows.schema.field("flow")
    index = subflows.schema.get_field_index("flow")
    other = subflows.set_column(index, field, pc.add(subflows["flow"], pa.scalar(1, field.type)))
    both = replace(one, of_tests={"subflows": pa.concat_tables([subflows, other])})
    names = (
        "subflows_used", "busiest_path_share", "reinjected_bytes", "retransmits", "retransmitted_bytes"
    )  # fmt: skip
    assert [row_of(one)[name] for name in names] == [None] * len(names)
    assert [row_of(both)[name] for name in names] == [4, 0.75, 0, 20, 20_000]


def test_a_subflow_that_carries_nothing_is_not_used() -> None:
    row = row_of(make_mptcp_outcome(make_mptcp_trial(subflows=2), [3_000_000, 0]))
    assert (row["subflows"], row["subflows_used"], row["busiest_path_share"]) == (2, 1, 1.0)


def test_a_rate_that_came_is_what_limited() -> None:
    row = row_of(make_mptcp_outcome(make_mptcp_trial(rate_bps=32_000_000), [3_000_000, 1_000_000]))
    assert row["verdict"] == "application rate"


def test_what_fell_back_has_no_goodput() -> None:
    row = row_of(make_mptcp_outcome(make_mptcp_trial(), [3_000_000], fell_back=True))
    assert (row["status"], row["goodput_bps"], row["goodput_mean_bps"]) == ("incomplete", None, None)
    assert "fell back to TCP" in row["error"]


def test_paths_are_pairs_of_addresses() -> None:
    outcome = make_mptcp_outcome(make_mptcp_trial(), [3_000_000, 1_000_000], retransmitted=5000)
    rows = path_rows(tables_of([outcome]))
    carried = {row["path"]: (row["path_bytes"], row["retransmitted_bytes"], row["share"]) for row in rows}
    assert carried == {FIRST: (12_000_000, 5000, 0.75), SECOND: (4_000_000, 5000, 0.25)}


def test_rates_are_of_whole_intervals_of_a_trial_with_most_subflows(told: tuple[Tables, list[Row]]) -> None:
    rates = path_rates(*told)
    assert len({row["trial_id"] for row in rates}) == 1
    by_path = {path: [row["rate_bps"] for row in rates if row["path"] == path] for path in (FIRST, SECOND)}
    assert by_path[FIRST] == [24_800_000] * (SECONDS - 1)
    assert by_path[SECOND] == [8_000_000] * (SECONDS - 1)
    assert [row["start_s"] for row in rates if row["path"] == FIRST] == [0, 1, 2]


def test_a_subflow_that_ended_carries_nothing_from_then_on() -> None:
    outcome = make_mptcp_outcome(make_mptcp_trial(), [3_000_000, 1_000_000])
    subflows = outcome.of_tests["subflows"]
    lives = pc.or_(pc.equal(subflows["subflow"], 1), pc.less_equal(subflows["end_ns"], 2 * SECOND_NS))
    ended = replace(outcome, of_tests={"subflows": subflows.filter(lives)})
    rates = path_rates(tables_of([ended]), [row_of(ended)])
    assert [row["rate_bps"] for row in rates if row["path"] == SECOND] == [8_000_000, 8_000_000, 0]


@pytest.mark.parametrize(("repeats", "interval"), [([1, 2], "none"), ([1, 2, 3, 4], "one")])
def test_a_finding_tells_the_shares(
    told: tuple[Tables, list[Row]], repeats: list[int], interval: str
) -> None:
    tables, rows = told
    rows = [row for row in rows if row["repeat"] in repeats]
    found = [
        hypothesis
        for observed in observations(rows)
        for hypothesis in path_share_hypotheses(observed, path_rows(tables))
    ]
    (hypothesis,) = found
    claim = hypothesis.say("described")
    assert claim.index(FIRST) < claim.index(SECOND)
    assert hypothesis.estimate.effect == pytest.approx(0.76, abs=0.01)
    assert (hypothesis.estimate.low is None) == (interval == "none")
    assert hypothesis.n == len(repeats)
    assert hypothesis.p_value is None


def test_paths_that_trials_do_not_share_are_not_counted_as_those_of_each() -> None:
    """Of two paths in each trial, of three in all, "3 paths carried" was said."""
    carried = [{"A": 0.6, "B": 0.4}, {"A": 0.5, "C": 0.5}, {"A": 1.0, "B": 0.0}]
    rows: list[Row] = [
        {"trial_id": str(n), "sweep": "s", "mode": None, "src": "a", "dst": "b", "order_index": n}
        | {"status": "ok", "goodput_bps": 1e6, "reinjected_bytes": 0, "simultaneous": False}
        for n, _ in enumerate(carried)
    ]
    paths = [
        PathRow(trial_id=str(n), path=path, path_bytes=int(share * 1e6), retransmitted_bytes=0, share=share)
        for n, own in enumerate(carried)
        for path, share in own.items()
    ]
    (observed,) = observations(rows)
    (found,) = path_share_hypotheses(observed, paths)
    assert found.say("described") == (
        "a → b: of the bytes that 2 paths in each trial, 3 in all, carried, A carried 55.0 %, C carried "
        "25.0 %, B carried 20.0 % (mean of 2 trials, whatever else varied; without 1 trial that used fewer "
        "paths)."
    )
    assert found.evidence == ("0", "1")


def test_one_path_is_no_finding(told: tuple[Tables, list[Row]]) -> None:
    tables, rows = told
    (observed,) = observations([row for row in rows if row["subflows"] == 1])
    assert path_share_hypotheses(observed, path_rows(tables)) == []


def test_the_figure_stacks_what_each_path_carried(told: tuple[Tables, list[Row]]) -> None:
    tables, rows = told
    data = FigureData(trials=rows, cells=(), path_rates=path_rates(tables, rows))
    (drawn,) = drawn_path_rates(data)
    assert drawn.key == FigureKey("paths", "paths", None, "a → b")
    assert [trace.name for trace in drawn.figure.data] == [FIRST, SECOND]
    assert {row["path"] for row in drawn.rows} == {FIRST, SECOND}
