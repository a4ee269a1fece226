"""Limits that are built into a path, or asked for, are what the samples say limits."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from campaign_support import flowsweep, runs_lab
from flowsweep.analysis import flow_states
from flowsweep.archive import Archive, Tables, read_archive
from quota_support import cpu_quota, quotas_missing
from summary_support import archive_rows
from witness import undisturbed

pytestmark = runs_lab

RTT_S = 0.04
RATE_BPS = 100e6
PAYLOAD_BPS = RATE_BPS * 1448 / 1500
AT_A_TIME = 3
BEARS_S = 0.05
"""Of an absence of a processor: a fiftieth of what a trial counts."""

LINK = 'rate = "100Mbit/s"\ndelay = "20ms"\nqueue = "500KB"'
LOSSY = LINK + "\nloss = 0.001"
SHORT = 'duration = "5s"\nomit = "2s"\ninterval = "500ms"'
SWEEPS = {
    "receive": (LINK, 'window_recv = "64KiB"\nwindow_send = "1MiB"\ncongestion = "cubic"'),
    # Only a paced flow, as bbr paces itself, stays within its send buffer (docs/explanation/windows.md).
    "send": (LINK, 'window_send = "64KiB"\nwindow_recv = "1MiB"\ncongestion = "bbr"'),
    "loss": (LOSSY, 'window = "1MiB"\ncongestion = "cubic"'),
    "rate": (LINK, 'window = "1MiB"\nrate = "10Mbit/s"\ncongestion = "cubic"'),
    "pacing": (LINK, 'window = "1MiB"\npacing_rate = "10Mbit/s"\ncongestion = "cubic"'),
    "queue": (LINK, 'window = "1MiB"\ncongestion = "bbr"'),
}
"""Each limit's link and the sweep that meets it."""
VERDICTS = {
    "receive": "receive window",
    "send": "send window",
    "loss": "congestion window: loss",
    "rate": "application rate",
    "pacing": "application rate",
    "queue": "congestion window: queue",
}
Row = dict[str, Any]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Archive]:
    """Some at a time, each in a lab of its own: 100 Mbit/s are little to do.

    Where the machine could not keep up with some of the paths, those are measured again.
    """
    kept: dict[str, Archive] = {}

    def run(folder: Path, limit: str) -> Archive:
        link, sweep = SWEEPS[limit]
        plan = folder / f"{limit}.toml"
        plan.write_text(PLAN.format(link=link, sweep=sweep), encoding="utf-8")
        flowsweep("run", plan, "--archive", folder / limit)
        return read_archive(folder / limit)

    def measure(_: int) -> dict[str, Archive]:
        folder = tmp_path_factory.mktemp("limits")
        left = [limit for limit in SWEEPS if limit not in kept or late(kept[limit])]
        measured = left or list(SWEEPS)
        with ThreadPoolExecutor(AT_A_TIME) as pool:
            kept.update(zip(measured, pool.map(partial(run, folder), measured), strict=True))
        return dict(kept)

    return undisturbed(measure, bears_s=BEARS_S, late=lambda found: any(map(late, found.values())))


def late(archive: Archive) -> bool:
    """Whether the machine did not keep up with the emulated path."""
    return any((row["status"], row["path_emulation"]) != ("ok", "kept up") for row in archive_rows(archive))


@pytest.fixture(scope="module")
def trials(found: dict[str, Archive]) -> dict[str, Row]:
    return {limit: the_trial(archive) for limit, archive in found.items()}


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


def the_trial(archive: Archive) -> Row:
    [row] = archive_rows(archive)
    assert row["status"] == "ok", row["error"]
    return row


def test_a_small_receive_window_is_filled_by_the_flight(
    found: dict[str, Archive], trials: dict[str, Row]
) -> None:
    row = trials["receive"]
    assert row["limit_rwnd_share"] >= 0.9, row
    fills = median_of(found["receive"].tables(), "rwnd_fill")
    assert fills == pytest.approx(1, abs=0.05)
    assert median_of(found["receive"].tables(), "cwnd_fill") < 0.9
    usable_bps = row["window_usable_bytes"] * 8 / RTT_S
    assert row["goodput_bps"] == pytest.approx(usable_bps, rel=0.05)


def test_a_small_send_buffer_is_filled_by_the_flight(
    found: dict[str, Archive], trials: dict[str, Row]
) -> None:
    row = trials["send"]
    shares = {name: row[f"limit_{name}_share"] for name in ("cwnd", "rwnd", "send_buffer")}
    assert shares["send_buffer"] >= 0.4, row
    assert shares["cwnd"] + shares["rwnd"] <= 0.1, row
    assert row["goodput_bps"] < 0.4 * PAYLOAD_BPS
    assert median_of(found["send"].tables(), "send_buffer_room_bytes") < 48 * 1024


def test_loss_leaves_the_congestion_window_to_limit(trials: dict[str, Row]) -> None:
    row = trials["loss"]
    assert row["limit_cwnd_share"] >= 0.9, row
    assert row["retransmitted_bytes"] > 0
    assert row["recoveries"] > 0
    assert row["goodput_bps"] < 0.8 * PAYLOAD_BPS


def test_an_application_rate_leaves_all_of_them_room(trials: dict[str, Row]) -> None:
    row = trials["rate"]
    assert row["limit_none_share"] >= 0.9, row
    assert row["sender_idle_share"] >= 0.9, row
    assert row["goodput_bps"] == pytest.approx(10e6, rel=0.05)


@pytest.mark.parametrize(("limit", "verdict"), VERDICTS.items())
def test_the_verdict_names_the_limit(trials: dict[str, Row], limit: str, verdict: str) -> None:
    row = trials[limit]
    assert row["verdict"] == verdict, row


@pytest.mark.skipif((missing := quotas_missing()) is not None, reason=str(missing))
@pytest.mark.parametrize(("slow", "verdict"), [("left", "sender CPU"), ("right", "receiver CPU")])
def test_a_cpu_quota_is_the_limit_of_the_end_that_has_it(slow: str, verdict: str, tmp_path: Path) -> None:
    plan, archive = tmp_path / "plan.toml", tmp_path / "archive"
    with cpu_quota(0.1) as launcher:
        hosts = "".join(
            f'[hosts.{host}]\naddress = "127.0.0.1"\n' + (f"launch = {launcher}\n" if host == slow else "")
            for host in ("left", "right")
        )
        plan.write_text(LOOPBACK_PLAN.format(hosts=hosts), encoding="utf-8")
        flowsweep("run", plan, "--archive", archive)
    row = the_trial(read_archive(archive))
    assert row["verdict"] == verdict, row


LOOPBACK_PLAN = """
[campaign]
name = "limits"
seed = 1
{hosts}
[[sweep]]
name = "sweep"
paths = [{{ from = "left", to = "right" }}]
congestion = "cubic"
duration = "3s"
omit = "1s"
interval = "500ms"
"""


def median_of(tables: Tables, column: str) -> float:
    """Of one derived column over the samples that count."""
    states = flow_states(tables.samples, tables.trials, tables.flows)
    values = states.filter(states.counted)[column].to_pyarrow().to_pylist()
    return float(sorted(values)[len(values) // 2])
