"""The knee of SLAC to IN2P3: goodput follows the usable window up to bandwidth × delay, then the link."""

from itertools import pairwise, product
from pathlib import Path
from statistics import median

import pytest
from truth_support import NOTES, PLANS, fill_table, run_side_by_side, table, write_result

from campaign_support import summary

PLAN = PLANS / "slac-in2p3-knee.toml"
RATE_BPS = 100e6
RTT_S = 0.175
PAYLOAD_BPS = RATE_BPS * 1448 / 1500
KNEE_BYTES = RATE_BPS * RTT_S / 8
CONGESTION, FLOWS = ("cubic", "bbr"), (1, 4, 5)
STEP = 1.15
Point = dict[str, float]
"""A trial: what was asked for, what was usable, what that promises, what arrived, what was sent again."""


def test_goodput_follows_usable_windows_up_to_the_knee(tmp_path: Path) -> None:
    curves = list(product(CONGESTION, FLOWS))
    archives = {curve: tmp_path / f"{curve[0]}-{curve[1]}" for curve in curves}
    run_side_by_side(
        (PLAN, (f"sweep.congestion={congestion}", f"sweep.flows={flows}"), archives[congestion, flows])
        for congestion, flows in curves
    )
    found = {curve: curve_of(archives[curve]) for curve in curves}
    knees = {curve: knee_bytes(points) for curve, points in found.items()}
    write_notes(found, knees)
    for curve, points in found.items():
        assert_knee(points, knees[curve])


def curve_of(archive: Path) -> list[Point]:
    """The trials of one congestion control and number of flows, by what they asked for."""
    rows = summary(archive)
    assert {row["status"] for row in rows} == {"ok"}
    assert {row["path_emulation"] for row in rows} == {"kept up"}, "the machine was too busy: try again"
    points = [
        {
            "window_sum_bytes": int(row["window_sum_bytes"]),
            "usable_sum_bytes": (usable := int(row["window_usable_bytes"]) * int(row["flows"])),
            "goodput_bps": round(float(row["goodput_bps"])),
            "promised_bps": round(usable * 8 / RTT_S),
            "retransmits": int(row["retransmits"]),
        }
        for row in rows
    ]
    return sorted(points, key=lambda point: point["window_sum_bytes"])


def knee_bytes(points: list[Point]) -> float:
    """Usable bytes at which the line of the small windows reaches the plateau of the large ones."""
    slope = median(point["goodput_bps"] / point["usable_sum_bytes"] for point in below(points))
    return plateau_bps(points) / slope


def below(points: list[Point]) -> list[Point]:
    return [point for point in points if point["usable_sum_bytes"] < 0.97 * KNEE_BYTES]


def plateau_bps(points: list[Point]) -> float:
    return median(point["goodput_bps"] for point in points if point["usable_sum_bytes"] > KNEE_BYTES)


def assert_knee(points: list[Point], knee: float) -> None:
    windows = [point["window_sum_bytes"] for point in points]
    assert max(larger / smaller for smaller, larger in pairwise(windows)) <= STEP
    assert len(below(points)) >= 4
    for point in below(points):
        assert point["goodput_bps"] == pytest.approx(point["promised_bps"], rel=0.05)
    assert knee == pytest.approx(KNEE_BYTES, rel=0.15)
    assert plateau_bps(points) >= 0.95 * PAYLOAD_BPS


def write_notes(found: dict[tuple[str, int], list[Point]], knees: dict[tuple[str, int], float]) -> None:
    rows = []
    for (congestion, flows), points in found.items():
        ratios = [point["goodput_bps"] / point["promised_bps"] for point in below(points)]
        plateau = plateau_bps(points)
        rows.append(
            (
                congestion,
                flows,
                f"{min(ratios):.3f} … {max(ratios):.3f}",
                f"{knees[congestion, flows] / 1e6:.2f} MB ({knees[congestion, flows] / KNEE_BYTES - 1:+.1%})",
                f"{plateau / 1e6:.1f} Mbit/s ({plateau / PAYLOAD_BPS:.1%})",
            )
        )
    columns = ("congestion", "flows", "goodput / predicted, below", "knee", "plateau, of the payload rate")
    fill_table(NOTES / "slac-in2p3.md", "knee", table(columns, rows))
    curves = [
        {
            "congestion": congestion,
            "flows": flows,
            "knee_bytes": round(knees[congestion, flows]),
            "points": points,
        }
        for (congestion, flows), points in found.items()
    ]
    write_result("slac-in2p3", "tests/truth/slac-in2p3-knee.toml, side by side", {"curves": curves})
