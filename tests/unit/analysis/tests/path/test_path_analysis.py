"""Hops, trains and streams of known paths: what they say is true, or they say nothing."""

from typing import Any

import numpy as np
import pytest

from flowsweep.analysis.tests.path import hop_table, path_facts
from flowsweep.analysis.tests.path.dispersion import Dispersion, dispersion, dispersion_rate
from flowsweep.analysis.tests.path.trains import Train
from path_support import Way, path_tables
from summary_support import summary_rows

Row = dict[str, Any]


def summed(hops: list[Row], trains: list[Row]) -> Row:
    [row] = summary_rows(path_tables(hops, trains))
    return dict(row)


def told(hops: list[Row], trains: list[Row]) -> Row:
    [row] = path_facts(path_tables(hops, trains)).to_pyarrow().to_pylist()
    return dict(row)


def hops_of(rows: list[Row]) -> list[Row]:
    return list(hop_table(path_tables(rows, [])).to_pyarrow().to_pylist())


@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize("narrow_bps", [10e6, 45e6])
def test_the_narrow_hop_is_found_with_its_capacity_wherever_it_is(position: int, narrow_bps: float) -> None:
    rates = [100e6, 100e6, 100e6]
    rates[position] = narrow_bps
    way = Way(rates, noise_ns=20_000)
    found = told(way.hop_rows(), way.train_rows())
    assert (found["path_hops"], found["path_narrow_hop"]) == (3, position + 1)
    assert found["path_capacity_bps"] == pytest.approx(narrow_bps, rel=0.02)
    assert found["path_capacity_low_bps"] <= found["path_capacity_bps"] <= found["path_capacity_high_bps"]
    hop = hops_of(way.hop_rows())[position]
    assert hop["capacity_bps"] == pytest.approx(narrow_bps, rel=0.1)
    assert hop["capacity_low_bps"] <= hop["capacity_bps"] <= hop["capacity_high_bps"]


def test_a_hop_that_is_too_fast_to_be_seen_is_only_said_to_be_above_something() -> None:
    for seed in range(10):
        way = Way([10e6, 622e6], noise_ns=30_000, random=np.random.default_rng(seed))
        fast = hops_of(way.hop_rows())[1]
        if fast["capacity_bps"] is None:
            assert fast["note"] in ("above", "not clear")
            assert fast["capacity_low_bps"] is None or fast["capacity_low_bps"] < 622e6
        else:
            assert fast["capacity_low_bps"] <= 622e6


@pytest.mark.long
def test_a_capacity_that_is_not_known_within_a_tenth_is_told_by_its_ends() -> None:
    notes, held, told_off = [], 0, []
    for seed in range(20):
        way = Way([10e6, 100e6], noise_ns=40_000, random=np.random.default_rng(seed))
        for hop, true_bps in zip(hops_of(way.hop_rows()), way.rates_bps, strict=True):
            notes.append(hop["note"])
            held += (hop["capacity_low_bps"] or 0) <= true_bps <= (hop["capacity_high_bps"] or np.inf)
            if hop["capacity_bps"] is not None:
                told_off.append(abs(hop["capacity_bps"] / true_bps - 1))
    assert held >= 36  # of 40 intervals of 95 %
    assert max(told_off) < 0.1
    assert "between" in notes


def test_what_hosts_take_for_a_byte_is_in_every_interval() -> None:
    [hop] = hops_of(Way([10e6], noise_ns=0).hop_rows())
    # 800 ns a byte, and 1.96 times the 2 that hosts may add or save.
    assert hop["capacity_bps"] == pytest.approx(10e6, rel=1e-4)
    assert hop["capacity_low_bps"] == pytest.approx(8e9 / 803.92, rel=1e-4)
    assert hop["capacity_high_bps"] == pytest.approx(8e9 / 796.08, rel=1e-4)


