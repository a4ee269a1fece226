"""Cross traffic on an emulated link: it takes its part of rate and queue, and nobody receives it."""

from itertools import pairwise
from typing import Any

import pytest

from campaign_support import flowsweep_here, runs_lab
from flowsweep.archive import read_archive
from summary_support import archive_rows
from witness import undisturbed

pytestmark = runs_lab

Row = dict[str, Any]

RATE_BPS = 20e6
CONSTANT_BPS = 12e6
ON_S, OFF_S = 0.3, 0.2
BEARS_S = 0.05
PLAN = f"""
[campaign]
name = "crossed"
seed = 5

[lab.links.shared]
between = ["left", "right"]
rate = "{RATE_BPS / 1e6:g}Mbit/s"
delay = "5ms"
forward = {{ cross = {{ rate = "{CONSTANT_BPS / 1e6:g}Mbit/s", packet = "500B" }} }}
backward = {{ cross = {{ rate = "10Mbit/s", on = "{ON_S * 1e3:g}ms", off = "{OFF_S * 1e3:g}ms" }} }}

[[sweep]]
name = "tcp"
paths = [{{ from = "left", to = "right" }}]
directions = "both"
congestion = "cubic"
duration = "4s"
omit = "1s"
interval = "500ms"
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Row, list[Row]]]:
    """By source: the trial, and the link's counters in its direction as time goes on."""

    def measure(_: int) -> dict[str, tuple[Row, list[Row]]]:
        folder = tmp_path_factory.mktemp("crossed")
        (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
        flowsweep_here("run", folder / "plan.toml", "--archive", folder / "archive")
        archive = read_archive(folder / "archive")
        links = archive.tables().links
        found = {}
        for row in archive_rows(archive):
            assert row["status"] == "ok", row["error"]
            way = links.filter(links.trial_id == row["trial_id"], links.src == row["src"]).order_by("at_ns")
            found[row["src"]] = row, way.to_pyarrow().to_pylist()
        return found

    return undisturbed(measure, bears_s=BEARS_S)


def risen(rows: list[Row]) -> dict[str, int]:
    return {name: last - rows[0][name] for name, last in rows[-1].items() if isinstance(last, int)}


def test_a_constant_rate_comes_exactly(seen: dict[str, tuple[Row, list[Row]]]) -> None:
    counted = risen(seen["left"][1])
    assert counted["cross_bytes_in"] == 500 * counted["cross_packets_in"]
    # The counters of both ends were read some time after the clock was.
    expected = CONSTANT_BPS * counted["at_unix_ns"] / 8e9
    assert counted["cross_bytes_in"] == pytest.approx(expected, abs=CONSTANT_BPS * 0.05 / 8)


def test_what_is_left_is_the_hosts(seen: dict[str, tuple[Row, list[Row]]]) -> None:
    paused_bps = 10e6 * ON_S / (ON_S + OFF_S)
    # Each time that sends begins with losses, after which the window has to grow again.
    for src, mean_bps, least in (("left", CONSTANT_BPS, 0.94), ("right", paused_bps, 0.8)):
        trial, rows = seen[src]
        counted = risen(rows)
        assert trial["path_rate_bps"] == (RATE_BPS - mean_bps if src == "left" else None)
        # Cross traffic does not yield, but is dropped at a full queue like others.
        dropped = counted["cross_dropped_packets"] / counted["cross_packets_in"]
        assert dropped < 0.1
        left_bps = (RATE_BPS - mean_bps * (1 - dropped)) * 1448 / 1500
        assert least * left_bps <= trial["goodput_mean_bps"] <= 1.06 * left_bps, src


def test_pauses_are_seen_in_the_counters(seen: dict[str, tuple[Row, list[Row]]]) -> None:
    rows = seen["right"][1]
    rates_bps = [
        8e9 * (later["cross_bytes_in"] - row["cross_bytes_in"]) / (later["at_unix_ns"] - row["at_unix_ns"])
        for row, later in pairwise(rows)
    ]
    silent = sum(rate_bps == 0 for rate_bps in rates_bps)
    whole = sum(abs(rate_bps / 10e6 - 1) < 0.1 for rate_bps in rates_bps)
    # Of five rows one or two lie in a pause, and two or three in a time that sends.
    assert len(rates_bps) / 8 <= silent <= len(rates_bps) * 0.45, rates_bps
    assert len(rates_bps) / 4 <= whole <= len(rates_bps) * 0.65, rates_bps


def test_nobody_receives_it(seen: dict[str, tuple[Row, list[Row]]]) -> None:
    for trial, rows in seen.values():
        counted = risen(rows)
        # As many packets as TCP sends, and no more; some farewells may have been on their way.
        dropped = counted["dropped_queue_packets"]
        assert abs(counted["packets_out"] + dropped - counted["packets_in"]) <= rows[0]["queue_packets"] + 20
        assert counted["bytes_out"] < 1.2 * trial["bytes"] * 1500 / 1448
