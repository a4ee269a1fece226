"""What a search for the plateau is told of a trial."""

import pyarrow as pa
import pytest

from flowsweep.defaults import SECOND_NS
from flowsweep.run.outcome import Decided
from flowsweep.run.searched import searched_bps
from flowsweep.schedule import Trial, schedule
from plan_support import plan_of

TRIAL: Trial = schedule(
    plan_of(
        'find = "plateau"\nflows = 2\nwindow = { from = "64KiB", to = "4MiB" }\n'
        'duration = "4s"\nomit = "1s"\ninterval = "1s"'
    ),
    1,
)[0].trials[0]


def samples(*rows: tuple[str, int, float, float, int]) -> pa.Table:
    """Rows of role, flow, beginning and end in seconds, and bytes."""
    return pa.table(
        {
            "role": [role for role, *_ in rows],
            "flow": [flow for _, flow, *_ in rows],
            "start_ns": [int(start * SECOND_NS) for _, _, start, _, _ in rows],
            "end_ns": [int(end * SECOND_NS) for _, _, _, end, _ in rows],
            "bytes": [size for *_, size in rows],
        }
    )


def test_it_is_the_mean_after_what_is_omitted_of_all_flows_together() -> None:
    steady = [("sink", flow, at + 0.5, at + 1.5, 1_000_000) for flow in (0, 1) for at in range(6)]
    slow_start = [("sink", 0, 0.0, 0.5, 7)]
    assert searched_bps(TRIAL, samples(*slow_start, *steady)) == pytest.approx(16_000_000)


def test_what_counts_begins_with_the_last_flow_and_ends_with_the_last_whole_interval() -> None:
    early = [("sink", 0, at, at + 1, 1_000_000 if 2 <= at < 5 else 9_000_000) for at in range(8)]
    late = [("sink", 1, at + 1, at + 2, 1_000_000 if 1 <= at < 4 else 9_000_000) for at in range(7)]
    assert searched_bps(TRIAL, samples(*early, *late)) == pytest.approx(16_000_000)


def test_sources_and_traffic_beside_do_not_count() -> None:
    own = [("sink", flow, at, at + 1, 1_000_000) for flow in (0, 1) for at in range(6)]
    beside = [("sink", 2, at, at + 1, 5_000_000) for at in range(6)]
    sent = [("source", 0, at, at + 1, 3_000_000) for at in range(6)]
    assert searched_bps(TRIAL, samples(*own, *beside, *sent)) == pytest.approx(16_000_000)


def test_a_trial_without_samples_tells_nothing() -> None:
    assert searched_bps(TRIAL, pa.table({})) == 0.0
    assert searched_bps(TRIAL, samples(("source", 0, 0.0, 1.0, 1))) == 0.0


def test_of_one_that_ended_when_it_knew_counts_what_its_source_counted() -> None:
    """From 2.5 s on, and whole intervals: until 4.5 s, although it lasted for 4.7 s."""
    rows = [
        ("sink", flow, at / 2, at / 2 + 0.5, 1 if at in (5, 6, 7, 8) else 9)
        for flow in (0, 1)
        for at in range(10)
    ]
    decided = Decided(
        counted_from_ns=5 * SECOND_NS // 2, ended_ns=47 * SECOND_NS // 10, half_width_share=0.01, held_by=None
    )
    assert searched_bps(TRIAL, samples(*rows), decided) == pytest.approx(32)