def test_a_silent_hop_has_no_number_and_the_one_behind_it_no_wrong_one() -> None:
    way = Way([100e6, 10e6, 45e6])
    first, silent, behind = hops_of(way.hop_rows(silent=[2]))
    assert first["capacity_bps"] == pytest.approx(100e6, rel=0.1)
    assert (silent["note"], silent["capacity_bps"], silent["address"]) == ("no answer", None, None)
    assert (behind["note"], behind["capacity_bps"]) == ("behind a silent hop", None)
    # Ten and forty-five one after the other are like 8.2: each of them is above that.
    assert behind["capacity_low_bps"] == pytest.approx(1e6 / (1 / 10 + 1 / 45), rel=0.05)
    assert told(way.hop_rows(silent=[2]), [])["path_narrow_hop"] is None


def test_limits_of_icmp_and_lost_probes_cost_precision_and_no_truth() -> None:
    way = Way([100e6, 10e6, 45e6], noise_ns=5_000)
    _, limited, _ = hops_of(way.hop_rows(limited=[2]))
    assert limited["answers"] < limited["probes"] / 4
    assert limited["capacity_bps"] == pytest.approx(10e6, rel=0.1)
    _, lossy, _ = hops_of(way.hop_rows(loss=0.2))
    assert lossy["capacity_bps"] == pytest.approx(10e6, rel=0.1)


def test_the_summary_has_the_facts_and_asks_for_no_intervals() -> None:
    way = Way([100e6, 10e6])
    found = summed(way.hop_rows(probes=8), way.train_rows(trains=7))
    assert (found["test"], found["status"], found["error"]) == ("path", "ok", None)
    assert found["path_capacity_bps"] == pytest.approx(10e6, rel=0.02)
    assert found["goodput_bps"] is found["coverage"] is None


def test_a_path_that_nobody_answered_on_is_incomplete() -> None:
    found = summed(Way([10e6, 45e6]).hop_rows(silent=[1, 2]), [])
    assert found["status"] == "incomplete"
    assert "answered no probe" in found["error"]
    assert found["path_hops"] is found["path_capacity_bps"] is None


def test_hops_without_trains_tell_the_capacity_where_they_are_clear() -> None:
    found = told(Way([100e6, 10e6, 45e6], noise_ns=5_000).hop_rows(), [])
    assert found["path_capacity_bps"] == pytest.approx(10e6, rel=0.05)
    assert found["path_rtt_min_ms"] == pytest.approx(6 + 1.26, abs=0.05)
    expected = found["path_capacity_bps"] * found["path_rtt_min_ms"] / 8_000
    assert found["path_window_bytes"] == pytest.approx(expected, abs=1)


@pytest.mark.parametrize("rate_bps", [10e6, 100e6, 622e6, 1e9])
def test_trains_tell_the_capacity_at_any_rate(rate_bps: float) -> None:
    found = told([], Way([rate_bps, 2e9]).train_rows())
    assert found["path_capacity_bps"] == pytest.approx(rate_bps, rel=0.03)


def test_lost_packets_and_cross_traffic_leave_the_capacity() -> None:
    way = Way([100e6, 10e6, 45e6])
    for rows in (way.train_rows(loss=0.02), way.train_rows(cross_bps=3e6)):
        found = told([], rows)
        assert found["path_capacity_bps"] == pytest.approx(10e6, rel=0.05)


def test_what_a_token_bucket_lets_pass_at_once_is_left_out() -> None:
    way = Way([100e6])
    rows = way.train_rows(bucket_bytes=50_000, jitter_ns=2_000)
    assert told([], rows)["path_capacity_bps"] == pytest.approx(100e6, rel=0.03)
    # No hop limits a single packet to that rate: which link it is cannot be told, unless there is but one.
    found = told(Way([900e6, 900e6]).hop_rows(), way.train_rows(bucket_bytes=50_000))
    assert found["path_narrow_hop"] is None
    found = told(Way([900e6]).hop_rows(), way.train_rows(bucket_bytes=50_000))
    assert found["path_narrow_hop"] == 1


def of_rates(*rates: tuple[float, float]) -> list[Dispersion]:
    """Trains by the rates at which they arrived and were sent, in Mbit/s."""
    return [
        Dispersion(number, arrived * 1e6, sent * 1e6, 0, 0.0) for number, (arrived, sent) in enumerate(rates)
    ]


