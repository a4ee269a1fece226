"""Traffic that was to run beside a trial, and began so early or late that it ran beside part of it."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from analysis_support import make_end, make_flows, make_parameters, make_record, make_trial
from flowsweep.defaults import SECOND_NS
from flowsweep.run.outcome import TrialOutcome
from flowsweep.run.overlap import background_apart
from flowsweep.run.results import simultaneous
from flowsweep.schedule import RttParameters, Trial
from flowsweep.schedule.trial import BackgroundTraffic

TEN = {"duration_ns": 10 * SECOND_NS, "omit_ns": 0}
PAD_S = 0.1
ORIGIN_NS = 1_000 * SECOND_NS


def direction(
    src: str,
    dst: str,
    *begun_s: float,
    end_s: float | None = None,
    clock_s: float = 0,
    bound_s: float = 0,
    **parameters: Any,
) -> TrialOutcome:
    """A trial of which a flow each begins at these times, by the controller's clock.

    Its source counts the duration from `end_s` on: from when it knew that all its flows ran.
    """
    trial = make_trial(src=src, dst=dst, simultaneous=True, flows=len(begun_s), **(TEN | parameters))
    clock_ns = round(clock_s * SECOND_NS)
    sink = make_end(
        dst, peer=src, window_bytes=None, origin_unix_ns=ORIGIN_NS + clock_ns, clock_offset_ns=clock_ns
    )
    record = make_record(trial).model_copy(update={"sinks": (sink,)})
    rows = [
        {
            "role": role, "flow": flow, "bytes": 1, "first_byte_ns": round(begun * SECOND_NS),
            "clock_bound_ns": round(bound_s * SECOND_NS),
            "end_ns": round(((max(begun_s) if end_s is None else end_s) + PAD_S) * SECOND_NS)
            + trial.parameters.duration_ns,
        }
        for flow, begun in enumerate(begun_s)
        for role in ("source", "sink")
    ]  # fmt: skip
    return TrialOutcome(record=record, samples=pa.table({}), flows=make_flows(rows))


def words(*outcomes: TrialOutcome) -> list[str | None]:
    """What is said of each direction."""
    settled = simultaneous(outcomes)
    failures = [outcome.record.failure for outcome in settled]
    assert [one.record.status for one in settled] == ["incomplete" if one else "ok" for one in failures]
    assert {one.kind for one in failures if one is not None} <= {"not_simultaneous"}
    return [None if one is None else one.message for one in failures]


@pytest.mark.parametrize("apart_s", [0, 0.3, 0.9])
def test_directions_may_begin_a_little_apart(apart_s: float) -> None:
    assert words(direction("a", "b", 0), direction("b", "a", apart_s)) == [None, None]


def test_a_direction_that_began_late_leaves_both_incomplete() -> None:
    there, back = words(direction("a", "b", 0), direction("b", "a", 3))
    beside = "at the same time: its flow ran beside what counts of this trial for at most"
    assert there == f"the trial from b to a, {beside} 7 s of 10 s"
    assert back == f"the trial from a to b, {beside} 7.10 s of 10 s"


def test_a_direction_that_sent_for_longer_since_it_was_told_late_counts_for_longer() -> None:
    there, back = words(direction("a", "b", 0, end_s=3), direction("b", "a", 3))
    assert there is not None
    assert back is None


def test_a_short_trial_is_not_judged_by_one_lost_packet() -> None:
    second = {"duration_ns": SECOND_NS}
    assert words(direction("a", "b", 0, **second), direction("b", "a", 0.4, **second)) == [None, None]
    assert None not in words(direction("a", "b", 0, **second), direction("b", "a", 0.8, **second))


def test_one_late_flow_of_many_counts_for_little() -> None:
    there, back = words(direction("a", "b", 0), direction("b", "a", *[0] * 9, 4))
    assert there is None
    assert back is not None  # What counts of it begins with its last flow, and goes on alone.
    half, _ = words(direction("a", "b", 0), direction("b", "a", 0, 4))
    assert half is not None
    assert half.endswith("its flows ran beside what counts of this trial for at most 8 s of 10 s on average")


def test_what_is_omitted_may_be_alone() -> None:
    there, back = words(
        direction("a", "b", 0, omit_ns=3 * SECOND_NS), direction("b", "a", 3, omit_ns=3 * SECOND_NS)
    )
    assert there is None
    assert back is not None
    assert back.endswith("4.10 s of 7 s")


def test_beginnings_are_compared_by_the_controllers_clock() -> None:
    assert words(direction("a", "b", 0), direction("b", "a", 0, clock_s=60)) == [None, None]


def test_clocks_that_may_be_wrong_leave_it_open() -> None:
    apart = direction("b", "a", 3, bound_s=2)
    assert words(direction("a", "b", 0, bound_s=0.1), apart) == [None, None]
    assert None not in words(direction("a", "b", 0, bound_s=0.1), direction("b", "a", 3, bound_s=0.1))


def test_one_direction_is_compared_with_nothing() -> None:
    assert words(direction("a", "b", 0, 9)) == [None]


def cross(start_s: float, duration_s: float, *, burst: int | None = None) -> BackgroundTraffic:
    """Traffic from "c" to "b"."""
    parameters = make_parameters(duration_ns=round(duration_s * SECOND_NS), omit_ns=0, flows=2)
    return BackgroundTraffic(
        name="cross", src="c", dst="b", test="tcp", parameters=parameters,
        start_ns=round(start_s * SECOND_NS), burst=burst,
    )  # fmt: skip


def background_words(traffic: BackgroundTraffic, begun_s: float, own_begun_s: float = 0) -> str | None:
    """What is said of background traffic whose last flow began then, from the trial's start on."""
    trial: Trial = make_trial(**TEN).model_copy(update={"background": (traffic,)})
    rows = [
        {"role": "sink", "flow": 0, "bytes": 1, "first_byte_ns": round(own_begun_s * SECOND_NS)},
        *(
            {
                "role": "sink", "flow": 1 + flow, "bytes": 1, "background": "cross", "host": "b", "peer": "c",
                "first_byte_ns": round(begun * SECOND_NS),
                "end_ns": round((begun_s + PAD_S) * SECOND_NS) + traffic.parameters.duration_ns,
            }
            for flow, begun in enumerate([begun_s, begun_s])
        ),
    ]  # fmt: skip
    failure = background_apart(trial, make_flows(rows))
    return None if failure is None else failure.message


