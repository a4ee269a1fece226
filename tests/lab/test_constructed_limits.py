"""Limits that are built into a path, or asked for, are what the samples say limits."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from campaign_support import LAB_MISSING, flowsweep, summary
from flowsweep.analysis import flow_states
from flowsweep.archive import read_archive

pytestmark = [pytest.mark.lab, pytest.mark.skipif(LAB_MISSING is not None, reason=str(LAB_MISSING))]

RTT_S = 0.04
RATE_BPS = 100e6
PAYLOAD_BPS = RATE_BPS * 1448 / 1500

LINK = 'rate = "100Mbit/s"\ndelay = "20ms"\nqueue = "500KB"'
LOSSY = LINK + "\nloss = 0.001"
SHORT = 'duration = "5s"\nomit = "2s"\ninterval = "500ms"'
SWEEPS = {
    "receive": (LINK, 'window_recv = "64KiB"\nwindow_send = "1MiB"\ncongestion = "cubic"'),
    # Only a flow that is paced, as bbr paces itself, stays within its send buffer (docs/windows.md).
    "send": (LINK, 'window_send = "64KiB"\nwindow_recv = "1MiB"\ncongestion = "bbr"'),
    "loss": (LOSSY, 'window = "1MiB"\ncongestion = "cubic"'),
    "rate": (LINK, 'window = "1MiB"\nrate = "10Mbit/s"\ncongestion = "cubic"'),
}
"""Each limit's link and the sweep that meets it."""
Row = dict[str, str]


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """All four at the same time, each in a lab of its own: 100 Mbit/s are little to do."""
    folder = tmp_path_factory.mktemp("limits")

    def run(limit: str) -> Path:
        link, sweep = SWEEPS[limit]
        plan = folder / f"{limit}.toml"
        plan.write_text(PLAN.format(link=link, sweep=sweep), encoding="utf-8")
        flowsweep("run", plan, "--archive", folder / limit)
        return folder / limit

    with ThreadPoolExecutor(len(SWEEPS)) as pool:
        return dict(zip(SWEEPS, pool.map(run, SWEEPS), strict=True))


PLAN = (
    """
[campaign]
name = "limits"
seed = 1

[lab.links.wire]
between = ["left", "right"]
{link}

[[sweep]]
name = "sweep"
paths = [{{ from = "left", to = "right" }}]
{sweep}
"""
    + SHORT
)


def the_trial(archive: Path) -> Row:
    [row] = summary(archive)
    assert row["status"] == "ok", row["error"]
    return row


def test_a_small_receive_window_is_filled_by_the_flight(archives: dict[str, Path]) -> None:
    row = the_trial(archives["receive"])
    assert float(row["limit_peer_window_share"]) >= 0.9, row
    fills = median_of(archives["receive"], "peer_window_fill")
    assert fills == pytest.approx(1, abs=0.05)
    assert median_of(archives["receive"], "cwnd_fill") < 0.9
    usable_bps = int(row["window_usable_bytes"]) * 8 / RTT_S
    assert float(row["goodput_bps"]) == pytest.approx(usable_bps, rel=0.05)


def test_a_small_send_buffer_is_filled_by_the_flight(archives: dict[str, Path]) -> None:
    row = the_trial(archives["send"])
    shares = {name: float(row[f"limit_{name}_share"]) for name in ("cwnd", "peer_window", "send_buffer")}
    assert shares["send_buffer"] >= 0.4, row
    assert shares["cwnd"] + shares["peer_window"] <= 0.1, row
    assert float(row["goodput_bps"]) < 0.4 * PAYLOAD_BPS
    assert median_of(archives["send"], "send_buffer_room_bytes") < 48 * 1024


def test_loss_leaves_the_congestion_window_to_limit(archives: dict[str, Path]) -> None:
    row = the_trial(archives["loss"])
    assert float(row["limit_cwnd_share"]) >= 0.9, row
    assert int(row["retransmitted_bytes"]) > 0
    assert int(row["recoveries"]) > 0
    assert float(row["goodput_bps"]) < 0.8 * PAYLOAD_BPS


def test_an_application_rate_leaves_all_of_them_room(archives: dict[str, Path]) -> None:
    row = the_trial(archives["rate"])
    assert float(row["limit_none_share"]) >= 0.9, row
    assert float(row["sender_idle_share"]) >= 0.9, row
    assert float(row["goodput_bps"]) == pytest.approx(10e6, rel=0.05)


def median_of(archive: Path, column: str) -> float:
    """Of one derived column over the samples that count."""
    tables = read_archive(archive).tables()
    states = flow_states(tables.samples, tables.trials, tables.flows)
    values = states.filter(states.counted)[column].to_pyarrow().to_pylist()
    return float(sorted(values)[len(values) // 2])
