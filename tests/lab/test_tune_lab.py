"""`flowsweep tune` over an emulated path whose limit is known."""

import json
import math
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lab_support import address_of, host, needs_lab

from flowsweep.archive import read_archive
from flowsweep.lab import Lab, build_lab
from flowsweep.plan.links.model import Link, LinkDirection
from flowsweep.schedule.parameters import Bulk
from witness import AWAY_S, FIRST, Seen, judged, witnesses

pytestmark = needs_lab

MBIT = 1e6
PAYLOAD = 1448 / 1500
"""Of a full packet with timestamps."""
LEAST_ROUND_TRIP_MS = 20
WINDOW_MAX = 131_072
BEARS_S = 0.2
"""Of some forty seconds of traffic, of which each trial has seconds."""
COMMAND = (sys.executable, "-m", "flowsweep")


@pytest.fixture
def lab() -> Iterator[Lab]:
    """50 Mbit/s with 20 ms, over which autotuning of the right host's receive windows ends too early."""
    way = LinkDirection(rate_bps=int(50 * MBIT), delay_ns=10_000_000, queue_bytes=400_000)
    link = Link(name="wan", between=("left", "right"), forward=way, backward=way)
    with build_lab([link], [host("left"), host("right")], seed=1) as built:
        set_sysctl(built, f"net.ipv4.tcp_rmem=4096 65536 {WINDOW_MAX}")
        yield built


def set_sysctl(lab: Lab, setting: str) -> None:
    name, _, value = setting.partition("=")
    path = f"/proc/sys/{name.replace('.', '/')}"
    write = ["sh", "-c", f"echo {value} > {path}"]
    subprocess.run([*lab.access["right"].launch, *write], check=True, timeout=20)


def sysctl(lab: Lab, name: str) -> str:
    read = ["cat", f"/proc/sys/{name.replace('.', '/')}"]
    done = subprocess.run(
        [*lab.access["right"].launch, *read], check=True, timeout=20, capture_output=True, text=True
    )
    return done.stdout


@pytest.mark.long
def test_a_window_is_found_where_it_limits_and_nothing_where_nothing_does(lab: Lab, tmp_path: Path) -> None:
    near, far = ("exec:" + " ".join(lab.access[name].launch) for name in ("left", "right"))
    before = sysctl(lab, "net.ipv4.tcp_rmem")
    words = [
        "tune",
        far,
        "--from",
        near,
        "--address",
        address_of(lab, "right", "left"),
        "--budget",
        "24s",
        "--json",
    ]

    def measure(attempt: int) -> tuple[dict[str, Any], Path, Seen]:
        kept = tmp_path / f"kept-{attempt}"
        with witnesses() as seen:
            done = subprocess.run(
                [*COMMAND, *words, "--save", str(kept), "--verify"],
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout), kept, seen

    def check(measured: tuple[dict[str, Any], Path, Seen]) -> None:
        found, kept, seen = measured
        check_gains(found)
        check_carried(found, late_s=max(AWAY_S[FIRST], seen.longest_s), counts_s=shortest_part_s(kept))

    found, kept, _ = judged(measure, check, bears_s=BEARS_S)
    (setting,) = found["system_settings"]
    assert (setting["host"], setting["name"]) == ("to", "net.ipv4.tcp_rmem")
    assert [int(word) for word in setting["value"].split()][-1] >= 2 * 50 * MBIT / 8 * 0.02 * 0.9
    assert sysctl(lab, "net.ipv4.tcp_rmem") == before, "nothing of the system was changed"
    assert found["traffic_s"] <= 24 * 1.5
    for name in ("1-round-trip", "2-first-look", "3-screening"):
        with read_archive(kept / name) as archive:
            assert archive.state.records
    assert "[[sweep]]" in (kept / "plan.toml").read_text()
    # No file of a machine keeps the settings of a namespace.
    assert not list(kept.glob("sysctl-*"))
    assert found["sysctl_d"] == {}
    assert f"sysctl -w 'net.ipv4.tcp_rmem={setting['value']}'" in found["commands"]["to"]


def check_gains(found: dict[str, Any]) -> None:
    """Look at what was found of both directions."""
    assert LEAST_ROUND_TRIP_MS <= found["rtt_ms"] < LEAST_ROUND_TRIP_MS + 5
    out, back = found["directions"]
    # Half of its maximum is a window: 64 KiB in 20 ms are 26 Mbit/s.
    assert out["today"]["verdict"] == "receive window"
    assert out["outcome"] == "gain"
    assert out["set"]["gain_low_percent"] > 50
    assert out["set"]["goodput_bps"] > 0.95 * out["best_seen_bps"]
    assert out["best_seen_bps"] > 44 * MBIT
    assert out["verified"]["gain_low_percent"] > 50
    assert back["set"] is None, back
    assert back["today"]["goodput_bps"] > 44 * MBIT


def check_carried(found: dict[str, Any], *, late_s: float, counts_s: float) -> None:
    """Hold all goodputs against the link: what it delivered late is in the part that counts, and no more.

    Args:
        found: What was found.
        late_s: How long the link may have stood still.
        counts_s: Of the shortest trial, what counts.
    """
    link_bps = PAYLOAD * 50 * MBIT
    seen_bps = [one["goodput_bps"] or 0.0 for way in found["directions"] for one in way["tried"]]
    filled_bps = [goodput_bps for goodput_bps in seen_bps if goodput_bps > 0.9 * link_bps]
    assert statistics.median(filled_bps) < 1.005 * link_bps, "settings have no more than the link carries"
    assert max(seen_bps) < (1 + late_s / counts_s) * link_bps, (
        f"{late_s} s late of {counts_s} s: none has more"
    )


def shortest_part_s(kept: Path) -> float:
    """What counts of the trial that lasted shortest."""
    shortest_ns = math.inf
    for folder in kept.iterdir():
        if folder.is_dir():
            with read_archive(folder) as archive:
                lasts = [one.trial.parameters for one in archive.state.records.values()]
            bulk = (one for one in lasts if isinstance(one, Bulk))
            shortest_ns = min([shortest_ns, *(one.duration_ns - one.omit_ns for one in bulk)])
    return shortest_ns / 1e9
