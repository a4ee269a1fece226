"""An iperf3 server at the far end shows the same knee as an engine there, in both directions."""

from pathlib import Path
from statistics import median

import pytest
from truth_support import NOTES, PLANS, fill_table, run_side_by_side, table, write_result

from campaign_support import summary

PLAN = PLANS / "iperf3-knee.toml"
PEERS = ("iperf3", "engine")
DIRECTIONS = {"slac to in2p3": "slac", "in2p3 to slac": "in2p3"}
PLATEAU_WINDOWS = 2
"""So many of the largest windows are above the knee: what is usable of them exceeds bandwidth × delay."""
Curve = list[tuple[int, float, str]]
"""Window asked for, goodput, and what that is, by window."""


def test_an_iperf3_server_shows_the_knee_of_an_engine(tmp_path: Path) -> None:
    archives = {peer: tmp_path / peer for peer in PEERS}
    plans = {peer: tmp_path / f"{peer}.toml" for peer in PEERS}
    for peer, plan in plans.items():
        plan.write_text(PLAN.read_text().replace('peer = "iperf3"', f'peer = "{peer}"'))
    run_side_by_side((plans[peer], (), archives[peer]) for peer in PEERS)
    curves = {peer: curves_of(archive) for peer, archive in archives.items()}
    knees = {peer: {name: knee_bytes(curve) for name, curve in curves[peer].items()} for peer in PEERS}
    write_notes(curves, knees)
    for name in DIRECTIONS:
        assert knees["iperf3"][name] == pytest.approx(knees["engine"][name], rel=0.15)
        assert len(below(curves["iperf3"][name])) >= 4
    methods = {name: {method for _, _, method in curve} for name, curve in curves["iperf3"].items()}
    assert methods == {"slac to in2p3": {"receiver_mean"}, "in2p3 to slac": {"receiver_median"}}


def curves_of(archive: Path) -> dict[str, Curve]:
    rows = summary(archive)
    assert {row["status"] for row in rows} == {"ok"}
    assert {row["path_emulation"] for row in rows} == {"kept up"}, "the machine was too busy: try again"
    points = [
        (row["src"], int(row["window_sum_bytes"]), round(float(row["goodput_bps"])), row["goodput_method"])
        for row in rows
    ]
    return {
        name: sorted((window, bps, how) for source, window, bps, how in points if source == src)
        for name, src in DIRECTIONS.items()
    }


def knee_bytes(curve: Curve) -> float:
    """Asked-for window at which the line of the small windows reaches the plateau of the large ones."""
    slope = median(goodput_bps / window for window, goodput_bps, _ in below(curve))
    return plateau_bps(curve) / slope


def below(curve: Curve) -> Curve:
    return [point for point in curve if point[1] < 0.95 * plateau_bps(curve)]


def plateau_bps(curve: Curve) -> float:
    return median(goodput_bps for _, goodput_bps, _ in curve[-PLATEAU_WINDOWS:])


def write_notes(curves: dict[str, dict[str, Curve]], knees: dict[str, dict[str, float]]) -> None:
    rows = [
        (
            name,
            *(f"{knees[peer][name] / 1e6:.2f} MB" for peer in PEERS),
            f"{knees['iperf3'][name] / knees['engine'][name] - 1:+.1%}",
            *(f"{plateau_bps(curves[peer][name]) / 1e6:.1f} Mbit/s" for peer in PEERS),
        )
        for name in DIRECTIONS
    ]
    columns = (
        "direction",
        "knee, iperf3",
        "knee, engine",
        "difference",
        "plateau, iperf3",
        "plateau, engine",
    )
    fill_table(NOTES / "iperf3.md", "knee", table(columns, rows))
    told = [
        {
            "far_side": peer,
            "direction": name,
            "knee_window_bytes": round(knees[peer][name]),
            "points": [
                {"window_bytes": window, "goodput_bps": goodput_bps, "goodput_method": how}
                for window, goodput_bps, how in curves[peer][name]
            ],
        }
        for peer in PEERS
        for name in DIRECTIONS
    ]
    write_result("iperf3", "tests/truth/iperf3-knee.toml, side by side", {"curves": told})