def test_background_traffic_that_began_late_ran_beside_part_of_the_trial() -> None:
    assert background_words(cross(0, 10), 0.9) is None
    ran = "its flows ran beside what counts of this trial for at most 6 s of 10 s on average"
    expected = f"background traffic cross from c to b: {ran}"
    assert background_words(cross(0, 10), 4) == expected


def test_background_traffic_that_ended_before_the_trial_did() -> None:
    assert background_words(cross(0, 10), 0, own_begun_s=0.5) is None
    assert "6.10 s of 10 s" in (background_words(cross(0, 10), 0, own_begun_s=4) or "")


def test_background_traffic_of_a_part_of_the_trial_may_come_later() -> None:
    assert background_words(cross(2, 3), 2) is None
    assert background_words(cross(2, 3), 5) is None
    assert "1.50 s of 3 s" in (background_words(cross(2, 3), 8.5) or "")


def test_a_rate_that_sends_seldom_begins_when_its_first_block_is_due() -> None:
    seldom = cross(0, 10)
    slow = seldom.model_copy(update={"parameters": seldom.parameters.model_copy(update={"rate_bps": 20_000})})
    assert background_words(seldom, 2) is not None
    assert background_words(slow, 2) is None


def test_a_flow_without_a_first_byte_leaves_it_open() -> None:
    late = direction("b", "a", 3)
    unknown = late.flows.set_column(
        late.flows.schema.get_field_index("first_byte_ns"), "first_byte_ns", pa.nulls(2, pa.int64())
    )
    assert words(direction("a", "b", 0), replace(late, flows=unknown)) == [None, None]


def test_bursts_and_probes_are_not_asked() -> None:
    assert background_words(cross(0, 10, burst=1), 4) is None
    probe = RttParameters(
        duration_ns=10 * SECOND_NS, echo="auto", sizes_bytes=(64,), every_ns=SECOND_NS, poisson=False, seed=1,
        timeout_ns=SECOND_NS, dscp=None,
    )  # fmt: skip
    asked = BackgroundTraffic(name="cross", src="c", dst="b", test="rtt", parameters=probe, start_ns=0)
    assert background_words(asked, 4) is None
