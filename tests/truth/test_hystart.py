"""How slow start of CUBIC ends on SLAC to IN2P3, with and without HyStart, and what it costs."""

from collections.abc import Generator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from truth_support import LABS, NOTES, PLANS, fill_table, run_side_by_side, table, write_result

from flowsweep.analysis import bins, flow_states, intervals, summary
from flowsweep.archive import Tables, read_archive

PLAN = PLANS / "slac-in2p3-hystart.toml"
SWITCH = Path("/sys/module/tcp_cubic/parameters/hystart")
MSS = 1448
PAYLOAD_BPS = 100e6 * MSS / 1500
JITTER = "20ms"
"""More than the 16 ms by which a round-trip time may grow before HyStart ends slow start."""
EARLY_BINS = range(-3, 5)
"""Seconds 2 to 10 of a trial, of which the first five are omitted."""
Trial = dict[str, Any]

pytestmark = pytest.mark.skipif(
    not (SWITCH.exists() and SWITCH.stat().st_mode & 0o200), reason="HyStart is switched for the whole host"
)


def test_hystart_costs_nothing_on_this_path_unless_round_trip_times_jitter(tmp_path: Path) -> None:
    jittery = tmp_path / "jitter.toml"
    queue = 'queue = "1.1MB"\n'
    text = PLAN.read_text(encoding="utf-8").replace(queue, f'{queue}jitter = "{JITTER}"\n')
    jittery.write_text(text, encoding="utf-8")
    cases = {
        "HyStart": trials_of(PLAN, tmp_path / "on", hystart=1),
        "no HyStart": trials_of(PLAN, tmp_path / "off", hystart=0),
        f"HyStart, jitter {JITTER}": trials_of(jittery, tmp_path / "jitter", hystart=1),
    }
    write_notes(cases)
    steady = [trial for case in ("HyStart", "no HyStart") for trial in cases[case]]
    assert all(trial["goodput_bps"] >= 0.95 * PAYLOAD_BPS for trial in steady)
    assert all(end["lost_segments"] for trial in cases["no HyStart"] for end in trial["slow_start_ends"])
    assert any(not end["lost_segments"] for trial in cases["HyStart"] for end in trial["slow_start_ends"])


def trials_of(plan: Path, folder: Path, *, hystart: int) -> list[Trial]:
    """Twenty trials, five in each of the labs."""
    archives = {seed: folder / str(seed) for seed in range(1, LABS + 1)}
    with switched(hystart):
        run_side_by_side((plan, (f"campaign.seed={seed}",), archive) for seed, archive in archives.items())
    return [
        trial for archive in archives.values() for trial in facts(read_archive(archive).tables(), hystart)
    ]


@contextmanager
def switched(hystart: int) -> Generator[None, None, None]:
    """Switch HyStart for this host, and back."""
    before = SWITCH.read_text(encoding="ascii")
    SWITCH.write_text(str(hystart), encoding="ascii")
    try:
        yield
    finally:
        SWITCH.write_text(before, encoding="ascii")


def facts(tables: Tables, hystart: int) -> list[Trial]:
    """Goodput after five seconds and in the seconds before, and how each flow's slow start ended."""
    ends = slow_start_ends(tables)
    totals = intervals(bins(tables.samples, tables.trials, tables.flows), tables.trials)
    early = totals.filter(totals.bin.isin(list(EARLY_BINS))).to_pyarrow().to_pylist()
    rows = summary(tables).to_pyarrow().to_pylist()
    assert {row["status"] for row in rows} == {"ok"}
    return [
        {
            "hystart": bool(hystart),
            "goodput_bps": round(row["goodput_bps"]),
            "early_goodput_bps": round(
                median(each["goodput_bps"] for each in early if each["trial_id"] == row["trial_id"])
            ),
            "retransmits": row["retransmits"],
            "path_emulation": row["path_emulation"],
            "slow_start_ends": ends[row["trial_id"]],
        }
        for row in rows
    ]


def slow_start_ends(tables: Tables) -> dict[str, list[Trial]]:
    """For each trial and flow the first sample with a slow-start threshold."""
    states = flow_states(tables.samples, tables.trials, tables.flows).order_by("trial_id", "flow", "start_ns")
    found: dict[str, list[Trial]] = {}
    rows = states.to_pyarrow().to_pylist()
    for (trial_id, _), group in groupby(rows, key=lambda row: (row["trial_id"], row["flow"])):
        lost = 0
        for row in group:
            lost += row["retransmitted_segments"]
            if row["cwnd_minus_ssthresh_bytes"] is not None:
                threshold = (row["cwnd_bytes"] - row["cwnd_minus_ssthresh_bytes"]) // MSS
                found.setdefault(trial_id, []).append(
                    {
                        "at_s": round(row["end_ns"] / 1e9, 1),
                        "ssthresh_segments": threshold,
                        "lost_segments": lost,
                    }
                )
                break
    return found


def write_notes(cases: dict[str, list[Trial]]) -> None:
    rows = []
    for case, trials in cases.items():
        ends = [end for trial in trials for end in trial["slow_start_ends"]]
        rows.append(
            (
                case,
                len(trials),
                spread([trial["goodput_bps"] / 1e6 for trial in trials]),
                spread([trial["early_goodput_bps"] / 1e6 for trial in trials]),
                f"{sum(not end['lost_segments'] for end in ends)} of {len(ends)}",
                spread([end["ssthresh_segments"] for end in ends], digits=0),
            )
        )
    columns = (
        "", "trials", "goodput after 5 s, Mbit/s", "goodput of seconds 2 to 10, Mbit/s",
        "slow starts that ended without loss", "ssthresh then, segments",
    )  # fmt: skip
    fill_table(NOTES / "hystart.md", "hystart", table(columns, rows))
    write_result("hystart", "tests/truth/slac-in2p3-hystart.toml, four side by side", {"cases": cases})


def spread(values: list[float], digits: int = 1) -> str:
    """Lowest, median and highest."""
    lowest, middle, highest = min(values), median(values), max(values)
    return f"{lowest:.{digits}f} · **{middle:.{digits}f}** · {highest:.{digits}f}"
