"""One large flow beside small ones: shares against captured packets, and what findings say of them."""

import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from truth_support import NOTES, fill_table, table, write_result

from captured_campaign import run_captured
from captured_shares import Capture, captured_bytes
from flowsweep.analysis import summary
from flowsweep.analysis.background.shares import OWN, shares, traffic_bins
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.topics import findings
from flowsweep.archive import read_archive
from flowsweep.wording import format_number

PLAN = Path(__file__).with_name("mixed.toml")
DELAYS_MS = {10: "5ms", 80: "40ms"}
"""By round trip: one way."""
SMALL_FLOWS = (1, 4, 40)
OFF_AT_MOST = 0.005
"""Of 1: how far a share may be from that of the captured packets."""
UNLIKE = 1.1
"""Goodputs per flow that differ by this factor are unlike: a finding must not say the contrary."""
KEPT = os.environ.get("FLOWSWEEP_MIXED")
"""A folder with archives and packets of an earlier run, which are then taken; else both are made."""


@dataclass(frozen=True)
class Cell:
    """What is known of one large flow beside some small ones at a round trip."""

    large: str
    small: int
    rtt_ms: int
    measured: Sequence[float]
    """Share of the large flow in each trial."""
    captured: Sequence[float]
    trials: Sequence[str]
    finding: Finding | None

    @property
    def off(self) -> float:
        """The furthest that any of its trials is from the packets."""
        return max(abs(one - other) for one, other in zip(self.measured, self.captured, strict=True))

    @property
    def packets_ratio(self) -> float:
        """Goodput of a small flow over that of the large one, by the packets of the finding's trials."""
        of_finding = self.trials if self.finding is None else self.finding.evidence
        shares_of = dict(zip(self.trials, self.captured, strict=True))
        logs = [math.log(1 / shares_of[trial] - 1) - math.log(self.small) for trial in of_finding]
        return math.exp(fmean(logs))

    @property
    def unlike(self) -> bool:
        """Whether the packets show a difference that a finding must not contradict."""
        return not 1 / UNLIKE <= self.packets_ratio <= UNLIKE

    @property
    def outcome(self) -> str:
        """What became of the finding, where there is one."""
        found = self.finding
        if found is None or found.effect is None or found.decision != "effect":
            return "undecided" if found is None else found.decision
        return "right" if (found.effect > 1) == (self.packets_ratio > 1) else "WRONG"


def test_shares_are_those_of_the_packets_and_findings_name_who_gets_more(tmp_path: Path) -> None:
    folder = Path(KEPT) if KEPT else tmp_path
    with ThreadPoolExecutor() as pool:
        lost = sum(pool.map(lambda rtt_ms: run(folder, rtt_ms), DELAYS_MS))
    cells = [cell for rtt_ms in DELAYS_MS for cell in cells_of(*kept_in(folder, rtt_ms), rtt_ms)]
    write_notes(cells)
    unlike = [cell for cell in cells if cell.unlike]
    assert lost == 0
    assert {(cell.small, cell.rtt_ms) for cell in cells} == {
        (n, rtt) for n in SMALL_FLOWS for rtt in DELAYS_MS
    }
    assert max(cell.off for cell in cells) <= OFF_AT_MOST
    assert "WRONG" not in [cell.outcome for cell in unlike]
    for cell in unlike:
        assert cell.finding is not None
        assert cell.finding.effect is not None
        assert (cell.finding.effect > 1) == (cell.packets_ratio > 1), cell


def kept_in(folder: Path, rtt_ms: int) -> tuple[Path, Path]:
    """Where the archive and the packets of a round trip are."""
    return folder / f"archive-{rtt_ms}", folder / f"packets-{rtt_ms}"


