"""Capacities of paths whose links are known: three hops in every order, and trains up to 1 Gbit/s."""

import re
from pathlib import Path

import pytest
from truth_support import NOTES, PLANS, fill_table, table, write_result

from campaign_support import flowsweep, summary
from flowsweep.analysis.tests.path import hop_table
from flowsweep.archive import read_archive

PLAN = PLANS / "path.toml"
HOP_TOLERANCE = 0.10
TRAIN_TOLERANCE = 0.05
RIGHT_SHARE = 0.95
HELD_SHARE = 0.87
"""Of intervals of 95 %: 54 of them hold fewer by chance once in a hundred runs."""
MBIT = 1e6
Row = dict[str, str]


def test_known_paths_are_told_as_they_are(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    flowsweep("run", PLAN, "--archive", archive, timeout_s=3600)
    trials = {row["trial_id"]: row for row in summary(archive)}
    known = links_of_plan(PLAN.read_text(encoding="utf-8"))
    hops = [
        {**row, "true_bps": known[trials[row["trial_id"]]["src"]][row["hop"] - 1]}
        for row in hop_table(read_archive(archive).tables()).to_pyarrow().to_pylist()
    ]
    write_notes(list(trials.values()), hops, known)
    named = []
    for row in trials.values():
        truth = known[row["src"]]
        assert float(row["path_capacity_bps"]) == pytest.approx(min(truth), rel=TRAIN_TOLERANCE), row
        if row["sweep"] == "hops":
            named.append(row["path_narrow_hop"] == str(truth.index(min(truth)) + 1))
    assert sum(named) >= RIGHT_SHARE * len(named)
    for hop in hops:
        if hop["capacity_bps"] is not None:
            assert hop["capacity_bps"] == pytest.approx(hop["true_bps"], rel=HOP_TOLERANCE), hop
    assert sum(map(holds, hops)) >= HELD_SHARE * len(hops)


def links_of_plan(text: str) -> dict[str, list[float]]:
    """The rate of each link behind a source, in order."""
    found = {}
    for block in text.split("[lab.links.")[1:]:
        source = re.search(r'between = \["([^"]+)"', block)
        assert source is not None
        found[source[1]] = [float(rate) * MBIT for rate in re.findall(r'rate = "(\d+)Mbit/s"', block)]
    return found


def holds(hop: dict[str, object]) -> bool:
    """Whether the truth is in a hop's interval, as far as it has ends."""
    low, high, true = hop["capacity_low_bps"], hop["capacity_high_bps"], float(str(hop["true_bps"]))
    return (low is None or float(str(low)) <= true) and (high is None or true <= float(str(high)))


def write_notes(trials: list[Row], hops: list[dict[str, object]], known: dict[str, list[float]]) -> None:
    page = NOTES / "path.md"
    headings = (
        "true",
        "hops",
        "reported",
        "within 10 %",
        "worst",
        "interval only",
        "above",
        "holds the truth",
    )
    fill_table(page, "hops", table(headings, hop_lines(hops)))
    of_trains = [row for row in trials if row["sweep"] == "trains"]
    fill_table(page, "trains", table(("true", "link", "reported", "error"), train_lines(of_trains, known)))
    of_hops = [row for row in trials if row["sweep"] == "hops"]
    fill_table(
        page,
        "narrow",
        table(("order", "trials", "right", "not reported", "wrong"), narrow_lines(of_hops, known)),
    )
    kept = ("sweep", "src", "path_capacity_bps", "path_capacity_low_bps", "path_capacity_high_bps",
            "path_hops", "path_narrow_hop", "path_emulation")  # fmt: skip
    points = [{name: row[name] for name in kept} for row in trials]
    told = ("trial_id", "hop", "true_bps", "capacity_bps", "capacity_low_bps", "capacity_high_bps", "note")
    write_result(
        "path", "tests/truth/path.toml",
        {"trials": points, "hops": [{name: hop[name] for name in told} for hop in hops]},
    )  # fmt: skip


def hop_lines(hops: list[dict[str, object]]) -> list[tuple[object, ...]]:
    lines: list[tuple[object, ...]] = []
    for true_bps in sorted({float(str(hop["true_bps"])) for hop in hops}):
        own = [hop for hop in hops if hop["true_bps"] == true_bps]
        off = [
            float(str(hop["capacity_bps"])) / true_bps - 1 for hop in own if hop["capacity_bps"] is not None
        ]
        near = sum(abs(share) <= HOP_TOLERANCE for share in off)
        worst = max(off, key=abs, default=None)
        told = "" if worst is None else f"{100 * worst:+.1f} %"
        between = sum(hop["note"] == "between" for hop in own)
        silent = len(own) - len(off) - between
        rate = f"{true_bps / MBIT:.0f} Mbit/s"
        lines.append((rate, len(own), len(off), near, told, between, silent, sum(map(holds, own))))
    return lines


def train_lines(trials: list[Row], known: dict[str, list[float]]) -> list[tuple[object, ...]]:
    lines: list[tuple[object, ...]] = []
    for row in sorted(trials, key=lambda row: (known[row["src"]], row["src"])):
        true_bps = min(known[row["src"]])
        kind = "emulated" if row["src"].startswith("c") else "token bucket"
        told, off = "none", ""
        if row["path_capacity_bps"]:
            told_bps = float(row["path_capacity_bps"])
            told, off = f"{told_bps / MBIT:.2f}", f"{100 * (told_bps / true_bps - 1):+.2f} %"
        lines.append((f"{true_bps / MBIT:.0f} Mbit/s", kind, told, off))
    return lines


def narrow_lines(trials: list[Row], known: dict[str, list[float]]) -> list[tuple[object, ...]]:
    lines: list[tuple[object, ...]] = []
    for source in sorted({row["src"] for row in trials}):
        truth = known[source]
        told = [row["path_narrow_hop"] for row in trials if row["src"] == source]
        right = told.count(str(truth.index(min(truth)) + 1))
        silent = told.count("")
        order = ", ".join(f"{rate / MBIT:.0f}" for rate in truth)
        lines.append((order, len(told), right, silent, len(told) - right - silent))
    return lines
