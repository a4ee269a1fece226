"""Shares of a link and Jain's index, against hand computations."""

import pytest

from analysis_support import SECOND_NS, make_flows, make_parameters, make_record, make_samples, make_trial
from flowsweep.analysis.background.shares import OWN, series, shares, traffic_bins
from flowsweep.archive import tables_of
from flowsweep.run.outcome import TrialOutcome
from flowsweep.schedule.trial import BackgroundTraffic
from summary_support import summed

STEP_NS = SECOND_NS // 10


def outcome(
    own: list[int],
    beside: dict[str, list[int]],
    *,
    starts: dict[str, float],
    lasts_s: float = 6.0,
    probed: bool = False,
) -> TrialOutcome:
    """A trial of 5 s, of which 1 s is omitted: bytes a second of each flow; `starts` in seconds, by name.

    `probed`: with the flow of a probe, which has no samples.
    """
    background = tuple(
        BackgroundTraffic(
            name=name, src="a", dst="b", test="tcp", parameters=make_parameters(flows=len(rates)),
            start_ns=0,
        )
        for name, rates in beside.items()
    )  # fmt: skip
    trial = make_trial(flows=len(own)).model_copy(update={"background": background})
    rows, flows = [], []
    traffic = [(None, rate) for rate in own]
    traffic += [(name, rate) for name, rates in beside.items() for rate in rates]
    for flow, (name, rate) in enumerate(traffic):
        begin_ns = round(starts.get(name or "", 0.0) * SECOND_NS)
        steps = round(lasts_s * 10) - begin_ns // STEP_NS
        for role in ("source", "sink"):
            for step in range(steps):
                start_ns = begin_ns + step * STEP_NS
                rows.append(
                    {
                        "role": role, "flow": flow, "start_ns": start_ns, "end_ns": start_ns + STEP_NS,
                        "bytes": rate // 10,
                    }
                )  # fmt: skip
            flows.append({"role": role, "flow": flow, "background": name, "bytes": steps * (rate // 10)})
    if probed:
        probe = {"flow": len(traffic), "background": "probe", "bytes": 0}
        flows += [{"role": role, **probe} for role in ("source", "sink")]
    return TrialOutcome(make_record(trial), samples=make_samples(rows), flows=make_flows(flows))


def shared(*outcomes: TrialOutcome) -> list[dict]:
    tables = tables_of(outcomes)
    found = shares(traffic_bins(tables), tables.trials).order_by("trial_id", "traffic")
    return found.to_pyarrow().to_pylist()


def test_goodput_and_shares_are_those_of_the_common_time() -> None:
    own, cross = shared(outcome([7_000_000], {"cross": [2_000_000, 1_000_000]}, starts={"cross": 1.5}))
    assert (own["traffic"], cross["traffic"]) == (OWN, "cross")
    # All run from 1.5 s on, 1 s more is omitted: three whole seconds until 5.5 s.
    assert (own["intervals"], cross["intervals"], cross["flows"]) == (3, 3, 2)
    assert (own["goodput_bps"], cross["goodput_bps"]) == (56e6, 24e6)
    assert (own["share"], cross["share"]) == pytest.approx((0.7, 0.3))


def test_jains_index_is_over_flows_and_over_groups() -> None:
    own, cross = shared(outcome([7_000_000], {"cross": [2_000_000, 1_000_000]}, starts={}))
    assert own["jain_flows"] == cross["jain_flows"] == pytest.approx(10**2 / (3 * (49 + 4 + 1)))
    assert own["jain_groups"] == pytest.approx(10**2 / (2 * (49 + 9)))
    alike = shared(outcome([1_000_000], {"one": [1_000_000], "two": [1_000_000]}, starts={}))
    assert [(row["jain_flows"], row["jain_groups"]) for row in alike] == [(1.0, 1.0)] * 3


def test_a_probe_takes_no_part() -> None:
    rates, starts = {"cross": [2_000_000, 1_000_000]}, {"cross": 1.5}
    probed = shared(outcome([7_000_000], rates, starts=starts, probed=True))
    assert [row["traffic"] for row in probed] == [OWN, "cross"]
    assert probed == shared(outcome([7_000_000], rates, starts=starts))


def test_without_common_time_nothing_is_compared() -> None:
    assert shared(outcome([1_000_000], {"late": [1_000_000]}, starts={"late": 5.5})) == []


def test_the_summary_has_the_trials_own_share() -> None:
    mixed = outcome([7_000_000], {"cross": [2_000_000, 1_000_000]}, starts={})
    alone = outcome([3_000_000, 1_000_000], {}, starts={})
    single = outcome([3_000_000], {}, starts={})
    rows = {row["trial_id"]: row for row in summed(mixed, alone, single)}
    told = rows[mixed.record.trial_id]
    assert (told["background"], told["goodput_bps"]) == (["cross"], 56e6)
    assert (told["share"], told["jain_flows"]) == pytest.approx((0.7, 100 / 162))
    told = rows[alone.record.trial_id]
    assert (told["background"], told["share"], told["jain_groups"]) == ([], None, None)
    assert told["jain_flows"] == pytest.approx(16 / (2 * 10))
    assert rows[single.record.trial_id]["jain_flows"] is None


def bursts(own: int, rate: int, *, on_s: int, off_s: int, flows: int = 1) -> TrialOutcome:
    """A trial of 5 s beside traffic that sends on and off; the clock of each burst begins with it."""
    starts_s = range(0, 5, on_s + off_s)
    background = tuple(
        BackgroundTraffic(
            name="cross", src="a", dst="b", test="tcp", parameters=make_parameters(flows=flows),
            start_ns=start_s * SECOND_NS, burst=burst,
        )
        for burst, start_s in enumerate(starts_s)
    )  # fmt: skip
    trial = make_trial(flows=1, omit_ns=0).model_copy(update={"background": background})
    sent = [(0, None, own, 0, 6)]
    for burst, start_s in enumerate(starts_s):
        first, lasts_s = 1 + burst * flows, min(on_s, 5 - start_s)
        sent += [(first + flow, "cross", rate, start_s, lasts_s) for flow in range(flows)]
    samples, ends = [], []
    for flow, name, byte_rate, start_s, lasts_s in sent:
        for role in ("source", "sink"):
            samples += [
                {
                    "role": role, "flow": flow, "start_ns": step * STEP_NS, "end_ns": (step + 1) * STEP_NS,
                    "bytes": byte_rate // 10,
                }
                for step in range(lasts_s * 10)
            ]  # fmt: skip
            ends.append(
                {
                    "role": role, "flow": flow, "background": name, "bytes": lasts_s * byte_rate,
                    "origin_ns": start_s * SECOND_NS,
                }
            )  # fmt: skip
    return TrialOutcome(make_record(trial), samples=make_samples(samples), flows=make_flows(ends))


def test_pauses_count_and_bursts_are_of_the_same_flows() -> None:
    """On for 1 s of every 2 s: three of five seconds, by two flows at a time."""
    own, cross = shared(bursts(6_000_000, 5_000_000, on_s=1, off_s=1, flows=2))
    assert (own["intervals"], cross["intervals"], cross["flows"]) == (5, 5, 2)
    assert (own["goodput_bps"], cross["goodput_bps"]) == (48e6, pytest.approx(3 / 5 * 80e6))
    assert own["share"] == pytest.approx(0.5)
    assert own["jain_flows"] == pytest.approx(12**2 / (3 * (36 + 9 + 9)))


def test_a_single_burst_is_followed_by_a_pause() -> None:
    own, cross = shared(bursts(6_000_000, 6_000_000, on_s=2, off_s=9))
    assert (own["intervals"], cross["share"]) == (5, pytest.approx(2 / 7))
    (row,) = summed(bursts(6_000_000, 6_000_000, on_s=2, off_s=9))
    assert (row["flows_beside"], row["share"]) == (1, pytest.approx(5 / 7))


def test_the_series_holds_what_is_not_common_too() -> None:
    tables = tables_of([outcome([8_000_000], {"cross": [1_000_000]}, starts={"cross": 2.0})])
    rows = series(traffic_bins(tables), tables.trials).to_pyarrow().to_pylist()
    own = [(row["bin"], row["goodput_bps"]) for row in rows if row["traffic"] == OWN]
    assert own == [(number, 64e6) for number in range(-3, 3)]
    assert {row["bin"] for row in rows if row["common"]} == {0, 1, 2}
    cross = [row["bin"] for row in rows if row["traffic"] == "cross"]
    assert cross == [-1, 0, 1, 2]