def run(folder: Path, rtt_ms: int) -> int:
    """Run the campaign, unless it is kept, and return how many packets the capture missed."""
    archive, packets = kept_in(folder, rtt_ms)
    if archive.exists():
        return 0
    plan = folder / f"plan-{rtt_ms}.toml"
    text = PLAN.read_text(encoding="utf-8")
    plan.write_text(text.replace('delay = "5ms"', f'delay = "{DELAYS_MS[rtt_ms]}"'), encoding="utf-8")
    return run_captured(plan, archive, packets, host="right", timeout_s=3600)


def write_notes(cells: Sequence[Cell]) -> None:
    """Write the table and the figures."""
    fill_table(NOTES / "mixed.md", "cells", table(COLUMNS, [columns_of(cell) for cell in cells]))
    outcomes = [cell.outcome for cell in cells if cell.unlike]
    result = {
        "cells": len(cells),
        "trials": sum(len(cell.measured) for cell in cells),
        "furthest_from_packets_percent": round(100 * max(cell.off for cell in cells), 3),
        "unlike_by_more_than_10_percent": len(outcomes),
        "claims_right": outcomes.count("right"),
        "claims_wrong": outcomes.count("WRONG"),
        "undecided": outcomes.count("undecided"),
    }
    write_result("mixed", "shares of one large flow beside small ones, against captured packets", result)


def cells_of(archive: Path, packets: Path, rtt_ms: int) -> list[Cell]:
    """Every cell of a campaign."""
    tables = read_archive(archive).tables()
    rows = summary(tables).to_pyarrow().to_pylist()
    own = {row["trial_id"]: row for row in rows if row["status"] == "ok"}
    capture = captured(archive, packets)
    measured: dict[tuple[str, int], list[tuple[float, float, str]]] = {}
    for row in shares(traffic_bins(tables), tables.trials).to_pyarrow().to_pylist():
        if row["traffic"] != OWN and row["trial_id"] in own and row["trial_id"] in capture:
            key = (row["traffic"], own[row["trial_id"]]["flows"])
            measured.setdefault(key, []).append((row["share"], capture[row["trial_id"]], row["trial_id"]))
    told = {
        (row["background"][0], row["flows"]): finding
        for finding in findings(rows)
        if finding.kind == "fairness" and finding.axis is None
        for row in [own[finding.evidence[0]]]
    }
    return [
        Cell(
            large,
            small,
            rtt_ms,
            measured=[share for share, _, _ in trials],
            captured=[share for _, share, _ in trials],
            trials=[trial_id for _, _, trial_id in trials],
            finding=told.get((large, small)),
        )
        for (large, small), trials in sorted(measured.items())
    ]


def captured(archive: Path, packets: Path) -> Mapping[str, float]:
    """Share of the large flow in each trial, by the packets."""
    tables = read_archive(archive).tables()
    payload: dict[str, dict[bool, int]] = {}
    for flow in captured_bytes(tables, Capture(packets), quic=("quic",)):
        of_trial = payload.setdefault(flow.trial_id, {True: 0, False: 0})
        of_trial[flow.traffic == OWN] += flow.payload_bytes
    return {trial_id: got[False] / (got[False] + got[True]) for trial_id, got in payload.items()}


COLUMNS = (
    "large flow", "small flows", "round trip", "trials", "its share, %", "of the packets, %",
    "furthest apart, %", "equal shares, %", "small : large, per flow", "finding",
)  # fmt: skip


def columns_of(cell: Cell) -> tuple[object, ...]:
    """Of the table."""
    found = cell.finding
    ratio = "" if found is None or found.effect is None else format_number(found.effect)
    if found is not None and found.interval_low is not None and found.interval_high is not None:
        ratio += f" [{format_number(found.interval_low)}, {format_number(found.interval_high)}]"
    percents = (fmean(cell.measured), fmean(cell.captured), cell.off, 1 / (1 + cell.small))
    shown = [f"{100 * share:.2f}" for share in percents]
    said = cell.outcome if cell.unlike else f"{cell.outcome} (within 10 %)"
    return (cell.large, cell.small, f"{cell.rtt_ms} ms", len(cell.measured), *shown, ratio, said)