def test_trains_of_a_busy_source_do_not_lower_the_dispersion_rate() -> None:
    busy = of_rates((500, 8000), (291, 291), (501, 900), (125, 126), (500, 7000), (303, 304), (500, 8000))
    found = dispersion_rate(busy)
    assert found is not None
    assert found.bps == 500e6
    assert dispersion_rate([train for train in busy if not train.is_spread]) is None


def test_a_source_whose_own_device_is_the_narrowest_link_sends_as_fast_as_it_arrives() -> None:
    found = dispersion_rate(of_rates(*[(99.9 + number / 100, 100.0) for number in range(9)]))
    assert found is not None
    assert found.bps == pytest.approx(99.94e6)


def test_a_train_that_came_at_once_or_hardly_at_all_says_nothing() -> None:
    at_once = np.zeros(50)
    ones = np.ones(50)
    assert dispersion(Train(0, "train", None, np.arange(50), ones, at_once, at_once)) is None
    few = np.arange(5, dtype=np.float64)
    assert dispersion(Train(0, "train", None, np.arange(5), np.ones(5), few, few)) is None


@pytest.mark.parametrize("load", [0.0, 0.3, 0.6])
def test_streams_bracket_what_cross_traffic_leaves(load: float) -> None:
    way = Way([100e6, 10e6])
    rows = way.train_rows() + way.stream_rows(10e6, cross_bps=load * 10e6)
    found = told([], rows)
    low, high = found["path_available_low_bps"], found["path_available_high_bps"]
    assert low - 1.5e6 <= (1 - load) * 10e6 <= high + 1.5e6
    assert high - low <= 4.5e6


def test_streams_below_the_narrow_hop_leave_the_upper_end_at_its_capacity() -> None:
    way = Way([100e6, 10e6, 45e6], noise_ns=5_000)
    slow = [row for row in way.stream_rows(5e6) if row["kind"] == "stream"]
    found = told(way.hop_rows(), slow)
    assert found["path_capacity_bps"] == pytest.approx(10e6, rel=0.05)
    assert found["path_available_low_bps"] <= 5.5e6
    assert found["path_available_high_bps"] == found["path_capacity_bps"]


def test_clocks_of_which_one_is_faster_show_no_growth() -> None:
    way = Way([100e6, 5e6])
    streams = way.stream_rows(5e6, jitter_ns=2_000)
    for row in streams:
        row["received_ns"] += round(5e-5 * row["sent_ns"])
    found = told([], way.train_rows() + streams)
    assert found["path_available_low_bps"] >= 4e6


def test_streams_that_a_bucket_lets_pass_do_not_show_that_all_is_free() -> None:
    """Of 100 Mbit/s half are taken: no stream of 144 KB empties the bucket, and none is delayed."""
    deep = {"bucket_bytes": 125_000, "jitter_ns": 2_000}
    trains = Way([100e6]).train_rows(packets=400, **deep)
    found = told([], trains + Way([50e6]).stream_rows(110e6, **deep))
    assert found["path_capacity_bps"] == pytest.approx(100e6, rel=0.03)
    assert found["path_available_low_bps"] <= 50e6
    assert found["path_available_high_bps"] == pytest.approx(100e6, rel=0.03)


def test_without_a_capacity_the_fastest_stream_is_no_upper_end() -> None:
    found = told([], Way([1e9]).stream_rows(300e6))
    assert found["path_available_low_bps"] == pytest.approx(300e6, rel=0.02)
    assert found["path_available_high_bps"] is found["path_capacity_bps"] is None


def test_what_trains_and_streams_tell_is_a_result_without_hops() -> None:
    found = summed([], Way([1e9]).stream_rows(300e6))
    assert (found["status"], found["path_hops"], found["path_capacity_bps"]) == ("ok", None, None)


def test_streams_that_lose_packets_are_too_fast() -> None:
    way = Way([100e6, 10e6])
    found = told([], way.train_rows() + way.stream_rows(10e6, loss=0.3))
    assert found["path_available_low_bps"] == 0
