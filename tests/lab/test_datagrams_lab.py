"""What an emulated path does to datagrams comes back as it was set, with real packets."""

from pathlib import Path

import pytest
from scipy import stats

from campaign_support import LAB_MISSING, flowsweep, summary, write_plan
from flowsweep.analysis.datagrams import datagram_flows
from flowsweep.archive import read_archive

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(LAB_MISSING is not None, reason=str(LAB_MISSING)),
]

CONFIDENCE = 0.99


def measured(folder: Path, link: str, sweep: str) -> list[dict[str, str]]:
    """Run a sweep of datagrams over one emulated link."""
    plan = write_plan(folder, link=link, sweep=f'duration = "4s"\ninterval = "0.5s"\n{sweep}', test="udp")
    flowsweep("run", plan, "--archive", folder / "archive")
    return summary(folder / "archive")


def test_loss_and_delay_come_back_as_set(tmp_path: Path) -> None:
    (row,) = measured(tmp_path, 'delay = "20ms"\nloss = "1%"', 'rate_sum = "24Mbit/s"\nflows = 2')
    assert (row["status"], row["flows_broken"], row["duplicates"]) == ("ok", "0", "0")
    sent, lost = int(row["datagrams_sent"]), int(row["lost"])
    assert sent > 8_000
    low, high = stats.binom.interval(CONFIDENCE, sent, 0.01)
    assert low <= lost <= high
    assert float(row["loss_at_hosts"]) == 0
    assert float(row["delay_min_ms"]) == pytest.approx(20, abs=0.3 + float(row["delay_bound_ms"]))
    flows = datagram_flows(read_archive(tmp_path / "archive").tables().flows).to_pyarrow().to_pylist()
    assert [flow["sent"] for flow in flows] == [flow["came"] + flow["lost"] for flow in flows]


def test_jitter_is_delay_variation_and_changes_the_order_only_where_it_may(tmp_path: Path) -> None:
    link = 'delay = "20ms"\njitter = "10ms"\nreorder = {}'
    (tmp_path / "kept").mkdir()
    (tmp_path / "free").mkdir()
    sweep = 'rate = "12Mbit/s"\ngso = false\ngro = false'
    (kept,) = measured(tmp_path / "kept", link.format("false"), sweep)
    (free,) = measured(tmp_path / "free", link.format("true"), sweep)
    assert (kept["lost"], kept["reordered"]) == ("0", "0")
    assert free["lost"] == "0"
    # One datagram a millisecond, each drawn evenly from 10 to 30 ms: most are overtaken.
    assert int(free["reordered"]) > int(free["datagrams"]) * 0.3
    # As many as were sent in the 20 ms that a datagram may wait longer than another, and in one burst.
    assert 1 <= int(free["reordering_extent_max"]) <= 21 + int(free["burst_max"])
    # The mean difference of two draws from an even distribution is a third of its width.
    assert float(free["jitter_ms"]) == pytest.approx(20 / 3, abs=0.5)
    # The 99th percentile of an even distribution 20 ms wide.
    assert float(free["delay_variation_ms"]) == pytest.approx(19.8, abs=0.5)
    assert float(free["delay_min_ms"]) == pytest.approx(10, abs=0.3 + float(free["delay_bound_ms"]))


def test_more_than_a_link_carries_is_lost_on_the_path(tmp_path: Path) -> None:
    rows = measured(tmp_path, 'rate = "20Mbit/s"', 'rate = ["10Mbit/s", "40Mbit/s"]')
    below, above = sorted(rows, key=lambda row: float(row["rate_bps"]))
    assert (below["lost"], below["verdict"]) == ("0", "application rate")
    assert float(below["goodput_bps"]) == pytest.approx(10e6, rel=0.01)
    # Of an IP packet of 1498 B 1470 B are payload.
    assert float(above["goodput_bps"]) == pytest.approx(20e6 * 1470 / 1498, rel=0.02)
    assert above["verdict"] == "path loss"
    assert float(above["loss"]) == pytest.approx(1 - 20 * 1470 / 1498 / 40, abs=0.02)
